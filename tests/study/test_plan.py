"""Planning: simulated widths against the formula that holds where there is one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments.judgments import Judgments, rating_scores
from radgauge.stats import krippendorff_alpha
from radgauge.study.plan import plain_alpha, plan_study

CASES, RATERS, RESIDUAL = 1.0, 0.3, 0.5


def _study(number: int = 400, people: int = 6, systems: int = 1, seed: int = 1) -> tuple[Judgments, np.ndarray]:
    """Ratings with known variances."""
    rng = np.random.default_rng(seed)
    # fixed offsets whose variance is exact, so that a few raters do not decide the test
    offsets = rng.normal(size=people)
    offsets = (offsets - offsets.mean()) / offsets.std(ddof=1) * math.sqrt(RATERS)
    true = rng.normal(size=number * systems)
    true = (true - true.mean()) / true.std(ddof=1) * math.sqrt(CASES)
    table = 3 + true[:, None] + offsets + rng.normal(0, math.sqrt(RESIDUAL), size=(number * systems, people))
    cases = tuple(Case(f"s{n // systems}", "text", ("text",), f"m{n % systems}") for n in range(number * systems))
    keys = tuple(case.key for case in cases)
    ratings = {f"r{k}": dict(zip(keys, table[:, k].tolist(), strict=True)) for k in range(people)}
    return Judgments("known", cases, ratings=rating_scores(ratings, keys=keys, signature="known")), true


def test_variances_are_found() -> None:
    judgments, _ = _study()
    found = plan_study(judgments, studies=[10], raters=[2], simulations=50).components
    assert found.cases == pytest.approx(CASES, rel=0.15)
    assert found.raters == pytest.approx(RATERS, rel=0.05)
    assert found.residual == pytest.approx(RESIDUAL, rel=0.1)


@pytest.mark.parametrize(("studies", "raters"), [(25, 1), (25, 5), (100, 3), (400, 2)])
def test_the_width_of_a_mean_is_that_of_the_formula(studies: int, raters: int) -> None:
    judgments, _ = _study()
    (line,) = plan_study(judgments, studies=[studies], raters=[raters], simulations=2000).lines
    variance = CASES / studies + RATERS / raters + RESIDUAL / (studies * raters)
    assert line.width == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.12)
    assert line.value == pytest.approx(3, abs=0.2)


def test_a_difference_of_systems_does_not_depend_on_how_strict_raters_are() -> None:
    judgments, _ = _study(systems=2)
    (line,) = plan_study(judgments, statistic="difference", studies=[50], raters=[2], simulations=2000).lines
    variance = 2 * (CASES + RESIDUAL / 2) / 50
    assert line.width == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.12)


def test_more_studies_and_raters_narrow_the_interval_and_enough_says_when() -> None:
    judgments, _ = _study(number=60)
    found = plan_study(judgments, studies=[20, 80, 320], raters=[2, 6], width=1.6, simulations=400)
    width = {(line.studies, line.raters): line.width for line in found.lines}
    assert width[20, 2] > width[80, 2] > width[320, 2]
    assert width[80, 2] > width[80, 6]
    assert found.enough[6] == min(n for n in (20, 80, 320) if width[n, 6] <= 1.6)
    nothing = plan_study(judgments, studies=[20], raters=[2], width=0.01, simulations=50)
    assert nothing.enough == {2: None}


def test_agreement_and_correlation_come_out_as_they_went_in() -> None:
    judgments, true = _study()
    expected = CASES / (CASES + RATERS + RESIDUAL)
    for statistic in ("icc", "alpha"):
        found = plan_study(judgments, statistic=statistic, studies=[300], raters=[1, 6], simulations=100)  # type: ignore[arg-type]
        (line,) = found.lines  # one rater cannot agree
        assert line.value == pytest.approx(expected, abs=0.1)
    keys = tuple(case.key for case in judgments.cases)
    scores = Scores("m", "m", keys, true[:, None], true[:, None], ("m",), True)
    found = plan_study(
        judgments,
        statistic="correlation",
        scores=Results({"m": scores}),
        studies=[50],
        raters=[3],
        simulations=100,
    )
    # tau of two normals with correlation r is 2 asin(r) / pi
    r = math.sqrt(CASES / (CASES + RESIDUAL / 3))
    assert found.lines[0].value == pytest.approx(2 * math.asin(r) / math.pi, abs=0.06)


def test_plain_alpha_is_krippendorffs() -> None:
    values = np.random.default_rng(0).integers(0, 5, size=(12, 3)).astype(float)
    found = krippendorff_alpha(values, rng=np.random.default_rng(0), resamples=2)
    assert plain_alpha(values) == pytest.approx(found.value)


def test_what_cannot_be_planned_is_said() -> None:
    judgments, _ = _study(number=3)
    with pytest.raises(InputError, match="at least 5 studies and 2 raters"):
        plan_study(judgments)
    judgments, _ = _study(number=10)
    with pytest.raises(UsageError, match="two of the systems m0"):
        plan_study(judgments, statistic="difference")
    with pytest.raises(UsageError, match="needs the scores"):
        plan_study(judgments, statistic="correlation")
    with pytest.raises(UsageError, match="statistic must be one of"):
        plan_study(judgments, statistic="median")  # type: ignore[arg-type]


def test_the_verb_prints_a_table(tmp_path: pytest.TempPathFactory) -> None:
    judgments, _ = _study(number=20, people=2)
    path = f"{tmp_path}/ratings.csv"
    with open(path, "w") as file:
        file.write("id,r1,r2\n")
        one, two = (scores.headline for scores in judgments.ratings.values())
        file.writelines(f"{case.id},{a},{b}\n" for case, a, b in zip(judgments.cases, one, two, strict=True))
    done = CliRunner().invoke(
        app, ["study", "plan", path, "--width", "1", "--simulations", "50", "--studies", "10,20"]
    )
    assert done.exit_code == 0, done.output
    assert "width of the interval of the mean of rating" in done.output
    assert "for a width of 1" in done.output
    assert CliRunner().invoke(app, ["study", "plan", path, "--studies", "ten"]).exit_code != 0
