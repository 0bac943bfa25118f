"""The first screen in words: which system is better, by how much, whether it could be chance, and what to doubt.

The answer rests on the metrics that agree with raters: those that judgments of the same cases support, or,
without such judgments, those whose measured agreement is clearly above none (`show/data/agreement.json`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from radgauge.analysis.agreement import Alignment
from radgauge.analysis.answers import Answers, answers
from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.leading import leading_judge, ranked_systems, trusted_columns
from radgauge.analysis.releases import Releases
from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import CATEGORIES, JUDGES, ErrorCategory
from radgauge.core.metric import Explanation, sums
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import share
from radgauge.render.metric_names import MetricName, metric_name
from radgauge.report.headline import (
    by_chance,
    by_how_much,
    change_answer,
    constant_answer,
    flipped,
    line_of,
    listed,
    metric_answer,
    system_answer,
)
from radgauge.stats.resample import FEW, wilson_interval

# What the first screen says of one system: significant errors, recall, false alarms, its commonest errors.

COMMON = 3
"""Kinds of error that are shown per system."""


@dataclass(frozen=True, slots=True)
class CommonError:
    """A kind of error that a system makes often."""

    title: str
    share: float  # Share of the judged reports with a clinically significant error of this kind
    example: str = ""  # What the judge says about one of them; "" without texts
    case: int = -1  # Number of that case in the browser, -1 if it is not there
    study: str = ""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Facts about one system on the first screen."""

    system: str
    judged: int  # Reports behind the shares
    cases: int  # Reports that it was asked for
    significant: float  # Share of reports with a clinically significant error; NaN if nobody counted errors
    low: float  # Lower end of its Wilson interval
    high: float
    recall: float  # Share of the references' significant findings that are reported; NaN if unknown
    false_alarms: float  # Invented significant findings per normal study; NaN if unknown
    abnormal: int  # Studies behind `recall`
    normal: int  # Studies behind `false_alarms`
    common: tuple[CommonError, ...]  # Its commonest kinds of significant error


def system_facts(
    counts: Scores, system: str, *, cases: Sequence[Case], case_numbers: Mapping[Key, int], reading: Readings
) -> SystemFacts:
    """Summarise the counts of errors of one system.

    Args:
        counts: A judge that counts errors.
        system: Whose reports.
        cases: Their texts, for examples.
        case_numbers: Numbers of the cases in the browser.
        reading: For the examples.
    """
    own = counts.of_system(system)
    serious = own.column("errors_significant")
    judged = serious[~np.isnan(serious)]
    hits, total = int((judged > 0).sum()), len(judged)
    low, high = wilson_interval(hits, total) if total else (math.nan, math.nan)
    return SystemFacts(
        system,
        total,
        len(own),
        hits / total if total else math.nan,
        low,
        high,
        _corpus(own, "errors_recall"),
        _corpus(own, "errors_false_alarms"),
        _support(own, "errors_recall"),
        _support(own, "errors_false_alarms"),
        tuple(_common(own, total, cases, case_numbers, reading)),
    )


def _corpus(scores: Scores, column: str) -> float:
    if column not in scores.columns:
        return math.nan
    return float(scores.corpus_scores(*sums(scores.rows))[scores.columns.index(column)])


def _support(scores: Scores, column: str) -> int:
    return int((~np.isnan(scores.column(column))).sum()) if column in scores.columns else 0


def _common(
    own: Scores, total: int, cases: Sequence[Case], case_numbers: Mapping[Key, int], reading: Readings
) -> list[CommonError]:
    hits_by_category = []
    texts = {case.key: case for case in cases}
    for category in CATEGORIES:
        column = f"errors_{category.key}_significant"
        if column not in own.columns or not total:
            continue
        counts = own.column(column)
        if hits := int((counts > 0).sum()):
            hits_by_category.append((hits, category, counts))
    hits_by_category.sort(key=lambda hit: (-hit[0], hit[1].number))
    common = []
    for hits, category, counts in hits_by_category[:COMMON]:
        example, key = _example(own, category, counts, texts, case_numbers, reading)
        common.append(
            CommonError(
                category.title,
                hits / total,
                example,
                case_numbers.get(key, -1) if key else -1,
                key[0] if key else "",
            )
        )
    return common


