"""What every script here does: score the judged reports, then print our values beside the published ones."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import radgauge as rg
from radgauge.cli.options import confirm_downloads
from radgauge.core.errors import RadgaugeError
from radgauge.core.scores import Results
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.images import with_images
from radgauge.render.svg import Plot
from radgauge.render.tables import Table, table, write_tables

YU = {
    "BERTScore": "bertscore",
    "RadGraph F1": "radgraph",
    "BLEU": "bleu:variant=cxr",
    "CheXbert": "chexbert_similarity",
}
"""The four metrics of Yu et al. (2022) as radgauge calls them."""

ORACLES = {"BLEU": "bleu", "CheXbert": "s_emb", "BERTScore": "bertscore", "RadGraph": "radgraph"}
"""Their metric oracles as ReXVal's files call them."""


@dataclass(frozen=True)
class Line:
    """One number of a table: what it is, what the paper prints, what we get, and why not where we get none."""

    name: str
    published: float
    ours: float
    note: str = ""


@dataclass(frozen=True)
class Settings:
    """What the command line said."""

    place: Path
    models: str = "embedded"
    resamples: int = 1000
    seed: int = 0
    estimators: Mapping[str, str] = field(default_factory=lambda: {"embedded": "embedded"})
    taggers: Mapping[str, str] = field(default_factory=dict)
    spice: str = ""
    images: Path | None = None
    encoders: Mapping[str, str] = field(default_factory=dict)
    reports: Path | None = None
    figures: Path | None = None
    labels: Path | None = None
    yes: bool = False

    def with_spice(self, specs: Mapping[str, str]) -> dict[str, str]:
        """Metrics by name, with SPICE where its jars were given."""
        return {**specs, **({"SPICE": f"spice:jars={self.spice}"} if self.spice else {})}

    def specs(self) -> dict[str, str]:
        """Estimators by the name that the paper gives them, as radgauge loads them, each under an alias."""
        return {
            name: f"comet:models={place} as {re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').lower() or 'comet'}"
            for name, place in self.estimators.items()
        }


def score_cases(
    cases: Sequence[rg.Case], specs: Sequence[str], settings: Settings
) -> tuple[Results, dict[str, str]]:
    """Scores by specification, and why a metric is missing (its models or its extra are not there)."""
    found, missing = {}, {}
    reading = rg.Readings(cache=rg.Cache())
    for spec in dict.fromkeys(specs):
        try:
            confirm_downloads([spec], models=settings.models, yes=settings.yes)
            results = rg.score(cases, [spec], reading=reading, models=settings.models)
            found[spec] = next(iter(results.judges.values()))
        except RadgaugeError as error:
            missing[spec] = str(error)
    return Results(found), missing


PRESET = "preset=2024"
"""What RaTEScore's paper used: p = 0.3612 with every matrix (docs/metrics/ratescore.md, Versions)."""
PRESET_NOTE = "preset=2024 (p 0.3612), as the paper"
NO_IMAGES = "needs --images: a folder of MIMIC-CXR's images, or a table with id and image"


def judged(settings: Settings) -> Judgments:
    """ReXVal, with images if they were given."""
    found = rg.read_judgments(settings.place, format="rexval")
    return found if settings.images is None else with_images(found, settings.images)


def kendall(
    judgments: Judgments, specs: Sequence[str], settings: Settings, *, columns: bool = False, **options: object
) -> tuple[dict[tuple[str, str, str], float], dict[str, str]]:
    """(specification or column, target, rater) -> agreement, by `radgauge.analysis.agreement`."""
    results, missing = score_cases(judgments.cases, specs, settings)
    if not results:
        return {}, missing
    found = rg.agree(
        results,
        judgments,
        resamples=settings.resamples,
        seed=settings.seed,
        all_columns=columns,
        **options,  # type: ignore[arg-type]
    )
    return {
        (line.column if columns else line.judge, line.target, line.rater): line.correlation.value
        for line in found.lines
    }, missing


