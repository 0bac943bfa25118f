"""Seeded checkpoints in the authors' file formats: a DeBERTa-v3-style token classifier and a BERT-style encoder.

Weights are drawn by numpy's RandomState, whose stream never changes, one generator per tensor named by the tensor,
so that every version of torch and transformers gets the same numbers.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LABELS = [
    *("B-ABNORMALITY", "I-ABNORMALITY", "B-NON-ABNORMALITY", "I-NON-ABNORMALITY", "B-DISEASE", "I-DISEASE"),
    *("B-NON-DISEASE", "I-NON-DISEASE", "B-ANATOMY", "I-ANATOMY", "O"),
]
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]


@dataclass(frozen=True)
class Size:
    """Layers and widths of a transformer."""

    layers: int = 2
    hidden: int = 64
    heads: int = 4
    inner: int = 128


SMALL = Size()
BASE = Size(layers=12, hidden=768, heads=12, inner=3072)


def words_of(texts: Iterable[str]) -> list[str]:
    """Distinct words for a vocabulary, sorted; every ninth one is left out so that some fall into pieces."""
    found = sorted({word for text in texts for word in re.findall(r"[A-Za-z]{2,}", text)})
    return [word for number, word in enumerate(found) if number % 9]


def fill(model: Any, *, seed: int, spread: float = 1.0) -> Any:
    """Give every tensor of a model its numbers; layer norms stay near the identity.

    Args:
        model: The model.
        seed: Another seed gives another model.
        spread: Scale of the matrices; a small model tells texts apart only if it is large.
    """
    import torch

    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if not tensor.is_floating_point():
                continue
            rng = np.random.RandomState(zlib.crc32(f"{seed}:{name}".encode()) % 2**32)
            drawn = rng.standard_normal(tuple(tensor.shape))
            if "LayerNorm" in name:
                drawn = 0.05 * drawn + (1.0 if name.endswith("weight") else 0.0)
            elif "embeddings" in name or tensor.ndim == 1:
                drawn = 0.5 * drawn
            else:
                drawn = spread * drawn / np.sqrt(tensor.shape[-1])
            if name == "classifier.weight":
                drawn = drawn * (30.0 / spread)  # so that every label occurs
            elif name == "classifier.bias":
                drawn = np.array([40.0 if label == "O" else 20.0 * label.startswith("I") for label in LABELS])
            tensor.copy_(torch.from_numpy(drawn.astype(np.float32)))
    return model.eval()


def build_ner(folder: Path, *, words: list[str], size: Size = SMALL, seed: int = 11) -> Path:
    """A DebertaV2ForTokenClassification with the eleven labels and a Unigram tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import DebertaV2Config, DebertaV2ForTokenClassification

    characters = [chr(code) for code in range(33, 127)]
    pieces = [(token, 0.0) for token in SPECIAL]
    pieces += [("▁", -6.0), *((piece, -11.0) for piece in characters), *((f"▁{c}", -10.0) for c in characters)]
    known = {piece for piece, _ in pieces}
    pieces += [(piece, -5.0 - 0.1 * len(word)) for word in words if (piece := f"▁{word}") not in known]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIAL.index("[UNK]")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return _save(
        folder,
        tokenizer,
        processors,
        fill(
            DebertaV2ForTokenClassification(
                DebertaV2Config(
                    vocab_size=len(pieces),
                    hidden_size=size.hidden,
                    num_hidden_layers=size.layers,
                    num_attention_heads=size.heads,
                    intermediate_size=size.inner,
                    relative_attention=True,
                    position_buckets=256,
                    norm_rel_ebd="layer_norm",
                    share_att_key=True,
                    pos_att_type=["p2c", "c2p"],
                    max_relative_positions=-1,
                    position_biased_input=False,
                    type_vocab_size=0,
                    layer_norm_eps=1e-7,
                    pad_token_id=0,
                    id2label=dict(enumerate(LABELS)),
                    label2id={label: number for number, label in enumerate(LABELS)},
                )
            ),
            seed=seed,
            spread=0.5,
        ),
    )


def build_encoder(
    folder: Path, *, words: list[str], size: Size = SMALL, seed: int = 12, spread: float = 3.0
) -> Path:
    """A BertModel with a WordPiece tokenizer that ignores case."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    characters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = [*SPECIAL, *characters, *(f"##{each}" for each in characters)]
    pieces += sorted({word.lower() for word in words} - set(pieces))
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.inner,
        max_position_embeddings=512,
        pad_token_id=0,
    )
    return _save(folder, tokenizer, processors, fill(BertModel(config), seed=seed, spread=spread))


def _save(folder: Path, tokenizer: Any, processors: Any, model: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(token, SPECIAL.index(token)) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    # Written by hand: versions of transformers name the class differently but all read this name.
    named = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **named}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model.save_pretrained(folder)
    return folder
