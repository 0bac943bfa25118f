"""`radgauge read`: what the embedded reader sees in a report."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.reading_table import COLOURS, claim_table, coverage_lines
from radgauge.render.tables import Column, Table, table
from radgauge.render.terminal import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from radgauge.core.cases import Case
    from radgauge.reader import Lexicon, ReportReading


# `radgauge read --graphs`: the report graphs of a whole table, in the JSON form that RadGraph is published in.


def write_table_graphs(table: Path | None, output: Path, *, models: str, form: o.ReportForm) -> str:
    """Write a graph per report, and return a sentence about it.

    Args:
        table: Reports as `radgauge score` reads them, or one report per row: id and report; or a corpus.
        output: A .json file; `radgraph` reads it back as `models`.
        models: Profile of the graphs, and optionally the network: "published", "published:radgraph-xl".
        form: How the table is read.
    """
    from radgauge.core.errors import UsageError
    from radgauge.core.progress import working
    from radgauge.io.case_files import read_cases
    from radgauge.metrics.radgraph import NETWORKS, RadGraph
    from radgauge.reader.graph_json import EMBEDDED_SOURCE, write_graphs

    if output.suffix != ".json":
        raise UsageError(f"graphs are written as .json, got {output.name!r}")
    if table is None:
        raise UsageError("no reports given: name a table of reports")
    if _only_reports(table, form):
        texts = {case.id: case.references[0] for case in form.references(table).cases}
    else:
        texts = _texts(
            read_cases(table, columns=form.roles, section=form.section, encoding=form.input.encoding).cases
        )
    named = next((name for name in NETWORKS if models.endswith(f":{name}")), None)
    network = named or NETWORKS[0]
    profile = models.removesuffix(f":{named}")  # a profile or folder alone where no network is named
    metric = RadGraph(models=profile, network=network)
    reading = o.Output().readings()
    texts = {key: text for key, text in texts.items() if text.strip()}
    with working("reading"):
        graphs = dict(zip(texts, metric.graphs(list(texts.values()), reading=reading), strict=True))
    read = {key: graph for key, graph in graphs.items() if "unread" not in graph}
    reader = metric.parts()["reader"]
    write_graphs(output, read, source=f"{EMBEDDED_SOURCE}: {reader}" if profile == "embedded" else reader)
    left = f"; {len(graphs) - len(read)} reports are too long for the network" if len(read) < len(graphs) else ""
    return f"wrote {output}: {len(read)} graphs{left}"


def _only_reports(table: Path, form: o.ReportForm) -> bool:
    """True if a table has no candidates: it holds one report per row."""
    from radgauge.io.tables import iter_records
    from radgauge.io.tables.column_names import NAMES, plain

    if table.is_dir():
        return True
    first = next(iter_records(table, encoding=form.input.encoding), None)
    candidates = {*sum(NAMES["candidate"], ()), *map(plain, (form.roles or {}).get("candidate", ()))}
    return first is not None and not candidates & {plain(name) for name in first.values}


def _texts(cases: Sequence[Case]) -> dict[str, str]:
    """Every report under a key of its own: its id alone if the table holds one report per id."""
    single = len({case.system for case in cases}) == 1 and not any(case.references for case in cases)
    texts: dict[str, str] = {}
    for case in cases:
        for number, reference in enumerate(case.references, start=1):
            texts.setdefault(f"{case.id}/reference" + (f" {number}" if number > 1 else ""), reference)
        texts[case.id if single else f"{case.id}/{case.system}"] = case.candidate
    return texts


View = Literal["mentions", "rate", "radgraph", "chexpert"]


@o.command(o.app, "read")
def read_cli(
    form: o.ReportForm,
    report: o.OneReport = None,
    view: Annotated[
        View,
        "What is shown: RaTE entities, a RadGraph graph, CheXpert's 14 labels.",
    ] = "mentions",
    check: Annotated[
        bool,
        "Hold the report against itself; exit code 1 if it contradicts itself.",
    ] = False,
    lexicon: o.Lexicon = None,
    graphs: Annotated[
        Path | None,
        "Read a table of reports instead; write their RadGraph graphs to this .json.",
    ] = None,
    models: Annotated[
        str,
        "For --graphs: 'embedded', 'published', a folder; with a network: 'published:radgraph-xl'.",
    ] = "embedded",
    say: o.Output = o.Output(),
) -> None:
    """Show what the embedded reader sees in a report.

    Examples:

      radgauge read report.txt

      radgauge read --check report.txt

      radgauge read reports.csv --graphs graphs.json --models published
    """
    from radgauge.reader import load_lexicon, read_report

    if graphs is not None:
        profile, _, network = models.partition(":")
        o.confirmed(profile, [f"radgraph:network={network}" if network else "radgraph"])
        echo(write_table_graphs(report, graphs, models=models, form=form))
        return
    if check:
        _check(o.report_text(report), say)
        return
    vocabulary = load_lexicon((lexicon,)) if lexicon is not None else None
    reading = read_report(o.report_text(report), lexicon=vocabulary)
    blocks: list[o.Block] = [_table(reading, view, vocabulary)]
    if view == "mentions":
        blocks = ["", *blocks, "", coverage_lines(reading)]
        if o.program().format == "table":
            console().print(_highlighted(reading))
    say.show(as_data(reading, view=view, lexicon=vocabulary), *blocks)


def _check(text: str, say: o.Output) -> None:
    """Print the contradictions of a report with itself; BrokenLimit if there are any."""
    from radgauge.core.cases import Case
    from radgauge.core.errors import BrokenLimit, InputError
    from radgauge.core.readings import Readings
    from radgauge.metrics.consistency import Consistency

    metric, reading, case = Consistency(), Readings(), Case("checked", text)
    explained = metric.explain(case, reading=reading)
    if explained is None or math.isnan(explained.values["consistency"]):
        raise InputError(metric.why_not(case, reading=reading))
    n_statements = int(explained.values["consistency_statements"])
    rows = [
        (note.data["kind"], note.text, " | ".join(text[slice(*span)] for span in note.candidate_spans))
        for note in explained.notes
    ]
    contradictions = table("kind", Column("contradiction", fold=True), Column("words", fold=True), rows=rows)
    data = {"values": dict(explained.values), "notes": [note.as_data() for note in explained.notes]}
    say.show(data, contradictions if rows else f"no contradiction among {n_statements} statements")
    if explained.notes:
        n_notes = len(explained.notes)
        raise BrokenLimit(f"{n_notes} contradiction{'s' * (n_notes > 1)} among {n_statements} statements")


def as_data(reading: ReportReading, *, view: str, lexicon: Lexicon | None = None) -> Any:
    """A view of a reading as plain lists and dictionaries."""
    from radgauge.reader import chexpert_labels, radgraph_graph, rate_entities
    from radgauge.reader.graph_json import EMBEDDED_SOURCE, published_form

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


def _table(reading: ReportReading, view: View, lexicon: Lexicon | None) -> Table:
    """Return a view of a reading as a table."""
    from radgauge.reader import chexpert_labels, radgraph_graph, rate_entities

    if view == "chexpert":
        labels = chexpert_labels(reading, lexicon=lexicon)
        return table("condition", "state", rows=[(name, state or "–") for name, state in labels.items()])
    if view == "rate":
        rows = [(entity.name, entity.type, entity.assertion) for entity in rate_entities(reading, lexicon=lexicon)]
        return table("entity", "type", "assertion", rows=rows)
    if view == "radgraph":
        entities = radgraph_graph(reading, lexicon=lexicon)["entities"]
        nodes = [
            (
                *(key, node["tokens"], node["label"]),
                ", ".join(f"{kind} {entities[target]['tokens']}" for kind, target in node["relations"]),
            )
            for key, node in entities.items()
        ]
        return table("", "tokens", "label", "relations", rows=nodes)
    return claim_table(reading, lexicon)


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
