"""Arrays and facts in one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.encoders.array_file import DAMAGED, load_arrays, save_arrays


def test_arrays_and_facts_come_back(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    save_arrays(file, {"words": ["one", "zwei ü"]}, rows=np.arange(6).reshape(2, 3), means=np.array([0.5]))
    facts, arrays = load_arrays(file)
    assert facts == {"words": ["one", "zwei ü"]}
    assert set(arrays) == {"rows", "means"}
    np.testing.assert_array_equal(arrays["rows"], [[0, 1, 2], [3, 4, 5]])
    assert arrays["means"].dtype == np.float64


@pytest.mark.parametrize("content", [None, b"", b"PK damaged", b"text"])
def test_what_is_no_such_file_is_an_error_that_callers_know(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "a.npz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DAMAGED):
        load_arrays(file)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    save_arrays(file, {}, odd=np.array([{"code": 1}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        load_arrays(file)
