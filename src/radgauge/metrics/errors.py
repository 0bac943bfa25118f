"""The errors a radiologist would count, from the embedded reader's findings; no model, no LLM.

Categories 1 to 6: Yu et al. (2022), Evaluating progress in automatic chest X-ray radiology report generation.
Categories 7, 8: Calamida et al. (2023), Radiology-aware model-based evaluation metric for report generation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.error_categories import count_columns
from radgauge.core.errors import UsageError
from radgauge.core.metric import Explanation, Metric, Note, Rows, mean, ratio
from radgauge.core.readings import Readings
from radgauge.core.signature import component
from radgauge.encoders.text.chexbert_labels import POSITIVE, UNCERTAIN, condition_codes
from radgauge.findings.aligned import Aligned
from radgauge.findings.claims import findings_of
from radgauge.findings.edits import words_of
from radgauge.findings.findings import Findings, Knowledge, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.findings.notes import advice_notes, confidence_notes, notes_of
from radgauge.findings.numbers import coverage_threshold, numbers
from radgauge.findings.profile import Arithmetic, Profile, counts_of, profile_of
from radgauge.findings.rules import NO_CONTEXT, Context, context_of
from radgauge.findings.weights import load_weights
from radgauge.metrics.ratescore import RateScore
from radgauge.reader import ReportReader, load_lexicon

# Soft evidence on two reports in free wordings: similarity of entities and agreement of labels.
#
# Counting errors rests on rules, which miss what other words say. Soft measures do not, but near copies look alike
# to them whatever was turned round. So their weight fades out as two texts share more of their words and word
# pairs.

Pair = tuple[str, str]


class SoftEvidence(NamedTuple):
    """Evidence that two texts share apart from matched findings."""

    gate: float  # Share of the soft evidence that counts: 1 for free wordings, 0 for near copies
    entities: float = math.nan  # Similarity of the entities (`ratescore_embedded`); NaN if a text has none
    labels: float = math.nan  # Agreement on the positive ones of 14 conditions, smoothed: 1 without a disagreement

    @property
    def parts(self) -> dict[str, float]:
        """Return how strongly each part speaks for the candidate, or against it."""
        table = numbers()["soft"]
        parts = {
            name: self.gate * table[name] * (value - table[f"typical_{name}"])
            for name, value in (("entities", self.entities), ("labels", self.labels))
        }
        return {name: 0.0 if math.isnan(part) else part for name, part in parts.items()}

    def applied_to(self, quality: float) -> float:
        """Return the quality with the evidence; 1, -1 and the order of reports with equal evidence stay.

        >>> round(SoftEvidence(1.0, entities=0.75, labels=1.0).applied_to(0.5), 6)  # 0.2 x (1 - 0.25) more
        0.65
        """
        return quality + sum(self.parts.values()) * (1.0 - quality**2)

    def note(self, quality: float, *, which: int = 0) -> Note:
        """Return a sentence on every part and its weight."""
        moved = self.applied_to(quality) - quality
        parts = ", ".join(
            f"{name} agree {value:.2f}, {part:+.2f}" if not math.isnan(value) else f"no {name}"
            for (name, part), value in zip(self.parts.items(), (self.entities, self.labels), strict=True)
        )
        text = f"Errors alone give a quality of {quality:.2f}; "
        if self.gate:
            text += f"soft evidence moves it by {moved:+.2f} ({parts}; weight {self.gate:.0%} for free wording)."
        else:
            text += "soft evidence does not count between near copies."
        data = {**self._asdict(), "errors_alone": quality, "moved": moved}
        finite = {name: value for name, value in data.items() if not math.isnan(value)}
        return Note("info", text, data={**finite, "reference": which})


def soft_evidence(
    pairs: Sequence[Pair], read: Mapping[str, Findings], *, reading: Readings
) -> dict[Pair, SoftEvidence]:
    """Compute the evidence on distinct pairs of candidate and reference."""
    table = numbers()["soft"]
    pairs = list(dict.fromkeys(pairs))
    shared = [
        _shared(read[candidate].sentences.texts, read[reference].sentences.texts) for candidate, reference in pairs
    ]
    span = table["copied"] - table["free"]
    gates = [1.0 - min(1.0, max(0.0, (share - table["free"]) / span)) for share in shared]
    evidence = {pair: SoftEvidence(0.0) for pair in pairs}
    free = [(pair, gate) for pair, gate in zip(pairs, gates, strict=True) if gate]
    if free:
        candidates, references = [pair[0] for pair, _ in free], [pair[1] for pair, _ in free]
        entities = RateScore().f1(candidates, references, reading=reading)
        labels = _label_agreement(candidates, references, reading=reading)
        for (pair, gate), entity, label in zip(free, entities.tolist(), labels.tolist(), strict=True):
            evidence[pair] = SoftEvidence(gate, entity, label)
    return evidence


def _label_agreement(candidates: Sequence[str], references: Sequence[str], *, reading: Readings) -> Rows:
    positive = np.isin(condition_codes([*candidates, *references], reading=reading), (POSITIVE, UNCERTAIN))
    ours, theirs = positive[: len(candidates)], positive[len(candidates) :]
    agreed, differing = 2.0 * (ours & theirs).sum(axis=1), (ours ^ theirs).sum(axis=1)
    agreement: Rows = (agreed + 1.0) / (agreed + differing + 1.0)  # 1, not 0 / 0, where neither is positive
    return agreement


def _shared(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Return the share of the words and word pairs of two texts that both have, 0 to 1."""
    # not the sum of counters, whose cost is the square of the number of sentences
    ours, theirs = (Counter(chain.from_iterable(map(_ngrams, texts))) for texts in (candidate, reference))
    size = ours.total() + theirs.total()
    return 2.0 * (ours & theirs).total() / size if size else 1.0


