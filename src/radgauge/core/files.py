"""Write files that can hold report text: whole or not at all, for their owner only, cleaned up after a kill.

Every file that radgauge writes is made here. A file is written beside its place under a name of its own, synced
and renamed, so a reader meets the old or the new one whenever the machine stops. What a kill leaves is removed by
the next run that writes into the folder; a lock tells it from what another run is writing just now. What goes to
a URL (see `storage`) is made in the temporary folder and put in one piece. Owner-only
means mode 0600 and 0700, whatever the umask: all of it may hold patient data, or what was made from it.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from radgauge.core.errors import InputError, UsageError
from radgauge.core.storage import plain, put_file, url_of

try:
    import fcntl
except ImportError:  # Windows: no advisory locks
    fcntl = None  # type: ignore[assignment]

_BESIDE = re.compile(r"\.radgauge-[0-9a-f]{16}(\.\w*)*")
_tidy: set[Path] = set()


def make_folder(path: Path | str) -> Path:
    """The folder, made if it is not there; it and the folders made above it are for the owner only."""
    if url_of(path) is not None:
        raise UsageError(
            f"{url_of(path)}: a folder of this machine is needed here; scores and files can go to a URL"
        )
    folder = plain(path)
    missing = []
    above = folder
    while not above.exists():
        missing.append(above)
        above = above.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        each.chmod(0o700)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))
    return folder


class NoFolder(InputError):
    """The folder of a file to write is not there."""


def check_folder(path: Path | str) -> None:
    """That the folder of a file to write is there: a slip of the pen must not make one."""
    if url_of(path) is not None:
        return  # stores have no folders
    folder = plain(path).absolute().parent
    if not folder.is_dir():
        raise NoFolder(f"{path} cannot be written: there is no folder {Path(path).parent}; make it first")


def tighten(path: Path) -> None:
    """Take the rights of group and others from a file or folder that is ours; others' things stay as they are."""
    with suppress(OSError):
        status = path.stat()
        shared = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if status.st_mode & 0o077 and own and not shared:
            path.chmod(stat.S_IMODE(status.st_mode) & 0o700)


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A file to fill, which takes its place when the block ends well and is removed when it does not.

    A pipe or a device is written to, never replaced; of a symbolic link the file that it names is replaced. What
    goes to a URL is put there when the block ends well.
    """
    if (url := url_of(path)) is not None:
        with tempfile.TemporaryDirectory(prefix="radgauge-") as temporary:
            beside = Path(temporary) / Path(path).name
            yield beside
            put_file(beside, url)
        return
    target = Path(os.path.realpath(plain(path)))
    if target.exists() and not target.is_file():
        yield target
        return
    make_folder(target.parent)
    remove_leftovers(target.parent)
    beside, handle = _claimed(target)
    try:
        yield beside
        os.fsync(handle)
        beside.chmod(0o600)
        if fcntl is None:
            os.close(handle)
        beside.replace(target)
        sync_folder(target.parent)
    finally:
        with suppress(OSError):
            os.close(handle)
        beside.unlink(missing_ok=True)


def write_file(path: Path | str, content: str | bytes) -> None:
    """Write a text or bytes, whole or not at all."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with replacing(path) as beside:
        beside.write_bytes(data)


def write_csv(path: Path | str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as CSV in UTF-8, whole or not at all."""
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed runs left in a folder; looked for once per run."""
    resolved = folder.resolve()
    if resolved in _tidy or fcntl is None:
        return
    _tidy.add(resolved)
    with suppress(OSError):
        for path in resolved.iterdir():
            if _BESIDE.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while somebody writes it
                    path.unlink(missing_ok=True)


def sha256_of(path: Path | str) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_lines(path: Path | str) -> tuple[IO[bytes], list[bytes]]:
    """A file to append lines to, and the lines that it holds; one process at a time.

    Half a line at the end, which a killed run leaves, is cut off: nobody was told that it was written.
    """
    place = Path(path)
    is_new = not place.exists()
    make_folder(place.parent)
    handle = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    file = os.fdopen(handle, "a+b", buffering=0)  # a buffer would try again, on closing, what a full disk refused
    try:
        tighten(place)
        if is_new:
            place.chmod(0o600)
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"{path} is in use by another run; wait for it or use another folder") from None
        file.seek(0)
        content = file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            file.truncate(end)
        if is_new:
            sync_folder(place.parent)
    except BaseException:
        file.close()
        raise
    return file, content[:end].split(b"\n")[:-1]


def append_lines(file: IO[bytes], lines: bytes) -> None:
    """Append whole lines and wait until they are on disk; what cannot be written whole is taken back."""
    end = file.seek(0, os.SEEK_END)
    try:
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            os.ftruncate(file.fileno(), end)
        raise


def sync_folder(folder: Path) -> None:
    """Wait until a new name in a folder is on disk."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _claimed(target: Path) -> tuple[Path, int]:
    """A new file beside the wanted one, locked so that no other run takes it for a leftover."""
    ending = "".join(re.findall(r"\.\w+", target.name)[-2:])[:16]
    while True:
        beside = target.with_name(f".radgauge-{secrets.token_hex(8)}{ending}")
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if fcntl is None:
            return beside, handle
        os.fchmod(handle, 0o600)  # by handle: until it is locked, another run may take it for a leftover
        fcntl.flock(handle, fcntl.LOCK_EX)
        if beside.exists():
            return beside, handle
        os.close(handle)  # another run removed it in between
