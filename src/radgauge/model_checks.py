"""Prove on the user's machine what cannot be proved without the weights: recompute printed examples.

`models/data/checks.json` holds short public examples with the values that authors and peers print for them.
With the real checkpoints present, every example is computed anew and compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.cases import Case
from radgauge.errors import ModelError, UsageError
from radgauge.metric import sums
from radgauge.models.catalogue import checkpoint, find
from radgauge.reading import Readings
from radgauge.registry import load
from radgauge.scores import score

_FILE = Path(__file__).parent / "models" / "data" / "checks.json"


@dataclass(frozen=True)
class CheckResult:
    """How one printed example came out.

    Attributes:
        name: The example.
        models: Checkpoints it needs.
        source: Who printed the values.
        status: "same", "off", or "missing" (a checkpoint is not there).
        difference: Largest difference from the printed values; None if nothing was computed.
        note: What is missing, or which value is off.
    """

    name: str
    models: tuple[str, ...]
    source: str
    status: str
    difference: float | None = None
    note: str = ""


def verify_models(names: Sequence[str] = (), *, models: str = "published") -> list[CheckResult]:
    """Recompute the printed examples whose checkpoints are on this machine.

    Args:
        names: Only examples that need one of these checkpoints; all if empty.
        models: "published", or a folder with the checkpoints.
    """
    for name in names:
        checkpoint(name)
    checks: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))["checks"]
    chosen = [check for check in checks if not names or set(names) & set(check["models"])]
    if not chosen:
        raise UsageError(f"no printed example is known for {', '.join(names)}")
    reading = Readings()
    return [_verify(check, models, reading) for check in chosen]


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
        return CheckResult(*about, "missing", note=str(error))
    same = difference <= check.get("tolerance", 0.0)
    return CheckResult(*about, "same" if same else "off", difference, "" if same else note)


def _values(check: dict[str, Any], models: str, reading: Readings) -> tuple[float, str]:
    metric = load(check["metric"], models=models)
    cases = [Case(str(i), candidate, (reference,)) for i, (candidate, reference) in enumerate(check["pairs"])]
    scores = next(iter(score(cases, metric, reading=reading).values()))
    values = scores.values
    if check.get("set"):
        values = np.atleast_2d(metric.corpus_scores(*sums(scores.rows)))
    worst, note = 0.0, ""
    for name, expected in check["expected"].items():
        mine = values[:, scores.columns.index(name)]
        apart = np.abs(mine - np.array(expected))
        at = int(np.nan_to_num(apart, nan=np.inf).argmax())
        if not apart[at] <= worst:
            worst = float(apart[at])
            note = f"{name} of example {at + 1}: {mine[at]:.6g}, printed {expected[at]:.6g}"
    return worst, note


def _labels(check: dict[str, Any], models: str, reading: Readings) -> tuple[float, str]:
    from radgauge.models.chexbert_labels import CONDITIONS, STATES, condition_codes

    texts = [text for text, _ in check["labels"]]
    codes = condition_codes(texts, reading=reading, models=models)
    wrong = [
        f"{condition} in {text!r}: {STATES[row[CONDITIONS.index(condition)]]}, must be positive"
        for row, (text, condition) in zip(codes, check["labels"], strict=True)
        if row[CONDITIONS.index(condition)] != 1
    ]
    return float(len(wrong)), "; ".join(wrong)
