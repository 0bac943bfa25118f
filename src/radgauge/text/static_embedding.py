"""The embedded encoder: a static embedding of radiology language that needs numpy only.

A text is the sum of its word vectors, scaled to length one. How much a word counts is the length of its
vector, so there is no separate weighting. Multi-word terms whose meaning is not the sum of their words
("collapsed lung") have vectors of their own; unknown words are the mean of their character n-grams. The table
is made by `recipes/static_embedding`; its model card is `docs/models/static_embedding.md`.

Written for this project because the general static embeddings that exist know too little radiology, and any
transformer costs users a gigabyte of libraries (figures in the model card).
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError
from radgauge.core.parsing import parse_json
from radgauge.text.words import normal_form

Vectors = NDArray[np.float32]

EMBEDDED = Path(__file__).parent / "data" / "static_embedding.npz"
NUMBER = "#"  # the word for every number that has no vector of its own
GRAM_SIZES = (3, 4, 5, 6)
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+\d*")
_MASK = re.compile(r"\[\*\*.{0,200}?\*\*\]|\b[Xx]{4,}\b")
_REMEMBERED_WORDS = 200_000
_TOKENS_AT_ONCE = 1 << 11  # their vectors fit the processor's cache


def words_of(text: str) -> list[str]:
    """Normal forms of the words and numbers of a text; de-identification marks are left out.

    >>> words_of("Small bilateral pleural effusions, T12 XXXX 2.5cm")
    ['small', 'bilateral', 'pleural', 'effusion', 't12', '2.5', 'cm']
    """
    return [normal_form(word) for word in _TOKEN.findall(_MASK.sub(" ", text))]


def grams_of(word: str) -> list[str]:
    """Character n-grams of a word with its borders marked.

    >>> grams_of("rib")
    ['<ri', 'rib', 'ib>', '<rib', 'rib>', '<rib>']
    """
    marked = f"<{word}>"
    return [marked[at : at + size] for size in GRAM_SIZES for at in range(len(marked) - size + 1)]


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The arrays of a file; every way in which it can be wrong is one error."""
    try:
        # numpy leaves a file that it cannot read open, so it is opened here.
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            yield stored
    except FileNotFoundError:
        raise ModelError(f"static embedding {path} does not exist") from None
    except (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelError(
            f"static embedding {path} must be a table written by recipes/static_embedding, got: {error}"
        ) from error


@lru_cache(maxsize=4)
def read_meta(path: Path) -> dict[str, Any]:
    """Name, content hash and sizes of a table, without its vectors."""
    with _opened(path) as stored:
        meta: dict[str, Any] = parse_json(stored["meta"].tobytes())
        return meta


class EmbeddingTable:
    """Vectors of words, terms and n-grams as read from a file; rows are dequantised when they are used."""

    def __init__(self, path: Path) -> None:
        with _opened(path) as stored:
            words: list[str] = stored["words"].tobytes().decode().split("\n")
            grams = stored["grams"].tobytes().decode().split("\n")
            sizes, parts = stored["term_sizes"], stored["term_words"]
            packed, scales = stored["codes"], stored["scales"]
        self.words = words
        self.codes = np.empty((len(packed), packed.shape[1] * 2), np.int8)
        self.codes[:, 0::2] = (packed & 15).astype(np.int8) - 8
        self.codes[:, 1::2] = (packed >> 4).astype(np.int8) - 8
        self.scales = scales.astype(np.float32)
        self.grams = {gram: row for row, gram in enumerate(grams, start=len(words) + len(sizes))}
        self.rows = {word: row for row, word in enumerate(words)}
        self.terms: dict[tuple[int, ...], int] = {}
        self.term_sizes: dict[int, list[int]] = {}
        ends = np.cumsum(sizes)
        for row, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True), start=len(words)):
            key = tuple(parts[end - size : end].tolist())
            self.terms[key] = row
            self.term_sizes.setdefault(key[0], []).append(size)
        for first, result in self.term_sizes.items():
            self.term_sizes[first] = sorted(set(result), reverse=True)
        self._term_parts = list(self.terms)
        self._known: dict[str, int] = {}
        self._unknown_words: list[str] = []
        self._unknown: Vectors = np.empty((0, self.codes.shape[1]), np.float32)
        self._buffer: Vectors = self._unknown

    def vectors(self, rows: NDArray[np.int64]) -> Vectors:
        """Rows of the table as numbers; rows past its end are words met since it was loaded."""
        decoded: Vectors = np.empty((len(rows), self.codes.shape[1]), np.float32)
        inside = rows < len(self.codes)
        if inside.all():
            np.multiply(self.codes[rows], self.scales[rows, None], out=decoded)
            return decoded
        entry = rows[inside]
        decoded[inside] = self.codes[entry] * self.scales[entry, None]
        decoded[~inside] = self._unknown_vectors()[rows[~inside] - len(self.codes)]
        return decoded

    def row_of(self, token: str) -> int:
        """Row of one token as written; -1 for a de-identification mark."""
        row = self._known.get(token)
        if row is None:
            row = self._find(token)
            self._known[token] = row
        return row

    def forget(self) -> None:
        """Drop remembered words, so that a long-running service does not grow without end."""
        if len(self._known) > _REMEMBERED_WORDS:
            self._known.clear()
            self._unknown_words.clear()
            self._unknown = self._unknown[:0]

    def name(self, row: int) -> str:
        """The word or term that a row stands for."""
        if row < len(self.words):
            return self.words[row]
        if row >= len(self.codes):
            return self._unknown_words[row - len(self.codes)]
        return " ".join(self.words[part] for part in self._term_parts[row - len(self.words)])

    def _find(self, token: str) -> int:
        if len(token) >= 4 and not token.strip("Xx"):
            return -1
        word = normal_form(token)
        row = self.rows.get(word)
        if row is None and word[0].isdigit():
            row = self.rows.get(NUMBER)
        if row is None:
            row = len(self.codes) + len(self._unknown_words)
            self._unknown_words.append(word)
        return row

    def _unknown_vectors(self) -> Vectors:
        size = len(self._unknown_words)
        if size > len(self._buffer):  # room for as many again: to add words one by one costs no square
            self._buffer = np.empty((2 * size, self.codes.shape[1]), np.float32)
            self._buffer[: len(self._unknown)] = self._unknown
        for row in range(len(self._unknown), size):
            self._buffer[row] = self._compose(self._unknown_words[row])
        self._unknown = self._buffer[:size]
        return self._unknown

    def _compose(self, word: str) -> Vectors:
        rows = [row for gram in grams_of(word) if (row := self.grams.get(gram)) is not None]
        if rows:
            mean: Vectors = self.vectors(np.array(rows)).mean(axis=0)
            return mean
        # Another alphabet: nothing is known of the word but that it equals itself. RandomState's stream is
        # frozen by numpy's compatibility policy, so the vector is the same everywhere.
        drawn = np.random.RandomState(zlib.crc32(word.encode())).standard_normal(self.codes.shape[1])
        scaled: Vectors = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        return scaled


