"""Failure modes: the published procedure against scipy, and the paired test beside it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import adjust, find_failure_modes, mean_errors

GROUPS = ["BLEU", "CheXbert", "BERTScore", "RadGraph"]
CATEGORIES = ["false finding", "omission"]


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def rexval_like(seed: int = 0) -> np.ndarray:
    """Counts of the shape of ReXVal: 50 studies, 4 oracles, 6 raters; BLEU's oracle invents findings."""
    rng = seeded(seed)
    hard = rng.gamma(1.0, 1.0, size=(50, 1, 1, 1))
    rate = np.broadcast_to(
        np.array([[0.9, 0.5], [0.6, 0.5], [0.5, 0.5], [0.4, 0.5]])[None, :, None, :], (50, 4, 6, 2)
    )
    return rng.poisson(rate * hard).astype(float)


def test_means_over_studies_and_raters() -> None:
    counts = rexval_like()
    found = mean_errors(counts)
    assert found.shape == (4, 3)
    assert found[:, :2] == pytest.approx(counts.mean((0, 2)))
    assert found[:, 2] == pytest.approx(found[:, :2].sum(1))
    counts[0, 0, 0, 0] = np.nan
    assert mean_errors(counts, total=False)[0, 0] == pytest.approx(np.nanmean(counts[:, 0, :, 0]))


@pytest.mark.parametrize(("direction", "alternative"), [("more", "greater"), ("less", "less")])
def test_published_procedure_equals_scipy(direction: str, alternative: str) -> None:
    counts = rexval_like()
    found = find_failure_modes(counts, groups=GROUPS, categories=CATEGORIES, direction=direction)
    assert len(found) == 2 * 12
    for c, category in enumerate(CATEGORIES):
        rows = [f for f in found if f.category == category]
        assert [(f.first, f.second) for f in rows] == list(itertools.permutations(GROUPS, 2))
        p = []
        for f in rows:
            i, j = GROUPS.index(f.first), GROUPS.index(f.second)
            a, b = counts[:, i, :, c].ravel(), counts[:, j, :, c].ravel()
            test = scipy_stats.ttest_ind(a, b, equal_var=True, alternative=alternative)
            assert (f.two_sample.df, len(a)) == (598, 300)
            assert f.two_sample.p == pytest.approx(test.pvalue)
            related = scipy_stats.ttest_rel(
                counts[:, i, :, c].mean(1), counts[:, j, :, c].mean(1), alternative=alternative
            )
            assert (f.paired.p, f.paired.df) == (pytest.approx(related.pvalue), 49)
            assert (f.mean_first, f.mean_second) == pytest.approx((a.mean(), b.mean()))
            p.append(test.pvalue)
        assert [f.two_sample.significant for f in rows] == (adjust(p, method="bh") <= 0.01).tolist()
        ranks = scipy_stats.rankdata(p)
        assert [f.two_sample.critical for f in rows] == pytest.approx(ranks * 0.01 / 12)


def test_the_planted_failure_is_found() -> None:
    found = find_failure_modes(rexval_like(), groups=GROUPS, categories=CATEGORIES)
    planted = next(f for f in found if (f.category, f.first, f.second) == ("false finding", "BLEU", "RadGraph"))
    assert planted.two_sample.significant
    assert planted.paired.significant
    assert not any(f.paired.significant for f in found if f.category == "omission")


def test_published_test_cries_wolf_where_raters_agree_and_the_paired_one_does_not() -> None:
    # No difference between oracles, but a report's six counts are copies: 300 points are worth 50.
    wrong = {"two_sample": 0, "paired": 0}
    for seed in range(120):
        counts = np.repeat(seeded(seed).poisson(1.0, size=(50, 2, 1, 1)), 6, axis=2).astype(float)
        for f in find_failure_modes(counts, groups=["a", "b"], categories=["x"]):
            for name in wrong:
                wrong[name] += getattr(f, name).p < 0.05
    assert wrong["two_sample"] / 240 > 0.15
    assert wrong["paired"] / 240 < 0.09


def test_permutation_agrees_with_t() -> None:
    counts = rexval_like(3)
    plain = find_failure_modes(counts, groups=GROUPS, categories=CATEGORIES, direction="less")
    swapped = find_failure_modes(
        counts, groups=GROUPS, categories=CATEGORIES, direction="less", paired="permutation", rng=seeded()
    )
    for one, other in zip(plain, swapped, strict=True):
        assert other.paired.p == pytest.approx(one.paired.p, abs=0.05)  # study means are coarse: ties count
        assert other.two_sample == one.two_sample


def test_total_is_a_category_on_request() -> None:
    counts = rexval_like()
    found = find_failure_modes(counts, groups=GROUPS, categories=CATEGORIES, total=True)
    last = found[-1]
    assert last.category == "total"
    a, b = (counts[:, GROUPS.index(g)].sum(-1).ravel() for g in (last.first, last.second))
    assert last.two_sample.p == pytest.approx(scipy_stats.ttest_ind(a, b, alternative="greater").pvalue)


def test_published_means_and_p_values_fit_together() -> None:
    # Yu et al. (2022), supplementary tables 2(a) and 3(a), false prediction of finding, total errors: the
    # means and p values of the pairs with BLEU imply the pooled standard deviation.
    means = {"BLEU": 0.807, "CheXbert": 0.597, "BERTScore": 0.477, "RadGraph": 0.427}
    p = {"CheXbert": 3.79e-3, "BERTScore": 9.50e-6, "RadGraph": 1.07e-7}
    for other, value in p.items():
        t = scipy_stats.t.isf(value, 598)
        spread = (means["BLEU"] - means[other]) / t / math.sqrt(2 / 300)
        assert 0.8 < spread < 1.1


def test_nothing_varies_is_no_test() -> None:
    (one, other) = find_failure_modes(np.zeros((5, 2, 3, 1)), groups=["a", "b"], categories=["x"])
    assert math.isnan(one.two_sample.p)
    assert math.isnan(one.paired.p)
    assert not one.two_sample.significant
    assert not other.paired.significant


def test_missing_raters_are_left_out() -> None:
    counts = rexval_like()
    counts[0, :, :, :] = np.nan
    counts[1, 0, 2, 0] = np.nan
    first = find_failure_modes(counts, groups=GROUPS, categories=CATEGORIES)[0]
    assert (first.two_sample.df, first.paired.df) == (294 + 293 - 2, 48)
    nobody = find_failure_modes(np.full((2, 2, 1, 1), np.nan), groups=["a", "b"], categories=["x"])
    assert math.isnan(nobody[0].mean_first)
    assert math.isnan(nobody[0].paired.p)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: mean_errors(np.ones((2, 2))),
            InputError,
            r"four axes \(studies, groups, raters, categories\)",
        ),
        (
            lambda: find_failure_modes(rexval_like(), groups=["a"], categories=CATEGORIES),
            InputError,
            "groups must name axis 1 of counts: got 1 names for 4",
        ),
        (
            lambda: find_failure_modes(rexval_like(), groups=GROUPS, categories=CATEGORIES, paired="permutation"),
            UsageError,
            "paired='permutation' needs rng",
        ),
        (
            lambda: find_failure_modes(rexval_like(), groups=GROUPS, categories=CATEGORIES, direction="up"),
            UsageError,
            "direction must be one of more, less",
        ),
    ],
)
def test_messages(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()
