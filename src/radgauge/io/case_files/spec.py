"""InputSpec: which files hold the reports and how they are read; one record for files, streams and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from radgauge.core.choices import Duplicates, Missing
from radgauge.core.errors import UsageError
from radgauge.core.storage import url_of
from radgauge.io.tables.columns import SECTIONS, check_roles


@dataclass(frozen=True, kw_only=True)
class InputSpec:
    """Location of reports and settings for reading them."""

    # One file (for runs into a folder also a folder of tables) with references and candidates
    reports: Path | None = None
    # File of references instead, joined on the study id; also a folder of MIMIC-CXR or Open-i reports
    references: Path | None = None
    candidates: Mapping[str, Path] = field(default_factory=dict)  # System -> file of its candidates
    candidate_columns: tuple[str, ...] = ()  # Columns that hold one system's candidates each (a wide file)
    # Role (id, reference, candidate, system, image) -> columns, where names do not speak for themselves. In a join
    # it applies to the files that have the column.
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # findings, impression, both or whole; None keeps texts whole and warns if they have headings
    section: str | None = None
    encoding: str | None = None  # Of text files; None = byte order mark, else UTF-8
    # "error"; "nan" keeps a study without candidate (or a candidate without study) as a case that cannot be
    # judged; "subset" leaves out the studies that no system has reported, and says how many
    missing: Missing = "error"
    # Keep only the studies of this split (train, val, test; several: train,val), by the column `split`
    split: str | None = None
    images: Path | None = None  # Folder that image paths are relative to; None: the current folder or the table's
    images_outside: bool = False  # True if a table may name images outside that folder (absolute paths, or `..`)
    one_view: bool = False  # Of several reports or images of a study take that of a frontal view
    view_seed: int = 0  # Decides among several
    sheet: str = ""  # Name or number of the sheet of a workbook; "" = the one that holds reports
    header_row: int = 0  # Row of the header in a sheet or delimited file; 0 = the first that can be one
    duplicates: Duplicates = "error"  # Rows that repeat an id: "first" or "last" keeps that one of each
    keep_columns: tuple[str, ...] = ()  # Further columns that travel with the cases; "all" keeps every one
    drop_columns: tuple[str, ...] = ()  # Columns that do not, though they are known

    def __post_init__(self) -> None:
        if self.section is not None and self.section not in SECTIONS:
            raise UsageError(f"section must be one of {', '.join(SECTIONS)}, got {self.section!r}")
        if self.missing not in get_args(Missing):
            raise UsageError(f"missing must be one of {', '.join(get_args(Missing))}, got {self.missing!r}")
        if self.duplicates not in get_args(Duplicates):
            raise UsageError(
                f"duplicates must be one of {', '.join(get_args(Duplicates))}, got {self.duplicates!r}"
            )
        if self.reports is not None and self.references is not None:
            raise UsageError("give one file, or references and candidates; not both")
        if self.reports is None and self.references is None:
            raise UsageError("nothing to read: give one file, or references and candidates")
        if self.references is not None and not self.candidates:
            raise UsageError("references need candidates: give at least one file of candidates")

    def as_dict(self) -> dict[str, Any]:
        """Return the settings that are not the default, as plain JSON values.

        A path is written relative to the working folder, or as a name alone if it lies elsewhere: scores are
        published, and names of folders say who and where one is.
        """
        values: dict[str, Any] = {}
        for setting in fields(self):
            value = getattr(self, setting.name)
            if value in (None, False, (), 0, "", {}) or (
                setting.name in ("missing", "duplicates") and value == "error"
            ):
                continue
            if isinstance(value, Mapping):
                value = {
                    key: _shown(item) if isinstance(item, Path) else list(item) for key, item in value.items()
                }
            elif isinstance(value, tuple):
                value = list(value)
            values[setting.name] = _shown(value) if isinstance(value, Path) else value
        return values


def _shown(path: Path) -> str:
    if (url := url_of(path)) is not None:
        return url
    absolute, here = path.absolute(), Path.cwd()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else path.name


def spec_from_dict(values: Mapping[str, Any], *, folder: Path) -> InputSpec:
    """Return the specification that `InputSpec.as_dict` wrote.

    Args:
        values: Settings; one that this version does not know is refused, since the reports would be read otherwise
            than they were.
        folder: Where files are looked for that are not below the working folder.
    """
    names = {setting.name for setting in fields(InputSpec)}
    if unknown := [name for name in values if name not in names]:
        raise UsageError(f"the scores were made with the setting {unknown[0]!r}, which this version does not know")

    def path(text: str) -> Path:
        options = (Path(text), folder / text, folder / Path(text).name)
        return Path(text) if url_of(text) is not None else next((p for p in options if p.exists()), Path(text))

    made: dict[str, Any] = dict(values)
    for name in ("reports", "references", "images"):
        if name in made:
            made[name] = path(made[name])
    if "candidates" in made:
        made["candidates"] = {system: path(text) for system, text in made["candidates"].items()}
    if "columns" in made:
        made["columns"] = {role: tuple(columns) for role, columns in made["columns"].items()}
    for name in ("candidate_columns", "keep_columns", "drop_columns"):
        if name in made:
            made[name] = tuple(made[name])
    return InputSpec(**made)


def input_spec(
    path: Path | str | None = None,
    *,
    references: Path | str | None = None,
    candidates: Sequence[Path | str] | Mapping[str, Path | str] | None = None,
    candidate_columns: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    images: Path | str | None = None,
    keep_columns: Sequence[str] | str = (),
    drop_columns: Sequence[str] | str = (),
    **settings: Any,
) -> InputSpec:
    """Return the specification for what Python users pass to `read_cases`."""
    if path is not None and candidates is not None:
        raise UsageError("give one file, or references and candidates; not both")
    listed = candidates if candidates is not None else ([path] if references and path else [])
    return InputSpec(
        reports=None if references is not None or path is None else Path(path),
        references=None if references is None else Path(references),
        candidates=_systems(listed),
        candidate_columns=tuple(candidate_columns or ()),
        columns=check_roles(columns),
        images=None if images is None else Path(images),
        keep_columns=_names(keep_columns),
        drop_columns=_names(drop_columns),
        **settings,
    )


def _names(columns: Sequence[str] | str) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _systems(files: Sequence[Path | str] | Mapping[str, Path | str]) -> dict[str, Path]:
    if isinstance(files, Mapping):
        return {system: Path(file) for system, file in files.items()}
    if isinstance(files, str | Path):
        raise UsageError("candidates must be a list of files, or a mapping from system to file")
    return system_files(files)


def system_files(files: Sequence[Path | str | tuple[str, Path]]) -> dict[str, Path]:
    """Return system -> file: the name given with the file, else the file's own without its endings.

    >>> list(system_files([Path("runs/ours.jsonl.gz"), ("theirs", Path("out.csv"))]))
    ['ours', 'theirs']
    """
    named: dict[str, Path] = {}
    for item in files:
        file = item[1] if isinstance(item, tuple) else Path(item)
        system = item[0] if isinstance(item, tuple) else system_name(file)
        if system in named:
            raise UsageError(
                f"two files of candidates would both be the system {system!r}: {named[system]} and {file}; "
                "rename one, or name the systems: system=file"
            )
        named[system] = file
    return named


def system_name(file: Path) -> str:
    """Return the name of a system whose reports a file holds: the file's own without its endings."""
    return file.name.removesuffix(".gz").rsplit(".", 1)[0]