@lru_cache(maxsize=1 << 14)
def _ngrams(sentence: str) -> tuple[tuple[str, ...], ...]:
    """Return the content words of a sentence and their neighbouring pairs."""
    words = words_of(sentence).order
    return (*((word,) for word in words), *pairwise(words))


SYSTEM_COLUMNS = (
    "errors_f1",
    "errors_precision",
    "errors_recall",
    "errors_false_alarms",
    "errors_coverage",
    "errors_low_confidence",
    "errors_quality_abnormal",
    "errors_quality_normal",
)
"""What describes a system beside its counts: detection, strata, and how much of the texts was understood."""

COLUMNS = ("errors_quality", *count_columns()[:2], *SYSTEM_COLUMNS, *count_columns()[2:])
"""Names of the outputs, in order."""

ADVICE = "errors_advice"
"""Follow-up recommendations left out, added or changed: apart from the eight categories and the quality."""

DETECTION = slice(COLUMNS.index("errors_f1"), COLUMNS.index("errors_recall") + 1)
"""F1, precision and recall; the statistics behind them are the counts of correct, false and missed findings."""

_SHARES = ("errors_f1", "errors_precision", "errors_recall", "errors_coverage", "errors_low_confidence")
_HIGHER = {"errors_quality", "errors_quality_abnormal", "errors_quality_normal", *_SHARES} - {
    "errors_low_confidence"
}
ROUNDING = 1e-9
"""Number of findings below which a sum is zero."""
DIRECTIONS = tuple(column in _HIGHER for column in COLUMNS)


