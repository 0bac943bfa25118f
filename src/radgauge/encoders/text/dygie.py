"""The DyGIE++ network behind RadGraph, in plain PyTorch, and its readers.

Wadden et al. (2019), Entity, relation, and event extraction with contextualized span representations, EMNLP;
weights as published with RadGraph (Jain et al. 2021) and RadGraph-XL (Delbrouck et al. 2024).

Equal to the authors' program, and faster for three reasons: reports are read in true batches; the first layer
over a span [start; end; width] is the sum of three small products, computed per word instead of per span; and
relations are scored between predicted entities only, because a relation that touches anything else is dropped
from the graph.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.errors import require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.catalogue import file_hash
from radgauge.encoders.checkpoints.hub import locate_file, locate_tokenizer, pick_device
from radgauge.encoders.checkpoints.radgraph_archive import Archive, read_archive
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer
from radgauge.encoders.text.batching import markers
from radgauge.encoders.text.sequences import SequenceEncoder
from radgauge.reader.graph_json import Graph
from radgauge.reader.radgraph import TOKEN

_ENCODER = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
_UNUSED = ("_coref.", "_events.")
_WORD = re.compile(r"\w+|[^\w\s]+")
_REPORTS_AT_ONCE = 32
MAX_WORDS = 4096
"""Words of the longest report that is read: work and memory grow with the square of its entities."""
_PAIR_NUMBERS = 1 << 24  # numbers held at once while pairs of spans are compared


def words_of(text: str, *, network: str) -> list[str]:
    """The words of a report as the network's own preprocessing makes them.

    >>> words_of("Effusion (2.5-cm)/mass.", network="radgraph")
    ['Effusion', '(', '2', '.', '5-cm', ')', '/', 'mass', '.']
    >>> words_of("Effusion (2.5-cm)/mass.", network="radgraph-xl")
    ['Effusion', '(', '2', '.', '5', '-', 'cm', ')/', 'mass', '.']
    """
    if network == "radgraph":
        return TOKEN.findall(text)
    # The others share one rule; escapes written out in the text are the data set's own.
    for written, spaces in (("\\n", 2), ("\\f", 2), ("\\u2122", 6)):
        text = text.replace(written, " " * spaces)
    text = text.replace('\\"', "``")
    joined = " ".join(_WORD.findall(text))
    for run, apart in ((").", ") ."), ("%.", "% ."), (".'", ". '"), ("%,", "% ,"), ("%)", "% )")):
        joined = joined.replace(run, apart)
    return joined.split()


@dataclass(frozen=True)
class GraphReader:
    """A published network as a reader of report graphs; weights are loaded at the first text."""

    archive: str  # The tar.gz, or the folder it was unpacked to
    network: str  # radgraph, radgraph-xl, modern-radgraph-xl or echograph: decides how words are split
    vocabulary: str = "published"  # "published", or a folder that holds the encoder's vocabulary
    device: str = "auto"  # auto, cpu, cuda
    batch_size: ClassVar[int] = 256

    @property
    def signature(self) -> str:
        """Network, content hash of its weights, and the version of this code, so that no older reading is met."""
        return f"{self.network}@{file_hash(self.archive)}:2"

    def read(self, texts: Sequence[str]) -> list[Graph]:
        """Graphs of the texts, in order."""
        network = load_network(self.archive, self.network, self.vocabulary, pick_device(self.device))
        words = [words_of(text, network=self.network) for text in texts]
        able = [tokens if len(tokens) <= MAX_WORDS else [] for tokens in words]
        return [
            graph if len(tokens) <= MAX_WORDS else {**graph, "unread": f"longer than {MAX_WORDS} words"}
            for tokens, graph in zip(words, network.graphs(able), strict=True)
        ]

    def pack(self, reading: Graph, text: str) -> bytes:
        """Return the graph as JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> Graph:
        """The graph; ValueError if the bytes are not one."""
        graph: Graph = json.loads(packed)
        return graph


def graph_reader(network: str, *, models: str) -> GraphReader:
    """The reader of a network for a model profile.

    Args:
        network: Name of the archive.
        models: "published", a folder with the archives, or one archive.
    """
    archive = locate_file(network, models=models)
    vocabulary = "published" if models == "published" else str(archive.parent)
    return GraphReader(str(archive), network, vocabulary)


@lru_cache(maxsize=2)
def load_network(archive: str, network: str, vocabulary: str, device: str) -> Dygie:
    """The network of an archive, loaded once per process."""
    return Dygie(read_archive(Path(archive), network=network), vocabulary=vocabulary, device=device)


