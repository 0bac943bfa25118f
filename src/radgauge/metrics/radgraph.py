"""RadGraph F1: how far two reports agree in the entities and relations of their report graphs.

Yu et al. (2023), Evaluating progress in automatic chest X-ray radiology report generation, Patterns 4(9);
Delbrouck et al. (2022), Improving the factual correctness of radiology report generation with semantic
rewards, Findings of EMNLP; Jain et al. (2021), RadGraph, NeurIPS Datasets and Benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows, ratio, reference_pairs
from radgauge.core.readings import Reader, Readings
from radgauge.metrics._settings import EMBEDDED, label_columns, settle
from radgauge.reader import ReportReader, radgraph_graph
from radgauge.reader.graph_json import Graph, GraphItems, StoredGraphs, graph_items, stored_by_us
from radgauge.text.tokenizers import locate

Variant = Literal["yu", "simple", "partial", "complete"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Network = Literal["radgraph", "radgraph-xl", "modern-radgraph-xl", "echograph"]
NETWORKS: tuple[Network, ...] = get_args(Network)


@dataclass(frozen=True)
class RadGraph(Metric):
    """RadGraph F1 by its four definitions at once; `variant` says which is the headline.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="small left effusion", references=("small right effusion",))
    >>> RadGraph().measure([case], reading=Readings()).round(3).tolist()  # yu, simple, partial, complete
    [[0.583, 0.667, 0.667, 0.667]]
    """

    name: ClassVar[str] = "radgraph"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "entities and relations shared with the reference's report graph (RadGraph F1)"
    one_range: ClassVar[bool] = True

    # "embedded" (our graph), "published" (the authors' network), a folder with their archives, or a published JSON
    # dump of graphs (`.json`)
    models: str = EMBEDDED
    # "yu": mean of entity F1 and relation F1 (the one in RadCliQ); "simple" (RG_E), "partial" (RG_ER), "complete"
    # (RG_ER-bar) as in the radgraph package
    variant: Variant = "yu"
    # Which archive, if published: radgraph, radgraph-xl, modern-radgraph-xl, echograph
    network: Network = "radgraph"
    # "release": letter case as radgraph 0.1.18 compares it; "2026-07": the package's definitions ignore case, as
    # the fix of July 2026 has it. `yu` heeds case, as its authors' code does.
    case: Literal["release", "2026-07"] = "release"
    # What a report without entities scores: "nan" (not judged), "zero" (as published); "auto" is nan for embedded
    # and zero for published models
    empty: Literal["auto", "nan", "zero"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, "empty", embedded="nan", published="zero")

    @property
    def columns(self) -> tuple[str, ...]:
        """All definitions, the chosen one first."""
        others = (name for name in VARIANTS if name != self.variant)
        ours = self.models.endswith(".json") and stored_by_us(self.models)
        names = tuple(f"radgraph_{name}" for name in (self.variant, *others))
        return label_columns(names, EMBEDDED if ours else self.models)

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate scores 0."""
        return self.empty == "zero"

    def parts(self) -> Mapping[str, str]:
        """The reader behind the graphs."""
        return {"reader": self._reader().signature, "references": "best"}

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case the four F1 values."""
        candidates, references, owner = reference_pairs(cases)
        items = self.items([*candidates, *references], reading=reading)
        unread = self.unread([*candidates, *references], reading=reading)
        values = f1_of_items(items[: len(candidates)], items[len(candidates) :], empty=self.empty)
        values[[a in unread or b in unread for a, b in zip(candidates, references, strict=True)]] = np.nan
        order = [VARIANTS.index(name) for name in (self.variant, *(v for v in VARIANTS if v != self.variant))]
        values = values[:, order]
        rows = np.full((len(cases), len(VARIANTS)), np.nan)
        np.fmax.at(rows, owner, values)  # each definition takes the reference that suits it best
        return rows

    def items(self, texts: Sequence[str], *, reading: Readings) -> list[GraphItems]:
        """Items of each text's graph that the definitions count; none for an empty text."""
        # An empty report has no graph; the published networks would be asked about the word "None" instead.
        readable = [text for text in texts if text.strip()]
        items = reading.derive(
            self._reader(),
            readable,
            lambda read: graph_items(self._graph(read), case=self.case),
            key=("radgraph items", self.case),
        )
        by_text = dict(zip(readable, items, strict=True))
        nothing = graph_items({"entities": {}})
        return [by_text.get(text, nothing) for text in texts]

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without entities."""
        graphs = self.items([case.candidate, *case.references], reading=reading)
        for where, texts in (("candidate", (case.candidate,)), ("reference", case.references)):
            for why in self.unread(texts, reading=reading).values():
                return f"{where}: {why}"
        return f"no entities found in the {'reference' if graphs[0].entities else 'candidate'}"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Entities and relations that both graphs have and those that one of them lacks."""
        rows = self.measure([case], reading=reading)
        graphs = self.graphs([case.candidate, case.references[0]], reading=reading)
        candidate_items, reference_items = (
            _described(graph, text)
            for graph, text in zip(graphs, (case.candidate, case.references[0]), strict=True)
        )
        notes = []
        for key in dict.fromkeys((*reference_items, *candidate_items)):
            kind = (
                "matched"
                if key in candidate_items and key in reference_items
                else "added"
                if key in candidate_items
                else "missing"
            )
            where = {"matched": "in both", "added": "only in the candidate", "missing": "only in the reference"}
            notes.append(
                Note(
                    kind,
                    f"{where[kind]}: {key}",
                    reference_spans=reference_items.get(key, ()),
                    candidate_spans=candidate_items.get(key, ()),
                )
            )
        return Explanation(self.name, dict(zip(self.columns, map(float, rows[0]), strict=True)), tuple(notes))

    def _reader(self) -> Reader[Any]:
        if self.models == EMBEDDED:
            return ReportReader()
        if self.models.endswith(".json"):
            return StoredGraphs(self.models)
        from radgauge.encoders.text.dygie import graph_reader

        return graph_reader(self.network, models=self.models)

    def checkpoints(self) -> tuple[str, ...]:
        """Return the one archive that is read."""
        return (self.network,) if self.models == "published" else ()

    def graphs(self, texts: Sequence[str], *, reading: Readings) -> list[Graph]:
        """The graph of each text in the published form; with `unread` where a network cannot read it."""
        return reading.derive(self._reader(), texts, self._graph, key="radgraph")

    def _graph(self, read: Any) -> Graph:
        """The graph that is, or that follows from, what the reader gives."""
        return radgraph_graph(read) if self.models == EMBEDDED else read

    def unread(self, texts: Sequence[str], *, reading: Readings) -> dict[str, str]:
        """Texts that the network could not read, or the dump does not hold -> the reason."""
        if self.models == EMBEDDED:
            return {}
        readable = [text for text in texts if text.strip()]
        graphs = zip(readable, self.graphs(readable, reading=reading), strict=True)
        return {text: graph["unread"] for text, graph in graphs if "unread" in graph}


