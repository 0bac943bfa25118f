"""The first screen in words: which system is better, by how much, whether it could be chance, and what to doubt.

The answer rests on the metrics that deserve trust: those that radiologists' judgments of the same cases support,
or, without such judgments, those whose measured agreement is clearly above none (`show/data/agreement.json`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from radgauge.cases import Case, Key
from radgauge.choices import Correction
from radgauge.error_categories import JUDGES
from radgauge.errors import InputError
from radgauge.reading import Readings
from radgauge.report.paper import p_paper
from radgauge.scores import Results, Scores
from radgauge.show.metric_names import MetricName, metric_name
from radgauge.show.wording import interval, number, share, signed
from radgauge.stats.resample import FEW
from radgauge.stats.resampling import Resampling
from radgauge.studies.agreement import Alignment
from radgauge.studies.compare import SystemComparison, compare

if TYPE_CHECKING:
    from radgauge.report.system_facts import SystemFacts

TRUSTED = 0.1
"""Lower end of the interval of a metric's agreement above which it deserves trust."""

ALPHA = 0.05
LEAST_STUDIES = 10
"""Studies from which on one text for all of them makes a constant report."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first screen.

    Attributes:
        answer: The answer in one sentence.
        reasons: By how much, on how many metrics, chance.
        systems: Facts by system, the best first.
        judged: What could not be judged.
        confidence: How sure the judge of errors is; "" if it is not there.
        warnings: What to doubt.
    """

    answer: str
    reasons: tuple[str, ...]
    systems: tuple[SystemFacts, ...]
    judged: str
    confidence: str
    warnings: tuple[str, ...]


def build_verdict(
    results: Results,
    *,
    cases: Sequence[Case],
    alignment: Alignment | None,
    places: Mapping[Key, int],
    reading: Readings,
    correction: Correction,
    permutations: int,
    resampling: Resampling,
    collapsed: Sequence[str] = (),
    compared: Callable[..., Sequence[SystemComparison]] | None = None,
) -> Verdict:
    """Put the results into words.

    Args:
        results: All scores.
        cases: Their texts, for examples and duplicates.
        alignment: Agreement with radiologists on these cases, if they judged.
        places: Numbers of the cases in the browser.
        reading: For the examples.
        correction: Of the p values.
        permutations: Of the tests.
        resampling: Of the intervals.
        collapsed: Sentences on systems that write the same for everyone.
        compared: Compares systems; by default on these results.
    """
    systems = list(dict.fromkeys(system for _, system in results.keys_of_cases))
    trusted = trusted_columns(results, alignment)
    leading = verdict_judge(results, alignment)
    ranked = _ranking(leading, systems)
    same = [system for system in ranked if _constant(system, cases)]
    real = [system for system in ranked if system not in same]
    order = [*real, *same]  # nobody comes for a constant report
    answer, reasons, warnings = _answer(
        results,
        real if len(real) > 1 else order,
        leading,
        trusted,
        alignment,
        correction,
        permutations,
        resampling,
        compared or partial(compare, results),
    )
    from radgauge.report.system_facts import system_facts

    counts = _error_judge(results)
    facts = (
        tuple(system_facts(counts, system, cases=cases, places=places, reading=reading) for system in order)
        if counts is not None
        else ()
    )
    few = len({study for study, _ in results.keys_of_cases})
    if few < FEW:
        studies = f"{few} {'study' if few == 1 else 'studies'}"
        warnings.append(f"Only {studies}: with fewer than {FEW}, intervals can cover less than they say.")
    if same and ranked[0] in same and len(ranked) > len(same):
        warnings.insert(
            0,
            f"No system here beats writing the same for all: the constant report “{ranked[0]}” has a better "
            f"{metric_name(leading.columns[0]).name} than {order[0]}. Look at the significant findings that are "
            "reported, not at averages.",
        )
    return Verdict(
        answer,
        tuple(reasons),
        facts,
        _judged(results),
        _confidence(counts),
        (*warnings, *(sentence[:1].upper() + sentence[1:] + "." for sentence in collapsed), *_duplicates(cases)),
    )


def _constant(system: str, cases: Sequence[Case]) -> bool:
    """Whether it is a baseline that writes the same for everyone, or does so by itself."""
    from radgauge.studies.baselines import FREQUENT, TEMPLATE

    texts = [case.candidate for case in cases if case.system == system]
    return system in (TEMPLATE, FREQUENT) or (len(texts) >= LEAST_STUDIES and len(set(texts)) == 1)


