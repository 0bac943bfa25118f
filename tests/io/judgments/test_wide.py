"""Tables as people keep them: one column per rater, and other names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments import read_judgments


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "judgments.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "head",
    ["id,rater_1,rater_2", "study_id,Reader 1,Reader 2", "UID,radiologist-1,radiologist-2", "case_id,r1,r2"],
)
def test_one_column_per_rater(tmp_path: Path, head: str) -> None:
    found = read_judgments(_file(tmp_path, f"{head}\na,1,2\nb,3,\n"))
    assert [case.id for case in found.cases] == ["a", "b"]
    first, second = found.ratings.values()
    np.testing.assert_array_equal(first.headline, [1.0, 3.0])
    np.testing.assert_array_equal(second.headline, [2.0, np.nan])
    assert "larger is better" in found.notes[0]


def test_wide_counts_and_systems(tmp_path: Path) -> None:
    text = "Study ID,model,Error Category,Clinically Significant,0,1\nx,m,2,True,3,0\nx,m,2,False,1,1\n"
    found = read_judgments(_file(tmp_path, text))
    assert found.cases[0].key == ("x", "m")
    assert list(found.errors) == ["0", "1"]
    assert found.errors["0"].column("errors_omission")[0] == 4
    assert found.errors["0"].column("errors_significant")[0] == 3
    assert found.errors["1"].column("errors_total")[0] == 1


def test_columns_of_raters_can_be_named(tmp_path: Path) -> None:
    path = _file(tmp_path, "id,ann,bob,age\na,1,2,60\nb,2,2,50\n")
    with pytest.raises(InputError, match="must have the column 'rater'"):
        read_judgments(path)
    found = read_judgments(path, raters=["ann", "bob"])
    assert list(found.ratings) == ["ann", "bob"]
    assert found.cases[0].meta == {"age": "60"}
    with pytest.raises(InputError, match="no column 'eve'"):
        read_judgments(path, raters=["ann", "eve"])
    with pytest.raises(UsageError, match="for tables only"):
        read_judgments(path, raters=["ann"], format="radpref")


def test_other_names_in_a_long_table(tmp_path: Path) -> None:
    text = "Report ID,Reader,Likert,ground_truth,prediction\n7,ann,4,Clear lungs.,Clear.\n"
    found = read_judgments(_file(tmp_path, text))
    assert (found.cases[0].id, found.cases[0].candidate, found.cases[0].references) == (
        "7",
        "Clear.",
        ("Clear lungs.",),
    )
    assert found.ratings["ann"].headline[0] == 4


def test_raters_without_any_value_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the columns of the raters are empty"):
        read_judgments(_file(tmp_path, "id,r1,r2\na,,\n"))
