"""Fetch a checkpoint from the hub: only on request, resumable, and checked against our hashes and the hub's own.

Plain HTTPS from the standard library, so that fetching needs no extra; an interrupted download goes on where
it stopped. Files land in radgauge's models folder under their published names.
"""

from __future__ import annotations

import errno
import fnmatch
import http.client
import json
import logging
import os
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any

from radgauge.errors import MissingModel, ModelError
from radgauge.models.checkpoints.catalogue import Checkpoint, content_hash, models_dir, offline
from radgauge.reading import Progress

log = logging.getLogger(__name__)

_CHUNK = 1 << 20
_SECONDS = 60
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
    if offline():
        raise MissingModel(
            f"{wanted.name} ({wanted.id}) is not on this machine and RADGAUGE_OFFLINE forbids fetching it; "
            f"unset it and run: radgauge models fetch {wanted.name}"
        )
    log.warning("fetching %s (%s)", wanted.id, f"{wanted.megabytes} MB" if wanted.megabytes else "size unknown")
    if wanted.file:
        return _download(wanted, wanted.file, models_dir() / wanted.file, progress)
    # A folder gets its name when it is whole: one that lacks its vocabulary must not be found.
    folder = models_dir() / wanted.repo.rpartition("/")[2]
    unfinished = folder.with_name(f"{folder.name}.part")
    names = _listing(wanted)
    try:
        for name in names:
            if not (unfinished / name).is_file():
                _download(wanted, name, unfinished / name, progress)
    except _OtherFile:
        shutil.rmtree(unfinished)
        raise
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (unfinished / name).replace(folder / name)
    shutil.rmtree(unfinished)
    return folder


def _listing(wanted: Checkpoint) -> list[str]:
    """Names of the files that are needed."""
    url = f"{_endpoint()}/api/models/{wanted.repo}/revision/{urllib.parse.quote(wanted.revision, safe='')}"
    with _open(urllib.request.Request(url), wanted) as answer:
        try:
            found = [str(each["rfilename"]) for each in json.load(answer)["siblings"]]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ModelError(f"the hub's list of files of {wanted.id} cannot be read: {error}") from error
    names = [name for name in found if any(fnmatch.fnmatch(name, pattern) for pattern in wanted.patterns)]
    for name in names:
        if name.startswith("/") or ".." in Path(name).parts:
            raise ModelError(f"{wanted.id} names a file outside its folder: {name!r}")
    if not names:
        raise ModelError(f"{wanted.id} holds no file of {', '.join(wanted.patterns)}")
    return names


def _download(wanted: Checkpoint, name: str, target: Path, progress: Progress | None) -> Path:
    part = target.with_name(target.name + ".part")
    url = f"{_endpoint()}/{wanted.repo}/resolve/{wanted.revision}/{urllib.parse.quote(name)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _receive(wanted, name, url, part, progress)
        _check_hash(part, wanted, name, url)
        part.replace(target)
    except (OSError, http.client.HTTPException) as error:
        kept = f"; {part.stat().st_size} bytes are kept, run it again to go on" if part.exists() else ""
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        why = f"the disk of {target.parent} is full" if full else str(error) or type(error).__name__
        raise ModelError(f"{name} of {wanted.id} cannot be fetched: {why}{kept}") from error
    return target


def _receive(wanted: Checkpoint, name: str, url: str, part: Path, progress: Progress | None) -> None:
    """Write what is still missing behind the part that is there."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = _open(request, wanted)
    except _BeyondTheEnd as found:
        if found.size in (None, done):  # every byte is there
            return
        part.unlink()  # the part of another file
        return _receive(wanted, name, url, part, progress)
    with answer:
        done = done if answer.status == 206 else 0
        left = int(answer.headers.get("Content-Length") or 0)
        if left > shutil.disk_usage(part.parent).free:
            raise OSError(errno.ENOSPC, "no space")
        total = done + left if left else 0
        with part.open("ab" if done else "wb") as file:
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(name, done, total)
    if done < total:
        raise OSError(f"the connection ended at {done} of {total} bytes")


def _check_hash(part: Path, wanted: Checkpoint, name: str, url: str) -> None:
    """Compare with the hash that the hub states, and with the one that is known here."""
    with _open(urllib.request.Request(url, method="HEAD"), wanted, redirect=False) as answer:
        stated = (answer.headers.get("X-Linked-ETag") or answer.headers.get("ETag") or "").strip('W/"')
    known = wanted.hashes.get(name, "")
    if known and (found := content_hash(part, like=known)) != known:
        part.unlink()
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
        return
    found = content_hash(part, like=stated)
    if found != stated:
        part.unlink()
        raise ModelError(
            f"{name} of {wanted.id} arrived damaged (hash {found[:12]}, it must be {stated[:12]}) "
            "and was removed; fetch it again"
        )


class _OtherFile(ModelError):
    """The hub gives another file than the one that is pinned here."""


class _BeyondTheEnd(Exception):
    """The hub has no byte behind the part on disk."""

    def __init__(self, size: int | None) -> None:
        super().__init__(size)
        self.size = size  # of the whole file, if the hub says so


class _Stay(urllib.request.HTTPRedirectHandler):
    """Keeps the hub's own answer, whose headers carry the hash, instead of following it to the storage."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Do not follow."""
        return None


def _open(request: urllib.request.Request, wanted: Checkpoint, *, redirect: bool = True) -> Any:
    handlers = [] if redirect else [_Stay()]
    try:
        return urllib.request.build_opener(*handlers).open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code in (301, 302, 303, 307, 308):
            return error  # an answer like any other; the caller reads its headers
        if error.code == 416:
            size = (error.headers.get("Content-Range") or "").rpartition("/")[2]
            raise _BeyondTheEnd(int(size) if size.isdigit() else None) from None
        raise ModelError(f"{wanted.id} cannot be fetched: the hub answers {error.code} {error.reason}") from error
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise ModelError(f"{wanted.id} cannot be fetched: {getattr(error, 'reason', error)}") from error


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
