"""Two ways to get files of a hub repository: huggingface_hub where it is installed, and plain HTTPS.

Both heed HF_ENDPOINT and take up a broken connection. The first also knows tokens, Xet storage and what its own
cache holds, as its users expect; its telemetry stays off. If a run is stopped, the first begins its file anew, the
second goes on. The second needs no package.
"""

from __future__ import annotations

import errno
import http.client
import json
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPMessage
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import radgauge
from radgauge.errors import ModelError, require
from radgauge.reading import Progress

_CHUNK = 1 << 20
_SECONDS = 60


class Transfer(Protocol):
    """A way to list and fetch the files of one revision of a repository."""

    def names(self) -> list[str]:
        """All files of the revision.

        Raises:
            OSError: The hub does not answer.
        """

    def fetch(self, name: str, folder: Path, progress: Progress | None) -> tuple[Path, str]:
        """Put a file into a folder; returns where it is and the hash that the hub states ("" if none).

        Raises:
            OSError: It did not arrive whole.
        """


def transfer_for(repo: str, revision: str) -> Transfer:
    """The better way of those that this installation has."""
    return HubTransfer(repo, revision) if find_spec("huggingface_hub") else PlainTransfer(repo, revision)


def endpoint() -> str:
    """Address of the hub, or of the mirror that HF_ENDPOINT names."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


class HubTransfer(NamedTuple):
    """By huggingface_hub, into a folder of ours; files that are whole are not fetched again."""

    repo: str
    revision: str

    def names(self) -> list[str]:
        """As the hub lists them."""
        with _hub() as (hub, common):
            found = hub.HfApi(endpoint=common["endpoint"]).model_info(self.repo, revision=self.revision)
        return [each.rfilename for each in found.siblings or ()]

    def fetch(self, name: str, folder: Path, progress: Progress | None) -> tuple[Path, str]:
        """Fetched, or taken from its own cache, by the package."""
        with _hub() as (hub, common):
            place = hub.hf_hub_download(
                self.repo,
                name,
                revision=self.revision,
                local_dir=folder,
                tqdm_class=_bar(require("huggingface_hub.utils", extra="models").tqdm, name, progress),
                **common,
            )
            url = hub.hf_hub_url(self.repo, name, revision=self.revision, endpoint=common["endpoint"])
            return Path(place), hub.get_hf_file_metadata(url, **common).etag or ""


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


class PlainTransfer(NamedTuple):
    """By the standard library."""

    repo: str
    revision: str

    def names(self) -> list[str]:
        """As the hub lists them."""
        url = f"{endpoint()}/api/models/{self.repo}/revision/{urllib.parse.quote(self.revision, safe='')}"
        with self._open(urllib.request.Request(url)) as answer:
            try:
                return [str(each["rfilename"]) for each in json.load(answer)["siblings"]]
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise ModelError(
                    f"the hub's list of files of {self.repo}@{self.revision} cannot be read: {error}"
                ) from error

    def fetch(self, name: str, folder: Path, progress: Progress | None) -> tuple[Path, str]:
        """Into a file with the ending .part, which gets its name when it is whole."""
        target = folder / name
        part = target.with_name(target.name + ".part")
        url = f"{endpoint()}/{self.repo}/resolve/{self.revision}/{urllib.parse.quote(name)}"
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._receive(name, url, part, progress)
            except http.client.HTTPException as error:
                raise OSError(str(error) or type(error).__name__) from error
            part.replace(target)
        with self._open(urllib.request.Request(url, method="HEAD"), redirect=False) as answer:
            return target, (answer.headers.get("X-Linked-ETag") or answer.headers.get("ETag") or "").strip('W/"')

    def _receive(self, name: str, url: str, part: Path, progress: Progress | None) -> None:
        """Write what is still missing behind the part that is there."""
        done = part.stat().st_size if part.exists() else 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
        try:
            answer = self._open(request)
        except _BeyondTheEnd as found:
            if found.size in (None, done):  # every byte is there
                return
            part.unlink()  # the part of another file
            return self._receive(name, url, part, progress)
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

    def _open(self, request: urllib.request.Request, *, redirect: bool = True) -> Any:
        handlers = [] if redirect else [_Stay()]
        named = f"{self.repo}@{self.revision}"
        try:
            return urllib.request.build_opener(*handlers).open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            if error.code in (301, 302, 303, 307, 308):
                return error  # an answer like any other; the caller reads its headers
            if error.code == 416:
                size = (error.headers.get("Content-Range") or "").rpartition("/")[2]
                raise _BeyondTheEnd(int(size) if size.isdigit() else None) from None
            raise ModelError(f"{named} cannot be fetched: the hub answers {error.code} {error.reason}") from error
        except (urllib.error.URLError, TimeoutError, OSError) as error:
            raise ModelError(f"{named} cannot be fetched: {getattr(error, 'reason', error)}") from error


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