@lru_cache(maxsize=4)
def load_table(path: Path) -> EmbeddingTable:
    """The table in a file, read once per process."""
    return EmbeddingTable(path)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))  # a copy is 1.0 to 1e-6
    lengths[lengths == 0] = 1
    scaled: Vectors = vectors / lengths.astype(np.float32)[:, None]
    return scaled


@dataclass(frozen=True)
class StaticEncoder:
    """Texts to vectors by a table of words; deterministic, order of words ignored.

    It is a `Reader`: a reading is the vector of the text.

    >>> lung, pulmonary, femur = StaticEncoder().encode(["lung", "pulmonary", "femur"])
    >>> bool(lung @ pulmonary > 0.6 > lung @ femur)
    True

    Args:
        path: Another table of the same format; empty for the one that ships with the package.
        terms: Give known multi-word terms their own vectors.
    """

    path: str = ""
    terms: bool = True
    batch_size: ClassVar[int] = 8192

    @property
    def table(self) -> EmbeddingTable:
        """The table, loaded when first needed."""
        return load_table(self._path)

    @property
    def _path(self) -> Path:
        return Path(self.path) if self.path else EMBEDDED

    @property
    def signature(self) -> str:
        """Name and content hash of the table, and the setting."""
        meta = read_meta(self._path)
        return f"{meta['name']}@{meta['hash']}" + ("" if self.terms else "|words")

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.table.codes.shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text; a text without any word or number is a row of zeros.

        Returns:
            Array of shape (number of texts, `dimensions`).
        """
        table = self.table
        table.forget()
        encoded = np.zeros((len(texts), self.dimensions), np.float32)
        rows: list[int] = []
        starts: list[int] = []
        filled: list[int] = []
        for position, text in enumerate(texts):
            own = self._rows(text, table)
            if own:
                starts.append(len(rows))
                filled.append(position)
                rows += own
            if len(rows) > _TOKENS_AT_ONCE:
                encoded[filled] = _unit(np.add.reduceat(table.vectors(np.array(rows)), starts, axis=0))
                rows, starts, filled = [], [], []
        if rows:
            encoded[filled] = _unit(np.add.reduceat(table.vectors(np.array(rows)), starts, axis=0))
        return encoded

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))

    def encode_tokens(self, text: str) -> tuple[tuple[str, ...], Vectors]:
        """The words and known terms of a text in order, and a row of length one for each.

        >>> StaticEncoder(terms=False).encode_tokens("Lungs clear")[0]
        ('lung', 'clear')
        """
        table = self.table
        table.forget()
        rows = self._rows(text, table)
        names = tuple(table.name(row) for row in rows)
        return names, _unit(table.vectors(np.array(rows, dtype=np.int64)))

    def token_weights(self, text: str) -> NDArray[np.float64]:
        """Weight of each token of `encode_tokens` in the text: the length of its vector."""
        rows = np.array(self._rows(text, self.table), dtype=np.int64)
        lengths: NDArray[np.float64] = np.linalg.norm(self.table.vectors(rows), axis=1).astype(np.float64)
        return lengths

    def _rows(self, text: str, table: EmbeddingTable) -> list[int]:
        if "[**" in text:
            text = _MASK.sub(" ", text)
        entry, row_of = table._known, table.row_of
        rows = []
        for token in _TOKEN.findall(text):
            row = entry.get(token)
            if row is None:
                row = row_of(token)
            if row >= 0:
                rows.append(row)
        return _join_terms(rows, table) if self.terms and len(rows) > 1 else rows


def _join_terms(rows: list[int], table: EmbeddingTable) -> list[int]:
    """Replace runs of words that form a known term by the row of the term, longest first, left to right."""
    sizes, terms = table.term_sizes, table.terms
    joined: list[int] = []
    at, end = 0, len(rows)
    while at < end:
        row, step = rows[at], 1
        for size in sizes.get(row, ()):
            if at + size <= end and (term := terms.get(tuple(rows[at : at + size]))) is not None:
                row, step = term, size
                break
        joined.append(row)
        at += step
    return joined
