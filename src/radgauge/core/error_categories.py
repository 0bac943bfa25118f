"""The eight kinds of error that radiologists count in a report, and the columns that hold the counts.

Categories 1 to 6 are those of ReXVal (Yu et al. 2022); 7 and 8 were added by Calamida et al. 2023.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCategory:
    """One kind of error."""

    number: int  # Its number in ReXVal and RadEvalX
    key: str  # Its name in columns and files
    title: str  # Its name for people


CATEGORIES: tuple[ErrorCategory, ...] = (
    ErrorCategory(1, "false_finding", "false finding"),
    ErrorCategory(2, "omission", "omitted finding"),
    ErrorCategory(3, "location", "wrong location"),
    ErrorCategory(4, "severity", "wrong severity"),
    ErrorCategory(5, "false_comparison", "false comparison"),
    ErrorCategory(6, "omitted_comparison", "omitted comparison"),
    ErrorCategory(7, "false_uncertainty", "false uncertainty"),
    ErrorCategory(8, "omitted_uncertainty", "omitted uncertainty"),
)

JUDGES = ("", "_llm", "_cascade")
"""Ends of the columns of an error profile: of the embedded judge, of a language model, of both in turn."""

BESIDE_HEADLINE = tuple(f"{column}{end}" for end in JUDGES for column in ("errors_recall", "errors_false_alarms"))
"""Columns that systems are compared by beside a headline: few errors alone may mean that nothing is reported."""

BY_NUMBER = {category.number: category for category in CATEGORIES}
BY_KEY = {category.key: category for category in CATEGORIES}


def count_columns(prefix: str = "errors") -> tuple[str, ...]:
    """Names of the columns of an error profile, in their one order.

    Total and significant total, then each category, then the significant errors of each category.

    >>> count_columns()[:4]
    ('errors_total', 'errors_significant', 'errors_false_finding', 'errors_omission')
    """
    return (
        f"{prefix}_total",
        f"{prefix}_significant",
        *(f"{prefix}_{category.key}" for category in CATEGORIES),
        *(f"{prefix}_{category.key}_significant" for category in CATEGORIES),
    )
