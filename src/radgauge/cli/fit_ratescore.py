"""`radgauge fit ratescore`: type weights and penalty of RaTEScore from human judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.files import make_folder, write_file


def register(app: typer.Typer) -> None:
    """Add the subject."""
    app.command("ratescore")(fit_ratescore_cli)


def fit_ratescore_cli(
    judgments: Annotated[
        Path, typer.Option("--judgments", "-j", help="Ratings or error counts with texts, in any known form.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the weights.")] = Path(
        "ratescore_weights.json"
    ),
    format: Annotated[str | None, typer.Option("--format", help="Form of the judgments, if not obvious.")] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="rating, total or significant errors.")
    ] = None,
    objective: Annotated[str, typer.Option("--objective", help="pearson or kendall_b.")] = "kendall_b",
    trials: Annotated[int, typer.Option("--trials", help="Matrices tried in all.")] = 500,
    test_share: Annotated[float, typer.Option("--test-share", help="Share of studies kept apart.")] = 0.2,
    study: Annotated[
        Path | None, typer.Option("--study", help="SQLite file of the search; the same command goes on from it.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", help="HTML page with the heat map.")] = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="Settings to learn for: ratescore:penalty=paper.")
    ] = "ratescore",
    models: o.Models = "embedded",
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn type weights and penalty by TPE, and say what they gain on studies not seen.

    Example:

      radgauge fit ratescore -j radpref.json -o mine.json --study search.sqlite --page fit.html

      radgauge score reports.csv -m ratescore:weights=mine.json
    """
    from radgauge.cli.progress import bars
    from radgauge.cli.render import console, interval, number, plain_table
    from radgauge.errors import UsageError
    from radgauge.io.judgments import read_judgments
    from radgauge.metrics.ratescore import RateScore
    from radgauge.registry import load
    from radgauge.training.fit_ratescore import fit_ratescore
    from radgauge.training.fit_ratescore_page import fit_page

    chosen = load(metric, models=models)
    if not isinstance(chosen, RateScore):
        raise UsageError(f"--metric must be ratescore with settings, got {metric!r}")
    for file in (output, page):
        if file is not None:
            make_folder(file.parent)  # before the search, not behind it
    keeps(lambda: study is not None and study.exists())
    found = fit_ratescore(
        read_judgments(judgments, format=format),
        metric=chosen,
        target=target,
        objective=objective,  # type: ignore[arg-type]  # checked there
        trials=trials,
        test_share=test_share,
        seed=seed,
        storage=study,
        level=level,
        resamples=max(resamples, 1),
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
        progress=None if quiet else bars(),
    )
    write_file(output, found.affinity.to_json() + "\n")
    if page is not None:
        write_file(page, fit_page(found))
    if as_json:
        typer.echo(o.to_json({"fit": found.lines, "trials": found.trials, "weights": str(output), "seed": seed}))
        return
    out = console()
    table = plain_table("weights", "searched on", "kept apart", "interval", "gain", "interval", right=(1, 2, 4))
    for line in found.lines:
        learned = line.name == "learned"
        table.add_row(
            line.name,
            number(line.train),
            number(line.test),
            interval(line.low, line.high),
            "" if learned else number(line.gain),
            "" if learned else interval(line.gain_low, line.gain_high),
        )
    out.print(table)
    if not quiet:
        err = console(stderr=True)
        counts = f"{found.train_cases} reports searched on, {found.test_cases} kept apart, {found.trials} trials"
        err.print(f"note: {found.objective} with the mean rater's {found.target}; {counts}", soft_wrap=True)
        err.print(f"note: use them with -m ratescore:weights={output}", soft_wrap=True)
