"""`radgauge train tables` and `radgauge train sample-study`: how a trained metric compares, and whom to ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from radgauge.studies.checkpoint_ranks import CorrelationTable


def register(app: typer.Typer) -> None:
    """Add the two commands."""
    app.command("tables")(tables_cli)
    app.command("sample-study")(sample_study_cli)


def tables_cli(
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="Folder of `train pairs`; its test pairs are used.")
    ] = None,
    systems: Annotated[
        list[Path] | None, typer.Option("--systems", help="Reports of real systems (as for `score`). Repeatable.")
    ] = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    checkpoint: Annotated[
        list[str] | None, typer.Option("--checkpoint", help="'embedded' or a checkpoint folder. Repeatable.")
    ] = None,
    metric: o.MetricNames = None,
    models: o.Models = "embedded",
    limit: Annotated[
        int, typer.Option("--limit", min=2, help="Test pairs used at most, drawn at random.")
    ] = 20_000,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Spearman correlation of checkpoints with established metrics, on test pairs and on real systems.

    Example:

      radgauge train tables --pairs pairs/ --systems outputs.csv --candidate-columns model_a,model_b
    """
    from radgauge.errors import UsageError
    from radgauge.io.case_files import read_cases
    from radgauge.io.tables.columns import parse_columns
    from radgauge.studies.checkpoint_ranks import METRICS, cases_of_pairs, correlate_checkpoints

    if pairs is None and not systems:
        raise UsageError("nothing to correlate on: give --pairs FOLDER, --systems FILE, or both")
    groups: dict[str, Any] = {}
    if pairs is not None:
        groups["test pairs"] = cases_of_pairs(pairs / "test.csv", limit=limit, seed=seed)
    names = [part.strip() for part in candidate_columns.split(",")] if candidate_columns else None
    for file in systems or []:
        cases = read_cases(
            file, candidate_columns=names, columns=parse_columns(columns) if columns else None
        ).cases
        for system in dict.fromkeys(case.system for case in cases):
            groups[f"{system} ({file.stem})"] = [case for case in cases if case.system == system]
    table = correlate_checkpoints(
        groups,
        checkpoint or ["embedded"],
        metrics=metric or METRICS,
        models=models,
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
    )
    if as_json:
        typer.echo(o.to_json(table))
        return
    _show_correlations(table)
    if not quiet:
        for name, why in table.absent.items():
            typer.echo(f"note: {name} is left out: {why}", err=True)


def _show_correlations(table: CorrelationTable) -> None:
    from radgauge.cli.render import console, number, plain_table

    shown = plain_table(
        "reports", "cases", "checkpoint", *table.columns, right=(1, *range(3, 3 + len(table.columns)))
    )
    for row in table.rows:
        shown.add_row(row.group, str(row.cases), row.checkpoint, *(number(value) for value in row.spearman))
    console().print(shown)


def sample_study_cli(
    reports: Annotated[Path, typer.Argument(help="Reports of one or more systems, as for `score`.")],
    terms: Annotated[Path, typer.Option("--terms", help="The corpus with terms and impressions, joined on id.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV of the sampled cases.")],
    system: Annotated[str | None, typer.Option("--system", help="Which system, if the file has several.")] = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    per_stratum: Annotated[int, typer.Option("--per-stratum", min=1)] = 150,
    abnormal: Annotated[int, typer.Option("--abnormal", min=0)] = 80,
    normal: Annotated[int, typer.Option("--normal", min=0)] = 20,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Draw reports for a reader study: three RadCliQ strata, filters for abnormal reports (appendix A).

    Example:

      radgauge train sample-study outputs.csv --terms indiana_reports.csv --system m2tr --output study.csv
    """
    from radgauge.io.case_files import read_cases
    from radgauge.io.tables.columns import parse_columns
    from radgauge.studies.study_sample import sample_study, write_sample
    from radgauge.training.term_reports import read_term_studies

    names = [part.strip() for part in candidate_columns.split(",")] if candidate_columns else None
    cases = read_cases(reports, candidate_columns=names, columns=parse_columns(columns) if columns else None).cases
    sample = sample_study(
        cases,
        read_term_studies(terms),
        system=system,
        per_stratum=per_stratum,
        abnormal=abnormal,
        normal=normal,
        seed=seed,
    )
    write_sample(output, sample)
    if as_json:
        typer.echo(o.to_json(sample.counts))
        return
    for name, value in sample.counts.items():
        typer.echo(f"{name}: {value}")
