"""How well `errors` agrees with radiologists, what it gets right, and how fast it is.

    python benchmarks/errors.py [--data DIR] [--metrics NAMES]

Agreement is measured on the development half of RadPref (50 studies, two candidates each, three radiologists),
which is not part of the package. Weights are fitted on the studies left in and judged on the one left out.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from radgauge.analysis.agreement import agree
from radgauge.analysis.behaviour import behaviour
from radgauge.analysis.fit_errors import fit_errors
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.weights import PRIOR
from radgauge.io.judgments import Judgments, read_judgments
from radgauge.metrics.errors import Errors
from radgauge.run.score import score
from radgauge.stats.coefficients import association

DATA = Path(__file__).parents[2] / "shared" / "data"
COUNTS = {"total": "errors_total", "false_finding": "errors_false_finding", "omission": "errors_omission"}


def agreement(judgments: Judgments, metrics: Sequence[str], reading: Readings) -> None:
    """tau-b with the mean rater: ratings, all errors, false findings and omissions apart."""
    results = score(judgments.cases, list(metrics), reading=reading)
    people = judgments.mean_errors()
    goals = {"rating": judgments.mean_ratings().headline}
    goals |= {name: -people.column(column) for name, column in COUNTS.items()}
    found = agree(results, judgments, targets=["rating", "total", "false_finding", "omission"], resamples=200)
    print(f"{'tau-b with the mean of three radiologists':46}" + "".join(f"{name:>15}" for name in goals))
    fit = fit_errors(judgments, start=PRIOR, reading=reading)
    total = results["errors"].oriented("errors_total")
    lines = {
        "errors_quality, leave one study out": {"rating": fit.cross_validated},
        "errors_quality, weights set by hand": {"rating": fit.start},
        "errors_total and its parts (nothing fitted)": {
            name: association(results["errors"].oriented(column), goals[name]) for name, column in COUNTS.items()
        }
        | {"rating": association(total, goals["rating"])},
    }
    for judge, scores in results.judges.items():
        shipped = " (fitted on these reports)" if judge == "errors" else ""
        lines[scores.columns[0] + shipped] = {
            name: association(scores.oriented(scores.columns[0]), goal) for name, goal in goals.items()
        }
    for ceiling in found.ceilings:
        lines.setdefault("one radiologist against the others", {})[ceiling.target] = (
            ceiling.leave_one_out.mean.value
        )
    for name, values in lines.items():
        print(f"{name:46}" + "".join(f"{values[g]:15.3f}" if g in values else " " * 15 for g in goals))
    print("\npreferred report of a study, agreement with the mean rating (ties count half)")
    for column, preference in found.preferences.items():
        print(f"{column:46}{100 * preference.interval.value:14.0f}%")


def suite(metrics: Sequence[str], reading: Readings) -> None:
    """Pass rate by group."""
    found = behaviour(list(metrics), reading=reading)
    print(f"\n{'behavioural suite':34}{'cases':>6}" + "".join(f"{each.judge:>12}" for each in found))
    rates = [each.by_group() for each in found]
    for group, (_, asked) in rates[0].items():
        print(f"{group:34}{asked:6}" + "".join(f"{100 * rate[group][0] / asked:11.0f}%" for rate in rates))
    every = len(found[0].verdicts)
    print(f"{'all':34}{every:6}" + "".join(f"{100 * each.passed / every:11.1f}%" for each in found))


def speed(judgments: Judgments) -> None:
    """Pairs per second on one core: every reference against every candidate, distinct pairs only."""
    references = dict.fromkeys(case.references[0] for case in judgments.cases)
    candidates = dict.fromkeys(case.candidate for case in judgments.cases)
    grid = [
        Case(f"{i}-{j}", candidate, (reference,))
        for (i, reference), (j, candidate) in itertools.product(enumerate(references), enumerate(candidates))
    ]
    metric, reading = Errors(), Readings()
    metric.measure(grid, reading=reading)
    best = np.inf
    for _ in range(5):
        started = time.process_time()
        metric.measure(grid, reading=reading)
        best = min(best, time.process_time() - started)
    texts = len(references) + len(candidates)
    print(f"\n{len(grid)} pairs of {texts} texts, after reading: {len(grid) / best:,.0f} per second of one core")


def main() -> None:
    """Print all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--metrics", default="errors,bleu,rouge,ratescore,radgraph,chexbert,bertscore,radcliq")
    arguments = parser.parse_args()
    metrics = arguments.metrics.split(",")
    reading = Readings()
    path = arguments.data / "radpref_dev" / "radpref_dev.json"
    if path.exists():
        judgments = read_judgments(path)
        agreement(judgments, metrics, reading)
    suite(metrics, reading)
    if path.exists():
        speed(judgments)
    else:
        print(f"no agreement and speed: {path} is absent", file=sys.stderr)


if __name__ == "__main__":
    main()
