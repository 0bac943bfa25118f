"""`radgauge lay`: plain language: write it, score reports through it, test metrics with it."""

from __future__ import annotations

from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.lay.cli import layman_build as layman_build  # adds its subjects
from radgauge.lay.cli import layman_leaflets as layman_leaflets
from radgauge.lay.cli.options import LayText, layman, why_no_meteor


@o.command(layman, "score")
def score_cli(
    source: o.JudgedReports,
    say: o.Output,
    lay: Annotated[LayText, "Lay replacement"] = LayText(),
    meteor: Annotated[
        bool | None,
        typer.Option("--meteor/--no-meteor", help="METEOR too; by default if Java and the extra are there."),
    ] = None,
    sampling: o.Sampling = o.Resampling(),
    output: o.Outputs = None,
) -> None:
    """Score reports through lay replacement: semantics, and BLEU, ROUGE and METEOR before and after.

    Example:

      radgauge lay score reports.csv
    """
    from radgauge.analysis.summary import summarise
    from radgauge.analysis.tables import not_judged_notes, summary_tables
    from radgauge.core.errors import ModelError
    from radgauge.run.score import score

    file = source.cases()
    missing = "" if meteor is False else why_no_meteor()
    if meteor and missing:
        raise ModelError(missing)
    metric = lay.metric(threshold=lay.threshold, outside=lay.outside, meteor=meteor is not False and not missing)
    results = score(file.cases, [metric], reading=say.readings())
    lines = summarise(results, resampling=sampling)
    data = {"summary": lines, "seed": sampling.seed, "input": file.provenance.as_dict()}
    say.show(data, summary_tables(lines), files=output)
    say.notes(*file.provenance.warnings, *not_judged_notes(lines), *o.profile_note(results))
    if missing:
        say.notes(f"METEOR is left out: {missing} (--no-meteor silences this)")