def _example(
    own: Scores,
    category: ErrorCategory,
    counts: np.ndarray,
    texts: Mapping[Key, Case],
    case_numbers: Mapping[Key, int],
    reading: Readings,
) -> tuple[str, Key | None]:
    """Example of a typical case by the judge: the one with the fewest other errors that the browser has."""
    if own.metric is None:
        return "", None
    total = own.column("errors_total")
    rows = [row for row in np.argsort(total, kind="stable").tolist() if counts[row] > 0]
    rows.sort(key=lambda row: own.keys[row] not in case_numbers)
    for row in rows[:COMMON]:
        key = own.keys[row]
        case = texts.get(key)
        if case is None:
            continue
        explanation: Explanation | None = own.metric.explain(case.with_real_references(), reading=reading)
        for note in explanation.notes if explanation is not None else ():
            if note.data.get("category_key") == category.key and note.data.get("significant"):
                return note.text.rsplit(" (", 1)[0] + ".", key
    return "", None


LEAST_STUDIES = 10
"""Studies from which on one text for all of them makes a constant report."""
NEARLY_ALL = 0.9
"""Share of a system's reports with one and the same text from which it is constant."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first screen."""

    answer: str  # The answer in one sentence
    reasons: tuple[str, ...]  # By how much, on how many metrics, chance
    systems: tuple[SystemFacts, ...]  # Facts by system, the best first
    judged: str  # What could not be judged
    confidence: str  # How sure the judge of errors is; "" if it is not there
    warnings: tuple[str, ...]  # What to doubt
    answered: tuple[str, ...] = ()  # Sentences on how many studies each system answered; empty if all answered all


def build_verdict(
    results: Results,
    *,
    cases: Sequence[Case],
    alignment: Alignment | None,
    case_numbers: Mapping[Key, int],
    reading: Readings,
    comparisons: Sequence[SystemComparison] = (),
    changed: Releases | None = None,
    collapsed: Sequence[str] = (),
) -> Verdict:
    """Put the results into words.

    Args:
        results: All scores.
        cases: Their texts, for examples and duplicates.
        alignment: Agreement with radiologists on these cases, if they judged: then the metrics are compared.
        case_numbers: Numbers of the cases in the browser.
        reading: For the examples.
        comparisons: The tests of the page's table, so that the headline has the same p values.
        changed: Changes since older scores, if there are any: then they are the answer.
        collapsed: Sentences on systems that write the same for everyone.
    """
    systems = list(dict.fromkeys(system for _, system in results.keys_of_cases))
    trusted = trusted_columns(results)
    leading = leading_judge(results)
    ranked = ranked_systems(leading, systems)
    constant = [system for system in ranked if _constant(system, cases)]
    order = [*(system for system in ranked if system not in constant), *constant]
    replies = answers(results) if changed is None else changed.answers
    if changed is not None:
        answer, reasons = change_answer(changed, leading)
        warnings: list[str] = []
    elif alignment is not None:
        answer, reasons = metric_answer(alignment)
        warnings = []
    else:
        answer, reasons, warnings = _systems_answer(
            results, ranked, constant, leading, trusted, comparisons, replies
        )

    counts = _error_judge(results)
    facts = (
        tuple(
            system_facts(counts, system, cases=cases, case_numbers=case_numbers, reading=reading)
            for system in order
        )
        if counts is not None
        else ()
    )
    few = len({study for study, _ in results.keys_of_cases})
    if few < FEW:
        studies = f"{few} {'study' if few == 1 else 'studies'}"
        warnings.append(f"Only {studies}: with fewer than {FEW}, intervals can cover less than they say.")
    return Verdict(
        answer,
        tuple(reasons),
        facts,
        _judged(results),
        _confidence(counts),
        (*warnings, *(sentence[:1].upper() + sentence[1:] + "." for sentence in collapsed), *_duplicates(cases)),
        tuple(reply.sentence() + "." for reply in replies) if any(reply.missing for reply in replies) else (),
    )


def _constant(system: str, cases: Sequence[Case]) -> bool:
    """True for a baseline that writes the same for everyone, or a system that (nearly) does so by itself."""
    from radgauge.analysis.baselines import FREQUENT, TEMPLATE

    texts = [" ".join(case.candidate.split()).casefold() for case in cases if case.system == system]
    texts = [text for text in texts if text]
    if system in (TEMPLATE, FREQUENT):
        return True
    return len(texts) >= LEAST_STUDIES and Counter(texts).most_common(1)[0][1] >= NEARLY_ALL * len(texts)


