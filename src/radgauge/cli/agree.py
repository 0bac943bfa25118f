"""`radgauge agree`: do the metrics agree with radiologists?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.probe import probe
from radgauge.core.choices import Correction, CorrelationMethod, DependentMethod, Equality, Kind, Scope, TieRule
from radgauge.core.wording import interval, number, p_value, share, signed

if TYPE_CHECKING:
    from radgauge.analysis.agreement import Alignment
    from radgauge.analysis.failure_modes import FailureModes
    from radgauge.render.tables import Row, Table, Value
    from radgauge.render.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class MetricPairs:
    """Whether and how every two metrics are tested against each other."""

    pairs: Annotated[bool, typer.Option("--pairs", help="Is one metric better? Every two metrics, tested.")] = (
        False
    )
    test: Annotated[DependentMethod, typer.Option("--test", help="The test of --pairs.")] = "williams1959"
    one_sided: Annotated[
        bool,
        typer.Option("--one-sided", help="--test asks only whether the better metric is better."),
    ] = False
    correction: Annotated[Correction, typer.Option("--correction", help="For many tests.")] = "holm"
    mine: Annotated[
        str | None,
        typer.Option("--mine", help="Test this output against each other one (instead of --pairs)."),
    ] = None
    table: Annotated[
        Path | None, typer.Option("--table", help="Write the pairs to this file: .tex, .md or .csv.")
    ] = None

    @property
    def name(self) -> str:
        """The test as tables name it."""
        return f"{self.test}, one-sided" if self.one_sided else self.test


@dataclass(frozen=True, kw_only=True)
class TiedValues:
    """When values of a metric are tied, and what a tie is worth."""

    ties: Annotated[TieRule, typer.Option("--ties", help="What ties in preferences are worth.")] = "half"
    equality: Annotated[
        Equality,
        typer.Option("--equality", help="Tie values up to the metric's precision, or compare digit by digit."),
    ] = "precision"


@o.command(o.app, "agree")
def agree_cli(
    people: o.JudgmentSource,
    judged: o.Judging,
    others: o.Foreign,
    rivals: MetricPairs,
    tied: TiedValues,
    sampling: o.Sampling,
    say: o.ReadingOutput,
    scores: Annotated[
        Path | None,
        typer.Argument(help="A scores file of the judged reports (without it they are scored now), or a study."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            "--images",
            help="Images of the judged studies, for vlscore: a folder with files or folders named after them (as "
            "MIMIC-CXR's), or a table with id and image.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="total, significant, rating or a category (omission, 2). Repeatable."),
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="Which coefficient.")] = "kendall_b",
    scope: Annotated[
        Scope, typer.Option("--scope", help="Over all cases, or the mean over candidate groups or studies.")
    ] = "pooled",
    per_rater: Annotated[bool, typer.Option("--per-rater", help="Also against every rater alone.")] = False,
    all_columns: o.AllColumns = False,
    more_errors_than: Annotated[
        float | None,
        typer.Option("--more-errors-than", help="Only cases with more errors than this."),
    ] = None,
    failure_modes: Annotated[
        bool, typer.Option("--failure-modes", help="Which group makes more errors of a category than another?")
    ] = False,
    method: Annotated[
        CorrelationMethod,
        typer.Option("--interval", help="Which bootstrap interval; yu2022 is the paper's own, far too narrow."),
    ] = "percentile",
    by: Annotated[
        str | None, typer.Option("--by", help="Also for each value of this column: modality, anatomy, system.")
    ] = None,
) -> None:
    """Correlate metrics with radiologists: intervals, ceiling, preferences, which metric is better.

    Examples:

      radgauge agree --judgments radpref.json

      radgauge agree study.sqlite

      radgauge agree scores.jsonl --judgments rexval-dataset/ --scope group --target significant

      radgauge agree scores.jsonl --judgments radpref.json --scores green.csv:higher

      radgauge agree --judgments radpref.json -m mine.py:score -m bleu --mine score --table mine.tex

      radgauge agree --judgments rexval-dataset/ --images mimic-cxr-jpg/files -m vlscore --models published
    """
    from radgauge.analysis.agreement import agree
    from radgauge.analysis.failure_modes import failure_modes as find_modes
    from radgauge.analysis.strata import MIN_CASES, split_judgments
    from radgauge.core.errors import UsageError
    from radgauge.io.judgments.study_file import looks_like_study
    from radgauge.io.scores_file import read_scores
    from radgauge.render.tables import write_tables
    from radgauge.render.terminal import console

    if scores is not None and people.judgments is None and looks_like_study(scores):
        people, scores = replace(people, judgments=scores), None
    judgments = people.read(images=images)
    results = read_scores(scores) if scores is not None else judged.told(judgments.cases, say.readings(), say=say)
    results = others.joined(results)
    aligned = partial(
        agree,
        results,
        targets=target or None,
        kind=kind,
        scope=scope,
        per_rater=per_rater,
        all_columns=all_columns,
        more_errors_than=more_errors_than,
        resampling=sampling.record(method=method, least=1),
        ties=tied.ties,
        equality=tied.equality,
        correction=rivals.correction,
        pairs=rivals.pairs,
        test=rivals.test,
        one_sided=rivals.one_sided,
        mine=rivals.mine,
    )
    found = aligned(judgments)
    strata = split_judgments(judgments, results, by=by) if by is not None else None
    parts = {value: aligned(part) for value, part in strata.parts.items()} if strata is not None else {}
    counted = [name for name in target or () if name != "rating"]
    modes = find_modes(judgments, targets=counted or None) if failure_modes else ()
    if rivals.table is not None:
        if not found.pairs:
            raise UsageError("--table writes pairs of metrics: add --pairs or --mine")
        write_tables({"summary": pairs_table(found, rivals.name)}, str(rivals.table))
        say.tell(f"wrote {rivals.table}")
    if say.as_json:
        left_out = {"too_few": strata.too_few, "unknown": strata.unknown} if strata is not None else {}
        o.print_json(
            {
                "alignment": found,
                "failure_modes": {m.target: m for m in modes},
                **({"by": {"column": by, "parts": parts, **left_out}} if strata is not None else {}),
                "seed": sampling.seed,
            }
        )
        return
    out = console()
    print_alignment(out, found, kind)
    if found.pairs:
        print_pairs(out, found, kind, rivals.name, rivals.correction)
    for value, part in parts.items():
        out.say(f"\n{by} = {value}: {part.cases} cases\n")
        for correlations in _correlations(part, kind):
            out.show(correlations)
            out.print()
    for each in modes:
        print_failure_modes(out, each)
    unit = "studies" if method != "yu2022" else "single cases (as in the paper; too narrow)"
    say.notes(f"{found.cases} cases; positive = agreement; intervals resample {unit}")
    if strata is not None and strata.too_few:
        say.notes(
            f"under {MIN_CASES} cases, not shown: {', '.join(f'{k} ({n})' for k, n in strata.too_few.items())}"
        )
    if strata is not None and strata.unknown:
        say.notes(f"{strata.unknown} cases have no value in the column {by}")
    say.notes(*o.few_cases_note(len({study for study, _ in results.keys_of_cases}), "studies"))
    say.notes(*found.notes, *o.profile_note(results))


@o.command(probe, "behaviour")
def behaviour_cli(judged: o.Judging, say: o.ReadingOutput) -> None:
    """Run metrics through invented cases whose order nobody doubts: pass rates by group.

    Examples:

      radgauge probe behaviour -m errors -m bleu
    """
    from radgauge.analysis.behaviour import behaviour
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    with judged.session(say):
        found = behaviour(judged.metric or None, reading=say.readings(), models=judged.agreed())
    if say.as_json:
        o.print_json({"behaviour": found})
        return
    rates = [each.by_group() for each in found]
    rows: list[Row | None] = []
    for group, (_, asked) in rates[0].items():
        rows.append((group, asked, *(share(rate[group][0] / asked, 0) for rate in rates)))
    every = len(found[0].verdicts)
    rows += [None, ("all", every, *(share(each.passed / every) for each in found))]
    console().show(table("group", "cases", *(Column(each.column, right=True) for each in found), rows=rows))
    say.notes(*o.account_notes({each.judge: each.account for each in found if each.account}))
    say.tell(*(f"warning: {each.warning}" for each in found if each.account and each.warning))


def print_alignment(out: Terminal, found: Alignment, kind: str) -> None:
    """Correlations by target, the radiologists' own agreement below them; then preferences and ranking."""
    from radgauge.render.tables import table

    for each in _correlations(found, kind):
        out.show(each)
        out.print()
    for ceiling in found.ceilings:
        shares = ", ".join(
            f"{each.name} {number(each.interval.value)} {interval(each.interval.low, each.interval.high)}"
            for each in ceiling.agreements
        )
        out.say(f"radiologists among themselves on {ceiling.target}: {shares}")
    if found.ranking is not None:
        out.print(f"\nranking on {found.lines[0].target}; one cluster = cannot be told apart:")
        rows = [(each.cluster, each.name, each.correlation.interval.value) for each in found.ranking.judges]
        out.show(table("cluster", "metric", kind, rows=rows))


