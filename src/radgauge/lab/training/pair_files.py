"""Pair files: what `radgauge train pairs` writes and `radgauge train estimator` reads.

A folder of pairs holds `reports.csv` once and `train.csv`, `val.csv` and `test.csv` with ids and values, so that
no text is written twice. A table with the columns src, mt and score, as COMET's trainer reads it, works too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.error_categories import CATEGORIES
from radgauge.core.errors import InputError, UsageError, shown
from radgauge.core.files import make_folder, write_csv, write_file
from radgauge.io.judgments import Judgments
from radgauge.io.tables import iter_records
from radgauge.io.tables.sources import inspect_file
from radgauge.lab.training.clusters import Clusters, Floats
from radgauge.lab.training.pair_scores import TARGETS
from radgauge.lab.training.pairs import SPLITS, PairCorpus
from radgauge.lab.training.term_reports import TermReport, TermReports
from radgauge.render.curves import share_curves
from radgauge.render.plots import scatter
from radgauge.render.svg import SERIES, label, shape
from radgauge.text.words import has_words

# Pictures of a clustering: the three curves behind K, and the reports on two principal components.
#
# Figures 4 and 5 of Calamida et al. (2023).

CURVES = ("silhouette", "inertia", "calinski_harabasz")
LINE = 16.0  # of the legend, which stands below the plot


def curves_svg(clusters: Clusters) -> str:
    """Silhouette, inertia and Calinski-Harabasz by K, each scaled to its own range, which its name gives."""
    series, undefined = [], []
    for name in CURVES:
        shown = name.replace("_", "-")
        values = np.array([getattr(trial, name) for trial in clusters.trials])
        finite = values[np.isfinite(values)]  # one cluster has no silhouette
        if len(finite):
            series.append((f"{shown}: {finite.min():.4g} to {finite.max():.4g}", _scaled(values).tolist()))
        else:
            undefined.append(f"{shown}: not defined")
    return share_curves(
        [trial.k for trial in clusters.trials],
        series,
        key="k_curves",
        title="; ".join([f"Choice of the number of clusters: K = {clusters.k}", *undefined]),
        x_label="number of clusters K",
        y_label="place in its range",
    ).file()


def plane_svg(clusters: Clusters) -> str:
    """Reports on the first two principal components of their terms, coloured by cluster."""
    points = [
        (float(x), float(y), int(group), -1) for (x, y), group in zip(clusters.plane, clusters.labels, strict=True)
    ]
    first, second = (f"({100 * share:.1f} % of the variance)" for share in clusters.explained)
    plot = scatter(
        points,
        key="clusters",
        title="Clusters of reports",
        note=f"{len(points)} reports, {clusters.k} clusters",
        x_label=f"principal component 1 {first}",
        y_label=f"principal component 2 {second}",
    )
    legend = []
    for group, prominent in enumerate(clusters.prominent):
        name = prominent[0][0] if prominent else ""
        name = name if len(name) <= 40 else name[:37] + "..."
        y = plot.height + LINE * (group + 1)
        legend.append(shape(group, 8, y - 4, f"c{group % SERIES}"))
        legend.append(label(18, y, f"{group}: {name} ({clusters.sizes[group]} reports)"))
    height = plot.height + LINE * (clusters.k + 1)
    return replace(plot, height=height, body=plot.body + "".join(legend)).file()


def _scaled(values: Floats) -> Floats:
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.where(np.isfinite(values), 0.5, np.nan)


REPORTS_FILE = "reports.csv"
COMET_COLUMNS = ("src", "mt", "score")
TEXT_COLUMNS = (("src", "mt"), ("reference", "candidate"))


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs to train on or to judge: distinct texts, and which two of them each pair is."""

    texts: tuple[str, ...]  # Every distinct text once
    reference: NDArray[np.intp]  # Position of each pair's reference (COMET's src)
    candidate: NDArray[np.intp]  # Position of each pair's candidate (COMET's mt)
    target: NDArray[np.float32]  # What the estimator is to say: a value, or errors in six categories (pairs, 6)
    ids: tuple[tuple[str, str], ...]  # Two ids per pair, for people
    computed: bool = False  # True if `train pairs` computed the target, from words and graphs

    def __len__(self) -> int:
        return len(self.target)