def _systems_answer(
    results: Results,
    ranked: Sequence[str],
    constant: Sequence[str],
    leading: Scores,
    trusted: Sequence[str],
    lines: Sequence[SystemComparison],
    replies: Sequence[Answers],
) -> tuple[str, list[str], list[str]]:
    """Answer, reasons and warnings where systems are compared with each other."""
    column = leading.system_headline
    doubt = _doubt(trusted, metric_name(column))
    if len(ranked) < 2:
        return f"One system, {ranked[0]}: there is nothing to compare it with.", [], doubt
    if not lines:
        return f"{ranked[0]} and {ranked[1]} could not be compared with each other.", [], doubt
    baseline = lines[0].baseline
    refuted = constant_answer(leading, ranked, constant, lines)
    if refuted is not None:
        answer, line = refuted
        return answer, [] if line is None else [by_how_much(line)], doubt
    real = [system for system in ranked if system not in constant]
    other = next(system for system in [*real, *constant] if system != baseline)
    best, second = (baseline, other) if baseline == ranked[0] else (other, baseline)
    line = line_of(lines, column, best, second)
    if line is None:
        return f"{best} and {second} could not be compared by {metric_name(column).name}.", [], doubt
    leads = baseline == ranked[0]
    answer = system_answer(line, among=len(ranked) if leads else 2, replies=replies)
    heads = {scores.columns[0] for scores in results.judges.values()} | {column}
    shown = {
        other.column: other if other.system == best else flipped(other)
        for other in lines
        if other.column in heads and {other.system, other.baseline} == {best, second}
    }
    warnings = [*doubt]
    if not line.negligible:
        against = [
            comparison
            for comparison in shown.values()
            if not by_chance(comparison) and comparison.result.better == "b"
        ]
        if line.result.better == "a":
            warnings += _contradictions(against, trusted, metric_name(leading.columns[0]))
    return answer, [by_how_much(line), *_votes(shown, trusted, best)], warnings


def _doubt(trusted: Sequence[str], name: MetricName) -> list[str]:
    if trusted:
        return []
    return [
        f"No metric of this report is known to agree with radiologists; {name.name} decides here for want of a "
        "better one. Score with errors too."
    ]


def _contradictions(against: Sequence[SystemComparison], trusted: Sequence[str], ours: MetricName) -> list[str]:
    """Metrics that put the second system first beyond chance, and which to believe."""
    warnings = []
    rivals = [line.column for line in against if line.column in trusted]
    others = [line.column for line in against if line.column not in trusted]
    if rivals:
        warnings.append(
            f"{listed(rivals)} {'says' if len(rivals) == 1 else 'say'} the opposite and agree with raters too: "
            "read the cases on which they disagree before deciding."
        )
    if others:
        taus = [tau for tau in (metric_name(column).tau for column in others) if tau is not None]
        best = f", theirs {max(taus):.2f} at most" if taus else ""
        warnings.append(
            f"{listed(others)} {'says' if len(others) == 1 else 'say'} the opposite. Believe {ours.name}: its "
            f"agreement with raters was measured as {ours.agreement}{best}."
        )
    return warnings


def _votes(shown: Mapping[str, SystemComparison], trusted: Sequence[str], best: str) -> list[str]:
    """Describe how many of the trusted metrics agree."""
    votes = [shown[column] for column in trusted if column in shown]
    if not votes:
        return []
    sure = [line for line in votes if not by_chance(line) and line.result.better == "a"]
    unsure = [line for line in votes if by_chance(line)]
    against = len(votes) - len(sure) - len(unsure)
    metrics = "metric that agrees" if len(votes) == 1 else "metrics that agree"
    vote = (
        f"{len(sure)} of {len(votes)} {metrics} with raters ({listed([line.column for line in votes])}) "
        f"{'puts' if len(sure) == 1 else 'put'} {best} first"
    )
    vote += f", {len(unsure)} cannot tell" if unsure else ""
    return [vote + (f", {against} {'says' if against == 1 else 'say'} the opposite." if against else ".")]


def _error_judge(results: Results) -> Scores | None:
    """The first judge that counts errors, its columns under the names of the metric `errors`.

    Coverage keeps its name: for a language model it counts sentences, not words.
    """
    for end in JUDGES:
        for scores in results.judges.values():
            if f"errors_significant{end}" in scores.columns:
                diagnostics = f"errors_coverage{end}", f"errors_low_confidence{end}"
                plain = (name if name in diagnostics else name.removesuffix(end) for name in scores.columns)
                return replace(scores, columns=tuple(plain))
    return None


def _judged(results: Results) -> str:
    parts = []
    for scores in results.judges.values():
        if scores.reasons:
            reasons = Counter(scores.reasons.values()).most_common(1)[0][0]
            name = metric_name(scores.columns[0]).name
            parts.append(f"{name} could not judge {len(scores.reasons)} of {len(scores.keys)} ({reasons})")
    if not parts:
        return "Every metric judged every report."
    more = f"; {len(parts) - 3} more under Methods" if len(parts) > 3 else ""
    return "; ".join(parts[:3]) + more + ". They are left out of its values."


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