class Dygie:
    """Encoder, entity scorer, span pruner and relation scorer of one archive."""

    def __init__(self, archive: Archive, *, vocabulary: str, device: str) -> None:
        torch = require("torch", extra="models")
        self.torch, self.device, self.archive = torch, device, archive
        folder = locate_tokenizer(archive.encoder, models=vocabulary)
        self.tokenizer = load_tokenizer(folder, of=archive.encoder)
        network = encoder_from(folder, pooler=False, hollow=True)
        own = {key: value for key, value in archive.weights.items() if not key.startswith(_UNUSED)}
        encoder = {key.removeprefix(_ENCODER): own.pop(key) for key in list(own) if key.startswith(_ENCODER)}
        for key in [key for key in encoder if key.startswith("pooler.") or "position_ids" in key]:
            del encoder[key]  # not used
        check_keys(encoder, network.state_dict(), where=archive.where, prefix=_ENCODER)
        network.load_state_dict(encoder, assign=True)
        self.encoder = SequenceEncoder(network, pad=self.tokenizer.pad_token_id or 0, device=device)
        hidden = self.encoder.hidden
        names = _names(archive.dataset, len(archive.layers))
        check_keys(own, {**_shapes(archive, hidden, names, torch)}, where=archive.where)
        self.weights = {key: own[name].float().to(device) for key, name in names.items()}
        self.start, self.end = markers(self.tokenizer)
        max_length = archive.max_length or getattr(network.config, "max_position_embeddings", 512)
        self.segment = int(max_length) - len(self.start) - len(self.end)
        self.hidden = hidden
        self.bare = bool(archive.max_length) and _is_bare(folder)
        self._pieces: dict[str, list[int]] = {}

    def graphs(self, reports: Sequence[Sequence[str]]) -> list[Graph]:
        """The graph of each report, given as words."""
        batch_graphs: list[Graph] = []
        with self.torch.inference_mode():
            vectors = self.word_vectors(reports)
            for start in range(0, len(reports), _REPORTS_AT_ONCE):
                stop = start + _REPORTS_AT_ONCE
                batch_graphs += self._decode(reports[start:stop], vectors[start:stop])
        return batch_graphs

    def word_vectors(self, reports: Sequence[Sequence[str]]) -> list[Any]:
        """For each report the mean of every word's piece vectors; zeros for a word without pieces."""
        torch = self.torch
        self._tokenize({word for words in reports for word in words})
        segments: list[list[int]] = []
        plans = []
        for words in reports:
            pieces = [self._pieces[word] for word in words]
            flat = [piece for word_pieces in pieces for piece in word_pieces]
            step = self.archive.max_length if self.bare else self.segment
            cuts = [flat[at : at + step] for at in range(0, len(flat), step)]
            plans.append((pieces, len(segments), len(cuts)))
            segments += cuts if self.bare else [[*self.start, *cut, *self.end] for cut in cuts]
        before, behind = len(self.start), len(self.end)
        encoded = self.encoder.vectors(segments)
        if not self.bare:
            encoded = [rows[before : len(rows) - behind] for rows in encoded]
        vectors = []
        for pieces, first, count in plans:
            means = torch.zeros(len(pieces), self.hidden, device=self.device)
            if count:
                flat_vectors = torch.cat(encoded[first : first + count])
                sizes = torch.tensor([len(word_pieces) for word_pieces in pieces], device=self.device)
                owner = torch.repeat_interleave(torch.arange(len(pieces), device=self.device), sizes)
                if self.bare:
                    flat_vectors, owner = self._shifted(encoded[first : first + count], owner)
                    sizes = torch.bincount(owner, minlength=len(pieces))
                means.index_add_(0, owner, flat_vectors)
                means /= sizes.clamp_min(1)[:, None]
            vectors.append(means)
        return vectors

    def _shifted(self, segments: Sequence[Any], owner: Any) -> tuple[Any, Any]:
        """Vectors and the words they count for, as the authors' code has them for a bare tokenizer.

        It expects markers around every segment that the tokenizer never puts there. So it takes the first vector
        for the start marker, drops the outermost vectors of inner segments, and gives every word the vectors one
        place behind its own; what is beyond the end counts for nothing. The network was trained like that.
        """
        torch = self.torch
        before, behind = len(self.start), len(self.end)
        width, count = self.archive.max_length, len(segments)
        everything = torch.cat(list(segments))
        total = len(everything)
        inner = [rows[before : min(len(rows), width - behind)] for rows in segments]
        selected = torch.cat([everything[:before], *inner])[: total - (count - 1) * (before + behind)]
        missing = total - (count - 1) * (before + behind) - len(selected)
        if missing > 0:  # the last piece stood where an end marker would be cut off
            selected = torch.cat([selected, everything[total - missing :]])
        else:
            selected[-1] = everything[-1]
        used = max(min(len(selected) - before, len(owner)), 0)
        return selected[before : before + used], owner[:used]

    def _tokenize(self, words: set[str]) -> None:
        if len(self._pieces) > 1 << 17:
            self._pieces.clear()
        fresh = [word for word in words if word not in self._pieces]
        if fresh:
            # Two marks with an escape in front are the data format's own; the authors' reader drops it.
            plain = [word[1:] if word in ("/.", "/?") else word for word in fresh]
            ids = self.tokenizer(plain, add_special_tokens=False, verbose=False)["input_ids"]
            self._pieces.update(zip(fresh, ids, strict=True))

    def _decode(self, reports: Sequence[Sequence[str]], vectors: Sequence[Any]) -> list[Graph]:
        torch = self.torch
        words = torch.cat(list(vectors)) if reports else torch.zeros(0, self.hidden)
        starts, ends, counts = self._spans([len(report) for report in reports])
        labels, pruner = self._score_spans(words, starts, ends)
        # All spans are looked at as arrays; those that are entities, a few in a hundred, one by one.
        entities = torch.nonzero(labels)[:, 0]
        mask = torch.zeros(len(labels), dtype=torch.bool, device=self.device)
        firsts = [0, *np.cumsum(counts).tolist()]
        for report, first, stop in zip(reports, firsts[:-1], firsts[1:], strict=True):
            if stop > first:
                keep = min(max(math.ceil(len(report) * self.archive.spans_per_word), 1), stop - first)
                mask[pruner[first:stop].topk(keep).indices + first] = True
        numbers = entities.cpu().numpy()
        bounds = np.searchsorted(numbers, firsts).tolist()
        offsets = [0, *np.cumsum([len(report) for report in reports]).tolist()]
        columns = torch.stack([starts[entities], ends[entities], labels[entities], mask[entities]]).tolist()
        graphs: list[Graph] = []
        for at, report in enumerate(reports):
            window = slice(bounds[at], bounds[at + 1])
            begins, stops, kinds, marks = (column[window] for column in columns)
            related = [number for number, mark in enumerate(marks) if mark]
            chosen = entities[window][related]
            relations = self._relate(words, starts[chosen], ends[chosen], pruner[chosen]) if related else []
            spans = [(a - offsets[at], b - offsets[at]) for a, b in zip(begins, stops, strict=True)]
            links = [(related[i], related[j], kind) for i, j, kind in relations]
            graphs.append(self._graph(report, spans, kinds, links))
        return graphs

    def _spans(self, sizes: list[int]) -> tuple[Any, Any, list[int]]:
        """Every span up to the widest, by start and then end, over the joined words of the reports."""
        ends_of_reports = np.repeat(np.cumsum(sizes), sizes)
        words = np.arange(len(ends_of_reports))
        widths = np.minimum(ends_of_reports - words, self.archive.span_width)
        starts = np.repeat(words, widths)
        ends = starts + np.arange(len(starts)) - np.repeat(np.cumsum(widths) - widths, widths)
        before = np.concatenate([[0], np.cumsum(widths)])[np.concatenate([[0], np.cumsum(sizes, dtype=np.intp)])]
        as_tensor = self.torch.from_numpy
        return (
            as_tensor(starts.astype(np.int64)).to(self.device),
            as_tensor(ends.astype(np.int64)).to(self.device),
            np.diff(before).tolist(),
        )

    def _score_spans(self, words: Any, starts: Any, ends: Any) -> tuple[Any, Any]:
        """For every span the entity label (0 for none) and the pruner's score."""
        w = self.weights
        scored = []
        for task in ("ner", "pruner"):
            first = w[f"{task}.0.weight"]
            begin, end, width = first.split([self.hidden, self.hidden, self.archive.feature_size], dim=1)
            left, right, wide = words @ begin.T, words @ end.T, w["width"] @ width.T
            layer = self.torch.relu(left[starts] + right[ends] + wide[ends - starts] + w[f"{task}.0.bias"])
            scored.append(self._rest(layer, task))
        labels = self._with_null(scored[0]).argmax(dim=1)
        return labels, scored[1][:, 0]

    def _relate(self, words: Any, starts: Any, ends: Any, scores: Any) -> list[tuple[int, int, int]]:
        """Relations between the given spans as (source, target, label)."""
        count = len(starts)
        if not count:
            return []
        torch, w = self.torch, self.weights
        spans = torch.cat([words[starts], words[ends], w["width"][ends - starts]], dim=1)
        source, target, product = w["relation.0.weight"].split(spans.shape[1], dim=1)
        sources, targets = spans @ source.T, spans @ target.T
        relations: list[tuple[int, int, int]] = []
        step = max(_PAIR_NUMBERS // (count * spans.shape[1]), 1)
        for first in range(0, count, step):
            some = slice(first, first + step)
            both = (spans[some, None] * spans[None]) @ product.T
            layer = torch.relu(sources[some, None] + targets[None] + both + w["relation.0.bias"])
            logits = self._rest(layer, "relation") + (scores[some, None] + scores[None])[..., None]
            kinds = self._with_null(logits).argmax(dim=2)
            relations += [(i + first, j, int(kinds[i, j]) - 1) for i, j in torch.nonzero(kinds).tolist()]
        return relations

    def _rest(self, layer: Any, task: str) -> Any:
        """The layers behind the first, and the scorer."""
        w, linear = self.weights, self.torch.nn.functional.linear
        for number in range(1, len(self.archive.layers)):
            layer = self.torch.relu(linear(layer, w[f"{task}.{number}.weight"], w[f"{task}.{number}.bias"]))
        return linear(layer, w[f"{task}.score.weight"], w[f"{task}.score.bias"])

    def _with_null(self, logits: Any) -> Any:
        return self.torch.cat([logits.new_zeros(*logits.shape[:-1], 1), logits], dim=-1)

    def _graph(
        self,
        words: Sequence[str],
        spans: Sequence[tuple[int, int]],
        labels: Sequence[int],
        relations: Sequence[tuple[int, int, int]],
    ) -> Graph:
        related: dict[int, list[list[str]]] = {}
        for source, target, kind in relations:
            related.setdefault(source, []).append([self.archive.relation_labels[kind], str(target + 1)])
        return {
            "text": " ".join(words),
            "entities": {
                str(number + 1): {
                    "tokens": " ".join(words[first : last + 1]),
                    "label": self.archive.ner_labels[label],
                    "start_ix": first,
                    "end_ix": last,
                    "relations": related.get(number, []),
                }
                for number, ((first, last), label) in enumerate(zip(spans, labels, strict=True))
            },
        }


def _names(dataset: str, layers: int) -> dict[str, str]:
    """Our names of the weights -> the names in the archive."""
    ner, relation = f"{dataset}__ner_labels", f"{dataset}__relation_labels"
    roots = {
        "ner": (f"_ner._ner_scorers.{ner}.0._module.", f"_ner._ner_scorers.{ner}.1._module."),
        "pruner": (
            f"_relation._mention_pruners.{relation}._scorer.0._module.",
            f"_relation._mention_pruners.{relation}._scorer.1._module.",
        ),
        "relation": (f"_relation._relation_feedforwards.{relation}.", f"_relation._relation_scorers.{relation}."),
    }
    names = {"width": "_endpoint_span_extractor._span_width_embedding.weight"}
    for task, (forward, score) in roots.items():
        for kind in ("weight", "bias"):
            for number in range(layers):
                names[f"{task}.{number}.{kind}"] = f"{forward}_linear_layers.{number}.{kind}"
            names[f"{task}.score.{kind}"] = f"{score}{kind}"
    return names


def _shapes(archive: Archive, hidden: int, names: dict[str, str], torch: Any) -> dict[str, Any]:
    """Shape required of each weight, by its name in the archive."""
    span = 2 * hidden + archive.feature_size
    inputs = {"ner": span, "pruner": span, "relation": 3 * span}
    outputs = {"ner": len(archive.ner_labels) - 1, "pruner": 1, "relation": len(archive.relation_labels)}
    shapes: dict[str, tuple[int, ...]] = {"width": (archive.span_width, archive.feature_size)}
    for task in inputs:
        sizes = (inputs[task], *archive.layers, outputs[task])
        steps = [*map(str, range(len(archive.layers))), "score"]
        for step, before, after in zip(steps, sizes[:-1], sizes[1:], strict=True):
            shapes[f"{task}.{step}.weight"] = (after, before)
            shapes[f"{task}.{step}.bias"] = (after,)
    return {names[key]: torch.empty(shape, device="meta") for key, shape in shapes.items()}


def _is_bare(folder: Path) -> bool:
    """True if a tokenizer of transformers' plain class, such as ModernBERT's, puts no markers around ids.

    Named by its own file, since it is the class in transformers 4, which the authors' code runs on, that counts.
    """
    path = folder / "tokenizer_config.json"
    config = parse_json(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return config.get("tokenizer_class") in ("PreTrainedTokenizerFast", "TokenizersBackend")  # the latter: since 5
