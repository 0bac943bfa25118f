"""Matches on disk: a table that `radgauge score` reads as candidates, and how it came about beside it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import radgauge
from radgauge.analysis.oracle.find import Retrieved
from radgauge.core.errors import UsageError
from radgauge.core.files import replacing, write_file

ENDINGS = (".jsonl", ".csv")


def check_matches_path(path: Path) -> None:
    """Check before the work that matches can be written there."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"matches are written as {' or '.join(ENDINGS)}, got {path.name!r}")


def about_path(path: Path) -> Path:
    """Path of the settings behind a file of matches."""
    return path.with_name(f"{path.name}.about.json")


def write_matches(
    path: Path,
    matches: Sequence[Retrieved],
    *,
    system: str,
    text: bool = True,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write one record per match, and signatures, versions and hashes to a second file beside it.

    Args:
        path: A .jsonl or .csv file.
        matches: What `oracle` returned.
        system: What the found reports are called as a system; further ranks get their number.
        text: Whether to write the reports themselves, as `candidate`.
        about: For the second file.
    """
    check_matches_path(path)
    records = [_record(match, system, text) for match in matches]
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        elif records:
            writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            writer.writeheader()
            writer.writerows(records)
    header = {"radgauge": radgauge.__version__, "system": system, **(about or {})}
    write_file(about_path(path), json.dumps(header, ensure_ascii=False, indent=1) + "\n")


def _record(match: Retrieved, system: str, text: bool) -> dict[str, Any]:
    return {
        "id": match.id,
        "system": system if match.rank == 1 else f"{system} {match.rank}",
        "rank": match.rank,
        "corpus_id": match.corpus_id or None,
        "score": None if math.isnan(match.score) else match.score,
        "frequency": match.frequency,
        "note": match.note,
        **({"candidate": match.text} if text else {}),
    }
