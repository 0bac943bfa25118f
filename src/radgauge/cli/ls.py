"""`radgauge ls`: every metric, with direction, range, needs and extra."""

from __future__ import annotations

import typer

from radgauge.cli import options as o


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("ls")(ls_cli)


def ls_cli(as_json: o.AsJson = False) -> None:
    """List the metrics: direction, range, what each needs, one line of description."""
    from radgauge.cli.render import arrow, console, plain_table
    from radgauge.registry import describe_metrics

    lines = describe_metrics()
    if as_json:
        typer.echo(o.to_json(lines))
        return
    table = plain_table("metric", "", "range", "needs", "extra", "what it measures", fold=(5,))
    for line in lines:
        table.add_row(
            line.name,
            arrow(line.higher_is_better),
            f"{_bound(line.range[0])} to {_bound(line.range[1])}",
            ", ".join(sorted(line.needs)) or "candidate only",
            line.extra or "–",
            line.summary,
        )
    console().print(table)


def _bound(value: float) -> str:
    return {float("inf"): "∞", float("-inf"): "-∞"}.get(value, f"{value:g}")
