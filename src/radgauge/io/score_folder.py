"""Scores in a folder: a manifest and parts, so that no process has to hold the scores of a large run at once.

    FOLDER/manifest.json           what was scored, with what, and which parts there are
    FOLDER/part-00000.parquet      each part is a scores file of its own (see `scores_file`), .parquet or .jsonl
    FOLDER/part-00001.parquet      ...

A study's cases stand in one part, chosen by a hash of the study id (`part_of`), so every question about one study
(its systems side by side, a resampled study) is answered inside a part. A part's header has what the header of a
scores file has: `judges` with columns, signature, settings and `not_judged`; `cases` counts that part. Its column
`_row` is the place of the case in the input, from 0: whoever merges parts can restore the order of the input.
Numbers of parts may have gaps: a part without a case is not written. Schemas of Parquet parts agree but for
columns of the input that no record of a part has.

The manifest is a JSON object:

    format       "radgauge-score-folder-1"
    radgauge     version that wrote it
    complete     true once every part is there and the ids that came out are those that went in
    fingerprint  hash of input, judges and settings: parts with another one do not belong here
    input        as `input` in the header of a scores file: sources and hashes, columns, systems, warnings
    judges       as `judges` in the header of a scores file, without `not_judged`; `judged` counts the whole run
    settings     what else decides on the numbers: section, longest text, ...
    kind         "parquet" or "jsonl"
    divided      into how many parts the ids are hashed
    cases        rows of all parts
    parts        [{"file": name, "cases": rows, "keys": digest of its (id, system) pairs, "checksum": that of its
                 header}, ...] by number
    checksum     of the manifest itself; see `checksums`

`iter_score_folder` yields one Results per part, as the manifest has them; `read_score_folder` puts them together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Key, digest_of_parts
from radgauge.core.errors import InputError
from radgauge.core.files import replacing, write_file
from radgauge.core.scores import Results, Scores
from radgauge.io.checksums import CHECKSUM, checksum_of, verify
from radgauge.io.scores_records import (
    header_of,
    read_records,
    results_of,
    table_of,
    write_records,
)

FORMAT = "radgauge-score-folder-1"
MANIFEST = "manifest.json"
ROW = "_row"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a folder: its name, its cases, a digest of their keys, and its checksum."""

    file: str
    cases: int
    keys: str
    checksum: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Manifest of a folder of scores; the module's text names every field."""

    radgauge: str
    complete: bool
    fingerprint: str
    input: Mapping[str, Any]
    judges: Mapping[str, Any]
    settings: Mapping[str, Any]
    kind: str
    divided: int
    cases: int
    parts: tuple[Part, ...]
    format: str = FORMAT

    def write(self, folder: Path) -> None:
        """Write it, whole or not at all."""
        facts = asdict(self)
        facts[CHECKSUM] = checksum_of(facts)
        write_file(folder / MANIFEST, json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def is_score_folder(folder: Path) -> bool:
    """True if a folder has a manifest of ours."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            return FORMAT.encode() in file.read(1 << 16) or _parsed(folder).get("format") == FORMAT
    except FileNotFoundError:
        return False


def read_manifest(folder: Path | str, *, finished: bool = True) -> Manifest:
    """The manifest of a folder.

    Args:
        folder: The folder.
        finished: Refuse a folder whose run did not come to its end.

    Raises:
        InputError: There is none, it is damaged, or the run is not finished.
    """
    path = Path(folder)
    try:
        parsed = _parsed(path)
    except FileNotFoundError:
        raise InputError(f"{path} is no folder of scores: it has no {MANIFEST}") from None
    if parsed.get("format") != FORMAT:
        raise InputError(f"{path / MANIFEST} is not of the format {FORMAT}")
    try:
        parts = tuple(
            Part(str(entry["file"]), int(entry["cases"]), str(entry["keys"]), str(entry.get(CHECKSUM, "")))
            for entry in parsed["parts"]
        )
        fields = {name: parsed[name] for name in Manifest.__slots__ if name not in ("parts", "format")}
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path / MANIFEST} is damaged: it must have what radgauge writes there") from None
    odd = next((part.file for part in parts if Path(part.file).name != part.file), None)
    if odd is not None:
        raise InputError(f"{path / MANIFEST} names a part outside its folder")
    manifest = Manifest(**fields, parts=parts)
    if finished and manifest.complete and manifest.cases != sum(part.cases for part in parts):
        raise InputError(f"{path / MANIFEST} states {manifest.cases} cases, its parts have another sum")
    if finished and not manifest.complete:
        raise InputError(
            f"{path} is not finished: its run was stopped; the same `radgauge score` command goes on with it"
        )
    if finished:  # a run that resumes goes by its fingerprint, and reads every part again
        verify(path / MANIFEST, parsed.get(CHECKSUM), checksum_of(parsed))
    return manifest


def iter_score_folder(folder: Path | str) -> Iterator[Results]:
    """The results of each part in turn; `header` is the part's own.

    Raises:
        InputError: A part is missing, damaged, of another run, or has other rows than the manifest says.
    """
    for results, _ in iter_parts(folder):
        yield results


def iter_parts(folder: Path | str) -> Iterator[tuple[Results, NDArray[np.int64]]]:
    """The results of each part in turn, and where its cases stand in the input."""
    path = Path(folder)
    manifest = read_manifest(path)
    for part in manifest.parts:
        yield read_part(path / part.file, manifest, part)


def read_part(path: Path, manifest: Manifest, part: Part) -> tuple[Results, NDArray[np.int64]]:
    """One part, checked against the manifest, and where its cases stand in the input."""
    if not path.is_file():
        raise InputError(f"{path} is missing: the manifest has it with {part.cases} cases")
    header, table = read_records(path)
    if header.get("fingerprint") != manifest.fingerprint:
        raise InputError(f"{path} is of another run than {MANIFEST}: other reports, metrics or settings")
    results = results_of(path, header, table)
    keys = results.keys_of_cases
    if len(keys) != part.cases or digest_of(keys) != part.keys:
        raise InputError(f"{path} holds other cases than {MANIFEST} says ({len(keys)}, {part.cases} expected)")
    if list(results) != list(manifest.judges):
        raise InputError(f"{path} has other judges than {MANIFEST}")
    if part.checksum:
        verify(path, part.checksum, str(header.get(CHECKSUM)))
    try:
        rows = np.asarray(table[ROW], dtype=np.int64)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"{path}: the column {ROW} must hold the number of each case in the input") from None
    return results, rows


def read_score_folder(folder: Path | str) -> Results:
    """All parts as one, in the order of the input; its header is that of a scores file."""
    manifest = read_manifest(folder)
    parts = list(iter_parts(folder))
    if not parts:
        raise InputError(f"{folder} holds no scores")
    order = np.argsort(np.concatenate([rows for _, rows in parts]), kind="stable")
    all_results = [results for results, _ in parts]
    keys = [key for results in all_results for key in results.keys_of_cases]
    names = dict.fromkeys(name for results in all_results for name in results.meta)
    meta = {
        name: [
            value for results in all_results for value in results.meta.get(name, [""] * len(results.keys_of_cases))
        ]
        for name in names
    }
    judges: dict[str, Scores] = {}
    for name in manifest.judges:
        all_scores = [results[name] for results in all_results]
        reasons = {key: why for scores in all_scores for key, why in scores.reasons.items()}
        ordered = tuple(keys[i] for i in order)
        judges[name] = replace(
            all_scores[0],
            keys=ordered,
            rows=np.vstack([scores.rows for scores in all_scores])[order],
            values=np.vstack([scores.values for scores in all_scores])[order],
            reasons={key: reasons[key] for key in ordered if key in reasons},
            truncated=frozenset().union(*(scores.truncated for scores in all_scores)),
        )
    header = {**all_results[0].header, "input": dict(manifest.input), "cases": len(keys)}
    digests = [str(results.header["references"]) for results in all_results if "references" in results.header]
    header["references"] = digest_of_parts(digests) if len(digests) == len(all_results) else None
    header["judges"] = {name: dict(about) for name, about in manifest.judges.items()}
    return Results(judges, {name: [column[i] for i in order] for name, column in meta.items()}, header)


def write_part(
    path: Path,
    results: Results,
    *,
    rows: Sequence[int],
    fingerprint: str,
    about: Mapping[str, Any] | None = None,
) -> Part:
    """Write the results of one part, whole or not at all, and say what the manifest says of it.

    Args:
        path: FOLDER/part-00000.jsonl or .parquet.
        results: Of the part's cases.
        rows: Where the cases stand in the input.
        fingerprint: Of the run.
        about: More for `part` in its header, which has the number of cases and the digest of their keys.
    """
    keys = digest_of(results.keys_of_cases)
    part = {"cases": len(rows), "keys": keys, **(about or {})}
    digest = {name: results.header[name] for name in ("references",) if name in results.header}
    header = header_of(results, {"fingerprint": fingerprint, "part": part, **digest})
    with replacing(path) as beside:
        checksum = write_records(beside, header, {**table_of(results), ROW: list(rows)})
    return Part(path.name, len(rows), keys, checksum)


def read_keys(path: Path) -> tuple[dict[str, Any], int, str]:
    """The header of a part, the number of its cases and the digest of their keys, its checksum verified."""
    header, table = read_records(path)
    keys = results_of(path, header, table).keys_of_cases
    return header, len(keys), digest_of(keys)


def fingerprint_of(facts: Mapping[str, Any]) -> str:
    """A hash of what decides on the numbers."""
    packed = json.dumps(facts, sort_keys=True, ensure_ascii=True, default=str).encode()
    return hashlib.sha256(packed).hexdigest()


def part_of(study: str, divided: int) -> int:
    """The part that a study's cases belong to: the same on every machine, for every system.

    >>> part_of("CXR1", 16), part_of("CXR1", 16) == part_of("CXR2", 16)
    (14, False)
    """
    return (
        int.from_bytes(hashlib.blake2b(study.encode("utf-8", "surrogatepass"), digest_size=8).digest()) % divided
    )


def part_name(number: int, kind: str) -> str:
    """The file of a part.

    >>> part_name(7, "jsonl")
    'part-00007.jsonl'
    """
    return f"part-{number:05d}.{kind}"


def digest_of(keys: Iterable[Key]) -> str:
    """A digest of (id, system) pairs that does not depend on their order; pairs that repeat change it."""
    total = 0
    for study, system in keys:
        packed = f"{len(study)}:{study}{system}".encode("utf-8", "surrogatepass")
        total += int.from_bytes(hashlib.blake2b(packed, digest_size=16).digest())
    return f"{total % (1 << 128):032x}"


def _parsed(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise InputError(f"{path} is damaged: it is no JSON") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} is damaged: it must be an object")
    return document
