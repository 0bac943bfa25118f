"""Where reports and cases come from: the options of every verb that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.core.choices import Duplicates, Missing, Section

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.io.case_files import CaseFile, InputSpec

CandidateColumns = Annotated[
    str | None,
    typer.Option(
        "--candidate-columns", help="Wide files: the columns that hold one system each, comma-separated."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Name columns yourself: id=uid,reference=gt_report,candidate=output."),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the files, if not UTF-8 (for instance latin-1).")
]
Split = Annotated[
    str | None, typer.Option("--split", help="Only these splits of the references: train, val or test; train,val.")
]


@dataclass(frozen=True, kw_only=True)
class ImageFolder:
    """Where the images of the reports are."""

    images: Annotated[Path | None, "Folder that the image paths of the input are relative to."] = None
    images_outside: Annotated[
        bool,
        "Let the input name images outside that folder (absolute paths, or ..).",
    ] = False


@dataclass(frozen=True, kw_only=True)
class ReportForm:
    """How a table of reports is read."""

    columns: Columns = None
    section: Annotated[Section | None, "Judge one part of the reports."] = None
    encoding: Encoding = None

    @property
    def roles(self) -> Mapping[str, Sequence[str]] | None:
        """Role -> column."""
        return roles(self.columns)

    def references(self, path: Path, *, split: str | None = None, pictures: ImageFolder | None = None) -> CaseFile:
        """The references of a file."""
        from radgauge.io.case_files import read_references

        return read_references(
            path,
            section=self.section,
            columns=self.roles,
            encoding=self.encoding,
            split=split,
            images=pictures.images if pictures else None,
            images_outside=pictures is not None and pictures.images_outside,
        )

    def versions(self, path: Path) -> tuple[Case, ...]:
        """The cases of a file whose candidates are versions of its references; none if it has no candidates."""
        from radgauge.core.errors import InputError
        from radgauge.io.case_files import read_cases

        try:
            found = read_cases(
                path, columns=self.roles, section=self.section, encoding=self.encoding, missing="nan"
            )
        except InputError as error:
            if "no candidate column" not in str(error):
                raise
            return ()
        return tuple(case for case in found.cases if case.candidate.strip())

    def originals(
        self, path: Path, *, split: str | None = None, pictures: ImageFolder | None = None
    ) -> dict[str, Case]:
        """One case per study: files with several systems repeat their references."""
        from radgauge.core.errors import InputError

        found: dict[str, Case] = {}
        for case in self.references(path, split=split, pictures=pictures).cases:
            if not case.references or not case.references[0].strip():
                continue
            known = found.setdefault(case.id, case)
            if known.references[0] != case.references[0]:
                raise InputError(
                    f"{path.name}: a study must have one reference, but those of id {case.id!r} differ"
                )
        if not found:
            raise InputError(f"{path.name}: no report with text")
        return found


@dataclass(frozen=True, kw_only=True)
class CaseForm(ImageFolder, ReportForm):
    """Where cases come from, but for the first file."""

    reference_file: Annotated[
        Path | None, typer.Option("--references", "-r", help="References in a file of their own, joined on id.")
    ] = None
    candidates: Annotated[
        list[Path] | None,
        "-c",
        "A file of candidates, named after its system; or SYSTEM=FILE. Repeatable.",
    ] = None
    candidate_columns: CandidateColumns = None
    missing: Annotated[
        Missing,
        (
            "Studies without a candidate: 'error'; 'nan' keeps them unjudged; "
            "'subset' leaves out those that no system has reported."
        ),
    ] = "error"
    split: Split = None
    one_view: Annotated[
        bool,
        (
            "Several reports or images of a study: take that of the AP or PA view, at random if there are "
            "several (column ViewPosition, or MIMIC's metadata table beside the file)."
        ),
    ] = False
    view_seed: Annotated[int, "Decides among several views."] = 0
    sheet: Annotated[str, "Sheet of a workbook: its name or number; else the one that holds reports."] = ""
    header_row: Annotated[int, "Row of the header, where it is not found by itself."] = 0
    duplicates: Annotated[Duplicates, "Rows that repeat an id: keep the first or the last of each."] = "error"
    keep_columns: Annotated[
        str | None, "Further columns to keep (a,b,c, or all): known are age, modality, section, indication, ..."
    ] = None
    drop_columns: Annotated[str | None, "Known columns to leave out."] = None

    def _files(self, reports: Sequence[Path] | None) -> tuple[Sequence[Path] | None, dict[str, Path] | None]:
        """The file of reports, if there is one, and the files of candidates by system."""
        from radgauge.core.errors import UsageError

        candidates = self.candidates
        if self.reference_file is not None:  # then files without an option are candidates too
            candidates, reports = [*(candidates or []), *(reports or [])], None
        if len(reports or []) > 1:
            raise UsageError(
                "one file of reports at a time; for one file per system use --references R --candidates A ..."
            )
        if not reports and self.reference_file is None:
            raise UsageError(
                "no reports given: name a file, or use --references R --candidates A [--candidates B]"
            )
        if self.reference_file is not None and not candidates:
            raise UsageError("--references needs at least one --candidates file")
        return reports, _systems(candidates)

    def spec(self, reports: Sequence[Path] | None) -> InputSpec:
        """How the files that the options name are read."""
        from radgauge.io.case_files import input_spec

        reports, given = self._files(reports)
        return input_spec(
            reports[0] if reports else None,
            references=self.reference_file,
            candidates=given,
            candidate_columns=names(self.candidate_columns),
            columns=self.roles,
            images=self.images,
            section=self.section,
            encoding=self.encoding,
            missing=self.missing,
            split=self.split,
            images_outside=self.images_outside,
            one_view=self.one_view,
            view_seed=self.view_seed,
            sheet=self.sheet,
            header_row=self.header_row,
            duplicates=self.duplicates,
            keep_columns=names(self.keep_columns) or (),
            drop_columns=names(self.drop_columns) or (),
        )

    def read(self, reports: Sequence[Path] | None) -> CaseFile:
        """The cases that the options describe."""
        from radgauge.cli.stdin import standing_in
        from radgauge.core.errors import UsageError
        from radgauge.io.case_files import read_input

        spec = self.spec(reports)
        files = (spec.reports, spec.references, *spec.candidates.values())
        if [str(file) for file in files].count("-") > 1:
            raise UsageError("standard input (-) can be one file only")
        if Path("-") not in files:
            return read_input(spec)
        with standing_in(Path("-")) as piped:

            def here(file: Path | None) -> Path | None:
                return piped if file == Path("-") else file

            given = {system: here(file) or file for system, file in spec.candidates.items()}
            local = replace(spec, reports=here(spec.reports), references=here(spec.references), candidates=given)
            file = read_input(local)
        return replace(file, provenance=replace(file.provenance, spec=None))  # nobody can read it again


@dataclass(frozen=True, kw_only=True)
class CaseSource(CaseForm):
    """Where cases come from."""

    reports: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports with id, reference and candidate (CSV, TSV, JSON, Parquet, Excel, .gz; - = stdin); "
            "with --references, files of candidates."
        ),
    ] = None

    def cases(self) -> CaseFile:
        """The cases."""
        return self.read(self.reports)


def roles(columns: str | None) -> Mapping[str, Sequence[str]] | None:
    """Role -> column, as `--columns` spells it."""
    from radgauge.io.tables.columns import parse_columns

    return parse_columns(columns) if columns else None


def names(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _systems(files: Sequence[Path] | None) -> dict[str, Path] | None:
    """System -> file, from FILE and SYSTEM=FILE."""
    from radgauge.core.storage import url_of
    from radgauge.io.case_files import system_files

    if files is None:
        return None
    files = [Path("stdin=-") if str(file) == "-" else file for file in files]
    whole = [file.exists() or url_of(file) is not None for file in files]
    named = [
        ("", "", str(file)) if one else str(file).partition("=") for file, one in zip(files, whole, strict=True)
    ]
    return system_files([(name, Path(file)) if sign else Path(name or file) for name, sign, file in named])
