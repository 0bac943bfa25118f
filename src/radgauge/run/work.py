"""The work on one bucket: join, score, write a part. Runs in whatever process the executor chose."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.core.storage import StorageError, Store
from radgauge.io.case_files.images import near_table, place_images
from radgauge.io.case_files.join import Side, join
from radgauge.io.case_files.sections import cut_to_section, headed_texts
from radgauge.io.case_files.spec import InputSpec
from radgauge.io.checksums import CHECKSUM
from radgauge.io.records import Counted, odd_texts
from radgauge.io.score_folder import digest_of, part_name, read_keys, write_part
from radgauge.io.scores_records import read_header
from radgauge.run.buckets import Held, bucket_path, held_in, read_bucket
from radgauge.run.explained import explain_part
from radgauge.run.run_frequencies import give_frequencies
from radgauge.run.score import score
from radgauge.run.streams import Table

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_SIDE = 40
"""Bits of a row's number; above them stands the number of its table."""


@dataclass(frozen=True)
class Plan:
    """Settings and paths that all parts of a run share."""

    folder: Path
    fingerprint: str
    kind: str  # "parquet" or "jsonl"
    tables: tuple[Table, ...]  # One table of cases, or references and tables of candidates
    metrics: tuple[Metric, ...]
    spec: InputSpec  # How the tables are read
    longest: int
    cache: Path | None  # Folder of the reading cache on the machine that works; None uses none
    store: Store | None = None  # Where parts go if not to the folder, which then holds the buckets alone
    # True if buckets go to the workers with their jobs: no machine but the driver's sees the folder
    sends: bool = False
    explained: Path | None = None  # Folder of the explanations; None writes none
    any_language: bool = False

    def job(self, number: int) -> Job:
        """The work on a bucket."""
        return Job(self, number, bucket_path(self.folder, number).read_bytes() if self.sends else None)

    @contextmanager
    def part(self, name: str) -> Iterator[Path]:
        """The file of a part as it was written: in the folder, or a copy of what the store has.

        Raises:
            FileNotFoundError: It is not there.
        """
        if self.store is None:
            yield self.folder / name
            return
        with tempfile.TemporaryDirectory(prefix="radgauge-") as temporary:
            yield self.store.get(name, Path(temporary) / name)


@dataclass(frozen=True)
class Job:
    """One bucket of a plan, with its bytes if the worker does not see the plan's folder."""

    plan: Plan
    number: int
    bucket: bytes | None = None

    def held(self) -> list[Held]:
        """The cases of the bucket."""
        if self.bucket is not None:
            return list(held_in(self.bucket.splitlines()))
        return list(read_bucket(self.plan.folder, self.number))


@dataclass(frozen=True)
class Done:
    """Report to the driver on a scored part: number, seconds by task, the worker's peak memory."""

    number: int
    seconds: Mapping[str, float]
    peak: int


@dataclass(frozen=True)
class Checked:
    """Contents of a part on disk."""

    wrong: str  # "" if it holds the cases that went in
    judges: Mapping[str, Any] = field(default_factory=dict)  # As in its header, without the reasons
    texts: tuple[Counted, ...] = ()  # Counts of odd texts among its cases
    headings: tuple[Counted, ...] = ()  # Counts of texts with headings and without
    images: tuple[str, ...] = ()  # What a person should know of images
    studies: int = 0
    checksum: str = ""  # That of the part


@dataclass(frozen=True)
class Bucket:
    """The cases of a bucket, joined and cut to their section, with their places in the input."""

    cases: list[Case]
    rows: list[int]
    texts: tuple[Counted, ...]
    headings: tuple[Counted, ...]
    images: tuple[str, ...]


def score_part(job: Job) -> Done:
    """Score one bucket and write its part, whole or not at all.

    Raises:
        InputError: The cases of the bucket cannot be joined.
        RadgaugeError: The part cannot be written: the disk is full, or gone.
    """
    plan = job.plan
    begun = time.perf_counter()
    bucket = cases_of(job)
    read = time.perf_counter()
    reading = Readings(cache=Cache(plan.cache) if plan.cache is not None else None)
    give_frequencies(plan.folder, plan.metrics, reading)
    results = score(
        bucket.cases,
        plan.metrics,
        reading=reading,
        longest=plan.longest,
        any_language=plan.any_language,
        progress=False,
    )
    scored = time.perf_counter()
    about = {
        "texts": [asdict(note) for note in bucket.texts],
        "headings": [asdict(note) for note in bucket.headings],
        "images": list(bucket.images),
        "studies": len({case.id for case in bucket.cases}),
    }
    if plan.explained is not None:
        with kept_if_full(plan.explained):
            explain_part(plan.explained, job.number, bucket.cases, results=results, reading=reading)
    described = time.perf_counter()
    keep_part(plan, job.number, results, rows=bucket.rows, about=about)
    seconds = {"reading": read - begun, "scoring": scored - read, "writing": time.perf_counter() - described}
    if plan.explained is not None:
        seconds["explaining"] = described - scored
    return Done(job.number, seconds, peak_memory())


def peak_memory() -> int:
    """Bytes that this process has held at most; 0 where the platform does not tell."""
    if resource is None:
        return 0
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(resident) if sys.platform == "darwin" else int(resident) << 10


def keep_part(plan: Plan, number: int, results: Results, *, rows: Sequence[int], about: Mapping[str, Any]) -> None:
    """Write a part; a disk that is full, or a store that refuses, ends the run with what is done.

    In a folder the file is renamed when it is whole. A store has no such step: the file is made here, and put as
    one object, which appears whole or not at all; whoever puts it again puts the same bytes.
    """
    name = part_name(number, plan.kind)
    with kept_if_full(plan.folder / name):
        if plan.store is None:
            write_part(plan.folder / name, results, rows=rows, fingerprint=plan.fingerprint, about=about)
            return
        with tempfile.TemporaryDirectory(prefix="radgauge-") as temporary:
            path = Path(temporary) / name
            with kept_if_full(path):
                write_part(path, results, rows=rows, fingerprint=plan.fingerprint, about=about)
            plan.store.put(path, name)


