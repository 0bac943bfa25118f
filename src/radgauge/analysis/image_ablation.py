"""Image ablation: what of an image-aware score comes from the image?

The same texts are scored with their own images, with images dealt at random among the studies, and with one mean
image for all. A score that uses its images agrees better with raters when they are the right ones; a score whose
values stay the same compares texts. Images are dealt among studies with the same views, so that the constant C of
each study stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.perturb import KINDS, perturb_reports, perturbed_cases
from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError
from radgauge.core.metric import Rows
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.wording import interval, number, signed
from radgauge.encoders.image.image_text import text_vectors
from radgauge.io.judgments import Judgments
from radgauge.metrics.vlscore import ImagePoint, VLScore
from radgauge.render.tables import Cell, Table, table
from radgauge.stats.coefficients import association, weighted_association
from radgauge.stats.resample import draw_weights, percentile_bounds
from radgauge.stats.resampling import USUAL, Resampling
from radgauge.text.words import has_words

DEALS = 20
PAPER_KINDS = tuple(name for name, kind in KINDS.items() if kind.paper)
AGREEMENT, OWN_NEARER, SIDE = "agreement with raters", "own report nearer than others", "right side nearer"
MIRRORED = "sides exchanged"

_SIDE = re.compile(r"\b(left|right)", re.IGNORECASE)
_OTHER_SIDE = {
    "left": "right",
    "right": "left",
    "Left": "Right",
    "Right": "Left",
    "LEFT": "RIGHT",
    "RIGHT": "LEFT",
}
_BLOCK = 256  # studies whose distances to all reports are held at once

Statistic = Callable[[Sequence[ImagePoint]], Rows]
"""Points of the images, one per study, to one value per unit."""


@dataclass(frozen=True, slots=True)
class Ablated:
    """One figure under the three conditions."""

    name: str  # What is measured
    n: int  # Number of units (pairs, studies, reports)
    right: float  # With the right images
    dealt: float  # Mean over the deals of images at random
    dealt_low: float  # Smallest of the deals
    dealt_high: float  # Largest of the deals
    mean_image: float
    difference: float  # Right minus dealt
    low: float  # Lower end of the interval of the difference; studies are drawn
    high: float


@dataclass(frozen=True)
class ImageAblation:
    """Contribution of the image to a score."""

    column: str
    signature: str
    encoder: str  # Name of the encoder
    studies: int  # Number of studies with usable images
    left_out: int  # Number of studies without
    deals: int  # How often images were dealt
    level: float  # Coverage of the intervals
    share: float  # Share of the variance of the score that comes from which image is shown
    share_of: str  # What the scores are of whose variance that is
    agreement: Ablated | None  # Kendall's tau-b with the mean rater; None without judgments
    own_nearer: Ablated  # Rate at which an image lies nearer to its own report than to another study's
    side: Ablated  # Rate at which it lies nearer to its report than to the same report with sides exchanged
    changes: Mapping[str, Ablated]  # Mean score of changed reports by kind of change

    @property
    def rows(self) -> tuple[Ablated, ...]:
        """All figures, the agreement first."""
        first = () if self.agreement is None else (self.agreement,)
        return (*first, self.own_nearer, self.side, *self.changes.values())

    @property
    def image_matters(self) -> bool:
        """True if right images beat images at random: against raters, or else in matching reports."""
        decisive = self.own_nearer if self.agreement is None else self.agreement
        return bool(decisive.low > 0)

    @property
    def sentence(self) -> str:
        """Conclusion from the table."""
        start = (
            f"{100 * self.share:.0f} % of the variance of {self.column} over {self.share_of} comes from which "
            f"image is shown, {100 * (1 - self.share):.0f} % from the two texts"
        )
        decisive = self.own_nearer if self.agreement is None else self.agreement
        what = "matches images with their own reports" if self.agreement is None else "agrees with the raters"
        verdict = "better" if decisive.low > 0 else "worse" if decisive.high < 0 else "no better"
        return (
            f"{start}; with the right images it {what} {verdict} than with images at random: "
            f"{decisive.right:.3f} against {decisive.dealt:.3f}, difference {decisive.difference:+.3f} "
            f"({100 * self.level:g} % interval {decisive.low:+.3f} to {decisive.high:+.3f})."
        )


@working("taking images away")
def image_ablation(
    cases: Sequence[Case],
    metric: VLScore,
    *,
    judgments: Judgments | None = None,
    reading: Readings | None = None,
    deals: int = DEALS,
    kinds: Sequence[str] = PAPER_KINDS,
    resampling: Resampling = USUAL,
) -> ImageAblation:
    """Measure what the image contributes to VLScore with any encoder.

    Args:
        cases: Reports (references) with their images. Candidates are not used.
        metric: VLScore with its encoder.
        judgments: Pairs with ratings or error counts, and images.
        reading: Cache and progress.
        deals: How often images are dealt at random.
        kinds: Kinds of change, of `radgauge.analysis.perturb.KINDS`.
        resampling: Coverage, resamples and seed; studies are drawn.

    Raises:
        InputError: Fewer than three studies have usable images.
    """
    reading = reading if reading is not None else Readings()
    studies = list({case.id: case for case in cases if case.references}.values())
    seen, points, left_out = _with_points(studies, metric, reading)
    dealt = _deals(points, deals=deals, rng=resampling.rng())
    mean = _mean_points(points, metric)
    measure = partial(_ablated, points=points, dealt=dealt, mean=mean, resampling=resampling)

    texts = {case.id: case.references[0] for case in seen}
    changed = perturbed_cases(perturb_reports(texts, kinds, seed=resampling.seed, general=True))
    other_side = [
        Case(name, exchanged, (text,), MIRRORED)
        for name, text in texts.items()
        if (exchanged := mirrored(text)) != text
    ]
    changes = {
        kind: measure(kind, _scores_by_study([c for c in pool if c.system == kind], seen, metric, reading))
        for pool in (changed, other_side)
        for kind in dict.fromkeys(case.system for case in pool)
    }
    own = measure(OWN_NEARER, _own_nearer(seen, metric, reading))
    side = measure(SIDE, _right_side_nearer(seen, metric, reading))
    if judgments is not None:
        agreement, share = _agreement(judgments, metric, reading, deals=deals, resampling=resampling)
        share_of = f"{agreement.n} judged pairs"
    else:
        agreement = None
        share = _share(changed, seen, dealt, metric, reading)
        share_of = f"{len(changed)} changed reports"
    return ImageAblation(
        column=metric.columns[0],
        signature=metric.signature(),
        encoder=metric.image_text.name,
        studies=len(seen),
        left_out=left_out,
        deals=deals,
        level=resampling.level,
        share=share,
        share_of=share_of,
        agreement=agreement,
        own_nearer=own,
        side=side,
        changes=changes,
    )


def mirrored(text: str) -> str:
    """Return the report with left and right exchanged.

    >>> mirrored("Left effusion, right-sided line. Aright.")
    'Right effusion, left-sided line. Aright.'
    """
    return _SIDE.sub(lambda match: _OTHER_SIDE.get(match[0], _OTHER_SIDE[match[0].lower()]), text)


def _with_points(
    studies: Sequence[Case], metric: VLScore, reading: Readings
) -> tuple[list[Case], list[ImagePoint], int]:
    points = metric.image_points(studies, reading=reading)
    seen = [
        (case, own[0]) for case, own in zip(studies, points, strict=True) if own and has_words(case.references[0])
    ]
    if len(seen) < 3:
        raise InputError(f"an ablation needs at least 3 studies with a report and usable images, got {len(seen)}")
    return [case for case, _ in seen], [point for _, point in seen], len(studies) - len(seen)


def _deals(points: Sequence[ImagePoint], *, deals: int, rng: np.random.Generator) -> list[list[ImagePoint]]:
    """Deal the points among studies with the same views so that nobody keeps his own."""
    by_views: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        by_views.setdefault(point.views, []).append(index)
    shuffles = []
    for _ in range(deals):
        dealt = list(points)
        for group in by_views.values():
            order = rng.permutation(group)
            for to, source in zip(order, np.roll(order, 1), strict=True):
                dealt[to] = points[source]
        shuffles.append(dealt)
    return shuffles


def _mean_points(points: Sequence[ImagePoint], metric: VLScore) -> list[ImagePoint]:
    means = {
        views: metric.mean_point([point for point in points if point.views == views])
        for views in {point.views for point in points}
    }
    return [means[point.views] for point in points]


def _ablated(
    name: str,
    statistic: Statistic,
    *,
    points: Sequence[ImagePoint],
    dealt: Sequence[Sequence[ImagePoint]],
    mean: Sequence[ImagePoint],
    resampling: Resampling,
) -> Ablated:
    """Means over units, which are studies; NaN units are left out."""
    right, flat = statistic(points), statistic(mean)
    shuffled = np.stack([statistic(deal) for deal in dealt])
    usable = ~(np.isnan(right) | np.isnan(flat) | np.isnan(shuffled).any(axis=0))
    count = int(usable.sum())
    if not count:
        return Ablated(name, 0, *(np.nan,) * 8)
    right, flat, shuffled = right[usable], flat[usable], shuffled[:, usable]
    apart = right - shuffled.mean(axis=0)
    replicates = _weights(count, resampling, resampling.rng()) @ apart / count
    by_deal = shuffled.mean(axis=1)
    return _figure(name, count, right.mean(), by_deal, flat.mean(), replicates, resampling.level)


def _weights(units: int, resampling: Resampling, rng: np.random.Generator) -> Rows:
    return np.concatenate(list(draw_weights(units, resamples=resampling.resamples, rng=rng)))


def _figure(
    name: str,
    count: int,
    right: float,
    by_deal: Rows,
    flat: float,
    replicates: Rows,
    level: float,
) -> Ablated:
    low, high = percentile_bounds(replicates[:, None], level=level)[:, 0]
    return Ablated(
        name,
        count,
        right=float(right),
        dealt=float(by_deal.mean()),
        dealt_low=float(by_deal.min()),
        dealt_high=float(by_deal.max()),
        mean_image=float(flat),
        difference=float(right - by_deal.mean()),
        low=float(low),
        high=float(high),
    )


def _scores_by_study(
    made: Sequence[Case], studies: Sequence[Case], metric: VLScore, reading: Readings
) -> Statistic:
    """Score of each study's changed report, given one point per study."""
    index = {case.id: at for at, case in enumerate(studies)}
    rows = np.array([index[case.id] for case in made], dtype=np.intp)

    def statistic(points: Sequence[ImagePoint]) -> Rows:
        values = np.full(len(studies), np.nan)
        images = [[points[at]] for at in rows]
        values[rows] = metric.measure_at(made, images, reading=reading)[:, 0]
        return values

    return statistic


