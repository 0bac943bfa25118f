"""Weights of the soft evidence in `errors_quality`, chosen with whole sources left out.

    python benchmarks/soft_evidence.py [--data DIR] [--card PAGE]

Kendall's tau-b with the rating per source: errors alone, with the shipped weights, and with the weights of a grid
that do best on the mean of all other sources. RadPref pairs never choose: the rules of `errors` were made on them.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from judged import Line, as_text, into_card
from judged_data import DATA, judged_sources
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.findings.numbers import numbers
from radgauge.io.judgments import Judgments
from radgauge.metrics.errors import Errors, soft_evidence
from radgauge.stats.coefficients import association

NOT_CHOOSING = "radpref_dev"
ENTITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
LABELS = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
Weights = tuple[float, float]


class Source:
    """Ratings, the quality by errors alone, and the evidence, gated, per unit of weight."""

    def __init__(self, judgments: Judgments, reading: Readings) -> None:
        alone = Errors(soft="off")
        self.rating = judgments.mean_ratings().headline
        self.quality = alone.measure(judgments.cases, reading=reading)[:, 0]
        pairs = [(case.candidate, case.references[0]) for case in judgments.cases]
        read = alone.findings([text for pair in pairs for text in pair], reading)
        evidence = soft_evidence(pairs, read, reading=reading)
        table = numbers()["soft"]
        names = ("entities", "labels")
        units = [[evidence[pair].parts[name] / table[name] for name in names] for pair in pairs]
        self.evidence: NDArray[np.float64] = np.array(units)
        self.gate = np.array([evidence[pair].gate for pair in pairs])

    def tau(self, weights: Weights) -> float:
        """Agreement of the quality under these weights with the ratings."""
        values = self.quality + self.evidence @ np.array(weights) * (1.0 - self.quality**2)
        return float(association(values, self.rating))


def lines(data: Path = DATA) -> list[Line]:
    """One line per source, and the mean."""
    reading = Readings()
    sources = {name: Source(each, reading) for name, each in judged_sources(data).items()}
    grid = list(itertools.product(ENTITIES, LABELS))
    taus = {weights: {name: source.tau(weights) for name, source in sources.items()} for weights in grid}
    table = numbers()["soft"]
    shipped = (table["entities"], table["labels"])
    found: list[Line] = [
        ("source", "pairs", "mean gate", "errors alone", "shipped", "others choose", "tau left out")
    ]
    columns: list[tuple[float, float, float]] = []
    for name, source in sources.items():
        others = [other for other in sources if other not in (name, NOT_CHOOSING)]
        best = max(grid, key=lambda weights: np.mean([taus[weights][other] for other in others]))
        columns.append((source.tau((0.0, 0.0)), source.tau(shipped), taus[best][name]))
        values = [f"{value:.3f}" for value in columns[-1]]
        chosen = f"{best[0]:g}, {best[1]:g}"
        found.append((name, str(len(source.rating)), f"{source.gate.mean():.2f}", *values[:2], chosen, values[2]))
    alone, with_shipped, left_out = (f"{value:.3f}" for value in np.mean(columns, axis=0))
    found.append(("mean", "", "", alone, with_shipped, "", left_out))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--card", type=Path, help="put the table, as Markdown, between the marks of this page")
    options = parser.parse_args()
    table = lines(options.data)
    title = "Soft evidence: weights of entities, labels"
    print(as_text(title, table, markdown=False))
    if options.card is not None:
        text = as_text(title, table, markdown=True)
        into_card(options.card, text, marks=("<!-- soft_evidence.py -->", "<!-- end of soft_evidence.py -->"))


if __name__ == "__main__":
    main()
