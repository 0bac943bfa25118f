"""Drawn pictures and DICOM files; nothing here shows a patient."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_file import write_dicom

Write = Callable[..., Path]


@pytest.fixture
def ramp() -> np.ndarray:
    """0 to 4095 from left to right."""
    return np.tile(np.linspace(0, 4095, 64).round().astype(np.uint16), (48, 1))


@pytest.fixture
def dicom(tmp_path: Path) -> Write:
    """Writes an array as a DICOM file with the elements given."""

    def write(pixels: np.ndarray, name: str = "picture.dcm", **elements: Any) -> Path:
        return write_dicom(tmp_path / name, pixels, **elements)

    return write
