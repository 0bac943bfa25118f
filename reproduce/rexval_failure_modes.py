"""Supplementary table 3 of Yu et al. (2022): one-sided t tests between metric oracles. No metric needed.

The paper's p values take six radiologists on one report for six independent reports. The note beside each line
is the test one would make today, on study means paired by study.
"""

from __future__ import annotations

from side_by_side import ORACLES, Line, Settings, run

import radgauge as rg

NAMES = tuple(ORACLES)
PAIRS = [(a, b) for a in NAMES for b in NAMES if a != b]
MORE_TOTAL = (3.79e-3, 9.50e-6, 1.07e-7, 0.996, 7.65e-2, 6.39e-3, 1.0, 0.951, 0.224, 1.0, 0.994, 0.776)
MORE_SIGNIFICANT = (3.68e-3, 1.48e-4, 6.44e-7, 0.996, 0.134, 9.77e-3, 1.0, 0.866, 0.133, 1.0, 0.990, 0.867)
LESS_TOTAL = (4.83e-4, 1.60e-2, 0.151, 1.0, 0.890, 0.989, 0.984, 0.110, 0.863, 0.849, 1.14e-2, 0.137)
LESS_SIGNIFICANT = (2.74e-4, 2.07e-2, 5.75e-2, 1.0, 0.925, 0.967, 0.979, 7.53e-2, 0.665, 0.942, 3.32e-2, 0.335)
TABLES = (
    ("3(a) false findings", "false_finding", False, "more", MORE_TOTAL),
    ("3(b) significant false findings", "false_finding", True, "more", MORE_SIGNIFICANT),
    ("3(c) locations", "location", False, "less", LESS_TOTAL),
    ("3(d) significant locations", "location", True, "less", LESS_SIGNIFICANT),
)


def make(settings: Settings) -> list[Line]:
    """48 p values."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    modes = {
        (found.target == "significant", mode.category, mode.first, mode.second): mode
        for found in rg.failure_modes(judgments)
        for mode in found.modes
    }
    lines = []
    for title, category, significant, direction, values in TABLES:
        for (first, second), value in zip(PAIRS, values, strict=True):
            # "first has fewer than second" is the test "second has more than first".
            a, b = (first, second) if direction == "more" else (second, first)
            mode = modes[significant, category, ORACLES[a], ORACLES[b]]
            marks = [
                f"{name} {'Y' if test.significant else 'N'}"
                for name, test in (("t", mode.two_sample), ("paired", mode.paired))
            ]
            sign = ">" if direction == "more" else "<"
            note = f"{', '.join(marks)}; paired p {mode.paired.p:.2g}"
            lines.append(Line(f"{title}: {first} {sign} {second}", value, mode.two_sample.p, note))
    return lines


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, supplementary table 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
