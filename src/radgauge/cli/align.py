"""`radgauge align`: do the metrics agree with radiologists?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from rich.console import Console

    from radgauge.reading import Readings
    from radgauge.stats import FailureMode
    from radgauge.studies.agreement import Alignment


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("align")(align_cli)


def align_cli(
    scores: Annotated[
        Path | None,
        typer.Argument(help="A scores file of the judged reports; without it they are scored now."),
    ] = None,
    judgments: Annotated[
        Path | None,
        typer.Option("--judgments", "-j", help="ReXVal or RadEvalX folder, RadPref JSON, or a long table."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Form of the judgments, if the path does not tell.")
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="total, significant, rating or a category (omission, 2). Repeatable."),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", help="kendall_b, kendall_c, spearman or pearson.")] = "kendall_b",
    scope: Annotated[
        str, typer.Option("--scope", help="pooled, group (mean over candidate groups) or study.")
    ] = "pooled",
    per_rater: Annotated[bool, typer.Option("--per-rater", help="Also against every rater alone.")] = False,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="Every output, not only headlines.")] = False,
    more_errors_than: Annotated[
        float | None,
        typer.Option("--more-errors-than", help="Only cases with more errors than this."),
    ] = None,
    failure_modes: Annotated[
        bool, typer.Option("--failure-modes", help="Which group makes more errors of a category than another?")
    ] = False,
    behaviour: Annotated[
        bool,
        typer.Option("--behaviour", help="Run metrics through invented cases whose order nobody doubts."),
    ] = False,
    interval: Annotated[
        str, typer.Option("--interval", help="percentile, bca, or yu2022 (the paper's own, far too narrow).")
    ] = "percentile",
    ties: Annotated[
        str, typer.Option("--ties", help="Ties in preferences: half, wrong, skip or threshold.")
    ] = "half",
    correction: Annotated[str, typer.Option("--correction", help="'holm', 'bh' or 'none'.")] = "holm",
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Is one metric better? Every two metrics, tested.")
    ] = False,
    test: Annotated[
        str,
        typer.Option("--test", help="With --pairs: williams1959, hendrickson1970, steiger1980, meng1992, ..."),
    ] = "williams1959",
    metric: o.MetricNames = None,
    models: o.Models = "embedded",
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Correlate metrics with radiologists: intervals, ceiling, preferences, which metric is better.

    Examples:

      radgauge align --judgments radpref.json

      radgauge align scores.jsonl --judgments rexval-dataset/ --scope group --target significant
    """
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.io.judgments import read_judgments
    from radgauge.io.judgments.targets import group_failure_modes
    from radgauge.io.scores_file import read_scores
    from radgauge.scores import score
    from radgauge.studies.agreement import align

    if behaviour:
        reading = o.open_readings(no_cache=no_cache, quiet=quiet)
        run_behaviour(metric or None, models=models, reading=reading, as_json=as_json)
        return
    if judgments is None:
        raise UsageError("no judgments given: use --judgments with a ReXVal or RadEvalX folder, or a file")
    judged = read_judgments(judgments, format=format)
    if scores is not None:
        results, _ = read_scores(scores)
    else:
        reading = o.open_readings(no_cache=no_cache, quiet=quiet)
        results = score(judged.cases, metric or None, reading=reading, models=models)
    found = align(
        results,
        judged,
        targets=target or None,
        kind=kind,  # type: ignore[arg-type]  # names are checked there
        scope=scope,  # type: ignore[arg-type]
        per_rater=per_rater,
        all_columns=all_columns,
        more_errors_than=more_errors_than,
        method=interval,  # type: ignore[arg-type]
        level=level,
        resamples=max(resamples, 1),
        ties=ties,  # type: ignore[arg-type]
        correction=correction,  # type: ignore[arg-type]
        pairs=pairs,
        test=test,  # type: ignore[arg-type]
        seed=seed,
    )
    modes = group_failure_modes(judged) if failure_modes else ()
    if as_json:
        typer.echo(o.to_json({"alignment": found, "failure_modes": list(modes), "seed": seed}))
        return
    out = console()
    print_alignment(out, found, kind)
    if found.pairs:
        print_pairs(out, found, kind, test, correction)
    if modes:
        print_failure_modes(out, modes)
    if not quiet:
        err = console(stderr=True)
        unit = "studies" if interval != "yu2022" else "single cases (as in the paper; too narrow)"
        notes = [f"{found.cases} cases; positive = agreement; intervals resample {unit}"]
        few = o.few_cases_note(len({study for study, _ in results.keys_of_cases}), "studies")
        for note in (*notes, *few, *found.notes, *o.profile_note(results)):
            err.print(f"note: {note}", soft_wrap=True)


