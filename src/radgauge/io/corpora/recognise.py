"""Which corpus is this? Told by what the files hold, not by their names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from radgauge.core.errors import InputError
from radgauge.io.corpora.mimic import REPORT_FILE, read_mimic_reports, read_mimic_sectioned
from radgauge.io.corpora.openi import INDIANA, read_indiana, read_openi
from radgauge.io.corpora.padchest import NEEDED, read_padchest
from radgauge.io.corpora.r2gen import read_r2gen
from radgauge.io.corpora.rexrank import read_rexrank
from radgauge.io.corpora.studies import Study, hash_files
from radgauge.io.tables import InputTable, Record, iter_records
from radgauge.io.tables.column_names import shown_names
from radgauge.io.tables.sources import Source, inspect_file

KNOWN = (
    "R2Gen annotation.json, ReXrank JSON, Open-i XML folder, indiana_reports.csv, mimic_cxr_sectioned.csv, "
    "MIMIC-CXR report folder, PadChest CSV"
)


def read_studies(path: Path | str) -> list[Study]:
    """Studies of a published corpus: R2Gen, ReXrank, Open-i, Indiana, MIMIC-CXR or PadChest, as released."""
    file = Path(path)
    if file.is_dir():
        return read_openi(file) if _folder_kind(file) == "openi" else read_mimic_reports(file)
    first = next(iter_records(file), None)
    columns = set(first.values) if first else set()
    if set(INDIANA) <= columns:
        return read_indiana(file)
    if {"study", "last_paragraph"} <= columns:
        return read_mimic_sectioned(file)
    if set(NEEDED) <= columns:
        return read_padchest(file)
    if file.name.lower().removesuffix(".gz").endswith(".json"):
        if {"id", "report", "split"} <= columns and "context" not in columns and "section_findings" not in columns:
            return read_r2gen(file)
        if "id" in columns:
            return read_rexrank(file)
    raise InputError(
        f"{file.name} is none of the corpora known: {KNOWN}; got columns {shown_names(sorted(columns))}"
    )


def is_corpus_table(columns: Collection[str]) -> bool:
    """Whether these are the columns of indiana_reports.csv, mimic_cxr_sectioned.csv or the PadChest table."""
    return any(set(known) <= set(columns) for known in (INDIANA, ("study", "last_paragraph"), NEEDED))


def corpus_table(path: Path) -> InputTable | None:
    """A corpus that is no plain table of studies (a folder, a row per image, prefixed ids) as one, or None."""
    if path.is_dir():
        kind = _folder_kind(path)
        files = path.glob("*.xml") if kind == "openi" else path.rglob("s*.txt")
        source = Source(path.name, hash_files(files, folder=path), f"{kind} folder", "utf-8")
    else:
        source = inspect_file(path)
        first = next(iter_records(path, source=source), None) if source.format == "csv" else None
        found = set(first.values) if first else set()
        if set(INDIANA) <= found or not is_corpus_table(found):
            return None
    records = tuple(Record(number, study.as_record()) for number, study in enumerate(read_studies(path), start=1))
    columns = tuple(dict.fromkeys(name for record in records for name in record.values))
    return InputTable(
        Source(source.name, source.sha256, source.format, source.encoding, rows=len(records)), columns, records
    )


def _folder_kind(folder: Path) -> str:
    if next(folder.glob("*.xml"), None) is not None:
        return "openi"
    if any(REPORT_FILE.fullmatch(file.name) for file in folder.rglob("s*.txt")):
        return "mimic"
    raise InputError(
        f"{folder} is a folder without Open-i reports (*.xml) or MIMIC-CXR reports (s12345678.txt); give a file"
    )
