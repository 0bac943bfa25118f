"""`radgauge triples`: do metrics tell a rewrite from an opposite?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("triples")(triples_cli)


def triples_cli(
    path: Annotated[
        Path | None,
        typer.Argument(help="Table with original, rewrite, opposite, or RaTE-Eval; without it, the bundled set."),
    ] = None,
    metric: o.MetricNames = None,
    models: o.Models = "embedded",
    level: o.Level = 0.95,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """How often the same in other words scores above its opposite (RaTE-Eval's third task).

    Examples:

      radgauge triples

      radgauge triples RaTE-Eval/ -m ratescore -m rouge --models published
    """
    from radgauge.cli.render import console, interval, number, plain_table
    from radgauge.io.judgments.rate_eval import read_triples, triple_accuracy
    from radgauge.registry import DEFAULTS
    from radgauge.samples import sample_rewrites_path

    triples = read_triples(sample_rewrites_path() if path is None else path)
    reading = o.open_readings(no_cache=no_cache, quiet=quiet)
    found = triple_accuracy(triples, metric or list(DEFAULTS), reading=reading, models=models, level=level)
    found.sort(key=lambda each: -each.accuracy)
    if as_json:
        typer.echo(o.to_json(found))
        return
    out = console()
    table = plain_table("metric", "accuracy", "interval", "ties", "not judged", right=(1, 3, 4))
    for each in found:
        bounds = interval(each.low, each.high)
        table.add_row(each.column, number(each.accuracy), bounds, str(each.ties), str(each.not_judged))
    out.print(table)
    if not quiet:
        console(stderr=True).print(f"note: {len(triples)} triples; ties and what cannot be judged count as wrong")
