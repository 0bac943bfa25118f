"""Seeded checkpoints in the authors' formats, made as the parity scripts make them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from parity_scripts import parity_script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def seeded() -> ModuleType:
    """The builder of seeded checkpoints."""
    pytest.importorskip("torch", reason="the extra 'models' is not installed")
    pytest.importorskip("transformers", reason="the extra 'models' is not installed")
    return parity_script("seeded")


def fixture(name: str) -> dict:
    """What the authors' package gave."""
    return json.loads((ROOT / "tests" / "data" / "parity" / name / "fixture.json").read_text(encoding="utf-8"))
