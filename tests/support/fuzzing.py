"""How far the fuzzers go: RADGAUGE_FUZZ attempts each, or their own small number, from RADGAUGE_FUZZ_SEED."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np


def attempts(usual: int) -> Iterator[np.random.Generator]:
    """A source of randomness for each attempt; the same seed makes the same attempts."""
    seed = int(os.environ.get("RADGAUGE_FUZZ_SEED") or 0)
    for number in range(int(os.environ.get("RADGAUGE_FUZZ") or usual)):
        yield np.random.default_rng([seed, number])
