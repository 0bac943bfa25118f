"""RadGraph graphs: the items that the F1 scores compare, and the published JSON form.

A graph is {"text", "entities": {id: {"tokens", "label", "start_ix", "end_ix", "relations": [[type, id]]}}}.
Definitions: `yu` is Yu et al. (2023), Patterns 4(9); `simple`, `partial` and `complete` are RG_E, RG_ER and
RG_ER-bar of Delbrouck et al. (2022), Findings of EMNLP.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.core.errors import InputError
from radgauge.core.files import write_file
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Readings
from radgauge.reader.radgraph import TOKEN, radgraph_graph
from radgauge.reader.reader import ReportReader

Graph = Mapping[str, Any]
EMBEDDED_SOURCE = "radgauge, embedded reader"
"""Prefix of the field `data_source` in dumps of our own reader's graphs."""


class GraphItems(NamedTuple):
    """Items that each definition counts, as sets."""

    entities: frozenset[tuple[str, ...]]
    relations: frozenset[tuple[Any, ...]]
    simple: frozenset[tuple[str, ...]]
    partial: frozenset[tuple[Any, ...]]
    complete: frozenset[tuple[str, ...]]


def graph_items(graph: Graph, *, case: str = "release") -> GraphItems:
    """The sets that the definitions compare.

    Args:
        graph: A graph in the published form.
        case: "release": letter case as in radgraph 0.1.18, where only the related items of `complete` are
            lower-cased; "2026-07": all items of the package's three definitions are. `yu` always heeds case.

    >>> graph = {"entities": {"1": {"tokens": "Small", "label": "OBS-DP", "relations": [["modify", "2"]]},
    ...                       "2": {"tokens": "effusion", "label": "OBS-DP", "relations": []}}}
    >>> sorted(graph_items(graph).complete)
    [('effusion', 'OBS-DP'), ('small', 'OBS-DP', 'modify', 'effusion')]
    """
    entities = graph["entities"]
    plain = {(entity["tokens"], entity["label"]) for entity in entities.values()}
    relations: set[tuple[Any, ...]] = set()
    partial: set[tuple[Any, ...]] = set()
    complete: set[tuple[str, ...]] = set()
    folded: set[tuple[str, ...]] = set()
    for entity in entities.values():
        words, label = entity["tokens"], entity["label"]
        own = words if case == "release" else words.lower()
        folded.add((own, label))
        partial.add((own, label, True) if entity["relations"] else (own, label))
        if not entity["relations"]:
            complete.add((own, label))
        for kind, number in entity["relations"]:
            target = entities[number]
            relations.add(((words, label), (target["tokens"], target["label"]), kind))
            complete.add((words.lower(), label, kind, target["tokens"].lower()))
    return GraphItems(
        frozenset(plain), frozenset(relations), frozenset(folded), frozenset(partial), frozenset(complete)
    )


def embedded_graph_items(texts: Sequence[str], *, reading: Readings) -> list[GraphItems]:
    """Items that the definitions count in each text's graph by the embedded reader."""
    return reading.derive(
        ReportReader(),
        texts,
        lambda report: graph_items(radgraph_graph(report)),
        key=("radgraph items", "release"),
    )


def read_graphs(path: Path | str) -> dict[str, Graph]:
    """Graphs by document key from a published dump (`MIMIC-CXR_graphs.json` and the like).

    Raises:
        InputError: The file is not such a dump; the message names the first document that is not a graph.
    """
    try:
        result = parse_json(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} must be JSON, got: {error}") from error
    except (ValueError, RecursionError):
        raise InputError(f"{path} must be JSON in UTF-8") from None
    if not isinstance(result, dict):
        raise InputError(f"{path} must map document keys to graphs, got a {type(result).__name__}")
    for key, graph in result.items():
        _check(graph, f"{path}: document {key!r}")
    return result


def published_form(graph: Graph, *, source: str | None) -> Graph:
    """A graph with `data_source` and `data_split`, as inference dumps have them."""
    return {**graph, "data_source": source, "data_split": "inference"}


def write_graphs(path: Path | str, graphs: Mapping[str, Graph], *, source: str | None = None) -> None:
    """Write graphs in the published form, by document key."""
    full = {key: published_form(graph, source=source) for key, graph in graphs.items()}
    write_file(path, json.dumps(full, ensure_ascii=False, indent=1) + "\n")


@dataclass(frozen=True)
class StoredGraphs:
    """A reader that looks graphs up in a published dump by the text of the report.

    Dumps keep the tokens of a report joined by spaces; a report is found by its tokens, so line ends and
    spacing do not matter.
    """

    path: str

    @property
    def signature(self) -> str:
        """Name and size of the dump."""
        file = Path(self.path)
        return f"radgraph-json:{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}"

    def read(self, texts: Sequence[str]) -> list[Graph]:
        """Graphs of the texts, in order; an empty one with `unread` = the reason where the dump has none."""
        entry = _by_tokens(self.path)
        absent = f"{Path(self.path).name} holds no graph of this report"
        return [entry.get(_tokens(text)) or {"text": text, "entities": {}, "unread": absent} for text in texts]


def stored_by_us(path: str) -> bool:
    """True if a dump holds graphs of the embedded reader, which are not to be compared with published ones."""
    return any(
        str(graph.get("data_source") or "").startswith(EMBEDDED_SOURCE) for graph in _by_tokens(path).values()
    )


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(TOKEN.findall(text))


@lru_cache(maxsize=4)
def _by_tokens(path: str) -> dict[tuple[str, ...], Graph]:
    return {_tokens(graph["text"]): graph for graph in read_graphs(path).values()}


_FIELDS = {"tokens": str, "label": str, "start_ix": int, "end_ix": int, "relations": list}


def _check(graph: object, where: str) -> None:
    requested = "a graph with 'text' and 'entities' (tokens, label, start_ix, end_ix, relations)"
    if not isinstance(graph, dict) or not isinstance(graph.get("entities"), dict):
        raise InputError(f"{where} must be {requested}")
    if not isinstance(graph.get("text"), str):
        raise InputError(f"{where} must be {requested}")
    entities = graph["entities"]
    for number, entity in entities.items():
        if not isinstance(entity, dict) or not _FIELDS.keys() <= entity.keys():
            raise InputError(f"{where}, entity {number!r} must have tokens, label, start_ix, end_ix, relations")
        odd = next((name for name, kind in _FIELDS.items() if type(entity[name]) is not kind), None)
        if odd is not None:
            raise InputError(f"{where}, entity {number!r}: {odd} must be {_FIELDS[odd].__name__}")
        for relation in entity["relations"]:
            if not isinstance(relation, list) or len(relation) != 2 or not isinstance(relation[1], str):
                raise InputError(f"{where}, entity {number!r}: a relation must be [type, entity]")
            kind, target = relation
            if target not in entities:
                raise InputError(f"{where}, entity {number!r}: {kind} points at {target!r}, which is no entity")
