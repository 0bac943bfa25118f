"""Choices that have names: which interval, which test, which correction.

They stand here, without numpy, so that the command line can list them before anything heavy is imported; the
modules that implement a choice take its type from here.
"""

from __future__ import annotations

from typing import Literal

IntervalMethod = Literal["auto", "percentile", "bca", "t"]
"""Intervals of corpus scores; `auto` takes wilson, t or percentiles by what holds."""

ValueMethod = Literal["auto", "percentile", "bca", "t", "yu2022"]
"""The same of single values, where `yu2022` gives the intervals that paper prints, far too narrow."""

CorrelationMethod = Literal["percentile", "bca", "yu2022"]
"""Intervals of correlations; `yu2022` is that paper's own, which is far too narrow."""

TestName = Literal["permutation", "bootstrap"]
"""Paired tests of two systems."""

Correction = Literal["holm", "bh", "none"]
"""Corrections for many tests at once."""

Kind = Literal["kendall_b", "kendall_c", "spearman", "pearson"]
"""Correlation coefficients."""

Scope = Literal["pooled", "group", "study"]
"""Correlations over all cases, or as the mean over candidate groups or studies."""

NoRow = Literal["refuse", "zero", "unjudged"]
"""Meaning of a missing row in a table of error counts: no errors, not judged, or nobody knows (refused)."""

Equality = Literal["precision", "exact"]
"""When two values are tied: up to the precision of the metric, or digit by digit, as in published studies."""

TieRule = Literal["half", "wrong", "skip", "match", "calibrated"]
"""Credit for a tie of a judge where the target prefers one report."""

DependentMethod = Literal[
    "pearson1898",
    "hotelling1940",
    "williams1959",
    "olkin1967",
    "dunn1969",
    "hendrickson1970",
    "steiger1980",
    "meng1992",
    "hittner2003",
]
"""Tests of two correlations with the same target, by author and year."""

Missing = Literal["error", "nan", "subset"]
Duplicates = Literal["error", "first", "last"]
"""Treatment of studies without a candidate: refuse, keep as not judged, or judge the others only."""

Section = Literal["findings", "impression", "both", "whole"]
"""The part of a report that is judged."""

EngineName = Literal["process", "pool", "ray"]
"""Where the parts of a large run are scored: in this process, in several, or on a Ray cluster."""

RESAMPLES = 2000
"""Resamples behind an interval, wherever it is shown: another number would be another interval."""
