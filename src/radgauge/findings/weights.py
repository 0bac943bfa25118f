"""Weights: how much a finding and an error count in the quality value. Readable JSON, learned by `fit errors`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge.core.error_categories import CATEGORIES
from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json
from radgauge.findings.numbers import DATA
from radgauge.findings.rules import TIERS

SHIPPED = DATA / "weights.json"


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of findings and errors; everything is 0 or more."""

    tiers: Mapping[str, float]  # A finding of each significance tier; "actionable" is the unit
    categories: Mapping[str, float]  # An error of each category, as a share of the finding's weight
    negligible: float = 0.2  # Share that remains of an attribute error without clinical significance
    contradiction: float = 1.1  # Factor for a finding that the other report denies in words
    hedged: float = 0.8  # Share of its weight that an uncertain finding keeps
    reversed: float = 1.0  # A significant change told the other way round, as a share of the finding's weight
    turned: float = 1.8  # Factor for an error that no other wording explains, in a copied sentence or report
    inexact: float = 0.5  # Share of the weight lost when a matched finding is named quite differently
    # Loss when the candidate says nothing on any part of the chest that the reference calls normal
    silence: float = 0.05
    unread: float = 0.1  # Loss per share of the content words that were not understood and are not in both texts
    base: float = 2.0  # Weight of the normal rest of a report, in findings; the smaller, the more one error costs
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def as_json(self) -> str:
        """The file's text: weights first, then where they come from."""
        return json.dumps(asdict(self), indent=2) + "\n"


PRIOR = Weights(
    tiers={"urgent": 2.0, "actionable": 1.0, "not_actionable": 0.5, "benign": 0.15},
    categories={
        "false_finding": 0.7,
        "omission": 1.0,
        "location": 0.75,
        "severity": 0.6,
        "false_comparison": 0.3,
        "omitted_comparison": 0.2,
        "false_uncertainty": 0.2,
        "omitted_uncertainty": 0.2,
    },
    about={"from": "set by hand: the order of the tiers is that of clinical consequence"},
)
"""Prior weights, set before any judgment is seen; the shipped weights were pulled towards these."""

SCALARS = ("negligible", "contradiction", "hedged", "reversed", "turned", "inexact", "silence", "unread", "base")

_LATER = {"turned": 1.0}
"""Weights that files from before they existed lack, and the value that changes nothing."""


@lru_cache(maxsize=16)
def load_weights(source: str = "default") -> Weights:
    """Weights by name or from a file.

    Args:
        source: "default" (shipped, learned from ratings), "prior" (set by hand), or the path of a JSON file.
    """
    if source == "prior":
        return PRIOR
    return read_weights(SHIPPED if source == "default" else Path(source))


def read_weights(path: Path) -> Weights:
    """Weights from a JSON file, checked."""
    try:
        table = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"weights must be 'default', 'prior' or the path of a JSON file; there is no {path}"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: weights must be JSON ({error})") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: weights must be a JSON object, got {type(table).__name__}")
    tiers = _numbers(table, "tiers", TIERS, path)
    categories = _numbers(table, "categories", [category.key for category in CATEGORIES], path)
    scalars = {name: _number(table.get(name, _LATER.get(name)), name, path) for name in SCALARS}
    if scalars["base"] == 0:
        raise InputError(f"{path}: 'base' must be greater than 0")
    return Weights(tiers, categories, **scalars, about=table.get("about", {}))


def _numbers(table: Mapping[str, Any], name: str, keys: Any, path: Path) -> dict[str, float]:
    inner = table.get(name)
    if not isinstance(inner, dict) or set(inner) != set(keys):
        raise InputError(f"{path}: {name!r} must be an object with the keys {', '.join(keys)}")
    return {key: _number(inner[key], f"{name}.{key}", path) for key in keys}


def _number(value: Any, name: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1000:
        raise InputError(f"{path}: {name!r} must be a number from 0 to 1000, got {value!r}")
    return float(value)
