"""`radgauge probe triples`: do metrics tell a rewrite from an opposite?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.probe import probe


@o.command(probe, "triples")
def triples_cli(
    judged: o.Judged,
    say: o.ReadingOutput,
    path: Annotated[
        Path | None,
        typer.Argument(help="Table with original, rewrite, opposite, or RaTE-Eval; without it, the bundled set."),
    ] = None,
    level: o.Level = 0.95,
) -> None:
    """How often the same in other words scores above its opposite (RaTE-Eval's third task).

    Examples:

      radgauge probe triples

      radgauge probe triples RaTE-Eval/ -m ratescore -m rouge --models published
    """
    from radgauge.analysis.triple_accuracy import triple_accuracy
    from radgauge.core.registry import DEFAULTS
    from radgauge.core.wording import interval
    from radgauge.io.judgments.rate_eval import read_triples
    from radgauge.render.tables import table
    from radgauge.render.terminal import console
    from radgauge.samples import sample_rewrites_path

    triples = read_triples(sample_rewrites_path() if path is None else path)
    metrics = judged.metric or list(DEFAULTS)
    found = triple_accuracy(triples, metrics, reading=say.readings(), models=judged.agreed(metrics), level=level)
    found.sort(key=lambda each: -each.accuracy)
    if say.as_json:
        o.print_json(found)
        return
    rows = [
        (
            *(each.column, each.accuracy, interval(each.low, each.high), each.same, each.other),
            *(each.ties, each.not_judged),
        )
        for each in found
    ]
    console().show(
        table("metric", "accuracy", "interval", "same meaning", "other meaning", "ties", "not judged", rows=rows)
    )
    say.notes(f"{len(triples)} triples; ties and what cannot be judged count as wrong")
