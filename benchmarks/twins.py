"""Real texts outside the chest, tested without labels: `python benchmarks/twins.py [--half HALF] [--fresh FILE]`.

Structured CT and MR reports are judged against the prose that they were made of: what a faithful twin is charged
with, and whether it scores above the same prose with left and right exchanged and above another study of the kind.
The impression of a chest CT is judged against its own findings in the same way. Rules are made on every other text
(`--half read`); the others (`--half unread`) show what the rules do on texts that nobody looked at.

`--fresh FILE` judges structured reports (JSONL: id, text, opposite, region and, where there is one, the same in
prose) each against itself, its opposite and its prose. The data is not part of the package.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from judged import into_card
from judged_data import DATA, json_lines

import radgauge as rg

METRICS = ("errors", "ratescore", "rouge")
COLUMNS = ("errors_quality", "ratescore_embedded", "rouge_l")
_BLANK = frozenset(
    [
        "none",
        "null",
        "n/a",
        "not specified",
        "not mentioned",
        "not provided",
        "not evaluated",
        "not reported",
        "not applicable",
        "not available",
        "not described",
        "no information",
        "unknown",
    ]
)
_ASIDE = re.compile(
    "INDICATION|TECHNIQUE|COMPARISON|CLINICAL|HISTORY|CONTRAST|RADIATION|PROCEDURE|EXAM|DATE|TITLE"
)
_SIDES = {"left": "right", "right": "left"}
_N_IMPRESSIONS = 200


class Row(NamedTuple):
    """A candidate for a reference, and which of a study's candidates it is."""

    study: str
    unread: bool
    reference: str
    candidate: str
    role: str


def entries(node: Any, name: str = "") -> list[tuple[str, str]]:
    """Labels and values of a nested structure that say something."""
    if isinstance(node, dict):
        return [entry for key, value in node.items() for entry in entries(value, key)]
    if isinstance(node, list):
        return [entry for value in node for entry in entries(value, name)]
    value = str(node).strip()
    return [(name, value)] if value and value.lower().rstrip(".") not in _BLANK else []


def swapped(text: str) -> str:
    """The text with left and right exchanged."""

    def other(match: re.Match[str]) -> str:
        word = _SIDES[match[0].lower()]
        return word.upper() if match[0].isupper() else word.capitalize() if match[0][0].isupper() else word

    return re.sub(r"\b(left|right)\b", other, text, flags=re.IGNORECASE)


def findings_of(text: str) -> str:
    """What follows the heading, with the blanks that are missing behind stops."""
    heading = re.search(r"FINDINGS\s*:?", text, re.IGNORECASE)
    return re.sub(r"([a-z0-9)])\.([A-Z])", r"\1. \2", text[heading.end() :] if heading else text)


def structured_rows(data: Path, rng: random.Random) -> Iterator[Row]:
    """Structured twins of CT and MR reports; every second one is unread."""
    count = 0
    text = (data / "gpt4sr" / "structured_reports_dev.json").read_text(encoding="utf-8")
    for kind, reports in json.loads(text).items():
        for number, report in reports.items():
            reference, structured = findings_of(report["FREE TEXT"]), report["STRUCTURED"]
            twin = str(structured)
            if isinstance(structured, dict | list):
                twin = " ".join(
                    f"{name.title()}: {value.rstrip('.')}."
                    for name, value in entries(structured)
                    if not _ASIDE.search(name.upper())
                )
            study, unread = f"sr-{kind}-{number}", count % 2 == 1 or int(number) % 2 == 1
            yield Row(study, unread, reference, twin, "twin")
            if others := [other for other in reports if other != number]:
                yield Row(study, unread, reference, findings_of(reports[rng.choice(others)]["FREE TEXT"]), "other")
            if (wrong := swapped(reference)) != reference:
                yield Row(study, unread, reference, wrong, "swapped")
            count += 1


def impression_rows(data: Path, rng: random.Random) -> Iterator[Row]:
    """Impressions of chest CTs against their findings; every second row of the table is unread."""
    csv.field_size_limit(10**9)
    with (data / "ct_rate" / "ct_rate_dev.csv").open(encoding="utf-8", newline="") as file:
        numbered = [(number, row) for number, row in enumerate(csv.DictReader(file))]
    studies = [
        (number, row)
        for number, row in numbered
        if len(row["Findings_EN"].split()) > 30 and len(row["Impressions_EN"].split()) > 4
    ]
    for number, row in random.Random(1).sample(studies, _N_IMPRESSIONS):
        study, unread, reference = f"ct-{row['VolumeName']}", number % 2 == 1, row["Findings_EN"]
        yield Row(study, unread, reference, row["Impressions_EN"], "twin")
        yield Row(study, unread, reference, rng.choice(studies)[1]["Impressions_EN"], "other")
        if (wrong := swapped(row["Impressions_EN"])) != row["Impressions_EN"]:
            yield Row(study, unread, reference, wrong, "swapped")


def fresh_rows(path: Path) -> Iterator[Row]:
    """Structured reports with their opposites, and with their prose where the file has it."""
    for line in json_lines(path):
        yield Row(f"{line['region']}/{line['id']}", True, line["text"], line["text"], "twin")
        yield Row(f"{line['region']}/{line['id']}", True, line["text"], line["opposite"], "opposite")
        if line.get("prose"):
            yield Row(f"{line['region']}/{line['id']}", True, line["prose"], line["text"], "structured")
            yield Row(f"{line['region']}/{line['id']}", True, line["prose"], line["opposite"], "reversed")


