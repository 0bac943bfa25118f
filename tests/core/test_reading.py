"""Readings: every distinct text once, in batches, with what is done kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from radgauge.core.cache import Cache
from radgauge.core.errors import RadgaugeError
from radgauge.core.readings import Readings


@dataclass
class Counting:
    """Reads the length of a text and remembers what it was asked."""

    signature: str = "counting-1"
    batch_size: int = 2
    asked: list[list[str]] = field(default_factory=list)

    def read(self, texts: Sequence[str]) -> list[int]:
        self.asked.append(list(texts))
        return [len(text) for text in texts]


@dataclass
class Keeping(Counting):
    """The same, worth keeping on disk."""

    def pack(self, reading: int, text: str) -> bytes:
        return str(reading).encode()

    def unpack(self, packed: bytes, text: str) -> int:
        return int(packed)


def test_every_distinct_text_is_read_once_and_longest_first() -> None:
    reader, readings = Counting(), Readings()
    assert readings.of(reader, ["a", "ccc", "a", "bb"]) == [1, 3, 1, 2]
    assert reader.asked == [["ccc", "bb"], ["a"]]
    assert readings.of(reader, ["bb", "dddd"]) == [2, 4]
    assert reader.asked[2:] == [["dddd"]]


def test_another_signature_reads_anew() -> None:
    readings = Readings()
    readings.of(Counting(), ["a"])
    other = Counting(signature="counting-2")
    readings.of(other, ["a"])
    assert other.asked == [["a"]]


def test_readings_outlive_the_process(tmp_path: Path) -> None:
    Readings(cache=Cache(tmp_path)).of(Keeping(), ["a", "bb"])
    reader = Keeping()
    assert Readings(cache=Cache(tmp_path)).of(reader, ["bb", "ccc", "a"]) == [2, 3, 1]
    assert reader.asked == [["ccc"]]


def test_a_stop_loses_the_batch_under_way_at_most(tmp_path: Path) -> None:
    class Interrupted(Keeping):
        def read(self, texts: Sequence[str]) -> list[int]:
            if "a" in texts:
                raise KeyboardInterrupt
            return super().read(texts)

    with pytest.raises(KeyboardInterrupt):
        Readings(cache=Cache(tmp_path)).of(Interrupted(), ["a", "bb", "ccc"])
    reader = Keeping()
    assert Readings(cache=Cache(tmp_path)).of(reader, ["a", "bb", "ccc"]) == [1, 2, 3]
    assert reader.asked == [["a"]]


def test_an_entry_that_cannot_be_unpacked_is_read_anew(tmp_path: Path) -> None:
    Cache(tmp_path).put("counting-1", {"a": b"not a number"})
    assert Readings(cache=Cache(tmp_path)).of(Keeping(), ["a"]) == [1]


def test_a_cache_that_cannot_be_written_does_not_stop_the_run(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert Readings(cache=Cache(blocked)).of(Keeping(), ["a", "bb"]) == [1, 2]


def test_progress_is_told_after_every_batch() -> None:
    told: list[tuple[str, int, int]] = []
    Readings(progress=lambda *news: told.append(news)).of(Counting(), ["a", "bb", "ccc"])
    assert told == [("counting-1", 2, 3), ("counting-1", 3, 3)]


def test_a_reader_that_loses_texts_is_an_error() -> None:
    class Lossy(Counting):
        def read(self, texts: Sequence[str]) -> list[int]:
            return [1]

    with pytest.raises(RadgaugeError, match=r"'counting-1' returned 1 readings for 2 texts"):
        Readings().of(Lossy(), ["a", "bb"])


def test_what_is_derived_is_made_once() -> None:
    readings, made = Readings(), []
    for _ in range(2):
        assert readings.once("idf", lambda: made.append(1) or "table") == "table"
    assert made == [1]


def test_what_is_derived_is_made_once_per_text_reader_and_key() -> None:
    readings, made = Readings(), []

    def double(length: int) -> int:
        made.append(length)
        return 2 * length

    assert readings.derive(Counting(), ["a", "ccc", "a"], double, key="double") == [2, 6, 2]
    assert readings.derive(Counting(), ["ccc", "bb"], double, key="double") == [6, 4]
    assert made == [1, 3, 2]
    assert readings.derive(Counting(), ["a"], lambda length: -length, key="other") == [-1]
    assert readings.derive(Counting(signature="counting-2"), ["a"], lambda length: length + 5, key="double") == [6]


@dataclass
class Short(Keeping):
    """Reads three letters."""

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > 3 for text in texts]


def test_what_a_reader_does_not_read_to_its_end_is_known_from_the_cache_too(tmp_path: Path) -> None:
    for run in range(2):
        reader, readings = Short(), Readings(cache=Cache(tmp_path))
        with readings.truncation() as cut:
            assert readings.of(reader, ["four", "abc", "fives"]) == [4, 3, 5]
        assert cut == {"four", "fives"}
        assert bool(reader.asked) is (run == 0)
        with readings.truncation() as cut, readings.truncation() as inner:
            readings.derive(reader, ["abc", "four"], str, key="text")
            readings.derive(reader, ["abc", "four"], str, key="text")
            readings.fork().of(reader, ["fives"])
        assert cut == inner == {"four", "fives"}
        readings.of(reader, ["sixsix"])
        assert "sixsix" not in cut


def test_the_cache_of_a_reader_without_a_limit_is_not_taken_for_one_with_it(tmp_path: Path) -> None:
    Readings(cache=Cache(tmp_path)).of(Keeping(), ["four"])
    with (readings := Readings(cache=Cache(tmp_path))).truncation() as cut:
        assert readings.of(Short(), ["four"]) == [4]
    assert cut == {"four"}
