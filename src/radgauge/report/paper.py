"""Tables as papers print them: systems as rows or columns, display names, decimals, marks with a footnote."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Literal

import radgauge
from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.summary import Summary
from radgauge.core.errors import UsageError
from radgauge.core.wording import arrow
from radgauge.render.metric_names import metric_name
from radgauge.render.tables import Cell, Column, Row, Table, table

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class PaperStyle:
    """Style of a table for a paper."""

    systems: Literal["rows", "columns"] = "rows"  # What systems are in the table
    # What systems and metrics are called: name in the scores -> name in the table
    names: Mapping[str, str] = field(default_factory=dict)
    scale: float = 1.0  # Values are multiplied by it; 100 prints percent-like values
    decimals: int = 3  # Digits behind the point
    intervals: bool = True  # Print intervals beside the values
    wide: bool = False  # True if LaTeX sets the table over both columns of a page
    columns: tuple[str, ...] = ()  # Outputs of the table, bleu_1..bleu_4 for neighbours; empty: the headlines
    caption: str = ""  # Empty: one that counts the systems

    def __post_init__(self) -> None:
        if self.systems not in ("rows", "columns"):
            raise UsageError(f"systems must be rows or columns, got {self.systems!r}")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise UsageError(f"the scale must be above 0, got {self.scale}")
        if not 0 <= self.decimals <= 10:
            raise UsageError(f"decimals must be 0 to 10, got {self.decimals}")

    def number(self, value: float, *, scaled: bool = True) -> str:
        """Return a value as the table prints it; what could not be judged is a dash."""
        if math.isnan(value):
            return "–"
        shown = f"{(self.scale if scaled else 1.0) * value:.{self.decimals}f}"
        return shown[1:] if shown.startswith("-") and float(shown) == 0 else shown

    def chosen(self, outputs: Sequence[str], headlines: Sequence[str]) -> list[str]:
        """Return the outputs of the table, ranges spelled out.

        >>> PaperStyle(columns=("b1..b3", "r")).chosen(["a", "b3", "b1", "b2", "r"], ["a"])
        ['b1', 'b2', 'b3', 'r']
        """
        names: list[str] = []
        for item in ",".join(self.columns).split(",") if self.columns else ():
            first, dots, last = item.partition("..")
            for name in filter(None, (first, last)):
                if name not in outputs:
                    raise UsageError(f"the scores have no output {name!r}; they have {', '.join(outputs)}")
            names += _between(first, last, outputs) if dots else [first]
        return list(dict.fromkeys(names)) or list(headlines)

    def name(self, code: str) -> str:
        """Display name of a system or a column."""
        return self.names.get(code) or metric_name(code).name


def _between(first: str, last: str, outputs: Sequence[str]) -> Sequence[str]:
    """Outputs of a range: bleu_1..bleu_4 counts, whatever their order; other names take all between them."""
    one, two = (re.fullmatch(r"(.*?)(\d+)", name) for name in (first, last))
    if one and two and one[1] == two[1]:
        return [name for i in range(int(one[2]), int(two[2]) + 1) if (name := f"{one[1]}{i}") in outputs]
    ends = sorted((outputs.index(first), outputs.index(last)))
    return outputs[ends[0] : ends[1] + 1]


def paper_table(
    lines: Sequence[Summary],
    *,
    columns: Sequence[str],
    comparisons: Sequence[SystemComparison] = (),
    style: PaperStyle | None = None,
    permutations: int = 0,
    correction: str = "holm",
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """The table of a paper: every system, every metric.

    The best value of a metric is bold unless another prints the same; a mark says that a system differs from the
    baseline beyond chance; the footnote says what all of it means.

    Args:
        lines: Values with intervals.
        columns: Outputs, in this order.
        comparisons: Tests against a baseline, for the marks.
        style: How it looks.
        permutations: Rearrangements behind the tests, for the footnote.
        correction: Of the p values, for the footnote.
        limits: Range of each output; the scale is for outputs between 0 and 1 alone. None: for all.
    """
    style = style or PaperStyle()
    unscaled = {c for c in columns if limits is not None and limits.get(c) != (0.0, 1.0)}
    systems = list(dict.fromkeys(line.system for line in lines))
    values = {(line.system, line.column): line for line in lines}
    marked = {(line.system, line.column) for line in comparisons if line.result.p_shown < ALPHA}
    best = {c: _best(c, systems, values, style, scaled=c not in unscaled) for c in columns}

    def cell(system: str, column: str) -> Cell:
        line = values.get((system, column))
        if line is None:
            return Cell("–")
        show = functools.partial(style.number, scaled=column not in unscaled)
        text = show(line.value)
        has_interval = style.intervals and not (math.isnan(line.low) or math.isnan(line.high))
        small = f"[{show(line.low)}, {show(line.high)}]" if has_interval else ""
        mark = "†" if (system, column) in marked else ""
        return Cell(text + mark, small, strong=text == best[column], value=line.value)

    directions = {line.column: line.higher_is_better for line in lines}
    rows: list[Row]
    heads: list[Column | str]
    if style.systems == "rows":
        heads = ["System", *(Column(f"{style.name(c)} {arrow(directions[c])}", right=True) for c in columns)]
        rows = [(style.names.get(system, system), *(cell(system, c) for c in columns)) for system in systems]
    else:
        heads = ["Metric", *(Column(style.names.get(system, system), right=True) for system in systems)]
        rows = [
            (f"{style.name(c)} {arrow(directions[c])}", *(cell(system, c) for system in systems)) for c in columns
        ]
    records = [
        {
            "system": system,
            "metric": c,
            "value": line.value,
            "low": line.low,
            "high": line.high,
            "judged": line.judged,
        }
        for system in systems
        for c in columns
        if (line := values.get((system, c))) is not None
    ]
    cases = {line.judged for line in lines if line.column in columns}
    made = table(
        *heads,
        key="paper",
        title=style.caption or f"Evaluation of {len(systems)} {'system' if len(systems) == 1 else 'systems'}",
        rows=rows,
        records=records,
        note=_footnote(
            lines, comparisons, style, permutations, correction, cases, [style.name(c) for c in unscaled]
        ),
    )
    return replace(made, wide=style.wide)


def _best(
    column: str,
    systems: Sequence[str],
    values: Mapping[tuple[str, str], Summary],
    style: PaperStyle,
    *,
    scaled: bool,
) -> str | None:
    """Printed form of the best value, if only one system has it."""
    comparable = [
        values[s, column] for s in systems if (s, column) in values and not math.isnan(values[s, column].value)
    ]
    if len(comparable) < 2:
        return None
    top = (max if comparable[0].higher_is_better else min)(line.value for line in comparable)
    shown = style.number(top, scaled=scaled)
    return shown if sum(style.number(line.value, scaled=scaled) == shown for line in comparable) == 1 else None


def _footnote(
    lines: Sequence[Summary],
    comparisons: Sequence[SystemComparison],
    style: PaperStyle,
    permutations: int,
    correction: str,
    cases: set[int],
    unscaled: Sequence[str],
) -> str:
    sentences = ["Bold: best value, unless two print the same."]
    if style.intervals and lines:
        sentences.append(f"Brackets: {100 * lines[0].level:.3g} % bootstrap intervals.")
    if comparisons:
        corrected = {"holm": ", Holm-corrected", "bh": ", Benjamini-Hochberg-corrected"}.get(correction, "")
        baseline = style.names.get(comparisons[0].baseline, comparisons[0].baseline)
        sentences.append(f"†: differs from {baseline} (paired permutation test{corrected}, p < {ALPHA}).")
        if permutations:
            sentences.append(
                f"The smallest p that {permutations:,} permutations give is {1 / (permutations + 1):.1g}."
            )
    if style.scale != 1:
        but = f" but for {', '.join(sorted(unscaled))}, whose range is another" if unscaled else ""
        sentences.append(f"Values and intervals times {style.scale:g}{but}.")
    min_cases, max_cases = min(cases, default=0), max(cases, default=0)
    sentences.append(
        f"n = {max_cases} reports per system."
        if min_cases == max_cases
        else f"n = {min_cases} to {max_cases} reports per system."
    )
    if any(line.column.endswith("_embedded") for line in lines):
        sentences.append("Embedded: radgauge's own models, not comparable with published numbers.")
    return " ".join(sentences)


def p_paper(p: float) -> str:
    """A p value as papers print it.

    >>> p_paper(0.0312), p_paper(0.0004), p_paper(float("nan"))
    ('0.031', '< 0.001', '–')
    """
    return "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def bibliography(judges: Sequence[str]) -> str:
    """BibTeX of the papers behind these metrics, and of radgauge.

    >>> "@article{radcliq," in bibliography(["radcliq", "errors"])
    True
    """
    entries = _entries()
    keys = [name for judge in judges for name in _PAPERS.get(judge, (judge,)) if name in entries]
    return "\n".join(entries[name] for name in dict.fromkeys([*keys, "radgauge"]))


_PAPERS = {
    "radcliq": ("radcliq", "radgraph", "bertscore", "chexbert", "bleu"),
    "chexbert_similarity": ("chexbert",),
    "errors": ("radcliq", "comet"),
    "radgraph": ("radgraph", "radcliq"),
    "lay_fidelity": ("layman",),
}
"""Papers behind a metric where it is not just one of its own name."""


@functools.cache
def _entries() -> dict[str, str]:
    text = (files("radgauge.render") / "data" / "references.bib").read_text(encoding="utf-8")
    text = text.replace("VERSION", radgauge.__version__)
    return {match[1]: match[0] for match in re.finditer(r"@\w+\{(\w+),\n.*?\n\}\n", text, re.S)}
