"""Fetch a checkpoint from the hub: only on request, resumable, and checked against the hub's own hashes.

Plain HTTPS from the standard library, so that fetching needs no extra; an interrupted download goes on where
it stopped. Files land in radgauge's models folder under their published names.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import logging
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any

from radgauge.errors import ModelError
from radgauge.models.catalogue import Checkpoint, models_dir
from radgauge.models.hub import offline

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
_CHUNK = 1 << 20
_SECONDS = 60


def fetch(wanted: Checkpoint, *, progress: Progress | None = None) -> Path:
    """Download a checkpoint and return where it is.

    Args:
        wanted: From the catalogue.
        progress: Told (file name, bytes done, bytes in all).

    Raises:
        ModelError: Downloads are forbidden, the hub does not answer, or a file arrived damaged.
    """
    if offline():
        raise ModelError(
            f"{wanted.name} ({wanted.id}) is not on this machine and RADGAUGE_OFFLINE forbids fetching it; "
            f"unset it and run: radgauge models fetch {wanted.name}"
        )
    log.warning("fetching %s (%s)", wanted.id, f"{wanted.megabytes} MB" if wanted.megabytes else "size unknown")
    if wanted.file:
        return _download(wanted, wanted.file, models_dir() / wanted.file, progress)
    folder = models_dir() / wanted.repo.rpartition("/")[2]
    for name in _listing(wanted):
        _download(wanted, name, folder / name, progress)
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
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    url = f"{_endpoint()}/{wanted.repo}/resolve/{wanted.revision}/{urllib.parse.quote(name)}"
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = _open(request, wanted)
    except _Complete:
        answer = None
    if answer is not None:
        with answer, part.open("ab" if answer.status == 206 else "wb") as file:
            done = done if answer.status == 206 else 0
            total = done + int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(name, done, total)
        if total and done < total:
            raise ModelError(f"the download of {name} stopped at {done} of {total} bytes; run it again to go on")
    _check_hash(part, wanted, name, url)
    shutil.move(part, target)
    return target


def _check_hash(part: Path, wanted: Checkpoint, name: str, url: str) -> None:
    """Compare with the SHA-256 the hub states for large files; small ones carry a git hash instead."""
    with _open(_head(url), wanted, redirect=False) as answer:
        stated = (answer.headers.get("X-Linked-ETag") or answer.headers.get("ETag") or "").strip('W/"')
    with part.open("rb") as file:
        data_hash = hashlib.file_digest(file, "sha256").hexdigest()
    if len(stated) == 40:
        header = f"blob {part.stat().st_size}\0".encode()
        data_hash = hashlib.sha1(header + part.read_bytes()).hexdigest()
    if len(stated) in (40, 64) and stated != data_hash:
        part.unlink()
        raise ModelError(
            f"{name} of {wanted.id} arrived damaged (hash {data_hash[:12]}, the hub states {stated[:12]}) "
            "and was removed; fetch it again"
        )


class _Complete(Exception):
    """The part on disk already has every byte."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Keeps the hub's own answer, whose headers carry the hash, instead of following it to the storage."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Do not follow."""
        return None


def _head(url: str) -> urllib.request.Request:
    return urllib.request.Request(url, method="HEAD")


def _open(request: urllib.request.Request, wanted: Checkpoint, *, redirect: bool = True) -> Any:
    handlers = [] if redirect else [_Stay()]
    try:
        return urllib.request.build_opener(*handlers).open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code in (301, 302, 303, 307, 308):
            return error  # an answer like any other; the caller reads its headers
        if error.code == 416:
            raise _Complete from None
        raise ModelError(f"{wanted.id} cannot be fetched: the hub answers {error.code} {error.reason}") from error
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise ModelError(f"{wanted.id} cannot be fetched: {getattr(error, 'reason', error)}") from error


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
