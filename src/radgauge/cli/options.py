"""Options that several verbs share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from radgauge.cases import Case
    from radgauge.io.case_files import CaseFile
    from radgauge.reading import Readings
    from radgauge.scores import Results

Reports = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Reports with id, reference and candidate (CSV, TSV, JSONL, JSON, Parquet; .gz); "
        "with --references, files of candidates."
    ),
]
References = Annotated[
    Path | None, typer.Option("--references", "-r", help="References in a file of their own, joined on id.")
]
Candidates = Annotated[
    list[Path] | None,
    typer.Option(
        "--candidates", "-c", help="A file of candidates, named after its system; or SYSTEM=FILE. Repeatable."
    ),
]
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
Section = Annotated[
    str | None, typer.Option("--section", help="Judge one part: findings, impression, both or whole.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the files, if not UTF-8 (for instance latin-1).")
]
Missing = Annotated[
    str,
    typer.Option(
        "--missing",
        help="Studies without a candidate: 'error'; 'nan' keeps them unjudged; "
        "'subset' leaves out those that no system has reported.",
    ),
]
Split = Annotated[
    str | None, typer.Option("--split", help="Only this split of the references: train, val or test.")
]
Images = Annotated[
    Path | None, typer.Option("--images", help="Folder that the image paths of the input are relative to.")
]
ImagesOutside = Annotated[
    bool,
    typer.Option(
        "--images-outside", help="Let the input name images outside that folder (absolute paths, or ..)."
    ),
]
MetricNames = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="A metric of `radgauge ls`, with settings: bleu:variant=cxr. Repeatable."),
]
Models = Annotated[
    str, typer.Option("--models", help="'embedded' (offline), 'published', or a folder with checkpoints.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither use nor write the reading cache.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all resampling.")]
Resamples = Annotated[
    int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 = no intervals.")
]
LONGEST = 200_000  # as radgauge.scores.LONGEST, which would cost the start of every verb; a test holds them equal
Longest = Annotated[
    int,
    typer.Option("--longest", min=1, help="Characters of the longest text that is judged; longer: not judged."),
]
IntervalMethod = Annotated[
    str, typer.Option("--interval", help="auto (wilson, t or percentile by what holds), percentile, bca, or t.")
]
Level = Annotated[float, typer.Option("--level", min=0.5, max=0.999, help="Coverage of the intervals.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes; only the result.")]


def read_case_file(
    reports: list[Path] | None,
    *,
    references: Path | None = None,
    candidates: list[Path] | None = None,
    candidate_columns: str | None = None,
    columns: str | None = None,
    section: str | None = None,
    encoding: str | None = None,
    missing: str = "error",
    split: str | None = None,
    images: Path | None = None,
    images_outside: bool = False,
) -> CaseFile:
    """The cases that the shared options describe."""
    from radgauge.errors import UsageError
    from radgauge.io.case_files import read_cases
    from radgauge.io.tables.columns import parse_columns

    if references is not None:  # then files without an option are candidates too
        candidates, reports = [*(candidates or []), *(reports or [])], None
    if len(reports or []) > 1:
        raise UsageError(
            "one file of reports at a time; for one file per system use --references R --candidates A ..."
        )
    if not reports and references is None:
        raise UsageError("no reports given: name a file, or use --references R --candidates A [--candidates B]")
    if references is not None and not candidates:
        raise UsageError("--references needs at least one --candidates file")
    return read_cases(
        reports[0] if reports else None,
        references=references,
        candidates=_systems(candidates),
        candidate_columns=_comma(candidate_columns),
        columns=parse_columns(columns) if columns else None,
        section=section,
        encoding=encoding,
        missing=missing,  # type: ignore[arg-type]  # checked there
        split=split,
        images=images,
        images_outside=images_outside,
    )


def read_originals(
    path: Path,
    *,
    columns: str | None,
    section: str | None,
    encoding: str | None,
    split: str | None,
    images: Path | None = None,
    images_outside: bool = False,
) -> dict[str, Case]:
    """One case per study: files with several systems repeat their references."""
    from radgauge.errors import InputError
    from radgauge.io.case_files import read_references
    from radgauge.io.tables.columns import parse_columns

    read = read_references(
        path,
        section=section,
        columns=parse_columns(columns) if columns else None,
        encoding=encoding,
        split=split,
        images=images,
        images_outside=images_outside,
    )
    found: dict[str, Case] = {}
    for case in read.cases:
        if not case.references or not case.references[0].strip():
            continue
        known = found.setdefault(case.id, case)
        if known.references[0] != case.references[0]:
            raise InputError(f"{path.name}: a study must have one reference, but those of id {case.id!r} differ")
    if not found:
        raise InputError(f"{path.name}: no report with text")
    return found


def open_readings(*, no_cache: bool, quiet: bool) -> Readings:
    """Readings with the user's cache and a progress bar on stderr."""
    from radgauge.cache import Cache
    from radgauge.cli.progress import bars
    from radgauge.cli.resume import keeps
    from radgauge.reading import Readings

    cache = None if no_cache else Cache()
    if cache is not None:
        keeps(lambda: cache.used > 0)
    return Readings(cache=cache, progress=None if quiet else bars())


def _comma(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _systems(files: list[Path] | None) -> dict[str, Path] | None:
    """System -> file, from FILE and SYSTEM=FILE."""
    from radgauge.io.case_files import system_files

    if files is None:
        return None
    named = [str(file).partition("=") if not file.exists() else ("", "", str(file)) for file in files]
    return system_files([(name, Path(file)) if sign else Path(name or file) for name, sign, file in named])


def to_json(value: object) -> str:
    """JSON for machines: dataclasses as objects, NaN as null; escapes where stdout takes no Unicode."""
    import json
    import sys

    escaped = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return json.dumps(_jsonable(value), ensure_ascii=escaped, indent=1, allow_nan=False)


def _jsonable(value: object) -> object:
    import dataclasses
    import math

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)


def few_cases_note(number: int, unit: str = "cases") -> list[str]:
    """A warning if the intervals rest on so few units that none of the methods is sure to hold."""
    from radgauge.stats.resample import FEW

    if number >= FEW:
        return []
    return [f"{number} {unit}: with fewer than {FEW}, intervals can cover less than they say (docs/intervals.md)"]


def typical_notes(results: Results) -> list[str]:
    """Where the scores of metrics without bounds usually lie, if their signatures say so."""
    notes = []
    for scores in results.values():
        parts = dict(part.partition(":")[::2] for part in scores.signature.split("|"))
        low, sign, high = parts.get("typical", "").partition("..")
        if sign:
            notes.append(f"{scores.columns[0]} predicts {parts['predicts']}; usually it lies in {low} to {high}")
    return notes


def confidence_notes(results: Results) -> list[str]:
    """How many cases the embedded judge hardly understood."""
    notes = []
    for scores in results.values():
        if "errors_low_confidence" in scores.columns:
            low = scores.column("errors_low_confidence")
            if count := int((low == 1).sum()):
                notes.append(
                    f"{scores.judge}: {count} of {len(low)} cases are judged with low confidence, much of their "
                    f"texts was not understood (errors:low_confidence=skip leaves them out)"
                )
    return notes


def profile_note(results: Results) -> list[str]:
    """Said once per run: embedded parts give numbers of their own."""
    embedded = [column for scores in results.values() for column in scores.columns if column.endswith("_embedded")]
    if not embedded:
        return []
    return [
        "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
        "published numbers (--models published uses the authors' checkpoints)"
    ]
