"""Fetch a checkpoint from the hub: only on request, resumable, and checked against our hashes and the hub's own.

Files land in radgauge's models folder under their published names, whichever of the two ways of `transfer` brings
them; a checkpoint is found there only when all of its files are whole and checked.
"""

from __future__ import annotations

import errno
import fnmatch
import logging
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from radgauge.errors import MissingModel, ModelError
from radgauge.models.checkpoints.catalogue import Checkpoint, content_hash, models_dir, offline
from radgauge.models.checkpoints.transfer import Transfer, transfer_for
from radgauge.reading import Progress

log = logging.getLogger(__name__)

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def fetch(wanted: Checkpoint, *, progress: Progress | None = None) -> Path:
    """Download a checkpoint and return where it is.

    Args:
        wanted: From the catalogue.
        progress: Told (file name, bytes done, bytes in all).

    Raises:
        ModelError: Downloads are forbidden, the hub does not answer, the disk is full, a file arrived damaged,
            or it is not the one whose hash is pinned in the catalogue.
    """
    if variable := _forbidden():
        raise MissingModel(
            f"{wanted.name} ({wanted.id}) is not on this machine and {variable} forbids fetching it; "
            f"unset it and run: radgauge models fetch {wanted.name}"
        )
    log.warning("fetching %s (%s)", wanted.id, f"{wanted.megabytes} MB" if wanted.megabytes else "size unknown")
    leaf = wanted.file or wanted.repo.rpartition("/")[2]
    final, unfinished = models_dir() / leaf, models_dir() / f"{leaf}.fetching"
    way = transfer_for(wanted.repo, wanted.revision)
    try:
        names = [wanted.file] if wanted.file else _needed(wanted, way.names())
    except OSError as error:
        raise ModelError(f"{wanted.id} cannot be fetched: {error}") from error
    for name in names:
        _fetch_file(wanted, name, unfinished, way, progress)
    for name in names:
        target = final if wanted.file else final / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (unfinished / name).replace(target)
    shutil.rmtree(unfinished)
    return final


def _forbidden() -> str:
    """The variable of the environment that forbids downloads; "" if none does."""
    if offline():
        return "RADGAUGE_OFFLINE"
    return "HF_HUB_OFFLINE" if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE") else ""


def _needed(wanted: Checkpoint, found: list[str]) -> list[str]:
    names = [name for name in found if any(fnmatch.fnmatch(name, pattern) for pattern in wanted.patterns)]
    for name in names:
        if name.startswith("/") or ".." in Path(name).parts:
            raise ModelError(f"{wanted.id} names a file outside its folder: {name!r}")
    if not names:
        raise ModelError(f"{wanted.id} holds no file of {', '.join(wanted.patterns)}")
    return names


def _fetch_file(wanted: Checkpoint, name: str, folder: Path, way: Transfer, progress: Progress | None) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path, stated = way.fetch(name, folder, progress)
        _check_hash(path, wanted, name, stated)
    except _OtherFile:
        shutil.rmtree(folder)
        raise
    except OSError as error:
        kept = sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in (".part", ".incomplete"))
        goes_on = f"; {kept} bytes are kept, run it again to go on" if kept else ""
        full = error.errno == errno.ENOSPC
        why = f"the disk of {folder.parent} is full" if full else str(error) or type(error).__name__
        raise ModelError(f"{name} of {wanted.id} cannot be fetched: {why}{goes_on}") from error


def _check_hash(path: Path, wanted: Checkpoint, name: str, stated: str) -> None:
    """Compare with the hash that is pinned here, and with the one that the hub states."""
    known = wanted.hashes.get(name, "")
    if known and (found := content_hash(path, like=known)) != known:
        raise _OtherFile(
            f"{name} of {wanted.id} is not the file that radgauge knows: its hash is {found}, it must be {known}; "
            "nothing was kept"
        )
    if not _HASH.fullmatch(stated):
        stated = known
    if not stated:
        log.warning(
            "%s of %s: neither the hub nor radgauge knows its hash, so it was not checked", name, wanted.id
        )
    elif (found := content_hash(path, like=stated)) != stated:
        path.unlink()
        with suppress(OSError):  # other files may be there already
            path.parent.rmdir()
        raise ModelError(
            f"{name} of {wanted.id} arrived damaged (hash {found[:12]}, it must be {stated[:12]}) "
            "and was removed; fetch it again"
        )


class _OtherFile(ModelError):
    """The hub gives another file than the one that is pinned here."""
