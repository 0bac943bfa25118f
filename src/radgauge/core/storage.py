"""Paths of files: behind URLs, and in radgauge's own folder on this machine.

URLs are s3://, gs:// and what else fsspec knows (extra `storage`); file:// needs nothing.

Nothing is contacted unless somebody wrote a URL where a file belongs, and nothing while RADGAUGE_OFFLINE is set.
Credentials come from the environment, as the packages behind fsspec find them (AWS_PROFILE, AWS_ENDPOINT_URL,
GOOGLE_APPLICATION_CREDENTIALS, the role of an instance); a URL that holds some is refused, since URLs end up in
histories and logs.

What is read is copied first, whole, to a folder in the user's cache folder, and removed after use: the bytes that
are hashed are those that are read, whatever happens to the object meanwhile. What is written is made here as a
file, and then put in one request: an object store shows an object whole or not at all, and has no rename.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from radgauge.core.errors import InputError, MissingExtra, RadgaugeError, UsageError, require

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,3}([^/].*)", re.DOTALL)  # a drive of Windows has one letter
ONE_PUT = 64 << 20
"""Bytes up to which a file is put from memory, in one request."""


def offline() -> bool:
    """True if the environment forbids any download."""
    return os.environ.get("RADGAUGE_OFFLINE", "0").strip().lower() not in ("", "0", "false", "no")


class StorageError(RadgaugeError):
    """A URL cannot be read or written; the message says why."""


def url_of(path: Path | str) -> str | None:
    """The URL that a path stands for, with the slash that `Path` takes from it; None for a file of this machine.

    >>> url_of(Path("s3://bucket/reports.csv")), url_of("reports.csv"), url_of("file:///data/reports.csv")
    ('s3://bucket/reports.csv', None, None)
    """
    match = _URL.fullmatch(str(path))
    if match is None or match[1].lower() == "file":
        return None
    if "@" in match[2].partition("/")[0]:
        raise UsageError(
            f"a {match[1]}:// URL must not hold credentials, which end up in logs; put them into the environment"
        )
    return f"{match[1].lower()}://{match[2].rstrip('/')}"


def plain(path: Path | str) -> Path:
    """The path; of file:// URLs the path that they name.

    >>> plain("file:///data/a%20b.csv").as_posix(), plain("reports.csv").as_posix()
    ('/data/a b.csv', 'reports.csv')
    """
    match = _URL.fullmatch(str(path))
    return Path("/" + unquote(match[2])) if match is not None and match[1].lower() == "file" else Path(path)


def shown_path(path: Path | str) -> str:
    """A path or URL for people."""
    return url_of(path) or str(plain(path))


@contextmanager
def local_copy(path: Path | str) -> Iterator[Path]:
    """The path itself; of a URL a copy of the file, or of the files of the folder, for as long as it is needed.

    Raises:
        InputError: There is nothing behind the URL.
        StorageError: It cannot be read.
    """
    url = url_of(path)
    if url is None:
        yield plain(path)
        return
    with passing_folder() as folder:
        here = folder / _name(url)
        files, place_of_url = _system(url)
        with _reached(url, "read"):
            if files.isfile(place_of_url):
                files.get_file(place_of_url, str(here))
            elif names := _names(files, place_of_url):
                here.mkdir(mode=0o700)
                for name in names:
                    if not name.startswith("."):
                        files.get_file(f"{place_of_url.rstrip('/')}/{name}", str(here / name))
            else:
                raise InputError(f"{url} does not exist")
        yield here


def put_file(file: Path, url: str) -> None:
    """Write a file of this machine to a URL, whole or not at all where the store can do that.

    Raises:
        StorageError: It cannot be written.
    """
    files, path = _system(url)
    with _reached(url, "written"):
        if file.stat().st_size <= ONE_PUT:
            files.pipe_file(path, file.read_bytes())
        else:  # in pieces, which become one object when the last is there
            files.put_file(str(file), path)


@dataclass(frozen=True, slots=True)
class Store:
    """A folder behind a URL. Connections are made where they are used: a store can go to another process."""

    url: str

    def names(self) -> list[str]:
        """Of the files in it, not of those below."""
        files, path = _system(self.url)
        with _reached(self.url, "read"):
            return _names(files, path)

    def get(self, name: str, file: Path) -> Path:
        """Copy one of its files here.

        Raises:
            FileNotFoundError: It has no such file.
        """
        url = f"{self.url}/{name}"
        files, path = _system(url)
        with _reached(url, "read"):
            if not files.isfile(path):
                raise FileNotFoundError(2, "No such file", url)
            files.get_file(path, str(file))
        return file

    def put(self, file: Path, name: str) -> None:
        """Write a file under this name; one that is there is replaced."""
        put_file(file, f"{self.url}/{name}")


def _system(url: str) -> tuple[Any, str]:
    """The file system behind a URL, and the place in it."""
    scheme = url.partition(":")[0]
    if scheme != "memory" and offline():
        raise UsageError(
            f"{scheme}:// is not reached while RADGAUGE_OFFLINE is set; unset it, or copy the file here"
        )
    core = require("fsspec.core", extra="storage")
    try:
        system: tuple[Any, str] = core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        ours = scheme in ("s3", "s3a", "gs", "gcs")
        remedy = "run: pip install 'radgauge[storage]'" if ours else "install that package"
        raise MissingExtra(f"{scheme}:// needs a package that is not installed ({error}); {remedy}") from None
    except ValueError:
        raise UsageError(f"{scheme}:// is no storage that is known here (fsspec knows s3, gs, abfs ...)") from None
    return system


@contextmanager
def _reached(url: str, what: str) -> Iterator[None]:
    """Errors of a store as ours: each package has its own."""
    if url.startswith("http"):
        url = url.partition("?")[0]  # where signed URLs have their secret
    try:
        yield
    except (RadgaugeError, FileNotFoundError) as error:
        if isinstance(error, RadgaugeError) or what == "read":
            raise
        raise StorageError(f"{url} cannot be {what}: there is no such bucket or folder; make it first") from error
    except Exception as error:
        why = " ".join(str(error).split())[:200]
        raise StorageError(
            f"{url} cannot be {what} ({type(error).__name__}: {why}); credentials and endpoint come from the "
            "environment"
        ) from error


def _names(files: Any, path: str) -> list[str]:
    try:
        entries = files.ls(path, detail=True)
    except FileNotFoundError:
        return []
    return sorted(
        str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in entries if entry["type"] == "file"
    )


def _name(url: str) -> str:
    """Name of the file, whose ending tells the format.

    >>> _name("https://host/reports.csv?version=2"), _name("s3://bucket")
    ('reports.csv', 'bucket')
    """
    scheme, _, rest = url.partition("://")
    return (rest.partition("?")[0] if scheme in ("http", "https") else rest).rpartition("/")[2] or "file"


def default_cache_dir() -> Path:
    """Folder of the readings: $RADGAUGE_CACHE, or the platform's cache folder."""
    if chosen := os.environ.get("RADGAUGE_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "radgauge"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "radgauge"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "radgauge"


def remove_runs() -> int:
    """Remove the texts that runs left which were killed or never finished; returns of how many."""
    runs = default_cache_dir() / "runs"
    left = list(runs.iterdir()) if runs.is_dir() else []
    for leftover in left:
        shutil.rmtree(leftover)
    return len(left)


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder for texts that are needed for a while: in the cache folder, for this user alone.

    Never in the folder for temporary files of the machine: a killed process leaves behind what is in it. The next
    one on this machine removes that.
    """
    runs = default_cache_dir() / "runs"
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    here = "passing-" + re.sub(r"\W", "_", platform.node())
    for left in runs.glob(f"{here}-*"):
        if _is_gone(left.name.split("-")[2]):
            shutil.rmtree(left, ignore_errors=True)  # another process may be at it
    with tempfile.TemporaryDirectory(prefix=f"{here}-{os.getpid()}-", dir=runs) as folder:
        yield Path(folder)


def _is_gone(process: str) -> bool:
    if os.name != "posix" or not process.isdecimal():  # elsewhere a question of this kind ends the process
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
