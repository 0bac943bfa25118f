"""`radgauge explain`: why one report got its score: what was read in both texts, and what differs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.cli.reading_table import claim_rows, claim_table, coverage_lines
from radgauge.core.wording import number
from radgauge.render.tables import Cell, Column, Table, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from radgauge.core.cases import Case
    from radgauge.core.metric import Explanation, Note, Span
    from radgauge.reader import ReportReading

STYLES = {
    "missing": "bold red",
    "added": "bold magenta",
    "contradicted": "bold red",
    "changed": "bold yellow",
    "matched": "green",
}
WORDS = {"missing": "missed", "contradicted": "denied", "matched": "agreed", "info": "note"}

MAX_VALUES = 6
"""Outputs of a metric in the last line."""


@o.command(o.app, "explain")
def explain_cli(
    reports: Annotated[
        list[Path],
        typer.Argument(
            help="A reference and a candidate as text files; or scores, or a table of reports, and --id."
        ),
    ],
    form: o.ReportForm,
    study: Annotated[str | None, typer.Option("--id", help="Study of the table.")] = None,
    system: Annotated[str | None, "Its system, if the table has several."] = None,
    metric: Annotated[str, "-m", "Who explains, with settings."] = "errors",
    models: o.Models = "embedded",
    say: o.Output = o.Output(),
) -> None:
    """Show why a report got its score.

    Examples:

      radgauge explain reference.txt candidate.txt

      radgauge explain scores.jsonl --id 17 --system ours -m ratescore
    """
    from radgauge.reader import read_report
    from radgauge.run.explain import explain

    o.confirmed(models, [metric])
    case = _case(reports, form, study=study, system=system)
    explained = explain(case, metric, models=models)
    number = next((note.data["reference"] for note in explained.notes if "reference" in note.data), 0)
    texts = {"candidate": explained.candidate}
    if explained.references:
        texts = {"reference": explained.references[number], **texts}
    readings = {name: read_report(text) for name, text in texts.items()}
    if o.program().format == "table":
        _show(explained, readings)
    else:
        say.show(as_data(explained, readings), _reasons(explained))


def _case(reports: Sequence[Path], form: o.ReportForm, *, study: str | None, system: str | None) -> Case:
    """The case of two text files, or of one study and system of a table."""
    from radgauge.core.cases import Case
    from radgauge.core.errors import InputError, UsageError
    from radgauge.io.case_files import read_cases

    if study is None:
        if len(reports) != 2:
            raise UsageError(
                f"give a reference and a candidate, or a table and --id; got {len(reports)} "
                f"file{'s' * (len(reports) != 1)} (`radgauge read` shows a single report)"
            )
        reference, candidate = map(o.report_text, reports)
        for name, text in (("reference", reference), ("candidate", candidate)):
            if not text.strip():
                raise InputError(f"the {name} is empty: there is nothing to explain")
        return Case("1", candidate, (reference,))
    if len(reports) != 1:
        raise UsageError(f"--id names a study of one table, got {len(reports)} files")
    if o.is_scores(reports[0]):
        table = o.reports_behind(o.read_scores_of(reports[0], "explain"), reports[0])
    else:
        table = read_cases(
            reports[0], columns=form.roles, section=form.section, encoding=form.input.encoding, missing="nan"
        )
    cases = [case for case in table.cases if case.id == study and system in (None, case.system)]
    if not cases:
        description = f"id {study!r}" + (f" of system {system!r}" if system else "")
        raise InputError(f"{reports[0].name}: no report has {description}; the first id is {table.cases[0].id!r}")
    if len(cases) > 1:
        raise UsageError(
            f"id {study!r} has several systems; name one with --system: {', '.join(case.system for case in cases)}"
        )
    return cases[0]


def as_data(explained: Explanation, readings: dict[str, ReportReading]) -> dict[str, Any]:
    """The explanation as plain dictionaries: both texts, what was read in each, values and notes."""
    return {
        **{name: reading.text for name, reading in readings.items()},
        "read": {name: [row._asdict() for row in claim_rows(reading)] for name, reading in readings.items()},
        "unread": {
            name: [reading.text[word.start : word.end] for word in reading.unread]
            for name, reading in readings.items()
        },
        "values": dict(explained.values),
        "notes": [note.as_data() for note in explained.notes],
    }


def _show(explained: Explanation, readings: dict[str, ReportReading]) -> None:
    """Print both texts with colours and tables, then the reasons and the values."""
    from rich.text import Text

    from radgauge.render.terminal import console

    out = console()
    for name, reading in readings.items():
        out.print(Text(name, style="bold"))
        out.print(_coloured(reading.text, explained.notes, name))
        out.print()
        out.show(claim_table(reading))
        out.print(coverage_lines(reading), highlight=False)
        out.print()
    if explained.notes:
        out.show(_reasons(explained))
    else:
        out.print("no finding in either report")
    values = [f"{name} {number(value)}" for name, value in explained.values.items() if not math.isnan(value)]
    out.say("\n" + ", ".join(values[:MAX_VALUES]))


def _reasons(explained: Explanation) -> Table:
    """Return a row per note: what it is, why, and its weight."""
    rows = [
        (
            Cell(WORDS.get(note.kind, note.kind), style=STYLES.get(note.kind, "")),
            note.text,
            "" if (cost := note.data.get("cost")) is None else number(cost),
        )
        for note in explained.notes
    ]
    heads = ("", Column(f"why ({explained.metric})", fold=True), Column("weight", right=True))
    return table(*heads, rows=rows, key="explanation")


def _coloured(text: str, notes: Sequence[Note], name: str) -> Text:
    """The text with the spans of the notes in the colours of their kinds; those of the first note win."""
    from rich.text import Text

    coloured = Text(text.rstrip("\n"))
    for note in reversed(notes):
        spans: tuple[Span, ...] = note.reference_spans if name == "reference" else note.candidate_spans
        for start, end in spans:
            coloured.stylize(STYLES.get(note.kind, ""), start, end)
    return coloured
