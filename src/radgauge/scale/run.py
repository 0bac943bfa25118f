"""The driver of a run: split, score what is missing, check, write the manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import radgauge
from radgauge.cases import Counted
from radgauge.choices import Missing
from radgauge.errors import InputError, RadgaugeError, UsageError, require
from radgauge.files import make_folder
from radgauge.io.case_files.read import Provenance, system_files
from radgauge.io.case_files.sections import section_notes
from radgauge.io.score_folder import (
    MANIFEST,
    Manifest,
    Part,
    fingerprint_of,
    is_score_folder,
    part_name,
    read_manifest,
)
from radgauge.io.tables.column_names import shown_names
from radgauge.io.tables.columns import SECTIONS, check_roles
from radgauge.metric import Metric, unaliased
from radgauge.scale.buckets import WORK, Split, read_split, remove_buckets, write_buckets
from radgauge.scale.executors import HERE, Engine, run, run_in_order, session
from radgauge.scale.frequencies import survey
from radgauge.scale.run_frequencies import surveyed
from radgauge.scale.streams import Reading, Table, expected_bytes, open_table, sources_of, table_notes
from radgauge.scale.work import Checked, Job, Plan, check_part, is_done, joins, score_part
from radgauge.scores import LONGEST, judges_of
from radgauge.show.progress import working

try:
    import fcntl
except ImportError:  # Windows: no advisory locks
    fcntl = None  # type: ignore[assignment]

PART_BYTES = 4 << 20
"""Bytes of input per part: about 6,000 pairs of chest reports, seconds of work and some 300 MB of readings."""

MOST_PARTS = 16_384
Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Input:
    """Where the reports of a run are; see `radgauge.io.case_files.read_cases` for each."""

    reports: Path | None = None
    references: Path | None = None
    candidates: Mapping[str, Path] | None = None
    how: Reading = field(default_factory=Reading)
    missing: Missing = "error"
    images: Path | None = None
    images_outside: bool = False


@dataclass(frozen=True)
class Ran:
    """What a run did.

    Attributes:
        manifest: Of the folder, which is complete.
        scored: Parts that this call scored; the others were there.
        seconds: Of all workers, by what they did.
        peak: Bytes of the largest worker.
    """

    manifest: Manifest
    scored: int
    seconds: Mapping[str, float]
    peak: int = 0


def score_to_folder(
    reports: Path | str | None,
    folder: Path | str,
    *,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    references: Path | str | None = None,
    candidates: Sequence[Path | str] | Mapping[str, Path | str] | None = None,
    candidate_columns: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    section: str | None = None,
    encoding: str | None = None,
    split: str | None = None,
    missing: Missing = "error",
    images: Path | str | None = None,
    images_outside: bool = False,
    models: str = "embedded",
    longest: int = LONGEST,
    kind: str = "",
    parts: int = 0,
    engine: Engine = HERE,
    cache: Path | None = None,
    progress: Told | None = None,
) -> Ran:
    """Score any number of reports into a folder of parts; the same call goes on where one was stopped.

    Args:
        reports: A table of cases, or a folder of such tables.
        folder: Where the parts and their manifest go.
        metrics: As in `score`.
        references: A table of references instead, joined with candidates by id.
        candidates: Tables of candidates, or system -> table.
        candidate_columns: As in `read_cases`; so are columns, section, encoding, split, missing, images and
            images_outside.
        columns: Role -> column.
        section: Part of the reports.
        encoding: Of text files.
        split: Of the references.
        missing: What to do with studies without a candidate.
        images: Folder of the images.
        images_outside: Whether images may lie outside it.
        models: Profile of metrics given by name.
        longest: Characters of the longest text that is judged.
        kind: "parquet" or "jsonl"; "" takes Parquet where pyarrow is installed.
        parts: Into how many parts; 0 takes one per 4 MB of input.
        engine: Where parts are scored.
        cache: Folder of the reading cache of every machine; None uses none.
        progress: Told (what, done, total).

    Raises:
        InputError: The input cannot be used, or the folder holds another run.
        UsageError: The arguments do not fit together.
    """
    given = Input(
        Path(reports) if reports is not None else None,
        Path(references) if references is not None else None,
        _systems(candidates),
        Reading(
            check_roles(columns), tuple(candidate_columns) if candidate_columns else None, section, encoding, split
        ),
        missing,
        Path(images) if images is not None else None,
        images_outside,
    )
    if section is not None and section not in SECTIONS:
        raise UsageError(f"section must be one of {', '.join(SECTIONS)}, got {section!r}")
    judges = tuple(judges_of(metrics, models=models))
    place = Path(folder)
    with working("scoring in parts") as tell:
        told = progress or tell
        told("opening the input", 0, 1)
        tables = tables_of(given)
        _check_metrics(judges, tables, engine)
        if not kind:
            kind = _usual_kind()
        if kind not in ("parquet", "jsonl"):
            raise UsageError(f"the kind of the parts must be parquet or jsonl, got {kind!r}")
        if kind == "parquet":
            require("pyarrow", extra="parquet")
        divided = parts or min(MOST_PARTS, max(1, -(-sum(map(expected_bytes, tables)) // PART_BYTES)))
        settings = _settings(given, longest)
        signatures = {metric.columns[0]: metric.signature() for metric in judges}
        fingerprint = fingerprint_of(
            {
                "input": [(source.sha256, source.format, source.encoding) for source in sources_of(tables)],
                "judges": signatures,
                "settings": settings,
                "divided": divided,
                "kind": kind,
            }
        )
        plan = Plan(
            place,
            fingerprint,
            kind,
            tables,
            judges,
            section,
            missing,
            given.images,
            images_outside,
            longest,
            cache,
        )
        older = _older(place)
        if older is not None:
            _check_same(place, older, plan, settings, divided)
            if older.complete:
                return Ran(older, 0, {})
        make_folder(place)
        with _alone(place):
            if older is None:
                _begun(plan, settings, signatures, divided).write(place)
            with session(engine):
                return _finish(plan, settings, divided, engine=engine, told=told)


def tables_of(given: Input) -> tuple[Table, ...]:
    """The tables of an input: one of cases, or references and candidates."""
    if given.references is None:
        if given.reports is None:
            raise UsageError("nothing to read: give one file, or references and candidates")
        return (open_table(given.reports, "cases", given.how),)
    files = dict(given.candidates or {})
    if not files:
        raise UsageError("references need candidates: give at least one file of candidates")
    tables = [open_table(given.references, "references", given.how)]
    tables += [open_table(file, "candidates", given.how, system=name) for name, file in files.items()]
    for role, names in given.how.columns.items():
        if not any(set(names) <= set(table.columns) for table in tables):
            seen = "; ".join(f"{table.name}: {shown_names(table.columns)}" for table in tables)
            raise InputError(f"no file has the column {', '.join(names)} named for {role!r}; columns: {seen}")
    return tuple(tables)


def _finish(plan: Plan, settings: Mapping[str, Any], divided: int, *, engine: Engine, told: Told) -> Ran:
    split = read_split(plan.folder, plan.fingerprint)
    if split is None:
        told("dividing the input", 0, divided)
        split = write_buckets(plan.folder, plan.tables, divided=divided, fingerprint=plan.fingerprint)
    wanted = _wanted(plan, split, engine)
    left = [number for number, (cases, keys) in sorted(wanted.items()) if not is_done(plan, number, cases, keys)]
    there = len(wanted) - len(left)
    if left:
        survey(plan, sorted(wanted), engine=engine, told=told)
    seconds: dict[str, float] = {}
    peak = 0
    told("scoring", there, len(wanted))
    for at, (_, done) in enumerate(run(score_part, (Job(plan, number) for number in left), engine=engine)):
        peak = max(peak, done.peak)
        for name, spent in done.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + spent
        told("scoring", there + at + 1, len(wanted))
    summed = _Sums()
    checks = (
        (plan.folder, part_name(number, plan.kind), plan.fingerprint, cases, keys)
        for number, (cases, keys) in sorted(wanted.items())
    )
    for at, checked in enumerate(run_in_order(check_part, checks, engine=engine)):
        if checked.wrong:
            raise RadgaugeError(f"{plan.folder}: {checked.wrong}; remove that part and run the same command again")
        summed.add(checked)
        told("checking", at + 1, len(wanted))
    manifest = _complete(plan, settings, split, wanted, summed)
    manifest.write(plan.folder)
    remove_buckets(plan.folder)
    return Ran(manifest, len(left), seconds, peak)


def _wanted(plan: Plan, split: Split, engine: Engine) -> dict[int, tuple[int, str]]:
    """Number of each part -> how many cases it must hold, and the digest of their keys."""
    if len(plan.tables) == 1:
        return {number: (split.cases[0][number], split.keys[0][number]) for number in split.filled}
    found = run(joins, (Job(plan, number) for number in split.filled), engine=engine)
    return {number: (cases, keys) for _, (number, cases, keys) in found if cases}


class _Sums:
    """Counts of all parts."""

    def __init__(self) -> None:
        self.judges: dict[str, Any] = {}
        self.texts: dict[tuple[str, str], Counted] = {}
        self.headings: dict[tuple[str, str], Counted] = {}
        self.images: dict[str, None] = {}
        self.studies = 0

    def add(self, part: Checked) -> None:
        for name, each in part.judges.items():
            before = self.judges.setdefault(name, {**each, "judged": 0, "rows": 0})
            before["judged"] += each["judged"]
            before["rows"] = max(before["rows"], each["rows"])
        for kept, notes in ((self.texts, part.texts), (self.headings, part.headings)):
            for note in notes:
                key = (note.before, note.what)
                kept[key] = kept[key] + note if key in kept else note
        self.images.update(dict.fromkeys(part.images))
        self.studies += part.studies

    def notes(self, cases: int) -> list[str]:
        """What a person should know of the texts of all cases."""
        texts = sorted(self.texts.values(), key=lambda note: note.first)
        return [
            *section_notes(list(self.headings.values())),
            *(str(replace(note, total=cases)) for note in texts),
            *(f"{note} (in one of the parts)" for note in list(self.images)[:1]),
        ]


def _complete(
    plan: Plan, settings: Mapping[str, Any], split: Split, wanted: Mapping[int, tuple[int, str]], summed: _Sums
) -> Manifest:
    cases = sum(count for count, _ in wanted.values())
    notes = [note for table in plan.tables for note in table_notes(table)]
    first = plan.tables[0]
    if len(plan.tables) == 1:
        if not first.roles.references:
            notes.append(
                f"{first.name} has no reference column; its columns: {shown_names(first.columns)}; "
                "name it with columns={'reference': NAME}"
            )
        if summed.studies * len(split.systems) != cases:
            notes.append(
                f"not every system has every study: {cases} cases of {summed.studies} studies and "
                f"{len(split.systems)} systems"
            )
    elif (left_out := split.rows[0] - summed.studies) > 0:
        notes.append(f"{left_out} of {split.rows[0]} studies were left out: no system has reported them")
    provenance = Provenance(
        sources=tuple(
            replace(source, rows=rows if len(table.sources) == 1 else 0, notes=())
            for table, rows in zip(plan.tables, split.rows, strict=True)
            for source in table.sources
        ),
        columns={table.name: table.roles.as_dict() for table in plan.tables},
        section=plan.section,
        split=settings["split"],
        studies=summed.studies,
        systems=tuple(split.systems),
        cases=cases,
        warnings=(*notes, *summed.notes(cases)),
    )
    parts = tuple(Part(part_name(number, plan.kind), *wanted[number]) for number in sorted(wanted))
    return Manifest(
        radgauge=radgauge.__version__,
        complete=True,
        fingerprint=plan.fingerprint,
        input=provenance.as_dict(),
        judges=summed.judges,
        settings=settings,
        kind=plan.kind,
        divided=split.divided,
        cases=cases,
        parts=parts,
    )


def _begun(plan: Plan, settings: Mapping[str, Any], signatures: Mapping[str, str], divided: int) -> Manifest:
    """The manifest of a run that begins: whose folder it is."""
    return Manifest(
        radgauge=radgauge.__version__,
        complete=False,
        fingerprint=plan.fingerprint,
        input={"sources": [asdict(source) for source in sources_of(plan.tables)]},
        judges={name: {"signature": signature} for name, signature in signatures.items()},
        settings=settings,
        kind=plan.kind,
        divided=divided,
        cases=0,
        parts=(),
    )


def _older(folder: Path) -> Manifest | None:
    """The manifest of a folder that is there; None for a new or an empty one."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; scores in parts need a folder")
    if is_score_folder(folder):
        return read_manifest(folder, finished=False)
    other = next((each.name for each in folder.iterdir() if not each.name.startswith(".")), None)
    if other is not None:
        raise InputError(f"{folder} holds other files ({other}) and no {MANIFEST}; name a new folder")
    return None