def trusted_columns(results: Results, alignment: Alignment | None) -> list[str]:
    """Headlines that deserve trust, the most trusted first."""
    agreed: dict[str, tuple[float, float]] = {}
    for scores in results.values():
        column = scores.columns[0]
        if alignment is None:
            known = metric_name(column)
            if known.tau is not None and known.low is not None:
                agreed[column] = (known.tau, known.low)
            continue
        target = alignment.lines[0].target
        for line in alignment.lines:
            if (line.column, line.target, line.rater) == (column, target, "mean"):
                found = line.correlation.interval
                agreed[column] = (found.value, found.low)
    good = [column for column, (_, low) in agreed.items() if low > TRUSTED]
    return sorted(good, key=lambda column: -agreed[column][0])


def verdict_judge(results: Results, alignment: Alignment | None) -> Scores:
    """The judge that the order of the systems rests on: the most trusted, or else the first."""
    trusted = trusted_columns(results, alignment)
    by_column = {scores.columns[0]: scores for scores in results.values()}
    return by_column[trusted[0]] if trusted else next(iter(by_column.values()))


def _ranking(scores: Scores, systems: Sequence[str]) -> list[str]:
    """Systems by their corpus value, the best first; those without a value last."""
    from radgauge.metric import sums

    def value(system: str) -> float:
        own = scores.of_system(system)
        found = float(scores.corpus_scores(*sums(own.rows))[0])
        worst = -math.inf
        return worst if math.isnan(found) else found if scores.higher_is_better else -found

    return sorted(systems, key=lambda system: -value(system))


def _answer(
    results: Results,
    order: Sequence[str],
    leading: Scores,
    trusted: Sequence[str],
    alignment: Alignment | None,
    correction: Correction,
    permutations: int,
    resampling: Resampling,
    compared: Callable[..., Sequence[SystemComparison]],
) -> tuple[str, list[str], list[str]]:
    name = metric_name(leading.columns[0])
    if len(order) < 2:
        return f"One system, {order[0]}: there is nothing to compare it with.", [], _doubt(trusted, name)
    best, second = order[0], order[1]
    try:
        lines = compared(
            baseline=second,
            systems=[best, second],
            correction=correction,
            permutations=permutations,
            resampling=resampling.at_least(1),
        )
    except InputError as error:
        return f"{best} and {second} cannot be compared: {error}.", [], []
    heads = {scores.columns[0] for scores in results.values()}
    shown = {line.column: line for line in lines if line.column in heads}
    main = shown[leading.columns[0]]
    others = f" of {len(order)} systems" if len(order) > 2 else ""
    by = f"{name.name} {signed(main.result.difference.value)}"
    if not _chance(main) and main.result.better == "b":  # behind a constant report, which is never put first
        return f"{best} is worse than {second}: {by}.", [_by_how_much(main, name)], _doubt(trusted, name)
    if _chance(main):
        answer = (
            f"{best} and {second} cannot be told apart{' at the top' + others if others else ''}: the difference "
            f"in {name.name} could be chance."
        )
    else:
        answer = f"{best} is better than {second}{', the next best' + others if others else ''}: {by}."
    reasons = [_by_how_much(main, name), *_votes(shown, trusted, best)]
    warnings = _doubt(trusted, name)
    against = [line for line in shown.values() if not _chance(line) and line.result.better == "b"]
    warnings += _contradictions(against, trusted, name, alignment)
    return answer, reasons, warnings


def _doubt(trusted: Sequence[str], name: MetricName) -> list[str]:
    if trusted:
        return []
    return [
        f"No metric of this report is known to follow radiologists; {name.name} decides here for want of a better "
        "one. Score with errors too."
    ]


def _contradictions(
    against: Sequence[SystemComparison], trusted: Sequence[str], ours: MetricName, alignment: Alignment | None
) -> list[str]:
    """Metrics that put the second system first beyond chance, and which to believe."""
    warnings = []
    rivals = [metric_name(line.column) for line in against if line.column in trusted]
    others = [metric_name(line.column) for line in against if line.column not in trusted]
    if rivals:
        warnings.append(
            f"{_listed(rivals)} {_say(rivals)} the opposite and {'deserves' if len(rivals) == 1 else 'deserve'} "
            "trust too: read the cases on which they disagree before deciding."
        )
    if others:
        why = "it agrees better with the radiologists of this report"
        if alignment is None:
            known = [name.tau for name in others if name.tau is not None]
            best = f", theirs {max(known):.2f} at most" if known else ""
            why = f"its agreement with raters was measured as {ours.agreement}{best}"
        warnings.append(f"{_listed(others)} {_say(others)} the opposite. Believe {ours.name}: {why}.")
    return warnings


