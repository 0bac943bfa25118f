"""Tables of the lay studies: agreement with people, training, readability side by side."""

from __future__ import annotations

from collections.abc import Sequence

from layman_rrg.agreement import LayAgreement
from layman_rrg.grid import LayGrid
from layman_rrg.reading_ease import Ease, EaseLine
from layman_rrg.training import RANGES, TrainingRun
from radgauge.core.wording import arrow, interval, number, p_value, share, signed
from radgauge.render.tables import Cell, Column, Table, Value, bounded, table
from radgauge.stats import Interval


def agreement_tables(found: LayAgreement) -> tuple[Table, ...]:
    """Table 3 (correlations, raw and lay), and the annotators among themselves."""
    rows, records = [], []
    columns = list(dict.fromkeys(line.column for line in found.lines))
    for column in columns:
        row: list[Value] = [column]
        for line in (line for line in found.lines if line.column == column):
            sides = line.raw.interval, line.lay.interval
            row += map(bounded, sides)
            gain = line.gain.interval
            beside = f"{interval(gain.low, gain.high)} p {p_value(line.gain.p)}"
            row.append(Cell(signed(gain.value), beside, value=gain.value))
            records.append(
                {
                    "column": column,
                    "kind": line.kind,
                    **_bounds("raw", sides[0]),
                    **_bounds("lay", sides[1]),
                    **_bounds("gain", gain),
                    "p": line.gain.p,
                    "n": sides[1].n,
                    "not_judged": line.not_judged,
                }
            )
        rows.append(row)
    kinds = list(dict.fromkeys(line.kind for line in found.lines))
    correlations = table(
        *("metric", *(f"{kind} {state}" for kind in kinds for state in ("raw", "lay", "gain"))),
        key="correlations",
        title=f"Correlation with the mean of {len(found.raters)} annotators on {found.cases} reports",
        rows=rows,
        records=records,
    )
    if not found.pairs:
        return (correlations,)
    kappas = [
        (
            *(f"{pair.first}, {pair.second}", bounded(pair.kappa.interval), bounded(pair.weighted.interval)),
            pair.kappa.interval.n,
        )
        for pair in found.pairs
    ]
    annotators = table(
        *("annotators", "kappa", "weighted kappa", "n"),
        key="annotators",
        title=f"Cohen's kappa of annotators on proportions in {found.bins} bins",
        rows=[*kappas, ("mean", found.mean_kappa(), found.mean_kappa(weighted=True), None)],
        records=[
            {
                "first": pair.first,
                "second": pair.second,
                **_bounds("kappa", pair.kappa.interval),
                **_bounds("weighted", pair.weighted.interval),
                "n": pair.kappa.interval.n,
            }
            for pair in found.pairs
        ],
    )
    return correlations, annotators


def training_table(runs: Sequence[TrainingRun], *, threshold: float) -> Table:
    """One line per system: share above the threshold, sameness of its reports, collapse."""
    rows, records = [], []
    for run in runs:
        rows.append(
            (
                *(run.system, f"{run.size.number:g}" if run.size else "–", run.reports),
                *(bounded(run.above), bounded(run.reports_above)),
                *(bounded(run.pairwise), run.variance, run.pairwise_references),
                Cell(number(run.distinct), f"references {number(run.distinct_references)}", value=run.distinct),
                "collapsed" if run.collapsed else "no",
            )
        )
        records.append(
            {
                "system": run.system,
                "series": run.size.series if run.size else "",
                "training_size": run.size.number if run.size else None,
                "reports": run.reports,
                "not_judged": run.not_judged,
                "sentences": run.sentences,
                **_bounds("above", run.above),
                **_bounds("reports_above", run.reports_above),
                **_bounds("pairwise", run.pairwise),
                "pairwise_variance": run.variance,
                "pairwise_references": run.pairwise_references,
                **_bounds("excess", run.excess),
                "distinct": run.distinct,
                "distinct_references": run.distinct_references,
                "collapsed": run.collapsed,
                **{f"from_{low:.1f}": share for low, share in zip(RANGES, run.ranges, strict=False)},
            }
        )
    return table(
        *("system", Column("training size", right=True), "reports", f"sentences ≥ {threshold:g}"),
        f"reports > {threshold:g}",
        *("pairwise similarity", "variance", "of references", "distinct reports", "collapse"),
        key="training",
        title="Sentences and sameness by system",
        rows=rows,
        records=records,
    )


