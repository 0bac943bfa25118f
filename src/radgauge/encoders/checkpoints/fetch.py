"""Fetch a checkpoint from the hub: only on request, resumable, and checked against our hashes and the hub's own.

huggingface_hub brings the files into radgauge's models folder under their published names; its telemetry stays
off. A checkpoint is found there only when all of its files are complete and checked.
"""

from __future__ import annotations

import errno
import fnmatch
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import radgauge
from radgauge.core.errors import MissingModel, ModelError, require
from radgauge.core.readings import Progress
from radgauge.encoders.checkpoints.catalogue import Checkpoint, content_hash, models_dir, offline

log = logging.getLogger(__name__)

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def fetch(entry: Checkpoint, *, progress: Progress | None = None) -> Path:
    """Download a checkpoint and return where it is.

    Args:
        entry: From the catalogue.
        progress: Told (file name, bytes done, bytes in all).

    Raises:
        ModelError: Downloads are forbidden, the hub does not answer, the disk is full, a file arrived damaged,
            or it is not the one whose hash is pinned in the catalogue.
    """
    if variable := _forbidden():
        raise MissingModel(
            f"{entry.name} ({entry.id}) is not on this machine and {variable} forbids fetching it; "
            f"unset it and run: radgauge models fetch {entry.name}"
        )
    log.warning("fetching %s (%s)", entry.id, f"{entry.megabytes} MB" if entry.megabytes else "size unknown")
    leaf = entry.file or entry.repo.rpartition("/")[2]
    final, unfinished = models_dir() / leaf, models_dir() / f"{leaf}.fetching"
    try:
        names = [entry.file] if entry.file else _needed(entry, _names_of(entry))
    except OSError as error:
        raise ModelError(f"{entry.id} cannot be fetched: {error}") from error
    for name in names:
        _fetch_file(entry, name, unfinished, progress)
    for name in names:
        target = final if entry.file else final / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (unfinished / name).replace(target)
    shutil.rmtree(unfinished)
    return final


def endpoint() -> str:
    """Return the address of the hub, or of the mirror that HF_ENDPOINT names."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


@contextmanager
def without_telemetry() -> Iterator[None]:
    """Let huggingface_hub say nothing about this machine's packages while the block runs."""
    constants: Any = require("huggingface_hub.constants", extra="models")
    before = constants.HF_HUB_DISABLE_TELEMETRY
    constants.HF_HUB_DISABLE_TELEMETRY = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY = before


@contextmanager
def _hub() -> Iterator[tuple[Any, dict[str, Any]]]:
    """The package, what its calls have in common, and its errors as OSError."""
    hub: Any = require("huggingface_hub", extra="models")
    common = {"endpoint": endpoint(), "library_name": "radgauge", "library_version": radgauge.__version__}
    try:
        with without_telemetry():
            yield hub, common
    except OSError:
        raise
    except Exception as error:  # of the package's HTTP client, which differs from release to release
        raise OSError(f"{type(error).__name__}: {error}") from error


def _bar(shown: Any, name: str, progress: Progress | None) -> type:
    """A progress bar of the package that draws nothing and tells our own."""

    def begin(bar: Any, *args: Any, **settings: Any) -> None:
        shown.__init__(bar, *args, **{**settings, "disable": True})

    def update(bar: Any, more: float | None = 1) -> None:
        bar.n += more or 0
        if progress is not None:
            progress(name, int(bar.n), int(bar.total or 0))

    return type("Bar", (shown,), {"__init__": begin, "update": update})


def _names_of(entry: Checkpoint) -> list[str]:
    """Return the names of all files of a revision."""
    with _hub() as (hub, common):
        info = hub.HfApi(endpoint=common["endpoint"]).model_info(entry.repo, revision=entry.revision)
    return [file.rfilename for file in info.siblings or ()]


def _receive(entry: Checkpoint, name: str, folder: Path, progress: Progress | None) -> tuple[Path, str]:
    """Download a file into a folder; return its path and the hash that the hub states ("" if none)."""
    with _hub() as (hub, common):
        path = hub.hf_hub_download(
            entry.repo,
            name,
            revision=entry.revision,
            local_dir=folder,
            tqdm_class=_bar(require("huggingface_hub.utils", extra="models").tqdm, name, progress),
            **common,
        )
        url = hub.hf_hub_url(entry.repo, name, revision=entry.revision, endpoint=common["endpoint"])
        return Path(path), hub.get_hf_file_metadata(url, **common).etag or ""


def _forbidden() -> str:
    """The variable of the environment that forbids downloads; "" if none does."""
    if offline():
        return "RADGAUGE_OFFLINE"
    return "HF_HUB_OFFLINE" if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE") else ""


def _needed(entry: Checkpoint, listed: list[str]) -> list[str]:
    names = [name for name in listed if any(fnmatch.fnmatch(name, pattern) for pattern in entry.patterns)]
    for name in names:
        if name.startswith("/") or ".." in Path(name).parts:
            raise ModelError(f"{entry.id} names a file outside its folder: {name!r}")
    if not names:
        raise ModelError(f"{entry.id} holds no file of {', '.join(entry.patterns)}")
    return names


def _fetch_file(entry: Checkpoint, name: str, folder: Path, progress: Progress | None) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path, stated = _receive(entry, name, folder, progress)
        _check_hash(path, entry, name, stated)
    except _OtherFile:
        shutil.rmtree(folder)
        raise
    except OSError as error:
        full = error.errno == errno.ENOSPC
        why = f"the disk of {folder.parent} is full" if full else str(error) or type(error).__name__
        raise ModelError(f"{name} of {entry.id} cannot be fetched: {why}") from error


def _check_hash(path: Path, entry: Checkpoint, name: str, stated: str) -> None:
    """Compare with the hash that is pinned here, and with the one that the hub states."""
    pinned = entry.hashes.get(name, "")
    if pinned and (actual := content_hash(path, like=pinned)) != pinned:
        raise _OtherFile(
            f"{name} of {entry.id} is not the file that radgauge knows: its hash is {actual}, "
            f"it must be {pinned}; nothing was kept"
        )
    if not _HASH.fullmatch(stated):
        stated = pinned
    if not stated:
        log.warning("%s of %s: neither the hub nor radgauge knows its hash, so it was not checked", name, entry.id)
    elif (actual := content_hash(path, like=stated)) != stated:
        path.unlink()
        with suppress(OSError):  # other files may be there already
            path.parent.rmdir()
        raise ModelError(
            f"{name} of {entry.id} arrived damaged (hash {actual[:12]}, it must be {stated[:12]}) "
            "and was removed; fetch it again"
        )


class _OtherFile(ModelError):
    """The hub gives another file than the one that is pinned here."""
