"""`radgauge report`: scores (and judgments) as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.cli.copies import here_or_name, local
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import check_folder, sha256_of
from radgauge.core.storage import shown_path
from radgauge.render.tables import FORMATS, to_records, write_tables
from radgauge.report import PaperStyle, build_report, write_pdf, write_plots, write_report, write_words

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.core.readings import Readings
    from radgauge.core.scores import Results
    from radgauge.io.judgments import Judgments


@o.command(o.app, "report")
def report_cli(
    say: o.Output,
    source: Annotated[
        Path | None,
        typer.Argument(help="Scores of `radgauge score`, or reports, which are scored with the defaults first."),
    ] = None,
    reports: Annotated[
        list[Path] | None, "The reports behind the scores, if they are no longer where they were. Repeatable."
    ] = None,
    metric: Annotated[list[str] | None, "-m", "Metrics for reports that are scored first. Repeatable."] = None,
    columns: o.Columns = None,
    input: Annotated[o.CaseSettings, "How reports that are scored first are read"] = o.CaseSettings(),
    output: Annotated[
        list[Path] | None,
        "-o",
        "FILE.html (report.html if none); FILE.pdf if a browser is installed; the summary as .csv, .md or .tex, "
        "or another table as KEY=FILE (paper=t.tex); a folder for every table and plot. Repeatable.",
    ] = None,
    title: Annotated[str | None, "Heading of the page."] = None,
    baseline: Annotated[str | None, "-b", "System to compare the others with, or older scores (a file)."] = None,
    judgments: Annotated[
        Path | None, "-j", "Ratings: ReXVal or RadEvalX folder, RadPref JSON, a study, or a table."
    ] = None,
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    join: o.Join = None,
    cases: Annotated[int, typer.Option("--cases", min=1, help="Cases in the browser at most.")] = 2400,
    image_size: Annotated[
        int, typer.Option("--image-size", min=0, max=1024, help="Pixels of the longer side of images; 0 = none.")
    ] = 384,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            min=0,
            help="Cases with the most significant errors: in -o FILE.xlsx or .csv (50), or when printed (10).",
        ),
    ] = None,
    paper: Annotated[PaperStyle, "The table for a paper"] = PaperStyle(),
    sampling: o.Tests = o.Testing(),
) -> None:
    """Write one HTML file: summary, tests, plots, every case.

    Examples:

      radgauge report reports.csv

      radgauge report scores.jsonl --judgments radpref.json -o report.html -o report.pdf -o paper=table.tex

      radgauge report reports.xlsx --worst 50 -o cases.xlsx

      radgauge report new.jsonl --baseline old.jsonl -o report.html -o tables/
    """
    pages, tables, folders = _sorted(output)
    for page in pages:
        check_folder(page)
    source, baseline = local(source), here_or_name(baseline)
    reading = say.readings()
    judged = None if judgments is None else o.judgments_of(judgments, ratings)
    judging = o.configured(o.Judging, **({"metric": metric} if metric else {}))
    results, shown, header, notes = _scored(source, reports or [], judged, judging, reading, say, columns, input)
    results = o.joined(results, join)
    before = o.read_scores_of(Path(baseline), "report") if baseline is not None and o.is_scores(baseline) else None
    lists = [path for path in pages if path.suffix.lower() not in (".html", ".pdf")]
    if worst is not None:
        lists += [Path(target) for target in tables if target.endswith(".csv") and "=" not in target]
    if lists:
        _write_worst(
            lists, results, shown or (judged.cases if judged is not None else ()), worst or 50, reading, say
        )
        if len(lists) == len(output or ()):
            return
        pages = [path for path in pages if path not in lists]
        tables = [target for target in tables if Path(target) not in lists]
    report = build_report(
        results,
        cases=shown,
        judgments=judged,
        header={**header, "judgments": _hashes(judgments)},
        title=title or _heading(judged),
        baseline=None if before is not None else baseline,
        before=before,
        appendix=10 if worst is None else worst,
        paper=paper,
        reading=reading,
        resampling=sampling,
        permutations=sampling.permutations,
        correction=sampling.correction,
        most_cases=cases,
        picture_size=image_size,
    )
    written = [path for target in tables for path in write_tables(report.tables, target)]
    why = ""
    for folder in folders:
        written += write_tables(report.tables, str(folder))
        drawn, why = write_plots(folder, report)
        written += [*drawn, *write_words(report, [folder])]
    sizes = {
        page: write_pdf(page, report) if page.suffix.lower() == ".pdf" else write_report(page, report)
        for page in pages
    }
    records = {key: to_records(table) for key, table in report.tables.items()}
    lines = [shown_path(page) for page in pages]
    say.show(
        {"page": lines[0] if lines else None, "pages": lines, "tables": records},
        *(lines if o.program().format == "table" else [report.tables["summary"]]),
    )
    for page, size in sizes.items():
        then = "" if page.suffix.lower() == ".pdf" else ": open it in a browser, it needs nothing else"
        say.tell(f"wrote {shown_path(page)} ({size / 1e6:.2f} MB){then}")
    if written:
        say.tell(f"and {len(written)} tables and plots, first {written[0]}")
    say.notes(*notes, *([why] if why else []), *report.notes, *o.profile_note(results))


def _write_worst(
    files: list[Path], results: Results, cases: Sequence[Case], max_cases: int, reading: Readings, say: o.Output
) -> None:
    """Write the cases with the most significant errors, for people who go through them."""
    from radgauge.analysis.leading import leading_judge
    from radgauge.report.appendix import worst_cases, write_worst

    listed = worst_cases(results, leading_judge(results), cases=cases, max_cases=max_cases, reading=reading)
    if not listed:
        raise UsageError("the list of cases needs their texts: give the reports with --reports")
    for file in files:
        write_worst(file, listed)
        typer.echo(shown_path(file))
        say.tell(f"wrote {shown_path(file)}: {len(listed)} cases, most clinically significant errors first")


def _sorted(output: list[Path] | None) -> tuple[list[Path], list[str], list[Path]]:
    """Return pages, files of tables and folders."""
    pages, tables, folders = [], [], []
    for path in output or [Path("report.html")]:
        suffix = path.suffix.lower()
        if suffix in (".html", ".pdf", ".xlsx"):
            pages.append(path)
        elif suffix in FORMATS:
            tables.append(str(path))
        elif not suffix:
            folders.append(path)
        else:
            raise UsageError(
                f"a report is written as .html, .pdf, .xlsx, .csv, .md, .tex or into a folder, got {path.name!r}"
            )
    return pages, tables, folders


def _scored(
    source: Path | None,
    moved: list[Path],
    judgments: Judgments | None,
    judging: o.Judging,
    reading: Readings,
    say: o.Output,
    columns: str | None,
    settings: o.CaseSettings,
) -> tuple[Results, tuple[Case, ...], dict[str, Any], list[str]]:
    """Return scores, the cases behind them as far as they can be read, the header, and notes."""
    if source is None:
        if judgments is None:
            raise UsageError("no reports given: name scores, or reports, or --judgments")
        return judging.scores(judgments.cases, reading, say=say), judgments.cases, {}, []
    if o.is_scores(source):
        results = o.read_scores_of(source, "report")
        header = dict(results.header)
        if judgments is not None and not moved and not header.get("input"):
            return results, (), header, []
        try:
            return (
                results,
                o.reports_behind(results, source, moved=[local(path) for path in moved]).cases,
                header,
                [],
            )
        except (InputError, FileNotFoundError) as error:
            if moved:
                raise
            reason = f"{error.filename} is not there" if isinstance(error, FileNotFoundError) else str(error)
            return results, (), header, [f"the page shows no texts: {reason}; --reports names the judged file"]
    keywords: dict[str, Any] = {"columns": columns} if columns else {}
    if settings != o.CaseSettings():
        keywords["input"] = settings
    chosen = o.configured(o.CaseSource, reports=[source], **keywords)
    file = chosen.cases()
    judging.check_references(file)
    results = judging.scores(file.cases, reading, say=say, settings=chosen.input)
    return results, file.cases, {"input": file.provenance.as_dict()}, []


def _hashes(folder: Path | None) -> list[dict[str, str]]:
    """Return name and hash of the judgments' files."""
    files = [] if folder is None else sorted(folder.glob("*.csv")) if folder.is_dir() else [folder]
    return [{"name": path.name, "sha256": sha256_of(path)} for path in files]


def _heading(judgments: Judgments | None) -> str:
    if judgments is None:
        return "Radiology report evaluation"
    return f"{judgments.name}: metrics against radiologists"
