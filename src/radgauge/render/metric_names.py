"""Names of the metrics for people, with what each one follows and how far it was found to agree with raters."""

from __future__ import annotations

import functools
import json
import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files

EMBEDDED = "_embedded"


@dataclass(frozen=True, slots=True)
class MetricName:
    """One column for people."""

    column: str  # Its name in code
    name: str  # Its name for people; the column's own where nobody gave one
    what: str = ""  # What it measures, half a sentence
    follows: str = ""  # findings, labels, words, reading, image, or "" where it is not known
    # Kendall tau-b with the rating on the pairs named in `pairs`; None if it was not measured
    tau: float | None = None
    low: float | None = None  # Lower end of its 95 % interval
    high: float | None = None
    pairs: int = 0  # How many pairs stand behind it
    # Smallest effect of interest (`benchmarks/smallest_effects.py`): the change of a set's mean if one report in
    # ten is one rating point better; None if it was not measured
    smallest: float | None = None

    @property
    def agreement(self) -> str:
        """The measured agreement in words, "" if there is none."""
        if self.tau is None:
            return ""
        bounds = f"[{self.low:.2f}, {self.high:.2f}]"
        return f"Kendall τ-b {self.tau:.2f} {bounds} with a language model's ratings of {self.pairs} pairs"

    def hint(self, higher_is_better: bool, limits: tuple[float, float] | None = None) -> str:
        """Text of a tooltip."""
        parts = [self.what[:1].upper() + self.what[1:]] if self.what else []
        parts.append(f"{'higher' if higher_is_better else 'lower'} is better")
        if limits is not None:
            parts.append(f"range {_end(limits[0])} to {_end(limits[1])}")
        parts.append(_TRUST.get(self.follows, ""))
        if self.agreement:
            parts.append(f"{self.agreement} ({_SET})")
        parts.append(f"column {self.column}")
        return ". ".join(part for part in parts if part)


_TRUST = {
    "findings": "follows findings",
    "labels": "follows a few conditions",
    "words": "follows wording: the opposite in the same words does well",
    "reading": "says how a text reads, not whether it is right",
    "image": "follows the picture",
}
_SET = "given blind, benchmarks/held_out"


def metric_name(column: str) -> MetricName:
    """Display name of a column.

    >>> metric_name("ratescore_embedded").name, metric_name("green").name
    ('RaTEScore (embedded)', 'green')
    """
    plain = column.removesuffix(EMBEDDED)
    entry = _names().get(plain)
    smallest = _smallest_effects().get(column, {}).get("value")
    if entry is None:
        return MetricName(column, column, smallest=smallest)
    name = entry["name"] if plain == column else f"{entry['name']} (embedded)"
    measured = _measured().get(column)
    label = MetricName(column, name, entry["what"], entry["follows"], smallest=smallest)
    if measured is None:
        return label
    return replace(
        label, tau=measured["tau"], low=measured["low"], high=measured["high"], pairs=int(measured["pairs"])
    )


@functools.cache
def _names() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("radgauge.render") / "data" / "metric_names.toml").read_text(encoding="utf-8"))


@functools.cache
def _measured() -> dict[str, dict[str, float]]:
    text = (files("radgauge.render") / "data" / "agreement.json").read_text(encoding="utf-8")
    measured: dict[str, dict[str, float]] = json.loads(text)
    return measured


@functools.cache
def _smallest_effects() -> dict[str, dict[str, float]]:
    text = (files("radgauge.render") / "data" / "smallest_effects.json").read_text(encoding="utf-8")
    effects: dict[str, dict[str, float]] = json.loads(text)
    return effects


def _end(value: float) -> str:
    return "−∞" if value == float("-inf") else "∞" if value == float("inf") else f"{value:g}"