def _correlations(found: Alignment, kind: str) -> Iterator[Table]:
    """A table per target and rater."""
    from radgauge.render.tables import Column, table

    for target, rater in dict.fromkeys((line.target, line.rater) for line in found.lines):
        lines = [line for line in found.lines if (line.target, line.rater) == (target, rater)]
        lines.sort(key=lambda line: -line.correlation.interval.value)
        mean = rater == "mean"
        compares = mean and target == found.lines[0].target and bool(found.preferences)
        rows: list[Row | None] = []
        for line in lines:
            value = line.correlation.interval
            bounds = interval(value.low, value.high)
            row: list[Value] = [line.column, value.value, bounds, line.correlation.p, value.n]
            if found.copies:
                row.append(line.without_copies)
            if compares:
                preferred, calibrated = found.preferences[line.column], found.calibrated[line.column]
                gain = found.best_of[line.column].gain
                row += [share(each.value, 0) for each in (preferred.interval, calibrated.interval, gain)]
            rows.append(tuple(row))
        for ceiling in found.ceilings:
            if ceiling.target == target and mean:
                among = ceiling.leave_one_out.mean
                bounds = interval(among.low, among.high)
                blank: list[Value] = [*([None] if found.copies else []), *([""] * 3 if compares else [])]
                rows += [None, ("one radiologist against the others", among.value, bounds, None, among.n, *blank)]
        who = "the mean rater" if mean else f"rater {rater}"
        columns: list[Column | str] = [kind, "interval", Column("p", format=p_value), "n"]
        columns += ["without copies"] if found.copies else []
        if compares:
            columns += [Column(name, right=True) for name in ("preferred", "calibrated", "best of N")]
        yield table(f"{target} of {who}", *columns, rows=rows)