@dataclass(frozen=True)
class Errors(Metric):
    """Error counts in eight categories and a quality value made of them.

    `errors_quality` is 1 for a report without errors, about 0 for a normal template, negative down to -1 for one
    that misleads. The counts follow, lower is better: all errors, clinically significant ones, each category, each
    category's significant ones. A set's values are the means of its cases. Of several references the one that
    gives the best quality counts.

    `errors_f1`, `errors_precision` and `errors_recall` are about the detection of clinically significant findings;
    those of a set are micro averages (sums over sums), so a constant normal report gets 0. `errors_f1` is the
    headline of a system. `errors_false_alarms` is the number of significant findings invented per study that has
    none; quality is also given for studies with significant findings and for those without. `errors_coverage` is
    the share of the content words of both texts that the reader understood; `errors_low_confidence` is 1 where it
    lies below the threshold.

    `errors_advice` is the number of follow-up recommendations that were left out, added or changed, of studies
    where one report gives any. It is in none of the eight categories, nor in the quality.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="Lungs are clear.", references=("Small left effusion. Lungs are clear.",))
    >>> quality, total, significant, *_ = Errors(weights="prior").measure([case], reading=Readings())[0]
    >>> round(float(quality), 6), int(total), int(significant)
    (0.0, 1, 1)
    """

    name: ClassVar[str] = "errors"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    summary: ClassVar[str] = "errors a radiologist would count: eight categories, significance, quality"

    # "default" (learned from ratings), "prior" (set by hand), or a JSON file of `radgauge fit errors`
    weights: str = "default"
    context: bool = True  # True if age and indication in a case's meta shift significance
    lexicon: str = ""  # A TOML file of your own concepts, merged over the reader's lexicon; "" = none
    # "mark" judges texts that were hardly understood and marks them; "skip" does not judge them
    low_confidence: Literal["mark", "skip"] = "mark"
    # "gated": in texts that are no near copies, similarity of entities and agreement of labels move the quality;
    # "off": errors alone
    soft: Literal["gated", "off"] = "gated"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lexicon and not Path(self.lexicon).is_file():
            raise UsageError(f"errors: lexicon must be a TOML file, there is no {self.lexicon}")
        load_weights(self.weights)

    @property
    def columns(self) -> tuple[str, ...]:
        """Quality first, then the counts, then what says more of a system than a mean of counts; advice last."""
        return (*COLUMNS, ADVICE)

    @property
    def system_headline(self) -> str:
        """F1 of significant findings: a constant report cannot win it."""
        return "errors_f1"

    @property
    def directions(self) -> tuple[bool, ...]:
        """More quality, detection and coverage, fewer errors."""
        return (*DIRECTIONS, False)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Quality from -1 to 1, shares from 0 to 1, counts from 0 on."""
        return tuple(_range(column) for column in self.columns)

    def parts(self) -> Mapping[str, str]:
        """The reader, and the numbers behind the name of the weights."""
        return {
            "reader": self.report_reader().signature,
            "comparison": component("findings"),
            "weights_hash": _hash(self.weights),
            "references": "best",
        }

    def case_scores(self, rows: Rows) -> Rows:
        """Quality, counts and detection of each case."""
        return with_detection(rows, rows)

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Means of the cases; F1, precision and recall are sums over sums."""
        return with_detection(mean(totals, counts), totals)

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Quality, counts and the rest of each case."""
        rows = np.full((len(cases), len(self.columns)), np.nan)
        read = self.findings([text for case in cases for text in (case.candidate, *case.references)], reading)
        judge = self._judge_of(read, self._soft(cases, read, reading))
        done: dict[tuple[str, tuple[str, ...], Context], list[float]] = {}
        for index, case in enumerate(cases):
            context = self._context(case)
            key = (case.candidate, tuple(sorted(case.references)), context)
            row = done.get(key)
            if row is None:
                best = judge(case, context)
                row = done[key] = [math.nan] * len(self.columns) if best is None else self._row(best)
            rows[index] = row
        return rows

    def profiles(self, cases: Sequence[Case], *, reading: Readings) -> list[Profile | None]:
        """The errors of each case against its best reference; None if it cannot be judged."""
        profiled = [self.profile(case, reading=reading) for case in cases]
        return [None if pair is None else pair[0] for pair in profiled]

    def profile(self, case: Case, *, reading: Readings) -> tuple[Profile, int] | None:
        """The errors of a case and which reference they are counted against; None if it cannot be judged."""
        read = self.findings([case.candidate, *case.references], reading)
        best = self._judge_of(read, self._soft([case], read, reading))(case, self._context(case))
        return None if best is None else (best.profile, best.reference)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Describe what was missed, added or changed, where, and how significant: one sentence each."""
        read = self.findings([case.candidate, *case.references], reading)
        best = self._judge_of(read, self._soft([case], read, reading))(case, self._context(case))
        row = [math.nan] * len(self.columns) if best is None else self._row(best)
        values = dict(zip(self.columns, self.case_scores(np.array(row)).tolist(), strict=True))
        if best is None or math.isnan(row[0]):
            return Explanation(self.name, values)
        notes = notes_of(best.aligned, best.profile, self.knowledge(), self._arithmetic(), which=best.reference)
        unread = [read[text] for text in (case.references[best.reference], case.candidate)]
        if self.soft == "gated":
            notes = (*notes, best.soft.note(self._arithmetic().quality(best.profile), which=best.reference))
        notes = (*notes, *advice_notes(best.profile))
        return Explanation(self.name, values, (*notes, *confidence_notes(best.profile, unread[0], unread[1])))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side that says nothing that can be read."""
        read = self.findings([case.candidate, *case.references], reading)
        if not _says_something(read[case.candidate]):
            return "no finding and no normal statement was read in the candidate"
        if not any(_says_something(read[text]) for text in case.references):
            return "no finding and no normal statement was read in the reference"
        return "too little of the texts was understood"

    def knowledge(self) -> Knowledge:
        """Lexicon, similarity and rules behind the numbers."""
        return knowledge_for(load_lexicon(self._files()))

    def _files(self) -> tuple[Path, ...]:
        return (Path(self.lexicon),) if self.lexicon else ()

    def report_reader(self) -> ReportReader:
        """Return the reader with the lexicon of the settings."""
        return ReportReader(self._files())

    def _context(self, case: Case) -> Context:
        return context_of(case.meta) if self.context and case.meta else NO_CONTEXT

    def findings(self, texts: Sequence[str], reading: Readings) -> dict[str, Findings]:
        """Findings of each distinct text, derived once per run."""
        rules = self.knowledge()
        by_text = reading.derive(
            self.report_reader(), texts, lambda read: findings_of(read, rules), key="findings"
        )
        return dict(zip(texts, by_text, strict=True))

    def _arithmetic(self) -> Arithmetic:
        return Arithmetic(load_weights(self.weights))

    def _soft(
        self, cases: Sequence[Case], read: Mapping[str, Findings], reading: Readings
    ) -> Mapping[Pair, SoftEvidence]:
        """Return the soft evidence on the candidates and references of the cases; none if it is off."""
        if self.soft == "off":
            return {}
        pairs = [(case.candidate, text) for case in cases for text in case.references]
        return soft_evidence(pairs, read, reading=reading)

    def _judge_of(
        self, read: Mapping[str, Findings], soft: Mapping[Pair, SoftEvidence]
    ) -> Callable[[Case, Context], _Judged | None]:
        """A function that compares a case with each of its references and keeps the best."""
        rules, arithmetic = self.knowledge(), self._arithmetic()

        def judge(case: Case, context: Context) -> _Judged | None:
            candidate = read[case.candidate]
            silent = not _says_something(candidate)
            if silent and not candidate.on_quality:
                return None
            best: _Judged | None = None
            for index, text in enumerate(case.references):
                reference = read[text]
                if reference.present if silent else _says_something(reference):
                    aligned = align_findings(reference, candidate, rules)
                    profile = profile_of(aligned, reference, candidate, rules, context)
                    evidence = soft.get((case.candidate, text), SoftEvidence(0.0))
                    quality = evidence.applied_to(arithmetic.quality(profile))
                    judged = _Judged(quality, profile, aligned, index, evidence)
                    if best is None or _order(judged) > _order(best):
                        best = judged
            return best

        return judge

    def _row(self, judged: _Judged) -> list[float]:
        if judged.profile.coverage < coverage_threshold() and self.low_confidence == "skip":
            return [math.nan] * len(self.columns)
        advice = judged.profile.advice
        return [*row_of(judged.profile, judged.quality), math.nan if advice is None else float(len(advice))]


def row_of(profile: Profile, quality: float) -> list[float]:
    """Return the statistics of a case: the values of COLUMNS, with the counts of DETECTION in their positions."""
    total, significant, *categories = counts_of(profile)
    abnormal = profile.detection.n_reference > 0
    system = (
        *map(float, profile.detection),
        math.nan if abnormal else float(profile.alarms),
        profile.coverage,
        float(profile.coverage < coverage_threshold()),
        quality if abnormal else math.nan,
        math.nan if abnormal else quality,
    )
    return [quality, total, significant, *system, *categories]


def with_detection(values: Rows, counts: Rows) -> Rows:
    """Return `values` (..., m) with F1, precision and recall computed from the counts of correct, false, missed.

    >>> counts = np.full(len(COLUMNS), 0.0)
    >>> counts[DETECTION] = 3, 1, 2
    >>> with_detection(counts, counts)[DETECTION].round(3).tolist()
    [0.667, 0.75, 0.6]
    """
    correct, false, missed = np.moveaxis(counts[..., DETECTION], -1, 0)
    merged = values.copy()
    merged[..., DETECTION] = np.stack(
        [
            _share(2 * correct, 2 * correct + false + missed),
            _share(correct, correct + false),
            _share(correct, correct + missed),
        ],
        axis=-1,
    )
    return merged


def _share(part: Rows, total: Rows) -> Rows:
    """Return part / total; sums of repeated judgments are fractions, whose rounding is not a finding."""
    return ratio(part, np.where(total > ROUNDING, total, 0.0))


class _Judged(NamedTuple):
    """A case against its best reference."""

    quality: float
    profile: Profile
    aligned: Aligned
    reference: int
    soft: SoftEvidence


def _order(judged: _Judged) -> tuple[float, ...]:
    """Best quality first; among equals the fewest errors, so that the order of references does not matter."""
    return (judged.quality, *(-count for count in counts_of(judged.profile)))


def _says_something(findings: Findings) -> bool:
    return bool(findings.present or findings.denied)


@lru_cache(maxsize=16)
def _hash(weights: str) -> str:
    import hashlib

    return hashlib.sha256(repr(load_weights(weights)).encode()).hexdigest()[:8]


def _range(column: str) -> tuple[float, float]:
    if column.startswith("errors_quality"):
        return (-1.0, 1.0)
    return (0.0, 1.0) if column in _SHARES else (0.0, math.inf)
