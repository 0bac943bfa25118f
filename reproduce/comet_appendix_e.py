"""Appendix E of Calamida et al. (2023): errors by category in the noisy reports of RadEvalX. No metric needed.

Noisy are reports with more than three errors; the paper has 30 of them.
"""

from __future__ import annotations

import numpy as np
from side_by_side import Line, Settings, run

import radgauge as rg
from radgauge.core.error_categories import CATEGORIES

REPORTS = 30
SIGNIFICANT = (10, 64, 1, 0, 0, 17, 1, 3)
INSIGNIFICANT = (7, 36, 1, 1, 6, 7, 0, 0)


def make(settings: Settings) -> list[Line]:
    """Counts of the consensus: sixteen, their sums, and how many reports there are."""
    errors = rg.read_judgments(settings.place, format="radevalx").mean_errors()
    noisy = errors.column("errors_total") > 3
    lines = [Line("noisy reports", REPORTS, float(noisy.sum()))]
    sums = np.zeros(2)
    for category, *published in zip(CATEGORIES, SIGNIFICANT, INSIGNIFICANT, strict=True):
        every = errors.column(f"errors_{category.key}")[noisy].sum()
        serious = errors.column(f"errors_{category.key}_significant")[noisy].sum()
        found = (float(serious), float(every - serious))
        sums += found
        for what, theirs, ours in zip(("significant", "insignificant"), published, found, strict=True):
            lines.append(Line(f"({category.number}) {category.title}, {what}", theirs, ours))
    for what, theirs, ours in zip(("significant", "insignificant"), (96, 58), sums.tolist(), strict=True):
        lines.append(Line(f"total, {what}", theirs, ours))
    return lines


if __name__ == "__main__":
    run(make, title="Calamida et al. 2023, appendix E", needs="the folder of RadEvalX 1.0.0 (PhysioNet)")
