"""Cases from files and back: one file, or references and candidates joined on the study id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from radgauge.core.cases import Case
from radgauge.core.choices import Duplicates, Missing
from radgauge.core.errors import InputError
from radgauge.core.files import sha256_of
from radgauge.core.progress import working
from radgauge.io.case_files.images import near_table, place_images
from radgauge.io.case_files.join import Side, join, uneven_systems
from radgauge.io.case_files.sections import heading_notes, take_section
from radgauge.io.case_files.spec import InputSpec, input_spec, spec_from_dict, system_name
from radgauge.io.case_files.views import one_view as take_one_view
from radgauge.io.records import SAMPLE, build_cases, check_unique, settle_duplicates, text_notes
from radgauge.io.tables import InputTable, read_table
from radgauge.io.tables.cells import cell
from radgauge.io.tables.column_names import shown_names
from radgauge.io.tables.columns import KEEP_ALL, Mode, check_roles, resolve
from radgauge.io.tables.sources import Source


@dataclass(frozen=True)
class Provenance:
    """Record of the input and how it was understood; goes into the header of every file made from it."""

    sources: tuple[Source, ...]  # The files with hash, format, encoding and rows
    columns: Mapping[str, Mapping[str, str]]  # File name -> role -> column
    section: str | None  # The section choice; None = none was made and texts are whole
    split: str | None  # The split choice, if one was made
    studies: int  # Number of distinct study ids
    systems: tuple[str, ...]  # Names of the systems
    cases: int  # Number of cases
    warnings: tuple[str, ...] = ()  # What a person should know before believing the numbers
    spec: InputSpec | None = None  # How the same reports are read again; None for reports without candidates

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        plain = asdict(replace(self, columns={}, spec=None))
        plain["columns"] = {name: dict(roles) for name, roles in self.columns.items()}
        plain["spec"] = {} if self.spec is None else self.spec.as_dict()
        return plain


@dataclass(frozen=True)
class CaseFile:
    """Cases and where they came from."""

    cases: tuple[Case, ...]
    provenance: Provenance

    def __repr__(self) -> str:
        about = self.provenance
        files = ", ".join(source.name for source in about.sources)
        head = (
            f"<CaseFile {files}: {about.cases} cases, {about.studies} studies, systems {', '.join(about.systems)}>"
        )
        return "\n".join([head, *(f"note: {note}" for note in about.warnings)])

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)


@working("reading files")
def read_cases(
    path: Path | str | None = None,
    *,
    references: Path | str | None = None,
    candidates: Sequence[Path | str] | Mapping[str, Path | str] | None = None,
    candidate_columns: Sequence[str] | None = None,
    section: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    encoding: str | None = None,
    missing: Missing = "error",
    split: str | None = None,
    images: Path | str | None = None,
    images_outside: bool = False,
    one_view: bool = False,
    view_seed: int = 0,
    sheet: str = "",
    header_row: int = 0,
    duplicates: Duplicates = "error",
    keep_columns: Sequence[str] | str = (),
    drop_columns: Sequence[str] | str = (),
) -> CaseFile:
    """Read cases. Every row becomes a case (in a wide file one per system), joined by id, never by position.

    Args:
        path: One file with references and candidates; with `references`, a file of candidates.
        references: File of references, joined on the study id; also a folder of MIMIC-CXR or Open-i reports.
        candidates: Files of candidates, or system -> file; the system is named after the file otherwise.
        candidate_columns: Columns that hold one system's candidates each (a wide file).
        section: findings, impression, both or whole. None keeps texts whole and warns if they have headings.
        columns: Role (id, reference, candidate, system, image) -> column, where names do not speak for
            themselves. In a join it applies to the files that have the column.
        encoding: Of text files; None = byte order mark, else UTF-8.
        missing: "error"; "nan" keeps a study without candidate (or a candidate without study) as a case that
            cannot be judged; "subset" leaves out the studies that no system has reported, and says how many.
        split: Keep only the studies of this split (train, val, test; several: train,val), by the column `split`.
        images: Folder that image paths are relative to; images that are not there are noted. None: relative to
            the current folder or the table's.
        images_outside: Whether a table may name images outside that folder (absolute paths, or `..`).
        one_view: Where a system wrote one report per image of a study, take the one of a frontal view (AP or PA)
            if there is any; of several images of a study keep one likewise. Views come from a column ViewPosition,
            or from mimic-cxr-2.0.0-metadata.csv beside the file, by dicom_id or the image's name.
        view_seed: Decides among several.
        sheet: Name or number of the sheet of a workbook; "" = the one that holds reports.
        header_row: Row of the header in a sheet or delimited file; 0 = the first that can be one.
        duplicates: Rows that repeat an id: "error"; "first" or "last" keeps that one, and says how many.
        keep_columns: Columns that travel with the cases beside those that are known (age, modality, section,
            indication, ...); "all" keeps every one.
        drop_columns: Columns that do not, though they are known.

    Raises:
        InputError: The data cannot be used as it is; the message names the first offender and the remedy.
        UsageError: The arguments do not fit together.
    """
    return read_input(
        input_spec(
            path,
            references=references,
            candidates=candidates,
            candidate_columns=candidate_columns,
            columns=columns,
            images=images,
            section=section,
            encoding=encoding,
            missing=missing,
            split=split,
            images_outside=images_outside,
            one_view=one_view,
            view_seed=view_seed,
            sheet=sheet,
            header_row=header_row,
            duplicates=duplicates,
            keep_columns=keep_columns,
            drop_columns=drop_columns,
        )
    )


@working("reading files")
def read_input(spec: InputSpec) -> CaseFile:
    """Read the cases that a specification names; see `read_cases`."""
    warnings: list[str] = []
    if spec.reports is not None:
        sides = [_read(spec.reports, "cases", spec, system=system_name(spec.reports))]
        if spec.one_view:
            sides[0], notes = _one_view(sides[0], spec.reports, spec.view_seed)
            warnings += notes
        cases, locations = list(sides[0].cases), list(sides[0].locations)
        warnings += uneven_systems(cases)
        if not sides[0].roles.references:
            seen = shown_names(sides[0].table.columns)
            warnings.append(
                f"{sides[0].table.source.name} has no reference column; its columns: {seen}; "
                "name it with columns={'reference': NAME}"
            )
    elif spec.references is not None:
        reference_side = _read(spec.references, "references", spec)
        candidate_sides = [_read(file, "candidates", spec, system=name) for name, file in spec.candidates.items()]
        if spec.one_view:
            reference_side, notes = _one_view(reference_side, spec.references, spec.view_seed)
            warnings += notes
            chosen = [
                _one_view(side, file, spec.view_seed, spec.references)
                for side, file in zip(candidate_sides, spec.candidates.values(), strict=True)
            ]
            candidate_sides = [side for side, _ in chosen]
            warnings += [note for _, notes in chosen for note in notes]
        sides = [reference_side, *candidate_sides]
        cases, locations = join(reference_side, candidate_sides, missing=spec.missing)
        studies = {case.id for case in reference_side.cases}
        if left_out := len(studies - {case.id for case in cases}):
            warnings.append(f"{left_out} of {len(studies)} studies were left out: no system has reported them")
    _check_given(spec, sides)
    check_unique(cases, locations=locations)
    if spec.section is None:
        warnings += heading_notes(cases)
    warnings += text_notes(cases, locations=locations)
    if spec.images is not None:
        cases, notes = place_images(cases, spec.images, outside=spec.images_outside)
    else:
        cases, notes = near_table(cases, spec.reports or spec.references or Path())
    warnings += notes
    provenance = Provenance(
        sources=tuple(side.table.source for side in sides),
        columns=_columns_by_file(sides),
        section=spec.section,
        split=spec.split,
        studies=len({case.id for case in cases}),
        systems=tuple(dict.fromkeys(case.system for case in cases)),
        cases=len(cases),
        warnings=(*(note for side in sides for note in side.table.source.notes), *warnings),
        spec=spec,
    )
    return CaseFile(tuple(cases), provenance)


def read_again(input: Mapping[str, Any], *, folder: Path, moved: Sequence[Path] = ()) -> CaseFile:
    """Read the reports behind scores, as they were read when they were scored.

    Args:
        input: What the header of the scores says of their input.
        folder: Of the scores, where files are looked for that are not where they were.
        moved: Where the files are now if they have moved; each is recognised by its hash.

    Raises:
        InputError: A file is not there or has changed.
    """
    if not input.get("spec"):
        raise InputError("the scores do not say which reports they judge; name them: reports=FILE")
    hashes = {source["sha256"]: source["name"] for source in input["sources"]}
    spec = spec_from_dict(input["spec"], folder=folder)
    if moved:
        spec = _moved(spec, moved, hashes)
    file = read_input(spec)
    for source in file.provenance.sources:
        if source.sha256 not in hashes:
            raise InputError(
                f"{source.name} has changed since it was scored; score it again, or name the judged file: "
                "reports=FILE"
            )
    return file


def _moved(spec: InputSpec, files: Sequence[Path], hashes: Mapping[str, str]) -> InputSpec:
    """The specification with the places where its files are now."""
    names: dict[str, Path] = {}
    for file in files:
        name = hashes.get(sha256_of(file)) if file.is_file() else None
        if name is None:
            raise InputError(f"{file} is none of the files that were judged ({', '.join(hashes.values())})")
        names[name] = file

    def now(path: Path) -> Path:
        return names.get(path.name, path)

    return replace(
        spec,
        reports=spec.reports and now(spec.reports),
        references=spec.references and now(spec.references),
        candidates={system: now(path) for system, path in spec.candidates.items()},
    )


@working("reading files")
def read_references(
    path: Path | str,
    *,
    section: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    encoding: str | None = None,
    split: str | None = None,
    images: Path | str | None = None,
    images_outside: bool = False,
) -> CaseFile:
    """Reports without candidates, as cases with a reference: a corpus to search, or queries.

    Args:
        path: A table of reports, or a published corpus as released.
        section: findings, impression, both or whole. None keeps texts whole and warns if they have headings.
        columns: Role (id, reference) -> column, where names do not speak for themselves.
        encoding: Of text files; None = byte order mark, else UTF-8.
        split: Keep only the studies of this split.
        images: As in `read_cases`.
        images_outside: As in `read_cases`.
    """
    roles = check_roles(columns)
    how = InputSpec(reports=Path(path), columns=roles, section=section, encoding=encoding, split=split)
    side = _read(Path(path), "references", how)
    _check_given(how, [side])
    check_unique(side.cases, locations=side.locations)
    warnings = [*side.table.source.notes, *(heading_notes(side.cases) if section is None else ())]
    if images is not None:
        cases, notes = place_images(side.cases, Path(images), outside=images_outside)
        warnings += notes
    else:
        cases, notes = near_table(side.cases, Path(path))
        warnings += notes
    provenance = Provenance(
        sources=(side.table.source,),
        columns=_columns_by_file([side]),
        section=section,
        split=split,
        studies=len(side.cases),
        systems=(),
        cases=len(side.cases),
        warnings=tuple(warnings),
    )
    return CaseFile(tuple(cases), provenance)


def _read(path: Path, mode: Mode, spec: InputSpec, *, system: str = "system") -> Side:
    """One file: its columns understood, its rows as cases, the section chosen."""
    corpus = _corpus(path) if mode == "references" and spec.encoding is None and not spec.sheet else None
    table = corpus or read_table(path, encoding=spec.encoding, sheet=spec.sheet, header_row=spec.header_row)
    sample = {name: [record.values.get(name) for record in table.records[:SAMPLE]] for name in table.columns}
    here = {role: names for role, names in spec.columns.items() if set(names) <= set(table.columns)}
    user_roles = spec.columns if mode == "cases" else here
    wide = (spec.candidate_columns or None) if mode != "references" else None
    roles = resolve(
        sample,
        name=table.source.name,
        mode=mode,
        user_roles=user_roles,
        candidate_columns=wide,
        section=spec.section,
    )
    records = table.records
    if spec.split is not None and mode != "candidates":
        records = _of_split(table, spec.split)
    cases: list[Case] = []
    locations: list[str] = []
    for number, record in enumerate(records, start=1):
        location = table.location(record)
        new = build_cases(record.values, roles=roles, where=location, number=number, system=system)
        cases += new
        locations += [location] * len(new)
    repeated: list[str] = []
    if not spec.one_view:
        cases, locations, repeated = settle_duplicates(cases, locations=locations, how=spec.duplicates)
        check_unique(cases, locations=locations, of_file=True)
    if corpus is None:  # not before: the message on repeated ids may need a column to tell systems apart
        roles = roles.select(table.columns, keep=spec.keep_columns, drop=spec.drop_columns)
        cases = [case.without(roles.left_out) for case in cases] if roles.left_out else cases
    notes = [] if roles.id else [f"{table.source.name} has no id column: the ids are row numbers"]
    notes += [f"{table.source.name}: its own column {name!r} is not used" for name in sorted(roles.ignored)]
    notes += [*repeated, *roles.left_out_note(table.source.name)]
    if spec.section is not None:
        cases, more = take_section(
            cases, spec.section, locations=locations, name=table.source.name, settled=roles.sectioned
        )
        notes += more
    table = replace(table, source=replace(table.source, notes=(*table.source.notes, *notes)))
    return Side(table, roles, tuple(cases), tuple(locations))


def _columns_by_file(sides: Sequence[Side]) -> dict[str, Mapping[str, str]]:
    """Columns of each file by role; files of the same name are numbered."""
    by_file: dict[str, Mapping[str, str]] = {}
    for side in sides:
        name = side.table.source.name
        again = sum(key == name or key.startswith(f"{name} (") for key in by_file)
        by_file[f"{name} ({again + 1})" if again else name] = side.roles.as_dict()
    return by_file


def _corpus(path: Path) -> InputTable | None:
    """A published corpus whose files are not one row per study."""
    from radgauge.io.corpora.recognise import corpus_table  # corpora stand above cases; asked for only when needed

    return corpus_table(path) if path.exists() else None


def _one_view(side: Side, file: Path, seed: int, *elsewhere: Path) -> tuple[Side, list[str]]:
    from radgauge.io.corpora.mimic import image_views

    views = next((table_views for path in (file, *elsewhere) if (table_views := image_views(path))), {})
    return take_one_view(side, views=views, seed=seed)


def _check_given(spec: InputSpec, sides: Sequence[Side]) -> None:
    """In a join a settled column need not be in every file, but it must be in one."""
    requested = {"keep_columns": spec.keep_columns, "drop_columns": spec.drop_columns}
    selected = {role: (name,) for role, names in requested.items() for name in names if name != KEEP_ALL}
    for role, names in [*spec.columns.items(), *selected.items()]:
        if not any(set(names) <= set(side.table.columns) for side in sides):
            seen = "; ".join(f"{side.table.source.name}: {shown_names(side.table.columns)}" for side in sides)
            raise InputError(f"no file has the column {', '.join(names)} named for {role!r}; columns: {seen}")


def _of_split(table: InputTable, split: str) -> tuple[Any, ...]:
    """The records of a split, or of several with commas between them."""
    if "split" not in table.columns:
        raise InputError(f"{table.source.name} has no column 'split' to choose {split!r} from")
    there = {cell(record.values.get("split")) for record in table.records}
    splits = [name.strip() for name in split.split(",")]
    for name in splits:
        if name not in there:
            listed = ", ".join(sorted(value or "no split" for value in there))
            raise InputError(f"{table.source.name} has no studies of split {name!r}; it has {listed}")
    return tuple(record for record in table.records if cell(record.values.get("split")) in splits)
