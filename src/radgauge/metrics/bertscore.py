"""BERTScore: every token greedily matched with the most similar token of the other text.

Zhang et al. (2020), BERTScore: evaluating text generation with BERT, ICLR. With published models equal to
bert-score 0.3.13; the embedded profile does the same matching over radgauge's static embedding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import NETWORK_PRECISION, Explanation, Metric, Note, Rows, reference_pairs
from radgauge.core.readings import Readings
from radgauge.encoders.text.token_vectors import (
    Baseline,
    TokenVectors,
    closest_cosines,
    embedded_token_vectors,
    greedy_match,
    idf_of_counts,
    idf_weights,
    key_hashes,
    read_baseline,
)
from radgauge.metrics._settings import EMBEDDED, label_columns, wordless
from radgauge.metrics.cider import Counts, Frequencies, Hashes

if TYPE_CHECKING:
    from radgauge.encoders.text.token_encoder import TokenEncoder


DEFAULT_ENCODER = "distilroberta-base"
PAIRS_AT_ONCE = 128
"""Token vectors take about 200 kB a text; no more are held than those of so many pairs need."""
Pair = tuple[str, str]
_NAMES = ("bertscore_f1", "bertscore_precision", "bertscore_recall")


@dataclass(frozen=True)
class BertScore(Metric):
    """F1, precision and recall of greedy token matching by cosine.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="clear lungs", references=("lungs are clear",))
    >>> BertScore(rescale=False).measure([case], reading=Readings()).round(2).tolist()  # F1, precision, recall
    [[0.89, 1.0, 0.8]]
    """

    name: ClassVar[str] = "bertscore"
    higher_is_better: ClassVar[bool] = True
    precision: ClassVar[float] = NETWORK_PRECISION
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-6.0, 1.0)
    summary: ClassVar[str] = "greedy matching of token vectors by cosine (BERTScore F1, precision, recall)"
    one_range: ClassVar[bool] = True

    # "embedded" (static embedding), "published" (the encoder by its hub id), or a folder that holds the encoder's
    # folder
    models: str = EMBEDDED
    # Any transformers encoder, by id, id@revision or folder; for published models only
    encoder: str = DEFAULT_ENCODER
    layer: int = 0  # Which layer's vectors; 0 is bert-score's choice for that encoder
    idf: bool = False  # Weigh tokens by their rarity in the references of the run
    rescale: bool = True  # Subtract what unrelated texts score, so that 0 is chance and 1 is a copy
    baseline: str = ""  # A baseline table (`LAYER,P,R,F`) of your own; "" takes the known one of the encoder
    collapse_spaces: bool = False  # Turn runs of spaces into one first, as CXR-Report-Metric does
    # What becomes of text past the encoder's limit: "truncate" (as bert-score; said in a warning) or "windows"
    # (all of it is read, in windows that overlap by half)
    long: Literal["truncate", "windows"] = "truncate"
    # "nan": a text without words is not judged; "zero": its raw values are 0, as in bert-score
    empty: Literal["nan", "zero"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer < 0:
            raise UsageError(f"bertscore: layer must be 0 (the encoder's own) or more, got {self.layer}")
        if self.models == EMBEDDED and (self.encoder, self.layer) != (DEFAULT_ENCODER, 0):
            raise UsageError("bertscore: encoder and layer belong to published models; add models=published")

    @property
    def columns(self) -> tuple[str, ...]:
        """F1 is the headline."""
        return label_columns(_NAMES, self.models)

    def checkpoints(self) -> tuple[str, ...]:
        """Return the encoder."""
        return (self.encoder,) if self.models == "published" else ()

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate counts."""
        return self.empty == "zero"

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """With idf the weights depend on the other references of the run."""
        return not self.idf

    def parts(self) -> Mapping[str, str]:
        """Source of the vectors, and the baseline."""
        signature = {"vectors": self._vectors_signature(), "references": "best"}
        if self.rescale:
            signature["chance"] = self._baseline().name
        return signature

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case F1, precision and recall."""
        candidates, references, owner = reference_pairs(cases)
        if self.collapse_spaces:
            candidates, references = ([_collapse(text) for text in side] for side in (candidates, references))
        pairs = list(zip(candidates, references, strict=True))
        weights = self._weights(candidates, references, reading) if self.idf else None
        matches, empty = self._matched(reading)
        for block, read in self._blocks([pair for pair in dict.fromkeys(pairs) if pair not in matches], reading):
            for pair in block:
                candidate_text, reference_text = read[pair[0]], read[pair[1]]
                matches[pair] = greedy_match(candidate_text, reference_text, weights=weights)
                if candidate_text.empty or reference_text.empty:
                    empty.add(pair)
        values = np.array([matches[pair] for pair in pairs]).reshape(len(pairs), 3)
        blank = np.array([pair in empty for pair in pairs], dtype=bool)
        values[blank] = 0.0
        if self.rescale:
            chance = self._baseline().values
            values = (values - chance) / (1 - chance)
        if self.empty == "nan":
            wordless_pairs = [bool(wordless(a, (b,))) for a, b in pairs]
            values[blank | np.array(wordless_pairs, dtype=bool)] = np.nan
        values = values[:, [2, 0, 1]]
        rows = np.full((len(cases), 3), np.nan)
        np.fmax.at(rows, owner, values)  # as bert-score: the best of each over the references
        return rows

    def token_vectors(self, texts: Sequence[str], *, reading: Readings) -> list[TokenVectors]:
        """The tokens of each text as they are matched."""
        plain = [_collapse(text) if self.collapse_spaces else text for text in texts]
        read = self._read(plain, reading)
        return [read[text] for text in plain]

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words, or without idf weight."""
        why = wordless(case.candidate, case.references)
        return why or "no token carries weight"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The worst-matched tokens of either text."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, rows[0]), strict=True))
        texts = [_collapse(t) if self.collapse_spaces else t for t in (case.candidate, case.references[0])]
        read = self._read(texts, reading)
        candidate_text, reference_text = (read[text] for text in texts)
        if candidate_text.empty or reference_text.empty:
            return Explanation(self.name, values)
        of_mine, of_theirs = closest_cosines(candidate_text.vectors, reference_text.vectors)
        notes = []
        for kind, side, best in (("added", candidate_text, of_mine), ("missing", reference_text, of_theirs)):
            where = "candidate" if kind == "added" else "reference"
            shown = [i for i in np.argsort(best, kind="stable") if side.counted[i]][:5]
            notes += [
                Note(kind, f"{side.tokens[i].strip()} in the {where}: best match {best[i]:.2f}")
                for i in shown
                if best[i] < 0.8 and side.tokens[i].strip()
            ]
        return Explanation(self.name, values, tuple(notes))

    def _vectors_signature(self) -> str:
        if self.models == EMBEDDED:
            from radgauge.text.static_embedding import StaticEncoder

            return StaticEncoder().signature
        return self._reader().signature

    def _reader(self) -> TokenEncoder:
        from radgauge.encoders.text.token_encoder import token_vector_reader

        return token_vector_reader(self.encoder, layer=self.layer, models=self.models, long=self.long)

    def _baseline(self) -> Baseline:
        name = EMBEDDED if self.models == EMBEDDED else self.encoder
        return read_baseline(name, layer=self.layer, path=self.baseline)

    def _keys(self, texts: Sequence[str], reading: Readings) -> Iterator[Sequence[Any]]:
        """Yield the units of each text that idf counts."""
        distinct = list(dict.fromkeys(texts))
        if self.models == EMBEDDED:
            read = embedded_token_vectors(distinct, reading=reading)
            return (read[text].keys for text in texts)
        keys = dict(zip(distinct, self._reader().keys(distinct), strict=True))
        return (keys[text] for text in texts)

    @property
    def pass_key(self) -> Hashable:
        """Key under which `measure` finds the document frequencies of a run of which it sees a part."""
        return ("token frequencies", self._vectors_signature(), self.collapse_spaces, self.empty)

    def count_documents(self, cases: Sequence[Case], *, reading: Readings) -> tuple[int, Hashes, Counts]:
        """Number of references, hashes of their tokens, and how many references have each."""
        _, references, _ = reference_pairs(cases)
        if self.collapse_spaces:
            references = [_collapse(text) for text in references]
        seen = Counter(key for keys in self._keys(references, reading) for key in set(keys))
        return len(references), key_hashes(list(seen)), np.fromiter(seen.values(), np.int64, len(seen))

    def _weights(
        self, candidates: Sequence[str], references: Sequence[str], reading: Readings
    ) -> Mapping[Any, float]:
        """Of the tokens by their rarity, in these references or in those of the run."""
        frequencies: Frequencies | None = reading.once(self.pass_key, lambda: None)
        if frequencies is None:
            return idf_weights(self._keys(references, reading))
        keys = list({key for tokens in self._keys([*candidates, *references], reading) for key in tokens})
        return idf_of_counts(
            frequencies.documents, zip(keys, frequencies.of(key_hashes(keys)).tolist(), strict=True)
        )

    def _matched(self, reading: Readings) -> tuple[dict[Pair, tuple[float, float, float]], set[Pair]]:
        """Values of the pairs that another metric of the run asked for, and which pairs have an empty side.

        Three numbers a pair are kept in place of the vectors of its texts; with idf they belong to one call alone.
        """
        if self.idf or self.models == EMBEDDED:
            return {}, set()
        signature = self._vectors_signature()
        return reading.once(("bertscore values", signature), dict), reading.once(
            ("bertscore empty pairs", signature), set
        )

    def _blocks(
        self, pairs: list[Pair], reading: Readings
    ) -> Iterator[tuple[list[Pair], Mapping[str, TokenVectors]]]:
        """The pairs with the token vectors of their texts.

        Pairs of one reference come together, and a text is forgotten behind its last pair.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if self.models == EMBEDDED:
            yield pairs, self._read(texts, reading)
            return
        index = {text: at for at, text in reversed(list(enumerate(reference for _, reference in pairs)))}
        pairs = sorted(pairs, key=lambda pair: index[pair[1]])
        left = Counter(text for pair in pairs for text in pair)
        held: dict[str, TokenVectors] = {}
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            block = pairs[start : start + PAIRS_AT_ONCE]
            missing = list(dict.fromkeys(text for pair in block for text in pair if text not in held))
            held.update(zip(missing, reading.fork().of(self._reader(), missing), strict=True))
            yield block, held
            left.subtract(text for pair in block for text in pair)
            for text in [text for text in held if not left[text]]:
                del held[text]  # here, because the caller still holds this dictionary

    def _read(self, texts: Sequence[str], reading: Readings) -> Mapping[str, TokenVectors]:
        distinct = list(dict.fromkeys(texts))
        if self.models == EMBEDDED:
            return embedded_token_vectors(distinct, reading=reading)
        return dict(zip(distinct, reading.of(self._reader(), distinct), strict=True))


def _collapse(text: str) -> str:
    return " ".join(part for part in text.split(" ") if part) if "  " in text else text
