"""Perturbation: reports with one known change, and how metrics respond to it.

The six kinds of VLScore (section 4.2) and sixteen more. Every change is proposed by rules, accepted by words and
cues, and recorded.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.perturb.edits import KINDS, Edit, Kind, Perturbed
from radgauge.analysis.perturb.make import PerturbationSet, perturb, perturb_reports
from radgauge.analysis.perturb.sentences import Corpus
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import write_file
from radgauge.core.metric import Metric
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments.rate_eval import Triple
from radgauge.run.score import score
from radgauge.stats.corrections import adjust
from radgauge.stats.paired import Alternative, permutation_test
from radgauge.stats.resample import CorpusScores, Rows, interval, mean_scores
from radgauge.stats.resampling import USUAL, Resampling
from radgauge.stats.unpaired import unpaired_test

# Triples of a report, the same in other words, and its opposite: the form of RaTE-Eval task 3.
#
# There a language model wrote both; here the rules do. A metric is right where the rewrite scores better.
# Zhao et al., RaTEScore (EMNLP 2024), section 4.3.


class Triples(NamedTuple):
    """Triples, and how many reports could not be said in other words, or have no sensible opposite."""

    triples: tuple[Triple, ...]
    no_rewrite: int
    no_opposite: int


@working("making triples")
def make_triples(reports: Mapping[str, str], *, seed: int = 0) -> Triples:
    """The triples of all reports that can be both rewritten and turned round; the others are counted.

    Args:
        reports: Id -> text.
        seed: Seed of every choice.

    >>> made = make_triples({"1": "There is no pleural effusion.", "2": "He was given contrast."})
    >>> made.triples[0].opposite, made.no_opposite
    ('There is a pleural effusion.', 1)
    """
    done = perturb_reports(reports, ["paraphrase", "flip_negation"], seed=seed)
    made = done.perturbed
    triples = tuple(
        Triple(study, text, made[study, "paraphrase"].text, made[study, "flip_negation"].text)
        for study, text in reports.items()
        if (study, "paraphrase") in made and (study, "flip_negation") in made
    )
    return Triples(triples, done.none_possible["paraphrase"], done.none_possible["flip_negation"])


def write_triples(path: Path, triples: Sequence[Triple]) -> None:
    """JSON lines with id, original, rewrite, opposite, as `radgauge probe triples` reads them."""
    if path.suffix.lower() != ".jsonl":
        raise UsageError(f"triples are written as .jsonl, got {path.name}")
    write_file(path, "".join(json.dumps(triple._asdict(), ensure_ascii=False) + "\n" for triple in triples))


# Sensitivity study: do scores drop for significant changes and stay for insignificant ones?
#
# VLScore, tables 2 and 3 and figure 2, for any metric: mean score per kind of change, differences between
# significant and insignificant kinds with p values, and the share of pairs on the same report that are ranked
# right.

DELTAS = (
    ("pathology removal", "remove_insignificant", "remove_pathology"),
    ("pathology removal, against normal sentences", "remove_normal", "remove_pathology"),
    ("location", "unknown_word", "change_location"),
    ("severity", "unknown_word", "change_severity"),
    ("opposite, against rewrite", "paraphrase", "flip_negation"),
)
"""Name, insignificant kind, significant kind. The paper's tables 2 and 3, and two where its kinds are rare."""


COPY, FOREIGN = "copy", "report of another study"
"""The two ends of every metric's scale."""


