"""Seeded random checkpoints in the authors' file formats, for parity fixtures, tests and benchmarks.

Weights are drawn by numpy's RandomState, whose stream is frozen, one generator per tensor named by the tensor:
every version of torch and transformers gets the same numbers. Vocabularies are made of our own sentences.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import tarfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Size:
    """Layers and widths of a transformer."""

    layers: int = 2
    hidden: int = 48
    heads: int = 4
    inner: int = 96
    vocabulary: int = 0  # at least this many entries
    texts: tuple[str, ...] = ()  # where the vocabulary comes from; our sentences unless given
    merges: int = 120


SMALL = Size()
BASE = Size(layers=12, hidden=768, heads=12, inner=3072, vocabulary=30522)
DISTIL = Size(layers=6, hidden=768, heads=12, inner=3072, vocabulary=50265)

SENTENCES = (
    "The heart is mildly enlarged.",
    "There is a small left pleural effusion with adjacent atelectasis (2.5 cm).",
    "No pneumothorax.",
    "Right lower lobe opacity, concerning for pneumonia; correlate clinically!",
    "An endotracheal tube ends 4 cm above the carina / tip in good position.",
    "LUNGS: Clear. HEART: Normal size.",
    "Stable 50% compression fracture of T12.",
    "Is there a nodule?",
    "Unremarkable.",
    "Mild-to-moderate cardiomegaly without overt pulmonary edema:\nunchanged since the prior study.",
)
"""Written for this purpose."""

REPORTS = (
    *SENTENCES,
    " ".join(SENTENCES[:4]),
    " ".join(SENTENCES[3:8]),
    " ".join(SENTENCES),
    "The heart  is   mildly enlarged .  No pneumothorax",
    ".",
)
PAIRS = tuple((REPORTS[i], REPORTS[(3 * i + 2) % len(REPORTS)]) for i in range(len(REPORTS))) + tuple(
    (text, text) for text in REPORTS[:3]
)
LONG = " ".join(SENTENCES * 5)
"""Longer than the small encoders read at once."""

LABELS = ("", "ANAT-DP", "OBS-DA", "OBS-DP", "OBS-U")
RELATIONS = ("located_at", "modify", "suggestive_of")


def drawn(name: str, shape: tuple[int, ...], *, seed: int) -> np.ndarray:
    """The numbers of one tensor."""
    rng = np.random.RandomState(zlib.crc32(f"{seed}:{name}".encode()))
    numbers = rng.standard_normal(shape)
    if "LayerNorm" in name or "norm" in name.rpartition(".")[0].rpartition(".")[2]:
        return 0.1 * numbers + (1.0 if name.endswith("weight") else 0.0)
    if "embedding" in name:
        return 0.5 * numbers
    return numbers * (0.1 if len(shape) == 1 else 1.2 / np.sqrt(shape[-1]))


def fill(state: dict[str, Any], *, seed: int) -> dict[str, Any]:
    """The same names with seeded numbers; whole numbers stay."""
    import torch

    return {
        name: torch.from_numpy(drawn(name, tuple(value.shape), seed=seed)).float()
        if value.is_floating_point()
        else value
        for name, value in state.items()
    }


def bert_folder(folder: Path, *, size: Size = SMALL, positions: int = 512) -> Path:
    """Vocabulary and config.json of an uncased BERT."""
    folder.mkdir(parents=True, exist_ok=True)
    words = sorted(set(re.findall(r"[a-z]+", " ".join(size.texts or SENTENCES).lower())))
    # Some fall into pieces: with real texts about as many as BERT's own vocabulary breaks.
    whole = [word for number, word in enumerate(words) if number % (20 if size.texts else 3)]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,:;!?()/%-"
    pieces = [*letters, *("##" + letter for letter in letters), "##ing", "##ly", "##tion", "##ed"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys([*pieces, *whole])]
    vocabulary += [f"[unused{i}]" for i in range(size.vocabulary - len(vocabulary))]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": positions}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": len(vocabulary),
        "max_position_embeddings": positions,
        "type_vocab_size": 2,
        **_sizes(size),
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _sizes(size: Size) -> dict[str, int]:
    return {
        "hidden_size": size.hidden,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": size.inner,
    }


def _empty_model(folder: Path) -> Any:
    import transformers

    return transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained(folder))


def encoder(
    folder: Path, *, kind: str = "roberta", size: Size = SMALL, seed: int = 1, positions: int = 64
) -> Path:
    """A whole encoder with weights: "bert" or "roberta"."""
    from safetensors.torch import save_file

    if kind == "bert":
        bert_folder(folder, size=size, positions=positions)
    else:
        _roberta_folder(folder, size=size, positions=positions)
    state = fill(dict(_empty_model(folder).state_dict()), seed=seed)
    weights = {name: value.contiguous() for name, value in state.items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def _roberta_folder(folder: Path, *, size: Size, positions: int) -> None:
    """Byte-level BPE with merges for the commonest pairs of our sentences."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shown = {byte: chr(byte) for byte in kept}
    for byte in range(256):
        shown.setdefault(byte, chr(256 + len(shown) - len(kept)))
    words = Counter(re.findall(r"[A-Za-z]+|[^\sA-Za-z]+", " ".join(size.texts or SENTENCES)))
    merges = []
    split = [([shown[byte] for byte in f" {word}".encode()], often) for word, often in words.items()]
    for _ in range(size.merges):
        counts: Counter[tuple[str, str]] = Counter()
        for word, often in split:
            for pair in itertools.pairwise(word):
                counts[pair] += often
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        split = [(_merge(word, best), often) for word, often in split]
    joined = dict.fromkeys("".join(pair) for pair in merges)
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *shown.values(), *joined]
    vocabulary += [f"madeup{i}" for i in range(size.vocabulary - len(vocabulary) - 1)] + ["<mask>"]
    ids = {token: number for number, token in enumerate(vocabulary)}
    (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": positions}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = {
        "model_type": "roberta",
        "architectures": ["RobertaModel"],
        "vocab_size": len(vocabulary),
        "max_position_embeddings": positions + 2,
        "type_vocab_size": 1,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        **_sizes(size),
    }
    (folder / "config.json").write_text(json.dumps(config))


