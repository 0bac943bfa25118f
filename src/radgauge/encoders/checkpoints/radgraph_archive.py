"""The published RadGraph archives: configuration, vocabularies and weights, read without unpacking to disk.

An archive is a tar.gz of `config.json`, `weights.th` and `vocabulary/` as AllenNLP wrote them; a folder of the
same content is read too. Members are read in memory, so nothing can be written outside; an archive whose
names try to is refused all the same.
"""

from __future__ import annotations

import posixpath
import re
import tarfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from radgauge.core.errors import ModelError
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.weights import read_tensors, read_weights, reason

_LINE = re.compile(r"\r\n|\n")
_BIGGEST = 1 << 24  # bytes of a configuration or vocabulary file
_LARGEST_WEIGHTS = 1 << 32  # bytes; the largest published network has a third of it


@dataclass(frozen=True, eq=False)
class Archive:
    """Content of an archive."""

    where: str  # The archive, for messages
    encoder: str  # Hub id of the transformer whose vocabulary and sizes the network uses
    max_length: int  # Word pieces that the encoder reads at once; 0 for no limit
    span_width: int  # Longest span in words
    feature_size: int  # Size of the width embedding
    layers: tuple[int, ...]  # Sizes of the feed-forward layers
    spans_per_word: float  # How many spans the pruner keeps
    dataset: str  # Name under which labels and weights are stored
    ner_labels: tuple[str, ...]  # Entity labels by index; the first is the empty one
    relation_labels: tuple[str, ...]  # Relation labels by index
    weights: dict[str, Any]  # Name -> tensor


def read_archive(path: Path, *, network: str) -> Archive:
    """Read a published archive or the folder it was unpacked to.

    Args:
        path: `radgraph.tar.gz` and the like, or a folder with config.json, weights.th and vocabulary/.
        network: Which of the networks it is, if its vocabularies leave a choice.

    Raises:
        ModelError: It is no such archive; the message says what is missing or wrong.
    """
    texts, weights = _read_folder(path) if path.is_dir() else _read_tar(path)
    missing = sorted({"config.json"} - texts.keys()) + ([] if weights is not None else ["weights.th"])
    if missing:
        raise ModelError(f"{path} must hold {' and '.join(missing)}, as the published archives do")
    if weights is None:  # never: it was reported above
        raise ModelError(f"{path} must hold weights.th")
    dataset, ner, relations = _labels(texts, path, network)
    try:
        config = parse_json(texts["config.json"])
        model = config["model"]
        bert = config["dataset_reader"]["token_indexers"]["bert"]
        forward = model["feedforward_params"]
        count = int(forward["num_layers"])
        dims = forward["hidden_dims"]
        if float(model["modules"].get("coref", {}).get("coref_prop", 0) or 0) > 0:
            raise ModelError(f"{path} uses coreference propagation, which none of the published networks does")
        return Archive(
            where=str(path),
            encoder=str(bert["model_name"]),
            max_length=int(bert.get("max_length") or 0),
            span_width=int(config["dataset_reader"]["max_span_width"]),
            feature_size=int(model["feature_size"]),
            layers=tuple(dims) if isinstance(dims, list) else (int(dims),) * count,
            spans_per_word=float(model["modules"]["relation"]["spans_per_word"]),
            dataset=dataset,
            ner_labels=ner,
            relation_labels=relations,
            weights=weights,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"config.json of {path} must be that of a DyGIE++ network, wrong or missing: {error}"
        ) from error


def _labels(texts: dict[str, str], path: Path, network: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The label lists of the network's data set."""
    spaces = {
        posixpath.basename(name).removesuffix(".txt"): _lines(text)
        for name, text in texts.items()
        if name.startswith("vocabulary/")
    }
    datasets = [name.removesuffix("__ner_labels") for name in spaces if name.endswith("__ner_labels")]
    dataset = network if network in datasets else datasets[0] if len(datasets) == 1 else ""
    if not dataset or f"{dataset}__relation_labels" not in spaces:
        raise ModelError(
            f"vocabulary/ of {path} must hold {network}__ner_labels.txt and {network}__relation_labels.txt, "
            f"got {', '.join(sorted(spaces)) or 'nothing'}"
        )
    ner = spaces[f"{dataset}__ner_labels"]
    if not ner or ner[0]:
        raise ModelError(f"the first entity label of {path} must be the empty one, got {ner[:1]}")
    return dataset, ner, spaces[f"{dataset}__relation_labels"]


def _lines(text: str) -> tuple[str, ...]:
    lines = _LINE.split(text)
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _is_needed(name: str) -> bool:
    return name == "config.json" or (name.startswith("vocabulary/") and name.endswith(".txt"))


def _read_folder(path: Path) -> tuple[dict[str, str], dict[str, Any] | None]:
    texts = {
        name: file.read_text(encoding="utf-8")
        for file in sorted([path / "config.json", *(path / "vocabulary").glob("*.txt")])
        if file.is_file() and _is_needed(name := file.relative_to(path).as_posix())
    }
    weights = path / "weights.th"
    return texts, read_weights(weights) if weights.is_file() else None


def _read_tar(path: Path) -> tuple[dict[str, str], dict[str, Any] | None]:
    texts: dict[str, str] = {}
    weights: dict[str, Any] | None = None
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if name.startswith(("/", "..")) or (len(name) > 1 and name[1] == ":"):
                    raise ModelError(f"{path} is not read: its member {member.name!r} climbs out of its folder")
                if member.issym() or member.islnk() or member.isdev():
                    raise ModelError(f"{path} is not read: its member {member.name!r} is a link or device")
                file = archive.extractfile(member) if member.isfile() else None
                if file is None:
                    continue
                if name == "weights.th":
                    if member.size > _LARGEST_WEIGHTS:
                        raise ModelError(f"{path} is not read: its member {member.name!r} is too large")
                    weights = read_tensors(BytesIO(file.read()), where=f"weights.th of {path}")
                elif _is_needed(name):
                    if member.size > _BIGGEST:
                        raise ModelError(f"{path} is not read: its member {member.name!r} is too large")
                    texts[name] = file.read().decode("utf-8")
    except tarfile.ReadError as error:
        raise ModelError(f"{path} must be a tar.gz archive of a published network, and is no archive") from error
    except (tarfile.TarError, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise ModelError(
            f"{path} must be a tar.gz archive of a published network, got: {reason(error)}"
        ) from error
    return texts, weights
