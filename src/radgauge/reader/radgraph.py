"""A reading as a RadGraph-schema graph, in the published JSON form.

RadGraph annotates single words where the reading holds phrases: "pleural" is anatomy and "effusion" an observation
located at it; describing words are observations that modify. The tokens are those of the published preprocessing.
"""

from __future__ import annotations

import re
from typing import Any

from radgauge.core.parsing import shipped_toml
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.reader import vocabulary_for
from radgauge.reader.reading import Mention, Modifier, ReportReading
from radgauge.reader.vocabulary import Vocabulary
from radgauge.text.tokens import tokenize

TOKEN = re.compile(r"[/,:.!?()]|[^\s/,:.!?()]+")
"""Published tokenisation: these marks stand alone, everything else is split at white space."""

_LABEL = {"present": "OBS-DP", "absent": "OBS-DA", "uncertain": "OBS-U"}
_ANATOMY = "ANAT-DP"
_LISTS = shipped_toml(__file__, "word_lists.toml")
_UNMARKED = frozenset(_LISTS["unlabelled"])


class _Graph:
    """Nodes and edges while they are collected; nodes are token numbers."""

    def __init__(self, text: str) -> None:
        self.tokens = [(match[0], match.start()) for match in TOKEN.finditer(text)]
        self.at = {start: number for number, (_, start) in enumerate(self.tokens)}
        self.labels: dict[int, str] = {}
        self.edges: dict[int, list[tuple[str, int]]] = {}

    def add(self, start: int, label: str) -> int:
        """Label the token at a character position; -1 if no token starts there or the word is never marked."""
        number = self.at.get(start, -1)
        if number < 0 or self.tokens[number][0].lower() in _UNMARKED:
            return -1
        self.labels.setdefault(number, label)
        return number

    def relate(self, source: int, kind: str, target: int) -> None:
        """Draw an edge between two labelled tokens."""
        if source != target and source in self.labels and target in self.labels:
            edges = self.edges.setdefault(source, [])
            if (kind, target) not in edges:
                edges.append((kind, target))


def radgraph_graph(reading: ReportReading, *, lexicon: Lexicon | None = None) -> dict[str, Any]:
    """The graph of a report: {"text", "entities": {id: {"tokens", "label", "start_ix", "end_ix", "relations"}}}.

    >>> from radgauge.reader import read_report
    >>> graph = radgraph_graph(read_report("No pleural effusion ."))
    >>> [(entity["tokens"], entity["label"], entity["relations"]) for entity in graph["entities"].values()]
    [('pleural', 'ANAT-DP', []), ('effusion', 'OBS-DA', [['located_at', '1']])]
    """
    vocabulary = vocabulary_for(lexicon)
    graph = _Graph(reading.text)
    heads = [
        []
        if mention.kind == "open" or mention.form in ("ellipsis", "implied")
        else _add_mention(graph, mention, vocabulary)
        for mention in reading.mentions
    ]
    for modifier in reading.modifiers:
        _add_modifier(graph, modifier, reading, heads)
    for source, target, kind in reading.relations:
        for head in heads[source]:
            for structure in heads[target]:
                graph.relate(head, kind, structure)
    order = sorted(graph.labels)
    ids = {number: str(position + 1) for position, number in enumerate(order)}
    return {
        "text": " ".join(token for token, _ in graph.tokens),
        "entities": {
            ids[number]: {
                "tokens": graph.tokens[number][0],
                "label": graph.labels[number],
                "start_ix": number,
                "end_ix": number,
                "relations": [[kind, ids[target]] for kind, target in graph.edges.get(number, [])],
            }
            for number in order
        },
    }


def _add_mention(graph: _Graph, mention: Mention, vocabulary: Vocabulary) -> list[int]:
    """Nodes of a mention's words and the edges between them; returns the words other nodes attach to."""
    label = _LABEL[mention.assertion]
    anatomy: list[int] = []
    observed: list[int] = []
    words = vocabulary.spelling.tokens(mention.text)
    for norm, start in zip(words.norms, words.starts, strict=True):
        entry = vocabulary.word(norm)
        role = entry.role if entry is not None else ""
        is_place = (
            mention.kind == "anatomy"
            or role in ("anatomy", "side", "position")
            or (mention.kind == "normality" and role == "part")  # "size" in "normal in size"
        )
        number = graph.add(mention.start + start, _ANATOMY if is_place else label)
        if number >= 0:
            (anatomy if is_place else observed).append(number)
    if mention.kind == "anatomy":
        return _chain(graph, anatomy)
    if not observed:
        return anatomy[-1:]
    if mention.kind == "normality":
        core = [number for number in observed if graph.tokens[number][0].lower() == "normal"]
        return core or observed[-1:]
    head = observed[-1]
    for number in observed[:-1]:
        graph.relate(number, "modify", head)
    for number in anatomy:
        graph.relate(head, "located_at", number)
    return [head]


def _chain(graph: _Graph, words: list[int]) -> list[int]:
    """Words of one anatomy: the others modify the last, but "size" modifies the organ it is the size of."""
    if not words:
        return []
    head = words[0] if graph.tokens[words[-1]][0].lower() in ("size", "sizes") else words[-1]
    for number in words:
        graph.relate(number, "modify", head)
    return [head]


def _add_modifier(graph: _Graph, modifier: Modifier, reading: ReportReading, heads: list[list[int]]) -> None:
    """Nodes of a describing word and its edge to the word it describes."""
    if modifier.role == "quantity":
        return
    mention = reading.mentions[modifier.mention] if modifier.mention >= 0 else None
    structure = modifier.role in ("side", "position", "part")
    label = (
        _ANATOMY if structure else _LABEL[mention.assertion] if mention and mention.kind != "anatomy" else "OBS-DP"
    )
    for start in tokenize(reading.text[modifier.start : modifier.end]).starts:
        number = graph.add(modifier.start + start, label)
        if number < 0 or mention is None:
            continue
        if structure and mention.kind != "anatomy":
            _place_word(graph, number, heads[modifier.mention])
            continue
        for head in heads[modifier.mention]:
            on_place = graph.labels[head] == _ANATOMY
            graph.relate(number, "located_at" if on_place and not structure else "modify", head)


def _place_word(graph: _Graph, number: int, heads: list[int]) -> None:
    """A side or position word at a finding modifies the finding's place, or is its place if it has no other."""
    for head in heads:
        structures = [
            target for kind, target in graph.edges.get(head, ()) if kind == "located_at" and target != number
        ]
        if structures:
            graph.relate(number, "modify", structures[0])
        else:
            graph.relate(head, "located_at", number)