def _check_same(folder: Path, older: Manifest, plan: Plan, settings: Mapping[str, Any], divided: int) -> None:
    """Refuse a folder that another run has begun, and say what differs."""
    if older.fingerprint == plan.fingerprint:
        return
    signatures = {metric.columns[0]: metric.signature() for metric in plan.metrics}
    known = {str(about.get("signature")) for about in older.judges.values()}
    hashes = [source.sha256 for source in sources_of(plan.tables)]
    differs = []
    if [each.get("sha256") for each in older.input.get("sources", ())] != hashes:
        differs.append("other reports")
    if set(signatures.values()) != known:
        changed = next((name for name, each in signatures.items() if each not in known), "")
        differs.append(
            f"other metrics ({changed} was not there with this signature)" if changed else "more metrics"
        )
    if dict(older.settings) != dict(settings):
        odd = next((key for key in settings if older.settings.get(key) != settings[key]), "")
        differs.append(f"another setting ({odd})")
    if (older.divided, older.kind) != (divided, plan.kind):
        differs.append(f"another division ({older.divided} parts of {older.kind})")
    what = ", ".join(differs) or "other columns or encodings"
    raise InputError(
        f"{folder} holds the scores of another run: {what}. Runs are not mixed: name a new folder, or remove it"
    )


