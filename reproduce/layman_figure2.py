"""Figure 2 of Layman's RRG: share of sentences that say what the reference says, by size of the training set.

    python recipes/image_text/prepare.py ../shared/data/iu_xray FOLDER
    python reproduce/layman_figure2.py FOLDER/studies.jsonl --images FOLDER/images --output RUNS [--figure f2.svg]

Trains the small network of `radgauge train generator` on sets of growing size, professional and lay, and has every
one write the reports of the val split: drawn by the network, the network's likeliest, the nearest training report.
Prints the share of sentences at a cosine of 0.8 or more with a sentence of the reference of that register, with
95 % intervals (studies resampled; the luck of a training is not in them: one seed), and the differences that the
figure is about: the largest set less the smallest, lay less professional. Every size may take as many steps as the
largest and is stopped by its own validation loss; with as many epochs instead, small sets would be hardly trained.
The paper trains MiniGPT-4 on 5,000 to 50,000 MIMIC-CXR reports and measures with GritLM: the direction can be
compared, the numbers cannot. A stopped run goes on. `--figures` writes the numbers, without any text, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from layman_rrg.plots import growth_curves, range_bars
from layman_rrg.scaling import Register, Scaling, Way, scaling_cases
from layman_rrg.training import TrainingRun, share_differences, training_runs

from radgauge.core.files import write_file
from radgauge.core.readings import Readings
from radgauge.lab.training.generator_files import read_card
from radgauge.lab.training.generator_settings import GeneratorSettings
from radgauge.lay.encoder import FindingEncoder
from radgauge.render.tables import table
from radgauge.render.terminal import console
from radgauge.stats.resampling import Resampling

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
    parser.add_argument("--ways", nargs="+", choices=get_args(Way), help="by default all that the kind has")
    parser.add_argument("--registers", nargs="+", choices=get_args(Register), default=list(get_args(Register)))
    parser.add_argument("--domain", choices=("skip", "off"), default="skip", help="off: any picture is used")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--figure", type=Path, help="SVG of figure 2 b; figure 2 a goes beside it")
    parser.add_argument("--figures", type=Path, help="write the numbers as JSON")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    plan = Scaling(
        *(given.table, given.images, tuple(given.sizes)),
        test=given.test,
        most=given.most,
        registers=tuple(given.registers),
        ways=tuple(given.ways or (get_args(Way) if given.kind == "network" else ("nearest",))),
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
    reading, resampling = Readings(), Resampling(resamples=given.resamples, seed=given.seed)
    runs = training_runs(cases, sizes=sizes, reading=reading, resampling=resampling)
    pairs = planned_pairs(plan)
    apart = share_differences(cases, pairs, reading=reading, resampling=resampling)
    found = {
        "test": given.test,
        "seed": given.seed,
        "encoder": FindingEncoder().signature,
        "trainings": trainings(plan, given.output),
        "runs": [asdict(run) for run in runs],
        "differences": [
            {"system": one, "baseline": other, **asdict(each)}
            for (one, other), each in zip(pairs, apart, strict=True)
        ],
    }
    if given.figures is not None:
        write_file(given.figures, json.dumps(found, indent=1) + "\n")
    if given.figure is not None:
        write_figures(given.figure, runs)
    if given.json:
        print(json.dumps(found, indent=1))
        return
    show(runs, found["differences"])


def planned_pairs(plan: Scaling) -> list[tuple[str, str]]:
    """What figure 2 compares: the largest set with the smallest, and lay reports with professional ones."""
    small, large = plan.sizes[0], plan.sizes[-1]
    found = [
        (f"{way}, {register} {large}", f"{way}, {register} {small}")
        for way in plan.ways
        for register in plan.registers
        if large > small
    ]
    if set(plan.registers) == {"professional", "lay"}:
        found += [
            (f"{way}, lay {size}", f"{way}, professional {size}") for way in plan.ways for size in plan.sizes
        ]
    return found


def trainings(plan: Scaling, folder: Path) -> list[dict[str, object]]:
    """Of each training how long it went on: steps are what sizes are allowed equally many of."""
    found: list[dict[str, object]] = []
    for register in plan.registers:
        for size in plan.sizes:
            card = read_card(folder / f"{register}-{size}")
            epochs = card["epochs"]
            best = min(epochs, key=lambda each: each["validation_loss"], default=None)
            found.append(
                {
                    "register": register,
                    "size": size,
                    "epochs": len(epochs),
                    "most_epochs": card["settings"]["epochs"],
                    "best": best and best["epoch"],
                    "validation_loss": best and best["validation_loss"],
                }
            )
    return found


def write_figures(path: Path, runs: tuple[TrainingRun, ...]) -> None:
    """Growth as the given file, ranges beside it."""
    curves = growth_curves(runs, threshold=0.8)
    if curves is not None:
        write_file(path, curves.file())
    write_file(path.with_stem(f"{path.stem}_ranges"), range_bars(runs, threshold=0.8).file())


def show(runs: tuple[TrainingRun, ...], differences: list[dict[str, Any]]) -> None:
    """One line per run, one per difference."""
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
    apart = [
        (line["system"], line["baseline"], "{value:+.3f} [{low:+.3f}, {high:+.3f}]".format(**line))
        for line in differences
    ]
    console().show(table("run", "less", "difference [95 %]", rows=apart))


if __name__ == "__main__":
    main()
