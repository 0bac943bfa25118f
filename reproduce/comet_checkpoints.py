"""How checkpoints rank reports compared with established metrics: table 2 of Calamida et al. (2023)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import MissingExtra, ModelError, UsageError
from radgauge.core.metric import Metric
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.io.case_files import read_cases
from radgauge.lab.training.pair_files import read_pairs
from radgauge.render.tables import table
from radgauge.render.terminal import console
from radgauge.run.score import score
from radgauge.stats.coefficients import association

METRICS = (
    "bleu",
    "bleu:variant=cxr",
    "bertscore",
    "chexbert_similarity",
    "radgraph:variant=yu",
    "radcliq:version=preprint",
)
"""BLEU-4, BLEU-2, BERTScore, CheXbert, RadGraph F1, RadCliQ."""


@dataclass(frozen=True)
class CorrelationRow:
    """One checkpoint on one set of reports; NaN where a correlation is not defined."""

    group: str
    cases: int
    checkpoint: str
    spearman: tuple[float, ...]


@dataclass(frozen=True)
class CorrelationTable:
    """Spearman correlations, turned so that positive means agreement.

    Attributes:
        columns: The metrics' headline columns.
        rows: One per set of reports and checkpoint.
        absent: Metrics that could not run, and why.
        signatures: Column or checkpoint -> settings behind it.
    """

    columns: tuple[str, ...]
    rows: tuple[CorrelationRow, ...]
    absent: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)


@working("correlating")
def correlate_checkpoints(
    groups: Mapping[str, Sequence[Case]],
    checkpoints: Sequence[str],
    *,
    metrics: Sequence[str] = METRICS,
    models: str = "embedded",
    reading: Readings | None = None,
) -> CorrelationTable:
    """Correlate the metric `comet` of every checkpoint with other metrics, on every group of cases.

    Args:
        groups: Name -> cases.
        checkpoints: "embedded" or checkpoint folders.
        metrics: Metrics to compare with; one that cannot run here is left out, with the reason.
        models: Profile of those metrics.
        reading: Shared readings.
    """
    for name, cases in groups.items():
        if len(cases) < 3:
            raise UsageError(f"a correlation needs at least three cases, {name!r} has {len(cases)}")
    shared = reading if reading is not None else Readings()
    learned = {label: load("comet", models=each) for label, each in _labels(checkpoints).items()}
    able, absent = _able(metrics, models, shared)
    rows = []
    for name, cases in groups.items():
        judged = [_oriented(metric, cases, shared) for metric in able]
        for label, metric in learned.items():
            mine = _oriented(metric, cases, shared)
            values = tuple(association(mine, other, kind="spearman") for other in judged)
            rows.append(CorrelationRow(name, len(cases), label, values))
    signatures = {metric.columns[0]: metric.signature() for metric in able}
    signatures |= {label: metric.signature() for label, metric in learned.items()}
    return CorrelationTable(tuple(metric.columns[0] for metric in able), tuple(rows), absent, signatures)


def _labels(checkpoints: Sequence[str]) -> dict[str, str]:
    """A name for each checkpoint: the end of its path, with as many folders as tell it from the others.

    >>> _labels(["embedded", "top/comet_embedded.npz", "best/comet_embedded.npz"])
    {'embedded': 'embedded', 'top/comet_embedded.npz': 'top/comet_embedded.npz', 'best/comet_embedded.npz': \
'best/comet_embedded.npz'}
    """
    distinct = list(dict.fromkeys(checkpoints))
    parts = [Path(each).parts or (each,) for each in distinct]
    for length in range(1, max(map(len, parts), default=1) + 1):
        labels = ["/".join(each[-length:]) for each in parts]
        if len(set(labels)) == len(labels):
            break
    return dict(zip(labels, distinct, strict=True))


def _able(metrics: Sequence[str], models: str, reading: Readings) -> tuple[list[Metric], dict[str, str]]:
    """Metrics that run here, found out on one case, and why the others do not."""
    probe = [Case("probe", "Small left pleural effusion.", ("No pleural effusion.",))]
    able: list[Metric] = []
    absent: dict[str, str] = {}
    for spec in metrics:
        metric = load(spec, models=models)
        try:
            score(probe, metric, reading=reading)
        except (MissingExtra, ModelError) as error:
            absent[spec] = str(error)
        else:
            able.append(metric)
    return able, absent


def _oriented(
    metric: Metric, cases: Sequence[Case], reading: Readings
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scores = next(iter(score(cases, metric, reading=reading).judges.values()))
    return scores.oriented(scores.columns[0])


def cases_of_pairs(path: Path | str, *, limit: int | None = None, seed: int = 0) -> list[Case]:
    """Pairs of a pair file as cases, at most `limit` of them, drawn at random in their order."""
    table = read_pairs(path)
    chosen = np.arange(len(table))
    if limit is not None and len(table) > limit:
        chosen = np.sort(np.random.default_rng(seed).choice(len(table), limit, replace=False))
    return [
        Case(f"{at}", table.texts[table.candidate[at]], (table.texts[table.reference[at]],), system="pairs")
        for at in chosen.tolist()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Correlate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, help="folder of `radgauge train pairs`; its test pairs are used")
    parser.add_argument("--systems", type=Path, nargs="*", default=[], help="reports, as for `radgauge score`")
    parser.add_argument("--candidate-columns", nargs="+")
    parser.add_argument("--checkpoint", nargs="+", default=["embedded"], help="'embedded' or a checkpoint folder")
    parser.add_argument("--metric", "-m", nargs="+", default=METRICS)
    parser.add_argument("--models", default="embedded")
    parser.add_argument("--limit", type=int, default=20_000, help="test pairs at most, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.pairs is None and not given.systems:
        parser.error("nothing to correlate on: give --pairs FOLDER, --systems FILE, or both")
    groups: dict[str, list[Case]] = {}
    if given.pairs is not None:
        groups["test pairs"] = cases_of_pairs(given.pairs / "test.csv", limit=given.limit, seed=given.seed)
    for file in given.systems:
        cases = read_cases(file, candidate_columns=given.candidate_columns).cases
        for system in dict.fromkeys(case.system for case in cases):
            groups[f"{system} ({file.stem})"] = [case for case in cases if case.system == system]
    result = correlate_checkpoints(groups, given.checkpoint, metrics=given.metric, models=given.models)
    rows = [(row.group, row.cases, row.checkpoint, *row.spearman) for row in result.rows]
    console().show(table("reports", "cases", "checkpoint", *result.columns, rows=rows))
    for name, why in result.absent.items():
        print(f"{name} is left out: {why}")


if __name__ == "__main__":
    main()