def _report_vectors(texts: Sequence[str], metric: VLScore, reading: Readings) -> Rows:
    return np.stack([np.asarray(v, np.float64) for v in text_vectors(texts, metric.image_text, reading=reading)])


def _own_nearer(studies: Sequence[Case], metric: VLScore, reading: Readings) -> Statistic:
    """Share of the other studies' reports that lie farther from the image than its own; ties count half."""
    reports = _report_vectors([case.references[0] for case in studies], metric, reading)
    same = np.array([case.references[0] for case in studies], dtype=object)

    def statistic(points: Sequence[ImagePoint]) -> Rows:
        images = np.stack([point.at for point in points])
        values = np.full(len(studies), np.nan)
        for start in range(0, len(studies), _BLOCK):
            block = slice(start, start + _BLOCK)
            squares = _squared_distances(images[block], reports)
            own = squares[np.arange(len(squares)), np.arange(start, start + len(squares))][:, None]
            other = (same[block, None] != same[None, :]) & ~np.isnan(squares) & ~np.isnan(own)
            with np.errstate(invalid="ignore"):
                wins = ((own < squares) + 0.5 * (own == squares)) * other
            counts = other.sum(axis=1)
            np.divide(wins.sum(axis=1), counts, out=values[block], where=counts > 0)
        return values

    return statistic


