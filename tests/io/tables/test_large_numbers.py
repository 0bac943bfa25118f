"""A whole number in a cell may have more digits than any other kind of number holds."""

from __future__ import annotations

from pathlib import Path

import radgauge as rg
from radgauge.io.tables.cells import is_missing

LARGE = 10**400


def test_a_large_whole_number_is_not_missing() -> None:
    assert not is_missing(LARGE)
    assert is_missing(float("nan"))


def test_a_large_whole_number_is_read_as_an_id_and_as_another_column(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(f'[{{"id": {LARGE}, "reference": "a", "candidate": "b", "age": {LARGE}}}]')
    (case,) = rg.read_cases(path).cases
    assert case.id == str(LARGE)
    assert case.meta["age"] == str(LARGE)
