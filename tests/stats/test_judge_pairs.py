"""Every pair of judges: the bootstrap and the published tests agree with calling them by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from radgauge.core.errors import InputError
from radgauge.stats import adjust, compare_correlations, compare_judges, correlation_difference

RNG = np.random.default_rng(8)
GOAL = RNG.normal(size=60)
JUDGES = np.stack([GOAL + s * RNG.normal(size=60) for s in (2.0, 0.4, 1.0)], axis=1)
NAMES = ("poor", "good", "fair")
STUDIES = [n // 2 for n in range(60)]


def pairs(**settings):  # type: ignore[no-untyped-def]
    given = {"names": NAMES, "rng": np.random.default_rng(0), "studies": STUDIES, "resamples": 200, **settings}
    return compare_judges(JUDGES, GOAL, **given)


def test_the_better_judge_comes_first_and_every_pair_is_there() -> None:
    found = pairs()
    assert [(p.first, p.second) for p in found] == [("good", "poor"), ("fair", "poor"), ("good", "fair")]
    assert all(p.difference.interval.value > 0 for p in found)


def test_the_test_is_that_of_spearman_with_the_correlation_between_the_judges() -> None:
    (found, *_) = pairs(test="hendrickson1970")
    (test,) = found.tests
    r = [spearmanr(x, y).statistic for x, y in ((JUDGES[:, 1], GOAL), (JUDGES[:, 0], GOAL), JUDGES[:, :2].T)]
    assert [test.r_first, test.r_second, test.r_between] == pytest.approx(r)
    assert test.kind == "spearman"
    expected = compare_correlations(r[0], r[1], r_kh=r[2], n=60, method="hendrickson1970")
    assert test.test.p == pytest.approx(expected.p)


def test_p_values_are_corrected_over_all_pairs() -> None:
    found = pairs(correction="bh")
    assert [p.p_adjusted for p in found] == adjust([p.difference.p for p in found], method="bh").tolist()
    raw = [p.tests[0].test.p for p in found]
    assert [p.tests[0].p_adjusted for p in found] == adjust(raw, method="bh").tolist()


def test_the_bootstrap_is_that_of_correlation_difference() -> None:
    (found, *_) = pairs()
    seed = int(np.random.default_rng(0).integers(2**63))
    same = correlation_difference(
        JUDGES[:, 1], JUDGES[:, 0], target=GOAL, rng=np.random.default_rng(seed), studies=STUDIES, resamples=200
    )
    assert found.difference == same


def test_within_groups_there_is_a_test_in_each() -> None:
    (found, *_) = pairs(within=["a"] * 40 + ["b"] * 20)
    assert [(t.group, t.n) for t in found.tests] == [("a", 40), ("b", 20)]
    (small, *_) = pairs(within=["a"] * 55 + ["b"] * 5)
    assert small.tests[1].test is None
    assert "5 cases is too small" in small.tests[1].reason


def test_copies_have_no_test_but_a_reason() -> None:
    twice = np.stack([GOAL, GOAL], axis=1)
    (found,) = compare_judges(twice, GOAL, names=("a", "b"), rng=np.random.default_rng(0), resamples=50)
    assert found.tests[0].test is None
    assert np.isnan(found.tests[0].p_adjusted)
    assert "not positive definite" in found.tests[0].reason


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="got 2 names for 3 columns"):
        pairs(names=("a", "b"))
    with pytest.raises(Exception, match="test must be one of"):
        pairs(test="coin")
