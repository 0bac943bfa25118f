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

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.metric import NETWORK_PRECISION, Explanation, Metric, Note, Rows, best_reference
from radgauge.core.readings import Readings
from radgauge.encoders.image.embeddings import CaseEmbeddings
from radgauge.encoders.image.image_text import (
    ANY,
    EMBEDDED,
    ImageTextEncoder,
    Unreadable,
    image_text_encoder,
    image_vectors,
    is_embedded,
    read_calibration,
    study_vectors,
    text_vectors,
    view_set,
)
from radgauge.encoders.image.picture_side import Seen
from radgauge.metrics._settings import wordless
from radgauge.metrics._triangle import bounding_radius, cosine, elasticities, sides, triangle_area
from radgauge.text.sentences import split_sentences
from radgauge.text.words import has_words

_SENTENCES_SHOWN = 12
DEMO = "_demo"
"""Ends the columns of the encoder that ships, which shows how the score is computed and judges nothing: with wrong
images it agrees with raters as well as with right ones (docs/metrics/vlscore.md, `radgauge probe image`)."""
UNIT_LARGEST = 0.75 * math.sqrt(3)
"""The largest triangle between vectors of length one."""
_SIDES = ("image to candidate", "image to reference", "candidate to reference")


@dataclass(frozen=True, eq=False, slots=True)
class ImagePoint:
    """Position of a study's images in the space of the encoder, and the views that they show."""

    at: NDArray[np.float64]
    views: str

    def scale(self, scales: Mapping[str, float]) -> float:
        """C for these views; NaN if nobody knows it."""
        return scales.get(self.views, scales.get(ANY, math.nan))


def _point(seen: Sequence[Seen], *, unit: bool) -> ImagePoint:
    at = np.mean([np.asarray(image.vector, dtype=np.float64) for image in seen], axis=0)
    return ImagePoint(_at_length_one(at) if unit else at, view_set(seen))


def _at_length_one(at: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(at))
    return at / length if length > 0 else at


def _readable(images: Sequence[Seen | Unreadable]) -> list[Seen]:
    return [image for image in images if isinstance(image, Seen)]


