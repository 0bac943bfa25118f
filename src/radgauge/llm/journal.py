"""An append-only file of everything that was paid for, so that nothing is paid for twice.

One JSON record per line, on disk before the next question is asked. A run that is killed leaves at most half a
line at the end, which is cut off when the journal is opened again. Keys are hashes of question and settings:
change the model or the prompt and the old answers no longer count; change them back and they do.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from radgauge.core.errors import InputError
from radgauge.core.files import append_lines, open_lines
from radgauge.core.parsing import parse_json

Record = dict[str, Any]


def key_of(*parts: str) -> str:
    """A key for these texts; where one ends and the next begins matters.

    >>> key_of("ab", "c") == key_of("a", "bc")
    False
    """
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


class Journal:
    """Records by key, on disk; the last record of a key counts. A context manager; one process at a time.

    Args:
        path: The file; made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._records: dict[str, Record] = {}
        self._costs: list[Record] = []
        self._file, lines = open_lines(path)
        try:
            self._load(lines)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> Record | None:
        """The record of a key."""
        return self._records.get(key)

    def costs(self) -> Iterator[Record]:
        """Records of requests, in order."""
        return iter(list(self._costs))

    def add(self, records: Mapping[str, Record], *, costs: Iterable[Record] = ()) -> None:
        """Write records and wait until they are on disk."""
        costs = list(costs)
        lines = [{"key": key, **record} for key, record in records.items()] + [{"cost": cost} for cost in costs]
        if not lines:
            return
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self._lock:
            append_lines(self._file, text.encode("utf-8", "surrogatepass"))
            self._records.update(records)
            self._costs.extend(costs)

    def _load(self, lines: list[bytes]) -> None:
        for number, line in enumerate(lines, start=1):
            try:
                record = parse_json(line.decode("utf-8", "surrogatepass"))
                if "cost" in record:
                    self._costs.append(record["cost"])
                else:
                    self._records[record.pop("key")] = record
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(
                    f"{self.path} is damaged at line {number}; remove that line to ask again for what it held"
                ) from None