def f1_of_items(candidates: Sequence[GraphItems], references: Sequence[GraphItems], *, empty: str = "nan") -> Rows:
    """F1 by each definition (yu, simple, partial, complete), one row per pair.

    Args:
        candidates: Items of the candidates' graphs.
        references: Items of the references' graphs, equally many.
        empty: "nan" or "zero" where a graph has no entities.
    """
    pairs = list(zip(candidates, references, strict=True))
    shared = np.array(
        [[len(a & b) for a, b in zip(left, right, strict=True)] for left, right in pairs], dtype=np.float64
    ).reshape(len(pairs), 5)
    sizes = [
        np.array([[len(part) for part in items] for items in side], dtype=np.float64).reshape(len(side), 5)
        for side in (candidates, references)
    ]
    score = f1_of_counts(shared, sizes[0], sizes[1])
    values: Rows = np.column_stack([score[:, :2].mean(axis=1), score[:, 2:]])
    values[(sizes[0][:, 0] == 0) | (sizes[1][:, 0] == 0)] = np.nan if empty == "nan" else 0.0
    return values


def f1_of_counts(shared: Rows, candidate: Rows, reference: Rows) -> Rows:
    """F1 from the number of shared items and of each side's items; 0 where nothing is shared."""
    precision = np.nan_to_num(ratio(shared, candidate))
    recall = np.nan_to_num(ratio(shared, reference))
    return np.nan_to_num(ratio(2 * precision * recall, precision + recall))


def _described(graph: Graph, text: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """Entities and relations as words for people, with the characters they speak of."""
    spans = locate(text, graph["text"].split())
    entities = graph["entities"]
    described: dict[str, list[tuple[int, int]]] = {}
    for entity in entities.values():
        entity_spans = [span for span in spans[entity["start_ix"] : entity["end_ix"] + 1] if span is not None]
        cover = [(entity_spans[0][0], entity_spans[-1][1])] if entity_spans else []
        words = f"{entity['tokens']} ({entity['label']})"
        described.setdefault(words, []).extend(cover)
        for kind, number in entity["relations"]:
            target = entities[number]
            described.setdefault(f"{words} {kind} {target['tokens']} ({target['label']})", []).extend(cover)
    return {words: tuple(where) for words, where in described.items()}
