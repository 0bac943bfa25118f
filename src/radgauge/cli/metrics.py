"""`radgauge metrics` and `radgauge config`: metrics with their settings, and which defaults are in force."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.config import FILE, read_config
from radgauge.core.registry import describe_metric, describe_metrics
from radgauge.core.wording import arrow
from radgauge.render.tables import Column, table

if TYPE_CHECKING:
    from radgauge.core.registry import MetricInfo


@o.command(o.app, "metrics")
def ls_cli(
    metric: Annotated[str | None, typer.Argument(help="One metric, to see its settings.")] = None,
    say: o.Output = o.Output(),
) -> None:
    """List the metrics, or show one with its settings.

    Examples:

      radgauge metrics

      radgauge metrics ratescore
    """
    if metric is not None:
        one = describe_metric(metric)
        say.show(one, *_metric_blocks(one))
        return
    lines = describe_metrics()
    rows = [
        (line.name, arrow(line.higher_is_better), _range(line), _needs(line), line.extra or "–", line.summary)
        for line in lines
    ]
    heads = ("metric", "", "range", "needs", "extra", Column("what it measures", fold=True))
    say.show(lines, table(*heads, rows=rows))


def _metric_blocks(one: MetricInfo) -> list[o.Block]:
    """Return what a metric measures, its outputs, and its settings with the values that they take."""
    outputs = [(column, arrow(one.directions[column])) for column in one.columns]
    blocks: list[o.Block] = [
        f"{one.name}: {one.summary}",
        f"range {_range(one)}, {'higher' if one.higher_is_better else 'lower'} is better",
        f"needs {_needs(one)}" + (f"; pip install 'radgauge[{one.extra}]'" if one.extra else "") + "\n",
        table("output", "", rows=outputs),
    ]
    settings = [(choice.name, choice.default, choice.values) for choice in one.choices]
    if not settings:
        return [*blocks, "\nno settings"]
    made = table("setting", "default", Column("values", fold=True), rows=settings)
    return [*blocks, "", made, f"\nuse: -m {one.name}:{settings[0][0]}={settings[0][1]}"]


@o.command(o.app, "config")
def config_cli(say: o.Output) -> None:
    """Show the settings of radgauge.toml that are in force.

    Examples:

      radgauge config
    """
    config = read_config()
    lines = [
        {"table": name, "key": key, "value": value, "file": str(config.origins[name, key])}
        for name, values in config.tables.items()
        for key, value in values.items()
    ]
    if not lines:
        say.tell(f"no settings: there is no {FILE} here or in your configuration folder (docs/config.md)")
    rows = [tuple(map(str, line.values())) for line in lines]
    say.show({"settings": lines}, *([table("table", "key", "value", "file", rows=rows)] if rows else []))


def _needs(line: MetricInfo) -> str:
    return ", ".join(sorted(line.needs)) or "candidate only"


def _range(line: MetricInfo) -> str:
    low, high = (f"{'-' if bound < 0 else ''}∞" if math.isinf(bound) else f"{bound:g}" for bound in line.range)
    return f"{low} to {high}"
