"""`radgauge agree`: do the metrics agree with radiologists?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.analysis.agreement import agree
from radgauge.analysis.failure_modes import failure_modes as find_modes
from radgauge.analysis.strata import MIN_CASES, split_judgments
from radgauge.analysis.tables import agreement_tables, failure_table, pairs_table
from radgauge.cli import options as o
from radgauge.core.choices import DependentMethod, Equality, Kind, Scope, TieRule
from radgauge.core.errors import UsageError
from radgauge.core.wording import interval, number
from radgauge.io.scores_file import read_scores
from radgauge.render.tables import table

if TYPE_CHECKING:
    from radgauge.analysis.agreement import Alignment
    from radgauge.analysis.failure_modes import FailureModes


@dataclass(frozen=True, slots=True)
class AgreementSettings:
    """Coefficients, ties, and the test of two metrics."""

    kind: Annotated[Kind, "Which coefficient."] = "kendall_b"
    scope: Annotated[Scope, "Over all cases, or the mean over candidate groups or studies."] = "pooled"
    per_rater: Annotated[bool, "Also against every rater alone."] = False
    more_errors_than: Annotated[float | None, "Only cases with more errors than this."] = None
    test: Annotated[DependentMethod, "The test of --pairs and --mine."] = "williams1959"
    one_sided: Annotated[bool, "That test asks only whether the better metric is better."] = False
    ties: Annotated[TieRule, "What ties in preferences are worth."] = "half"
    equality: Annotated[Equality, "Tie values up to the metric's precision, or compare digit by digit."] = (
        "precision"
    )


@o.command(o.app, "agree")
def agree_cli(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SCORES] JUDGMENTS",
            help="Scores of the judged reports (without them they are scored now) and the judgments: ReXVal or "
            "RadEvalX folder, RadPref JSON, a study, or a table.",
        ),
    ],
    judged: o.Judging,
    say: o.Output,
    images: Annotated[
        Path | None,
        "Images of the judged studies: a folder with files named after them, or a table with id and image.",
    ] = None,
    target: Annotated[
        list[str] | None, "-t", "total, significant, rating or a category (omission, 2). Repeatable."
    ] = None,
    mine: Annotated[str | None, "Test this output against each other one."] = None,
    pairs: Annotated[bool, "Test every two metrics: is one better?"] = False,
    failure_modes: Annotated[bool, "Which group makes more errors of a category than another?"] = False,
    by: Annotated[str | None, "Also for each value of this column: modality, anatomy, system."] = None,
    settings: Annotated[AgreementSettings, "Coefficients and tests"] = AgreementSettings(),
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    join: o.Join = None,
    sampling: o.Tests = o.Testing(method="percentile"),
    every: o.AllColumns = False,
    output: o.Outputs = None,
) -> None:
    """Correlate metrics with radiologists.

    Examples:

      radgauge agree radpref.json

      radgauge agree scores.jsonl rexval-dataset/ --settings scope=group --target significant

      radgauge agree scores.jsonl radpref.json --join green.csv:higher

      radgauge agree radpref.json -m mine.py:score -m bleu --mine score -o table.tex

      radgauge agree rexval-dataset/ --images mimic-cxr-jpg/files -m vlscore --models published
    """
    if len(files) > 2 or (len(files) == 2 and not o.is_scores(files[0])):
        raise UsageError(
            "give scores and judgments in this order, or judgments alone: radgauge agree S.jsonl J.csv"
        )
    judgments = o.judgments_of(files[-1], ratings, images=images)
    scored = read_scores(files[0]) if len(files) == 2 else None
    results = o.joined(scored or judged.scores(judgments.cases, say.readings(), say=say), join)
    test = f"{settings.test}, one-sided" if settings.one_sided else settings.test
    aligned = partial(
        agree,
        results,
        targets=target or None,
        kind=settings.kind,
        scope=settings.scope,
        per_rater=settings.per_rater,
        all_columns=every,
        more_errors_than=settings.more_errors_than,
        resampling=sampling.at_least(1),
        ties=settings.ties,
        equality=settings.equality,
        correction=sampling.correction,
        pairs=pairs,
        test=settings.test,
        one_sided=settings.one_sided,
        mine=mine,
    )
    agreement = aligned(judgments)
    strata = split_judgments(judgments, results, by=by) if by is not None else None
    parts = {value: aligned(part) for value, part in strata.parts.items()} if strata is not None else {}
    counted = [name for name in target or () if name != "rating"]
    modes = find_modes(judgments, targets=counted or None) if failure_modes else ()
    left_out = {"too_few": strata.too_few, "unknown": strata.unknown} if strata is not None else {}
    data = {
        "alignment": agreement,
        "failure_modes": {mode.target: mode for mode in modes},
        **({"by": {"column": by, "parts": parts, **left_out}} if strata is not None else {}),
        "seed": sampling.seed,
    }
    blocks = _pair_blocks(agreement, settings.kind, test, sampling.correction) if agreement.pairs else []
    if not (agreement.pairs and (output or o.program().format not in ("table", "json"))):
        blocks = [*_agreement_blocks(agreement, settings.kind), *blocks]  # a file holds what was asked for
        for value, part in parts.items():
            blocks += [f"\n{by} = {value}: {part.cases} cases\n", *agreement_tables(part, settings.kind)]
        for mode in modes:
            blocks += _failure_blocks(mode)
    say.show(data, *blocks, files=output)
    unit = "studies" if sampling.method != "yu2022" else "single cases (as in the paper; too narrow)"
    say.notes(f"{agreement.cases} cases; positive = agreement; intervals resample {unit}")
    if strata is not None and strata.too_few:
        say.notes(
            f"under {MIN_CASES} cases, not shown: {', '.join(f'{k} ({n})' for k, n in strata.too_few.items())}"
        )
    if strata is not None and strata.unknown:
        say.notes(f"{strata.unknown} cases have no value in the column {by}")
    say.notes(*o.few_cases_note(len({study for study, _ in results.keys_of_cases}), "studies"))
    say.notes(*agreement.notes, *o.profile_note(results))


def _agreement_blocks(alignment: Alignment, kind: str) -> list[o.Block]:
    """Correlations by target, the radiologists' own agreement below them; then the ranking."""
    blocks: list[o.Block] = []
    for block in agreement_tables(alignment, kind):
        blocks += [block, ""]
    for ceiling in alignment.ceilings:
        shares = ", ".join(
            f"{agreement.name} {number(agreement.interval.value)} "
            f"{interval(agreement.interval.low, agreement.interval.high)}"
            for agreement in ceiling.agreements
        )
        blocks.append(f"radiologists among themselves on {ceiling.target}: {shares}")
    if alignment.ranking is not None:
        rows = [
            (judge.cluster, judge.name, judge.correlation.interval.value) for judge in alignment.ranking.judges
        ]
        blocks.append(f"\nranking on {alignment.lines[0].target}; one cluster = cannot be told apart:")
        blocks.append(table("cluster", "metric", kind, rows=rows, key="ranking"))
    return blocks


def _pair_blocks(alignment: Alignment, kind: str, test: str, correction: str) -> list[o.Block]:
    """Every two metrics: the paired bootstrap, and the test of the literature with what it rests on."""
    used = alignment.pairs[0].tests[0].kind if alignment.pairs[0].tests else "spearman"
    return [
        f"\nis one metric better on {alignment.lines[0].target}? Difference of {kind}, paired bootstrap by study; "
        f"{test} on {used} r, which it takes for Pearson's of independent cases; p corrected by {correction}:",
        pairs_table(alignment, test),
    ]


def _failure_blocks(modes: FailureModes) -> list[o.Block]:
    left_out = f", {modes.not_judged} not judged in full and left out" if modes.not_judged else ""
    made = failure_table(modes)
    return [
        f"\nfailure modes, {modes.target} errors of {modes.studies} studies{left_out} "
        "(Benjamini-Hochberg, 1 %; the paired test by study is the better one):",
        made if made.rows else "none",
    ]