def _squared_distances(images: Rows, reports: Rows) -> Rows:
    squares: Rows = (images**2).sum(1)[:, None] + (reports**2).sum(1)[None, :] - 2 * images @ reports.T
    return squares


def _right_side_nearer(studies: Sequence[Case], metric: VLScore, reading: Readings) -> Statistic:
    """1 if the image lies nearer to the report than to its mirror, 0.5 for a tie; NaN without a side."""
    texts = [case.references[0] for case in studies]
    exchanged = [mirrored(text) for text in texts]
    sided = np.array([one != two for one, two in zip(texts, exchanged, strict=True)])
    own, other = _report_vectors(texts, metric, reading), _report_vectors(exchanged, metric, reading)

    def statistic(points: Sequence[ImagePoint]) -> Rows:
        images = np.stack([point.at for point in points])
        near, far = ((images - own) ** 2).sum(axis=1), ((images - other) ** 2).sum(axis=1)
        values = np.where(near == far, 0.5, (near < far).astype(np.float64))
        values[~sided | np.isnan(near) | np.isnan(far)] = np.nan
        return values

    return statistic


def _share(
    made: Sequence[Case],
    studies: Sequence[Case],
    dealt: Sequence[Sequence[ImagePoint]],
    metric: VLScore,
    reading: Readings,
) -> float:
    index = {case.id: at for at, case in enumerate(studies)}
    images = [[[points[index[case.id]]] for case in made] for points in dealt]
    return image_share(np.stack([metric.measure_at(made, deal, reading=reading)[:, 0] for deal in images]))


