"""The sensitivity study as a page: sensitivity beside robustness, and VLScore's tables 2 and 3 and figure 2."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import radgauge
from radgauge.analysis.perturb import DELTAS, KINDS, Sensitivity, SensitivityStudy, Value
from radgauge.core.wording import arrow, p_value, signed
from radgauge.render.page import page_style, series_mark
from radgauge.render.plots import forest, scatter, strip
from radgauge.render.svg import Plot
from radgauge.render.tables import Cell, Column, Row, Table, bounded, table
from radgauge.report.files import write_page
from radgauge.report.page import templates

INSIGNIFICANT, SIGNIFICANT, HARMLESS = 0, 1, 2
"""Series of the kinds; harmless kinds are insignificant changes of form."""


@dataclass(frozen=True)
class SensitivityPage:
    """The parts of the page."""

    study: SensitivityStudy
    figures: Mapping[str, Plot]  # Metric's output -> mean score by kind, with intervals
    balance: Plot  # Sensitivity and robustness of each metric
    against: tuple[Plot, ...]  # VLScore's figure 2: other metrics against VLScore on equivalent normal reports
    tables: Mapping[str, Table]  # Balance, deltas, ranking and means
    about: Mapping[str, Any]  # Title, source, seed, level and numbers of resamples


def sensitivity_page(study: SensitivityStudy, *, about: Mapping[str, Any]) -> SensitivityPage:
    """Lay out a study.

    Args:
        study: What `perturb.evaluate` found.
        about: title, source, seed, level, resamples, permutations.
    """
    return SensitivityPage(
        study=study,
        figures={metric.column: _figure(metric, study) for metric in study.metrics},
        balance=forest(
            [
                (f"{metric.column}: {name}", series, *_numbers(value))
                for metric in study.metrics
                for name, series, value in (
                    ("sensitivity", SIGNIFICANT, metric.sensitivity),
                    ("robustness", HARMLESS, metric.robustness),
                )
            ],
            key="balance",
            title="sensitivity and robustness",
        ),
        against=_against(study),
        tables={
            "balance": _balance(study),
            "deltas": _deltas(study),
            "ranking": _ranking(study),
            "means": _means(study),
        },
        about=about,
    )


def write_sensitivity(path: Path, study: SensitivityStudy, *, about: Mapping[str, Any]) -> int:
    """Write the study as one self-contained HTML file; returns its size in bytes."""
    page = sensitivity_page(study, about=about)
    text = (
        templates()
        .get_template("sensitivity.html.j2")
        .render(
            page=page,
            study=study,
            version=radgauge.__version__,
            css=page_style(),
            marks=(series_mark(INSIGNIFICANT), series_mark(HARMLESS), series_mark(SIGNIFICANT)),
            arrows={metric.column: arrow(metric.higher_is_better) for metric in study.metrics},
            kinds=KINDS,
            unmeasured=_unmeasured(study),
        )
    )
    return write_page(path, text)


def _figure(metric: Sensitivity, study: SensitivityStudy) -> Plot:
    rows = [
        (
            f"{kind} ({metric.means[kind].n})",
            _series(kind),
            *_numbers(value),
        )
        for kind, value in sorted(
            metric.means.items(), key=lambda item: (KINDS[item[0]].significant, _series(item[0]))
        )
        if metric.means[kind].n
    ]
    return forest(rows, key=f"kinds-{metric.column}", title=f"{metric.column}: mean score by kind of change")


def _series(kind: str) -> int:
    return {"significant": SIGNIFICANT, "harmless": HARMLESS}.get(KINDS[kind].family, INSIGNIFICANT)


def _against(study: SensitivityStudy) -> tuple[Plot, ...]:
    """Figure 2 of VLScore on one's own reports: none without `vlscore` or without normal reports."""
    values = {
        scores.columns[0]: {
            study_id: float(value)
            for (study_id, kind), value in zip(scores.keys, scores.headline, strict=True)
            if kind == "normal_report"
        }
        for scores in study.results.judges.values()
    }
    image_aware = next(
        (scores.columns[0] for name, scores in study.results.judges.items() if name == "vlscore"), ""
    )
    if not values.get(image_aware):
        return ()
    return tuple(
        scatter(
            [(values[image_aware][study_id], value, INSIGNIFICANT, -1) for study_id, value in column.items()],
            key=f"against-{name}",
            title=f"{name} and {image_aware}",
            note="normal reports, and the standard one in their place",
            x_label=image_aware,
            y_label=name,
        )
        for name, column in values.items()
        if name != image_aware
    )


