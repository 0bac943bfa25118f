"""The sensitivity study as a page: VLScore's figure 2 and tables 2 and 3, for any metrics."""

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
from radgauge.render.plots import forest, strip
from radgauge.render.svg import Plot
from radgauge.render.tables import Cell, Column, Row, Table, bounded, table
from radgauge.report.files import write_page
from radgauge.report.page import templates

INSIGNIFICANT, SIGNIFICANT = 0, 1
"""Series of the insignificant and of the significant kinds."""


@dataclass(frozen=True)
class SensitivityPage:
    """What the page shows."""

    study: SensitivityStudy
    figures: Mapping[str, Plot]  # Metric's output -> mean score by kind, with intervals
    ranking: Plot  # Share of pairs ranked right by each metric
    tables: Mapping[str, Table]  # Deltas, ranking and means
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
        ranking=forest(
            [(metric.column, INSIGNIFICANT, *_numbers(metric.ranked_right)) for metric in study.metrics],
            key="ranked-right",
            title="share of pairs ranked right",
        ),
        tables={"deltas": _deltas(study), "ranking": _ranking(study), "means": _means(study)},
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
            marks=(series_mark(INSIGNIFICANT), series_mark(SIGNIFICANT)),
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
            SIGNIFICANT if KINDS[kind].significant else INSIGNIFICANT,
            *_numbers(value),
        )
        for kind, value in sorted(metric.means.items(), key=lambda each: KINDS[each[0]].significant)
        if metric.means[kind].n
    ]
    return forest(rows, key=f"kinds-{metric.column}", title=f"{metric.column}: mean score by kind of change")


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
    """Which deltas have no value, and why."""
    names = {
        name: (insignificant, significant)
        for name, insignificant, significant in DELTAS
        if name in study.metrics[0].deltas
    }
    said = []
    for name in names.keys() - set(_measured(study)):
        missing = " and ".join(kind for kind in names[name] if not study.possible[kind])
        said.append(f"{name} ({f'no report allows {missing}' if missing else 'no metric could judge it'})")
    return f"Not measured: {'; '.join(sorted(said))}." if said else ""


def _deltas(study: SensitivityStudy) -> Table:
    rows, records = [], []
    for name in _measured(study):
        for place, metric in enumerate(study.metrics):
            delta = metric.deltas[name]
            drawn = strip([(INSIGNIFICANT, *_numbers(delta))], title=f"{metric.column}: {name}", zero=True)
            rows.append(
                (
                    Cell(name, again=place > 0),
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
        rows.append((Cell(kind, "significant" if significant else ""), count, *cells))
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
