"""The estimator that ships: COMET's head on a sketch of each report, in numpy, in one small file.

`data/comet_embedded.npz` holds numbers and settings only; its card is `docs/models/comet_embedded.md`.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.errors import ModelError
from radgauge.core.files import replacing, sha256_of
from radgauge.core.parsing import parse_json
from radgauge.encoders.text.feed_forward import Head, head_of
from radgauge.encoders.text.report_sketch import VERSION, ReportSketch

EMBEDDED = Path(__file__).parent / "data" / "comet_embedded.npz"


@dataclass(frozen=True, eq=False)
class EmbeddedEstimator:
    """A head, the sketch it was trained on, and what is known about it."""

    head: Head
    sketch: ReportSketch  # The representation of a report
    about: Mapping[str, Any]  # target, higher_is_better, range, and the figures of the training
    hash: str


def save_embedded(path: Path | str, head: Head, *, sketch: ReportSketch, about: Mapping[str, Any]) -> None:
    """Write an estimator; weights are kept in 16 bits."""
    settings = {
        "sketch": {"version": VERSION, "sizes": list(sketch.sizes), "scale": sketch.scale},
        "activation": head.activation,
        "final_activation": head.final_activation,
        "about": dict(about),
    }
    parts: dict[str, Any] = {f"weight_{at}": weight.astype(np.float16) for at, weight in enumerate(head.weights)}
    parts |= {f"bias_{layer}": bias.astype(np.float32) for layer, bias in enumerate(head.biases)}
    meta = np.frombuffer(json.dumps(settings).encode(), dtype=np.uint8)
    with replacing(path) as file, file.open("wb") as stream:
        np.savez_compressed(stream, meta=meta, **parts)


@lru_cache(maxsize=4)
def load_embedded(path: Path = EMBEDDED) -> EmbeddedEstimator:
    """An estimator from its file.

    Raises:
        ModelError: The file is not there, damaged, or of another version of the representation.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            settings = parse_json(stored["meta"].tobytes())
            number = sum(name.startswith("weight_") for name in stored.files)
            layers = [(stored[f"weight_{at}"], stored[f"bias_{at}"]) for at in range(number)]
            digest = sha256_of(path)[:12]
        about, form = settings["about"], settings["sketch"]
        sketch = ReportSketch(tuple(form["sizes"]), float(form["scale"]))
        head = head_of(layers, activation=settings["activation"], final_activation=settings["final_activation"])
    except FileNotFoundError:
        raise ModelError(f"embedded estimator {path} does not exist") from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} must be an estimator that radgauge wrote, got: {error}") from error
    if form["version"] != VERSION or head.dimensions != sketch.dimensions:
        raise ModelError(
            f"{path} was trained on version {form['version']} of the sketch ({head.dimensions} numbers per text); "
            f"this radgauge makes version {VERSION} with {sketch.dimensions}; train it again"
        )
    return EmbeddedEstimator(head, sketch, about, digest)
