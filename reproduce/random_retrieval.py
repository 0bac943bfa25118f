"""Systems against reports drawn at random: figure 5 and supplementary tables 4 and 5 of Yu et al. (2023).

python reproduce/random_retrieval.py outputs.csv --corpus train.csv -m radgraph -m bleu:variant=cxr --oracle

Two deviations: the paper's intervals are those of a mean of resampled means, far too narrow, and it compares
intervals where a paired test is due.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from oracle_system import score_with_oracles

from radgauge.analysis.baselines import RANDOM, ModelLine, model_table, random_retrieval
from radgauge.analysis.compare import compare
from radgauge.analysis.summary import summarise
from radgauge.core.wording import interval, percent_change
from radgauge.io.case_files import read_cases, read_references
from radgauge.render.tables import P_COLUMN, Column, Table, p_cell, table
from radgauge.render.terminal import Terminal, console
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling


def print_models(out: Terminal, lines: Sequence[ModelLine]) -> None:
    """Systems against a baseline, a table per output, as in Fig. 5 and supplementary tables 4 and 5 of
    Yu et al. (2023): every system's value, and by how much it is better than the baseline.
    """
    for column in dict.fromkeys(line.summary.column for line in lines):
        out.show(_model_table([line for line in lines if line.summary.column == column]))
        out.print()


def _model_table(lines: Sequence[ModelLine]) -> Table:
    rows = []
    for line in sorted(lines, key=lambda line: line.comparison is not None):  # the baseline first
        against, value = line.comparison, line.summary
        change, bounds, p = None, "baseline" if against is None else "", None
        if against is not None and against.improvement is not None:
            found = against.improvement
            change = found.value
            known = not (math.isnan(found.low) or math.isnan(found.high))
            bounds = f"[{percent_change(found.low)}, {percent_change(found.high)}]" if known else ""
            p = p_cell(against.result.p_shown, bound=against.result.p_is_bound)
        rows.append(
            (value.system, value.value, interval(value.low, value.high), change, bounds, p, value.judged),
        )
    first = lines[0].summary
    level = f"{100 * first.level:.3g} % interval"
    return table(
        *(Column(first.column, first.higher_is_better), "value", level),
        *(Column("better by", format=percent_change), level, P_COLUMN, "n"),
        rows=rows,
    )


def main() -> None:
    """Read the options, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path)
    parser.add_argument("-m", "--metric", action="append", required=True)
    parser.add_argument("--corpus", type=Path, help="reports to draw from; else the other studies")
    parser.add_argument("--oracle", action="store_true", help="add the best report of the corpus for each metric")
    parser.add_argument("--models", default="embedded")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.oracle and options.corpus is None:
        parser.error("--oracle needs --corpus: reports to choose from")
    cases = list(read_cases(options.reports).cases)
    corpus = read_references(options.corpus).cases if options.corpus else None
    cases += random_retrieval(cases, rng=np.random.default_rng(options.seed), corpus=corpus)
    if options.oracle:
        results = score_with_oracles(cases, options.metric, corpus=corpus or (), models=options.models)
    else:
        results = score(cases, options.metric, models=options.models)
    how = Resampling(seed=options.seed)
    lines = compare(results, baseline=RANDOM, percent=True, resampling=how)
    print_models(console(), model_table(summarise(results, resampling=how), lines))


if __name__ == "__main__":
    main()