Values = dict[str, dict[str, dict[str, float]]]  # study -> role -> column -> value


def judged(rows: Sequence[Row], metrics: Sequence[str] = METRICS) -> Values:
    """Every output of the metrics for every row."""
    cases = [rg.Case(row.study, row.candidate, (row.reference,), row.role) for row in rows]
    values: Values = defaultdict(lambda: defaultdict(dict))
    for scores in rg.score(cases, metrics).judges.values():
        for column in scores.columns:
            for case, value in zip(cases, scores.column(column), strict=True):
                values[case.id][case.system][column] = float(value)
    return values


def share_above(values: Values, first: str, second: str, column: str) -> tuple[float, int]:
    """How often one candidate of a study scores above another, ties by half, and of how many studies."""
    pairs = [
        (roles[first][column], roles[second][column])
        for roles in values.values()
        if first in roles and second in roles
    ]
    pairs = [pair for pair in pairs if not np.isnan(pair).any()]
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs]
    return (mean(wins) if wins else float("nan")), len(wins)


def mean_of(values: Mapping[str, Mapping[str, Mapping[str, float]]], role: str, column: str) -> float:
    """Mean of an output over the studies that have it."""
    return float(np.nanmean([roles[role][column] for roles in values.values() if role in roles]))


def print_twins(name: str, values: Values) -> None:
    """The figures of one set."""
    names = ("quality", "total", "false_finding", "omission", "significant", "low_confidence")
    shown = ", ".join(f"{column} {mean_of(values, 'twin', f'errors_{column}'):.2f}" for column in names)
    print(f"{name}, {len(values)} studies: {shown}")
    for column in COLUMNS:
        (a, n), (b, k) = (share_above(values, "twin", role, column) for role in ("swapped", "other"))
        print(f"  {column:20s} above swapped {a:.3f} ({n}), above another study {b:.3f} ({k})")
    wrong = [roles["swapped"] for roles in values.values() if "swapped" in roles]
    counts = [sum(roles[column] == 0 for roles in wrong) for column in ("errors_total", "errors_significant")]
    print(f"  swapped without any error {counts[0]} of {len(wrong)}, without a significant one {counts[1]}")


def card_of(sets: Mapping[str, Values]) -> str:
    """The figures of all sets as a Markdown table."""
    columns = ("quality", "total", "false_finding", "omission", "low_confidence")
    head = (
        "set",
        "studies",
        "quality",
        "errors",
        "false findings",
        "omissions",
        "low confidence",
        "above swapped",
    )
    rows = [head, tuple("---" for _ in head)]
    for name, values in sets.items():
        means = (f"{mean_of(values, 'twin', f'errors_{column}'):.2f}" for column in columns)
        above, count = share_above(values, "twin", "swapped", "errors_quality")
        rows.append((name, str(len(values)), *means, f"{above:.2f} of {count}"))
    return "\n".join(["", *("| " + " | ".join(row) + " |" for row in rows), ""])


def print_fresh(values: Values) -> None:
    """The figures of structured reports and their opposites, per region."""
    regions = defaultdict(list)
    for study in values:
        regions[study.split("/")[0]].append(study)
    for region, studies in [*regions.items(), ("all", list(values))]:
        part: Values = defaultdict(lambda: defaultdict(dict), {study: values[study] for study in studies})
        above, n = share_above(part, "twin", "opposite", "errors_quality")
        unseen = sum(part[study]["opposite"]["errors_total"] == 0 for study in studies)
        print(
            f"{region}: {len(studies)} reports, above the opposite {above:.2f} ({n}), quality "
            f"{mean_of(part, 'twin', 'errors_quality'):.2f} / {mean_of(part, 'opposite', 'errors_quality'):.2f}, "
            f"opposite charged with {mean_of(part, 'opposite', 'errors_total'):.1f} errors, with none {unseen}"
        )
        if any("structured" in part[study] for study in studies):
            faithful, k = share_above(part, "structured", "reversed", "errors_quality")
            print(
                f"  against prose: above the opposite {faithful:.2f} ({k}), quality "
                f"{mean_of(part, 'structured', 'errors_quality'):.2f}, "
                f"errors {mean_of(part, 'structured', 'errors_total'):.2f}"
            )


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--half", choices=("read", "unread", "all"), default="all")
    parser.add_argument("--card", type=Path, help="put the figures as a table between the marks of this page")
    parser.add_argument("--fresh", type=Path, help="structured reports with their opposites")
    options = parser.parse_args()
    if options.fresh:
        print_fresh(judged(list(fresh_rows(options.fresh)), ["errors"]))
        return
    rng = random.Random(0)
    sets = {
        "structured CT/MR twins": list(structured_rows(options.data, rng)),
        "CT impressions against findings": list(impression_rows(options.data, rng)),
    }
    values = {
        name: judged([row for row in rows if options.half in ("all", "unread" if row.unread else "read")])
        for name, rows in sets.items()
    }
    for name in values:
        print_twins(name, values[name])
    if options.card:
        into_card(options.card, card_of(values), ("<!-- twins.py -->", "<!-- end of twins.py -->"))


if __name__ == "__main__":
    main()
