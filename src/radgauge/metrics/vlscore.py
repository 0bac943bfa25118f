"""VLScore: candidate and reference judged through the image, by the triangle the three make in one space.

Dawidowicz, Hirsch and Tal (2024), Image-aware evaluation of generated medical reports, NeurIPS. With LIMITR equal
to vlscore-cxr 0.1.2; the embedded profile does the same geometry over radgauge's own image-text network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.cases import Case
from radgauge.errors import ModelError, UsageError
from radgauge.metric import Explanation, Metric, Note, Rows, best_reference
from radgauge.metrics._settings import EMBEDDED, wordless
from radgauge.metrics._triangle import bounding_radius, cosine, elasticities, sides, triangle_area
from radgauge.models.image.image_text import (
    ImageTextEncoder,
    Unreadable,
    image_text_encoder,
    is_embedded,
    read_calibration,
    study_vectors,
    text_vectors,
)
from radgauge.reading import Readings
from radgauge.text.sentences import split_sentences
from radgauge.text.words import has_words

_SENTENCES_SHOWN = 12
_SIDES = ("image to candidate", "image to reference", "candidate to reference")


@dataclass(frozen=True)
class VLScore(Metric):
    """max(1 - T / C, 0), T the area of the triangle of image, candidate and reference.

    Attributes:
        models: "embedded", "published" (LIMITR), or a folder of checkpoints.
        encoder: "auto": what `models` says; "embedded"; "limitr"; a checkpoint of LIMITR or GLoRIA (.ckpt); a file
            of `radgauge train image-text`; or a folder or hub id of a CLIP-like model.
        similarity: "triangle"; or one of the paper's table 4: "cosine" of the two texts, "sphere" (radius of the
            smallest sphere around the three points; lower is better), "image_cosine" (seen from the image).
        views: Several images of a study: "mean" of their points, as LIMITR does; "best": the one with the best
            score; "first": the first alone, as the authors' package does. "auto": mean for embedded networks,
            first otherwise.
        constant: C; 0 takes the calibration's, or else the encoder's own.
        calibration: A file of `radgauge fit vlscore`.
        resize: How LIMITR's pictures are made smaller: "pil" (the authors' package) or "area" (LIMITR's training).
    """

    name: ClassVar[str] = "vlscore"
    needs: ClassVar[frozenset[str]] = frozenset({"reference", "image"})
    extra: ClassVar[str] = "image"
    summary: ClassVar[str] = "reports compared through the image: triangle of image, candidate and reference"

    models: str = EMBEDDED
    encoder: str = "auto"
    similarity: Literal["triangle", "cosine", "sphere", "image_cosine"] = "triangle"
    views: Literal["auto", "mean", "best", "first"] = "auto"
    constant: float = 0.0
    calibration: str = ""
    resize: Literal["pil", "area"] = "pil"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoder == "auto":
            object.__setattr__(self, "encoder", EMBEDDED if self.models == EMBEDDED else "limitr")
        if self.views == "auto":
            object.__setattr__(self, "views", "mean" if is_embedded(self.encoder) else "first")
        if not (math.isfinite(self.constant) and self.constant >= 0):
            raise UsageError(f"vlscore: constant must be 0 (the encoder's own) or more, got {self.constant}")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # a radius is better when small
        """Except for the sphere."""
        return self.similarity != "sphere"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """Of the similarity chosen."""
        return {"triangle": (0.0, 1.0), "sphere": (0.0, math.inf)}.get(self.similarity, (-1.0, 1.0))

    @property
    def columns(self) -> tuple[str, ...]:
        """The score; for the triangle also its area, which is not cut at C."""
        mark = "_embedded" if is_embedded(self.encoder) else ""
        if self.similarity == "triangle":
            return (f"vlscore{mark}", f"vlscore_area{mark}")
        return (f"vlscore_{self.similarity}{mark}",)

    @property
    def directions(self) -> tuple[bool, ...]:
        """The area is better when small."""
        return (self.higher_is_better, False)[: len(self.columns)]

    def parts(self) -> Mapping[str, str]:
        """The encoder with its weights, and C."""
        found = {"network": self.image_text.name, "references": "best"}
        return {**found, "c": f"{self.scale:.6g}"} if self.similarity == "triangle" else found

    @property
    def image_text(self) -> ImageTextEncoder:
        """What puts images and texts into one space."""
        models = "published" if self.models == EMBEDDED else self.models
        return image_text_encoder(self.encoder, models=models, resize=self.resize)

    @property
    def scale(self) -> float:
        """C, wherever it comes from."""
        if self.constant:
            return self.constant
        if self.calibration:
            return read_calibration(Path(self.calibration), encoder=self.image_text)
        if self.image_text.constant is None:
            raise ModelError(
                f"nobody has measured the constant C of {self.encoder}; learn it with `radgauge fit vlscore` "
                "and name the file (vlscore:calibration=FILE), or give it (vlscore:constant=1.5)"
            )
        return self.image_text.constant

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Score (and area) by the best reference and, with views=best, the best image."""
        points = self._points(cases, reading)
        texts = list(
            dict.fromkeys(t for case in cases for t in (case.candidate, *case.references) if has_words(t))
        )
        known = dict(zip(texts, text_vectors(texts, self.image_text, reading=reading), strict=True))
        triples = [
            (owner, image, known[case.candidate], known[reference])
            for owner, case in enumerate(cases)
            if case.candidate in known
            for reference in case.references
            if reference in known
            for image in points[owner]
        ]
        rows = np.full((len(cases), len(self.columns)), np.nan)
        if triples:
            owner = np.array([each[0] for each in triples], dtype=np.intp)
            values = self._compare(*(np.stack([each[at] for each in triples]) for at in (1, 2, 3)))
            best = best_reference(values, owner, cases=len(cases), higher_is_better=self.higher_is_better)
            rows[best >= 0] = values[best[best >= 0]]
        return rows

    def unscaled(self) -> VLScore:
        """The same encoder and views with C = 1, for those who want areas where no constant is known."""
        return replace(self, similarity="triangle", constant=1.0, calibration="")

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Which file cannot be read, or which text not embedded."""
        if why := wordless(case.candidate, case.references):
            return why
        for found in study_vectors([self._used(case)], self.image_text, reading=reading)[0]:
            if isinstance(found, Unreadable):
                return found.reason
        candidate, *references = text_vectors(
            [case.candidate, *filter(has_words, case.references)], self.image_text, reading=reading
        )
        if np.isnan(candidate).any():
            return "the encoder finds nothing to embed in the candidate"
        if all(np.isnan(reference).any() for reference in references):
            return "the encoder finds nothing to embed in the reference"
        return "a report and the origin of the angle are the same point"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The three distances and what each does to the area; each image's own score; what each sentence does."""
        rows = self.measure([case], reading=reading)[0]
        values = dict(zip(self.columns, map(float, rows), strict=True))
        if np.isnan(rows[0]):
            return Explanation(self.name, values)
        notes = [*self._distances(case, reading), *self._images(case, reading), *self._sentences(case, reading)]
        return Explanation(self.name, values, tuple(notes))

    def _compare(self, image: Rows, candidate: Rows, reference: Rows) -> Rows:
        if image.shape != candidate.shape:
            raise ModelError(
                f"{self.encoder} must put images and texts into one space, got vectors of "
                f"{image.shape[1]} and {candidate.shape[1]} numbers"
            )
        if self.similarity == "cosine":
            return cosine(candidate, reference)[:, None]
        if self.similarity == "image_cosine":
            return cosine(candidate - image, reference - image)[:, None]
        if self.similarity == "sphere":
            return bounding_radius(image, candidate, reference)[:, None]
        area = triangle_area(image, candidate, reference)
        return np.stack([np.maximum(1.0 - area / self.scale, 0.0), area], axis=1)

    def _used(self, case: Case) -> tuple[Path, ...]:
        return case.images[:1] if self.views == "first" else case.images

    def _points(self, cases: Sequence[Case], reading: Readings) -> list[list[NDArray[np.float64]]]:
        """Where each case's images are: one point, or several for views=best; none if a file is unreadable."""
        used = [self._used(case) for case in cases]
        points: list[list[NDArray[np.float64]]] = []
        for vectors in study_vectors(used, self.image_text, reading=reading):
            whole = [np.asarray(v, dtype=np.float64) for v in vectors if not isinstance(v, Unreadable)]
            if len(whole) < len(vectors) or not whole:
                points.append([])
            else:
                points.append(whole if self.views == "best" else [np.mean(whole, axis=0)])
        return points

    def _distances(self, case: Case, reading: Readings) -> list[Note]:
        (points,) = self._points([case], reading)
        best = min(self._triples(case, reading, points), key=lambda each: float(triangle_area(*each)[0]))
        lengths = sides(*best)
        area = float(triangle_area(*best)[0])
        height = 2 * area / lengths[0, 2] if lengths[0, 2] else 0.0
        notes = [
            Note(
                "info",
                f"area {area:.4g} = half of {lengths[0, 2]:.4g} (candidate to reference) times {height:.4g} "
                "(the image's distance from the line through both)",
                data={"area": area, "height": height},
            )
        ]
        effects = elasticities(lengths)[0]
        for side, length, effect in zip(_SIDES, lengths[0], effects, strict=True):
            known = f"; 1 % more of it changes the area by {effect:+.2f} %" if np.isfinite(effect) else ""
            notes.append(
                Note("info", f"{side}: {length:.4g}{known}", data={"distance": length, "effect": float(effect)})
            )
        return notes

    def _triples(
        self, case: Case, reading: Readings, points: Sequence[NDArray[np.float64]]
    ) -> list[tuple[Rows, Rows, Rows]]:
        texts = [case.candidate, *filter(has_words, case.references)]
        candidate, *references = text_vectors(texts, self.image_text, reading=reading)
        return [
            (image[None], np.asarray(candidate, np.float64)[None], np.asarray(reference, np.float64)[None])
            for image in points
            for reference in references
            if not np.isnan(reference).any()
        ]

    def _images(self, case: Case, reading: Readings) -> list[Note]:
        used = self._used(case)
        if len(used) == 1:
            more = len(case.images) - 1
            aside = f"; {more} more of the study not used (views=first)" if more else ""
            return [Note("info", f"judged with the image {used[0].name}{aside}")]
        values = []
        for point in study_vectors([used], self.image_text, reading=reading)[0]:
            triples = self._triples(case, reading, [np.asarray(point, dtype=np.float64)])
            alone = [float(self._compare(*triple)[0, 0]) for triple in triples]
            values.append(max(alone) if self.higher_is_better else min(alone))
        way = "the mean of their points is used" if self.views == "mean" else "the best is used"
        listed = ", ".join(f"{path.name} {value:.3f}" for path, value in zip(used, values, strict=True))
        return [Note("info", f"each image alone: {listed}; {way}", data={"images": values})]

    def _sentences(self, case: Case, reading: Readings) -> list[Note]:
        """What the score would be without each sentence of the candidate."""
        score = float(self.measure([case], reading=reading)[0, 0])
        spans = split_sentences(case.candidate)[:_SENTENCES_SHOWN]
        if len(spans) < 2:
            return []
        shorter = [
            replace(case, id=str(at), candidate=case.candidate[:start] + case.candidate[end:])
            for at, (start, end) in enumerate(spans)
        ]
        found = []
        for span, value in zip(spans, self.measure(shorter, reading=reading)[:, 0], strict=True):
            if np.isnan(value):
                continue
            gain = (score - value) if self.higher_is_better else (value - score)
            effect = "helps" if gain > 0 else "hurts" if gain < 0 else "changes nothing"
            text = f"this sentence {effect}: without it the score would be {value:.3f}"
            found.append((text, span, float(gain)))
        most = max((abs(gain) for *_, gain in found), default=0.0)
        return [
            Note("info", text, candidate_spans=(span,), data={"gain": gain, "moved_most": abs(gain) == most > 0})
            for text, span, gain in found
        ]
