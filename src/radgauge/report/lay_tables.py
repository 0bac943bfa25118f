"""Tables of the lay studies: agreement with people, training, readability side by side."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.plain_language.studies.agreement import LayAgreement
from radgauge.plain_language.studies.reading_ease import Ease
from radgauge.plain_language.studies.training import RANGES, TrainingRun
from radgauge.show.tables import Cell, Table
from radgauge.show.wording import arrow, interval, number, p_value, signed
from radgauge.stats import Interval


def agreement_tables(found: LayAgreement) -> tuple[Table, ...]:
    """Table 3 (correlations, raw and lay), and the annotators among themselves."""
    rows, records = [], []
    columns = list(dict.fromkeys(line.column for line in found.lines))
    for column in columns:
        row = [Cell(column)]
        for line in (line for line in found.lines if line.column == column):
            sides = line.raw.interval, line.lay.interval
            row += [_cell(side) for side in sides]
            gain = line.gain.interval
            row.append(Cell(signed(gain.value), f"{interval(gain.low, gain.high)} p {p_value(line.gain.p)}"))
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
        rows.append(tuple(row))
    kinds = list(dict.fromkeys(line.kind for line in found.lines))
    headers = ("metric", *(f"{kind} {state}" for kind in kinds for state in ("raw", "lay", "gain")))
    correlations = Table(
        "correlations",
        f"Correlation with the mean of {len(found.raters)} annotators on {found.cases} reports",
        headers,
        tuple(rows),
        tuple(records),
        tuple(range(1, len(headers))),
    )
    if not found.pairs:
        return (correlations,)
    annotators = Table(
        "annotators",
        f"Cohen's kappa of annotators on proportions in {found.bins} bins",
        ("annotators", "kappa", "weighted kappa", "n"),
        (
            *(
                (
                    Cell(f"{pair.first}, {pair.second}"),
                    _cell(pair.kappa.interval),
                    _cell(pair.weighted.interval),
                    Cell(str(pair.kappa.interval.n)),
                )
                for pair in found.pairs
            ),
            (
                Cell("mean"),
                Cell(number(found.mean_kappa())),
                Cell(number(found.mean_kappa(weighted=True))),
                Cell(""),
            ),
        ),
        tuple(
            {
                "first": pair.first,
                "second": pair.second,
                **_bounds("kappa", pair.kappa.interval),
                **_bounds("weighted", pair.weighted.interval),
                "n": pair.kappa.interval.n,
            }
            for pair in found.pairs
        ),
        (1, 2, 3),
    )
    return correlations, annotators


def training_table(runs: Sequence[TrainingRun], *, threshold: float) -> Table:
    """One line per system: share above the threshold, sameness of its reports, collapse."""
    rows, records = [], []
    for run in runs:
        size = f"{run.size.number:g}" if run.size else "–"
        rows.append(
            (
                Cell(run.system),
                Cell(size),
                Cell(str(run.reports)),
                _cell(run.above),
                _cell(run.pairwise),
                Cell(number(run.variance)),
                Cell(number(run.pairwise_references)),
                Cell(number(run.distinct), f"references {number(run.distinct_references)}"),
                Cell("collapsed" if run.collapsed else "no"),
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
    headers = (
        "system",
        "training size",
        "reports",
        f"sentences ≥ {threshold:g}",
        "pairwise similarity",
        "variance",
        "of references",
        "distinct reports",
        "collapse",
    )
    return Table(
        "training", "Sentences and sameness by system", headers, tuple(rows), tuple(records), tuple(range(1, 8))
    )


def ease_table(found: Ease) -> Table:
    """Readability of originals and lay versions, by system and index."""
    rows, records = [], []
    several = len({line.system for line in found.lines}) > 1
    for line in found.lines:
        name = f"{line.system}: {line.index}" if several else line.index
        rows.append(
            (
                Cell(f"{name} {arrow(line.higher_is_easier)}"),
                Cell(number(line.professional, 2)),
                Cell(number(line.lay, 2)),
                Cell(signed(line.difference.value), interval(line.difference.low, line.difference.high)),
                Cell(f"{100 * line.easier:.0f} %" if line.easier == line.easier else "–"),
                Cell(str(line.difference.n)),
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
    headers = ("index", "professional", "lay", "difference", "easier", "n")
    return Table(
        "readability",
        "Readability: professional originals and lay versions",
        headers,
        tuple(rows),
        tuple(records),
        (1, 2, 3, 4, 5),
    )


def _cell(found: Interval) -> Cell:
    return Cell(number(found.value), interval(found.low, found.high))


def _bounds(name: str, found: Interval) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
