"""`radgauge report`: scores (and judgments) as one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.files import sha256_of

if TYPE_CHECKING:
    from radgauge.cases import Case
    from radgauge.io.judgments import Judgments
    from radgauge.reading import Readings
    from radgauge.scores import Results


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(report_cli)


def report_cli(
    source: Annotated[
        Path | None,
        typer.Argument(help="A scores file of `radgauge score`, or reports, which are scored first."),
    ] = None,
    reports: Annotated[
        list[Path] | None,
        typer.Option("--reports", help="The reports behind a scores file, to show the texts."),
    ] = None,
    judgments: Annotated[
        Path | None,
        typer.Option("--judgments", "-j", help="ReXVal or RadEvalX folder, RadPref JSON, or a long table."),
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="Form of the judgments, as in `align`.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", help="Heading of the page.")] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", "-b", help="Compare the others with it.")] = None,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", help="Also the summary as FILE.csv, .tex or .md; KEY=FILE; or a folder for all."),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Also every plot, into this folder, as SVG and PNG.")
    ] = None,
    most_cases: Annotated[
        int, typer.Option("--cases", min=1, help="Cases in the browser at most; more are sampled by study.")
    ] = 2400,
    correction: Annotated[str, typer.Option("--correction", help="'holm', 'bh' or 'none'.")] = "holm",
    permutations: Annotated[int, typer.Option("--permutations", min=1)] = 10_000,
    metric: o.MetricNames = None,
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    encoding: o.Encoding = None,
    missing: o.Missing = "error",
    split: o.Split = None,
    images: o.Images = None,
    images_outside: o.ImagesOutside = False,
    models: o.Models = "embedded",
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    quiet: o.Quiet = False,
) -> None:
    """One self-contained HTML file: summary, tests, plots, and every case with its explanation.

    Examples:

      radgauge report reports.csv -o report.html

      radgauge report scores.jsonl --reports reports.csv --judgments radpref.json --table tables/ --plots plots/
    """
    from radgauge.cli.render import console
    from radgauge.io.judgments import read_judgments
    from radgauge.report import build_report, write_plots, write_report, write_tables

    reading = o.open_readings(no_cache=no_cache, quiet=quiet)
    judged = read_judgments(judgments, format=format) if judgments is not None else None
    how = {
        "references": references,
        "candidates": candidates,
        "candidate_columns": candidate_columns,
        "columns": columns,
        "section": section,
        "encoding": encoding,
        "missing": missing,
        "split": split,
        "images": images,
        "images_outside": images_outside,
    }
    results, cases, header = _scored(source, reports, judged, how, metric, models, reading)
    header = {**header, "judgments": _hashes(judgments)}
    heading = title or _heading(judged)
    report = build_report(
        results,
        cases=cases,
        judgments=judged,
        header=header,
        title=heading,
        baseline=baseline,
        reading=reading,
        level=level,
        resamples=resamples,
        permutations=permutations,
        correction=correction,  # type: ignore[arg-type]  # checked there
        most_cases=most_cases,
        seed=seed,
    )
    written = [path for wanted in table or [] for path in write_tables(report.tables, wanted)]
    why = ""
    if plots is not None:
        drawn, why = write_plots(plots, report)
        written += drawn
    size = write_report(output, report)
    typer.echo(str(output))
    if quiet:
        return
    err = console(stderr=True)
    err.print(f"wrote {output} ({size / 1e6:.2f} MB): open it in a browser, it needs nothing else", soft_wrap=True)
    if written:
        err.print(f"and {len(written)} tables and plots, first {written[0]}", soft_wrap=True)
    for note in (*([why] if why else []), *report.notes, *o.profile_note(results)):
        err.print(f"note: {note}", soft_wrap=True)


def _scored(
    source: Path | None,
    reports: list[Path] | None,
    judged: Judgments | None,
    how: dict[str, Any],
    metric: list[str] | None,
    models: str,
    reading: Readings,
) -> tuple[Results, tuple[Case, ...], dict[str, Any]]:
    from radgauge.io.scores_file import is_scores_file, read_scores
    from radgauge.scores import score

    if source is not None and source.is_file() and is_scores_file(source):
        results, header = read_scores(source)
        if reports or how["references"] is not None:
            return results, o.read_case_file(reports, **how).cases, header
        return results, (), header
    if source is None and not reports and how["references"] is None and judged is not None:
        return score(judged.cases, metric or None, reading=reading, models=models), judged.cases, {}
    case_file = o.read_case_file([*([source] if source is not None else []), *(reports or [])] or None, **how)
    results = score(case_file.cases, metric or None, reading=reading, models=models)
    return results, case_file.cases, {"input": case_file.provenance.as_dict()}


def _hashes(place: Path | None) -> list[dict[str, str]]:
    """Name and hash of the judgments' files."""
    files = [] if place is None else sorted(place.glob("*.csv")) if place.is_dir() else [place]
    return [{"name": path.name, "sha256": sha256_of(path)} for path in files]


def _heading(judged: Judgments | None) -> str:
    return "Radiology report evaluation" if judged is None else f"{judged.name}: metrics against radiologists"
