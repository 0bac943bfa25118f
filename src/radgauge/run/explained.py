"""Why every case of a run in parts got its scores: one file per part, in a folder of its own.

    FOLDER/manifest.json       whose explanations these are, and whether all are there
    FOLDER/part-00000.jsonl    the lines that `score --explain FILE` writes, for the cases of that part

A part is explained before its scores take their name, so a part of scores that is there is explained, unless the
explanations were asked for later; such a part is scored again, to the same bytes. Explanations hold words of the
reports: they stay on a disk of this machine, or one that all workers see.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import make_folder, write_file
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.core.storage import plain, url_of
from radgauge.io.explanations import write_explanations
from radgauge.io.score_folder import MANIFEST, part_name

FORMAT = "radgauge-explanation-folder-1"


def check_explain(folder: Path | str, scores: Path | str, *, sent: bool) -> Path:
    """The folder of the explanations, if it can be one.

    Args:
        folder: As it was given.
        scores: Where the scores go.
        sent: Whether the workers see no disk of the driver.

    Raises:
        UsageError: It is a URL, a file, or the folder of the scores.
    """
    if url_of(folder) is not None or sent:
        raise UsageError(
            "explanations hold words of the reports and stay on this machine: name a folder that it and "
            "every worker see"
        )
    path = plain(folder)
    if path.suffix and not path.is_dir():
        raise UsageError(
            f"scores in a folder have their explanations in a folder, one file per part: got {path}, name it "
            f"without an ending ({path.with_suffix('')})"
        )
    if url_of(scores) is None and path.absolute() == plain(scores).absolute():
        raise UsageError(f"scores and explanations need a folder each, got {path} for both")
    return path


def claim(folder: Path, fingerprint: str) -> None:
    """Make the folder that of a run, before anything is written into it.

    Raises:
        InputError: It holds something else.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and holds no explanations: name another folder") from None
        make_folder(folder)
        _write(folder, fingerprint, (), complete=False)
        return
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{folder / MANIFEST} is not of explanations: name another folder")
    if manifest.get("fingerprint") != fingerprint:
        raise InputError(
            f"{folder} explains another run (other reports, metrics or settings): name another one, or remove it"
        )


def is_explained(folder: Path | None, number: int) -> bool:
    """True if a part has its explanations, or none are requested."""
    return folder is None or (folder / part_name(number, "jsonl")).is_file()


def explain_part(folder: Path, number: int, cases: Sequence[Case], *, results: Results, reading: Readings) -> None:
    """Write the explanations of a part, whole or not at all."""
    write_explanations(folder / part_name(number, "jsonl"), cases, results=results, reading=reading)


def finish(folder: Path, fingerprint: str, numbers: Collection[int]) -> None:
    """Say that all explanations are there.

    Raises:
        InputError: A part has none.
    """
    for number in sorted(numbers):
        if not is_explained(folder, number):
            raise InputError(f"{folder / part_name(number, 'jsonl')} is gone: run the same command again")
    _write(folder, fingerprint, sorted(numbers), complete=True)


def is_complete(folder: Path | None, fingerprint: str) -> bool:
    """True if all explanations of a run are there, or none are requested."""
    if folder is None:
        return True
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return (
            bool(manifest["complete"])
            and manifest["fingerprint"] == fingerprint
            and all((folder / Path(name).name).is_file() for name in manifest["parts"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _write(folder: Path, fingerprint: str, numbers: Sequence[int], *, complete: bool) -> None:
    about = {
        "format": FORMAT,
        "complete": complete,
        "fingerprint": fingerprint,
        "parts": [part_name(number, "jsonl") for number in numbers],
    }
    write_file(folder / MANIFEST, json.dumps(about, indent=1) + "\n")
