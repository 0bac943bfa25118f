"""VLScore's constant C for an encoder: the largest triangle on a calibration set.

Dawidowicz et al. (2024), section 3, set C to the largest area on ReXVal, whose pairs are of diverse quality. On a
set of good reports alone C comes out too small, and poor reports are then all cut at 0: take candidates of every
kind. Each view set of the studies (frontal, lateral, both) gets a C of its own, so that a score does not depend on
how many pictures a study has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.encoders.image.image_text import Calibration
from radgauge.metrics.vlscore import VLScore
from radgauge.run.score import score

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@working("fitting")
def fit_vlscore(
    cases: Sequence[Case], *, metric: VLScore | None = None, reading: Readings | None = None
) -> Calibration:
    """Learn C.

    Args:
        cases: Images, candidates and references; cases that cannot be judged are counted and left out.
        metric: Encoder and views to learn for; its own constant is not used.
        reading: Shared readings.

    Raises:
        InputError: No case could be judged, or every candidate is its reference.
    """
    metric = (metric if metric is not None else VLScore()).unscaled()
    reading = reading if reading is not None else Readings()
    scores = next(iter(score(cases, metric, reading=reading).judges.values()))
    areas = scores.values[:, 1]
    defined = areas[~np.isnan(areas)]
    if not len(defined):
        why = next(iter(scores.reasons.values()), "there are no cases")
        raise InputError(f"none of the {len(cases)} cases could be judged; first reason: {why}")
    if defined.max() <= 0:
        raise InputError(f"all {len(defined)} triangles have no area: every candidate is its reference")
    quantiles = np.quantile(defined, QUANTILES)
    of_key = {case.key: shown for case, shown in zip(cases, metric.view_sets(cases, reading=reading), strict=True)}
    shown = np.array([of_key[key] for key in scores.keys])[~np.isnan(areas)]
    sets = [each for each in sorted(set(shown.tolist())) if defined[shown == each].max() > 0]
    return Calibration(
        encoder=metric.image_text.name,
        views=metric.views,
        constants={each: float(defined[shown == each].max()) for each in sets},
        triplets={each: int((shown == each).sum()) for each in sets},
        left_out=len(areas) - len(defined),
        quantiles={f"{share:g}": float(area) for share, area in zip(QUANTILES, quantiles, strict=True)},
    )
