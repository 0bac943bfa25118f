"""`radgauge compare` and `radgauge diff`: is one system, or its newer version, better, and could it be chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.analysis.answers import answers
from radgauge.analysis.compare import compare
from radgauge.analysis.releases import Limit, broken_limits, compare_releases, unanswered_limits
from radgauge.analysis.tables import comparison_tables
from radgauge.cli import options as o
from radgauge.cli.copies import here_or_name
from radgauge.core.choices import TestName
from radgauge.core.errors import BrokenLimit, UsageError

if TYPE_CHECKING:
    from radgauge.analysis.answers import Answers
    from radgauge.analysis.compare import SystemComparison
    from radgauge.analysis.releases import Releases


@o.command(o.app, "compare")
def compare_cli(
    scores: o.ScoresFile,
    say: o.Output,
    baseline: Annotated[str | None, "-b", "System to compare the others with; else the best one."] = None,
    systems: Annotated[str | None, "Only these, comma-separated."] = None,
    all_pairs: Annotated[bool, "Every pair of systems."] = False,
    test: Annotated[TestName, "Which paired test."] = "permutation",
    percent: Annotated[bool, "Also the improvement in percent of the baseline's value."] = False,
    join: o.Join = None,
    sampling: o.Tests = o.Testing(),
    every: o.AllColumns = False,
    output: o.Outputs = None,
) -> None:
    """Compare systems: difference, interval, paired test.

    Examples:

      radgauge compare scores.jsonl --baseline template -o table.tex

      radgauge compare scores.jsonl --all-pairs --json
    """
    if o.is_scores(here_or_name(baseline)):
        raise UsageError(f"{baseline} is a scores file: radgauge diff NEW OLD compares each system with its past")
    results = o.joined(o.read_scores_of(scores, "compare"), join)
    lines = compare(
        results,
        baseline=baseline,
        systems=o.names(systems),
        all_pairs=all_pairs,
        all_columns=every,
        test=test,
        correction=sampling.correction,
        permutations=sampling.permutations,
        percent=percent,
        resampling=sampling.at_least(1),
    )
    replies = answers(
        results, list(dict.fromkeys(name for line in lines for name in (line.baseline, line.system)))
    )
    _show(lines, replies, {}, sampling, say, output, test=test)
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
    sampling: o.Tests = o.Testing(),
    every: o.AllColumns = False,
    output: o.Outputs = None,
) -> None:
    """Compare each system with its older scores; a gate for CI.

    Examples:

      radgauge diff new.jsonl old.jsonl

      radgauge diff new.jsonl old.jsonl --fail-if "errors_significant > +0.05" --allow-missing 3
    """
    limits = [Limit.parse(text) for text in fail_if or []]
    changes = compare_releases(
        o.read_scores_of(new, "diff"),
        o.read_scores_of(old, "diff"),
        correction=sampling.correction,
        permutations=sampling.permutations,
        resampling=sampling.at_least(1),
        all_columns=every,
        columns=[limit.column for limit in limits],
    )
    lines, results = changes.comparisons, changes.scores
    broken = broken_limits(lines, limits)
    gate = bool(limits) or allow_missing is not None
    if gate:
        broken = [*unanswered_limits(changes, limits, allowed=allow_missing or 0), *broken]
    _show(lines, changes.answers, {"broken_limits": broken} if gate else {}, sampling, say, output)
    say.notes(*changes.notes, *_flipped(changes), *o.profile_note(results))
    if broken:
        raise BrokenLimit("; ".join(broken))
    if gate:
        checked = [*(limit.text for limit in limits), f"no more than {allow_missing or 0} studies missing"]
        say.tell(f"no limit is broken: {'; '.join(checked)}")


def _show(
    lines: Sequence[SystemComparison],
    replies: Sequence[Answers],
    more: dict[str, object],
    sampling: o.Testing,
    say: o.Output,
    output: Sequence[Path] | None,
    *,
    test: str = "permutation",
) -> None:
    """Show who answered what, a table per pair, and what its columns mean."""
    data = {
        "comparisons": lines,
        "answers": replies,
        "seed": sampling.seed,
        "correction": sampling.correction,
        **more,
    }
    blocks: list[o.Block] = (
        [reply.sentence() for reply in replies] if any(reply.missing for reply in replies) else []
    )
    for tables in comparison_tables(lines):
        blocks += [tables[0].title, tables, ""]
    say.show(data, *blocks, files=output)
    tests = f"paired {test} test{'s' if len(lines) != 1 else ''}"
    say.tell(
        f"{len(lines)} {tests}, p values corrected by {sampling.correction} over pairs of systems, output by "
        "output; * marks p < 0.05 after correction, ≤ that no permutation was as extreme; "
        "d: Cohen's d of the paired differences, positive = better; better/equal/worse counts studies"
    )
    if sampling.method == "yu2022":
        say.notes("yu2022 is the interval of a simulated mean, far too narrow; differences have theirs by auto")
    if lines:
        say.notes(*o.few_cases_note(min(line.result.n for line in lines)))


def _flipped(changes: Releases) -> list[str]:
    """Return how many cases changed sides, and which first."""
    if not changes.column:
        return []
    sentences = []
    for flips, what in (
        (changes.worse, "have a significant error that they had not before"),
        (changes.better, "have lost their significant errors"),
    ):
        first = f", first {flips[0].key[0]} ({flips[0].key[1]})" if flips else ""
        sentences.append(f"{len(flips)} of {changes.cases} cases {what}{first}")
    return sentences


def _percent_notes(lines: Sequence[SystemComparison]) -> list[str]:
    """Say where a percentage means nothing, or little."""
    undefined = [line.column for line in lines if line.improvement and math.isnan(line.improvement.value)]
    notes = [f"{column}: no percentage of a baseline that is 0 or below" for column in dict.fromkeys(undefined)]
    for column in dict.fromkeys(line.column for line in lines if line.improvement):
        if column.startswith(("radcliq_v1", "radcliq_radeval")):
            notes.append(
                f"{column} is in standardised units with an arbitrary zero: its percentages say little; "
                "radcliq:version=v0 and preprint count errors"
            )
    return notes
