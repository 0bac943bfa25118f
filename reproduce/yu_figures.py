"""The figures of Yu et al. (2022), ready to print: 3 (agreement), 4 (failure modes), 5 (progress), S2 (raters).

Groups are told apart by colour and shape, numbers stand beside the bars, and what is significant is marked. A
figure is a `Plot`, whose `file()` is an SVG of its own.

    python reproduce/yu_figures.py judgments rexval-dataset/1.0.0/ -m bleu radgraph -o figures/
    python reproduce/yu_figures.py progress scores.jsonl --baseline random -o figures/     # figure 5
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from panels import Difference, arrange, change_bars, dot_plot, error_bars

import radgauge as rg
from radgauge.analysis.agreement import Alignment
from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.failure_modes import FailureModes, failure_modes
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError
from radgauge.core.files import make_folder, write_file
from radgauge.core.scores import Results
from radgauge.core.wording import arrow, interval, number
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.targets import target_name
from radgauge.render.metric_names import metric_name
from radgauge.render.plots import scatter
from radgauge.render.svg import Plot
from radgauge.stats import icc

ERRORS = {"total": "errors", "significant": "significant errors", "rating": "rating"}
ORACLES = {
    "radgraph": "RadGraph oracle",
    "bertscore": "BERTScore oracle",
    "s_emb": "CheXbert oracle",
    "bleu": "BLEU oracle",
}
"""What ReXVal's four candidate groups are."""
SIGNS = {"kendall_b": "τ-b", "kendall_c": "τ-c", "spearman": "ρ", "pearson": "r"}
Names = Mapping[str, str]
"""Group, system or column -> what the figure calls it; what is not named keeps its name."""


def _named(groups: Sequence[str], names: Names | None) -> Names:
    """What groups are called: as asked, and ReXVal's oracles by their metrics."""
    return {**(ORACLES if set(groups) == set(ORACLES) else {}), **(names or {})}


def agreement_figure(
    results: Results, judgments: Judgments, found: Alignment, *, names: Names | None = None
) -> Plot:
    """Figure 3: metrics against the mean radiologist, a row of panels per target, a mark per candidate group."""
    called = names or {}
    targets = list(dict.fromkeys(line.target for line in found.lines))
    lines = {(line.judge, line.column, line.target): line for line in found.lines if line.rater == "mean"}
    groups = list(dict.fromkeys(case.system for case in judgments.cases))
    panels = []
    for target in targets:
        mean = judgments.mean_ratings() if target == "rating" else judgments.mean_errors()
        human = mean.column("rating" if target == "rating" else f"errors_{target}")
        goal = dict(zip(mean.keys, human.tolist(), strict=True))
        for judge, scores in results.judges.items():
            column = scores.columns[0]
            got = lines[judge, column, target].correlation
            points = [
                (float(value), goal[key], groups.index(key[1]), -1)
                for key, value in zip(scores.keys, scores.headline, strict=True)
                if key in goal
            ]
            bounds = interval(got.interval.low, got.interval.high)
            panels.append(
                scatter(
                    points,
                    key="",
                    title=called.get(column, metric_name(column).name),
                    note=f"{SIGNS[got.kind]} = {number(got.value)} {bounds}, n = {got.interval.n}",
                    x_label=f"{called.get(column, metric_name(column).name)} {arrow(scores.higher_is_better)}",
                    y_label=f"{ERRORS.get(target, target)} {arrow(target == 'rating')}",
                )
            )
    return arrange(
        panels,
        columns=len(results),
        key="agreement",
        title="Metrics against the mean radiologist; positive coefficient = agreement",
        legend=[_named(groups, names).get(group, group) for group in groups] if len(groups) > 1 else (),
    )


def failure_figure(found: Sequence[FailureModes], *, names: Names | None = None) -> Plot:
    """Figure 4: errors per report by category and candidate group, a panel per target; what differs is marked."""
    groups = list(dict.fromkeys(mode.first for part in found for mode in part.modes))
    tables = []
    for part in found:
        categories = list(dict.fromkeys(mode.category for mode in part.modes if mode.category != "total"))
        means = {(mode.first, mode.category): mode.mean_first for mode in part.modes}
        tables.append((part, categories, np.array([[means[g, c] for c in categories] for g in groups])))
    most = max(float(values.max()) for _, _, values in tables)
    panels = [
        error_bars(
            [BY_KEY[category].title if category in BY_KEY else category for category in categories],
            values,
            title=f"{ERRORS.get(part.target, part.target)} per report, {part.studies} studies",
            differences=[
                Difference(
                    categories.index(mode.category), groups.index(mode.first), groups.index(mode.second), mark
                )
                for mode in part.modes
                if mode.category in categories
                and (mark := "*" * mode.two_sample.significant + "†" * mode.paired.significant)
            ],
            most=most,
        )
        for part, categories, values in tables
    ]
    left_out = [
        f"{part.target}: {part.not_judged} studies not judged in full, left out"
        for part in found
        if part.not_judged
    ]
    return arrange(
        panels,
        columns=2,
        key="failure-modes",
        title="Errors by category",
        legend=[_named(groups, names).get(group, group) for group in groups],
        bars=True,
        notes=[
            "* differ by one-sided two-sample t tests of single counts, as published; † by paired ones by study",
            "Both with Benjamini-Hochberg over the ordered pairs within a category, false discovery rate 1 %.",
            *left_out,
        ],
    )


