"""Baselines that need no model, and systems measured against one.

Yu et al. (2023), Patterns 4(9), "Measuring progress of prior methods": a report drawn at random from a corpus is
what a generator has to beat; Fig. 5 and supplementary tables 4 and 5 give every system's value and its change in
percent against that baseline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.summary import Summary
from radgauge.core.cases import MISSING, Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.parsing import shipped_toml

RANDOM = "random retrieval"
TEMPLATE = "normal template"
FREQUENT = "most frequent report"
NORMAL_TEMPLATE: str = shipped_toml(__file__, "normal.toml")["template"]
"""A normal report, as a system writes that has learned only how most chest reports read."""


def random_retrieval(
    cases: Sequence[Case], *, rng: np.random.Generator, corpus: Sequence[Case] | None = None, system: str = RANDOM
) -> list[Case]:
    """Every study once, its candidate the reference of another study drawn at random.

    Args:
        cases: The cases of all systems.
        rng: Draws.
        corpus: Studies to draw from, as cases with references; None draws from the other studies of `cases`.
        system: What to call the baseline.

    >>> cases = [Case("1", "", ("clear",)), Case("2", "", ("edema",))]
    >>> [case.candidate for case in random_retrieval(cases, rng=np.random.default_rng(0))]
    ['edema', 'clear']
    """
    if any(case.system == system for case in cases):
        raise UsageError(f"there is a system named {system!r} already; rename it to add the random baseline")
    studies: dict[str, Case] = {}
    for case in cases:
        studies.setdefault(case.id, case)
    pool = [
        (case.id, text)
        for case in (studies.values() if corpus is None else corpus)
        if (text := next((text for text in case.references if text.strip()), ""))
    ]
    if not pool:
        raise InputError("a random baseline needs reports to draw from; there is no reference that is not empty")
    index = {identifier: number for number, (identifier, _) in enumerate(pool)}
    drawn = []
    for identifier, case in studies.items():
        own = index.get(identifier)
        others = len(pool) - (own is not None)
        if not others:
            raise InputError(
                f"a random baseline needs another study than {identifier!r} to draw from; add a corpus"
            )
        number = int(rng.integers(others))
        number += own is not None and number >= own
        # that some system lacks a candidate for the study does not concern the baseline
        meta = {name: value for name, value in case.meta.items() if name != MISSING}
        drawn.append(replace(case, candidate=pool[number][1], system=system, meta=meta))
    return drawn


def constant_baselines(cases: Sequence[Case], *, corpus: Sequence[Case] | None = None) -> list[Case]:
    """Two systems that look at no image: the normal template, and the most frequent report, for every study.

    Args:
        cases: The cases of all systems.
        corpus: Where the most frequent report is counted; None counts the references of `cases`.

    >>> cases = [Case("1", "a", ("clear",)), Case("2", "b", ("clear",)), Case("3", "", ("edema",))]
    >>> [(row.system, row.candidate) for row in constant_baselines(cases)][5]
    ('most frequent report', 'clear')
    """
    taken = {case.system for case in cases} & {TEMPLATE, FREQUENT}
    if taken:
        raise UsageError(f"there is a system named {min(taken)!r} already; rename it to add the baselines")
    studies: dict[str, Case] = {}
    for case in cases:
        studies.setdefault(case.id, case)
    pool = studies.values() if corpus is None else corpus
    texts = Counter(text for case in pool if (text := next((t for t in case.references if t.strip()), "")))
    written = {TEMPLATE: NORMAL_TEMPLATE}
    if texts:
        written[FREQUENT] = texts.most_common(1)[0][0]
    return [
        replace(
            case,
            candidate=text,
            system=system,
            meta={name: value for name, value in case.meta.items() if name != MISSING},
        )
        for system, text in written.items()
        for case in studies.values()
    ]


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One output for one system: its value, and what it is against the baseline."""

    summary: Summary  # Value and interval
    # Difference, test and improvement in percent; None for the baseline itself
    comparison: SystemComparison | None


def model_table(summaries: Sequence[Summary], comparisons: Sequence[SystemComparison]) -> list[ModelLine]:
    """Values and comparisons side by side, for the outputs that were compared."""
    by_key = {(line.judge, line.column, line.system): line for line in comparisons}
    tested = {(line.judge, line.column) for line in comparisons}
    return [
        ModelLine(line, by_key.get((line.judge, line.column, line.system)))
        for line in summaries
        if (line.judge, line.column) in tested
    ]
