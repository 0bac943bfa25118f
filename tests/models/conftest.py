"""Seeded checkpoints in the authors' formats, made as the parity scripts make them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def seeded() -> ModuleType:
    """The builder of seeded checkpoints."""
    pytest.importorskip("torch", reason="the extra 'models' is not installed")
    pytest.importorskip("transformers", reason="the extra 'models' is not installed")
    path = ROOT / "parity" / "seeded.py"
    if not path.exists():
        pytest.skip("parity/ is not part of this distribution")
    spec = importlib.util.spec_from_file_location("radgauge_parity_seeded", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def fixture(name: str) -> dict:
    """What the authors' package gave."""
    return json.loads((ROOT / "tests" / "data" / "parity" / name / "fixture.json").read_text(encoding="utf-8"))