@contextmanager
def kept_if_full(path: Path) -> Iterator[None]:
    """Tell a disk or store that takes nothing as what it is: the run ends, and what is done is kept."""
    try:
        yield
    except StorageError as error:
        raise RadgaugeError(
            f"{error}; the parts that are done are kept: mend it, and run the same command again"
        ) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise RadgaugeError(
            f"{path} cannot be written ({why}); the parts that are done are kept: make room, and run the same "
            "command again"
        ) from error


def cases_of(job: Job) -> Bucket:
    """The cases of a bucket as they are judged."""
    plan, held = job.plan, job.held()
    notes: list[Counted] = []
    if len(plan.tables) == 1:
        side, rows, notes = _side(plan, 0, held)
        cases, locations = list(side.cases), list(side.locations)
    else:
        cases, locations, rows, notes = _joined(plan, held)
    headings = headed_texts(cases) if plan.spec.section is None else []
    headings = [replace(note, first=rows[note.first] if rows else 0) for note in headings]
    odd = [replace(note, first=rows[note.first]) for note in odd_texts(cases, locations=locations)]
    image_notes: Sequence[str]
    if plan.spec.images is not None:
        cases, image_notes = place_images(cases, plan.spec.images, outside=plan.spec.images_outside)
    else:
        cases, image_notes = near_table(cases, plan.tables[0].files[0])
    return Bucket(cases, rows, (*odd,), (*notes, *headings), tuple(image_notes))


def check_part(item: tuple[Plan, int, int, str]) -> Checked:
    """Read a part back from where it is, its checksum verified: plan, number, cases, digest of the keys."""
    plan, number, cases, keys = item
    file = part_name(number, plan.kind)
    try:
        with plan.part(file) as path:
            header, count, digest = read_keys(path)
    except FileNotFoundError:
        return Checked(f"{file} is not there")
    except InputError:
        return Checked(f"{file} is damaged, cut off or changed")
    if header.get("fingerprint") != plan.fingerprint:
        return Checked(f"{file} is of another run")
    if (count, digest) != (cases, keys):
        return Checked(f"{file} holds {count} cases where {cases} went in, or other ids")
    judges = {
        name: {key: value for key, value in judge.items() if key not in ("not_judged", "truncated")}
        for name, judge in header["judges"].items()
    }
    about = header["part"]
    texts, headings = (tuple(Counted(**note) for note in about[kind]) for kind in ("texts", "headings"))
    return Checked("", judges, texts, headings, tuple(about["images"]), about["studies"], header.get(CHECKSUM, ""))


def is_done(plan: Plan, number: int, cases: int, keys: str) -> bool:
    """True if a part of this run is in the folder; its name says it is complete, its header whose it is."""
    try:
        header = read_header(plan.folder / part_name(number, plan.kind))
    except (OSError, InputError):
        return False
    about = header.get("part")
    recorded = (about.get("cases"), about.get("keys")) if isinstance(about, dict) else ()
    return header.get("fingerprint") == plan.fingerprint and recorded == (cases, keys)


def joins(job: Job) -> tuple[int, int, str]:
    """Cases of a bucket of a join, without scoring: number of the bucket, how many, digest of their keys.

    Raises:
        InputError: Studies and candidates do not fit together.
    """
    cases, _, _, _ = _joined(job.plan, job.held())
    return job.number, len(cases), digest_of([case.key for case in cases])


def _side(plan: Plan, number: int, held: Sequence[Held]) -> tuple[Side, list[int], list[Counted]]:
    table = plan.tables[number]
    own = [item for item in held if item.side == number]
    cases = [item.case for item in own]
    locations = [item.location for item in own]
    notes: list[Counted] = []
    if plan.spec.section is not None:
        cases, notes = cut_to_section(
            cases, plan.spec.section, locations=locations, name=table.name, settled=table.roles.sectioned
        )
        notes = [replace(note, first=own[note.first].row if own else 0) for note in notes]
    return Side(table.as_input(), table.roles, tuple(cases), tuple(locations)), [item.row for item in own], notes


def _joined(plan: Plan, held: Sequence[Held]) -> tuple[list[Case], list[str], list[int], list[Counted]]:
    sides = [_side(plan, number, held) for number in range(len(plan.tables))]
    references, row_of_study, notes = sides[0]
    try:
        cases, locations = join(references, [side for side, _, _ in sides[1:]], missing=plan.spec.missing)
    except InputError as error:
        raise InputError(f"in one of the parts of the input: {error}") from None
    row_by_study = {case.id: row for case, row in zip(references.cases, row_of_study, strict=True)}
    owner: dict[tuple[str, str], tuple[int, int]] = {}
    table_of: dict[str, int] = {}
    for number, (side, rows, more) in enumerate(sides[1:], start=1):
        notes = [*notes, *more]
        for case, row in zip(side.cases, rows, strict=True):
            owner[case.key] = (number, row)
            table_of.setdefault(case.system, number)
    rows = []
    for case in cases:
        number, row = owner.get(case.key, (table_of.get(case.system, 1), 0))
        row_number = row_by_study[case.id] if case.id in row_by_study else (1 << (_SIDE - 1)) + row
        rows.append((number << _SIDE) + row_number)
    order = np.argsort(np.array(rows, dtype=np.int64), kind="stable")
    return [cases[at] for at in order], [locations[at] for at in order], [rows[at] for at in order], notes
