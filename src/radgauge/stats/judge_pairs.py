"""Is one judge better than another? Every pair of judges, by a paired bootstrap and by a test from the literature.

The bootstrap draws studies and works for every coefficient. The tests that cocor collects know only Pearson
correlations of independent cases; papers put Spearman's coefficient into them (Calamida et al. 2023, table 3),
and so do we when the coefficient asked for is not Pearson's. Read them beside the bootstrap, not instead of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.choices import Correction, DependentMethod, Kind
from radgauge.core.errors import InputError
from radgauge.stats.coefficients import association
from radgauge.stats.corrections import adjust
from radgauge.stats.correlate import distinct_labels
from radgauge.stats.dependent import METHODS, DependentTest, compare_correlations
from radgauge.stats.paired import Alternative
from radgauge.stats.ranking import CorrelationDifference, correlation_difference
from radgauge.stats.resample import Labels, Rows, as_rows, check_choice, check_positive


@dataclass(frozen=True, slots=True)
class OverlapTest:
    """A test of two correlations with the same target."""

    group: Hashable  # The group it was made in; "" = over all cases
    kind: Kind  # The coefficient that went into it: spearman or pearson
    r_first: float  # Correlation of the first judge with the target
    r_second: float  # Correlation of the second judge with the target
    r_between: float  # Correlation of the two judges with each other; the p value depends strongly on it
    n: int  # Cases that both judges and the target have
    test: DependentTest | None  # The test; None where it is undefined
    p_adjusted: float  # Its p value, corrected for all tests of the call; NaN where there is none
    reason: str = ""  # Why there is no test


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on one target: the paired bootstrap of the difference, and the tests by group.

    `p_adjusted` corrects the bootstrap's p value for all pairs of the call.
    """

    first: str
    second: str
    difference: CorrelationDifference
    p_adjusted: float
    tests: tuple[OverlapTest, ...]


def compare_judges(
    judges: ArrayLike,
    target: ArrayLike,
    *,
    names: Sequence[str],
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    test: DependentMethod = "williams1959",
    alternative: Alternative = "two-sided",
    smallest_group: int = 10,
    correction: Correction = "holm",
    against: str | None = None,
    level: float = 0.95,
    resamples: int = 1000,
) -> tuple[JudgePair, ...]:
    """Compare every pair of judges (n, M) by their correlation with the target; the better one comes first.

    Args:
        judges: One column per judge, larger = better; NaN where it could not judge.
        target: One value per case, larger = better.
        names: The judges' names.
        rng: Every pair starts from the same draws.
        kind: Coefficient of the bootstrap.
        studies: One label per case; studies are drawn with all their cases.
        within: One label per case: the bootstrap takes the mean of the groups' coefficients, and the
            published tests are made in each group, as the paper makes them in each oracle's 50 reports.
        test: A test of `compare_correlations`.
        alternative: Of that test: two-sided, or "greater", that the first (better) judge's is larger.
        smallest_group: Groups with fewer cases get no test.
        correction: Over all pairs (bootstrap), and over all tests made.
        against: A judge: only its pairs with the others are compared, and it comes first.
        level: Coverage of the intervals of the differences.
        resamples: Bootstrap resamples.

    >>> rng = np.random.default_rng(0)
    >>> pair, = compare_judges([[1, 2], [2, 1], [3, 4], [4, 3], [5, 5]], [1, 2, 3, 4, 5], names=["good", "fair"],
    ...                        rng=rng, resamples=50)
    >>> pair.first, round(pair.difference.interval.value, 3), pair.tests[0].reason
    ('good', 0.4, 'a group of 5 cases is too small for a test')
    """
    check_choice("test", test, METHODS)
    check_positive("resamples", resamples)
    table, goal = as_rows(judges, "judges"), np.asarray(target, dtype=np.float64)
    if len(names) != table.shape[1]:
        raise InputError(f"names must name every judge: got {len(names)} names for {table.shape[1]} columns")
    seed = int(rng.integers(2**63))
    pairs = []
    if against is not None and against not in names:
        raise InputError(f"against must be one of {', '.join(names)}, got {against!r}")
    chosen = list(itertools.combinations(range(len(names)), 2))
    if against is not None:
        own = names.index(against)
        chosen = [(own, other) for other in range(len(names)) if other != own]
    for i, j in chosen:
        if against is None and _worth(table[:, i], goal, kind) < _worth(table[:, j], goal, kind):
            i, j = j, i
        difference = correlation_difference(
            table[:, i],
            table[:, j],
            target=goal,
            rng=np.random.default_rng(seed),
            kind=kind,
            studies=studies,
            within=within,
            level=level,
            resamples=resamples,
        )
        tests = _tests(table[:, i], table[:, j], goal, within, kind, test, alternative, smallest_group)
        pairs.append(JudgePair(names[i], names[j], difference, float("nan"), tests))
    return _adjusted(pairs, correction)


def _worth(judge: Rows, goal: Rows, kind: Kind) -> float:
    value = association(judge, goal, kind=kind)
    return -2.0 if np.isnan(value) else value


def _tests(
    first: Rows,
    second: Rows,
    goal: Rows,
    within: Labels | None,
    kind: Kind,
    method: DependentMethod,
    alternative: Alternative,
    smallest: int,
) -> tuple[OverlapTest, ...]:
    complete = ~(np.isnan(first) | np.isnan(second) | np.isnan(goal))
    used: Kind = "pearson" if kind == "pearson" else "spearman"
    labels = None if within is None else np.asarray(within, dtype=object)
    groups: tuple[Hashable, ...] = ("",) if within is None else distinct_labels(within)
    tests = []
    for group in groups:
        here = complete if labels is None else complete & (labels == group)
        n = int(here.sum())
        a, b, c = (
            association(x[here], y[here], kind=used) for x, y in ((first, goal), (second, goal), (first, second))
        )
        test, reason = None, f"a group of {n} cases is too small for a test"
        if n >= smallest:
            try:
                test, reason = compare_correlations(a, b, r_kh=c, n=n, method=method, alternative=alternative), ""
            except InputError as error:  # a constant judge, or two that are copies of each other
                reason = str(error)
        tests.append(OverlapTest(group, used, a, b, c, n, test, float("nan"), reason))
    return tuple(tests)


def _adjusted(pairs: Sequence[JudgePair], correction: Correction) -> tuple[JudgePair, ...]:
    bootstrap = adjust([pair.difference.p for pair in pairs], method=correction)
    raw = [float("nan") if t.test is None else t.test.p for pair in pairs for t in pair.tests]
    tested = iter(adjust(raw, method=correction))
    return tuple(
        replace(
            pair,
            p_adjusted=float(p),
            tests=tuple(replace(t, p_adjusted=float(next(tested))) for t in pair.tests),
        )
        for pair, p in zip(pairs, bootstrap, strict=True)
    )