def _balance(study: SensitivityStudy) -> Table:
    """Sensitivity and robustness of each metric, and what it keeps under every harmless kind."""
    kinds = [kind for kind, count in study.possible.items() if KINDS[kind].harmless and count]
    rows: list[Row] = []
    records = []
    for metric in study.metrics:
        preserved = [metric.kept[kind] for kind in kinds]
        rows.append(
            (metric.column, bounded(metric.sensitivity), bounded(metric.robustness), *map(bounded, preserved))
        )
        records.append(
            {
                "metric": metric.column,
                "sensitivity": metric.sensitivity.value,
                "robustness": metric.robustness.value,
                **{kind: value.value for kind, value in zip(kinds, preserved, strict=True)},
            }
        )
    return table(
        *("metric", "sensitivity", "robustness", *kinds),
        key="balance",
        title="Lost under significant changes, kept under harmless ones",
        rows=rows,
        records=records,
    )


def _numbers(value: Value) -> tuple[float, float, float]:
    return value.value, value.low, value.high


def _measured(study: SensitivityStudy) -> list[str]:
    """The deltas that have a value for some metric."""
    return [
        name
        for name in study.metrics[0].deltas
        if any(not math.isnan(metric.deltas[name].value) for metric in study.metrics)
    ]


def _unmeasured(study: SensitivityStudy) -> str:
    """Name the deltas without a value, with the reason."""
    names = {
        name: (insignificant, significant)
        for name, insignificant, significant in DELTAS
        if name in study.metrics[0].deltas
    }
    parts = []
    for name in names.keys() - set(_measured(study)):
        missing = " and ".join(kind for kind in names[name] if not study.possible[kind])
        parts.append(f"{name} ({f'no report allows {missing}' if missing else 'no metric could judge it'})")
    return f"Not measured: {'; '.join(sorted(parts))}." if parts else ""


def _deltas(study: SensitivityStudy) -> Table:
    rows, records = [], []
    for name in _measured(study):
        for index, metric in enumerate(study.metrics):
            delta = metric.deltas[name]
            drawn = strip([(INSIGNIFICANT, *_numbers(delta))], title=f"{metric.column}: {name}", zero=True)
            rows.append(
                (
                    Cell(name, again=index > 0),
                    *(metric.column, bounded(delta, signed)),
                    Cell("", plot="" if math.isnan(delta.value) else drawn.inline()),
                    *(delta.p, delta.p_holm, delta.n),
                    Cell(signed(delta.paired), f"{delta.both} reports", value=delta.paired),
                    delta.paired_p_holm,
                )
            )
            records.append(
                {
                    "change": name,
                    "metric": metric.column,
                    "delta": delta.value,
                    "low": delta.low,
                    "high": delta.high,
                    "p": delta.p,
                    "p_holm": delta.p_holm,
                    "reports": delta.n,
                    "same_report_delta": delta.paired,
                    "same_report_p": delta.paired_p,
                    "same_report_p_holm": delta.paired_p_holm,
                    "same_report_n": delta.both,
                }
            )
    return table(
        *("change", "metric", "difference", "", Column("p", format=p_value)),
        *(Column("p (Holm)", format=p_value, significant=0.05), "reports", "on the same report"),
        Column("p (Holm) on the same report", format=p_value, significant=0.05),
        key="deltas",
        title="Insignificant minus significant change; positive is right",
        rows=rows,
        records=records,
    )


def _ranking(study: SensitivityStudy) -> Table:
    rows, records = [], []
    for metric in study.metrics:
        share = metric.ranked_right
        rows.append((metric.column, bounded(share), metric.ties, metric.pairs, metric.not_judged))
        records.append(
            {
                "metric": metric.column,
                "ranked_right": share.value,
                "low": share.low,
                "high": share.high,
                "ties": metric.ties,
                "pairs": metric.pairs,
                "not_judged": metric.not_judged,
            }
        )
    return table(
        *("metric", "ranked right", "ties", "pairs", "not judged"),
        key="ranking",
        title="Pairs of a significant and an insignificant change of one report",
        rows=rows,
        records=records,
    )


def _means(study: SensitivityStudy) -> Table:
    rows: list[Row] = []
    records = []
    for kind, count in study.possible.items():
        significant = KINDS[kind].significant
        cells = (bounded(metric.means[kind]) for metric in study.metrics)
        rows.append((Cell(kind, KINDS[kind].family), count, *cells))
        records.append(
            {
                "kind": kind,
                "significant": significant,
                "reports": count,
                "none_possible": study.none_possible[kind],
                **{metric.column: metric.means[kind].value for metric in study.metrics},
            }
        )
    return table(
        *("kind", "reports"),
        *(Column(metric.column, metric.higher_is_better) for metric in study.metrics),
        key="means",
        title="Mean score by kind of change",
        rows=rows,
        records=records,
    )
