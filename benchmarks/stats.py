"""Resampling against scipy's own functions on the same data in the same run.

    python benchmarks/stats.py [--cases 2000]

Every line gives our time, scipy's time for the same number of resamples, and the ratio. Where scipy would
take minutes, it runs a part and the time is scaled; the line says so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy import stats as scipy_stats

from radgauge.stats import (
    bootstrap,
    compare_paired,
    correlation_table,
    interval,
    permutation_test,
    rank_judges,
)


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Best of a few runs: the machine may be busy with other things."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def line(name: str, ours: float, theirs: float | None = None, note: str = "") -> None:
    text = f"{name:<64} {ours * 1000:10.1f} ms"
    if theirs is not None:
        text += f"   scipy {theirs * 1000:11.1f} ms   {theirs / ours:8.1f} x"
    print(f"{text}   {note}".rstrip())


def f1(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """F1 from sums of hits, predicted and expected."""
    return (2 * totals[..., :1]) / (totals[..., 1:2] + totals[..., 2:3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    n = parser.parse_args().cases
    rng = np.random.default_rng(0)
    a, b = rng.random(n), rng.random(n)
    counts_a, counts_b = (rng.integers(1, 9, size=(n, 3)).astype(float) for _ in range(2))
    print(f"{n} cases; numpy {np.__version__}")

    def mean_difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return x.mean(axis=axis) - y.mean(axis=axis)

    ours = seconds(lambda: bootstrap(a, rng=np.random.default_rng(0), resamples=2000))
    theirs = seconds(
        lambda: scipy_stats.bootstrap((a,), np.mean, n_resamples=2000, method="percentile", rng=0), repeats=1
    )
    line("bootstrap of a mean, 2,000 resamples", ours, theirs)

    ours = seconds(lambda: interval(a, rng=np.random.default_rng(0), method="bca"))
    theirs = seconds(lambda: scipy_stats.bootstrap((a,), np.mean, n_resamples=2000, rng=0), repeats=1)
    line("BCa interval of a mean, 2,000 resamples", ours, theirs)

    ours = seconds(lambda: bootstrap(counts_a, f1, rng=np.random.default_rng(0), resamples=2000))
    theirs = seconds(
        lambda: scipy_stats.bootstrap(
            tuple(counts_a.T),
            lambda h, p, e, axis: 2 * h.sum(axis) / (p.sum(axis) + e.sum(axis)),
            n_resamples=2000,
            method="percentile",
            paired=True,
            vectorized=True,
            batch=200,
            rng=0,
        ),
        repeats=1,
    )
    line("bootstrap of a corpus F1 (3 columns), 2,000 resamples", ours, theirs)

    ours = seconds(lambda: permutation_test(a, b, rng=np.random.default_rng(0)))
    part = 1000
    theirs = seconds(
        lambda: scipy_stats.permutation_test(
            (a, b),
            mean_difference,
            permutation_type="samples",
            vectorized=True,
            n_resamples=part,
            batch=100,
            rng=0,
        ),
        repeats=1,
    )
    line("paired permutation test of a mean, 10,000", ours, theirs * 10_000 / part, f"scipy scaled from {part}")

    wide_a, wide_b = rng.random((n, 10)), rng.random((n, 10))
    line(
        "paired permutation test, 10 columns, 10,000",
        seconds(lambda: permutation_test(wide_a, wide_b, rng=np.random.default_rng(0))),
    )
    line(
        "compare_paired (test, interval, effects), corpus F1",
        seconds(lambda: compare_paired(counts_a, counts_b, corpus_scores=f1, rng=np.random.default_rng(0))),
    )

    studies = np.repeat(np.arange(50), 4)
    target = rng.poisson(1.6, size=(200, 8)).astype(float)
    judges = target[:, :1] + rng.normal(size=(200, 10))
    ours = seconds(
        lambda: correlation_table(judges, target, studies=studies, rng=np.random.default_rng(0), resamples=1000)
    )
    part = 300
    index = rng.integers(0, 200, size=(part, 200))
    theirs = seconds(
        lambda: [scipy_stats.kendalltau(judges[i, 0], target[i, 0]).statistic for i in index], repeats=1
    )
    line(
        "Kendall tau-b, 10 judges x 8 targets, 200 cases, 1,000 resamples",
        ours,
        theirs * 80_000 / part,
        f"scipy scaled from {part}",
    )
    names = [f"judge {i}" for i in range(10)]
    line(
        "ranking of 10 judges, 45 pairs, 200 cases, 2,000 resamples",
        seconds(
            lambda: rank_judges(judges, target[:, 0], names=names, studies=studies, rng=np.random.default_rng(0))
        ),
    )


if __name__ == "__main__":
    main()
