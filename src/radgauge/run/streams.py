"""Tables as streams of cases: row after row, each checked as `read_cases` checks it, nothing kept.

A source is a file or a folder of files of one format. JSON documents and workbooks are read, too, but a file of
those is in memory at once: CSV, JSON lines and Parquet are the formats for large inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.case_files.spec import InputSpec
from radgauge.io.records import SAMPLE, build_cases
from radgauge.io.tables.cells import cell
from radgauge.io.tables.columns import Columns, Mode, resolve
from radgauge.io.tables.grid import Record
from radgauge.io.tables.sources import FORMATS, Source, format_of, inspect_file
from radgauge.io.tables.table import InputTable, iter_records

STREAMED = ("csv", "tsv", "jsonl", "txt", "parquet")
PACKED = 8
"""How many times larger a gzipped text is taken to be."""


@dataclass(frozen=True)
class Table:
    """One side of a run: a file, or several that are read as one."""

    name: str  # For people
    mode: Mode  # Cases, references or candidates
    system: str  # Who wrote the candidates if the rows do not say
    files: tuple[Path, ...]
    sources: tuple[Source, ...]  # What each file is, with its hash
    columns: tuple[str, ...]  # Names of all columns
    roles: Columns
    split: tuple[str, ...] = ()  # Rows to keep, by their column `split`; empty: all

    def as_input(self) -> InputTable:
        """The table without rows, as the functions that join sides know it."""
        return InputTable(replace(self.sources[0], name=self.name), self.columns, ())


def open_table(path: Path, mode: Mode, how: InputSpec, *, system: str = "system") -> Table:
    """The files of a path, and what their columns are: every name is seen, the first rows tell what they hold.

    Raises:
        InputError: There is nothing to read, the files differ in format, or columns are not understood.
    """
    files = table_files(path)
    sources = tuple(
        inspect_file(file, encoding=how.encoding, sheet=how.sheet, header_row=how.header_row) for file in files
    )
    names: dict[str, None] = {}
    sample: list[Record] = []
    for file, source in zip(files, sources, strict=True):
        for number, record in enumerate(iter_records(file, source=source)):
            if len(sample) < SAMPLE:
                sample.append(record)
            names.update(dict.fromkeys(record.values))
            if source.format not in ("jsonl", "json") and number >= SAMPLE:
                break  # every row has the columns of the first
    if not sample:
        raise InputError(f"{path.name} holds no rows (a header at most)")
    here = {role: used for role, used in how.columns.items() if set(used) <= set(names)}
    roles = resolve(
        {name: [record.values.get(name) for record in sample] for name in names},
        name=path.name,
        mode=mode,
        user_roles=how.columns if mode == "cases" else here,
        candidate_columns=(how.candidate_columns or None) if mode != "references" else None,
        section=how.section,
    ).select(tuple(names), keep=how.keep_columns, drop=how.drop_columns)
    splits: tuple[str, ...] = ()
    if how.split is not None and mode != "candidates":
        if "split" not in names:
            raise InputError(f"{path.name} has no column 'split' to choose {how.split!r} from")
        splits = tuple(name.strip() for name in how.split.split(","))
    return Table(path.name, mode, system, files, sources, tuple(names), roles, splits)


def table_files(path: Path) -> tuple[Path, ...]:
    """The file, or the tables in a folder by name; all must be of one format."""
    if not path.is_dir():
        return (path,)
    paths = sorted(
        entry
        for entry in path.iterdir()
        if entry.is_file() and Path(entry.name.lower().removesuffix(".gz")).suffix in FORMATS
        if entry.name[0] not in "._"
    )
    kinds = sorted({format_of(entry) for entry in paths})
    if len(kinds) != 1:
        raise InputError(
            f"{path} must hold tables of one format to be read as one, got {', '.join(kinds) or 'no table'}"
        )
    return tuple(paths)


def iter_cases(table: Table) -> Iterator[tuple[int, str, list[Case]]]:
    """Number of the row from 1, where it stands, and its cases, row by row.

    Raises:
        InputError: A row cannot be used; a split has no rows.
    """
    number = 0
    seen: set[str] = set()
    for file, source in zip(table.files, table.sources, strict=True):
        locate = InputTable(source, (), ()).location
        for record in iter_records(file, source=source):
            if table.split:
                own_split = cell(record.values.get("split"))
                seen.add(own_split)
                if own_split not in table.split:
                    continue
            number += 1
            where = locate(record)
            yield (
                number,
                where,
                build_cases(record.values, roles=table.roles, where=where, number=number, system=table.system),
            )
    absent = next((name for name in table.split if name not in seen), None)
    if absent is not None:
        listed = ", ".join(sorted(value or "no split" for value in seen))
        raise InputError(f"{table.name} has no studies of split {absent!r}; it has {listed}")


def expected_bytes(table: Table) -> int:
    """About how many bytes of text the rows are, the same for the same files."""
    total = 0
    for file, source in zip(table.files, table.sources, strict=True):
        size = file.stat().st_size
        if source.format == "parquet":
            from radgauge.core.errors import require

            with require("pyarrow.parquet", extra="parquet").ParquetFile(file) as parquet:
                groups = (parquet.metadata.row_group(at) for at in range(parquet.metadata.num_row_groups))
                size = sum(group.total_byte_size for group in groups)
        elif file.suffix == ".gz":
            size *= PACKED
        total += size
    return total


def table_notes(table: Table) -> list[str]:
    """List warnings about the files and columns."""
    notes = [note for source in table.sources for note in source.notes]
    if not table.roles.id:
        notes.append(f"{table.name} has no id column: the ids are row numbers")
    notes += [f"{table.name}: its own column {name!r} is not used" for name in sorted(table.roles.ignored)]
    notes += table.roles.left_out_note(table.name)
    unstreamed = [source.name for source in table.sources if source.format not in STREAMED]
    if unstreamed:
        notes.append(
            f"{unstreamed[0]} is read into memory as a whole; JSON lines, CSV and Parquet are read in blocks"
        )
    return notes


def sources_of(tables: Sequence[Table]) -> list[Source]:
    """The files behind tables."""
    return [source for table in tables for source in table.sources]
