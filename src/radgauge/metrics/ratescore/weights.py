"""RaTEScore's learned numbers: affinity matrices W and penalties p, as released and as files.

Rows are the type of the anchor entity, columns the type of its best match. The values are those of the authors'
releases (MAGIC-AI4Med/RaTEScore); `read_affinity` takes files in their JSON form.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError
from radgauge.core.parsing import parse_json, shipped_toml

Matrix = NDArray[np.float64]

TYPES = ("ABNORMALITY", "ANATOMY", "DISEASE", "NON-ABNORMALITY", "NON-DISEASE")
TYPE_INDEX = {name: index for index, name in enumerate(TYPES)}

_MATRICES = shipped_toml(__file__, "weights.toml")
_P_2024 = 0.3612
"""Until May 2025 the released code used this constant whatever the matrix file said."""

_RELEASED = {
    ("long", "2025"): (_MATRICES["long"], 0.8716553966489615),
    ("short", "2025"): (_MATRICES["short"], 0.3611577852354489),
    ("long", "2024"): (_MATRICES["long"], _P_2024),
    ("short", "2024"): (_MATRICES["short_2024"], _P_2024),
}


@dataclass(frozen=True, eq=False)
class Affinity:
    """Type weights and penalty."""

    name: str  # long, short, or the file's name with a hash of its content
    weights: Matrix  # (5, 5), in the order of `TYPES`
    penalty: float  # p, what a cosine is multiplied with where the types clash

    def factors(self, rule: str) -> Matrix:
        """Factors of the cosine of each pair of types, (5, 5).

        Args:
            rule: "code": p for a polarity clash, a finding or disease against a denied one (the released code);
                "paper": p wherever the types differ (section 2.4 of the paper).
        """
        if rule == "paper":
            clash = ~np.eye(len(TYPES), dtype=bool)
        else:
            denied = np.array([name.startswith("NON-") for name in TYPES])
            stated = np.array([name in ("ABNORMALITY", "DISEASE") for name in TYPES])
            clash = np.outer(denied, stated) | np.outer(stated, denied)
        return np.where(clash, self.penalty, 1.0)

    def to_json(self) -> str:
        """The authors' JSON form."""
        table = {
            f"{row.lower()}_{column.lower()}": float(self.weights[i, j])
            for i, row in enumerate(TYPES)
            for j, column in enumerate(TYPES)
        }
        return json.dumps({**table, "neg_weight": self.penalty}, indent=1)


def affinity(weights: str, *, preset: str = "2025", penalty: float | None = None) -> Affinity:
    """The matrix and penalty that settings name.

    Args:
        weights: "long", "short", or a JSON file in the authors' form.
        preset: "2025" (release 0.6.0, May 2025) or "2024" (before).
        penalty: Another p.

    >>> affinity("long").penalty, affinity("long", preset="2024").penalty
    (0.8716553966489615, 0.3612)
    """
    if (weights, preset) in _RELEASED:
        matrix, p = _RELEASED[weights, preset]
        result = Affinity(weights, np.array(matrix), p)
    else:
        result = read_affinity(Path(weights))
        if preset == "2024":
            result = Affinity(result.name, result.weights, _P_2024)
    return result if penalty is None else Affinity(result.name, result.weights, penalty)


def read_affinity(path: Path) -> Affinity:
    """Weights from a JSON file: "abnormality_anatomy": 0.62, ..., "neg_weight": 0.87."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"ratescore: weights must be long, short or a JSON file; there is no {path}") from None
    try:
        table = parse_json(content)
    except ValueError as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: weights must be a JSON object, got {type(table).__name__}")
    matrix = np.zeros((len(TYPES), len(TYPES)))
    for i, row in enumerate(TYPES):
        for j, column in enumerate(TYPES):
            matrix[i, j] = _number(table, f"{row.lower()}_{column.lower()}", path)
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Affinity(f"{path.stem}@{digest}", matrix, _number(table, "neg_weight", path))


def _number(table: dict[str, object], key: str, path: Path) -> float:
    value = {str(name).lower(): item for name, item in table.items()}.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise InputError(f"{path}: {key!r} must be a number of 0 or more, got {value!r}")