def rater_figure(judgments: Judgments, *, target: str = "total", names: Names | None = None) -> Plot:
    """Figure S2: every rater's errors of every study, a panel per candidate group, and how far they agree."""
    wanted = target_name(target)
    source = judgments.ratings if wanted == "rating" else judgments.errors
    if len(source) < 2:
        raise InputError(f"{judgments.name}: a plot of raters needs two or more, there are {len(source)}")
    column = "rating" if wanted == "rating" else f"errors_{wanted}"
    every = np.stack([scores.column(column) for scores in source.values()], axis=1)
    groups = list(dict.fromkeys(case.system for case in judgments.cases))
    most = float(np.nanmax(every))
    panels = []
    for group in groups:
        here = every[[case.system == group for case in judgments.cases]]
        agreed = icc(here).interval
        panels.append(
            dot_plot(
                here,
                title=_named(groups, names).get(group, group),
                note=f"ICC(2,1) {number(agreed.value)} {interval(agreed.low, agreed.high)}",
                y_label=ERRORS.get(wanted, wanted),
                most=most,
            )
        )
    return arrange(
        panels,
        columns=2,
        key="raters",
        title=f"{ERRORS.get(wanted, wanted)} by study and radiologist",
        legend=[f"radiologist {rater}" for rater in source],
    )


def progress_figure(lines: Sequence[SystemComparison], *, names: Names | None = None) -> Plot:
    """Figure 5: how much better than the baseline every system is, in percent, a panel per metric."""
    called = names or {}
    compared = [line for line in lines if line.improvement is not None]
    if not compared:
        raise InputError("a figure of progress needs systems compared with a baseline in percent")
    baseline = compared[0].baseline
    panels = []
    for column in dict.fromkeys(line.column for line in compared):
        rows = [
            (called.get(line.system, line.system), line.improvement.value)
            for line in compared
            if line.column == column and line.improvement is not None
        ]
        panels.append(change_bars(rows, title=called.get(column, metric_name(column).name)))
    return arrange(
        panels,
        columns=2,
        key="progress",
        title=f"Better than {called.get(baseline, baseline)}, in percent of its value; negative = worse",
    )


def write_figures(folder: Path, results: Results, judgments: Judgments, found: Alignment) -> list[Path]:
    """Every figure that the judgments allow: agreement, and where errors were counted failure modes and raters."""
    plots = [agreement_figure(results, judgments, found)]
    if judgments.errors and len({case.system for case in judgments.cases}) > 1:
        plots.append(failure_figure(failure_modes(judgments, targets=["significant", "total"])))
    for target in dict.fromkeys(line.target for line in found.lines):
        if len(judgments.ratings if target == "rating" else judgments.errors) > 1:
            plot = rater_figure(judgments, target=target)
            plots.append(replace(plot, key=f"{plot.key}-{target}"))
    make_folder(folder)
    files = [folder / f"{plot.key}.svg" for plot in plots]
    for file, plot in zip(files, plots, strict=True):
        write_file(file, plot.file())
    return files


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figures of judgments, or of systems against a baseline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("judgments", "progress"))
    parser.add_argument("source", type=Path, help="judgments, as for `radgauge agree`; or a scores file")
    parser.add_argument("--metric", "-m", nargs="+", default=["bleu:variant=cxr", "bertscore", "radgraph"])
    parser.add_argument("--models", default="embedded")
    parser.add_argument("--baseline", help="system that others are compared with")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--output", "-o", type=Path, default=Path("figures"))
    given = parser.parse_args(arguments)
    if given.what == "judgments":
        judgments = rg.read_judgments(given.source)
        results = rg.score(judgments.cases, given.metric, models=given.models)
        found = rg.agree(results, judgments, resamples=given.resamples)
        files = write_figures(given.output, results, judgments, found)
    else:
        lines = rg.compare(
            rg.read_scores(given.source), baseline=given.baseline, percent=True, resamples=given.resamples
        )
        files = [make_folder(given.output) / "progress.svg"]
        write_file(files[0], progress_figure(lines).file())
    for file in files:
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
