"""RaTEScore: entities of both reports, matched by meaning, weighted by type.

Zhao et al. (2024), RaTEScore: a metric for radiology report generation, EMNLP.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import (
    NETWORK_PRECISION,
    Explanation,
    Metric,
    Note,
    Rows,
    Span,
    best_reference,
    reference_pairs,
)
from radgauge.core.readings import Reader, Readings
from radgauge.core.signature import component
from radgauge.encoders.checkpoints.catalogue import located
from radgauge.encoders.text.encoders import Encoder, encoder_named
from radgauge.encoders.text.ratener import Entity, RateNer
from radgauge.encoders.text.span_ner import SPAN_HEAD, SpanNer
from radgauge.metrics.ratescore.pairing import EntityTable, TypeSums, closest, type_sums
from radgauge.metrics.ratescore.weights import TYPE_INDEX, Affinity, affinity
from radgauge.reader import ReportReader, rate_entities

# RaTE entities of reports, from the embedded reader.


@dataclass(frozen=True)
class EmbeddedEntities:
    """The report reader's RaTE view as a persistent reader.

    It asks `Readings` for the reports, so that metrics which read the same reports share the work.
    """

    reading: Readings = field(compare=False)
    reports: ReportReader = field(default_factory=ReportReader)

    @property
    def signature(self) -> str:
        """Version of the view, and the reader's signature."""
        return f"{component('rate-entities')}:{self.reports.signature}"

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Entities in text order."""
        return [
            tuple(
                Entity(entity.name, entity.type.upper(), entity.start, entity.end)
                for entity in rate_entities(report)
            )
            for report in self.reading.of(self.reports, texts)
        ]

    def pack(self, reading: tuple[Entity, ...], text: str) -> bytes:
        """Return the entities as JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> tuple[Entity, ...]:
        """Return the entities that `pack` wrote."""
        return tuple(Entity(*fields) for fields in json.loads(packed))


NER = "Angelakeke/RaTE-NER-Deberta"
ENCODER = "FremyCompany/BioLORD-2023-C"
"""The authors' checkpoints."""

CLOSE = 0.6
"""Explanations call an entity missing or added when its closest one is less similar than this."""

PUBLISHED_EMPTY = 0.5
"""What the released code gives when a side has no entities."""