def ease_table(found: Ease) -> Table:
    """Readability of originals and lay versions, by system and index."""
    rows, records = [], []
    several = len({line.system for line in found.lines}) > 1
    for line in found.lines:
        name = f"{line.system}: {line.index}" if several else line.index
        rows.append(
            (
                *(f"{name} {arrow(line.higher_is_easier)}", line.professional, line.lay),
                *(bounded(line.difference, signed), line.easier, line.difference.n),
            )
        )
        records.append(
            {
                "system": line.system,
                "index": line.index,
                "higher_is_easier": line.higher_is_easier,
                "professional": line.professional,
                "lay": line.lay,
                **_bounds("difference", line.difference),
                "easier": line.easier,
                "n": line.difference.n,
                "not_judged": line.difference.missing,
            }
        )
    means = (Column(name, format=lambda value: number(value, 2)) for name in ("professional", "lay"))
    return table(
        "index",
        *means,
        *("difference", Column("easier", format=lambda part: share(part, 0)), "n"),
        key="readability",
        title="Readability: professional originals and lay versions",
        rows=rows,
        records=records,
    )


EASY = {
    "flesch_reading_ease": "Easy",
    "flesch_kincaid_grade": "M1",
    "gunning_fog": "M2",
    "smog_index": "M3",
    "automated_readability_index": "M4",
    "coleman_liau_index": "M5",
    "linsear_write_formula": "M6",
    "dale_chall_score": "M7",
    "spache_score": "M8",
    "mcalpine_eflaw": "M9",
}
"""The indices in the order of table 11, with the paper's short names."""


def grid_tables(found: LayGrid) -> tuple[Table, Table]:
    """Table 10 (right and near) and table 11 (easy, originals too): a line per corpus and writer."""
    outputs = list(dict.fromkeys(name for line in found.lines for name in line.values))
    rows, records = [], []
    for line in found.lines:
        cells = [bounded(line.values[name]) if name in line.values else None for name in outputs]
        rows.append((line.corpus, line.writer, line.reports - line.without, line.without, *cells))
        records += [
            {
                "corpus": line.corpus,
                "writer": line.writer,
                "output": name,
                **_bounds("value", value),
                "n": value.n,
                "not_judged": value.missing,
                "without": line.without,
            }
            for name, value in line.values.items()
        ]
    right = table(
        *("corpus", "writer", "reports", "without", *outputs),
        key="right",
        title="Lay versions against their originals: labels, graphs, words, meaning",
        rows=rows,
        records=records,
    )
    easy: list[tuple[Value, ...]] = []
    easy_records: list[dict[str, Value]] = []
    for corpus in dict.fromkeys(line.corpus for line in found.lines):
        mine = [line for line in found.lines if line.corpus == corpus and line.ease is not None]
        sides: list[tuple[str, dict[str, float], int]] = []
        for line in mine:
            assert line.ease is not None
            known: dict[str, EaseLine] = {each.index: each for each in line.ease.lines}
            if not sides:
                before = {name: known[name].professional for name in EASY}
                sides.append(("(original)", before, line.reports - line.without))
            sides.append((line.writer, {name: known[name].lay for name in EASY}, line.reports - line.without))
        for writer, values, count in sides:
            easy.append((corpus, writer, count, *(values[name] for name in EASY)))
            easy_records.append({"corpus": corpus, "writer": writer, "n": count, **values})
    ease = table(
        *("corpus", "writer", "reports"),
        *(Column(short, format=lambda value: number(value, 1)) for short in EASY.values()),
        key="easy",
        title="Readability: Easy higher is easier, M1 to M9 lower is easier",
        rows=easy,
        records=easy_records,
    )
    return right, ease


def _bounds(name: str, found: Interval) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
