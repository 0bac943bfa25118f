"""`radgauge read`: what the embedded reader sees in a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from radgauge.report_reader import Attributes, Lexicon, ReportReading

VIEWS = ("mentions", "rate", "radgraph", "chexpert")
COLOURS = {"present": "bold red", "absent": "green", "uncertain": "bold yellow"}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("read")(read_cli)


def read_cli(
    report: Annotated[
        Path | None, typer.Argument(help="A text file with one report; '-' or nothing reads standard input.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="The report itself.")] = None,
    view: Annotated[
        str,
        typer.Option("--view", help="mentions, rate (RaTE entities), radgraph (a graph) or chexpert (14 labels)."),
    ] = "mentions",
    compare: Annotated[
        Path | None,
        typer.Option("--compare", help="A reference report: show what the report misses, adds and changes."),
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="Concepts of your own (TOML), merged over the built-in ones.")
    ] = None,
    graphs: Annotated[
        Path | None,
        typer.Option(
            "--graphs", help="Read a table of reports instead; write their RadGraph graphs to this .json."
        ),
    ] = None,
    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="For --graphs: 'embedded', 'published', a folder; with a network: 'published:radgraph-xl'.",
        ),
    ] = "embedded",
    columns: o.Columns = None,
    section: o.Section = None,
    as_json: o.AsJson = False,
) -> None:
    """Show what the embedded reader sees: findings, anatomy, what is denied and what is left open.

    Examples:

      radgauge read report.txt

      radgauge read --compare reference.txt candidate.txt

      radgauge read reports.csv --graphs graphs.json --models published
    """
    from radgauge.errors import UsageError
    from radgauge.report_reader import load_lexicon, read_report

    if graphs is not None:
        from radgauge.cli.read_graphs import write_table_graphs

        typer.echo(write_table_graphs(report, graphs, models=models, columns=columns, section=section))
        return
    if view not in VIEWS:
        raise UsageError(f"--view must be one of {', '.join(VIEWS)}; got {view!r}")
    if compare is not None:
        _compare(_report(compare, None), _report(report, text), lexicon=lexicon, as_json=as_json)
        return
    known = load_lexicon((lexicon,)) if lexicon is not None else None
    reading = read_report(_report(report, text), lexicon=known)
    if as_json:
        typer.echo(o.to_json(as_data(reading, view=view, lexicon=known)))
    else:
        _show(reading, view, known)


def _compare(reference: str, candidate: str, *, lexicon: Path | None, as_json: bool) -> None:
    from radgauge.cli.compare_texts import as_data, compare_texts, show_comparison

    explained = compare_texts(reference, candidate, lexicon=lexicon)
    if as_json:
        typer.echo(o.to_json(as_data(explained, reference=reference, candidate=candidate)))
    else:
        show_comparison(explained, reference=reference, candidate=candidate)


def _report(path: Path | None, text: str | None) -> str:
    from radgauge.errors import InputError, UsageError

    if text is not None:
        if path is not None:
            raise UsageError("give a file or --text, not both")
        return text
    if path is None or str(path) == "-":
        return sys.stdin.read()
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); convert it first"
        ) from None


def as_data(reading: ReportReading, *, view: str, lexicon: Lexicon | None = None) -> Any:
    """A view of a reading as plain lists and dictionaries."""
    from radgauge.report_reader import chexpert_labels, radgraph_graph, rate_entities
    from radgauge.report_reader.graph_json import EMBEDDED_SOURCE, published_form

    if view == "rate":
        return [entity._asdict() for entity in rate_entities(reading, lexicon=lexicon)]
    if view == "radgraph":
        return {"report": published_form(radgraph_graph(reading, lexicon=lexicon), source=EMBEDDED_SOURCE)}
    if view == "chexpert":
        return chexpert_labels(reading, lexicon=lexicon)
    return {
        "text": reading.text,
        "sentences": [sentence._asdict() for sentence in reading.sentences],
        "mentions": [
            {**mention._asdict(), "attributes": mention.attributes._asdict()} for mention in reading.mentions
        ],
        "relations": [relation._asdict() for relation in reading.relations],
        "unread": [{"text": reading.text[word.start : word.end], **word._asdict()} for word in reading.unread],
        "coverage": reading.coverage,
    }


def _show(reading: ReportReading, view: str, lexicon: Lexicon | None) -> None:
    from radgauge.cli.render import console, plain_table
    from radgauge.report_reader import chexpert_labels, radgraph_graph, rate_entities

    out = console()
    if view == "chexpert":
        table = plain_table("condition", "state")
        for name, state in chexpert_labels(reading, lexicon=lexicon).items():
            table.add_row(name, state or "–")
        out.print(table)
        return
    if view == "rate":
        table = plain_table("entity", "type", "assertion")
        for entity in rate_entities(reading, lexicon=lexicon):
            table.add_row(entity.name, entity.type, entity.assertion)
        out.print(table)
        return
    if view == "radgraph":
        table = plain_table("", "tokens", "label", "relations")
        entities = radgraph_graph(reading, lexicon=lexicon)["entities"]
        for key, node in entities.items():
            relations = ", ".join(f"{kind} {entities[target]['tokens']}" for kind, target in node["relations"])
            table.add_row(key, node["tokens"], node["label"], relations)
        out.print(table)
        return
    out.print(_highlighted(reading))
    out.print()
    out.print(_mentions(reading))
    out.print()
    out.print(_coverage(reading), highlight=False)


def _coverage(reading: ReportReading) -> str:
    """How much of the report was understood, and what was not."""
    if not reading.content_words:
        return "no content words"
    lines = [
        f"understood: {reading.known_words} of {reading.content_words} content words ({reading.coverage:.0%})"
    ]
    if claims := reading.open_claims:
        lines.append("open claims (not in the lexicon): " + ", ".join(claim.text for claim in claims))
    if reading.unread:
        lines.append("unread: " + ", ".join(reading.text[word.start : word.end] for word in reading.unread))
    return "\n".join(lines)


def _highlighted(reading: ReportReading) -> Text:
    """The report with findings coloured by assertion, anatomy and words of normality set apart."""
    from rich.text import Text

    text = Text(reading.text.strip("\n"))
    offset = len(reading.text) - len(reading.text.lstrip("\n"))
    for mention in reading.mentions:
        style = COLOURS[mention.assertion]
        if mention.kind in ("anatomy", "normality"):
            style = "cyan" if mention.kind == "anatomy" else "dim green"
        text.stylize(style, mention.start - offset, mention.end - offset)
    for word in reading.unread:
        text.stylize("underline", word.start - offset, word.end - offset)
    return text


def _mentions(reading: ReportReading) -> Table:
    from rich.text import Text

    from radgauge.cli.render import plain_table

    table = plain_table("words", "concept", "kind", "assertion", "attributes", fold=(0, 4))
    for mention in reading.mentions:
        state = Text(mention.assertion, style="" if mention.kind == "anatomy" else COLOURS[mention.assertion])
        table.add_row(mention.text, mention.concept, mention.kind, state, _said(mention.attributes))
    return table


def _said(attributes: Attributes) -> str:
    """Attributes that say something, in a few words."""
    parts = [attributes.laterality, attributes.severity, attributes.change, *attributes.descriptors]
    if attributes.sizes_mm:
        parts.append(" x ".join(f"{size:g}" for size in attributes.sizes_mm) + " mm")
    if attributes.locations:
        parts.append("at " + ", ".join(attributes.locations))
    if attributes.cue:
        parts.append(f'"{attributes.cue}"')
    if attributes.context != "current":
        parts.append(attributes.context)
    return "; ".join(part for part in parts if part)