@dataclass(frozen=True)
class RateScore(Metric):
    """Similarity of the entities of two reports; sees synonyms, negation and the kind of entity.

    Every entity of one report is matched with the closest of the other by the cosine of their names' vectors.
    The cosines are averaged with weights for the two types, less a penalty where a finding meets its denial;
    the harmonic mean of both directions is the score. A set's value is the mean of its cases.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> reference = ("Small pleural effusion. The heart is enlarged.",)
    >>> texts = ["Small pleural fluid collection. Enlarged heart.", "No pleural effusion. The heart is normal."]
    >>> cases = [Case(str(i), text, reference) for i, text in enumerate(texts)]
    >>> same, opposite = RateScore().measure(cases, reading=Readings())[:, 0]
    >>> bool(same > opposite)
    True
    """

    name: ClassVar[str] = "ratescore"
    precision: ClassVar[float] = NETWORK_PRECISION
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)  # cosines of unrelated names may be negative; rarely met
    summary: ClassVar[str] = "entities matched by meaning and weighted by type (RaTEScore)"

    # "embedded"; "published": the authors' checkpoints; or a folder that holds checkpoints under the names RaTE-
    # NER-Deberta and BioLORD-2023-C
    models: str = "embedded"
    # Who finds the entities: "embedded" or a token-classification checkpoint (folder or id@revision); "" = as
    # `models` says
    ner: str = ""
    # Who turns names into vectors: "embedded", a checkpoint of the catalogue (medcpt, sapbert) or any transformer;
    # "" = as `models` says
    encoder: str = ""
    weights: str = "long"  # "long" (reports), "short" (sentences), or a JSON file in the authors' form
    # "2025": release 0.6.0; "2024": the numbers of before May 2025 (the paper, early leaderboards), when p was
    # 0.3612 throughout; "" = "2025", but "2024" for "long" and "short" where a part is embedded: with the p of
    # 0.87 that the release now has for "long", these parts hardly notice a lost negation (see the card). The p of
    # a file is its own, unless "2024" is asked for.
    preset: Literal["", "2025", "2024"] = ""
    p: float | None = None  # Another penalty than the preset's
    # "code": only where a finding meets its denial; "paper": wherever the types differ
    penalty: Literal["code", "paper"] = "code"
    # "nan": a report without entities is not judged; "published": 0.5, as in the released code
    no_entities: Literal["nan", "published"] = "nan"
    # For checkpoints: "rush" or "pyrush" (the original, if medspacy is installed)
    splitter: Literal["rush", "pyrush"] = "rush"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None and not 0 <= self.p <= 1:
            raise UsageError(f"ratescore: p must be from 0 to 1, got {self.p}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Named after the models: a number of embedded parts must never pass for a published one."""
        return ("ratescore_embedded" if self._embedded else "ratescore",)

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate counts."""
        return self.no_entities == "published"

    def parts(self) -> Mapping[str, str]:
        """Models with their revisions, weights with their hash, and p."""
        weighting = self.affinity
        return {
            "preset": self._preset,
            "ner": self._entity_reader(Readings()).signature.replace("|", "+"),
            "encoder": self._encoder().signature.replace("|", "+"),
            "weights": weighting.name,
            "p": f"{weighting.penalty:.6g}",
            "references": "best",
        }

    @property
    def affinity(self) -> Affinity:
        """The weights and the penalty in force."""
        path = Path(self.weights)
        changed = path.stat().st_mtime_ns if self.weights not in ("long", "short") and path.exists() else 0
        return _affinity(self.weights, self._preset, self.p, changed)

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The score of each case against the reference it comes closest to."""
        candidates, references, owner = reference_pairs(cases)
        values = self.f1(candidates, references, reading=reading)[:, None]
        best = best_reference(values, owner, cases=len(cases), higher_is_better=True)
        rows: Rows = np.full((len(cases), 1), np.nan)
        rows[best >= 0] = values[best[best >= 0]]
        return rows

    def f1(self, candidates: Sequence[str], references: Sequence[str], *, reading: Readings) -> Rows:
        """The score of every pair of texts, shape (pairs,)."""
        sums, both = self.sums(candidates, references, reading=reading)
        values: Rows = np.full(len(both), PUBLISHED_EMPTY if self.judges_empty else np.nan)
        weighting = self.affinity
        values[both] = sums.f1(weighting.weights, weighting.factors(self.penalty))
        return values

    def sums(
        self, candidates: Sequence[str], references: Sequence[str], *, reading: Readings
    ) -> tuple[TypeSums, Rows]:
        """Sums that any weights are applied to, for the pairs where both texts have entities, and which those are.

        Returns:
            Sums with the reference as the first anchor, and a mask over the pairs.
        """
        texts = list(dict.fromkeys([*candidates, *references]))
        table, _ = self._table(texts, reading)
        index_of = {text: index for index, text in enumerate(texts)}
        left = np.array([index_of[text] for text in references], dtype=np.intp)
        right = np.array([index_of[text] for text in candidates], dtype=np.intp)
        filled = np.array([len(names) > 0 for names in table.names], dtype=bool)
        both = filled[left] & filled[right]
        return type_sums(table, left[both], right[both]), both

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without entities."""
        (entities,) = reading.of(self._entity_reader(reading), [case.candidate])
        return "no entities in the candidate" if not entities else "no entities in the reference"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The closest entity of each, and those without a close one."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, rows[0]), strict=True))
        candidates, references, owner = reference_pairs([case])
        pairs = self.f1(candidates, references, reading=reading)[:, None]
        best = int(best_reference(pairs, owner, cases=1, higher_is_better=True)[0])
        if best < 0:
            return Explanation(self.name, values)
        table, entities = self._table([references[best], case.candidate], reading)
        if not entities[0] or not entities[1]:
            return Explanation(self.name, values)
        notes = [
            *self._notes(table, entities, anchor=0, case_reference=best),
            *self._notes(table, entities, anchor=1, case_reference=best),
        ]
        return Explanation(self.name, values, tuple(notes))

    def _notes(
        self,
        table: EntityTable,
        entities: Sequence[tuple[Entity, ...]],
        *,
        anchor: int,
        case_reference: int,
    ) -> list[Note]:
        weighting = self.affinity
        factors = weighting.factors(self.penalty)
        partners, cosines = closest(table, anchor, 1 - anchor)
        types = [np.array([TYPE_INDEX[item.type] for item in side], dtype=np.intp) for side in entities]
        total = float(weighting.weights[types[anchor], types[1 - anchor][partners]].sum())
        clash = "one is denied, the other is not" if self.penalty == "code" else "the types differ"
        notes = []
        for entity, at, cosine in zip(entities[anchor], partners, cosines, strict=True):
            partner = entities[1 - anchor][at]
            kinds = TYPE_INDEX[entity.type], TYPE_INDEX[partner.type]
            weight, factor = float(weighting.weights[kinds]), float(factors[kinds])
            far = cosine < CLOSE
            kind = ("missing", "added")[anchor] if far else "contradicted" if factor < 1 else "matched"
            side, other = ("reference", "candidate") if anchor == 0 else ("candidate", "reference")
            text = f'"{entity.name}" ({entity.type.lower()}) in the {side}; '
            text += f"nothing close in the {other}, at best " if far else f"closest in the {other}: "
            text += f'"{partner.name}" ({partner.type.lower()}); similarity {cosine:.2f}'
            text += f" times {factor:.2f} since {clash}" if factor < 1 else ""
            text += f"; weight {weight:.2f}, {weight / total:.0%} of this side" if total else "; weight 0"
            # What has no close partner points at its own side only: nothing is there on the other.
            own_span, partner_span = _span(entity), () if far else _span(partner)
            notes.append(
                Note(
                    kind,
                    text,
                    reference_spans=own_span if anchor == 0 else partner_span,
                    candidate_spans=partner_span if anchor == 0 else own_span,
                    data={
                        "anchor": side,
                        "entity": entity.name,
                        "type": entity.type,
                        "partner": partner.name,
                        "partner_type": partner.type,
                        "partner_side": other,
                        "similarity": float(cosine),
                        "weight": weight,
                        "penalty": factor,
                        "reference": case_reference,
                    },
                )
            )
        return notes

    def _table(self, texts: Sequence[str], reading: Readings) -> tuple[EntityTable, list[tuple[Entity, ...]]]:
        entities = reading.of(self._entity_reader(reading), texts)
        names = list(dict.fromkeys(entity.name for entity_list in entities for entity in entity_list))
        index_of = {name: index for index, name in enumerate(names)}
        read = reading.of(self._encoder(), names)
        # in single precision a cosine would depend, by its rounding, on the other rows of the run
        vectors = np.stack(read).astype(np.float64) if read else np.zeros((0, 1))
        table = EntityTable(
            vectors,
            [
                np.array([index_of[entity.name] for entity in entity_list], dtype=np.intp)
                for entity_list in entities
            ],
            [
                np.array([TYPE_INDEX[entity.type] for entity in entity_list], dtype=np.intp)
                for entity_list in entities
            ],
        )
        return table, list(entities)

    @property
    def _embedded(self) -> bool:
        return "embedded" in (self._part(self.ner, NER), self._part(self.encoder, ENCODER))

    @property
    def _preset(self) -> str:
        released = self.weights in ("long", "short")  # a file brings its own p
        return self.preset or ("2024" if self._embedded and released else "2025")

    def _part(self, chosen: str, published: str) -> str:
        """The model that a setting means."""
        if chosen:
            return chosen
        if self.models == "embedded":
            return "embedded"
        return published if self.models == "published" else str(Path(self.models) / published.partition("/")[2])

    def checkpoints(self) -> tuple[str, ...]:
        """Return the tagger and the encoder of names."""
        return (self._part(self.ner, NER), self._part(self.encoder, ENCODER))

    def _entity_reader(self, reading: Readings) -> Reader[tuple[Entity, ...]]:
        model = located(self._part(self.ner, NER))
        if model == "embedded":
            return EmbeddedEntities(reading)
        if (Path(model) / SPAN_HEAD).exists():
            return SpanNer(model, splitter=self.splitter)
        return RateNer(model, splitter=self.splitter)

    def _encoder(self) -> Encoder:
        return encoder_named(located(self._part(self.encoder, ENCODER)), pooling="cls")


@lru_cache(maxsize=16)
def _affinity(weights: str, preset: str, p: float | None, changed: int) -> Affinity:
    return affinity(weights, preset=preset, penalty=p)


def _span(entity: Entity) -> tuple[Span, ...]:
    return ((entity.start, entity.end),) if entity.end > entity.start >= 0 else ()
