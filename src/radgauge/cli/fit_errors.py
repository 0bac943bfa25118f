"""`radgauge fit errors`: tier and category weights of the errors metric from ratings or counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.files import write_file


def register(app: typer.Typer) -> None:
    """Add the subject."""
    app.command("errors")(fit_errors_cli)


def fit_errors_cli(
    judgments: Annotated[
        Path, typer.Option("--judgments", "-j", help="ReXVal or RadEvalX folder, RadPref JSON, or a long table.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the weights.")] = Path(
        "errors_weights.json"
    ),
    format: Annotated[str | None, typer.Option("--format", help="rexval, radpref, radevalx or table.")] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="rating, total or significant errors.")
    ] = None,
    start: Annotated[
        str, typer.Option("--start", help="Weights to stay near: default, prior, or a JSON file.")
    ] = "default",
    strength: Annotated[
        float, typer.Option("--strength", help="Pull towards the start; large = no learning.")
    ] = 0.2,
    folds: Annotated[
        int | None, typer.Option("--folds", help="Parts for cross-validation; without it, leave one study out.")
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="Concepts of your own (TOML), merged over the built-in ones.")
    ] = None,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn how much findings and errors count, and say how well that holds on studies not seen.

    Example:

      radgauge fit errors --judgments radpref.json -o mine.json

      radgauge score reports.csv -m errors:weights=mine.json
    """
    from radgauge.cli.render import console, number, plain_table
    from radgauge.findings.weights import load_weights
    from radgauge.io.judgments import read_judgments
    from radgauge.metrics.errors import Errors
    from radgauge.training.fit_errors import fit_errors

    found = fit_errors(
        read_judgments(judgments, format=format),
        target=target,
        start=load_weights(start),
        strength=strength,
        folds=folds,
        metric=Errors(lexicon=str(lexicon) if lexicon is not None else ""),
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
    )
    write_file(output, found.weights.as_json())
    if as_json:
        typer.echo(o.to_json(found))
        return
    out = console()
    table = plain_table("agreement with the mean rater", f"tau-b, {found.target}", right=(1,))
    table.add_row("starting weights", number(found.start))
    table.add_row("learned, studies not seen", number(found.cross_validated))
    table.add_row("learned, same reports (flattering)", number(found.fitted))
    out.print(table)
    if not quiet:
        err = console(stderr=True)
        err.print(f"note: {found.cases} reports of {found.studies} studies; weights written to {output}")
        err.print(f"note: use them with -m errors:weights={output}")