def write_pairs(
    folder: Path | str,
    corpus: PairCorpus,
    *,
    chosen: TermReports,
    clusters: Clusters,
    about: Mapping[str, Any],
    comet_target: str | None = None,
) -> dict[str, Any]:
    """Write a folder of pairs: reports, splits, figures, and `pairs.json` with all that describes them.

    Args:
        folder: Made if it is not there.
        corpus: The pairs.
        chosen: The reports behind them.
        clusters: Their clusters.
        about: Settings and provenance, for `pairs.json`.
        comet_target: Also write `train.comet.csv` and so on, with columns src, mt and this target as score.

    Returns:
        What `pairs.json` holds.
    """
    if comet_target is not None:
        check_target(comet_target)
    path = Path(folder)
    make_folder(path)
    reports = chosen.reports
    _write_reports(path / REPORTS_FILE, reports, clusters, corpus)
    for name in SPLITS:
        pairs = corpus.splits[name]
        rows = (
            [reports[a].id, reports[b].id, *(f"{value:.6f}" for value in values)]
            for a, b, *values in zip(*(column.tolist() for column in pairs), strict=True)
        )
        write_csv(path / f"{name}.csv", ["reference_id", "candidate_id", *TARGETS], rows)
        if comet_target is not None:
            columns = (pairs.reference, pairs.candidate, getattr(pairs, comet_target))
            texts = (
                [reports[a].text, reports[b].text, f"{value:.6f}"]
                for a, b, value in zip(*(column.tolist() for column in columns), strict=True)
            )
            write_csv(path / f"{name}.comet.csv", COMET_COLUMNS, texts)
    write_file(path / "k_curves.svg", curves_svg(clusters))
    write_file(path / "clusters.svg", plane_svg(clusters))
    summary = describe_pairs(corpus, chosen=chosen, clusters=clusters, about=about)
    write_file(path / "pairs.json", json.dumps(summary, indent=1))
    return summary


