"""Figure 2 of Layman's RRG: share of sentences that say what the reference says, by size of the training set.

    python recipes/image_text/prepare.py ../shared/data/iu_xray FOLDER
    python reproduce/layman_figure2.py FOLDER/studies.jsonl --images FOLDER/images --output RUNS [--figure f2.svg]

Trains the small network of `radgauge train generator` on sets of growing size, professional and lay, has every one
write the reports of the val split, and prints the share of sentences at a cosine of 0.8 or more with a sentence of
the reference in the same register, with 95 % intervals (studies resampled; the luck of a training is not in them:
one seed). The paper trains MiniGPT-4 on 5,000 to 50,000 MIMIC-CXR reports and measures with GritLM: the direction
can be compared, the numbers cannot. A stopped run goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from radgauge.files import write_file
from radgauge.plain_language.studies import TrainingRun, training_runs
from radgauge.report.lay_plots import growth_curves, range_bars
from radgauge.show.tables import table
from radgauge.show.terminal import console
from radgauge.stats.resampling import Resampling
from radgauge.studies.generation.scaling import Scaling, scaling_cases
from radgauge.training.generator_settings import GeneratorSettings

SIZES = (232, 465, 930, 1861)


def main() -> None:
    """Train, write, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--test", default="val", help="split whose reports are written")
    parser.add_argument("--most", type=int, help="write at most so many of them")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=25, help="of the largest set; smaller ones have more")
    parser.add_argument("--learning-rate", type=float, default=GeneratorSettings.learning_rate)
    parser.add_argument("--pictures", type=Path, help="folder for what pictures became")
    parser.add_argument("--kind", choices=("network", "retrieval"), default="network")
    parser.add_argument("--choose", choices=("drawn", "first"), default="drawn", help="how the network writes")
    parser.add_argument("--domain", choices=("skip", "off"), default="skip", help="off: any picture is used")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--figure", type=Path, help="SVG of figure 2 b; figure 2 a goes beside it")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    plan = Scaling(
        *(given.table, given.images, tuple(given.sizes)),
        test=given.test,
        most=given.most,
        choose=given.choose,
        domain=given.domain,
        pictures=given.pictures,
    )
    settings = GeneratorSettings(
        kind=given.kind,
        width=given.width,
        layers=given.layers,
        epochs=given.epochs,
        learning_rate=given.learning_rate,
        seed=given.seed,
    )

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    cases, sizes = scaling_cases(plan, given.output, settings=settings, threads=given.threads, tell=tell)
    runs = training_runs(cases, sizes=sizes, resampling=Resampling(resamples=given.resamples, seed=given.seed))
    if given.figure is not None:
        write_figures(given.figure, runs)
    if given.json:
        print(json.dumps([asdict(run) for run in runs], indent=1))
        return
    show(runs)


def write_figures(path: Path, runs: tuple[TrainingRun, ...]) -> None:
    """Growth as the given file, ranges beside it."""
    curves = growth_curves(runs, threshold=0.8)
    if curves is not None:
        write_file(path, curves.file())
    write_file(path.with_stem(f"{path.stem}_ranges"), range_bars(runs, threshold=0.8).file())


def show(runs: tuple[TrainingRun, ...]) -> None:
    """One line per run."""
    rows = [
        (
            *(run.size.series if run.size else run.system, f"{run.size.number:g}" if run.size else ""),
            *(f"{run.above.value:.3f} [{run.above.low:.3f}, {run.above.high:.3f}]", run.reports, run.not_judged),
            *(f"{run.pairwise.value:.3f}", f"{run.distinct:.3f}", "yes" if run.collapsed else "no"),
        )
        for run in runs
    ]
    heads = ("reports", "studies", ">= 0.8 [95 %]", "judged", "not judged", "alike", "distinct", "collapsed")
    console().show(table(*heads, rows=rows))


if __name__ == "__main__":
    main()
