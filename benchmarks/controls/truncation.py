"""Texts that are longer than an encoder reads.

What an encoder does not see changes no value, so a value must say that it does not know the end of a report.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from outcome import Outcome

import radgauge as rg
from radgauge.analysis.summary import summarise
from radgauge.core.cache import Cache
from radgauge.core.metric import Rows
from radgauge.core.readings import Readings

LIMIT = 77
REPORT = "The lungs are clear. " * 20
FINDING = "Large right pneumothorax."


@dataclass(frozen=True)
class FirstWords:
    """Reads as many words as a CLIP-like text encoder reads tokens."""

    signature: ClassVar[str] = "first-words-1"

    def read(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(text.split()[:LIMIT]) for text in texts]

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        return [len(text.split()) > LIMIT for text in texts]

    def pack(self, reading: tuple[str, ...], text: str) -> bytes:
        return " ".join(reading).encode()

    def unpack(self, packed: bytes, text: str) -> tuple[str, ...]:
        return tuple(packed.decode().split())


@dataclass(frozen=True)
class SameWords(rg.Metric):
    """1 where both texts begin alike."""

    name: ClassVar[str] = "same_words"
    higher_is_better: ClassVar[bool] = True
    summary: ClassVar[str] = "the words that an encoder reads are the same"

    def measure(self, cases: Sequence[rg.Case], *, reading: Readings) -> Rows:
        read = [reading.of(FirstWords(), [case.candidate, case.references[0]]) for case in cases]
        return np.array([[float(candidate == reference)] for candidate, reference in read])


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def control_finding_behind_the_limit() -> Outcome:
    """The second run takes its vectors from the cache and must say the same."""
    cases = [rg.Case("1", f"{REPORT}{FINDING}", (REPORT,)), rg.Case("2", "Clear.", ("Clear.",))]
    marks, warned = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            heard = _Warnings()
            logging.getLogger("radgauge").addHandler(heard)
            reading = Readings(cache=Cache(Path(folder)))
            results = rg.score(cases, SameWords(), reading=reading, progress=False)
            logging.getLogger("radgauge").removeHandler(heard)
            marks.append(summarise(results)[0].truncated)
            warned.append(any("1 of 2" in message for message in heard.messages))
    value = results["same_words"].headline[0]
    counted = f"counted {marks[0]} of 2, from the cache {marks[1]} of 2"
    did = f"value {value:g}; {counted}; warned: {warned[0]}, {warned[1]}"
    return Outcome(
        f"{FINDING} behind the {LIMIT} words that an encoder reads",
        "count the case and warn, also where the reading comes from the cache",
        did,
        marks == [1, 1] and all(warned),
    )
