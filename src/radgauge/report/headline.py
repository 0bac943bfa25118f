"""The headline of a report in words: a change, a better system, none that beats a constant report, or a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from radgauge.analysis.agreement import Alignment
from radgauge.analysis.answers import Answers
from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.releases import OTHER_REFERENCES, Releases
from radgauge.analysis.tables import ALPHA
from radgauge.core.scores import Scores
from radgauge.core.wording import interval, number, signed
from radgauge.render.metric_names import metric_name
from radgauge.report.paper import p_paper


def flipped(line: SystemComparison) -> SystemComparison:
    """The same comparison seen from the baseline: p and width stay, signs turn."""
    result = line.result
    gap, effect = result.difference, result.effect
    turned = replace(
        result,
        value_a=result.value_b,
        value_b=result.value_a,
        difference=replace(gap, value=-gap.value, low=-gap.high, high=-gap.low),
        effect=replace(effect, d_z=-effect.d_z, wins=effect.losses, losses=effect.wins),
        missing_a=result.missing_b,
        missing_b=result.missing_a,
    )
    return replace(line, system=line.baseline, baseline=line.system, result=turned)


def by_chance(line: SystemComparison) -> bool:
    """True unless the corrected p value is below .05."""
    return not line.result.p_shown < ALPHA


def beats(line: SystemComparison) -> bool:
    """True if the system is better than its baseline, beyond chance and by more than the smallest effect."""
    return line.result.better == "a" and not by_chance(line) and not line.negligible


def within_smallest(line: SystemComparison) -> bool:
    """True if the interval lies within the smallest effect: a small difference alone shows no equivalence."""
    smallest, gap = metric_name(line.column).smallest, line.result.difference
    return smallest is not None and max(abs(gap.low), abs(gap.high)) < smallest


def line_of(lines: Sequence[SystemComparison], column: str, system: str, other: str) -> SystemComparison | None:
    """The comparison of two systems by an output, `system` first; None if it was not made."""
    for line in lines:
        if line.column == column and {line.system, line.baseline} == {system, other}:
            return line if line.system == system else flipped(line)
    return None


def system_answer(line: SystemComparison, *, among: int, replies: Sequence[Answers]) -> str:
    """One sentence on two systems; a system that answered less is never called better without saying so."""
    name = metric_name(line.column).name
    ranked = f" of {among} systems" if among > 2 else ""
    difference = f"{name} {signed(line.result.difference.value)}"
    if math.isnan(line.result.difference.value):
        answer = (
            f"{line.system} and {line.baseline} cannot be compared by {name}: no study to which it applies was "
            "answered by both"
        )
    elif line.negligible and (not by_chance(line) or within_smallest(line)):
        smallest = metric_name(line.column).smallest or 0.0
        answer = (
            f"{line.system} and {line.baseline} do not differ by anything that matters: {difference}, below the "
            f"smallest effect of interest ({smallest:.3f})"
        )
    elif by_chance(line):
        top = f" at the top{ranked}" if ranked else ""
        answer = (
            f"{line.system} and {line.baseline} cannot be told apart{top}: the difference in {name} could be "
            "chance"
        )
    else:
        better = line.result.better == "a"
        qualifier = f", the next best{ranked}" if ranked and better else ""
        answer = (
            f"{line.system} is {'better' if better else 'worse'} than {line.baseline}{qualifier}: {difference}"
        )
    return f"{answer}.{silence(replies, line)}"


def silence(replies: Sequence[Answers], line: SystemComparison) -> str:
    """Describe how many studies each of the two answered, if either left any out."""
    pair = [reply for name in (line.system, line.baseline) for reply in replies if reply.system == name]
    if not any(reply.missing for reply in pair):
        return ""
    counts = ", ".join(f"{reply.system} {reply.answered:,} of {reply.asked:,}" for reply in pair)
    return f" Based on answered studies alone: {counts}."


def by_how_much(line: SystemComparison) -> str:
    """Both values, difference, interval and p value, with the number of studies behind them."""
    result, name = line.result, metric_name(line.column)
    gap = result.difference
    if math.isnan(gap.value):
        return f"{name.name} applies to none of the studies that both answered."
    chance = "it could be chance" if by_chance(line) else "it is unlikely to be chance"
    p = p_paper(result.p_shown)
    sign = "≤ " if result.p_is_bound and not p.startswith("<") else "" if p.startswith("<") else "= "
    return (
        f"{name.name}: {line.system} {number(result.value_a)}, {line.baseline} {number(result.value_b)}, "
        f"difference {signed(gap.value)} {interval(gap.low, gap.high)} on {result.n} studies that both have; "
        f"p {sign}{p}: {chance}."
    )


def constant_answer(
    leading: Scores, ranked: Sequence[str], constant: Sequence[str], lines: Sequence[SystemComparison]
) -> tuple[str, SystemComparison | None] | None:
    """The headline if no system beats a constant report, with the comparison behind it; None if one does."""
    real = [name for name in ranked if name not in constant]
    if not constant:
        return _nothing_detected(leading.system_headline, lines)
    template = next(name for name in ranked if name in constant)
    if not real:
        return (
            f"No system here beats a constant report: {'all' if len(ranked) > 2 else 'both'} {len(ranked)} write "
            "the same for nearly every study.",
            None,
        )
    column = leading.system_headline
    line = line_of(lines, column, real[0], template)
    if line is None:
        if ranked.index(real[0]) < ranked.index(template):
            return None
    elif beats(line):
        return None
    name = metric_name(column).name
    values = "" if line is None else f" ({number(line.result.value_a)} against {number(line.result.value_b)})"
    return (
        f"No system here beats a constant report: by {name} {real[0]}, the best of those that vary, is not better "
        f"than {template}, which writes the same for nearly every study{values}.",
        line,
    )


def _nothing_detected(column: str, lines: Sequence[SystemComparison]) -> tuple[str, SystemComparison] | None:
    """The headline where every system detects as little as a normal report for all: nothing."""
    compared = [line for line in lines if line.column == column]
    values = [value for line in compared for value in (line.result.value_a, line.result.value_b)]
    if not column.endswith("errors_f1") or not values or max(values) > 0 or any(map(math.isnan, values)):
        return None
    line = compared[0]
    several = len({name for comparison in compared for name in (comparison.system, comparison.baseline)}) > 2
    names = f"{line.system}, {line.baseline} and every other" if several else f"{line.system} and {line.baseline}"
    return (
        f"No system here beats a constant report: {metric_name(column).name} is 0 for {names}, as for a normal "
        "report written for all.",
        line,
    )


def change_answer(changed: Releases, leading: Scores) -> tuple[str, list[str]]:
    """Headline and reasons where older scores are given: each system now against itself before."""
    column = leading.system_headline
    lines = [line for line in changed.comparisons if line.column == column]
    if not lines:
        column = changed.comparisons[0].column
        lines = [line for line in changed.comparisons if line.column == column]
    sentences = [system_answer(line, among=2, replies=changed.answers) for line in lines]
    reasons = [by_how_much(line) for line in lines]
    if changed.column:
        reasons.append(
            f"{len(changed.worse)} of {changed.cases} reports have a clinically significant error that they had "
            f"not before, {len(changed.better)} have lost theirs."
        )
    reasons += [
        f"{system} of the older scores is not in the newer ones: {number:,} studies without an answer."
        for system, number in changed.dropped.items()
    ]
    if not changed.same_references:
        return f"Nothing can be said of a change: {OTHER_REFERENCES}.", reasons
    return " ".join(sentences[:3]), reasons


def metric_answer(alignment: Alignment) -> tuple[str, list[str]]:
    """Headline and reasons where raters judged the cases: which metric agrees best, and which order holds."""
    ranking = alignment.ranking
    target = alignment.lines[0].target
    lines = {
        line.column: line.correlation for line in alignment.lines if line.rater == "mean" and line.target == target
    }

    def described(column: str) -> str:
        estimate = lines[column].interval
        return f"{metric_name(column).name} {number(estimate.value, 2)} {interval(estimate.low, estimate.high)}"

    if ranking is None:
        column, correlation = next(iter(lines.items()))
        sure = correlation.interval.low > 0
        return (
            f"{metric_name(column).name} {'agrees' if sure else 'is not shown to agree'} with the raters: "
            f"Kendall τ-b {number(correlation.value, 2)}.",
            [f"{described(column)} on {alignment.cases} rated reports."],
        )
    first = ranking.judges[0]
    level = [judge.name for judge in ranking.judges[1:] if judge.cluster == first.cluster]
    behind = [judge.name for judge in ranking.judges if judge.cluster != first.cluster]
    best = metric_name(first.name).name
    if not lines[first.name].interval.low > 0:
        answer = "No metric here is shown to agree with the raters."
    elif level:
        answer = (
            f"{best} agrees best with the raters (τ-b {number(lines[first.name].value, 2)}), but its order "
            f"against {listed(level)} could be chance."
        )
    else:
        answer = f"{best} agrees best with the raters, beyond chance: τ-b {number(lines[first.name].value, 2)}."
    reasons = [f"Kendall τ-b on {alignment.cases} rated reports: {'; '.join(described(n) for n in lines)}."]
    if behind:
        groups = len({judge.cluster for judge in ranking.judges})
        reasons.append(
            f"Behind {'them' if level else 'it'}, unlikely to be chance: {listed(behind)}. The order between the "
            f"{groups} groups can be trusted, the order within a group cannot."
        )
    else:
        reasons.append("No order of these metrics can be trusted: every difference could be chance.")
    return answer, reasons


def listed(columns: Sequence[str]) -> str:
    """Names of metrics as a list in words."""
    names = [metric_name(column).name for column in columns]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
