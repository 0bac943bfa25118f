"""The files of built lay sets: every sentence with its verdict, the two sets, and people's verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.core.errors import InputError
from radgauge.core.files import write_file
from radgauge.core.parsing import parse_json
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.sentences import HEADER, Pair
from radgauge.text.sentences import sentences_of

_HEADING = re.compile(r"[A-Z][A-Za-z /&]{2,40}:")
SENTENCES, SET, REPORTS, VERDICTS = "sentences.jsonl", "sentences.tsv", "reports.jsonl", "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence of the reports and what became of it."""

    in_set: bool  # True if it is one of the kept sentences; others serve the reports only
    times: int  # How often the reports say it
    sentence: str  # The professional sentence
    lay: str  # Its lay text, or the last one that was tried
    accepted: bool  # True if the lay text passed every check
    round: int  # The round that decided
    similarity: float | None  # Cosine of both; None if not computed
    why: str  # Why it was not accepted
    same_as: str = ""  # The kept sentence whose lay text it takes; "" if it has its own

    @property
    def pair(self) -> Pair:
        """The pair that a person would judge: the sentence of the report, whoever's lay text it takes."""
        return Pair(self.sentence, self.lay)

    def is_rejected(self, rejected: frozenset[Pair]) -> bool:
        """True if a person rejected the pair, or the one that its lay text comes from."""
        return self.pair in rejected or (bool(self.same_as) and Pair(self.same_as, self.lay) in rejected)


def is_heading(sentence: str) -> bool:
    """True if it only names a part of the report; it stays as it is.

    >>> is_heading("IMPRESSION:"), is_heading("Impression: no change.")
    (True, False)
    """
    return _HEADING.fullmatch(sentence) is not None


class WrittenSets(NamedTuple):
    """Result of `write_sets`."""

    pairs: int  # Pairs in the sentence set
    lay_reports: int = 0  # Reports with a whole lay version
    said: int = 0  # Sentences of the reports, each as often as it is said; headings and masked words are none
    translated: int = 0  # Those of them that have an accepted lay text


def write_sets(
    folder: Path, entries: Sequence[Entry], reports: Mapping[str, str], rejected: frozenset[Pair]
) -> WrittenSets:
    """Write sentences.jsonl, sentences.tsv and reports.jsonl.

    Args:
        folder: Where.
        entries: Every sentence that has a verdict.
        reports: Id -> text; empty if only the sentence set is wanted.
        rejected: Pairs that a person rejected: in no set.
    """
    write_file(folder / SENTENCES, _lines(asdict(entry) for entry in entries))
    pairs = [
        entry.pair for entry in entries if entry.in_set and entry.accepted and not entry.is_rejected(rejected)
    ]
    write_file(folder / SET, "".join(f"{line}\n" for line in (HEADER, *map("\t".join, pairs))))
    if not reports:
        return WrittenSets(len(pairs))
    entry_by_sentence = {normal_sentence(entry.sentence): entry for entry in entries}
    rows = [_lay_report(study, text, entry_by_sentence, rejected) for study, text in reports.items()]
    write_file(folder / REPORTS, _lines(rows))
    counts = (sum(row[name] for row in rows) for name in ("said", "translated"))
    return WrittenSets(len(pairs), sum(row["lay"] is not None for row in rows), *counts)


REJECTED = "a person rejected the lay text"


def write_report_set(
    folder: Path, rows: Sequence[Mapping[str, Any]], rejected: frozenset[Pair]
) -> tuple[int, int]:
    """Write reports.jsonl of reports that were translated as a whole.

    A rejected lay text moves from `lay` to `rejected_lay`, so that another verdict can bring it back.

    Args:
        folder: Where.
        rows: Rows with id, report, lay and why.
        rejected: Pairs that a person rejected.

    Returns:
        Distinct pairs in the set, and reports with a lay version.
    """
    written = []
    for row in rows:
        pair = report_pair(row)
        record = {key: value for key, value in row.items() if key != "rejected_lay"}
        if pair is not None and pair in rejected:
            record |= {"lay": None, "why": REJECTED, "rejected_lay": pair.lay}
        elif pair is not None:
            record |= {"lay": pair.lay, "why": ""}
        written.append(record)
    write_file(folder / REPORTS, _lines(written))
    left = [pair for row in written if row["lay"] is not None and (pair := report_pair(row)) is not None]
    return len(set(left)), len(left)


def report_pair(row: Mapping[str, Any]) -> Pair | None:
    """The pair of a row that a person would judge: texts without line breaks; None if no lay text passed."""
    lay = row["lay"] if row["lay"] is not None else row.get("rejected_lay")
    return None if lay is None else Pair(" ".join(str(row["report"]).split()), str(lay))


def read_sets(folder: Path) -> tuple[list[Entry], dict[str, str]]:
    """Read the output of `write_sets`: entries and reports."""
    path = folder / SENTENCES
    if not path.is_file():
        raise InputError(f"{folder} holds no {SENTENCES}: give the folder of `radgauge lay build`")
    entries = [Entry(**record) for record in read_records(path)]
    reports = folder / REPORTS
    rows = read_records(reports) if reports.is_file() else []
    return entries, {str(row["id"]): str(row["report"]) for row in rows}


def read_verdicts(folder: Path) -> list[dict[str, Any]]:
    """People's verdicts: by, professional, lay, accepted."""
    path = folder / VERDICTS
    return read_records(path) if path.is_file() else []


def rejected_pairs(folder: Path) -> frozenset[Pair]:
    """Pairs that somebody rejected."""
    return frozenset(
        Pair(str(row["professional"]), str(row["lay"])) for row in read_verdicts(folder) if not row["accepted"]
    )


def write_verdicts(folder: Path, verdicts: Iterable[Mapping[str, object]]) -> None:
    """Write people's verdicts."""
    write_file(folder / VERDICTS, _lines(verdicts))


def _lay_report(
    study: str, text: str, entry_by_sentence: Mapping[str, Entry], rejected: frozenset[Pair]
) -> dict[str, Any]:
    """A row of the report-level set; `lay` is null, with the reason, unless every sentence has a lay text.

    `mixed` has the professional sentence in the place of one without; `translated` of `said` sentences are lay.
    A row whose `registers` is "mixed" is no training text.
    """
    mixed, whys, n_sentences, translated = [], [], 0, 0
    for sentence in sentences_of(text):
        entry = entry_by_sentence.get(normal_sentence(sentence))
        why = ""
        if entry is None:
            why = "" if is_heading(sentence) else "a sentence is not translated yet"
        elif not entry.accepted:
            why = f"a sentence has no accepted lay text: {entry.why}"
        elif entry.is_rejected(rejected):
            why = "a person rejected the lay text of a sentence"
        lay = sentence if entry is None or why else entry.lay
        mixed.append(lay)
        whys += [why] if why else []
        if not is_heading(sentence) and (entry is None or entry.why or entry.round):  # round 0: masked words only
            n_sentences += 1
            translated += not why
    if not mixed:
        whys.append("the report holds no sentence")
    mixed_text = " ".join(mixed)
    return {
        "id": study,
        "report": text,
        "lay": None if whys else mixed_text,
        "why": whys[0] if whys else "",
        "mixed": mixed_text,
        "registers": "professional" if not translated else "mixed" if whys else "lay",
        "said": n_sentences,
        "translated": translated,
    }


def _lines(records: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    records = []
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                records.append(parse_json(line))
            except ValueError:
                raise InputError(f"{path}: line {number} is no JSON; build again") from None
    return records
