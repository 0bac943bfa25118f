"""`radgauge report`: scores (and judgments) as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.core.choices import Correction
from radgauge.core.files import check_folder, sha256_of

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.core.readings import Readings
    from radgauge.core.scores import Results
    from radgauge.io.judgments import Judgments
    from radgauge.report import PaperStyle


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """How the table for a paper looks."""

    table_systems: Annotated[
        Literal["rows", "columns"],
        typer.Option("--table-systems", help="Systems of the paper table: rows or columns."),
    ] = "rows"
    table_name: Annotated[
        list[str] | None,
        typer.Option("--table-name", help="Display name in it, for a system or a column: my_model=Ours."),
    ] = None
    table_scale: Annotated[float, typer.Option("--table-scale", help="Multiply its values, 100 for percent.")] = (
        1.0
    )
    table_decimals: Annotated[int, typer.Option("--table-decimals", min=0, max=10, help="Its decimals.")] = 3
    table_intervals: Annotated[
        bool, typer.Option("--table-intervals/--no-table-intervals", help="Its values with intervals.")
    ] = True
    table_wide: Annotated[bool, typer.Option("--table-wide", help="Over both columns of a LaTeX page.")] = False

    def record(self) -> PaperStyle:
        """The same for the library."""
        from radgauge.core.errors import UsageError
        from radgauge.report import PaperStyle

        names = {}
        for given in self.table_name or []:
            code, sign, name = given.partition("=")
            if not sign or not code or not name:
                raise UsageError(f"--table-name wants NAME=DISPLAY, got {given!r}")
            names[code] = name
        return PaperStyle(
            self.table_systems, names, self.table_scale, self.table_decimals, self.table_intervals, self.table_wide
        )


@o.command(o.app, "report")
def report_cli(
    people: o.JudgmentSource,
    form: o.CaseForm,
    judged: o.Judging,
    constant: o.Baselines,
    others: o.Foreign,
    sampling: o.Sampling,
    style: PaperTable,
    say: o.ReadingOutput,
    source: Annotated[
        Path | None,
        typer.Argument(help="A scores file of `radgauge score`, or reports, which are scored first."),
    ] = None,
    reports: Annotated[
        list[Path] | None,
        typer.Option("--reports", help="The reports behind a scores file, to show the texts."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The HTML file, or FILE.pdf if a browser is installed.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", help="Heading of the page.")] = None,
    baseline: o.Baseline = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            help="Also the summary as FILE.csv, .tex or .md; KEY=FILE (paper=t.tex); or a folder for all.",
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Also every plot, into this folder, as SVG and PNG.")
    ] = None,
    most_cases: Annotated[
        int, typer.Option("--cases", min=1, help="Cases in the browser at most; more are sampled by study.")
    ] = 2400,
    picture_size: Annotated[
        int,
        typer.Option(
            "--picture-size",
            min=0,
            max=1024,
            help="Pixels of the longer side of the studies' pictures in the page; 0 = no pictures.",
        ),
    ] = 384,
    appendix: Annotated[
        int, typer.Option("--appendix", min=0, help="Worst cases with marked text at the end when printed.")
    ] = 10,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst", min=1, help="Write this many cases with the most significant errors: -o FILE.xlsx or .csv."
        ),
    ] = None,
    correction: Annotated[Correction, typer.Option("--correction", help="For many tests.")] = "holm",
    permutations: o.Permutations = 10_000,
) -> None:
    """One self-contained HTML file: summary, tests, plots, and every case with its explanation.

    Examples:

      radgauge report reports.csv -o report.html

      radgauge report scores.jsonl --reports reports.csv --judgments radpref.json --table tables/ --plots plots/

      radgauge report reports.xlsx --worst 50 -o cases.xlsx

      radgauge report new.jsonl --reports new.csv --baseline old.jsonl -o report.pdf --appendix 20
    """
    from radgauge.cli.copies import here_or_name, local
    from radgauge.core.errors import UsageError
    from radgauge.core.storage import shown_path
    from radgauge.io.scores_file import read_scores
    from radgauge.render.tables import to_records, write_tables
    from radgauge.report import build_report, write_pdf, write_plots, write_report, write_words

    check_folder(output)
    source, baseline = local(source), here_or_name(baseline)
    reports = [local(each) for each in reports] if reports else None
    reading = say.readings()
    alone = source is None and not reports and form.reference_file is None  # then the judged reports are shown
    judgments = people.read(images=form.images if alone else None) if people.judgments is not None else None
    score = partial(judged.told, say=say)
    results, cases, header = _scored(source, reports, judgments, form, judged, score, constant, reading)
    results = others.joined(results)
    before = read_scores(Path(baseline)) if baseline is not None and o.is_scores(baseline) else None
    if output.suffix.lower() in (".xlsx", ".csv") or (worst is not None and output.suffix.lower() != ".html"):
        from radgauge.analysis.leading import leading_judge
        from radgauge.report.appendix import worst_cases, write_worst

        texts = cases or (judgments.cases if judgments is not None else ())
        listed = worst_cases(results, leading_judge(results), cases=texts, most=worst or 50, reading=reading)
        if not listed:
            raise UsageError("the list of cases needs their texts: give the reports with --reports")
        write_worst(output, listed)
        echo(shown_path(output))
        say.tell(f"wrote {shown_path(output)}: {len(listed)} cases, most clinically significant errors first")
        return
    report = build_report(
        results,
        cases=cases,
        judgments=judgments,
        header={**header, "judgments": _hashes(people.judgments)},
        title=title or _heading(judgments),
        baseline=None if before is not None else baseline,
        before=before,
        appendix=worst or appendix,
        paper=style.record(),
        reading=reading,
        resampling=sampling.record(),
        permutations=permutations,
        correction=correction,
        most_cases=most_cases,
        picture_size=picture_size,
    )
    written = [path for wanted in table or [] for path in write_tables(report.tables, wanted)]
    written += write_words(report, table or [])
    why = ""
    if plots is not None:
        drawn, why = write_plots(plots, report)
        written += drawn
    pdf = output.suffix.lower() == ".pdf"
    size = write_pdf(output, report) if pdf else write_report(output, report)
    if say.as_json:
        o.print_json(
            {"page": shown_path(output), "tables": {key: to_records(each) for key, each in report.tables.items()}}
        )
    else:
        echo(shown_path(output))
    then = "" if pdf else ": open it in a browser, it needs nothing else"
    say.tell(f"wrote {shown_path(output)} ({size / 1e6:.2f} MB){then}")
    if written:
        say.tell(f"and {len(written)} tables and plots, first {written[0]}")
    say.notes(*([why] if why else []), *report.notes, *o.profile_note(results))


def _scored(
    source: Path | None,
    reports: list[Path] | None,
    judgments: Judgments | None,
    form: o.CaseForm,
    judged: o.Judged,
    score: Callable[[Sequence[Case], Readings], Results],
    constant: o.Baselines,
    reading: Readings,
) -> tuple[Results, tuple[Case, ...], dict[str, Any]]:
    from radgauge.core.errors import UsageError
    from radgauge.io.scores_file import is_scores_file, read_scores

    if source is not None and source.exists() and is_scores_file(source):
        if constant.baselines:
            raise UsageError(f"{source.name} holds scores; baselines need the reports themselves")
        results = read_scores(source)
        header = dict(results.header)
        if reports or form.reference_file is not None:
            return results, form.read(reports).cases, header
        return results, (), header
    if source is None and not reports and form.reference_file is None and judgments is not None:
        return score(judgments.cases, reading), judgments.cases, {}
    file = form.read([*([source] if source is not None else []), *(reports or [])] or None)
    judged.check_references(file)
    cases = tuple(constant.added(file.cases))
    return score(cases, reading), cases, {"input": file.provenance.as_dict()}


def _hashes(place: Path | None) -> list[dict[str, str]]:
    """Name and hash of the judgments' files."""
    files = [] if place is None else sorted(place.glob("*.csv")) if place.is_dir() else [place]
    return [{"name": path.name, "sha256": sha256_of(path)} for path in files]


def _heading(judgments: Judgments | None) -> str:
    if judgments is None:
        return "Radiology report evaluation"
    return f"{judgments.name}: metrics against radiologists"
