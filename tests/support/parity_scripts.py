"""Modules of the folder parity/, which build the seeded checkpoints that some tests read."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PARITY = Path(__file__).parents[2] / "parity"


def parity_script(place: str) -> ModuleType:
    """The script at a place such as "comet/checkpoints"; skips the test where the folder is not part of the copy.

    What the script itself imports is looked for beside it first.
    """
    path = PARITY / f"{place}.py"
    if not path.is_file():
        pytest.skip("the folder parity/ is not part of this distribution", allow_module_level=True)
    spec = importlib.util.spec_from_file_location("parity_" + place.replace("/", "_"), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
