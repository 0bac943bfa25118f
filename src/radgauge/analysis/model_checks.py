"""Verify models on the user's machine: files have their published hashes and give the published values.

`models/checkpoints/data/checks.json` holds short public examples with the values that authors and peers print for
them. With the real checkpoints present, every example is computed anew and compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import MissingModel, ModelError, UsageError
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.encoders import checkpoints
from radgauge.encoders.checkpoints.catalogue import (
    CHECKPOINTS,
    Checkpoint,
    checkpoint,
    checkpoints_for,
    content_hash,
    find,
)
from radgauge.run.score import score

_FILE = Path(checkpoints.__file__).parent / "data" / "checks.json"


@dataclass(frozen=True)
class CheckResult:
    """Result of one check."""

    name: str  # The example, or the checkpoint whose files were hashed
    models: tuple[str, ...]  # Checkpoints it needs
    source: str  # Who printed the values, or whose hash it is
    # "same", "off", "missing" (a checkpoint is not there), "unreadable" (it cannot be loaded), or "not checked"
    # (an unpacked archive has no hash of its own)
    status: str
    difference: float | None = None  # Largest difference from the printed values; None if nothing was computed
    note: str = ""  # What is missing or wrong, or which value is off


def verify_models(names: Sequence[str] = (), *, models: str = "published") -> list[CheckResult]:
    """Hash the checkpoints that are on this machine, and recompute the printed examples.

    Args:
        names: Only these checkpoints (or those of these metrics), and the examples that need one of them.
        models: "published", or a folder with the checkpoints.
    """
    if models != "published" and not Path(models).expanduser().is_dir():
        raise UsageError(f"models must be 'published' or a folder that exists, got {models!r}")
    listed = {checkpoint.name: checkpoint for name in names for checkpoint in checkpoints_for(name)}
    hashed = [checkpoint for checkpoint in (listed.values() if names else CHECKPOINTS) if checkpoint.hashes]
    checks: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))["checks"]
    chosen = [check for check in checks if not names or listed.keys() & set(check["models"])]
    if not chosen and not hashed:
        raise UsageError(f"neither a hash nor a printed example is known for {', '.join(names)}")
    reading = Readings()
    return [
        *(_compare_hashes(checkpoint, models) for checkpoint in hashed),
        *(_verify(checkpoint, models, reading) for checkpoint in chosen),
    ]


def _compare_hashes(checkpoint: Checkpoint, models: str) -> CheckResult:
    """Check that the files are those that the hub has at the revision of the catalogue."""
    about = (f"{checkpoint.name}: file", (checkpoint.name,), f"{checkpoint.repo}@{checkpoint.revision[:7]}")
    if models == "published":
        location = find(checkpoint)
    else:
        leaf = checkpoint.file or checkpoint.repo.rpartition("/")[2]
        inside = [Path(models).expanduser() / name for name in (leaf, checkpoint.name)]
        location = next((path for path in inside if path.exists()), None)
    if location is None:
        return CheckResult(*about, "missing")
    if checkpoint.file and location.is_dir():
        return CheckResult(*about, "not checked", note=f"{location} was unpacked; the hash is that of the archive")
    for name, expected in checkpoint.hashes.items():
        path = location / name if location.is_dir() else location
        if not path.is_file():
            return CheckResult(
                *about, "not checked", note=f"{location} has no {name}, whose hash is the one known"
            )
        actual = content_hash(path, like=expected)
        if actual != expected:
            return CheckResult(
                *about, "off", note=f"{path} has the hash {actual[:12]}, published is {expected[:12]}"
            )
    return CheckResult(*about, "same")


def _verify(check: dict[str, Any], models: str, reading: Readings) -> CheckResult:
    about = (check["name"], tuple(check["models"]), check["source"])
    if models == "published":
        absent = [name for name in check["models"] if find(checkpoint(name)) is None]
        if absent:
            return CheckResult(*about, "missing", note=f"not on this machine: {', '.join(absent)}")
    try:
        compare = _labels if "labels" in check else _values
        difference, note = compare(check, models, reading)
    except ModelError as error:
        status = "missing" if isinstance(error, MissingModel) else "unreadable"
        return CheckResult(*about, status, note=str(error))
    same = difference <= check.get("tolerance", 0.0)
    return CheckResult(*about, "same" if same else "off", difference, "" if same else note)


def _values(check: dict[str, Any], models: str, reading: Readings) -> tuple[float, str]:
    metric = load(check["metric"], models=models)
    cases = [Case(str(i), candidate, (reference,)) for i, (candidate, reference) in enumerate(check["pairs"])]
    scores = next(iter(score(cases, metric, reading=reading).judges.values()))
    values = scores.values
    if check.get("set"):
        values = np.atleast_2d(metric.corpus_scores(*sums(scores.rows)))
    worst, note = 0.0, ""
    for name, expected in check["expected"].items():
        measured = values[:, scores.columns.index(name)]
        apart = np.nan_to_num(
            np.abs(measured - np.array(expected)), nan=np.inf
        )  # what is not judged is not the same
        at = int(apart.argmax())
        if apart[at] > worst:
            worst = float(apart[at])
            note = f"{name} of example {at + 1}: {measured[at]:.6g}, printed {expected[at]:.6g}"
    return worst, note


def _labels(check: dict[str, Any], models: str, reading: Readings) -> tuple[float, str]:
    from radgauge.encoders.text.chexbert_labels import CONDITIONS, STATES, condition_codes

    texts = [text for text, _ in check["labels"]]
    codes = condition_codes(texts, reading=reading, models=models)
    wrong = [
        f"{condition} in {text!r}: {STATES[row[CONDITIONS.index(condition)]]}, must be positive"
        for row, (text, condition) in zip(codes, check["labels"], strict=True)
        if row[CONDITIONS.index(condition)] != 1
    ]
    return float(len(wrong)), "; ".join(wrong)
