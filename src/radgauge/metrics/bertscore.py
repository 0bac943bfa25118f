"""BERTScore: every token greedily matched with the most similar token of the other text.

Zhang et al. (2020), BERTScore: evaluating text generation with BERT, ICLR. With published models equal to
bert-score 0.3.13; the embedded profile does the same matching over radgauge's static embedding.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from radgauge.cases import Case
from radgauge.errors import UsageError
from radgauge.metric import Explanation, Metric, Note, Rows, reference_pairs
from radgauge.metrics._settings import EMBEDDED, check_choices, label_columns, wordless
from radgauge.models.token_vectors import (
    Baseline,
    TokenVectors,
    embedded_token_vectors,
    greedy_match,
    idf_weights,
    read_baseline,
)
from radgauge.reading import Readings

if TYPE_CHECKING:
    from radgauge.models.token_encoder import TokenEncoder

log = logging.getLogger(__name__)

DEFAULT_ENCODER = "distilroberta-base"
_NAMES = ("bertscore_f1", "bertscore_precision", "bertscore_recall")


@dataclass(frozen=True)
class BertScore(Metric):
    """F1, precision and recall of greedy token matching by cosine.

    Attributes:
        models: "embedded" (static embedding), "published" (the encoder by its hub id), or a folder that holds
            the encoder's folder.
        encoder: Any transformers encoder, by id, id@revision or folder; for published models only.
        layer: Which layer's vectors; 0 is bert-score's choice for that encoder.
        idf: Weigh tokens by their rarity in the references of the run.
        rescale: Subtract what unrelated texts score, so that 0 is chance and 1 is a copy.
        baseline: A baseline table (`LAYER,P,R,F`) of your own; "" takes the known one of the encoder.
        collapse_spaces: Turn runs of spaces into one first, as CXR-Report-Metric does.
        long: What becomes of text past the encoder's limit: "truncate" (as bert-score; said in a warning) or
            "windows" (all of it is read, in windows that overlap by half).
        empty: "nan": a text without words is not judged; "zero": its raw values are 0, as in bert-score.

    >>> from radgauge.cases import Case
    >>> from radgauge.reading import Readings
    >>> case = Case("1", candidate="clear lungs", references=("lungs are clear",))
    >>> BertScore(rescale=False).measure([case], reading=Readings()).round(2).tolist()  # F1, precision, recall
    [[0.89, 1.0, 0.8]]
    """

    name: ClassVar[str] = "bertscore"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-6.0, 1.0)
    summary: ClassVar[str] = "greedy matching of token vectors by cosine (BERTScore F1, precision, recall)"

    models: str = EMBEDDED
    encoder: str = DEFAULT_ENCODER
    layer: int = 0
    idf: bool = False
    rescale: bool = True
    baseline: str = ""
    collapse_spaces: bool = False
    long: str = "truncate"
    empty: str = "nan"

    def __post_init__(self) -> None:
        check_choices(self, long=("truncate", "windows"), empty=("nan", "zero"))
        if self.layer < 0:
            raise UsageError(f"bertscore: layer must be 0 (the encoder's own) or more, got {self.layer}")
        if self.models == EMBEDDED and (self.encoder, self.layer) != (DEFAULT_ENCODER, 0):
            raise UsageError("bertscore: encoder and layer belong to published models; add models=published")

    @property
    def columns(self) -> tuple[str, ...]:
        """F1 is the headline."""
        return label_columns(_NAMES, self.models)

    @property
    def judges_empty(self) -> bool:
        """Whether an empty candidate counts."""
        return self.empty == "zero"

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """With idf the weights depend on the other references of the run."""
        return not self.idf

    def parts(self) -> Mapping[str, str]:
        """What makes the vectors, and the baseline."""
        found = {"vectors": self._vectors_signature(), "references": "best"}
        if self.rescale:
            found["chance"] = self._baseline().name
        return found

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case F1, precision and recall."""
        candidates, references, owner = reference_pairs(cases)
        if self.collapse_spaces:
            candidates, references = ([_collapse(text) for text in side] for side in (candidates, references))
        read = self._read([*candidates, *references], reading)
        weights = idf_weights([read[text] for text in references]) if self.idf else None
        known: dict[tuple[str, str], tuple[float, float, float]] = {}
        values = np.full((len(candidates), 3), np.nan)
        for row, pair in enumerate(zip(candidates, references, strict=True)):
            if pair not in known:
                known[pair] = greedy_match(read[pair[0]], read[pair[1]], weights=weights)
            values[row] = known[pair]
        blank = np.array(
            [read[a].empty or read[b].empty for a, b in zip(candidates, references, strict=True)], dtype=bool
        )
        values[blank] = 0.0
        if self.rescale:
            chance = self._baseline().values
            values = (values - chance) / (1 - chance)
        if self.empty == "nan":
            wordless_pairs = [bool(wordless(a, (b,))) for a, b in zip(candidates, references, strict=True)]
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
        """Which side has no words, or no idf weight."""
        why = wordless(case.candidate, case.references)
        return why or "no token carries weight"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The worst-matched tokens of either text."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, rows[0]), strict=True))
        texts = [_collapse(t) if self.collapse_spaces else t for t in (case.candidate, case.references[0])]
        read = self._read(texts, reading)
        mine, theirs = (read[text] for text in texts)
        if mine.empty or theirs.empty:
            return Explanation(self.name, values)
        cosine = mine.vectors @ theirs.vectors.T
        notes = []
        for kind, side, best in (
            ("added", mine, cosine.max(axis=1)),
            ("missing", theirs, cosine.max(axis=0)),
        ):
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
            from radgauge.models.static_embedding import StaticEncoder

            return StaticEncoder().signature
        return self._reader().signature

    def _reader(self) -> TokenEncoder:
        from radgauge.models.token_encoder import token_vector_reader

        return token_vector_reader(self.encoder, layer=self.layer, models=self.models, long=self.long)

    def _baseline(self) -> Baseline:
        name = EMBEDDED if self.models == EMBEDDED else self.encoder
        return read_baseline(name, layer=self.layer, path=self.baseline)

    def _read(self, texts: Sequence[str], reading: Readings) -> Mapping[str, TokenVectors]:
        distinct = list(dict.fromkeys(texts))
        if self.models == EMBEDDED:
            return embedded_token_vectors(distinct, reading=reading)
        found = dict(zip(distinct, reading.of(self._reader(), distinct), strict=True))
        cut = sum(each.cut > 0 for each in found.values())
        if cut:
            log.warning(
                "bertscore: %d of %d texts are longer than the encoder reads and were cut; long=windows reads all",
                cut,
                len(found),
            )
        return found


def _collapse(text: str) -> str:
    return " ".join(part for part in text.split(" ") if part) if "  " in text else text
