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

from radgauge.errors import InputError, UsageError
from radgauge.parsing import parse_json

Matrix = NDArray[np.float64]

TYPES = ("ABNORMALITY", "ANATOMY", "DISEASE", "NON-ABNORMALITY", "NON-DISEASE")
TYPE_INDEX = {name: index for index, name in enumerate(TYPES)}

_LONG = (
    (0.4276119164393705, 0.6240929990607657, 0.0034478181112993847, 0.5431049700217344, 0.27005425386213877),
    (0.7487824274337533, 0.2856134859160784, 0.4592143222158069, 0.02097055139911715, 0.00013736314126696204),
    (0.8396510075734789, 0.9950209388542061, 0.8460555030578727, 0.9820689020512646, 0.3789136708096537),
    (0.16546764653692908, 0.018670610691852826, 0.719397354576018, 0.0009357166071730684, 0.0927333564267591),
    (0.7759420231214385, 0.1839139293714062, 0.10073046076318157, 0.03860183811876373, 0.34065681486566446),
)
_SHORT = (
    (0.4070293318365468, 0.6952639610605605, 0.28342529466226446, 0.9479148658006686, 0.23875064111146294),
    (0.5829759950441763, 0.7709590751917746, 0.0006059634829551632, 0.794672584951181, 0.27982942400798977),
    (0.8840397619834857, 0.9637659445696822, 0.19018958438059513, 0.6962283914800402, 0.943727057946997),
    (0.1712744286898638, 0.4485149671497294, 0.00045065329822896076, 0.0007887930317199857, 0.8555432840895761),
    (0.9555801066212176, 0.13122106162635216, 0.6072996585919443, 0.05650711141169969, 0.3214769399791204),
)
_SHORT_2024 = (
    (0.38333811268900353, 0.524104047030107, 0.923737018237504, 0.52192782632639, 0.09090975714641883),
    (0.5455639078951555, 0.626496536178074, 0.6437623942176629, 0.8479489992919492, 0.11194478418886475),
    (0.8598321916682581, 0.37507211703215715, 0.5462324461459105, 0.8552179351076601, 0.6815724040730634),
    (0.6456808357648485, 0.3722718146905089, 0.23592975602491242, 0.02307311214300464, 0.2791242506609838),
    (0.14219022374586918, 0.5458139289243846, 0.0845070074347237, 0.9484343180305856, 0.9387816097414258),
)
_P_2024 = 0.3612
"""Until May 2025 the released code used this constant whatever the matrix file said."""

_RELEASED = {
    ("long", "2025"): (_LONG, 0.8716553966489615),
    ("short", "2025"): (_SHORT, 0.3611577852354489),
    ("long", "2024"): (_LONG, _P_2024),
    ("short", "2024"): (_SHORT_2024, _P_2024),
}


@dataclass(frozen=True, eq=False)
class Affinity:
    """Type weights and penalty.

    Attributes:
        name: long, short, or the file's name with a hash of its content.
        weights: (5, 5), in the order of `TYPES`.
        penalty: p, what a cosine is multiplied with where the types clash.
    """

    name: str
    weights: Matrix
    penalty: float

    def factors(self, rule: str) -> Matrix:
        """What the cosine of each pair of types is multiplied with, (5, 5).

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
        found = Affinity(weights, np.array(matrix), p)
    else:
        found = read_affinity(Path(weights))
        if preset == "2024":
            found = Affinity(found.name, found.weights, _P_2024)
    return found if penalty is None else Affinity(found.name, found.weights, penalty)


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
