"""Which headline orders systems as raters do: the mean of `errors_quality`, or `errors_f1` over the set?

    python benchmarks/system_headline.py [--data DIR] [--card docs/metrics/errors.md]

Three tables. Systems with judged pairs: both headlines beside the mean rating, and how often two systems are in
the order of their ratings when studies are drawn with replacement. Mixed systems: for each source with two judged
candidates a study, systems that choose the better rated one with a probability from 0 to 1; how often two of them
are in the order of their ratings. Systems without ratings: where a constant normal report and the most frequent
reference land. The data is not part of the package.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from judged import Line, as_text
from judged_data import DATA, judged_sources, system_texts
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.core.scores import Scores
from radgauge.io.judgments import Judgments
from radgauge.run.score import score

Index = NDArray[np.intp]
HEADLINES = ("errors_quality", "errors_f1", "errors_significant")
CONSTANT = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."
DRAWS = 500
START, END = "<!-- system_headline.py -->", "<!-- end of system_headline.py -->"


def values_of(scores: Scores, cases: Index) -> list[float]:
    """Return the values of HEADLINES over cases, oriented so that larger is better."""
    corpus = scores.corpus_scores(*sums(scores.rows[cases]))
    found = [corpus[scores.columns.index(name)] for name in HEADLINES]
    return [
        value if name != "errors_significant" else -value for name, value in zip(HEADLINES, found, strict=True)
    ]


def in_order(ratings: list[float], values: list[list[float]]) -> list[list[float]]:
    """Return 1, 0.5 or 0 for every two systems and headline: same order as the ratings, tied or none, other."""
    found = []
    for a, b in itertools.combinations(range(len(ratings)), 2):
        if ratings[a] != ratings[b]:
            signs = np.nan_to_num(np.sign(np.subtract(values[a], values[b]))) * np.sign(ratings[a] - ratings[b])
            found.append(((signs + 1) / 2).tolist())
    return found


def drawn_systems(judgments: Judgments, scores: Scores, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return shares of pairs of systems in the order of the raters, on studies drawn with replacement."""
    rating = judgments.mean_ratings().headline
    studies = defaultdict(list)
    for index, case in enumerate(judgments.cases):
        studies[case.id].append(index)
    groups, system = list(studies.values()), np.array([case.system for case in judgments.cases])
    found: list[list[float]] = []
    for _ in range(DRAWS):
        drawn = np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])
        parts = [drawn[system[drawn] == name] for name in dict.fromkeys(system.tolist())]
        parts = [part for part in parts if len(part)]
        found += in_order([float(rating[p].mean()) for p in parts], [values_of(scores, p) for p in parts])
    return np.array(found)


