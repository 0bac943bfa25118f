"""layman: evaluation through lay replacement, by meaning of sentences and by words before and after.

Zhao et al., Layman's RRG (2024), algorithm 2 and table 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import NETWORK_PRECISION, Explanation, Metric, Note, Rows
from radgauge.core.readings import Readings
from radgauge.encoders.text.encoders import Encoder, encoder_named
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.replacement import NEVER, STRANGE, Replaced, replace_sentences
from radgauge.lay.sentences import sentence_set
from radgauge.metrics._settings import EMBEDDED, label_columns, wordless
from radgauge.metrics.bleu import Bleu
from radgauge.metrics.meteor import STATISTICS, Meteor
from radgauge.metrics.rouge import Rouge

SEMANTICS = ("layman_semantics", "layman_recall", "layman_f1", "layman_raw_semantics", "layman_similarity")
_BLEU, _ROUGE, _METEOR = Bleu(empty="zero"), Rouge(empty="zero"), Meteor(empty="zero")
_WIDTHS = {_BLEU.name: 9, _ROUGE.name: len(_ROUGE.columns), _METEOR.name: STATISTICS}  # sufficient statistics


@dataclass(frozen=True)
class Layman(Metric):
    """Share of candidate sentences whose lay text means the same as that of a reference sentence.

    Each sentence of both reports becomes the lay text of its nearest entry of the sentence set. `layman_semantics`
    is the share of candidate sentences with a reference sentence at or above the threshold, as published (a
    precision); recall and F1 stand beside it, the same share on the raw sentences, and the mean of the closest
    cosines. BLEU and ROUGE follow, on raw and on replaced text, and METEOR if asked for. A set's value is the mean
    of its cases; BLEU's and METEOR's come from summed counts. Of several references the one with the greatest F1
    counts.

    >>> case = Case("1", "No pleural effusion. Lungs are clear.", ("There is no effusion. Cardiomegaly.",))
    >>> Layman().case_scores(Layman().measure([case], reading=Readings()))[0, :3].tolist()
    [0.5, 0.5, 0.5]
    """

    name: ClassVar[str] = "layman"
    precision: ClassVar[float] = NETWORK_PRECISION
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    summary: ClassVar[str] = "sentences that mean the same after lay replacement; words before and after"

    # "embedded", or an encoder: folder or hub id of a transformer. The paper uses GritLM but does not say which;
    # "published" is therefore no value.
    models: str = EMBEDDED
    # With embedded models: "findings" (words and statements) or "static" (words only)
    encoder: Literal["findings", "static"] = "findings"
    sentences: str = ""  # A sentence set of your own (two tab-separated columns); "" = the embedded one
    threshold: float = 0.8  # Cosine from which two sentences mean the same; 0.8 in the paper
    # What becomes of a sentence that no entry of the set comes near: "nearest" takes the nearest entry all the
    # same, as published; "write" has the embedded writer put it in plain words, which agrees less with raters
    outside: Literal["nearest", "write"] = "nearest"
    # True if METEOR is measured as well; it needs the extra `meteor` and Java, and says so if they are missing
    meteor: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.models == "published":
            raise UsageError(
                "layman: models must be 'embedded' or an encoder's folder or id; the paper does not name its model"
            )
        if not 0 < self.threshold <= 1:
            raise UsageError(f"layman: threshold must be above 0 and at most 1, got {self.threshold}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Semantics first, then words before and after."""
        words = [
            f"layman_{state}_{name}"
            for state in ("raw", "lay")
            for metric in self._word_metrics()
            for name in metric.columns
        ]
        return label_columns((*SEMANTICS, *words), self.models)

    def parts(self) -> Mapping[str, str]:
        """Encoder and sentence set."""
        return {"vectors": self._encoder().signature, "set": _hash(self.sentences), "references": "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case: semantics, then the rows of BLEU, ROUGE and METEOR, raw and lay."""
        words = self._word_metrics()
        width = len(SEMANTICS) + 2 * sum(_WIDTHS[metric.name] for metric in words)
        rows = np.full((len(cases), width), np.nan)
        replaced = self.replaced(cases, reading=reading)
        chosen = []
        for index, case in enumerate(cases):
            best = self._best(case, replaced)
            if best is not None:
                rows[index, : len(SEMANTICS)] = best[0]
                chosen.append((index, case, best[1]))
        if not chosen:
            return rows
        raw = [Case(case.id, case.candidate, (text,)) for _, case, text in chosen]
        lay = [
            Case(raw_case.id, replaced.lay_text(raw_case.candidate), (replaced.lay_text(raw_case.references[0]),))
            for raw_case in raw
        ]
        judged = [index for index, _, _ in chosen]
        rows[judged, len(SEMANTICS) :] = np.hstack(
            [metric.measure(group, reading=reading) for group in (raw, lay) for metric in words]
        )
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """Values of each case."""
        return self._values(rows, np.where(np.isnan(rows), 0.0, 1.0))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Means; BLEU and METEOR from summed counts."""
        return self._values(totals, counts)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Show what each candidate sentence became and if the reference says so too."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, self.case_scores(rows)[0]), strict=True))
        replaced = self.replaced([case], reading=reading)
        best = self._best(case, replaced)
        if best is None:
            return Explanation(self.name, values)
        cosines = replaced.matrix(case.candidate, lay=True) @ replaced.matrix(best[1], lay=True).T
        notes, at = [], 0
        for sentence, row in zip(replaced.sentences[case.candidate], cosines, strict=True):
            start = case.candidate.find(sentence, at)
            at = start + len(sentence)
            other = replaced.lay[replaced.sentences[best[1]][int(row.argmax())]]
            kind = "matched" if row.max() >= self.threshold else "added"
            text = f"In plain words: {replaced.lay[sentence]} Closest in the reference: {other} ({row.max():.2f})"
            notes.append(Note(kind, text, (), ((start, at),), {"similarity": float(row.max())}))
        return Explanation(self.name, values, tuple(notes))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words."""
        return wordless(case.candidate, case.references) or "no sentence to compare"

    def _word_metrics(self) -> tuple[Metric, ...]:
        return (_BLEU, _ROUGE, _METEOR) if self.meteor else (_BLEU, _ROUGE)

    def _encoder(self) -> Encoder:
        if self.models != EMBEDDED:
            return encoder_named(self.models, max_length=512)
        return FindingEncoder() if self.encoder == "findings" else encoder_named("embedded")

    def replaced(self, cases: Sequence[Case], *, reading: Readings) -> Replaced:
        """The texts of the cases with every sentence replaced."""
        texts = [text for case in cases for text in (case.candidate, *case.references)]
        return replace_sentences(
            texts,
            sentence_set(self.sentences),
            encoder=self._encoder(),
            reading=reading,
            write_below=STRANGE if self.outside == "write" else NEVER,
        )

    def _best(self, case: Case, replaced: Replaced) -> tuple[tuple[float, ...], str] | None:
        if not replaced.sentences[case.candidate]:
            return None
        scored = [
            (self._shares(case.candidate, text, replaced), text)
            for text in case.references
            if replaced.sentences[text]
        ]
        return max(scored, key=lambda item: (item[0][2], item[0], item[1]), default=None)

    def _shares(self, candidate: str, reference: str, replaced: Replaced) -> tuple[float, ...]:
        shares, closest = [], []
        for lay in (True, False):
            # rounded: a copy's cosine is 1 up to the last bits, and so is a threshold met exactly
            cosines = (replaced.matrix(candidate, lay=lay) @ replaced.matrix(reference, lay=lay).T).round(5)
            hits = cosines >= self.threshold
            closest.append(float(cosines.max(axis=1).mean()))
            shares.append((float(hits.any(axis=1).mean()), float(hits.any(axis=0).mean())))
        (precision, recall), (raw, _) = shares
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return precision, recall, f1, raw, closest[0]

    def _values(self, totals: Rows, counts: Rows) -> Rows:
        end = len(SEMANTICS)
        parts = [super().corpus_scores(totals[..., :end], counts[..., :end])]
        for metric in self._word_metrics() * 2:
            start, end = end, end + _WIDTHS[metric.name]
            parts.append(metric.corpus_scores(totals[..., start:end], counts[..., start:end]))
        return np.concatenate(parts, axis=-1)


@lru_cache(maxsize=8)
def _hash(path: str) -> str:
    pairs = sentence_set(path)
    return hashlib.sha256("\n".join("\t".join(pair) for pair in pairs).encode()).hexdigest()[:8]