class _Chance(TypedDict):
    permutations: int
    alternative: Alternative


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval and how many reports are behind it; NaN if none is."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Delta(Value):
    """Score of an insignificant change minus that of a significant one; positive is right."""

    # Chance of a difference this large if the kinds did not differ: a permutation test, one-sided, of all reports
    # that allow either change
    p: float
    p_holm: float  # The same, corrected by Holm over the metrics of the study
    both: int  # Reports that were judged with both changes
    paired: float  # The difference on those reports alone, where nothing but the change can explain it
    paired_p: float  # Its chance, from a paired permutation test, one-sided
    paired_p_holm: float  # The same, corrected


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Response of one metric to the changes.

    Losses are in units of the distance from a copy of the report (0) to the report of another study (1).
    """

    judge: str
    column: str
    higher_is_better: bool  # Direction of the means
    signature: str
    means: Mapping[str, Value]  # Mean score per kind
    sensitivity: Value  # Mean loss under significant changes
    robustness: Value  # 1 minus the mean loss under harmless changes of form
    kept: Mapping[str, Value]  # Kind -> 1 minus its mean loss
    deltas: Mapping[str, Delta]  # Insignificant minus significant, turned so that positive is right
    # Share of pairs (a significant and an insignificant change of one report) in which the significant one scores
    # worse; ties are not right
    ranked_right: Value
    ties: float  # Share of pairs with equal scores
    pairs: int  # Number of pairs
    right_by_kind: Mapping[str, Value]  # The same share for each significant kind
    not_judged: int  # Cases that could not be judged


@dataclass(frozen=True)
class SensitivityStudy:
    """The study of all metrics, with what could be perturbed and what could not."""

    reports: int
    possible: Mapping[str, int]
    none_possible: Mapping[str, int]
    metrics: tuple[Sensitivity, ...]
    results: Results


def perturbed_cases(perturbations: PerturbationSet, *, cases: Mapping[str, Case] | None = None) -> list[Case]:
    """Perturbed reports as cases: the original is the reference, the kind is the system.

    Args:
        perturbations: What `perturb_reports` made.
        cases: Cases of the originals by id, for their images.
    """
    return [
        Case(
            study,
            done.text,
            (done.original,),
            system=kind,
            images=cases[study].images if cases is not None else (),
            meta=MappingProxyType(_columns(done)),
        )
        for (study, kind), done in perturbations.perturbed.items()
    ]


def _columns(done: Perturbed) -> dict[str, str]:
    edits = done.edits
    return {
        "edit_spans": ";".join(f"{edit.span[0]}-{edit.span[1]}" for edit in edits),
        "edit_before": " | ".join(edit.before for edit in edits),
        "edit_after": " | ".join(edit.after for edit in edits),
        "edit_significant": "yes" if done.significant else "no",
        "edit_category": ";".join(str(edit.category or "") for edit in edits).strip(";"),
    }


@working("judging changed reports")
def evaluate(
    perturbations: PerturbationSet,
    metrics: Sequence[str | Metric] | None = None,
    *,
    cases: Mapping[str, Case] | None = None,
    reading: Readings | None = None,
    models: str = "embedded",
    permutations: int = 5000,
    resampling: Resampling = USUAL,
) -> SensitivityStudy:
    """Score the changed reports, copies and reports of other studies, and measure how each metric responds.

    Args:
        perturbations: What `perturb_reports` made.
        metrics: Names or metrics; None = the defaults.
        cases: Cases of the originals by id, for their images.
        reading: Cache and progress.
        models: "embedded", "published" or a folder.
        permutations: Permutations behind each p value.
        resampling: Coverage, resamples and seed of the intervals; reports are drawn.
    """
    made = perturbed_cases(perturbations, cases=cases)
    if not made:
        raise InputError("no report could be perturbed: the reader found nothing to change in any of them")
    originals = {case.id: case for case in made}
    copies = [replace(case, candidate=case.references[0], system=COPY) for case in originals.values()]
    foreign = [
        replace(case, candidate=other, system=FOREIGN)
        for case, other in zip(copies, _others([case.candidate for case in copies]), strict=True)
        if other
    ]
    results = score([*made, *copies, *foreign], metrics, reading=reading, models=models)
    studies = list(originals)
    significant = {key: done.significant for key, done in perturbations.perturbed.items()}
    kinds = list(perturbations.none_possible)
    possible = {kind: sum(name == kind for _, name in perturbations.perturbed) for kind in kinds}
    return SensitivityStudy(
        reports=max((possible[kind] + perturbations.none_possible[kind] for kind in kinds), default=0),
        possible=possible,
        none_possible=perturbations.none_possible,
        metrics=_corrected(
            _sensitivity(
                scores,
                studies,
                kinds,
                significant,
                permutations=permutations,
                resampling=resampling,
            )
            for scores in results.judges.values()
        ),
        results=results,
    )


def _others(texts: Sequence[str]) -> list[str]:
    """The next different report for each report, around the end; "" if all are the same."""
    distinct = list(dict.fromkeys(texts))
    after = dict(zip(distinct, [*distinct[1:], distinct[0]], strict=True)) if len(distinct) > 1 else {}
    return [after.get(text, "") for text in texts]


def _sensitivity(
    scores: Scores,
    studies: list[str],
    kinds: list[str],
    significant: Mapping[tuple[str, str], bool],
    *,
    permutations: int,
    resampling: Resampling,
) -> Sensitivity:
    row = {study: number for number, study in enumerate(studies)}
    column = {kind: number for number, kind in enumerate(kinds)}
    ends = {COPY: np.full(len(studies), np.nan), FOREIGN: np.full(len(studies), np.nan)}
    table = np.full((len(studies), len(kinds)), np.nan)
    weighty = np.zeros(table.shape, dtype=bool)
    for (study, kind), value in zip(scores.keys, scores.headline, strict=True):
        if kind in ends:
            ends[kind][row[study]] = value
            continue
        table[row[study], column[kind]] = value
        weighty[row[study], column[kind]] = significant[study, kind]
    sign = 1.0 if scores.directions[0] else -1.0
    losses = _losses(table, ends[COPY], ends[FOREIGN])
    harmless = ~weighty & np.array([KINDS[kind].harmless for kind in kinds], dtype=bool)

    def kept(where: NDArray[np.bool_]) -> Value:
        counted = where & ~np.isnan(losses)
        totals = np.stack([np.where(counted, 1 - losses, 0.0).sum(1), counted.sum(1)], axis=1)
        return bounded(totals[totals[:, 1] > 0], _ratio)

    def bounded(rows: Rows, corpus: CorpusScores = mean_scores) -> Value:
        if not len(rows) or np.isnan(rows).all():
            return Value(np.nan, np.nan, np.nan, 0)
        estimate = interval(rows, corpus, **resampling.draw())[0]
        return Value(estimate.value, estimate.low, estimate.high, int((~np.isnan(rows)).any(axis=1).sum()))

    def delta(insignificant: str, significant: str) -> Delta:
        rows = sign * table[:, [column[insignificant], column[significant]]]
        estimate = bounded(rows, _difference)
        chance: _Chance = {"permutations": permutations, "alternative": "greater"}
        apart = unpaired_test(rows[:, 0], rows[:, 1], rng=resampling.rng(), **chance)
        both = rows[~np.isnan(rows).any(axis=1)]
        paired = paired_p = np.nan
        if len(both):
            test = permutation_test(both[:, :1], both[:, 1:], rng=resampling.rng(), **chance)
            paired, paired_p = float(test.differences[0]), float(test.p[0])
        return Delta(
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            n=estimate.n,
            p=apart.p,
            p_holm=np.nan,
            both=len(both),
            paired=paired,
            paired_p=paired_p,
            paired_p_holm=np.nan,
        )

    deltas = {
        name: delta(insignificant, significant)
        for name, insignificant, significant in DELTAS
        if insignificant in column and significant in column
    }
    right, ties, pairs = _pairs(sign * table, weighty)
    totals = np.stack([right.sum(1), pairs.sum(1)], axis=1)
    number = int(pairs.sum())
    return Sensitivity(
        judge=scores.judge,
        column=scores.columns[0],
        higher_is_better=scores.directions[0],
        signature=scores.signature,
        means={kind: bounded(table[:, [number_]]) for kind, number_ in column.items()},
        sensitivity=_complement(kept(weighty)),
        robustness=kept(harmless),
        kept={kind: kept(np.arange(len(kinds)) == index) for kind, index in column.items()},
        deltas=deltas,
        ranked_right=bounded(totals[totals[:, 1] > 0], _ratio),
        ties=float(ties.sum() / number) if number else np.nan,
        pairs=number,
        right_by_kind={
            kind: bounded(np.stack([right[:, index], pairs[:, index]], axis=1)[pairs[:, index] > 0], _ratio)
            for kind, index in column.items()
            if KINDS[kind].significant
        },
        not_judged=sum(
            bool(np.isnan(value))
            for (_, kind), value in zip(scores.keys, scores.headline, strict=True)
            if kind not in ends
        ),
    )


def _losses(table: Rows, copies: Rows, foreign: Rows) -> Rows:
    """Losses against the copy, in units of the mean distance from a copy to the report of another study."""
    both = ~np.isnan(copies) & ~np.isnan(foreign)
    distance = float((copies - foreign)[both].mean()) if both.any() else 0.0
    if not distance:
        return np.full(table.shape, np.nan)
    losses: Rows = (copies[:, None] - table) / distance
    return losses


def _complement(value: Value) -> Value:
    return replace(value, value=1 - value.value, low=1 - value.high, high=1 - value.low)


def _corrected(metrics: Iterable[Sensitivity]) -> tuple[Sensitivity, ...]:
    """The same with p values corrected over the metrics, each delta for itself."""
    corrected = list(metrics)
    for name in corrected[0].deltas if corrected else ():
        deltas = [metric.deltas[name] for metric in corrected]
        apart, paired = (adjust([getattr(delta, p) for delta in deltas]) for p in ("p", "paired_p"))
        for index, delta in enumerate(deltas):
            delta = replace(delta, p_holm=float(apart[index]), paired_p_holm=float(paired[index]))
            corrected[index] = replace(corrected[index], deltas={**corrected[index].deltas, name: delta})
    return tuple(corrected)


def _pairs(table: Rows, weighty: np.ndarray) -> tuple[Rows, Rows, Rows]:
    """Per report and significant kind: pairs ranked right, ties, and pairs with the insignificant kinds."""
    judged = ~np.isnan(table)
    right, ties, pairs = np.zeros(table.shape), np.zeros(table.shape), np.zeros(table.shape)
    for index in range(table.shape[1]):
        scores = table[:, [index]]
        both = (judged & weighty)[:, [index]] & judged & ~weighty
        with np.errstate(invalid="ignore"):
            tied = np.isclose(scores, table, rtol=0, atol=1e-9)
            right[:, index] = (both & (scores < table) & ~tied).sum(1)
        ties[:, index] = (both & tied).sum(1)
        pairs[:, index] = both.sum(1)
    return right, ties, pairs


def _difference(totals: Rows, counts: Rows) -> Rows:
    means = mean_scores(totals, counts)
    difference: Rows = means[..., :1] - means[..., 1:]
    return difference


def _ratio(totals: Rows, counts: Rows) -> Rows:
    del counts  # the second column holds them
    return mean_scores(totals[..., :1], totals[..., 1:])


__all__ = [
    "DELTAS",
    "KINDS",
    "Corpus",
    "Delta",
    "Edit",
    "Kind",
    "PerturbationSet",
    "Perturbed",
    "Sensitivity",
    "SensitivityStudy",
    "Value",
    "evaluate",
    "make_triples",
    "perturb",
    "perturb_reports",
    "perturbed_cases",
    "write_triples",
]