def print_pairs(out: Terminal, found: Alignment, kind: str, test: str, correction: str) -> None:
    """Every two metrics: the paired bootstrap, and the test of the literature with what it rests on."""
    used = found.pairs[0].tests[0].kind if found.pairs[0].tests else "spearman"
    out.say(
        f"\nis one metric better on {found.lines[0].target}? Difference of {kind}, paired bootstrap by study; "
        f"{test} on {used} r, which it takes for Pearson's of independent cases; p corrected by {correction}:"
    )
    out.show(pairs_table(found, test))


def pairs_table(found: Alignment, test: str) -> Table:
    """Return one row per two metrics: difference with interval and p, then the test of the literature."""
    from radgauge.render.tables import Column, table

    grouped = any(each.group for pair in found.pairs for each in pair.tests)
    rows: list[list[Value]] = []
    for pair in found.pairs:
        gap = pair.difference.interval
        left = (pair.first, pair.second, gap.value, interval(gap.low, gap.high), pair.p_adjusted)
        for place, each in enumerate(pair.tests):
            rows.append(
                [
                    *(left if not place else [None] * 5),
                    *([str(each.group)] if grouped else []),
                    *(each.r_first, each.r_second, each.r_between),
                    float("nan") if each.test is None else each.p_adjusted,
                ]
            )
    return table(
        *("metric", "against", Column("difference", format=signed), "interval"),
        Column("p", format=p_value, significant=0.05),
        *([Column("group", right=True)] if grouped else []),
        *("r", "r", "r between", Column(f"p {test}", format=p_value, significant=0.05)),
        rows=rows,
        key="pairs",
        title=f"Agreement with raters ({found.lines[0].target}): one metric against another, {found.cases} cases",
    )


def print_failure_modes(out: Terminal, found: FailureModes) -> None:
    """The pairs that differ, by either test, on the errors of one target."""
    from radgauge.render.tables import Cell, Column, table

    rows: list[Row] = [
        (
            *(mode.category, mode.first, mode.second, mode.mean_first, mode.mean_second),
            *(Cell(p_value(each.p), strong=each.significant) for each in (mode.two_sample, mode.paired)),
        )
        for mode in found.modes
        if mode.two_sample.significant or mode.paired.significant
    ]
    left_out = f", {found.not_judged} not judged in full and left out" if found.not_judged else ""
    out.say(
        f"\nfailure modes, {found.target} errors of {found.studies} studies{left_out} "
        "(Benjamini-Hochberg, 1 %; the paired test by study is the better one):"
    )
    if not rows:
        out.print("none")
        return
    tests = (Column(name, right=True, significant=0.01) for name in ("p (t test)", "p (paired)"))
    out.show(table("category", "more errors", "than", "mean", "mean", *tests, rows=rows))
