"""`radgauge fit radcliq`: a composite of any metrics that predicts radiologists' error counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from rich.console import Console

    from radgauge.training.fit_radcliq import RadcliqFit


def register(app: typer.Typer) -> None:
    """Add the subject."""
    app.command("radcliq")(fit_radcliq_cli)


def fit_radcliq_cli(
    judgments: Annotated[
        Path, typer.Option("--judgments", "-j", help="ReXVal or RadEvalX folder, RadPref JSON, or a long table.")
    ],
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="A scores file of the judged reports; without it they are scored now."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the composite.")] = Path(
        "radcliq.json"
    ),
    columns: Annotated[
        str | None, typer.Option("--columns", help="Outputs to combine, comma-separated; else every headline.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="total, significant or an error category.")
    ] = "total",
    ridge: Annotated[float, typer.Option("--ridge", help="Penalty on squared coefficients; 0 = none.")] = 0.0,
    folds: Annotated[
        int | None, typer.Option("--folds", help="Parts for cross-validation; without it, leave one study out.")
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="rexval, radpref, radevalx or table.")] = None,
    metric: o.MetricNames = None,
    models: o.Models = "embedded",
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a RadCliQ of your own, and say how well it holds on studies not seen.

    Example:

      radgauge fit radcliq --judgments rexval-dataset/ -m radgraph -m bleu:variant=cxr -o mine.json

      radgauge score reports.csv -m mine.json
    """
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.io.judgments import read_judgments
    from radgauge.io.scores_file import read_scores
    from radgauge.scores import score
    from radgauge.training.fit_radcliq import check_radcliq_path, fit_radcliq, write_radcliq

    if scores is not None and metric:
        raise UsageError("--scores are scores already; choose among them with --columns instead of --metric")
    check_radcliq_path(output)
    judged = read_judgments(judgments, format=format)
    if scores is not None:
        results, _ = read_scores(scores)
    else:
        parts = metric or ["radgraph", "bertscore", "chexbert_similarity", "bleu:variant=cxr"]
        reading = o.open_readings(no_cache=no_cache, quiet=quiet)
        results = score(judged.cases, parts, reading=reading, models=models)
    found = fit_radcliq(
        results,
        judged,
        columns=[name.strip() for name in columns.split(",")] if columns else None,
        target=target,
        ridge=ridge,
        folds=folds,
        level=level,
        resamples=max(resamples, 1),
        seed=seed,
    )
    write_radcliq(output, found)
    if as_json:
        typer.echo(o.to_json(found))
        return
    print_fit(console(), found)
    if not quiet:
        err = console(stderr=True)
        left = f"; {found.left_out} judged reports lack a score or a count" if found.left_out else ""
        err.print(f"note: {found.cases} reports of {found.studies} studies{left}", soft_wrap=True)
        err.print(f"note: written to {output}; use it with -m {output}", soft_wrap=True)
        for note in o.profile_note(results):
            err.print(f"note: {note}", soft_wrap=True)


def print_fit(out: Console, found: RadcliqFit) -> None:
    """Coefficients with intervals, then how well the model holds."""
    from radgauge.cli.render import interval, number, plain_table

    level = f"{100 * found.intercept.level:.3g} % interval"
    table = plain_table(f"errors ({found.target})", "coefficient", level, "mean", "deviation", right=(1, 3, 4))
    for term in found.terms:
        value = term.coefficient
        bounds = interval(value.low, value.high)
        table.add_row(term.column, number(value.value), bounds, number(term.mean), number(term.scale))
    table.add_row("intercept", number(found.intercept.value), interval(found.intercept.low, found.intercept.high))
    out.print(table)
    out.print()
    table = plain_table("agreement with the mean rater", "R²", "tau-b", level, right=(1, 2))
    rows = (
        ("studies not seen", found.r2_cross_validated, found.tau_cross_validated),
        ("same reports (flattering)", found.r2, found.tau),
    )
    for name, r2, tau in rows:
        table.add_row(name, number(r2), number(tau.value), interval(tau.low, tau.high))
    out.print(table)
