"""`radgauge study estimate`: each system's mean from few judged reports and scores on all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.study.cli.study import study

if TYPE_CHECKING:
    from radgauge.study.estimate import Estimate


@o.command(study, "estimate")
def estimate_cli(
    judged: Annotated[Path, typer.Argument(help="The study, or judgments in any form of `agree`.")],
    say: o.Output,
    scores: Annotated[Path, "Scores file of all reports from which the judged ones were drawn."],
    column: Annotated[
        str | None, "-c", "Output of a metric in --scores; needed if it has several metrics."
    ] = None,
    target: Annotated[str | None, "-t", "total, significant, rating or a category."] = None,
    baseline: Annotated[str | None, "Estimate differences from this system too."] = None,
    width: Annotated[
        float | None, typer.Option("--width", "-w", min=0, help="How many labels would give this width?")
    ] = None,
    simple_random: Annotated[
        bool, "State that the judged studies are a simple random draw of those in --scores."
    ] = False,
) -> None:
    """Estimate each system's mean rating or error count from few judged reports and scores on all of them.

    The interval is valid whatever the metric is worth; a better one makes it narrower. The judged slice must have
    been drawn at random: `study new` keeps the probabilities.

    Examples:

      radgauge study estimate study.sqlite --scores scores.jsonl -c errors -t significant

      radgauge study estimate ratings.csv --scores scores.jsonl --simple-random --baseline ours --width 0.4
    """
    from radgauge.io.judgments import read_judgments
    from radgauge.io.scores_file import read_scores
    from radgauge.study.estimate import estimate_means

    estimate = estimate_means(
        read_judgments(judged),
        read_scores(scores),
        target=target,
        column=column,
        simple_random=simple_random,
        baseline=baseline,
        width=width,
    )
    say.show(estimate, *_blocks(estimate))
    say.notes(*estimate.notes)


def _blocks(estimate: Estimate) -> list[o.Block]:
    from radgauge.core.wording import interval, share
    from radgauge.render.tables import Column, table

    heads = [
        Column(name, right=True) for name in ("judged", "mean", "interval", "labels alone", "narrower", "tau")
    ]
    if estimate.width is not None:
        heads.append(Column(f"labels for {estimate.width:g}", right=True))
    rows: list[list[str | float | None]] = []
    for line in estimate.lines:
        both, alone = line.estimate, line.labels_alone
        cells: list[str | float | None] = [
            *(line.name, both.n_labels, both.value, interval(both.low, both.high)),
            interval(alone.low, alone.high),
            share(1 - both.width / alone.width, 0) if alone.width > 0 else "",
            line.tau,
        ]
        if estimate.width is not None:
            cells.append("not reachable" if line.labels_needed is None else line.labels_needed)
        rows.append(cells)
    about = f"mean {estimate.target} over {estimate.n_studies} studies, from judged ones and {estimate.column}:"
    return [about, table("system", *heads, rows=rows)]