def run(
    make: Callable[[Settings], list[Line]],
    *,
    title: str,
    needs: str,
    figure: Callable[[list[Line], Settings], Plot] | None = None,
    arguments: Sequence[str] | None = None,
) -> list[Line]:
    """Parse the command line, make the table, print it; where there is a figure, --figure FILE.svg draws it."""
    parser = argparse.ArgumentParser(description=f"{title}. Needs: {needs}.")
    parser.add_argument("place", type=Path, help=needs)
    parser.add_argument("--models", default="embedded", help="embedded, published, or a folder with checkpoints")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--estimator",
        action="append",
        metavar="NAME=PLACE",
        help="a checkpoint of the learned metric: 'Top Clinic RadGraph=FOLDER'; repeatable",
    )
    parser.add_argument(
        "--tagger",
        action="append",
        metavar="NAME=PLACE",
        help="a tagger of entities: 'BlueBERT=FOLDER'; repeatable",
    )
    parser.add_argument("--spice", default="", metavar="FOLDER", help="where the jars of CoreNLP 3.6.0 are")
    parser.add_argument(
        "--images", type=Path, help="images of the studies: a folder, or a table with id and image"
    )
    parser.add_argument(
        "--encoder", action="append", metavar="NAME=PLACE", help="an image-text encoder: 'GLoRIA=FILE'; repeatable"
    )
    parser.add_argument("--reports", type=Path, help="reports that a script needs: findings, or a training set")
    parser.add_argument("--figures", type=Path, help="folder for figures, where a script draws any")
    parser.add_argument(
        "--labels", type=Path, help="labels of the CheXpert labeler by text, where a script takes them"
    )
    parser.add_argument("--yes", action="store_true", help="fetch the checkpoints that are missing, unasked")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table too (.csv, .md, .tex)")
    parser.add_argument("--json", action="store_true")
    if figure is not None:
        parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the figure")
    given = parser.parse_args(arguments)
    named = dict(text.split("=", 1) for text in given.estimator or ["embedded=embedded"])
    settings = Settings(
        *(given.place, given.models, given.resamples, given.seed, named),
        taggers=dict(text.split("=", 1) for text in given.tagger or ()),
        spice=given.spice,
        images=given.images,
        encoders=dict(text.split("=", 1) for text in given.encoder or ()),
        reports=given.reports,
        figures=given.figures,
        labels=given.labels,
        yes=given.yes,
    )
    try:
        lines = make(settings)
    except RadgaugeError as error:
        sys.exit(f"{parser.prog}: {error}")
    if figure is not None and given.figure is not None:
        given.figure.write_text(figure(lines, settings).file(), encoding="utf-8")
    if given.output is not None:
        write_tables({"summary": _table(title, lines)}, str(given.output))
    if given.json:
        print(json.dumps([{k: _plain(v) for k, v in asdict(line).items()} for line in lines], indent=1))
    else:
        show(title, lines, settings.models)
    return lines


def show(title: str, lines: Sequence[Line], models: str) -> None:
    """The table on stdout, what to know about it on stderr."""
    width = max(len(line.name) for line in lines)
    print(f"{title}\n{'':{width}}  published       ours  difference")
    for line in lines:
        gap = line.ours - line.published
        print(
            f"{line.name:{width}}  {_number(line.published):>9}  {_number(line.ours):>9}  {_number(gap, '+'):>10}"
            + (f"  {line.note}" if line.note else "")
        )
    if models == "embedded":
        print(
            "note: model-based metrics ran on embedded parts; use --models published to compare with the paper",
            file=sys.stderr,
        )


def _table(title: str, lines: Sequence[Line]) -> Table:
    rows = [(line.name, line.published, line.ours, line.ours - line.published, line.note) for line in lines]
    heads = ("", "published", "ours", "difference", "note")
    records = [dict(zip(("name", *heads[1:]), row, strict=True)) for row in rows]
    return table(*heads, key="summary", title=title, rows=rows, records=records)


def _number(value: float, sign: str = "") -> str:
    if math.isnan(value):
        return "–"
    return f"{value:{sign}.2e}" if 0 < abs(value) < 0.001 else f"{value:{sign}.4f}"


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
