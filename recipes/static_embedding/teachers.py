"""Sentence encoders that the table learns from or is compared with; their vectors are kept on disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sources import unpack_teacher

BATCH = 128
MAX_LENGTH = 256


def teacher_vectors(name: str, texts: Sequence[str], *, cache: Path) -> NDArray[np.float32]:
    """Unit vectors of one teacher, one row per text; only texts not seen before are encoded."""
    texts = [" ".join(text.split()) for text in texts]  # the store has one text per line
    store = cache / f"vectors-{name}.npz"
    known: dict[str, int] = {}
    rows = np.empty((0, 0), np.float16)
    if store.exists():
        with np.load(store) as kept:
            known = {text: at for at, text in enumerate(kept["texts"].tobytes().decode().split("\n"))}
            rows = kept["rows"]
    wanted = sorted({text for text in texts if text not in known}, key=len)
    if wanted:
        encode = _loaders[name](unpack_teacher(name, cache=cache))
        found = []
        for start in range(0, len(wanted), BATCH):
            found.append(encode(wanted[start : start + BATCH]).astype(np.float16))
            if start % (BATCH * 50) == 0:
                print(f"{name}: {start} of {len(wanted)}", file=sys.stderr, flush=True)
        fresh = np.vstack(found)
        rows = np.vstack([rows, fresh]) if len(known) else fresh
        known.update({text: len(known) + at for at, text in enumerate(wanted)})
        text_bytes = np.frombuffer("\n".join(known).encode(), np.uint8)
        np.savez(store, texts=text_bytes, rows=rows)
    return rows[[known[text] for text in texts]].astype(np.float32)


Encode = Callable[[list[str]], NDArray[np.float32]]


def _torch_encoder(folder: Path) -> Encode:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        batch = tokenizer(texts, padding=True, truncation=True, max_length=MAX_LENGTH, return_tensors="pt")
        with torch.no_grad():
            hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).numpy()

    return encode


def _onnx_encoder(folder: Path) -> Encode:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_LENGTH)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        batch = tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in batch])
        mask = np.array([item.attention_mask for item in batch])
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, inputs)[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    return encode


def _potion_encoder(folder: Path) -> Encode:
    """model2vec's rule: the mean of the token vectors, unknown tokens left out."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    (table,) = load_file(str(folder / "model.safetensors")).values()
    unknown = tokenizer.token_to_id("[UNK]")

    def encode(texts: list[str]) -> NDArray[np.float32]:
        found = np.zeros((len(texts), table.shape[1]), np.float32)
        for at, item in enumerate(tokenizer.encode_batch(texts, add_special_tokens=False)):
            ids = [token for token in item.ids if token != unknown]
            if ids:
                found[at] = table[ids].mean(0)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1)

    return encode


_loaders: dict[str, Callable[[Path], Encode]] = {
    "minilm": _torch_encoder,
    "gte": _onnx_encoder,
    "potion": _potion_encoder,
}
