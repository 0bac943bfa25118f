"""People check a random part of a built set, sentences or whole reports; what they reject leaves it.

Zhao et al., Layman's RRG (2024), section 3.1.1: 500 pairs, of which annotators found more than 98 % matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radgauge.core.errors import InputError, UsageError, shown
from radgauge.core.files import write_csv
from radgauge.core.wording import spreadsheet_cell
from radgauge.io.tables import read_table
from radgauge.io.tables.column_names import shown_names
from radgauge.lay.sentences import Pair
from radgauge.lay.sets import (
    REPORTS,
    SENTENCES,
    read_records,
    read_sets,
    read_verdicts,
    rejected_pairs,
    report_pair,
    write_report_set,
    write_sets,
    write_verdicts,
)
from radgauge.llm.journal import key_of
from radgauge.stats.resample import wilson_interval

COLUMNS = ("pair", "professional", "lay", "matches", "comment")
YES = frozenset({"yes", "y", "1", "true", "ok", "match"})
NO = frozenset({"no", "n", "0", "false", "wrong"})


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of a human check."""

    by: str  # Whose verdicts were read
    judged: int  # Pairs that they judged
    accepted: int  # Pairs that they found matched
    share: float  # Accepted of judged
    low: float  # Lower bound (Wilson)
    high: float
    drawn_from: int  # All pairs that enter the sentence set or a lay report
    copies: int  # Of these, near-copies that take another sentence's lay text
    blank: int  # Exported pairs without a verdict
    rejected: int  # Pairs that anybody rejected so far; they are in no set now
    pairs: int  # Pairs left in the set
    lay_reports: int  # Reports that still have a whole lay version


def export_check(folder: Path, path: Path, *, count: int = 500, seed: int = 0) -> int:
    """Write a random part of a set as a CSV file for people; returns how many pairs it holds.

    Args:
        folder: Folder of `build_sets` (pairs of sentences) or of `build_reports` (whole reports, each text once).
        path: The file; one that exists is not overwritten, somebody may have filled it in.
        count: Pairs.
        seed: Seed of the draw.
    """
    if path.exists():
        raise UsageError(f"{path} exists; it may hold verdicts, so choose another name")
    if count < 1:
        raise UsageError(f"the number of pairs must be 1 or more, got {count}")
    rejected = rejected_pairs(folder)
    pairs = [pair for pair in _in_set(folder) if pair not in rejected]
    if not pairs:
        raise InputError(f"the {_unit(folder)} set in {folder} is empty")
    drawn = np.random.default_rng(seed).choice(len(pairs), size=min(count, len(pairs)), replace=False)
    chosen = (pairs[index] for index in sorted(drawn.tolist()))
    write_csv(path, COLUMNS, ([_name(pair), *map(spreadsheet_cell, pair), "", ""] for pair in chosen))
    return len(drawn)


def import_check(folder: Path, path: Path, *, by: str = "", level: float = 0.95) -> Checked:
    """Read a file that people filled in, keep the verdicts, and take rejected pairs out of the sets.

    Args:
        folder: Folder of `build_sets` or `build_reports`.
        path: The file of `export_check` with the column "matches" filled in: yes or no; blank is not judged.
        by: Whose verdicts these are; the file's name if "". Verdicts of the same person are replaced.
        level: Coverage of the interval.
    """
    by = by or path.stem
    pairs_by_name = {_name(pair): pair for pair in _in_set(folder)}
    verdicts: dict[str, bool] = {}
    blank = 0
    table = read_table(path)
    for name in ("pair", "matches"):
        if name not in table.columns:
            raise InputError(
                f"{path.name} must have the columns pair and matches, got {shown_names(table.columns)}"
            )
    for record in table.records:
        key = str(record.values["pair"] or "").strip()
        answer = str(record.values["matches"] or "").strip().lower()
        where = table.location(record)
        if key not in pairs_by_name:
            raise InputError(f"{where}: this pair is not in the set of {folder}; was the set built anew?")
        if answer not in YES | NO | {""}:
            raise InputError(f"{where}: matches must be yes or no, got {shown(answer)}")
        if not answer:
            blank += 1
        elif verdicts.setdefault(key, answer in YES) != (answer in YES):
            raise InputError(f"{where}: the same pair has both verdicts")
    if not verdicts:
        raise InputError(f"{path.name} holds no verdict: fill in the column matches with yes or no")
    others = [row for row in read_verdicts(folder) if row["by"] != by]
    own_rows = [
        {"by": by, **pairs_by_name[key]._asdict(), "accepted": accepted} for key, accepted in verdicts.items()
    ]
    write_verdicts(folder, [*others, *own_rows])
    rejected = rejected_pairs(folder)
    if _unit(folder) == "report":
        pairs, lay_reports = write_report_set(folder, read_records(folder / REPORTS), rejected)
    else:
        pairs, lay_reports, *_ = write_sets(folder, *read_sets(folder), rejected)
    accepted = sum(verdicts.values())
    low, high = wilson_interval(accepted, len(verdicts), level=level)
    share = accepted / len(verdicts)
    left = frozenset(pairs_by_name.values()) & rejected
    return Checked(
        *(by, len(verdicts), accepted, share, low, high, len(pairs_by_name), _copies(folder), blank, len(left)),
        *(pairs, lay_reports),
    )


def _copies(folder: Path) -> int:
    return 0 if _unit(folder) == "report" else sum(bool(entry.same_as) for entry in read_sets(folder)[0])


def _unit(folder: Path) -> str:
    """Unit of a folder's pairs: "sentence", or "report" if reports were translated in full."""
    full_reports = (folder / REPORTS).is_file() and not (folder / SENTENCES).is_file()
    return "report" if full_reports else "sentence"


def _in_set(folder: Path) -> list[Pair]:
    """Every pair that can stand in a sentence set or in a lay report, rejected or not, each once."""
    if _unit(folder) == "report":
        return list(dict.fromkeys(filter(None, map(report_pair, read_records(folder / REPORTS)))))
    entries, _ = read_sets(folder)
    return [entry.pair for entry in entries if entry.accepted and entry.round]  # round 0: masked words only


def _name(pair: Pair) -> str:
    """A name of the pair that no spreadsheet takes for a number."""
    return f"p{key_of(*pair)}"
