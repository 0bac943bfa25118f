"""How long and with which seed the fuzzers run: RADGAUGE_FUZZ texts and files each, from RADGAUGE_FUZZ_SEED on."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(scope="session")
def fuzz_seed() -> int:
    """Where the random inputs start; a run that found something is repeated with its seed."""
    return int(os.environ.get("RADGAUGE_FUZZ_SEED", "0"))


@pytest.fixture(scope="session")
def fuzz_count() -> int:
    """How many random inputs; 0 = each fuzzer's own small number, for every run of the tests."""
    return int(os.environ.get("RADGAUGE_FUZZ", "0"))


@pytest.fixture(scope="session")
def attempts(fuzz_seed: int, fuzz_count: int) -> Callable[[int], Iterator[tuple[str, random.Random]]]:
    """A function from the usual number of attempts to the name and the randomness of each."""

    def each(usual: int) -> Iterator[tuple[str, random.Random]]:
        for number in range(fuzz_count or usual):
            name = f"seed {fuzz_seed}, attempt {number}"
            yield name, random.Random(name)

    return each