def run_behaviour(metrics: list[str] | None, *, models: str, reading: Readings, as_json: bool) -> None:
    """Pass rates by group, one column per metric; the questions that a metric got wrong with --json."""
    from radgauge.cli.render import console, plain_table
    from radgauge.studies.behaviour import behaviour

    found = behaviour(metrics, reading=reading, models=models)
    if as_json:
        typer.echo(o.to_json({"behaviour": found}))
        return
    table = plain_table("group", "cases", *(each.column for each in found), right=tuple(range(1, len(found) + 2)))
    rates = [each.by_group() for each in found]
    for group in rates[0]:
        asked = rates[0][group][1]
        table.add_row(group, str(asked), *(f"{100 * rate[group][0] / asked:.0f} %" for rate in rates))
    table.add_section()
    every = len(found[0].verdicts)
    table.add_row("all", str(every), *(f"{100 * each.passed / every:.1f} %" for each in found))
    console().print(table)


def print_alignment(out: Console, found: Alignment, kind: str) -> None:
    """Correlations by target, the radiologists' own agreement below them; then preferences and ranking."""
    from radgauge.cli.render import interval, number, plain_table

    for target in dict.fromkeys(line.target for line in found.lines):
        for rater in dict.fromkeys(line.rater for line in found.lines if line.target == target):
            lines = [line for line in found.lines if (line.target, line.rater) == (target, rater)]
            lines.sort(key=lambda line: -line.correlation.interval.value)
            who = "the mean rater" if rater == "mean" else f"rater {rater}"
            table = plain_table(f"{target} of {who}", kind, "interval", "n", "preferred", right=(1, 3, 4))
            for line in lines:
                value = line.correlation.interval
                liked = found.preferences.get(line.column) if target == found.lines[0].target else None
                table.add_row(
                    line.column,
                    number(value.value),
                    interval(value.low, value.high),
                    str(value.n),
                    f"{100 * liked.interval.value:.0f} %" if liked is not None and rater == "mean" else "",
                )
            for ceiling in found.ceilings:
                if ceiling.target == target and rater == "mean":
                    mean = ceiling.leave_one_out.mean
                    table.add_section()
                    table.add_row(
                        "one radiologist against the others",
                        number(mean.value),
                        interval(mean.low, mean.high),
                        str(mean.n),
                        "",
                    )
            out.print(table)
            out.print()
    for ceiling in found.ceilings:
        shares = ", ".join(
            f"{each.name} {number(each.interval.value)} {interval(each.interval.low, each.interval.high)}"
            for each in ceiling.agreements
        )
        out.print(f"radiologists among themselves on {ceiling.target}: {shares}", soft_wrap=True)
    if found.ranking is not None:
        out.print(f"\nranking on {found.lines[0].target}; one cluster = cannot be told apart:")
        table = plain_table("cluster", "metric", kind, right=(0, 2))
        for ranked in found.ranking.judges:
            table.add_row(str(ranked.cluster), ranked.name, number(ranked.correlation.interval.value))
        out.print(table)


def print_pairs(out: Console, found: Alignment, kind: str, test: str, correction: str) -> None:
    """Every two metrics: the paired bootstrap, and the test of the literature with what it rests on."""
    from radgauge.cli.compare import p_value, signed
    from radgauge.cli.render import interval, number, plain_table

    grouped = any(each.group for pair in found.pairs for each in pair.tests)
    headers = ["better", "than", "difference", "interval", "p", *(["group"] if grouped else [])]
    table = plain_table(*headers, "r", "r", "r between", f"p {test}", right=(2, 4, *range(6, 10), 5 + grouped))
    for pair in found.pairs:
        for row, each in enumerate(pair.tests):
            gap = pair.difference.interval
            p = "–" if each.found is None else p_value(each.p_adjusted) + ("*" if each.p_adjusted < 0.05 else " ")
            left = (
                pair.first,
                pair.second,
                signed(gap.value),
                interval(gap.low, gap.high),
                p_value(pair.p_adjusted) + ("*" if pair.p_adjusted < 0.05 else " "),
            )
            table.add_row(
                *(left if not row else [""] * 5),
                *([str(each.group)] if grouped else []),
                number(each.r_first),
                number(each.r_second),
                number(each.r_between),
                p,
            )
    used = found.pairs[0].tests[0].kind if found.pairs[0].tests else "spearman"
    out.print(
        f"\nis one metric better on {found.lines[0].target}? Difference of {kind}, paired bootstrap by study; "
        f"{test} on {used} r, which it takes for Pearson's of independent cases; p corrected by {correction}:",
        soft_wrap=True,
    )
    out.print(table)


def print_failure_modes(out: Console, modes: tuple[FailureMode, ...]) -> None:
    """The pairs that differ, by either test."""
    from radgauge.cli.compare import p_value
    from radgauge.cli.render import number, plain_table

    headers = ("category", "more errors", "than", "mean", "mean", "p (t test)", "p (paired)")
    table = plain_table(*headers, right=(3, 4, 5, 6))
    for mode in modes:
        if mode.two_sample.significant or mode.paired.significant:
            table.add_row(
                mode.category,
                mode.first,
                mode.second,
                number(mode.mean_first),
                number(mode.mean_second),
                p_value(mode.two_sample.p) + ("*" if mode.two_sample.significant else " "),
                p_value(mode.paired.p) + ("*" if mode.paired.significant else " "),
            )
    out.print("\nfailure modes (Benjamini-Hochberg, 1 %; the paired test by study is the better one):")
    out.print(table if table.row_count else "none")
