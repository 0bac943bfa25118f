"""Judged report pairs of several sources, and ranking quadruples, for the benchmarks and the fit of the weights.

None of it is part of the package: `../shared/data/judged` or the folder of $RADGAUGE_DATA.
"""

from __future__ import annotations

import csv
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import CATEGORIES
from radgauge.io.judgments import Judgments, read_judgments
from radgauge.io.judgments.judgments import Count, error_scores, rating_scores

DATA = Path(os.environ.get("RADGAUGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
HELD_OUT = {
    "held_out": Path(__file__).parent / "held_out" / "pairs.jsonl",
    "held_out_second": Path(__file__).parent / "held_out" / "second" / "pairs.jsonl",
    "further": Path(__file__).parent / "held_out" / "further" / "pairs.jsonl",
}
"""Pairs that were held out until a first run of the metric was reported; development data since."""
OPEN_I = "iu_xray/indiana_reports.csv"
SYSTEMS = "iu_xray_systems/mrg_rl_test382_systems.csv"
SIGNIFICANT = frozenset({"urgent", "actionable"})
CATEGORY = {category.key: category.number for category in CATEGORIES} | {
    "comparison_added": 5,
    "comparison_omitted": 6,
    "uncertainty_added": 7,
    "uncertainty_omitted": 8,
    "descriptor": 4,  # not among the eight: nearest to severity
}


@dataclass(frozen=True, slots=True)
class Ranking:
    """A reference, a faithful rewording of it and reports that are wrong in a known way."""

    id: str
    reference: str
    reworded: str
    wrong: Mapping[str, str]


def judged_sources(data: Path = DATA) -> dict[str, Judgments]:
    """Source -> its judgments; sources that are not on this machine are left out."""
    found: dict[str, Judgments] = {}
    if (path := data / "radpref_dev" / "radpref_dev.json").exists():
        found["radpref_dev"] = read_judgments(path)
    folder = data / "judged"
    if (folder / "iu_pairs.jsonl").exists() and (data / SYSTEMS).exists():
        texts = system_texts(data)
        rows = [
            {**row, "reference": texts[row["id"]]["reference"], "candidate": texts[row["id"]][row["system"]]}
            for row in json_lines(folder / "iu_pairs.jsonl")
        ]
        found["iu_pairs"] = _judgments("iu_pairs", rows)
    for name in ("written_chest", "written_regions"):
        if (folder / f"{name}.jsonl").exists():
            found[name] = _judgments(name, json_lines(folder / f"{name}.jsonl"))
    found |= {name: _judgments(name, json_lines(path)) for name, path in HELD_OUT.items()}
    if (folder / "vlm_style.jsonl").exists() and (data / OPEN_I).exists():
        found["vlm_style"] = _judgments("vlm_style", _vlm_style(data))
    return found


def _vlm_style(data: Path) -> list[dict[str, Any]]:
    """Rows of vlm_style.jsonl with the reference and the indication of their study; systems by row number."""
    with (data / OPEN_I).open(newline="", encoding="utf-8") as file:
        studies = {row["uid"]: row for row in csv.DictReader(file)}
    rows = []
    for number, row in enumerate(json_lines(data / "judged" / "vlm_style.jsonl")):
        study = studies[row["id"]]
        reference = f"{study['findings']} {study['impression']}"
        rows.append({**row, "system": str(number), "reference": reference, "indication": study["indication"]})
    return rows


def system_texts(data: Path = DATA) -> dict[str, dict[str, str]]:
    """Study id -> the reference and every system's report of the 382 IU X-ray studies."""
    with (data / SYSTEMS).open(newline="", encoding="utf-8") as file:
        return {row["uid"]: row for row in csv.DictReader(file)}


def rankings(data: Path = DATA) -> list[Ranking]:
    """The ranking quadruples; none where they are not on this machine."""
    path = data / "judged" / "region_rankings.jsonl"
    if not path.exists():
        return []
    wrong = ("negated", "misplaced", "incomplete")
    return [
        Ranking(row["id"], row["reference"], row["reworded"], {kind: row[kind] for kind in wrong})
        for row in json_lines(path)
    ]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement on a report: supported by it, contradicted, or not mentioned."""

    context: str
    statement: str
    label: str
    normal: bool


def statements(data: Path = DATA) -> list[Statement]:
    """The labelled statements; none where they are not on this machine."""
    path = data / "judged" / "statements.jsonl"
    if not path.exists():
        return []
    return [
        Statement(row["context"], row["statement"], row["label"], row["tier"] == "normal")
        for row in json_lines(path)
    ]


def is_faithful(judgments: Judgments) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which candidates say the same in other words: no significant error, a rating of 4.5 or more."""
    significant = judgments.mean_errors().column("errors_significant")
    faithful: np.ndarray[Any, np.dtype[np.bool_]] = (significant == 0) & (judgments.mean_ratings().headline >= 4.5)
    return faithful


def region_of(modality: str) -> str:
    """The body region of a modality such as "MRI knee" or "CT head", in the groups that the table shows."""
    words = modality.lower()
    groups = {
        "brain and head": ("head", "brain"),
        "spine": ("spine",),
        "joints and bone": ("knee", "shoulder", "ankle", "wrist", "hip", "hands", "bone"),
        "chest": ("chest", "pulmonary"),
        "abdomen and pelvis": ("abdomen", "kidney", "pelvis", "swallow"),
        "breast": ("mammo", "breast"),
        "vessels": ("vascular", "angiography", "carotid", "aorta"),
        "pregnancy": ("obstetric",),
    }
    return next((name for name, keys in groups.items() if any(key in words for key in keys)), "other")


def json_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _judgments(name: str, rows: Sequence[Mapping[str, Any]]) -> Judgments:
    cases: dict[Key, Case] = {}
    ratings: dict[str, dict[Key, float]] = defaultdict(dict)
    for row in rows:
        case = _case(row)
        cases.setdefault(case.key, case)
        ratings[str(row.get("judge", 1))][case.key] = float(row["rating"])
    keys = tuple(cases)
    judged = {rater: set(given) for rater, given in ratings.items()}
    return Judgments(
        name,
        tuple(cases.values()),
        error_scores(_counts(rows), keys=keys, signature=name, judged=judged, categories=range(1, 9)),
        rating_scores(ratings, keys=keys, signature=name),
    )


def _case(row: Mapping[str, Any]) -> Case:
    meta = {name: str(row[name]) for name in ("modality", "age", "indication") if row.get(name)}
    system = str(row.get("system") or row.get("cand"))
    return Case(str(row["id"]), row["candidate"], (row["reference"],), system, meta=meta)


def _counts(rows: Sequence[Mapping[str, Any]]) -> Iterable[Count]:
    for row in rows:
        for error in row["errors"]:
            known = error.get("significance")
            significant = error["significant"] if known is None else known in SIGNIFICANT
            yield _case(row).key, str(row.get("judge", 1)), CATEGORY[error["category"]], significant, 1.0
