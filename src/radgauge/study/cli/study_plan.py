"""`radgauge study plan`: how large a study must be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.study.cli.study import study

if TYPE_CHECKING:
    from radgauge.study.plan import Plan


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
    studies: Annotated[str, "Numbers of studies to try."] = "25,50,100,200,400",
    raters: Annotated[str, "Numbers of raters to try."] = "1,2,3,5",
    systems: Annotated[str | None, "The two systems of a difference: A,B."] = None,
    scores: Annotated[Path | None, "Scores file of the judged reports, for a correlation."] = None,
    column: Annotated[str | None, "Output of the metric in --scores; the first without it."] = None,
    level: o.Level = 0.95,
    simulations: Annotated[int, typer.Option("--simulations", min=50, help="Simulated studies per size.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the simulation.")] = 0,
) -> None:
    """How many studies and raters for an interval of a wanted width, by simulation from an earlier study.

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
    planned = plan_study(
        read_judgments(earlier),
        target=target,
        statistic=statistic,
        studies=_numbers(studies, "--studies"),
        raters=_numbers(raters, "--raters"),
        width=width,
        systems=(pair[0], pair[1]) if pair else None,
        scores=read_scores(scores) if scores is not None else None,
        column=column,
        level=level,
        simulations=simulations,
        seed=seed,
    )
    if say.as_json:
        o.print_json(planned)
        return
    _print(planned)
    say.notes(*planned.notes)


def _numbers(text: str, option: str) -> list[int]:
    from radgauge.core.errors import UsageError

    parts = o.names(text) or []
    if not parts or not all(part.isdecimal() for part in parts):
        raise UsageError(f"{option} takes whole numbers with commas between them, got {text!r}")
    return [int(part) for part in parts]


def _print(plan: Plan) -> None:
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    out = console()
    people = list(dict.fromkeys(line.raters for line in plan.lines))
    width = {(line.studies, line.raters): line.width for line in plan.lines}
    heads = [Column(f"{n} rater{'s' if n > 1 else ''}", right=True) for n in people]
    sizes = list(dict.fromkeys(line.studies for line in plan.lines))
    rows = [(size, *(width[size, n] for n in people)) for size in sizes]
    out.say(f"width of the interval of the {plan.statistic} of {plan.target}:")
    out.show(table(Column("studies", right=True), *heads, rows=rows))
    parts = plan.components
    out.say(
        f"variance between cases {parts.cases:.3f}, between raters {parts.raters:.3f}, rest {parts.residual:.3f}; "
        f"mean {parts.mean:.3f}"
    )
    if plan.width is None:
        return
    for n, size in plan.enough.items():
        enough = f"{size} studies" if size is not None else f"more than {max(sizes)} studies, or no number at all"
        out.say(f"{n} rater{'s' if n > 1 else ''}: {enough} for a width of {plan.width:g}")
