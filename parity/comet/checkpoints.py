"""Small seeded COMET checkpoints: encoders, tokenizers and weights, the same for every version of the libraries.

Used by the parity script and by the tests. The vocabularies are made of the sentences below, which were written
for this purpose.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

SENTENCES = (
    "The heart is mildly enlarged.",
    "There is a small left pleural effusion with adjacent atelectasis (2.5 cm).",
    "No pneumothorax.",
    "Right lower lobe opacity, concerning for pneumonia; correlate clinically!",
    "An endotracheal tube ends 4 cm above the carina.",
    "Stable compression fracture of T12.",
    "Unremarkable.",
    "Mild-to-moderate cardiomegaly without overt pulmonary edema:\nunchanged since the prior study.",
)
REPORTS = (
    *SENTENCES,
    " ".join(SENTENCES[:3]),
    " ".join(SENTENCES[2:7]),
    " ".join(SENTENCES * 3),
    "effusion ÄÖ 胸水",
)
PAIRS = tuple((REPORTS[i], REPORTS[(3 * i + 2) % len(REPORTS)]) for i in range(len(REPORTS))) + tuple(
    (text, text) for text in REPORTS[:3]
)
VARIANTS: dict[str, dict[str, Any]] = {
    "xlmr_softmax_norm": {"encoder": "xlmr", "layer_transformation": "softmax", "layer_norm": True},
    "xlmr_sparsemax": {"encoder": "xlmr", "layer_transformation": "sparsemax", "layer_norm": False},
    "bert_softmax": {"encoder": "bert", "layer_transformation": "softmax", "layer_norm": False},
    "bert_sparsemax_norm": {"encoder": "bert", "layer_transformation": "sparsemax", "layer_norm": True},
    "bert_max_sigmoid": {"encoder": "bert", "pool": "max", "final_activation": "Sigmoid", "layer_norm": False},
}
HIDDEN = 16
POSITIONS = 64  # some reports are longer, so that truncation is part of the comparison


def seeded(name: str, shape: tuple[int, ...], *, seed: int = 0) -> Any:
    """Numbers for one parameter; RandomState's stream is frozen."""
    random = np.random.RandomState(zlib.crc32(f"{seed} {name}".encode()))
    if name.endswith(("LayerNorm.weight", "gamma")):
        return (1 + 0.1 * random.standard_normal(shape)).astype(np.float32)
    return (0.3 * random.standard_normal(shape)).astype(np.float32)


def write_encoder(folder: Path, kind: str) -> Path:
    """Configuration and tokenizer of a small BERT or XLM-R, in the form that transformers 4 and 5 read."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    words = sorted({word for text in SENTENCES for word in _words(text)})
    letters = sorted({letter for word in words for letter in word})
    if kind == "bert":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        entries = list(dict.fromkeys([*special, *letters, *(f"##{letter}" for letter in letters), *words]))
        vocabulary = {entry: at for at, entry in enumerate(entries)}
        (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        around = ("[CLS]", "[SEP]")
        names = dict(zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True))
        about = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
        config: dict[str, Any] = {"architectures": ["BertModel"], "model_type": "bert", "type_vocab_size": 2}
    else:
        special = ["<s>", "<pad>", "</s>", "<unk>"]
        pieces = [*special, "▁", *letters, *(f"▁{word}" for word in words), *words, "<mask>"]
        entries = list(dict.fromkeys(pieces))
        scored = [(entry, 0.0 if entry in special else -float(1 + at % 7)) for at, entry in enumerate(entries)]
        tokenizer = Tokenizer(models.Unigram(scored, unk_id=3, byte_fallback=False))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # as in XLM-R's own file
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
        )
        tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
        around = ("<s>", "</s>")
        names = {"bos": "<s>", "eos": "</s>", "cls": "<s>", "sep": "</s>", "unk": "<unk>", "pad": "<pad>"}
        names["mask"] = "<mask>"
        about = {"tokenizer_class": "XLMRobertaTokenizer"}
        config = {
            "architectures": ["XLMRobertaModel"],
            "model_type": "xlm-roberta",
            "type_vocab_size": 1,
            "pad_token_id": 1,
            "bos_token_id": 0,
            "eos_token_id": 2,
        }
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{around[0]} $A {around[1]}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in around],
    )
    tokenizer.add_special_tokens(list(dict.fromkeys(names.values())))
    tokenizer.save(str(folder / "tokenizer.json"))
    about |= {f"{name}_token": token for name, token in names.items()} | {"model_max_length": POSITIONS}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    config |= {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": HIDDEN,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 2 * HIDDEN,
        "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-5,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else f" {letter} " for letter in text.lower()).split()


def hparams_of(variant: str, encoder: Path) -> dict[str, Any]:
    """COMET's settings of a variant."""
    chosen = dict(VARIANTS[variant])
    kind = chosen.pop("encoder")
    return {
        "encoder_model": "BERT" if kind == "bert" else "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "hidden_sizes": [24, 12],
        "pool": "avg",
        "layer": "mix",
        "layer_transformation": "softmax",
        "activations": "Tanh",
        "final_activation": None,
        "dropout": 0.1,
        "load_pretrained_weights": False,
        **chosen,
    }


def fill(module: Any) -> None:
    """Give every parameter of a torch module its seeded numbers."""
    import torch

    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(np.array(seeded(name, tuple(parameter.shape)))))
