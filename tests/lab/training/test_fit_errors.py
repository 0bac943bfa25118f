"""Learning weights: what is learned, what it is worth, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.analysis.fit_errors import _logs, _Table, fit_errors, fit_sources
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.findings.profile import Arithmetic
from radgauge.findings.weights import PRIOR, read_weights
from radgauge.io.judgments import Judgments, read_judgments
from radgauge.io.judgments.judgments import rating_scores
from radgauge.metrics.errors import Errors

REFERENCE = "Left pleural effusion. Cardiomegaly. Degenerative changes of the spine."
CANDIDATES = {
    "all": (REFERENCE, 5),
    "no spine": ("Left pleural effusion. Cardiomegaly.", 5),
    "no heart": ("Left pleural effusion. Degenerative changes of the spine.", 3),
    "nothing": ("The lungs are clear.", 1),
    "false": (REFERENCE + " Lung mass.", 4),
    "false spine": (REFERENCE + " Scoliosis.", 5),
}


def judged(studies: int = 6) -> Judgments:
    cases = tuple(
        Case(f"study {n}", text, (REFERENCE,), name)
        for n in range(studies)
        for name, (text, _) in CANDIDATES.items()
    )
    ratings = {"1": {case.key: float(CANDIDATES[case.system][1]) for case in cases}}
    keys = tuple(case.key for case in cases)
    return Judgments("invented", cases, ratings=rating_scores(ratings, keys=keys, signature="invented"))


def test_what_raters_do_not_mind_is_learned() -> None:
    found = fit_errors(judged(), start=PRIOR, strength=0.001)
    assert found.weights.tiers["benign"] < PRIOR.tiers["benign"]
    assert found.fitted >= found.start
    assert (found.cases, found.studies, found.target) == (36, 6, "rating")
    assert -1 <= found.cross_validated <= 1
    assert found.weights.about["from"] == "invented: 36 reports of 6 studies, target rating"


def test_a_strong_pull_learns_nothing() -> None:
    found = fit_errors(judged(3), start=PRIOR, strength=1e6)
    assert found.weights.tiers == pytest.approx(PRIOR.tiers, abs=1e-3)
    # costs are scaled together, so that a normal template is at 0; their proportions stay
    scale = found.weights.categories["omission"]
    proportions = {key: value / scale for key, value in found.weights.categories.items()}
    assert proportions == pytest.approx(PRIOR.categories, abs=2e-3)
    template = Case("t", "The lungs are clear.", (REFERENCE,))
    profile = Errors().profile(template, reading=Readings())
    assert profile is not None
    assert Arithmetic(found.weights).quality(profile[0]) == pytest.approx(0.0, abs=0.03)


def test_the_table_does_the_metric_s_arithmetic() -> None:
    cases = [
        Case(name, text, (REFERENCE + " Possible pneumonia. Old rib fracture.",))
        for name, (text, _) in CANDIDATES.items()
    ]
    profiles = [found[0] for case in cases if (found := Errors().profile(case, reading=Readings())) is not None]
    expected = [Arithmetic(PRIOR).quality(profile) for profile in profiles]
    assert _Table(profiles).quality(_logs(PRIOR)) == pytest.approx(expected)
    kept = np.arange(len(profiles)) % 2 == 0
    assert _Table(profiles).take(kept).quality(_logs(PRIOR)) == pytest.approx(expected[::2])


def test_weights_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(fit_errors(judged(3), folds=3).weights.as_json())
    assert read_weights(path).about["strength"] == 0.2


def test_refusals() -> None:
    with pytest.raises(UsageError, match="got 'stars'"):
        fit_errors(judged(3), target="stars")
    with pytest.raises(InputError, match="invented has no error counts; use the target rating"):
        fit_errors(judged(3), target="total")
    with pytest.raises(UsageError, match="strength must be 0 or more, got -1"):
        fit_errors(judged(3), strength=-1)
    with pytest.raises(UsageError, match="folds must be from 2 to the number of studies"):
        fit_errors(judged(3), folds=9)
    with pytest.raises(InputError, match="fitting needs judged reports of 3"):
        fit_errors(judged(2))


def test_the_shipped_weights_hold_on_studies_not_seen(shared_data: Path) -> None:
    judgments = read_judgments(shared_data / "radpref_dev" / "radpref_dev.json")
    found = fit_errors(judgments, start=PRIOR, folds=10)
    assert found.cross_validated > 0.6


def test_sources_are_left_out_in_turn() -> None:
    found = fit_sources({"one": judged(4), "two": judged(3)}, strength=0.05)
    assert set(found.left_out) == set(found.start) == set(found.fitted) == {"one", "two"}
    assert all(found.fitted[name] >= found.start[name] - 0.05 for name in found.fitted)
    assert found.weights.about["tau_b_source_left_out"] == found.left_out
    assert found.weights.about["from"] == "ratings of one (24 pairs), two (18 pairs)"


def test_leaving_a_source_out_needs_another() -> None:
    with pytest.raises(InputError, match="needs two sources or more, got 1"):
        fit_sources({"one": judged(3)})


def test_p_values_are_scipys() -> None:
    from scipy.stats import kendalltau

    people = judged()
    found = fit_errors(people, start=PRIOR, strength=1e6)
    wanted = people.mean_ratings().headline
    values = [Errors(weights="prior").measure([case], reading=Readings()) for case in people.cases]
    quality = [Errors(weights="prior").case_scores(rows)[0, 0] for rows in values]
    expected = kendalltau(quality, wanted, method="asymptotic")
    assert found.start == pytest.approx(expected.statistic, abs=1e-9)
    assert found.start_p == pytest.approx(expected.pvalue, rel=1e-6)
    assert 0 < found.cross_validated_p < 1