def _listed(names: Sequence[MetricName]) -> str:
    words = [name.name for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _say(names: Sequence[MetricName]) -> str:
    return "says" if len(names) == 1 else "say"


def _by_how_much(line: SystemComparison, name: MetricName) -> str:
    found = line.result
    gap = found.difference
    chance = "such a difference would not be rare if both were equally good" if _chance(line) else "hardly chance"
    return (
        f"{name.name}: {line.system} {number(found.value_a)}, {line.baseline} {number(found.value_b)}, difference "
        f"{signed(gap.value)} {interval(gap.low, gap.high)} on {found.n} studies that both have; "
        f"p {'' if _p(line) < 0.001 else '= '}{p_paper(_p(line))}: {chance}."
    )


def _votes(shown: Mapping[str, SystemComparison], trusted: Sequence[str], best: str) -> list[str]:
    """How many of the metrics that deserve trust say the same."""
    asked = [shown[column] for column in trusted if column in shown]
    if not asked:
        return []
    sure = [line for line in asked if not _chance(line) and line.result.better == "a"]
    unsure = [line for line in asked if _chance(line)]
    against = len(asked) - len(sure) - len(unsure)
    names = ", ".join(metric_name(line.column).name for line in asked)
    metrics = "metric that deserves" if len(asked) == 1 else "metrics that deserve"
    said = (
        f"{len(sure)} of {len(asked)} {metrics} trust ({names}) {'puts' if len(sure) == 1 else 'put'} {best} first"
    )
    said += f", {len(unsure)} cannot tell" if unsure else ""
    return [said + (f", {against} {'says' if against == 1 else 'say'} the opposite." if against else ".")]


def _p(line: SystemComparison) -> float:
    return line.result.p if line.result.p_adjusted is None else line.result.p_adjusted


def _chance(line: SystemComparison) -> bool:
    return not _p(line) < ALPHA


def _error_judge(results: Results) -> Scores | None:
    """The first judge that counts errors, its columns under the names of the metric `errors`.

    Coverage keeps its name: for a language model it counts sentences, not words.
    """
    for end in JUDGES:
        for scores in results.values():
            if f"errors_significant{end}" in scores.columns:
                told = f"errors_coverage{end}", f"errors_low_confidence{end}"
                plain = (name if name in told else name.removesuffix(end) for name in scores.columns)
                return replace(scores, columns=tuple(plain))
    return None


def _judged(results: Results) -> str:
    parts = []
    for scores in results.values():
        if scores.reasons:
            reasons = Counter(scores.reasons.values()).most_common(1)[0][0]
            name = metric_name(scores.columns[0]).name
            parts.append(f"{name} could not judge {len(scores.reasons)} of {len(scores.keys)} ({reasons})")
    if not parts:
        return "Every metric judged every report."
    more = f"; {len(parts) - 3} more under Methods" if len(parts) > 3 else ""
    return "; ".join(parts[:3]) + more + ". They are left out, never counted as bad."


def _confidence(counts: Scores | None) -> str:
    if counts is None or "errors_coverage" not in counts.columns:
        return ""
    covered, low = counts.column("errors_coverage"), counts.column("errors_low_confidence")
    if np.isnan(covered).all():
        return ""
    unsure = int((low == 1).sum())
    return (
        f"The judge of errors understood {share(float(np.nanmean(covered)), 0)} of the content words; {unsure} of "
        f"{int((~np.isnan(covered)).sum())} reports are judged with low confidence."
    )


def _duplicates(cases: Sequence[Case]) -> list[str]:
    """Studies whose reference stands word for word at another study too."""
    first: dict[str, str] = {}
    for case in cases:
        if case.references:
            first.setdefault(case.id, " ".join(case.references[0].split()).casefold())
    repeated = Counter(text for text in first.values() if text)
    copies = sum(count for count in repeated.values() if count > 1)
    if len(first) < FEW or copies <= len(first) / 4:
        return []
    return [
        f"{copies} of {len(first)} studies share their reference word for word with another one: averages say "
        "more about these few texts than the number of studies suggests."
    ]