@dataclass(frozen=True)
class VLScore(Metric):
    """max(1 - T / C, 0), T the area of the triangle of image, candidate and reference."""

    name: ClassVar[str] = "vlscore"
    precision: ClassVar[float] = NETWORK_PRECISION
    english_only: ClassVar[bool] = True
    extra: ClassVar[str] = "image"
    summary: ClassVar[str] = (
        "reports compared through the image by an encoder that you name; the embedded one is a demonstration"
    )

    models: str = EMBEDDED  # "embedded", "published" (LIMITR), or a folder of checkpoints
    # "auto": what `models` says; "embedded"; "limitr"; a checkpoint of LIMITR or GLoRIA (.ckpt); a file of
    # `radgauge train image-text`; or a folder or hub id of a CLIP-like model
    encoder: str = "auto"
    # "triangle"; or one of the paper's table 4: "cosine" of the two texts, "sphere" (radius of the smallest sphere
    # around the three points; lower is better), "image_cosine" (seen from the image)
    similarity: Literal["triangle", "cosine", "sphere", "image_cosine"] = "triangle"
    # Several images of a study: "mean" of their points, as LIMITR does, brought to length one where all vectors
    # have it; "best": the one with the best score; "first": the first alone, as the authors' package does. "auto":
    # mean for embedded networks, first otherwise.
    views: Literal["auto", "mean", "best", "first"] = "auto"
    # C; 0 takes the calibration's, or else the encoder's own. Both may differ by the views of a study.
    constant: float = 0.0
    calibration: str = ""  # A file of `radgauge fit vlscore`, learned with the same encoder and views
    # How LIMITR's pictures are made smaller: "pil" (the authors' package) or "area" (LIMITR's training)
    resize: Literal["pil", "area"] = "pil"
    # True if the vectors of a CLIP-like model are brought to length one: "yes", "no", or "auto": as its file says,
    # else yes
    unit: Literal["auto", "yes", "no"] = "auto"
    # What becomes of a picture that is blank, inverted, turned, or does not look like a chest radiograph to the
    # embedded network: "skip": not judged, with the reason; "off": nobody looks. "auto": skip for embedded
    # networks, off for published ones, whose authors do not look either.
    domain: Literal["auto", "skip", "off"] = "auto"
    # Vectors that were computed elsewhere, instead of an encoder: a folder (img_emb.npy, output_emb.npy,
    # gt_emb.npy, cases.csv) or a Parquet file with id, system, image, candidate, reference
    embeddings: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embeddings and self.encoder != "auto":
            raise UsageError("vlscore: give an encoder, or embeddings that one has made, not both")
        if self.embeddings:
            object.__setattr__(self, "encoder", "embeddings")
        if self.encoder == "auto":
            object.__setattr__(self, "encoder", EMBEDDED if self.models == EMBEDDED else "limitr")
        if self.views == "auto":
            object.__setattr__(self, "views", "mean" if is_embedded(self.encoder) else "first")
        if self.domain == "auto":
            object.__setattr__(self, "domain", "skip" if is_embedded(self.encoder) else "off")
        if not (math.isfinite(self.constant) and self.constant >= 0):
            raise UsageError(f"vlscore: constant must be 0 (the encoder's own) or more, got {self.constant}")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # a radius is better when small
        """Except for the sphere."""
        return self.similarity != "sphere"

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """Reference and image; nothing where both are embedded already."""
        return frozenset() if self.embeddings else frozenset({"reference", "image"})

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """Of the similarity chosen."""
        return {"triangle": (0.0, 1.0), "sphere": (0.0, math.inf)}.get(self.similarity, (-1.0, 1.0))

    @property
    def columns(self) -> tuple[str, ...]:
        """The score; for the triangle also its area, which is not cut at C."""
        mark = DEMO if self.encoder == EMBEDDED else "_embedded" if is_embedded(self.encoder) else ""
        if self.similarity == "triangle":
            return (f"vlscore{mark}", f"vlscore_area{mark}")
        return (f"vlscore_{self.similarity}{mark}",)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """An area has no sign."""
        return (self.range, (0.0, math.inf))[: len(self.columns)]

    @property
    def directions(self) -> tuple[bool, ...]:
        """The area is better when small."""
        return (self.higher_is_better, False)[: len(self.columns)]

    def parts(self) -> Mapping[str, str]:
        """The encoder with its weights, and C."""
        signature = {"network": self._source.name, "references": "best"}
        if self.similarity != "triangle":
            return signature
        scales = self.scales
        one = len(scales) == 1 and ANY in scales
        constants = f"{scales[ANY]:.6g}" if one else ",".join(f"{name}={c:.6g}" for name, c in scales.items())
        return {**signature, "c": constants}

    @property
    def image_text(self) -> ImageTextEncoder:
        """Encoder of images and texts into one space.

        Raises:
            UsageError: There are embeddings alone.
        """
        if self.embeddings:
            raise UsageError(
                "vlscore:embeddings= holds the vectors of its cases and no others; this needs an encoder "
                "(vlscore:encoder=, radgauge.register_encoder)"
            )
        models = "published" if self.models == EMBEDDED else self.models
        unit = {"auto": None, "yes": True, "no": False}[self.unit]
        return image_text_encoder(self.encoder, models=models, resize=self.resize, unit=unit)

    def checkpoints(self) -> tuple[str, ...]:
        """Return the encoder."""
        return (self.encoder,) if self.models in (EMBEDDED, "published") else ()

    @property
    def scales(self) -> Mapping[str, float]:
        """C by view set, wherever it comes from; "any" stands for every set that has no C of its own.

        Raises:
            ModelError: Nobody knows C, or vectors of length one can never reach it.
        """
        encoder = self._source
        fitted: Mapping[str, float] = {}
        if self.constant:
            fitted = {ANY: self.constant}
        elif self.calibration:
            fitted = read_calibration(Path(self.calibration), encoder=encoder, views=self.views)
        else:
            fitted = getattr(encoder, "constants", {})
            if not fitted and encoder.constant is not None:
                fitted = {ANY: encoder.constant}
        if not fitted:
            raise ModelError(
                f"nobody has measured the constant C of {self.encoder}; learn it with `radgauge fit vlscore` "
                "and name the file (vlscore:calibration=FILE), or give it (vlscore:constant=1.5)"
            )
        if getattr(encoder, "unit_length", False) and max(fitted.values()) > UNIT_LARGEST:
            raise ModelError(
                f"C = {max(fitted.values()):g} cannot be reached by vectors of length one, whose largest triangle "
                f"is {UNIT_LARGEST:.4g}: every score would be near 1; it belongs to vectors as they come "
                "(unit=no), or learn C with `radgauge fit vlscore`"
            )
        return fitted

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Score (and area) by the best reference and, with views=best, the best image."""
        if isinstance(source := self._source, CaseEmbeddings):
            scale = np.full(len(cases), self._scales.get(ANY, math.nan))
            return self._compare(*source.rows(cases), scale=scale)
        return self.measure_at(cases, self.image_points(cases, reading=reading), reading=reading)

    def measure_at(
        self, cases: Sequence[Case], points: Sequence[Sequence[ImagePoint]], *, reading: Readings
    ) -> Rows:
        """As `measure`, with other points in the place of those of each case's images."""
        scales = self._scales
        texts = list(
            dict.fromkeys(t for case in cases for t in (case.candidate, *case.references) if has_words(t))
        )
        vectors = dict(zip(texts, text_vectors(texts, self.image_text, reading=reading), strict=True))
        triples = [
            (owner, point.at, vectors[case.candidate], vectors[reference], point.scale(scales))
            for owner, case in enumerate(cases)
            if case.candidate in vectors
            for reference in case.references
            if reference in vectors
            for point in points[owner]
        ]
        rows = np.full((len(cases), len(self.columns)), np.nan)
        if triples:
            owner = np.array([triple[0] for triple in triples], dtype=np.intp)
            values = self._compare(
                *(np.stack([triple[at] for triple in triples]) for at in (1, 2, 3)),
                scale=np.array([triple[4] for triple in triples]),
            )
            best = best_reference(values, owner, cases=len(cases), higher_is_better=self.higher_is_better)
            rows[best >= 0] = values[best[best >= 0]]
        return rows

    def mean_point(self, points: Sequence[ImagePoint]) -> ImagePoint:
        """Return the mean of points of the same views."""
        at = np.mean([point.at for point in points], axis=0)
        return replace(points[0], at=_at_length_one(at) if self._unit_length else at)

    def unscaled(self) -> VLScore:
        """The same encoder and views with C = 1, for those who want areas where no constant is known."""
        return replace(self, similarity="triangle", constant=1.0, calibration="")

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the file that cannot be read, or the text that is not embedded."""
        if self.embeddings:
            return f"there is no embedding of {case.id!r}, {case.system!r}, or it is not finite"
        if why := wordless(case.candidate, case.references):
            return why
        used = self._used(case)
        (seen,) = study_vectors([used], self.image_text, reading=reading)
        for path, image, objection in zip(used, seen, self._objections(used, seen, reading), strict=True):
            if isinstance(image, Unreadable):
                return image.reason
            if objection:
                return f"{path.name} {objection}"
        if self.similarity == "triangle" and all(
            math.isnan(point.scale(self._scales)) for point in self.image_points([case], reading=reading)[0]
        ):
            return f"no constant is known for studies with these views ({view_set(_readable(seen))})"
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
        if np.isnan(rows[0]) or self.embeddings:
            return Explanation(self.name, values)
        notes = [*self._distances(case, reading), *self._images(case, reading), *self._sides(case, reading)]
        notes += self._sentences(case, reading)
        return Explanation(self.name, values, tuple(notes))

    @property
    def _source(self) -> ImageTextEncoder | CaseEmbeddings:
        return CaseEmbeddings(self.embeddings) if self.embeddings else self.image_text

    @property
    def _unit_length(self) -> bool:
        return bool(getattr(self.image_text, "unit_length", False))

    @property
    def _scales(self) -> Mapping[str, float]:
        return self.scales if self.similarity == "triangle" else {ANY: 1.0}

    def view_sets(self, cases: Sequence[Case], *, reading: Readings) -> list[str]:
        """The views that each case is judged by: frontal, lateral, frontal+lateral, or any."""
        if self.embeddings:
            return [ANY] * len(cases)
        return [points[0].views if points else "" for points in self.image_points(cases, reading=reading)]

    def _compare(self, image: Rows, candidate: Rows, reference: Rows, *, scale: NDArray[np.float64]) -> Rows:
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
        scaled = np.where(np.isnan(scale), np.nan, area)
        return np.stack([np.maximum(1.0 - scaled / scale, 0.0), scaled], axis=1)

    def _used(self, case: Case) -> tuple[Path, ...]:
        return case.images[:1] if self.views == "first" else case.images

    def image_points(self, cases: Sequence[Case], *, reading: Readings) -> list[list[ImagePoint]]:
        """Return where each case's images lie: one point, several for views=best, none for unusable files."""
        encoder = self.image_text
        used = [self._used(case) for case in cases]
        points: list[list[ImagePoint]] = []
        for paths, images in zip(used, study_vectors(used, encoder, reading=reading), strict=True):
            seen = _readable(images)
            if len(seen) < len(images) or not seen or any(self._objections(paths, images, reading)):
                points.append([])
                continue
            groups = [[image] for image in seen] if self.views == "best" else [seen]
            points.append([_point(group, unit=self._unit_length) for group in groups])
        return points

    def _objections(
        self, paths: Sequence[Path], seen: Sequence[Seen | Unreadable], reading: Readings
    ) -> list[str]:
        """Why a picture should not be judged, "" where nothing speaks against it, for each."""
        if self.domain == "off":
            return [""] * len(paths)
        if not hasattr(self.image_text, "seen"):  # the embedded network looks for those that do not
            seen = image_vectors(paths, image_text_encoder(EMBEDDED), reading=reading)
        return [image.objection if isinstance(image, Seen) else "" for image in seen]

    def _distances(self, case: Case, reading: Readings) -> list[Note]:
        (points,) = self.image_points([case], reading=reading)
        triples = self._triples(case, reading, [point.at for point in points])
        best = min(triples, key=lambda triple: float(triangle_area(*triple)[0]))
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
            sensitivity = f"; 1 % more of it changes the area by {effect:+.2f} %" if np.isfinite(effect) else ""
            notes.append(
                Note(
                    "info",
                    f"{side}: {length:.4g}{sensitivity}",
                    data={"distance": length, "effect": float(effect)},
                )
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
        (seen,) = study_vectors([used], self.image_text, reading=reading)
        for image in _readable(seen):
            point = _point([image], unit=False)
            scale = np.array([point.scale(self._scales)])
            triples = self._triples(case, reading, [point.at])
            alone = [float(self._compare(*triple, scale=scale)[0, 0]) for triple in triples]
            values.append(max(alone) if self.higher_is_better else min(alone))
        listed = ", ".join(
            f"{path.name}{f' ({image.view})' if image.view else ''} {value:.3f}"
            for path, image, value in zip(used, _readable(seen), values, strict=True)
        )
        way = "the mean of their points is used" if self.views == "mean" else "the best is used"
        return [Note("info", f"each image alone: {listed}; {way}", data={"images": values})]

    def _sides(self, case: Case, reading: Readings) -> list[Note]:
        """Findings whose side differs: the embedded network's pictures do not tell left from right."""
        if not is_embedded(self.encoder):
            return []
        from radgauge.encoders.text.report_claims import claims  # loads the report reader
        from radgauge.reader import ReportReader

        ours, theirs = (
            claims(report) for report in reading.of(ReportReader(), [case.candidate, case.references[0]])
        )
        apart = {name.partition("@")[0] for name in ours.keys() ^ theirs.keys() if "@" in name[2:]}
        both = sorted(name[1:] for name in apart & ours.keys() & theirs.keys())
        if not both:
            return []
        named = ", ".join(name.replace("_", " ") for name in both[:3])
        text = (
            f"side differs ({named}): seen by the texts alone, pictures do not tell this network left from right"
        )
        return [Note("info", text, data={"text_alone": True})]

    def _sentences(self, case: Case, reading: Readings) -> list[Note]:
        """Notes on the score without each sentence of the candidate."""
        score = float(self.measure([case], reading=reading)[0, 0])
        spans = split_sentences(case.candidate)[:_SENTENCES_SHOWN]
        if len(spans) < 2:
            return []
        shorter = [
            replace(case, id=str(at), candidate=case.candidate[:start] + case.candidate[end:])
            for at, (start, end) in enumerate(spans)
        ]
        gains = []
        for span, value in zip(spans, self.measure(shorter, reading=reading)[:, 0], strict=True):
            if np.isnan(value):
                continue
            gain = (score - value) if self.higher_is_better else (value - score)
            effect = "helps" if gain > 0 else "hurts" if gain < 0 else "changes nothing"
            text = f"this sentence {effect}: without it the score would be {value:.3f}"
            gains.append((text, span, float(gain)))
        max_gain = max((abs(gain) for *_, gain in gains), default=0.0)
        return [
            Note(
                "info", text, candidate_spans=(span,), data={"gain": gain, "moved_most": abs(gain) == max_gain > 0}
            )
            for text, span, gain in gains
        ]
