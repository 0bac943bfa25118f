"""`radgauge metrics`: every metric, or one with all its settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.wording import arrow

if TYPE_CHECKING:
    from radgauge.core.registry import MetricInfo
    from radgauge.render.terminal import Terminal


@o.command(o.app, "metrics")
def ls_cli(
    metric: Annotated[str | None, typer.Argument(help="One metric, to see its settings.")] = None,
    as_json: o.AsJson = False,
) -> None:
    """List the metrics: direction, range, what each needs, one line of description; or one with its settings.

    Examples:

      radgauge metrics

      radgauge metrics ratescore
    """
    from radgauge.core.registry import describe_metric, describe_metrics
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    if metric is not None:
        one = describe_metric(metric)
        if as_json:
            o.print_json(one)
        else:
            print_metric(console(), one)
        return
    lines = describe_metrics()
    if as_json:
        o.print_json(lines)
        return
    rows = [
        (line.name, arrow(line.higher_is_better), _range(line), _needs(line), line.extra or "–", line.summary)
        for line in lines
    ]
    console().show(
        table("metric", "", "range", "needs", "extra", Column("what it measures", fold=True), rows=rows)
    )


def print_metric(out: Terminal, one: MetricInfo) -> None:
    """One metric: what it measures, its outputs, and its settings with the values that they take."""
    from radgauge.render.tables import Column, table

    out.say(f"{one.name}: {one.summary}")
    out.say(f"range {_range(one)}, {'higher' if one.higher_is_better else 'lower'} is better")
    out.say(f"needs {_needs(one)}" + (f"; pip install 'radgauge[{one.extra}]'" if one.extra else ""))
    out.print()
    rows = [(column, arrow(one.directions[column])) for column in one.columns]
    out.show(table("output", "", rows=rows))
    out.print()
    settings = [(each.name, each.default, each.values) for each in one.choices]
    if not settings:
        out.say("no settings")
        return
    out.show(table("setting", "default", Column("values", fold=True), rows=settings))
    out.say(f"\nuse: -m {one.name}:{settings[0][0]}={settings[0][1]}")


def _needs(line: MetricInfo) -> str:
    return ", ".join(sorted(line.needs)) or "candidate only"


def _range(line: MetricInfo) -> str:
    low, high = (f"{'-' if bound < 0 else ''}∞" if math.isinf(bound) else f"{bound:g}" for bound in line.range)
    return f"{low} to {high}"