def _settings(given: Input, longest: int) -> dict[str, Any]:
    how = given.how
    return {
        "section": how.section,
        "split": how.split,
        "missing": given.missing,
        "encoding": how.encoding,
        "columns": {role: list(names) for role, names in how.columns.items()},
        "candidate_columns": list(how.candidate_columns) if how.candidate_columns else None,
        "systems": list(given.candidates) if given.candidates else [],
        "images": given.images is not None,
        "longest": longest,
    }


def _check_metrics(metrics: Sequence[Metric], tables: Sequence[Table], engine: Engine) -> None:
    asking = [metric.name for metric in metrics if unaliased(metric).name == "llm_errors"]
    if asking and engine.name != "process":
        raise UsageError(f"{asking[0]} asks a server, with one budget and one journal: score it in one process")
    twice = surveyed(metrics)
    whole = [metric.name for at, metric in enumerate(metrics) if not metric.independent and at not in twice]
    if whole:
        raise UsageError(
            f"{', '.join(whole)} must see all cases of a run at once; write to a file instead of a folder"
        )
    needing = [metric.name for metric in metrics if "reference" in metric.needs]
    if len(tables) == 1 and needing and not tables[0].roles.references:
        raise InputError(
            f"{', '.join(needing)} cannot judge without references: {tables[0].name} has no reference column; its "
            f"columns: {shown_names(tables[0].columns)}; name it with columns={{'reference': NAME}}"
        )


def _systems(
    candidates: Sequence[Path | str] | Mapping[str, Path | str] | None,
) -> Mapping[str, Path] | None:
    if candidates is None:
        return None
    if isinstance(candidates, Mapping):
        return {system: Path(file) for system, file in candidates.items()}
    return system_files(candidates)


def _usual_kind() -> str:
    from importlib.util import find_spec

    return "parquet" if find_spec("pyarrow") is not None else "jsonl"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One run at a time in a folder; the lock of a run that was killed goes with it."""
    make_folder(folder / WORK)
    path = folder / ".lock"
    file: IO[bytes]
    with path.open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"{folder} is in use by another run; wait for it or name another folder"
                ) from None
        yield
