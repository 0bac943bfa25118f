"""The table of systems against a baseline, as in Fig. 5 and supplementary tables 4 and 5 of Yu et al. (2023)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from radgauge.studies.baselines import ModelLine


def print_models(out: Console, lines: Sequence[ModelLine]) -> None:
    """A table per output: every system's value, and by how much it is better than the baseline."""
    from radgauge.cli.compare import p_value
    from radgauge.cli.render import arrow, interval, number, plain_table

    for column in dict.fromkeys(line.summary.column for line in lines):
        chosen = [line for line in lines if line.summary.column == column]
        first = chosen[0].summary
        level = f"{100 * first.level:.3g} % interval"
        headers = (f"{column} {arrow(first.higher_is_better)}", "value", level, "better by", level, "p", "n")
        table = plain_table(*headers, right=(1, 3, 5, 6))
        for line in sorted(chosen, key=lambda line: line.comparison is not None):  # the baseline first
            against, change, p = line.comparison, "", ""
            bounds = "baseline" if against is None else ""
            if against is not None and against.improvement is not None:
                found = against.improvement
                change = percent_text(found.value)
                known = not (math.isnan(found.low) or math.isnan(found.high))
                bounds = f"[{percent_text(found.low)}, {percent_text(found.high)}]" if known else ""
                chance = against.result.p if against.result.p_adjusted is None else against.result.p_adjusted
                p = f"{p_value(chance)}{'*' if chance < 0.05 else ' '}"
            value = line.summary
            table.add_row(
                *(value.system, number(value.value), interval(value.low, value.high)),
                *(change, bounds, p, str(value.judged)),
            )
        out.print(table)
        out.print()


def percent_text(value: float) -> str:
    """A change in percent with its sign.

    >>> percent_text(81.25), percent_text(-0.04), percent_text(float("nan"))
    ('+81.2 %', '-0.0 %', '–')
    """
    return "–" if math.isnan(value) else f"{value:+.1f} %"
