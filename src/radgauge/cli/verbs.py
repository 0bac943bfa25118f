"""The table of verbs and the first screen: `radgauge --help` needs nothing but this module."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from radgauge.cli.exit_codes import EPILOG


class Entry(NamedTuple):
    """A verb: its line in `--help`, and the modules (below `radgauge`) that define it and its subcommands."""

    about: str
    modules: tuple[str, ...]


SECTIONS: dict[str, dict[str, Entry]] = {
    "Everyday": {
        "score": Entry("Judge reports with metrics: values and intervals.", ("cli.score",)),
        "explain": Entry("Show why a report got its score.", ("cli.explain",)),
        "compare": Entry("Compare systems: difference, interval, paired test.", ("cli.compare",)),
        "diff": Entry("Compare each system with its older scores; a gate for CI.", ("cli.compare",)),
        "agree": Entry("Correlate metrics with radiologists.", ("cli.agree",)),
        "report": Entry("Write one HTML file: summary, tests, plots, every case.", ("cli.report",)),
    },
    "Metrics": {
        "metrics": Entry("List the metrics, or show one with its settings.", ("cli.metrics",)),
        "read": Entry("Show what the embedded reader sees in a report.", ("cli.read",)),
        "probe": Entry(
            "Test whether a metric notices what it must.",
            tuple(f"cli.{name}" for name in ("probe", "perturb")),
        ),
        "perturb": Entry("Change reports in known ways.", ("cli.perturb",)),
        "oracle": Entry("Find the best-scoring report of a corpus for each query.", ("cli.oracle",)),
        "fit": Entry("Learn the weights of a metric from radiologists' judgments.", ("cli.fit",)),
    },
    "This machine": {
        "models": Entry("Published checkpoints: list, fetch, verify.", ("cli.models",)),
        "cache": Entry("The cache of readings on this machine.", ("cli.models",)),
        "config": Entry("Show the settings of radgauge.toml that are in force.", ("cli.metrics",)),
        "demo": Entry("Judge four bundled systems and show what metrics see.", ("cli.demo",)),
    },
    "Scores for others": {
        "board": Entry("Write a leaderboard page from many scores files.", ("cli.share",)),
        "export": Entry("Write scores in a form that collections of evaluations take.", ("cli.share",)),
        "rescore": Entry("Score again only what changed.", ("cli.share",)),
    },
    "Subjects": {
        "study": Entry(
            "Reader studies: ask radiologists about reports.",
            tuple(
                f"study.cli.{name}"
                for name in ("study", "study_estimate", "study_plan", "study_serve", "study_status")
            ),
        ),
        "serve": Entry("Judge reports over HTTP (extra web).", ("study.cli.serve",)),
        "lay": Entry("Plain language: write it, and score reports through it.", ("lay.cli.layman",)),
        "train": Entry(
            "Train models of your own.",
            tuple(f"lab.cli.{name}" for name in ("train", "train_estimator", "train_ner", "train_generator")),
        ),
        "generate": Entry("Write a report for every study from its images.", ("lab.cli.generate",)),
    },
}
ON_ONE_LINE = ("Scores for others", "Subjects")
"""Sections whose verbs share one line of the first screen."""

VERBS: dict[str, Entry] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

RENAMED = {"align": "agree", "ls": "metrics", "layman": "lay"}
MOVED = {"triples": "probe triples", "rewards": "probe rewards"}
"""Names of the release before, which answer with the new one."""

EVERYWHERE = """\
  --format F     table, json, csv, md or tex (--json = --format json)
  -q, --quiet    no progress and no notes, only the result
  --no-cache     neither use nor write the reading cache
  -y, --yes      fetch what --models published needs without asking
  --trust        read scores that were changed since they were written"""
"""Options of the program, which every verb takes at any position."""


def first_screen() -> str:
    """Return the help of the program.

    >>> max(map(len, first_screen().splitlines())) <= 80
    True
    """
    lines = [
        "Usage: radgauge VERB [OPTIONS] [ARGUMENTS]",
        "",
        "Measure machine-written radiology reports, offline by default.",
    ]
    for section, verbs in SECTIONS.items():
        lines += ["", f"{section}:"]
        if section in ON_ONE_LINE:
            listed = f"{', '.join(verbs)} (radgauge {next(iter(verbs))} --help)"
            lines.append(f"  {listed}")
        else:
            lines += [f"  {name:<9}{entry.about}" for name, entry in verbs.items()]
    lines += ["", "For every verb:", EVERYWHERE]
    lines += ["  -h, --help     the options of a verb: radgauge score --help", "  --version      the version"]
    lines += [
        "  --install-completion, --show-completion   completion for the shell",
        "",
        *textwrap.wrap(EPILOG, 79),
    ]
    return "\n".join(lines)
