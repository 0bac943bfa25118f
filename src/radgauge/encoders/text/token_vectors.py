"""Token vectors for BERTScore: from the static embedding or any transformers encoder, and their matching."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.text.static_embedding import StaticEncoder

Vectors = NDArray[np.float32]
TABLES = Path(__file__).parent / "data" / "bertscore_baselines.csv"
CELLS = 1 << 24  # cosines held at once
LAYERS = Path(__file__).parent / "data" / "bertscore_layers.csv"


class TokenVectors(NamedTuple):
    """The tokens of one text."""

    tokens: tuple[str, ...]  # As text, for people
    keys: tuple[Any, ...]  # What idf counts: vocabulary ids, or the words of the static embedding
    vectors: Vectors  # One row of length one per token
    # False for the tokens that mark beginning and end: they can be matched but are not averaged
    counted: NDArray[np.bool_]
    cut: int = 0  # How many tokens were left out because the text is longer than the encoder reads
    static: bool = False  # True if equal keys have equal vectors, wherever they stand

    @property
    def empty(self) -> bool:
        """True if there are only markers."""
        return not self.counted.any()


class Baseline(NamedTuple):
    """Scores of unrelated texts: precision, recall, F1."""

    name: str
    values: NDArray[np.float64]


def embedded_token_vectors(texts: Sequence[str], *, reading: Readings) -> dict[str, TokenVectors]:
    """Token vectors of the static embedding; a word's vector is kept once, however often it occurs."""
    encoder = StaticEncoder()
    names: dict[str, tuple[str, ...]] = reading.once(("static token names", encoder.signature), dict)
    rows: dict[str, Vectors] = reading.once(("static token vectors", encoder.signature), dict)
    vectors_by_text = {}
    for text in texts:
        if text not in names:
            tokens, vectors = encoder.encode_tokens(text)
            names[text] = tokens
            for token, vector in zip(tokens, vectors, strict=True):
                if token not in rows:
                    rows[token] = vector.copy()
        text_tokens = names[text]
        stacked = (
            np.stack([rows[token] for token in text_tokens])
            if text_tokens
            else np.zeros((0, encoder.dimensions), "f4")
        )
        vectors_by_text[text] = TokenVectors(
            text_tokens, text_tokens, stacked, np.ones(len(text_tokens), dtype=bool), static=True
        )
    return vectors_by_text


