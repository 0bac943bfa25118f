"""Statistics on score tables: pure functions on arrays, independent of the rest of the package."""

from radgauge.stats.compare import Comparison, adjust_comparisons, compare_paired
from radgauge.stats.corrections import adjust, bh_critical_values
from radgauge.stats.effects import Effect, cliffs_delta, effects
from radgauge.stats.paired import PairedTest, bootstrap_test, permutation_test
from radgauge.stats.resample import Interval, bootstrap, interval, mean_scores

__all__ = [
    "Comparison",
    "Effect",
    "Interval",
    "PairedTest",
    "adjust",
    "adjust_comparisons",
    "bh_critical_values",
    "bootstrap",
    "bootstrap_test",
    "cliffs_delta",
    "compare_paired",
    "effects",
    "interval",
    "mean_scores",
    "permutation_test",
]
