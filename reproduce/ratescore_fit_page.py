"""The result of a RaTEScore fit as one self-contained HTML page with the matrix as a heat map."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from result_page import leaflet

import radgauge as rg
from radgauge.analysis.fit_ratescore import RateFit, fit_ratescore
from radgauge.core.files import write_file
from radgauge.core.wording import interval, number, signed
from radgauge.metrics.ratescore.weights import TYPES, Affinity
from radgauge.render.plots import heat_map
from radgauge.render.svg import Plot
from radgauge.render.tables import Row, table


def weights_plot(learned: Affinity) -> Plot:
    """A matrix of weights: rows are the type of the entity that is matched, columns the type of its match."""
    title = f"learned weights (p = {learned.penalty:.3f})"
    return heat_map([name.lower() for name in TYPES], learned.weights, key="weights", title=title)


def fit_page(found: RateFit) -> str:
    """The page: agreement before and after with intervals, the heat map, the weights to copy."""
    rows: list[Row] = [
        (
            *(line.name, line.train, f"{number(line.test)} {interval(line.low, line.high)}"),
            ""
            if line.name == "learned"
            else f"{signed(line.gain)} [{signed(line.gain_low)}, {signed(line.gain_high)}]",
        )
        for line in found.lines
    ]
    agreement = table(
        *("weights", "searched on", "kept apart", "gain of the learned ones"),
        key="agreement",
        title=f"Agreement with the mean rater's {found.target}, {found.objective}",
        note="The value of the kept-apart studies is the honest one; a gain whose interval holds 0 may be chance.",
        rows=rows,
    )
    notes = [
        f"{found.train_cases} reports searched on, {found.test_cases} kept apart by study; {found.trials} trials; "
        f"{100 * found.level:g} % intervals resample studies.",
        "The darker a cell, the more such a pair counts. Rows: type of the entity that is matched; columns: type "
        f"of the closest entity of the other report. p = {found.affinity.penalty:.3f} multiplies the similarity "
        "of a finding that meets its denial.",
    ]
    about = {"signature": found.signature, "weights": json.loads(found.affinity.to_json())}
    return leaflet(
        "RaTEScore: learned weights", [agreement], plots=[weights_plot(found.affinity)], notes=notes, about=about
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgments", type=Path, help="as for `radgauge fit ratescore`")
    parser.add_argument("--study", type=Path, help="SQLite file of a search, resumed if it is there")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--output", "-o", type=Path, default=Path("fit.html"))
    given = parser.parse_args(arguments)
    fit = fit_ratescore(rg.read_judgments(given.judgments), trials=given.trials, storage=given.study)
    write_file(given.output, fit_page(fit))
    print(f"wrote {given.output}")


if __name__ == "__main__":
    main()