def describe_pairs(
    corpus: PairCorpus, *, chosen: TermReports, clusters: Clusters, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything about a corpus of pairs that fits a page, as plain values."""
    return {
        **about,
        "reports": len(chosen.reports),
        "dropped": chosen.dropped,
        "section": chosen.section,
        "clusters": [
            {"size": size, "terms": [{"term": term, "reports": number} for term, number in terms]}
            for size, terms in zip(clusters.sizes, clusters.prominent, strict=True)
        ],
        "k_trials": [asdict(trial) for trial in clusters.trials],
        "pairs_scored": corpus.scored,
        "pairs": {name: len(pairs.reference) for name, pairs in corpus.splits.items()},
        "kept": corpus.kept,
        "abnormal": corpus.abnormal,
        "term_overlap": {name: overlap._asdict() for name, overlap in corpus.overlap.items()},
        "seen_in_training": corpus.seen,
        "without_partner": corpus.lonely,
    }


def _write_reports(path: Path, reports: Sequence[TermReport], clusters: Clusters, corpus: PairCorpus) -> None:
    rows = []
    for at, report in enumerate(reports):
        split = "" if corpus.report_split is None else SPLITS[int(corpus.report_split[at])]
        cells = ("; ".join(report.terms), int(clusters.labels[at]), int(report.normal), split)
        rows.append([report.id, report.text, *cells])
    write_csv(path, ["id", "text", "terms", "cluster", "normal", "split"], rows)


def check_target(target: str) -> None:
    """Refuse a target that pairs do not have."""
    if target not in TARGETS:
        raise UsageError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")


def read_pairs(path: Path | str, *, target: str = "radcliq") -> PairTable:
    """Pairs from a split of a folder of pairs, or from a table with src, mt and score.

    Args:
        path: The table.
        target: The column to learn: radcliq and the others of a folder of pairs, or one of a table of texts (src
            and mt, or reference and candidate), such as a radiologist's rating; `score` if it has no such column.

    Raises:
        InputError: A text is empty, an id unknown, or a value is not a finite number; names the row.
    """
    file = Path(path)
    source = inspect_file(file)
    number: dict[str, int] = {}
    reference: list[int] = []
    candidate: list[int] = []
    values: list[float] = []
    ids: list[tuple[str, str]] = []
    reports: dict[str, str] | None = None
    for record in iter_records(file, source=source):
        where = f"{file.name}, line {record.line}"
        cells = record.values
        texts = next((pair for pair in TEXT_COLUMNS if set(pair) <= cells.keys()), None)
        column = target if target in cells else "score"
        if texts is not None and column in cells:
            sides, value = (cells[texts[0]], cells[texts[1]]), cells[column]
            names = (f"line {record.line} {texts[0]}", f"line {record.line} {texts[1]}")
        elif {"reference_id", "candidate_id", target} <= cells.keys():
            reports = reports if reports is not None else _read_reports(file.with_name(REPORTS_FILE))
            names = (str(cells["reference_id"]), str(cells["candidate_id"]))
            absent = next((name for name in names if name not in reports), None)
            if absent is not None:
                raise InputError(f"{where}: the report {absent!r} is not in {REPORTS_FILE}")
            sides, value = (reports[names[0]], reports[names[1]]), cells[target]
        else:
            raise InputError(
                f"{file.name} must have the columns src and mt (or reference and candidate) with {target} or "
                f"score, or reference_id, candidate_id and {target}; got {', '.join(cells)}"
            )
        for name, text in zip(names, sides, strict=True):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{where}: the text of {name!r} is empty; nothing was trained on")
        values.append(_number(value, where))
        reference.append(number.setdefault(sides[0], len(number)))
        candidate.append(number.setdefault(sides[1], len(number)))
        ids.append(names)
    if not values:
        raise InputError(f"{file.name} holds no pairs")
    return PairTable(
        tuple(number),
        np.array(reference, dtype=np.intp),
        np.array(candidate, dtype=np.intp),
        np.array(values, dtype=np.float32),
        tuple(ids),
        computed=reports is not None and target in TARGETS,
    )


def count_pairs(judgments: Judgments) -> PairTable:
    """Return judged pairs with their mean rater's errors in ReXVal's six categories; NaN where none was asked.

    Raises:
        InputError: No pair has texts and counts.
    """
    counts = judgments.mean_errors()
    columns = np.stack([counts.column(f"errors_{category.key}") for category in CATEGORIES[:6]], axis=1)
    number: dict[str, int] = {}
    reference, candidate, chosen = [], [], []
    for index, case in enumerate(judgments.cases):
        judged = next(filter(has_words, case.references), "")
        if judged and has_words(case.candidate) and not np.isnan(columns[index]).all():
            reference.append(number.setdefault(judged, len(number)))
            candidate.append(number.setdefault(case.candidate, len(number)))
            chosen.append(index)
    if not chosen:
        raise InputError(f"{judgments.name} must have pairs of texts with errors counted by category")
    return PairTable(
        tuple(number),
        np.array(reference, dtype=np.intp),
        np.array(candidate, dtype=np.intp),
        columns[chosen].astype(np.float32),
        tuple(judgments.cases[index].key for index in chosen),
    )


def _number(value: object, where: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}: the target must be a finite number, got {shown(value)}; nothing was trained")
    return number


def _read_reports(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise InputError(f"{path.name} must lie beside the pairs; `radgauge train pairs` writes both")
    return {str(record.values["id"]): str(record.values["text"]) for record in iter_records(path)}
