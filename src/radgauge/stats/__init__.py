"""Statistics on score tables: pure functions on arrays, independent of the rest of the package."""

from radgauge.stats.agreement import (
    Agreement,
    LeaveOneOut,
    cohen_kappa,
    krippendorff_alpha,
    leave_one_rater_out,
)
from radgauge.stats.coefficients import association
from radgauge.stats.compare import Comparison, adjust_comparisons, compare_paired
from radgauge.stats.corrections import adjust, bh_critical_values
from radgauge.stats.correlate import Correlation, GroupValue, correlation, correlation_table
from radgauge.stats.dependent import DependentTest, compare_correlations, meng_interval, zou_interval
from radgauge.stats.effect_sizes import Effect, cliffs_delta, effects
from radgauge.stats.failure_modes import FailureMode, OneSided, find_failure_modes, mean_errors
from radgauge.stats.intraclass import icc
from radgauge.stats.judge_pairs import JudgePair, OverlapTest, compare_judges
from radgauge.stats.paired import PairedTest, bootstrap_test, permutation_test
from radgauge.stats.preference import BestOfN, Preference, best_of_n, preference_accuracy
from radgauge.stats.ranking import (
    CorrelationDifference,
    Ranked,
    Ranking,
    correlation_difference,
    rank_judges,
    significance_clusters,
)
from radgauge.stats.resample import Interval, bootstrap, interval, mean_scores
from radgauge.stats.unpaired import UnpairedTest, unpaired_test

__all__ = [
    "Agreement",
    "BestOfN",
    "Comparison",
    "Correlation",
    "CorrelationDifference",
    "DependentTest",
    "Effect",
    "FailureMode",
    "GroupValue",
    "Interval",
    "JudgePair",
    "LeaveOneOut",
    "OneSided",
    "OverlapTest",
    "PairedTest",
    "Preference",
    "Ranked",
    "Ranking",
    "UnpairedTest",
    "adjust",
    "adjust_comparisons",
    "association",
    "best_of_n",
    "bh_critical_values",
    "bootstrap",
    "bootstrap_test",
    "cliffs_delta",
    "cohen_kappa",
    "compare_correlations",
    "compare_judges",
    "compare_paired",
    "correlation",
    "correlation_difference",
    "correlation_table",
    "effects",
    "find_failure_modes",
    "icc",
    "interval",
    "krippendorff_alpha",
    "leave_one_rater_out",
    "mean_errors",
    "mean_scores",
    "meng_interval",
    "permutation_test",
    "preference_accuracy",
    "rank_judges",
    "significance_clusters",
    "unpaired_test",
    "zou_interval",
]