def mixed_systems(judgments: Judgments, scores: Scores, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return shares of pairs of mixed systems in the order of the raters."""
    rating = judgments.mean_ratings().headline
    studies = defaultdict(list)
    for index, case in enumerate(judgments.cases):
        studies[case.id].append(index)
    pairs = np.array([sorted(both, key=lambda i: rating[i]) for both in studies.values() if len(both) == 2])
    found: list[list[float]] = []
    for _ in range(DRAWS // 5):
        chosen = [
            pairs[np.arange(len(pairs)), (rng.random(len(pairs)) < p).astype(np.intp)]
            for p in np.linspace(0, 1, 11)
        ]
        found += in_order([float(rating[c].mean()) for c in chosen], [values_of(scores, c) for c in chosen])
    return np.array(found)


def by_source(judgments: Judgments) -> Judgments:
    """Return RadPref's judgments with the generator as the system instead of the position on the page."""
    cases = tuple(replace(case, system=case.meta.get("source") or case.system) for case in judgments.cases)
    return replace(judgments, cases=cases)


def _part(judgments: Judgments, inside: NDArray[np.bool_]) -> Judgments:
    cases = tuple(case for case, chosen in zip(judgments.cases, inside, strict=True) if chosen)
    return replace(judgments, cases=cases, ratings={r: s.take(inside) for r, s in judgments.ratings.items()})


def rated(sources: Mapping[str, Judgments], every: Mapping[str, Scores]) -> list[Line]:
    """Systems with judged pairs."""
    lines: list[Line] = [("source", "system", "pairs", "mean rating", *HEADLINES)]
    for name in ("radpref_dev", "iu_pairs"):
        judgments, rating = by_source(sources[name]), sources[name].mean_ratings().headline
        system = np.array([case.system for case in judgments.cases])
        rows = []
        for label in dict.fromkeys(system.tolist()):
            own = np.flatnonzero(system == label)
            rows.append((float(rating[own].mean()), label, len(own), values_of(every[name], own)))
        for mean, label, n, values in sorted(rows, reverse=True):
            lines.append((name, label, str(n), f"{mean:.2f}", *(f"{abs(v):.3f}" for v in values)))
    return lines


def orders(sources: Mapping[str, Judgments], every: Mapping[str, Scores]) -> list[Line]:
    """Shares of pairs of systems in the order of the raters."""
    lines: list[Line] = [("systems", "source", "studies", *HEADLINES)]
    makers: dict[str, Callable[..., NDArray[np.float64]]] = {"real": drawn_systems, "mixed": mixed_systems}
    for kind, make in makers.items():
        for name, judgments in sources.items():
            if kind == "real" and name not in ("radpref_dev", "iu_pairs"):
                continue
            recall = every[name].columns.index("errors_recall")
            abnormal = ~np.isnan(every[name].values[:, recall])
            for stratum, inside in (("all", np.ones_like(abnormal)), ("abnormal", abnormal)):
                part = _part(by_source(judgments), inside)
                found = make(part, every[name].take(inside), np.random.default_rng(0))
                if len(found):
                    lines.append((kind, name, stratum, *(f"{share:.3f}" for share in found.mean(axis=0))))
    return lines


def unrated(data: Path, reading: Readings) -> list[Line]:
    """All systems of both IU X-ray splits, constant reports among them."""
    lines: list[Line] = [("split", "system", *HEADLINES, "errors_precision", "errors_recall")]
    with (data / "iu_xray_systems" / "test590_systems.csv").open(newline="", encoding="utf-8") as file:
        large = {row["id"]: row for row in csv.DictReader(file)}
    for split, rows in (("382", system_texts(data)), ("590", large)):
        usual = Counter(row["reference"] for row in rows.values()).most_common(1)[0][0]
        first = next(iter(rows.values()))
        names = [n for n in first if n not in ("id", "uid") and not n.startswith("reference")]
        cases = [
            Case(study, text, (row["reference"],), name)
            for study, row in rows.items()
            for name, text in {**{n: row[n] for n in names}, "most frequent": usual, "constant": CONSTANT}.items()
        ]
        errors = score(cases, ["errors"], reading=reading)["errors"]
        table = []
        for name in (*names, "most frequent", "constant"):
            own = errors.of_system(name)
            corpus = own.corpus_scores(*sums(own.rows))
            shown = [float(corpus[errors.columns.index(column)]) for column in lines[0][2:]]
            table.append((shown[1], name, shown))
        for _, name, shown in sorted(table, reverse=True):
            lines.append((split, name, *(f"{value:.3f}" for value in shown)))
    return lines


def main() -> None:
    """Print the tables, or put them into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--card", type=Path, help="put the tables between the marks of this page")
    options = parser.parse_args()
    reading = Readings()
    sources = judged_sources(options.data)
    every = {name: score(each.cases, ["errors"], reading=reading)["errors"] for name, each in sources.items()}
    tables = {
        "Rated systems": rated(sources, every),
        "Share of pairs of systems in the order of their ratings": orders(sources, every),
        "Systems without ratings": unrated(options.data, reading),
    }
    markdown = options.card is not None
    text = "\n".join(as_text(title, lines, markdown=markdown) for title, lines in tables.items())
    print(text)
    if options.card is not None:
        before, _, rest = options.card.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        options.card.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
