"""`radgauge layman agree`: metrics on raw and lay texts against people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.layman_output import Output, about, lay_metric, show

if TYPE_CHECKING:
    pass


def agree_cli(
    ratings: Annotated[
        Path,
        typer.Argument(help="A table of id, rater, rating (a proportion), and system if there are several."),
    ],
    reports: Annotated[
        list[Path] | None,
        typer.Option("--reports", help="The rated reports, unless the ratings hold reference and candidate."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metrics beside lay semantics; bleu and rouge if none."),
    ] = None,
    scale: Annotated[float, typer.Option("--scale", help="What stands for everything matched: 1 or 100.")] = 1.0,
    bins: Annotated[int, typer.Option("--bins", help="Equal bins of the proportions for Cohen's kappa.")] = 5,
    models: o.Models = "embedded",
    sentences: Annotated[
        str, typer.Option("--sentences", help="A sentence set of your own: two tab-separated columns.")
    ] = "",
    encoder: Annotated[
        str, typer.Option("--encoder", help="findings, static, or folder or id of a transformer.")
    ] = "findings",
    columns: o.Columns = None,
    section: o.Section = None,
    output: Output = None,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Do metrics agree with people, on raw and on lay text? Correlations and Cohen's kappa (table 3).

    Examples:

      radgauge layman agree ratings.csv --reports reports.csv

      radgauge layman agree ratings.csv -m bleu -m rouge -m meteor -m radgraph -o table3.md
    """
    from radgauge.io.judgments import read_judgments
    from radgauge.plain_language.studies import lay_agreement
    from radgauge.report.lay_tables import agreement_tables

    file = o.read_case_file(reports, columns=columns, section=section) if reports else None
    found = lay_agreement(
        read_judgments(ratings, format="table"),
        metric or ("bleu", "rouge"),
        cases=file.cases if file else None,
        layman=lay_metric(encoder, sentences=sentences),
        scale=scale,
        bins=bins,
        models=models,
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
        level=level,
        resamples=max(resamples, 1),
        seed=seed,
    )
    notes = [
        f"{found.cases} reports, {len(found.raters)} annotators; positive = agreement; gain = lay less raw; "
        "intervals resample studies",
        *found.notes,
    ]
    tables = {table.key: table for table in agreement_tables(found)}
    show(
        tables,
        title="Agreement with annotators",
        notes=notes,
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=about(found.signatures, seed, file, ratings=ratings),
    )
