"""Judged pairs of reports by source, and the rankings of other regions."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Case

RANKED = ("reworded", "negated", "misplaced", "incomplete")


@dataclass(frozen=True)
class Pair:
    """A candidate against its reference, and the mean rating (1 to 5, 5 is best)."""

    source: str
    study: str
    case: Case
    rating: float = field(default=float("nan"))


def judged_pairs(data: Path) -> list[Pair]:
    """RadPref development, IU pairs, written chest and written regions."""
    found: list[Pair] = []
    with (data / "radpref_dev" / "radpref_dev.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            case = Case(row["id"], row["candidate"], (row["reference"],), row["cand"])
            found.append(Pair("radpref", row["id"], case, float(row["mean_rating"])))
    with (data / "iu_xray_systems" / "mrg_rl_test382_systems.csv").open(encoding="utf-8") as stream:
        texts = {row["uid"]: row for row in csv.DictReader(stream)}
    ratings: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in _lines(data / "judged" / "iu_pairs.jsonl"):
        ratings[item["id"], item["system"]].append(item["rating"])
    for (study, system), values in ratings.items():
        case = Case(study, texts[study][system], (texts[study]["reference"],), system)
        found.append(Pair("iu", study, case, float(np.mean(values))))
    for source in ("written_chest", "written_regions"):
        for item in _lines(data / "judged" / f"{source}.jsonl"):
            meta = {key: str(item[key]) for key in ("age", "indication") if item.get(key)}
            case = Case(item["id"], item["candidate"], (item["reference"],), item["cand"], meta=meta)
            found.append(Pair(source, item["id"], case, float(item["rating"])))
    return found


def ranked_pairs(data: Path) -> list[Pair]:
    """Four candidates of each reference: a faithful rewording and three wrong reports."""
    return [
        Pair("rankings", item["id"], Case(item["id"], item[kind], (item["reference"],), kind))
        for item in _lines(data / "judged" / "region_rankings.jsonl")
        for kind in RANKED
    ]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