def modernbert_folder(folder: Path, *, size: Size = SMALL) -> Path:
    """Tokenizer and config.json of a ModernBERT: byte-level BPE in tokenizer.json, near and far attention."""
    _roberta_folder(folder, size=size, positions=8192)
    ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    names = {"<s>": "[CLS]", "<pad>": "[PAD]", "</s>": "[SEP]", "<unk>": "[UNK]", "<mask>": "[MASK]"}
    ids = {names.get(token, token): number for token, number in ids.items()}
    merges = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    special = [{"id": ids[token], "content": token, "special": True} for token in names.values()]
    for each in special:
        each.update(dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False))
    bytes_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ends = [{"SpecialToken": {"id": token, "type_id": 0}} for token in ("[CLS]", "[SEP]")]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    known = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": bytes_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [ends[0], text, ends[1]],
            "pair": [ends[0], text, ends[1], {"Sequence": {"id": "B", "type_id": 0}}, ends[1]],
            "special_tokens": known,
        },
        "decoder": bytes_level,
        "model": {"type": "BPE", "unk_token": None, "vocab": ids, "merges": [m.split(" ") for m in merges]},
    }
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("cls", "pad", "sep", "unk", "mask")}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192, **roles}
    settings["model_input_names"] = ["input_ids", "attention_mask"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = {
        "model_type": "modernbert",
        "architectures": ["ModernBertForMaskedLM"],
        "vocab_size": len(ids),
        "max_position_embeddings": 8192,
        "local_attention": 16,
        "global_attn_every_n_layers": 3,
        **{f"{role}_token_id": ids[f"[{role.upper()}]"] for role in ("cls", "pad", "sep")},
        "bos_token_id": ids["[CLS]"],
        "eos_token_id": ids["[SEP]"],
        **_sizes(size),
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _merge(word: list[str], pair: tuple[str, str]) -> list[str]:
    merged: list[str] = []
    for letter in word:
        if merged and (merged[-1], letter) == pair:
            merged[-1] += letter
        else:
            merged.append(letter)
    return merged


def chexbert(folder: Path, *, size: Size = SMALL, seed: int = 2) -> Path:
    """`chexbert.pth` and `bert-base-uncased/` in one folder; returns the checkpoint."""
    import torch

    bert = bert_folder(folder / "bert-base-uncased", size=size)
    state = {f"module.bert.{k}": v for k, v in fill(dict(_empty_model(bert).state_dict()), seed=seed).items()}
    for head in range(14):
        classes = 4 if head < 13 else 2
        shapes = {f"linear_heads.{head}.weight": (classes, size.hidden), f"linear_heads.{head}.bias": (classes,)}
        for name, shape in shapes.items():
            state[f"module.{name}"] = torch.from_numpy(2 * drawn(name, shape, seed=seed)).float()
    path = folder / "chexbert.pth"
    torch.save({"epoch": 1, "model_state_dict": state, "optimizer_state_dict": {"state": {}}}, path)
    return path


def crepe(folder: Path, *, size: Size = SMALL, seed: int = 8) -> Path:
    """A checkpoint in CREPE's layout: BERT with its pooler, six regressors, six heads of presence."""
    import torch
    from safetensors.torch import save_file

    bert_folder(folder, size=size)
    settings = json.loads((folder / "config.json").read_text())
    own = {"architectures": ["BertForCategoryErrorRegression"], "num_error_categories": 6}
    own |= {"use_poisson_loss": False, "use_presence_loss": True, "presence_loss_weight": 0.3}
    (folder / "config.json").write_text(json.dumps({**settings, **own}))
    state = {f"bert.{k}": v for k, v in fill(dict(_empty_model(folder).state_dict()), seed=seed).items()}
    for part in ("error_regressors", "error_presence"):
        for head in range(6):
            for name, shape in ((f"{part}.{head}.weight", (1, size.hidden)), (f"{part}.{head}.bias", (1,))):
                state[name] = torch.from_numpy(drawn(name, shape, seed=seed)).float()
    weights = {name: value.contiguous() for name, value in state.items() if "position_ids" not in name}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def crepe_pairs() -> list[tuple[str, str]]:
    """100 pairs of reports with words."""
    reports = [text for text in REPORTS if text.strip(".")]
    pairs = [(a, b) for a in reports for b in reports][: 100 - 4]
    return [*pairs, (LONG * 4, LONG * 5), (LONG * 10, "No effusion."), ("Stable.", LONG * 12), (LONG * 9, LONG)]


def radgraph(
    folder: Path,
    *,
    network: str = "radgraph",
    size: Size = SMALL,
    seed: int = 3,
    max_length: int = 512,
    shifts: Any = None,
) -> Path:
    """An unpacked archive in `folder/<network>` and its encoder's vocabulary in `folder/encoder`."""
    import torch

    modern = network.startswith("modern")
    bert = (modernbert_folder if modern else bert_folder)(folder / "encoder", size=size)
    layers, features, width, inner = 2, 20, 8, 150 if size.hidden > 100 else 24
    prefix = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
    state = {prefix + k: v for k, v in fill(dict(_empty_model(bert).state_dict()), seed=seed).items()}
    span = 2 * size.hidden + features
    shapes = {"_endpoint_span_extractor._span_width_embedding.weight": (width, features)}

    def forward(root: str, inputs: int) -> None:
        for layer in range(layers):
            shapes[f"{root}_linear_layers.{layer}.weight"] = (inner, inputs if layer == 0 else inner)
            shapes[f"{root}_linear_layers.{layer}.bias"] = (inner,)

    def linear(root: str, inputs: int, outputs: int) -> None:
        shapes[f"{root}weight"], shapes[f"{root}bias"] = (outputs, inputs), (outputs,)

    ner, relation = f"{network}__ner_labels", f"{network}__relation_labels"
    forward(f"_ner._ner_scorers.{ner}.0._module.", span)
    linear(f"_ner._ner_scorers.{ner}.1._module.", inner, len(LABELS) - 1)
    forward(f"_relation._mention_pruners.{relation}._scorer.0._module.", span)
    linear(f"_relation._mention_pruners.{relation}._scorer.1._module.", inner, 1)
    forward(f"_relation._relation_feedforwards.{relation}.", 3 * span)
    linear(f"_relation._relation_scorers.{relation}.", inner, len(RELATIONS))
    forward("_coref._antecedent_feedforward._module.", 3 * span + features)
    linear("_coref._antecedent_scorer._module.", inner, 1)
    forward("_coref._mention_pruner._scorer.0._module.", span)
    linear("_coref._mention_pruner._scorer.1._module.", inner, 1)
    linear("_coref._f_network._linear_layers.0.", 2 * span, span)
    shapes["_coref._distance_embedding.weight"] = (10, features)
    shapes["_events._distance_embedding.weight"] = (10, features)
    for name, shape in shapes.items():
        state[name] = torch.from_numpy(drawn(name, shape, seed=seed)).float()
    # An untrained scorer says the same of every span. Weights whose mean is zero tell spans apart, and the shifts
    # (found by looking at the scores) make entities and relations the exception.
    roots = (f"_ner._ner_scorers.{ner}.1._module.", f"_relation._relation_scorers.{relation}.")
    for root, shift in zip(roots, shifts or SHIFTS[network], strict=True):
        state[f"{root}weight"] -= state[f"{root}weight"].mean(dim=1, keepdim=True)
        state[f"{root}weight"] *= 6
        state[f"{root}bias"] -= torch.tensor(shift)
    target = folder / network
    (target / "vocabulary").mkdir(parents=True, exist_ok=True)
    (target / "vocabulary" / f"{ner}.txt").write_text("\n".join(LABELS) + "\n")
    (target / "vocabulary" / f"{relation}.txt").write_text("\n".join(RELATIONS) + "\n")
    (target / "vocabulary" / "non_padded_namespaces.txt").write_text("*labels\n*tags\n")
    (target / "config.json").write_text(
        json.dumps(_dygie_config(bert, layers, features, width, inner, max_length))
    )
    torch.save(state, target / "weights.th")
    return target


SHIFTS = {
    "radgraph": ((-3.7, 0.75, 1.38, 4.45), (2.59, 7.57, 6.27)),
    "radgraph-xl": ((13.34, -0.32, 7.3, 4.89), (-0.08, 6.2, 1.37)),
    "modern-radgraph-xl": ((4.8, 4.92, 2.34, 5.74), (3.0, 3.0, 3.0)),
}


def _dygie_config(
    bert: Path, layers: int, features: int, width: int, inner: int, max_length: int
) -> dict[str, Any]:
    indexer = {"type": "pretrained_transformer_mismatched", "model_name": str(bert), "max_length": max_length}
    return {
        "dataset_reader": {"type": "dygie", "max_span_width": width, "token_indexers": {"bert": indexer}},
        "model": {
            "type": "dygie",
            "embedder": {"token_embedders": {"bert": indexer}},
            "initializer": {},
            "module_initializer": {},
            "feature_size": features,
            "max_span_width": width,
            "target_task": "relation",
            "feedforward_params": {"num_layers": layers, "hidden_dims": inner, "dropout": 0.4},
            "loss_weights": {"ner": 0.2, "relation": 1.0, "coref": 0.0, "events": 0.0},
            "modules": {
                "coref": {"spans_per_word": 0.3, "max_antecedents": 100, "coref_prop": 0},
                "ner": {},
                "relation": {"spans_per_word": 0.5},
                "events": {
                    "trigger_spans_per_word": 0.3,
                    "argument_spans_per_word": 0.8,
                    "loss_weights": {"trigger": 1.0, "arguments": 1.0},
                },
            },
        },
    }


def limitr(folder: Path, *, size: Size = SMALL, seed: int = 5) -> Path:
    """A Lightning checkpoint under the published name and `Bio_ClinicalBERT/` beside it; returns the checkpoint.

    The ResNet-50 has its full size, which cannot be chosen; numbers are scaled so that its activations stay small.
    """
    import torch

    from radgauge.encoders.image.resnet import WIDTH, ResNet50

    bert = bert_folder(folder / "Bio_ClinicalBERT", size=size)
    tower = "img_encoder_f"
    words = fill(dict(_empty_model(bert).state_dict()), seed=seed)
    state = {f"text_encoder.model.{name}": value for name, value in words.items()}
    for name, value in ResNet50().state_dict().items():
        key = f"{tower}.model.{name}"
        state[key] = torch.from_numpy(_residual(key, tuple(value.shape), seed=seed)).to(value.dtype)
    shapes = {
        f"{tower}.global_embedder.weight": (size.hidden, WIDTH),
        f"{tower}.global_embedder.bias": (size.hidden,),
        f"{tower}.local_embedder.weight": (size.hidden, WIDTH // 2, 1, 1),
    }
    for name, shape in shapes.items():
        state[name] = torch.from_numpy(drawn(name, shape, seed=seed)).float()
    text = {"bert_type": "emilyalsentzer/Bio_ClinicalBERT", "last_n_layers": min(4, size.layers + 1)}
    text |= {"aggregate_method": "sum", "norm": False, "embedding_dim": size.hidden, "agg_tokens": True}
    settings = {
        "model": {
            "text": {**text, "freeze_bert": False},
            "vision": {"model_name": "resnet_50", "pretrained": True, "freeze_cnn": False},
        },
        "data": {"text": {"word_num": 97}, "image": {"imsize": 256}},
        "transforms": {"random_crop": {"crop_size": 224}},
    }
    path = folder / "epoch=8-step=44963.ckpt"
    named = {f"limitr.{name}": value for name, value in state.items()}
    torch.save({"epoch": 8, "state_dict": named, "hyper_parameters": settings}, path)
    return path


def _residual(name: str, shape: tuple[int, ...], *, seed: int) -> np.ndarray:
    """Numbers of a residual network whose blocks add little to what passes by."""
    numbers = np.random.RandomState(zlib.crc32(f"{seed}:{name}".encode())).standard_normal(shape or (1,))
    if name.endswith("num_batches_tracked"):
        return np.zeros(shape, dtype=np.int64)
    if name.endswith("running_var"):
        return 1.0 + 0.1 * np.abs(numbers)
    if len(shape) == 4:
        return numbers * np.sqrt(2.0 / np.prod(shape[1:]))
    if name.endswith("weight"):  # of a normalisation
        return (0.3 if "bn3" in name else 1.0) + 0.05 * numbers
    return 0.05 * numbers


def open_clip(folder: Path, *, kind: str = "timm", seed: int = 6) -> Path:
    """A folder in open_clip's form: BiomedCLIP's kind ("timm", with its text encoder) or open_clip's ("own")."""
    from safetensors.torch import save_file

    from radgauge.encoders.image.open_clip_network import BertText, ClipText, ClipVision, TimmVision

    folder.mkdir(parents=True, exist_ok=True)
    if kind == "timm":
        bert = bert_folder(folder / "small-bert")
        vision = {"timm_model_name": "vit_tiny_patch16_224", "timm_pool": "", "timm_proj": "linear"}
        vision |= {"image_size": 224}
        words = {"hf_model_name": "nobody/small-bert", "hf_tokenizer_name": "nobody/small-bert"}
        words |= {"hf_proj_type": "mlp", "hf_pooler_type": "cls_last_hidden_state_pooler", "context_length": 64}
        visual: Any = TimmVision(192, 12, 16, 224, 40)
        text: Any = BertText(_bare_bert(bert), 40, pooler=words["hf_pooler_type"], projection="mlp")
    else:
        vision = {"image_size": 64, "layers": 2, "width": 128, "patch_size": 16}
        words = {"context_length": 20, "vocab_size": 400, "width": 64, "heads": 4, "layers": 2}
        visual, text = ClipVision(vision, 40, quick=True), ClipText(words, 40, quick=True)
    state = {f"visual.{k}": v for k, v in visual.state_dict().items()}
    state |= {f"text.{k}" if kind == "timm" else k: v for k, v in text.state_dict().items()}
    weights = {name: value.contiguous() for name, value in fill(state, seed=seed).items()}
    import torch

    save_file({**weights, "logit_scale": torch.tensor(1.0)}, folder / "open_clip_model.safetensors")
    settings = {"embed_dim": 40, "vision_cfg": vision, "text_cfg": words}
    settings |= {"quick_gelu": True} if kind == "own" else {}
    prepared = {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}
    prepared |= {"interpolation": "bicubic", "resize_mode": "shortest"}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": settings, "preprocess_cfg": prepared}))
    return folder


def _bare_bert(folder: Path) -> Any:
    import transformers

    return transformers.BertModel(transformers.AutoConfig.from_pretrained(folder), add_pooling_layer=False)


def token_ids() -> list[list[int]]:
    """Texts as numbers, for the network of `open_clip` with a text side of its own; 59 ends a text."""
    rng = np.random.RandomState(7)
    return [[1, *rng.randint(2, 59, length).tolist(), 59, *[0] * (18 - length)] for length in (3, 9, 18)]


def pictures(folder: Path) -> list[Path]:
    """Drawn pictures of several shapes and depths; they show no patient."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, (height, width) in enumerate(((300, 240), (200, 320), (512, 512), (90, 130), (701, 333))):
        rows, columns = np.mgrid[0:height, 0:width] / max(height, width)
        waves = np.sin(9 * rows + number) * np.cos(7 * columns * (number + 1)) + 0.3 * np.sin(60 * rows * columns)
        disc = (rows - 0.4) ** 2 + (columns - 0.3 - 0.05 * number) ** 2 < 0.02
        grey = np.clip(120 + 70 * waves + 50 * disc, 0, 255).astype(np.uint8)
        path = folder / f"drawn{number}.png"
        Image.fromarray(grey).save(path)
        made.append(path)
    return made


def pack(folder: Path, target: Path) -> Path:
    """The unpacked archive as a tar.gz; the encoder is named by its last part, as archives name hub ids."""
    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                member = tarfile.TarInfo(path.relative_to(folder).as_posix())
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return target
