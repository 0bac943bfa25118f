"""How well the judges follow people and a second judge, per source, region and system.

    python benchmarks/judged.py [--data DIR] [--metrics NAMES] [--fit] [--systems] [--markdown] [--card PAGE]

Kendall's tau-b of every judge with the rating of judged pairs, with the weights of `errors` fitted on all other
sources if `--fit` is given; how many of the region rankings put the faithful rewording above every wrong report;
how many faithful rewordings are charged with a significant error; what the matching makes of labelled statements;
and the order of whole systems, a constant
report among them. The data is not part of the package.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judged_data import DATA, is_faithful, judged_sources, rankings, region_of, statements, system_texts
from numpy.typing import NDArray
from scipy.stats import rankdata

from radgauge.analysis.fit_errors import fit_sources
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.findings.error import OMITTED
from radgauge.io.judgments import Judgments
from radgauge.metrics.errors import Errors
from radgauge.run.score import score
from radgauge.stats.coefficients import association

Line = tuple[str, ...]
COLUMNS = {
    "errors_quality": "errors",
    "errors_total": "errors",
    "errors_significant": "errors",
    "ratescore_embedded": "ratescore",
    "rouge_l": "rouge",
}


def agreement(sources: Mapping[str, Judgments], results: Mapping[str, Results]) -> list[Line]:
    """tau-b with the rating, per source and, where a source has several, per region."""
    lines: list[Line] = [("source", "pairs", *COLUMNS, "counts")]
    for name, judgments in sources.items():
        rating = judgments.mean_ratings().headline
        lines.append(_line(name, results[name], rating, judgments, np.ones(len(rating), dtype=bool)))
        modality = [region_of(case.meta.get("modality", "")) for case in judgments.cases]
        if len(set(modality)) > 1:
            for region, _ in Counter(modality).most_common():
                inside = np.array([each == region for each in modality])
                lines.append(_line(f"- {region}", results[name], rating, judgments, inside))
    return lines


def _line(
    name: str, results: Results, rating: NDArray[Any], judgments: Judgments, inside: NDArray[np.bool_]
) -> Line:
    taus = [
        association(results[judge].oriented(column)[inside], rating[inside]) if judge in results else np.nan
        for column, judge in COLUMNS.items()
    ]
    counted = -judgments.mean_errors().column("errors_total")[inside]
    taus.append(association(results["errors"].oriented("errors_total")[inside], counted))
    judged = int((~np.isnan(results["errors"].headline[inside])).sum())
    return (name, f"{judged}/{int(inside.sum())}", *(f"{tau:.3f}" for tau in taus))


def faithful(sources: Mapping[str, Judgments], results: Mapping[str, Results]) -> list[Line]:
    """How many faithful rewordings are charged with an error that matters, and how many with any."""
    lines: list[Line] = [("source", "faithful", "significant error", "any error", "mean quality")]
    for name, judgments in sources.items():
        kept = is_faithful(judgments)
        errors = results[name]["errors"]
        found, total = errors.column("errors_significant")[kept], errors.column("errors_total")[kept]
        quality = np.nanmean(errors.headline[kept])
        lines.append(
            (name, str(kept.sum()), f"{np.mean(found > 0):.2f}", f"{np.mean(total > 0):.2f}", f"{quality:.2f}")
        )
    return lines


def confidence(sources: Mapping[str, Judgments], results: Mapping[str, Results]) -> list[Line]:
    """How far `errors_quality` places a pair from where the rating does, by how much was understood."""
    shares: list[float] = []
    gaps: list[float] = []
    for name, judgments in sources.items():
        errors, rating = results[name]["errors"], judgments.mean_ratings().headline
        judged = ~np.isnan(errors.headline)
        ours, theirs = rankdata(errors.headline[judged]), rankdata(rating[judged])
        gaps += (np.abs(ours - theirs) / judged.sum()).tolist()
        shares += errors.column("errors_coverage")[judged].tolist()
    lines: list[Line] = [("errors_coverage", "pairs", "mean distance in rank, share of the set")]
    bounds = (0.0, 0.8, 0.9, 0.95, 1.01)
    for low, high in itertools.pairwise(bounds):
        inside = [gap for share, gap in zip(shares, gaps, strict=True) if low <= share < high]
        if inside:
            lines.append((f"{low:g} to {min(high, 1):g}", str(len(inside)), f"{np.mean(inside):.3f}"))
    return lines


def ranking(data: Path, metrics: Sequence[str], reading: Readings) -> list[Line]:
    """Of the region rankings: rewording above every wrong report, and above each kind."""
    every = rankings(data)
    if not every:
        return []
    cases = [
        Case(each.id, text, (each.reference,), kind)
        for each in every
        for kind, text in {"reworded": each.reworded, **each.wrong}.items()
    ]
    results = score(cases, list(metrics), reading=reading)
    kinds = list(every[0].wrong)
    lines: list[Line] = [("judge", f"beats all of {len(every)}", *kinds)]
    for column, judge in COLUMNS.items():
        if judge not in results:
            continue
        values = results[judge].oriented(column).reshape(len(every), -1)
        better = values[:, :1] > values[:, 1:]
        counts = better.sum(axis=0)
        lines.append((column, str(int(better.all(axis=1).sum())), *map(str, counts)))
    return lines


def labelled(data: Path, reading: Readings) -> list[Line]:
    """Share of labelled statements with which the matching finds fault: what a statement adds, denies or changes.

    What the context says and the statement does not is no fault of a statement.
    """
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    errors = Errors()
    for each in statements(data):
        kind = f"{each.label}, {'normal' if each.normal else 'a finding'}"
        judged = errors.profile(Case("", each.statement, (each.context,)), reading=reading)
        faults = [e for e in judged[0].errors if e.category != OMITTED or e.spans] if judged else []
        found[kind].append((bool(faults), any(e.significant for e in faults)))
    if not found:
        return []
    lines: list[Line] = [("statement", "number", "any fault", "significant fault")]
    for kind in sorted(found):
        shares = np.mean(found[kind], axis=0)
        lines.append((kind, str(len(found[kind])), f"{shares[0]:.3f}", f"{shares[1]:.3f}"))
    return lines


def systems(sources: Mapping[str, Judgments], results: Mapping[str, Results]) -> list[Line]:
    """Mean rating and mean headline of each system that was judged."""
    judgments = sources["iu_pairs"]
    rating = judgments.mean_ratings().headline
    errors = results["iu_pairs"]["errors"]
    of = np.array([case.system for case in judgments.cases])
    means: list[tuple[float, str, int, list[float]]] = []
    for name in dict.fromkeys(of):
        inside = of == name
        values = [float(np.nanmean(errors.column(column)[inside])) for column in errors.columns[:3]]
        means.append((float(rating[inside].mean()), str(name), int(inside.sum()), values))
    means.sort(reverse=True)
    lines: list[Line] = [("system", "pairs", "mean rating", *errors.columns[:3])]
    lines += [(name, str(n), f"{r:.2f}", *(f"{v:.3f}" for v in values)) for r, name, n, values in means]
    taus = [
        association([m[3][i] * (1 if errors.directions[i] else -1) for m in means], [m[0] for m in means])
        for i in range(3)
    ]
    lines.append(("tau-b of system means", "", "", *(f"{tau:.2f}" for tau in taus)))
    return lines


def all_systems(data: Path, reading: Readings) -> list[Line]:
    """Every system of the 382 studies, the constant template and the most frequent reference among them."""
    texts = system_texts(data)
    usual = Counter(row["reference"] for row in texts.values()).most_common(1)[0][0]
    rows = {uid: {**row, "most_frequent_report": usual} for uid, row in texts.items()}
    names = [name for name in next(iter(rows.values())) if name not in ("uid", "reference")]
    cases = [Case(uid, row[name], (row["reference"],), name) for uid, row in rows.items() for name in names]
    errors = score(cases, ["errors"], reading=reading)["errors"]
    shown = [c for c in SYSTEM_COLUMNS if c in errors.columns]
    lines: list[Line] = [("system", *shown)]
    found: dict[str, list[float]] = defaultdict(list)
    for name in names:
        mine = errors.of_system(name)
        totals, counts = np.nansum(mine.rows, axis=0), (~np.isnan(mine.rows)).sum(axis=0).astype(float)
        values = mine.corpus_scores(totals, counts)
        found[name] = [float(values[errors.columns.index(column)]) for column in shown]
    ordered = sorted(found.items(), key=lambda item: -item[1][0])
    return lines + [(name, *(f"{value:.3f}" for value in values)) for name, values in ordered]


SYSTEM_COLUMNS = ("errors_quality", "errors_total", "errors_significant", "errors_recall", "errors_false_alarms")


def left_out(sources: Mapping[str, Judgments], reading: Readings) -> list[Line]:
    """tau-b of `errors_quality` on each source with weights fitted on the others."""
    found = fit_sources(sources, reading=reading)
    lines: list[Line] = [("source left out", "weights set by hand", "fitted on the others", "fitted on all")]
    return lines + [
        (name, f"{found.start[name]:.3f}", f"{found.left_out[name]:.3f}", f"{found.fitted[name]:.3f}")
        for name in sources
    ]


def as_text(title: str, lines: Sequence[Line], *, markdown: bool) -> str:
    """A table for people or for a page; "" if there is nothing to show."""
    if not lines:
        return ""
    if markdown:
        head, *rest = lines
        rows = ["| " + " | ".join(row) + " |" for row in (head, tuple("---" for _ in head), *rest)]
        return "\n".join([f"**{title}**", "", *rows, ""])
    widths = [max(len(row[i]) for row in lines if i < len(row)) for i in range(len(lines[0]))]
    rows = ["  ".join(f"{c:{'<' if i == 0 else '>'}{widths[i]}}" for i, c in enumerate(row)) for row in lines]
    return "\n".join([title, *rows, ""])


START, END = "<!-- judged.py -->", "<!-- end of judged.py -->"


def into_card(card: Path, text: str, marks: tuple[str, str] = (START, END)) -> None:
    """Put the tables between the two marks of a card."""
    before, _, rest = card.read_text(encoding="utf-8").partition(marks[0])
    after = rest.partition(marks[1])[2]
    card.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}", encoding="utf-8")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--metrics", default="errors,ratescore,rouge")
    parser.add_argument("--fit", action="store_true", help="fit weights with one source left out in turn")
    parser.add_argument("--systems", action="store_true", help="all systems of the 382 IU X-ray studies")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--card", type=Path, help="put the tables, as Markdown, between the marks of this page")
    options = parser.parse_args()
    metrics = options.metrics.split(",")
    reading = Readings()
    sources = judged_sources(options.data)
    results = {name: score(each.cases, metrics, reading=reading) for name, each in sources.items()}
    tables = {
        "tau-b with the rating (counts: of error counts with those of the raters)": agreement(sources, results),
        "Faithful rewordings": faithful(sources, results),
        "Coverage and distance from the raters": confidence(sources, results),
        "Region rankings: the rewording scores higher": ranking(options.data, metrics, reading),
    }
    tables["Labelled statements: fault is found"] = labelled(options.data, reading)
    if "iu_pairs" in sources:
        tables["Systems with judged pairs"] = systems(sources, results)
    if options.fit:
        tables["errors_quality, source left out"] = left_out(sources, reading)
    if options.systems:
        tables["All systems of 382 studies"] = all_systems(options.data, reading)
    markdown = options.markdown or options.card is not None
    text = "\n".join(as_text(title, lines, markdown=markdown) for title, lines in tables.items() if lines)
    print(text)
    if options.card is not None:
        into_card(options.card, text)


if __name__ == "__main__":
    main()
