"""RadCliQ: the number of errors a radiologist would find, from four scores by a linear model.

Yu et al. (2023), Evaluating progress in automatic chest X-ray radiology report generation, Patterns 4(9).
Raw values, lower is better. The coefficients are data: `data/radcliq.json`, or a file of the same form that
`radgauge fit radcliq` wrote.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import (
    NETWORK_PRECISION,
    Explanation,
    Metric,
    Note,
    Rows,
    best_reference,
    mean,
    ratio,
    reference_pairs,
)
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Readings
from radgauge.core.registry import check_runs_no_file, load
from radgauge.metrics._settings import EMBEDDED, settle
from radgauge.reader import ReportReader

PUBLISHED = ("preprint", "v0", "v1", "radeval")
_FILE = Path(__file__).parent / "data" / "radcliq.json"


@dataclass(frozen=True)
class Term:
    """One score of a composite: the metric that gives it, and how it enters.

    `column` is the output that a fitted composite was learned from; "" is the headline, as in published ones.
    """

    part: str
    mean: float
    scale: float
    coefficient: float
    column: str = ""


@dataclass(frozen=True)
class Composite:
    """A linear model of standardised scores."""

    terms: tuple[Term, ...]
    intercept: float
    hash: str

    def predict(self, scores: Rows) -> NDArray[np.float64]:
        """The model's value for each row of scores, whose columns are the terms in order.

        >>> composite("v1").predict(np.ones((1, 4))).round(6).tolist()
        [-1.44069]
        """
        parts = [term.coefficient * (scores[..., i] - term.mean) / term.scale for i, term in enumerate(self.terms)]
        total: NDArray[np.float64] = np.sum(parts, axis=0) + self.intercept
        return total


def composite(version: str) -> Composite:
    """The model of a published version, or of a JSON file with "terms" and "intercept".

    Raises:
        UsageError: No such version and no such file.
        InputError: The file is not a composite.
    """
    if version in PUBLISHED:
        return _parse_composite(version, _published_text())
    path = Path(version).expanduser()
    if not path.is_file():
        raise UsageError(
            f"radcliq: version must be one of {', '.join(PUBLISHED)} or a JSON file that exists, got {version!r}"
        )
    try:
        return _parse_composite(version, path.read_text(encoding="utf-8"))  # it may have been fitted anew
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be JSON, got: {error}") from error


@functools.cache
def _published_text() -> str:
    return _FILE.read_text(encoding="utf-8")


@functools.lru_cache(maxsize=16)
def _parse_composite(version: str, text: str) -> Composite:
    content = parse_json(text)
    return _composite(content[version] if version in PUBLISHED else content, version)


def _composite(content: Any, version: str) -> Composite:
    try:
        terms = tuple(
            Term(
                *(str(t["part"]), float(t["mean"]), float(t["scale"]), float(t["coefficient"])),
                column=str(t.get("column", "")),
            )
            for t in content["terms"]
        )
        intercept = float(content["intercept"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{version} must have an 'intercept' and 'terms', each with part, mean, scale and coefficient; "
            f"wrong or missing: {error}"
        ) from error
    numbers = [intercept, *(value for t in terms for value in (t.mean, t.scale, t.coefficient))]
    if not terms or not all(map(math.isfinite, numbers)) or not all(t.scale > 0 for t in terms):
        raise InputError(f"{version} must have at least one term, finite numbers, and every scale above 0")
    digest = hashlib.sha256(json.dumps([content["terms"], intercept], sort_keys=True).encode()).hexdigest()[:12]
    return Composite(terms, intercept, digest)


@dataclass(frozen=True)
class RadCliQ(Metric):
    """RadCliQ by version, from its parts.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> text = "Small left pleural effusion."
    >>> RadCliQ().measure([Case("1", text, (text,))], reading=Readings()).round(3).tolist()  # a copy
    [[-1.441]]
    """

    name: ClassVar[str] = "radcliq"
    precision: ClassVar[float] = NETWORK_PRECISION
    higher_is_better: ClassVar[bool] = False
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-1.45, math.inf)
    summary: ClassVar[str] = "errors a radiologist would find, from RadGraph F1, BERTScore, CheXbert and BLEU-2"

    models: str = EMBEDDED  # Profile of the parts: "embedded", "published", or a folder with the checkpoints
    # "v1" (standardised units), "v0" and "preprint" (errors per report), "radeval" (v1 as the RadEval package
    # computes it, with idf), or a JSON file
    version: str = "v1"
    # Also give 1 / mean, as the ReXrank leaderboard reports it; it exists for sets only, and is NaN for single
    # cases
    inverse: bool = False
    # What texts without words or entities do: "nan": the case is not judged; "published": the parts' published
    # rules hold (RadGraph F1 0, raw BERTScore 0, CheXbert reads the empty text); "auto" is nan for embedded and
    # published for published models
    empty: Literal["auto", "nan", "published"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, "empty", embedded="nan", published="published")
        composite(self.version)

    @property
    def columns(self) -> tuple[str, ...]:
        """The raw value first."""
        version = self.version if self.version in PUBLISHED else Path(self.version).stem.replace(" ", "_")
        names = [f"radcliq_{version}", f"radcliq_{version}_inverse_of_mean"][: 1 + self.inverse]
        embedded = any(column.endswith("_embedded") for part in self._parts() for column in part.columns[:1])
        return tuple(f"{name}_embedded" if embedded else name for name in names)

    @property
    def directions(self) -> tuple[bool, ...]:
        """Lower is better for the raw value, higher for its inverse."""
        return (False, True)[: 1 + self.inverse]

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """As its parts are: a BERTScore with idf looks at all references of the run."""
        return all(part.independent for part in self._parts())

    @property
    def judges_empty(self) -> bool:
        """True if the parts' rules for empty texts hold."""
        return self.empty == "published"

    def parts(self) -> Mapping[str, str]:
        """The coefficients and every part with its own signature."""
        entries = {"coefficients": composite(self.version).hash}
        for part in self._parts():
            entries[part.name] = "(" + part.signature().replace("|", ";") + ")"
        return entries

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """One value per case: the best over its references."""
        candidates, references, owner = reference_pairs(cases)
        scores = self.part_scores(candidates, references, reading=reading)
        values = composite(self.version).predict(scores)[:, None]
        rows = np.full((len(cases), 1), np.nan)
        best = best_reference(values, owner, cases=len(cases), higher_is_better=False)
        rows[best >= 0] = values[best[best >= 0]]
        return rows

    def part_scores(self, candidates: Sequence[str], references: Sequence[str], *, reading: Readings) -> Rows:
        """The score of every part for each pair, in the order of the terms."""
        pairs = [Case(str(i), a, (b,)) for i, (a, b) in enumerate(zip(candidates, references, strict=True))]
        scores = np.full((len(pairs), len(self._parts())), np.nan)
        for number, (term, part) in enumerate(zip(composite(self.version).terms, self._parts(), strict=True)):
            values = part.case_scores(part.measure(pairs, reading=reading))
            scores[:, number] = values[:, _output(term, part)]
        return scores

    def case_scores(self, rows: Rows) -> Rows:
        """The raw value; the inverse of a single case is not defined."""
        return np.hstack([rows, np.full_like(rows, np.nan)]) if self.inverse else rows

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The mean, and 1 / mean if wanted."""
        value = mean(totals, counts)
        return np.concatenate([value, ratio(np.ones_like(value), value)], axis=-1) if self.inverse else value

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """The reason of the first part that could not judge the case."""
        for term, part in zip(composite(self.version).terms, self._parts(), strict=True):
            if np.isnan(part.case_scores(part.measure([case], reading=reading))[0, _output(term, part)]):
                return f"{part.name}: {part.why_not(case, reading=reading)}"
        return super().why_not(case, reading=reading)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """List what each part adds to the value of the first reference's pair."""
        values = self.case_scores(self.measure([case], reading=reading))[0]
        scores = self.part_scores([case.candidate], [case.references[0]], reading=reading)[0]
        model = composite(self.version)
        notes = [Note("info", f"constant: {model.intercept:+.3f}")]
        for term, part, score in zip(model.terms, self._parts(), scores, strict=True):
            share = term.coefficient * (score - term.mean) / term.scale
            notes.append(
                Note(
                    "info",
                    f"{part.columns[_output(term, part)]} {score:.3f} adds {share:+.3f}",
                    data={"score": float(score), "share": float(share)},
                )
            )
        return Explanation(self.name, dict(zip(self.columns, map(float, values), strict=True)), tuple(notes))

    def checkpoints(self) -> tuple[str, ...]:
        """Return those of the parts of this version."""
        return tuple(name for part in self._parts() for name in part.checkpoints())

    def _parts(self) -> tuple[Metric, ...]:
        return _load_parts(self.version, composite(self.version).hash, self.models, self.empty)


def _output(term: Term, part: Metric) -> int:
    """Index of the output of its metric that a term takes."""
    return part.columns.index(term.column) if term.column else 0


@functools.lru_cache(maxsize=32)
def _load_parts(version: str, digest: str, models: str, empty: str) -> tuple[Metric, ...]:
    rules = {"radgraph": "zero", "bertscore": "zero", "chexbert_similarity": "read", "bleu": "zero"}
    parts = []
    for term in composite(version).terms:
        name = term.part.partition(":")[0]
        settings = {"empty": rules[name] if empty == "published" else "nan"} if name in rules else {}
        check_runs_no_file(term.part)
        part = load(term.part, models=models, **settings)
        if term.column and term.column not in part.columns:
            raise UsageError(
                f"radcliq: {version} was fitted to {term.column!r} and models={models} gives {part.columns[0]!r}; "
                "use the models it was fitted with"
            )
        parts.append(part)
    return tuple(parts)
