"""`radgauge compare` and `radgauge diff`: is one system, or its newer version, better, and could it be chance?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.choices import TestName
from radgauge.core.wording import interval, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.answers import Answers
    from radgauge.analysis.compare import SystemComparison
    from radgauge.analysis.releases import Releases
    from radgauge.render.tables import Row, Table, Value
    from radgauge.render.terminal import Terminal
    from radgauge.stats.resampling import Resampling

SystemBaseline = Annotated[
    str | None,
    typer.Option("--baseline", "-b", help="System to compare the others with; else the best one."),
]


@o.command(o.app, "compare")
def compare_cli(
    scores: o.ScoresFile,
    others: o.Foreign,
    say: o.Output,
    baseline: SystemBaseline = None,
    systems: Annotated[str | None, "Only these, comma-separated."] = None,
    all_pairs: Annotated[bool, "Every pair of systems."] = False,
    all_columns: o.AllColumns = False,
    test: Annotated[TestName, "Which paired test."] = "permutation",
    correction: o.Corrected = "holm",
    permutations: o.Permutations = 10_000,
    percent: Annotated[bool, "Also the improvement in percent of the baseline's value."] = False,
    sampling: o.Intervals = o.Intervals(),
) -> None:
    """Compare systems on the studies they share: difference, interval, paired test, effect size.

    Examples:

      radgauge compare scores.jsonl --baseline template

      radgauge compare scores.jsonl --all-pairs --json
    """
    from radgauge.analysis.answers import answers
    from radgauge.analysis.compare import compare
    from radgauge.cli.copies import here_or_name
    from radgauge.core.errors import UsageError

    if o.is_scores(here_or_name(baseline)):
        raise UsageError(f"{baseline} is a scores file: radgauge diff NEW OLD compares each system with its past")
    results = others.joined(o.read_scores_of(scores, "compare"))
    how = sampling.record(method=sampling.interval)
    lines = compare(
        results,
        baseline=baseline,
        systems=o.names(systems),
        all_pairs=all_pairs,
        all_columns=all_columns,
        test=test,
        correction=correction,
        permutations=permutations,
        percent=percent,
        resampling=how.at_least(1),
    )
    replies = answers(
        results, list(dict.fromkeys(name for line in lines for name in (line.baseline, line.system)))
    )
    if say.as_json:
        o.print_json({"comparisons": lines, "answers": replies, "seed": sampling.seed, "correction": correction})
        return
    print_differences(lines, replies, how, say, test=test, correction=correction)
    say.notes(*_percent_notes(lines), *o.profile_note(results))


@o.command(o.app, "diff")
def diff_cli(
    new: o.ScoresFile,
    old: Annotated[Path, typer.Argument(help="Older scores of the same systems.")],
    say: o.Output,
    fail_if: Annotated[
        list[str] | None,
        'Exit 1 if "errors_significant > +0.05" (a difference) or "errors_recall < 0.9" (a value) holds.',
    ] = None,
    allow_missing: Annotated[
        int | None,
        typer.Option(
            "--allow-missing",
            min=0,
            help="Exit 1 if more studies lack an answer of either version; 0 with --fail-if.",
        ),
    ] = None,
    all_columns: o.AllColumns = False,
    correction: o.Corrected = "holm",
    permutations: o.Permutations = 10_000,
    sampling: o.Intervals = o.Intervals(),
) -> None:
    """Compare each system with its older scores: what changed, and whether a limit is broken.

    Examples:

      radgauge diff new.jsonl old.jsonl

      radgauge diff new.jsonl old.jsonl --fail-if "errors_significant > +0.05" --allow-missing 3
    """
    from radgauge.analysis.releases import Limit, broken_limits, compare_releases, unanswered_limits

    limits = [Limit.parse(text) for text in fail_if or []]
    results = o.read_scores_of(new, "diff")
    how = sampling.record(method=sampling.interval)
    found = compare_releases(
        results,
        o.read_scores_of(old, "diff"),
        correction=correction,
        permutations=permutations,
        resampling=how.at_least(1),
        all_columns=all_columns,
        columns=[limit.column for limit in limits],
    )
    lines, results = found.comparisons, found.scores
    broken = broken_limits(lines, limits)
    gate = bool(limits) or allow_missing is not None
    if gate:
        broken = [*unanswered_limits(found, limits, allowed=allow_missing or 0), *broken]
    if say.as_json:
        shown = {"comparisons": lines, "answers": found.answers, "seed": sampling.seed, "correction": correction}
        o.print_json({**shown, "broken_limits": broken} if gate else shown)
        _stop(broken)
        return
    print_differences(lines, found.answers, how, say, correction=correction)
    say.notes(*found.notes, *_flipped(found), *o.profile_note(results))
    _stop(broken)
    if gate:
        checked = [*(limit.text for limit in limits), f"no more than {allow_missing or 0} studies missing"]
        say.tell(f"no limit is broken: {'; '.join(checked)}")


def print_differences(
    lines: Sequence[SystemComparison],
    replies: Sequence[Answers],
    how: Resampling,
    say: o.Output,
    *,
    test: str = "permutation",
    correction: str,
) -> None:
    """Show who answered what, a table per pair, and what its columns mean."""
    from radgauge.render.terminal import console

    if any(each.missing for each in replies):
        console().say(*(each.sentence() for each in replies))
    print_comparisons(console(), lines)
    tests = f"paired {test} test{'s' if len(lines) != 1 else ''}"
    say.tell(
        f"{len(lines)} {tests}, p values corrected by {correction} over pairs of systems, output by output; "
        "* marks p < 0.05 after correction, ≤ that no permutation was as extreme; "
        "d: Cohen's d of the paired differences, positive = better; better/equal/worse counts studies"
    )
    if how.method == "yu2022":
        say.notes("yu2022 is the interval of a simulated mean, far too narrow; differences have theirs by auto")
    if lines:
        say.notes(*o.few_cases_note(min(line.result.n for line in lines)))


def _flipped(found: Releases) -> list[str]:
    """How many cases changed sides, and which first."""
    if not found.column:
        return []
    told = []
    for flips, what in (
        (found.worse, "have a significant error that they had not before"),
        (found.better, "have lost their significant errors"),
    ):
        first = f", first {flips[0].key[0]} ({flips[0].key[1]})" if flips else ""
        told.append(f"{len(flips)} of {found.cases} cases {what}{first}")
    return told


def _stop(broken: Sequence[str]) -> None:
    """End with code 1 and the reasons if a limit of `--fail-if` is broken."""
    from radgauge.core.errors import BrokenLimit

    if broken:
        raise BrokenLimit("; ".join(broken))


def _percent_notes(lines: Sequence[SystemComparison]) -> list[str]:
    """Where a percentage says nothing, or little."""
    undefined = [line.column for line in lines if line.improvement and math.isnan(line.improvement.value)]
    notes = [f"{column}: no percentage of a baseline that is 0 or below" for column in dict.fromkeys(undefined)]
    for column in dict.fromkeys(line.column for line in lines if line.improvement):
        if column.startswith(("radcliq_v1", "radcliq_radeval")):
            notes.append(
                f"{column} is in standardised units with an arbitrary zero: its percentages say little; "
                "radcliq:version=v0 and preprint count errors"
            )
    return notes


def print_comparisons(out: Terminal, lines: Sequence[SystemComparison]) -> None:
    """A table per pair of systems; the columns that a narrow terminal has no room for are left out."""
    for system, baseline in dict.fromkeys((line.system, line.baseline) for line in lines):
        chosen = [line for line in lines if (line.system, line.baseline) == (system, baseline)]
        out.print(f"{system} against {baseline}")
        out.show(comparison_table(chosen), comparison_table(chosen, short=True))
        out.print()


def comparison_table(lines: Sequence[SystemComparison], *, short: bool = False) -> Table:
    """One pair of systems, one row per output."""
    from radgauge.analysis.compare import ALPHA
    from radgauge.core.wording import arrow, number
    from radgauge.render.tables import P_COLUMN, Cell, Column, table

    rows: list[Row] = []
    for line in lines:
        found, effect = line.result, line.result.effect
        shares = (effect.wins, effect.ties, effect.losses) if effect.n else ()
        counts = [round(share * effect.n) for share in shares]
        row: list[Value] = [
            *(line.column, arrow(found.higher_is_better), found.value_a, found.value_b, found.difference.value),
            interval(found.difference.low, found.difference.high),
            Cell(line.p_text, strong=found.p_shown < ALPHA and not line.negligible, value=found.p_shown),
        ]
        rows.append(row if short else [*row, number(effect.d_z, 2), "/".join(map(str, counts)) or "–", found.n])
    level = f"{100 * lines[0].result.difference.level:.3g} %"
    return table(
        *("metric", "", "value", "other", Column("difference", format=signed), f"{level} interval"),
        P_COLUMN,
        *([] if short else [Column(name, right=True) for name in ("d", "better/equal/worse", "n")]),
        rows=rows,
    )
