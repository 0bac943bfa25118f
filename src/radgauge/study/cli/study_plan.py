"""`radgauge study plan`: how large a study must be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.study.cli.study import study

if TYPE_CHECKING:
    from radgauge.study.plan import Plan


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Sizes to try, and repetitions."""

    studies: Annotated[tuple[int, ...], "Numbers of studies to try: 25+50+100."] = (25, 50, 100, 200, 400)
    raters: Annotated[tuple[int, ...], "Numbers of raters to try: 1+2+3."] = (1, 2, 3, 5)
    simulations: Annotated[int, "Simulated studies per size."] = 1000
    level: Annotated[float, "Coverage of the intervals."] = 0.95
    seed: int = 0


@o.command(study, "plan")
def plan_cli(
    earlier: Annotated[Path, typer.Argument(help="An earlier study, or judgments in any form of `agree`.")],
    say: o.Output,
    target: Annotated[str | None, "-t", "total, significant, rating or a category."] = None,
    statistic: Annotated[
        Literal["mean", "difference", "icc", "alpha", "correlation"],
        "What the interval is of.",
    ] = "mean",
    width: Annotated[
        float | None, typer.Option("--width", "-w", min=0, help="The width of the interval that is wanted.")
    ] = None,
    systems: Annotated[str | None, "The two systems of a difference: A,B."] = None,
    scores: Annotated[Path | None, "Scores file of the judged reports, for a correlation."] = None,
    column: Annotated[str | None, "Output of the metric in --scores; the first without it."] = None,
    simulation: Annotated[SimulationSettings, "The simulation"] = SimulationSettings(),
) -> None:
    """Estimate the number of studies and raters for an interval width, by simulation from an earlier study.

    Examples:

      radgauge study plan pilot.sqlite --target significant --width 0.5

      radgauge study plan radpref.json --target rating --statistic difference --width 0.4
    """
    from radgauge.core.errors import UsageError
    from radgauge.io.judgments import read_judgments
    from radgauge.io.scores_file import read_scores
    from radgauge.study.plan import plan_study

    pair = o.names(systems)
    if pair is not None and len(pair) != 2:
        raise UsageError("--systems takes two names with a comma between them")
    found = plan_study(
        read_judgments(earlier),
        target=target,
        statistic=statistic,
        studies=simulation.studies,
        raters=simulation.raters,
        width=width,
        systems=(pair[0], pair[1]) if pair else None,
        scores=read_scores(scores) if scores is not None else None,
        column=column,
        level=simulation.level,
        simulations=simulation.simulations,
        seed=simulation.seed,
    )
    say.show(found, *_blocks(found))
    say.notes(*found.notes)


def _blocks(found: Plan) -> list[o.Block]:
    from radgauge.render.tables import Column, table

    people = list(dict.fromkeys(line.raters for line in found.lines))
    width = {(line.studies, line.raters): line.width for line in found.lines}
    heads = [Column(f"{n} rater{'s' if n > 1 else ''}", right=True) for n in people]
    sizes = list(dict.fromkeys(line.studies for line in found.lines))
    rows = [(size, *(width[size, n] for n in people)) for size in sizes]
    about = f"width of the interval of the {found.statistic} of {found.target}:"
    parts = found.components
    blocks: list[o.Block] = [
        about,
        table(Column("studies", right=True), *heads, rows=rows),
        f"variance between cases {parts.cases:.3f}, between raters {parts.raters:.3f}, rest {parts.residual:.3f}; "
        f"mean {parts.mean:.3f}",
    ]
    if found.width is None:
        return blocks
    for n, size in found.enough.items():
        enough = f"{size} studies" if size is not None else f"more than {max(sizes)} studies, or no number at all"
        blocks.append(f"{n} rater{'s' if n > 1 else ''}: {enough} for a width of {found.width:g}")
    return blocks