def greedy_match(
    candidate: TokenVectors, reference: TokenVectors, *, weights: Mapping[Any, float] | None = None
) -> tuple[float, float, float]:
    """Precision, recall and F1 of one pair; NaN where no token of a side carries weight.

    >>> one = TokenVectors(("a",), ("a",), np.array([[1.0, 0.0]], "f4"), np.array([True]))
    >>> two = TokenVectors(("a", "b"), ("a", "b"), np.eye(2, dtype="f4"), np.array([True, True]))
    >>> greedy_match(one, two)[:2]  # all of the candidate is found, half of the reference
    (1.0, 0.5)
    """
    if candidate.empty or reference.empty:
        return math.nan, math.nan, math.nan
    candidate_rows, candidate_index = _distinct(candidate)
    reference_rows, reference_index = _distinct(reference)
    candidate_best, reference_best = closest_cosines(candidate_rows, reference_rows)
    precision = _average(candidate_best[candidate_index], candidate, weights)
    recall = _average(reference_best[reference_index], reference, weights)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def closest_cosines(rows: Vectors, columns: Vectors) -> tuple[Vectors, Vectors]:
    """For each row the greatest product with a column, and the other way round; in blocks, so memory is bounded.

    >>> [best.tolist() for best in closest_cosines(np.eye(2, dtype="f4"), np.array([[0.0, 1.0]], "f4"))]
    [[0.0, 1.0], [1.0]]
    """
    of_rows = np.empty(len(rows), np.float32)
    of_columns = np.full(len(columns), -np.inf, np.float32)
    step = max(1, CELLS // len(columns))
    for start in range(0, len(rows), step):
        block = rows[start : start + step] @ columns.T
        of_rows[start : start + step] = block.max(axis=1)
        np.maximum(of_columns, block.max(axis=0), out=of_columns)
    return of_rows, of_columns


def _distinct(side: TokenVectors) -> tuple[Vectors, NDArray[np.intp]]:
    """Vectors to compare and which of them each token has: repeated words are compared once."""
    if not side.static:
        return side.vectors, np.arange(len(side.vectors))
    first: dict[Any, int] = {}
    at = np.array([first.setdefault(key, len(first)) for key in side.keys], dtype=np.intp)
    rows = np.empty(len(first), dtype=np.intp)
    rows[at[::-1]] = np.arange(len(at))[::-1]
    return side.vectors[rows], at


def _average(best: NDArray[Any], side: TokenVectors, weights: Mapping[Any, float] | None) -> float:
    if weights is None:
        return float(best[side.counted].mean(dtype=np.float64))
    key_weights = np.array([weights.get(key, weights[None]) for key in side.keys])
    total = key_weights.sum()
    return float(best @ key_weights / total) if total else math.nan


def idf_weights(references: Iterable[Sequence[Any]]) -> dict[Any, float]:
    """ln((N + 1) / (df + 1)) by token key; the key None holds the weight of tokens never seen.

    Args:
        references: The keys of each reference's tokens.

    As in bert-score the markers are counted too; they occur in every reference, so they weigh nothing.
    """
    seen: Counter[Any] = Counter()
    size = 1
    for keys in references:
        seen.update(set(keys))
        size += 1
    return idf_of_counts(size - 1, seen.items())


def idf_of_counts(references: int, counts: Iterable[tuple[Any, int]]) -> dict[Any, float]:
    """The same from the number of references and, by token key, how many of them have it.

    >>> idf_of_counts(1, [("a", 1), ("b", 0)])["a"]
    0.0
    """
    size = references + 1
    return {None: math.log(size), **{key: math.log(size / (count + 1)) for key, count in counts}}


def key_hashes(keys: Sequence[Any]) -> NDArray[np.uint64]:
    """128 bits of each token key, a word or the number of one: (keys, 2), the same in every process."""
    packed = b"".join(hashlib.blake2b(repr(key).encode(), digest_size=16).digest() for key in keys)
    return np.frombuffer(packed, dtype=np.uint64).reshape(-1, 2)


def read_baseline(encoder: str, *, layer: int, path: str = "") -> Baseline:
    """The baseline of an encoder's layer, from the tables that ship or from a file of the same form.

    Raises:
        UsageError: No baseline is known; the message says what to do.
    """
    if path:
        try:
            with Path(path).open(newline="", encoding="utf-8") as file:
                rows = {int(row["LAYER"]): row for row in csv.DictReader(file)}
            row = rows[layer]
            return Baseline(f"{Path(path).name}:{layer}", np.array([float(row[key]) for key in "PRF"]))
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{path} must be a table with the columns LAYER,P,R,F and a row for layer {layer}, got: {error}"
            ) from error
    name = encoder.partition("@")[0].rstrip("/")
    for alias in (name, name.rpartition("/")[2]):
        if table := _tables().get(alias):
            layer = layer or known_layer(alias)
            if layer in table:
                return Baseline(f"{alias}:{layer}", np.array(table[layer]))
    raise UsageError(
        f"bertscore: there is no baseline for {encoder!r}, layer {layer}; "
        "use rescale=no, or give a table with baseline=FILE"
    )


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[int, tuple[float, float, float]]]:
    tables: dict[str, dict[int, tuple[float, float, float]]] = {}
    with TABLES.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            values = (float(row["P"]), float(row["R"]), float(row["F"]))
            tables.setdefault(row["encoder"], {})[int(row["layer"])] = values
    return tables


@lru_cache(maxsize=1)
def _layers() -> dict[str, int]:
    with LAYERS.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["encoder"]: int(row["layer"]) for row in rows}


def known_layer(encoder: str) -> int:
    """The layer that bert-score uses of an encoder; the embedded table has one layer, 0.

    >>> known_layer("distilroberta-base")
    5
    """
    name = encoder.partition("@")[0].rstrip("/")
    if name == "embedded":
        return 0
    for alias in (name, name.rpartition("/")[2]):
        if alias in _layers():
            return _layers()[alias]
    raise UsageError(f"bertscore: the layer of {encoder!r} is not known; name it with layer=N")
