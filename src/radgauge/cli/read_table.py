"""`radgauge read --graphs`: the report graphs of a whole table, in the JSON form that RadGraph is published in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from radgauge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.core.cases import Case


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
        texts = _texts(read_cases(table, columns=form.roles, section=form.section, encoding=form.encoding).cases)
    named = next((name for name in NETWORKS if models.endswith(f":{name}")), None)
    network = named or NETWORKS[0]
    profile = models.removesuffix(f":{named}")  # a profile or folder alone where no network is named
    metric = RadGraph(models=profile, network=network)
    reading = o.ReadingOutput().readings()
    texts = {key: text for key, text in texts.items() if text.strip()}
    with working("reading"):
        graphs = dict(zip(texts, metric.graphs(list(texts.values()), reading=reading), strict=True))
    read = {key: graph for key, graph in graphs.items() if "unread" not in graph}
    reader = metric.parts()["reader"]
    write_graphs(output, read, source=f"{EMBEDDED_SOURCE}: {reader}" if profile == "embedded" else reader)
    left = f"; {len(graphs) - len(read)} reports are too long for the network" if len(read) < len(graphs) else ""
    return f"wrote {output}: {len(read)} graphs{left}"


def _only_reports(table: Path, form: o.ReportForm) -> bool:
    """Whether a table has no candidates: it holds one report per row."""
    from radgauge.io.tables import iter_records
    from radgauge.io.tables.column_names import NAMES, plain

    if table.is_dir():
        return True
    first = next(iter_records(table, encoding=form.encoding), None)
    candidates = {*sum(NAMES["candidate"], ()), *map(plain, (form.roles or {}).get("candidate", ()))}
    return first is not None and not candidates & {plain(name) for name in first.values}


def _texts(cases: Sequence[Case]) -> dict[str, str]:
    """Every report under a key of its own: its id alone if the table holds one report per id."""
    single = len({case.system for case in cases}) == 1 and not any(case.references for case in cases)
    found: dict[str, str] = {}
    for case in cases:
        for number, reference in enumerate(case.references, start=1):
            found.setdefault(f"{case.id}/reference" + (f" {number}" if number > 1 else ""), reference)
        found[case.id if single else f"{case.id}/{case.system}"] = case.candidate
    return found
