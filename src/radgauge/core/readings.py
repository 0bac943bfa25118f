"""Reading: what a metric needs to know of one text, found once per distinct text.

`Readings` is the one place that removes duplicates, asks the cache, forms batches and shows progress.
Metrics ask it; they never call a model.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol, TypeVar, runtime_checkable

from radgauge.core.cache import Cache
from radgauge.core.errors import RadgaugeError
from radgauge.core.progress import tell
from radgauge.core.signature import component, unreleased_state

log = logging.getLogger(__name__)

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")
D = TypeVar("D")

Progress = Callable[[str, int, int], None]
"""Called with (what, done, total) after every batch."""


class Reader(Protocol[R_co]):
    """Turns texts into readings. A frozen dataclass of settings that loads weights when first used.

    Optional attributes that `Readings` honours:
        batch_size: Texts per call of `read` (default 512).
        pack(reading, text) -> bytes, unpack(bytes, text) -> reading: makes readings persistent across
            runs; a reading that is packed as None is not kept.
        overlong(texts) -> list of bool: Texts of which `read` leaves out the end; see `Readings.truncation`.
    """

    @property
    def signature(self) -> str:
        """Names model, revision and version: two readers that can differ in one reading differ here."""

    def read(self, texts: Sequence[str]) -> Sequence[R_co]:
        """One reading per text, in order."""


@runtime_checkable
class Persistent(Protocol):
    """A reader whose readings are worth keeping on disk."""

    def pack(self, reading: Any, text: str) -> bytes | None:
        """The reading as bytes (never pickle); None for one that is to be read anew in the next run."""

    def unpack(self, packed: bytes, text: str) -> Any:
        """The reading of the text from the bytes; ValueError if they are not what `pack` writes."""


@runtime_checkable
class Truncating(Protocol):
    """A reader with a limit; cached readings begin with a byte that says whether the text was longer."""

    def overlong(self, texts: Sequence[str]) -> Sequence[bool]:
        """True for texts of which `read` leaves out the end."""


_COMPLETE, _OVERLONG = b"\0", b"\1"
_BETWEEN = "\x1e"  # ASCII record separator; tokenizers drop control characters


def pair_text(reference: str, candidate: str) -> str:
    """Return two reports as one text, for readers that encode them together.

    >>> split_pair(pair_text("No effusion.", "Effusion."))
    ('No effusion.', 'Effusion.')
    """
    return f"{reference.replace(_BETWEEN, '')}{_BETWEEN}{candidate.replace(_BETWEEN, '')}"


def split_pair(text: str) -> tuple[str, str]:
    """Return reference and candidate of a `pair_text`."""
    reference, _, candidate = text.partition(_BETWEEN)
    return reference, candidate


class Readings:
    """Hands out readings; every distinct text is read once.

    >>> class Length:
    ...     signature = "length-1"
    ...     def read(self, texts):
    ...         return [len(text) for text in texts]
    >>> Readings().of(Length(), ["ab", "abc", "ab"])
    [2, 3, 2]

    Args:
        cache: Where persistent readings are kept; None keeps nothing on disk.
        progress: Told after every batch; None tells the line that `radgauge.core.progress` draws.
    """

    def __init__(self, *, cache: Cache | None = None, progress: Progress | None = None) -> None:
        self._cache = cache
        self._progress = progress
        self._known: dict[str, dict[str, Any]] = {}
        self._derived: dict[Hashable, Any] = {}
        self._of_run: dict[Hashable, Any] = {}
        self._overlong: dict[str, set[str]] = {}
        self._watching: list[set[str]] = []

    def of(self, reader: Reader[R], texts: Sequence[str]) -> list[R]:
        """One reading per text, in order."""
        memory = self._known.setdefault(reader.signature, {})
        unread = [text for text in dict.fromkeys(texts) if text not in memory]
        if unread:
            unread = self._from_cache(reader, unread, memory)
            self._read(reader, unread, memory)
        self._note_truncation(reader, texts)
        return [memory[text] for text in texts]

    @contextmanager
    def truncation(self) -> Iterator[set[str]]:
        """Collect the texts handed out meanwhile whose readers stop before their end, cached readings included.

        >>> class FirstLetter:
        ...     signature = "first-letter-1"
        ...     def read(self, texts):
        ...         return [text[:1] for text in texts]
        ...     def overlong(self, texts):
        ...         return [len(text) > 1 for text in texts]
        >>> reading = Readings()
        >>> with reading.truncation() as cut:
        ...     letters = reading.of(FirstLetter(), ["a", "bc"])
        >>> cut
        {'bc'}
        """
        cut: set[str] = set()
        self._watching.append(cut)
        try:
            yield cut
        finally:
            self._watching[:] = [watched for watched in self._watching if watched is not cut]

    def derive(self, reader: Reader[R], texts: Sequence[str], make: Callable[[R], D], *, key: Hashable) -> list[D]:
        """Apply `make` to each text's reading, in order; once per distinct text, reader and key.

        >>> class Length:
        ...     signature = "length-1"
        ...     def read(self, texts):
        ...         return [len(text) for text in texts]
        >>> Readings().derive(Length(), ["ab", "abc"], lambda length: length % 2 == 0, key="even")
        [True, False]
        """
        memory: dict[str, D] = self.once((key, reader.signature), dict)
        unread = [text for text in dict.fromkeys(texts) if text not in memory]
        memory.update(zip(unread, map(make, self.of(reader, unread)), strict=True))
        self._note_truncation(reader, texts)
        return [memory[text] for text in texts]

    def once(self, key: Hashable, make: Callable[[], R], *, shared: bool = False) -> R:
        """The value of `make()`, made once per key: for what is derived from many readings; shared with forks."""
        values = self._of_run if shared or key in self._of_run else self._derived
        if key not in values:
            values[key] = make()
        value: R = values[key]
        return value

    def give(self, key: Hashable, value: object) -> None:
        """Set what `once` returns under this key, here and in forks: the result of another pass over the run."""
        self._of_run[key] = value

    @contextmanager
    def open_cache(self) -> Iterator[None]:
        """Keep the cache open meanwhile, for many small requests one after the other."""
        with self._cache.open() if self._cache is not None else nullcontext():
            yield

    def fork(self) -> Readings:
        """Readings with the same disk cache and progress and a memory of their own.

        For corpora that are read block by block: what a block took in memory goes when its fork does.
        """
        forked = Readings(cache=self._cache, progress=self._progress)
        forked._watching, forked._of_run = self._watching, self._of_run
        return forked

    def _note_truncation(self, reader: Reader[Any], texts: Sequence[str]) -> None:
        overlong = self._overlong.get(reader.signature)
        if overlong and self._watching:
            cut = overlong.intersection(texts)
            for collected in self._watching:
                collected |= cut

    def _from_cache(self, reader: Reader[R], unread: list[str], memory: dict[str, Any]) -> list[str]:
        if self._cache is None or not isinstance(reader, Persistent):
            return unread
        try:
            packed = self._cache.get(_key(reader), unread)
        except (OSError, sqlite3.Error) as error:
            self._give_up_cache(error)
            return unread
        for text, payload in packed.items():
            try:
                if isinstance(reader, Truncating):
                    if payload[:1] == _OVERLONG:
                        self._overlong.setdefault(reader.signature, set()).add(text)
                    payload = payload[1:]
                memory[text] = reader.unpack(payload, text)
            except Exception:  # whatever a reader makes of bytes that are not its own: they are not used
                log.warning("a cached reading of %s cannot be unpacked and is read anew", reader.signature)
        return [text for text in unread if text not in memory]

    def _read(self, reader: Reader[R], unread: list[str], memory: dict[str, Any]) -> None:
        # Longest first: batches of like length waste no padding, and memory trouble shows at once.
        unread = sorted(unread, key=len, reverse=True)
        size = int(getattr(reader, "batch_size", 512))
        label = reader.signature.partition("|")[0]
        for start in range(0, len(unread), size):
            batch = unread[start : start + size]
            read = reader.read(batch)
            if len(read) != len(batch):
                raise RadgaugeError(
                    f"reader {reader.signature!r} returned {len(read)} readings for {len(batch)} texts"
                )
            memory.update(zip(batch, read, strict=True))
            overlong: set[str] = set()
            if isinstance(reader, Truncating):
                overlong = {text for text, cut in zip(batch, reader.overlong(batch), strict=True) if cut}
                self._overlong.setdefault(reader.signature, set()).update(overlong)
            if self._cache is not None and isinstance(reader, Persistent):
                try:
                    packed = {text: reader.pack(memory[text], text) for text in batch}
                    payloads = {text: payload for text, payload in packed.items() if payload is not None}
                    if isinstance(reader, Truncating):
                        marks = {text: _OVERLONG if text in overlong else _COMPLETE for text in payloads}
                        payloads = {text: marks[text] + payload for text, payload in payloads.items()}
                    self._cache.put(_key(reader), payloads)
                except (OSError, sqlite3.Error) as error:
                    self._give_up_cache(error)
            (self._progress or tell)(label, start + len(batch), len(unread))

    def _give_up_cache(self, error: Exception) -> None:
        log.warning("the reading cache cannot be used (%s); this run keeps nothing on disk", error)
        self._cache = None


def _key(reader: Reader[Any]) -> str:
    """Return what cached readings are found by.

    The signature of a reader of ours has its version, and the version counts up when a reading of the probes
    changes; networks have that of the fixtures that they must reproduce. See also `unreleased_state`.
    """
    signature = f"{reader.signature}|marked" if isinstance(reader, Truncating) else reader.signature
    module = type(reader).__module__
    if not module.startswith("radgauge."):
        return signature
    return signature + (f"|{component('networks')}" if ".encoders." in module else unreleased_state())
