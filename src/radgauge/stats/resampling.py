"""Settings of intervals and tests, as one record: every study hands it on to the statistics below it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from radgauge.core.choices import RESAMPLES, CorrelationMethod, IntervalMethod, ValueMethod
from radgauge.core.errors import UsageError


class Draw(TypedDict):
    """The keywords of a bootstrap: a generator of its own, coverage, number of resamples."""

    rng: np.random.Generator
    level: float
    resamples: int


@dataclass(frozen=True, slots=True)
class Resampling:
    """Bootstrap settings.

    >>> Resampling(resamples=0).at_least(1).resamples
    1
    """

    level: float = 0.95  # Coverage of the intervals
    resamples: int = RESAMPLES  # Bootstrap resamples; where a study allows 0, it then gives no intervals (NaN)
    # Kind of interval; `auto` means percentiles for correlations, `yu2022` is for single values and correlations;
    # differences are then made by `auto`
    method: ValueMethod | CorrelationMethod = "auto"
    seed: int = 0  # Seed of every draw

    def rng(self) -> np.random.Generator:
        """A fresh generator: every analysis begins with the seed, so that one does not change another."""
        return np.random.default_rng(self.seed)

    @property
    def interval(self) -> ValueMethod:
        """The method, for corpus scores."""
        return self.method

    @property
    def difference_interval(self) -> IntervalMethod:
        """The method, for differences of corpus scores: the paper's intervals could not judge any."""
        return "auto" if self.method == "yu2022" else self.method

    @property
    def correlation_interval(self) -> CorrelationMethod:
        """The method, for correlations."""
        if self.method == "t":
            raise UsageError("correlations have no t interval; choose percentile, bca or yu2022")
        return "percentile" if self.method == "auto" else self.method

    def draw(self) -> Draw:
        """The keywords that the functions of `radgauge.stats` share."""
        return {"rng": self.rng(), "level": self.level, "resamples": self.resamples}

    def at_least(self, resamples: int) -> Resampling:
        """The same with no fewer resamples than these."""
        return replace(self, resamples=max(self.resamples, resamples))


USUAL = Resampling()
"""95 % intervals, seed 0."""
