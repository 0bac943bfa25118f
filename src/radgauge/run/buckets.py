"""Buckets: the cases of an input, divided by a hash of the study id, on disk until they are scored.

A bucket is a file of JSON lines: [side, row, place, id, system, candidate, references, images, meta]. Beside the
buckets, `split.json` says that all of them are whole, how many cases went into each, and the digest of their keys.
Buckets hold report text: they stand in a folder for the owner only, and go when the run is complete.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from radgauge.core.cases import EMPTY, Case
from radgauge.core.errors import InputError
from radgauge.core.files import make_folder, write_file
from radgauge.io.score_folder import part_of
from radgauge.run.streams import Table, iter_cases

WORK = ".work"
SPLIT = "split.json"
BUFFER = 64 << 20
"""Bytes of cases that are kept before they are appended to their buckets."""
DIGEST = 16


@dataclass(frozen=True, slots=True)
class Split:
    """Contents of the buckets."""

    fingerprint: str
    divided: int  # Into how many buckets
    cases: list[list[int]]  # Rows of each side, by bucket: sides x buckets
    keys: list[list[str]]  # Digest of the (id, system) pairs of each side, by bucket
    systems: list[str]  # By first appearance
    rows: list[int]  # Rows read from each side

    @property
    def filled(self) -> list[int]:
        """Buckets that hold anything."""
        return [at for at in range(self.divided) if any(side[at] for side in self.cases)]


@dataclass(frozen=True, slots=True)
class Held:
    """A case in a bucket, and where it came from."""

    side: int
    row: int
    location: str
    case: Case


def bucket_path(folder: Path, number: int) -> Path:
    """The file of a bucket."""
    return folder / WORK / f"bucket-{number:05d}.jsonl"


def read_split(folder: Path, fingerprint: str) -> Split | None:
    """Read a finished split of this run; None if it was not finished, or was of another run."""
    try:
        split = Split(**json.loads((folder / WORK / SPLIT).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return split if split.fingerprint == fingerprint else None


def write_buckets(folder: Path, tables: Sequence[Table], *, divided: int, fingerprint: str) -> Split:
    """Read the tables once and write every case to its bucket.

    Raises:
        InputError: A row cannot be used, or an (id, system) occurs twice in a table.
    """
    work = folder / WORK
    with suppress(FileNotFoundError):
        for old in work.glob("bucket-*"):
            old.unlink()
        for old in work.glob("keys-*"):
            old.unlink()
    make_folder(work)
    cases = np.zeros((len(tables), divided), dtype=np.int64)
    totals = [[0] * divided for _ in tables]
    systems: dict[str, None] = {}
    rows = [0] * len(tables)
    waiting: dict[int, list[bytes]] = {}
    digests: dict[int, list[bytes]] = {}
    size = 0

    def flush() -> None:
        for name, pending in (("bucket-{:05d}.jsonl", waiting), ("keys-{:05d}", digests)):
            for number, lines in pending.items():
                with (work / name.format(number)).open("ab") as file:
                    file.writelines(lines)
            pending.clear()

    for side, table in enumerate(tables):
        row = 0
        for _, location, row_cases in iter_cases(table):
            rows[side] += 1
            for case in row_cases:
                at = part_of(case.id, divided)
                digest = _digest(side, case)
                line = _packed(side, row, location, case)
                waiting.setdefault(at, []).append(line)
                digests.setdefault(at, []).append(digest)
                cases[side, at] += 1
                totals[side][at] += key_number(case.id, case.system)
                if table.mode != "references":
                    systems.setdefault(case.system)
                row += 1
                size += len(line) + 200
                if size > BUFFER:
                    flush()
                    size = 0
    flush()
    split = Split(
        fingerprint,
        divided,
        cases.tolist(),
        [[f"{total % (1 << 128):032x}" for total in side] for side in totals],
        list(systems),
        rows,
    )
    _check_unique(folder, split)
    write_file(work / SPLIT, json.dumps(asdict(split)))
    return split


def read_bucket(folder: Path, number: int) -> Iterator[Held]:
    """The cases of a bucket, in the order of the input."""
    with bucket_path(folder, number).open("rb") as file:
        yield from held_in(file)


def held_in(lines: Iterable[bytes]) -> Iterator[Held]:
    """The cases that the lines of a bucket hold."""
    for line in lines:
        side, row, location, study, system, candidate, references, images, meta = json.loads(line)
        case = Case(
            study,
            candidate,
            tuple(references),
            system,
            tuple(map(Path, images)),
            MappingProxyType(meta) if meta else EMPTY,
        )
        yield Held(side, row, location, case)


def remove_buckets(folder: Path) -> None:
    """Remove the buckets of a run that is complete."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder / WORK)


def key_number(study: str, system: str) -> int:
    """A case's share of the digest of many (see `io.score_folder.digest_of`)."""
    packed = f"{len(study)}:{study}{system}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(packed, digest_size=16).digest())


def _packed(side: int, row: int, location: str, case: Case) -> bytes:
    meta: Mapping[str, Any] = dict(case.meta)
    images = [str(image) for image in case.images]
    record = [side, row, location, case.id, case.system, case.candidate, case.references, images, meta]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _digest(side: int, case: Case) -> bytes:
    packed = f"{side}:{len(case.id)}:{case.id}{case.system}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(packed, digest_size=DIGEST).digest()


def _check_unique(folder: Path, split: Split) -> None:
    """Every (id, system) once in each table: copies share a bucket."""
    repeats, first = 0, None
    for number in split.filled:
        path = folder / WORK / f"keys-{number:05d}"
        keys = np.fromfile(path, dtype=np.uint64).reshape(-1, DIGEST // 8)
        path.unlink()
        again = len(keys) - len(np.unique(keys, axis=0))
        if again and first is None:
            first = number
        repeats += again
    if first is None:
        return
    seen: dict[tuple[int, str, str], Held] = {}
    for held in read_bucket(folder, first):
        key = (held.side, *held.case.key)
        if key in seen:
            one = seen[key]
            same = (one.case.candidate, one.case.references) == (held.case.candidate, held.case.references)
            total = sum(map(sum, split.cases))
            raise InputError(
                f"{repeats} of {total} cases repeat an id: for instance {held.case.id!r} of system "
                f"{held.case.system!r} ({one.location} and {held.location}), with "
                f"{'the same texts' if same else 'different texts'}; every (id, system) must occur once: "
                "remove the copies, or name the systems in a `system` column"
            )
        seen[key] = held