def image_share(values: Rows) -> float:
    """Compute the share of the variance of scores (deals, cases) that is within cases, over deals of images.

    >>> image_share(np.array([[0.0, 1.0], [0.0, 1.0]])), image_share(np.array([[0.0, 1.0], [1.0, 0.0]]))
    (0.0, 1.0)
    """
    defined = values[:, ~np.isnan(values).any(axis=0)]
    total = float(defined.var()) if defined.size else 0.0
    return float(defined.var(axis=0).mean() / total) if total > 0 else np.nan


def _agreement(
    judgments: Judgments, metric: VLScore, reading: Readings, *, deals: int, resampling: Resampling
) -> tuple[Ablated, float]:
    """Kendall's tau-b with the mean rating, or else with the mean count of errors; positive is agreement."""
    wanted = judgments.mean_ratings() if judgments.ratings else judgments.mean_errors()
    rated: dict[Key, float] = dict(zip(wanted.keys, wanted.oriented(wanted.columns[0]).tolist(), strict=True))
    judged = [c for c in judgments.cases if c.images and c.references and not np.isnan(rated.get(c.key, np.nan))]
    of_study = {case.id: case for case in judged}
    seen, points, _ = _with_points(list(of_study.values()), metric, reading)
    index = {case.id: at for at, case in enumerate(seen)}
    pairs = [case for case in judged if case.id in index]
    study_of = np.array([index[case.id] for case in pairs], dtype=np.intp)

    def scores(images: Sequence[ImagePoint]) -> NDArray[np.float64]:
        values = metric.measure_at(pairs, [[images[at]] for at in study_of], reading=reading)[:, 0]
        return values if metric.higher_is_better else -values

    rng = resampling.rng()
    right, flat = scores(points), scores(_mean_points(points, metric))
    dealt = np.stack([scores(deal) for deal in _deals(points, deals=deals, rng=rng)])
    usable = ~(np.isnan(right) | np.isnan(flat) | np.isnan(dealt).any(axis=0))
    ratings = np.array([rated[case.key] for case in pairs])[usable]
    right, flat, dealt, study_of = right[usable], flat[usable], dealt[:, usable], study_of[usable]
    weights = _weights(len(seen), resampling, rng)[:, study_of]

    def replicates(values: Rows) -> Rows:
        return weighted_association(values, ratings, weights, kind="kendall_b")

    apart = replicates(right) - np.mean([replicates(deal) for deal in dealt], axis=0)
    by_deal = np.array([association(values, ratings) for values in dealt])
    own, mean = association(right, ratings), association(flat, ratings)
    figure = _figure(AGREEMENT, len(ratings), own, by_deal, mean, apart, resampling.level)
    return figure, image_share(dealt)


def ablation_table(ablation: ImageAblation) -> Table:
    """Lay out the figures: a row each, a column per condition."""
    return table(
        *("measured", "n", "right images", "dealt at random", "one mean image", "right minus random"),
        key="image_ablation",
        title=f"{ablation.column} with its images taken away ({ablation.deals} deals, {ablation.studies} studies)",
        rows=[
            (
                row.name,
                row.n,
                row.right,
                Cell(number(row.dealt), interval(row.dealt_low, row.dealt_high), value=row.dealt),
                row.mean_image,
                Cell(signed(row.difference), interval(row.low, row.high), value=row.difference),
            )
            for row in ablation.rows
        ],
        records=[asdict(row) for row in ablation.rows],
        note=ablation.sentence,
    )
