"""RadCliQ of the preprint (Yu et al. 2022): the regression of radiologists' errors on BLEU and RadGraph F1.

Fitted and measured on the same 200 reports, as the paper did. The last two lines are measured on studies that the
fit has not seen, which the paper does not print.
"""

from __future__ import annotations

import math

from side_by_side import YU, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.core.scores import Results
from radgauge.stats.resampling import Resampling

PUBLISHED = {
    "R2": 0.423,
    "coefficient of BLEU": -0.559,
    "coefficient of RadGraph F1": -0.526,
    "intercept": 1.642,
    "Kendall tau-b, total errors": 0.522,
}
PARTS = ("BLEU", "RadGraph F1")


def make(settings: Settings) -> list[Line]:
    """Share of variance, coefficients per standard deviation, intercept and rank correlation."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    results, missing = score_cases(judgments.cases, [YU[part] for part in PARTS], settings)
    if missing:
        return [Line(name, value, math.nan, "; ".join(missing.values())) for name, value in PUBLISHED.items()]
    named = Results({scores.judge: scores for scores in results.judges.values()})
    columns = [scores.columns[0] for scores in named.judges.values()]
    how = Resampling(resamples=settings.resamples, seed=settings.seed)
    fit = rg.fit_radcliq(named, judgments, columns=columns, target="total", resampling=how)
    values = (fit.r2, *(term.coefficient.value for term in fit.terms), fit.intercept.value, fit.tau.value)
    lines = [Line(*row, value) for row, value in zip(PUBLISHED.items(), values, strict=True)]
    unseen = (("R2", fit.r2_cross_validated), ("Kendall tau-b", fit.tau_cross_validated.value))
    return [*lines, *(Line(f"{name}, studies not seen", math.nan, value) for name, value in unseen)]


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, RadCliQ", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
