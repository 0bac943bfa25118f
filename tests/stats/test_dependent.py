"""Tests of dependent correlations against the values that the literature and cocor's own tests give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import kstest, pearsonr

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import compare_correlations, meng_interval, zou_interval
from radgauge.stats.dependent import METHODS


@pytest.mark.parametrize(
    ("method", "r_jk", "r_jh", "r_kh", "n", "statistic", "digits"),
    [
        ("hotelling1940", 0.5, 0.2, 0.0, 50, 1.73, 2),  # May and Hittner (1997)
        ("hotelling1940", 0.5, 0.2, 0.3, 50, 2.01, 2),
        ("hotelling1940", 0.5, 0.2, 0.8, 50, 4.07, 2),
        ("hotelling1940", 0.7, 0.4, 0.8, 50, 4.91, 2),
        ("hotelling1940", 0.612, 0.541, 0.466, 157, 1.158, 3),  # Glass and Stanley (1984)
        ("hotelling1940", 0.55, 0.45, 0.60, 200, 1.91, 2),  # Guilford and Fruchter (1978)
        ("hendrickson1970", 0.5, 0.2, 0.3, 50, 2.01, 2),
        ("williams1959", 0.3, 0.4, 0.5, 100, -1.0767, 4),  # Silver, Hittner and May (2006)
        ("olkin1967", 0.5, 0.2, 0.3, 50, 2.00, 2),
        ("olkin1967", 0.56, 0.43, 0.52, 100, 1.59, 2),
        ("dunn1969", 0.3, 0.4, 0.5, 100, -1.0730, 4),
        ("dunn1969", 0.5, 0.6, 0.7, 100, -1.5838851123, 10),
        ("steiger1980", 0.4, 0.5, 0.1, 103, -0.8887185, 7),
        ("steiger1980", 0.3, 0.4, 0.5, 100, -1.0718, 4),
        ("hittner2003", 0.3, 0.4, 0.5, 100, -1.0715, 4),
        ("meng1992", 0.63, -0.03, -0.19, 15, 1.68, 2),  # Meng, Rosenthal and Rubin (1992)
        ("meng1992", 0.3, 0.4, 0.5, 100, -1.0707, 4),
        ("meng1992", 0.5, 0.2, 0.8, 50, 3.50, 2),
        ("meng1992", 0.7, 0.4, 0.0, 50, 2.03, 2),
    ],
)
def test_published_statistics(
    method: str, r_jk: float, r_jh: float, r_kh: float, n: int, statistic: float, digits: int
) -> None:
    found = compare_correlations(r_jk, r_jh, r_kh=r_kh, n=n, method=method)  # type: ignore[arg-type]
    assert round(found.statistic, digits) == statistic


@pytest.mark.parametrize(
    ("method", "args", "p", "digits"),
    [
        ("williams1959", (0.3, 0.4, 0.5, 100), 0.2843, 4),
        ("dunn1969", (0.3, 0.4, 0.5, 100), 0.2833, 4),
        ("dunn1969", (0.5, 0.6, 0.7, 100), 0.1132198659, 10),
        ("steiger1980", (0.3, 0.4, 0.5, 100), 0.2838, 4),
        ("hittner2003", (0.3, 0.4, 0.5, 100), 0.2839, 4),
        ("meng1992", (0.3, 0.4, 0.5, 100), 0.2843, 4),
    ],
)
def test_published_p_values(method: str, args: tuple[float, float, float, int], p: float, digits: int) -> None:
    r_jk, r_jh, r_kh, n = args
    found = compare_correlations(r_jk, r_jh, r_kh=r_kh, n=n, method=method)  # type: ignore[arg-type]
    assert round(found.p, digits) == p


def test_meng_one_sided_and_interval() -> None:
    found = compare_correlations(0.63, -0.03, r_kh=-0.19, n=15, method="meng1992", alternative="greater")
    assert round(found.p, 3) == 0.047
    assert [round(b, 3) for b in meng_interval(0.63, -0.03, r_kh=-0.19, n=15)] == [-0.129, 1.672]


def test_zou_interval_of_the_article() -> None:
    assert [round(b, 3) for b in zou_interval(0.396, 0.179, r_kh=0.088, n=66)] == [-0.093, 0.517]


# Radiology-aware COMET metric (Calamida et al. 2023), table 3: human-RadCliQ against human-RadEval, n = 50,
# "less", Hendrickson. The correlation of the two metrics with each other is not printed; these are the
# values that the printed p implies (a second root near 0.14 and 0.25 would make two metrics that both
# follow the radiologists almost unrelated to each other).
COMET = [
    ("BertScore oracle", 0.682, 0.786, 0.0084, 0.8913),
    ("CheXbert oracle", 0.728, 0.813, 0.0131, 0.9049),
]


@pytest.mark.parametrize(("name", "radcliq", "radeval", "p", "r_kh"), COMET)
def test_published_p_values_of_the_comet_paper(
    name: str, radcliq: float, radeval: float, p: float, r_kh: float
) -> None:
    def test_p(shared: float) -> float:
        return compare_correlations(
            radcliq, radeval, r_kh=shared, n=50, method="hendrickson1970", alternative="less"
        ).p

    assert round(test_p(r_kh), 4) == p
    assert brentq(lambda shared: test_p(shared) - p, 0.7, 0.98) == pytest.approx(r_kh, abs=5e-4)
    assert test_p(0.8) > 0.03  # with r_kh = 0.8 the finding would be .036 or .056: it hinges on r_kh


@pytest.mark.parametrize("method", METHODS)
def test_swapping_the_judges_turns_the_sign(method: str) -> None:
    one = compare_correlations(0.6, 0.4, r_kh=0.5, n=60, method=method, alternative="greater")  # type: ignore[arg-type]
    other = compare_correlations(0.4, 0.6, r_kh=0.5, n=60, method=method, alternative="less")  # type: ignore[arg-type]
    assert one.statistic == pytest.approx(-other.statistic)
    assert one.p == pytest.approx(other.p)
    assert compare_correlations(0.5, 0.5, r_kh=0.5, n=60, method=method).p == 1.0  # type: ignore[arg-type]
    assert (one.df == 57) is (method in ("hotelling1940", "williams1959", "hendrickson1970"))


def test_p_is_uniform_under_the_null_for_williams() -> None:
    cholesky = np.linalg.cholesky(np.array([[1, 0.5, 0.5], [0.5, 1, 0.7], [0.5, 0.7, 1]]))
    p = []
    for seed in range(300):
        j, k, h = cholesky @ np.random.default_rng(seed).normal(size=(3, 50))
        r = (pearsonr(j, k).statistic, pearsonr(j, h).statistic)
        p.append(compare_correlations(*r, r_kh=pearsonr(k, h).statistic, n=50).p)
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"r_jk": 1.0}, InputError, r"r_jk must lie strictly between -1 and 1, got 1\.0"),
        ({"r_kh": math.nan}, InputError, "r_kh must lie strictly between -1 and 1, got nan"),
        ({"n": 3}, InputError, "n must be at least 4 cases, got 3"),
        ({"r_jk": 0.9, "r_jh": -0.9, "r_kh": 0.9}, InputError, "not positive definite; check r_kh"),
        ({"method": "zou2007"}, UsageError, "method must be one of pearson1898"),
        ({"alternative": "two.sided"}, UsageError, "alternative must be one of two-sided"),
    ],
)
def test_messages(arguments, error, message) -> None:  # type: ignore[no-untyped-def]
    given = {"r_jk": 0.5, "r_jh": 0.4, "r_kh": 0.3, "n": 50} | arguments
    with pytest.raises(error, match=message):
        compare_correlations(given.pop("r_jk"), given.pop("r_jh"), **given)
