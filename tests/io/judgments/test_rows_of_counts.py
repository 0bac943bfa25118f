"""Tables of error counts: surveys with a column per category, and what a missing row means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.analysis.agreement import Alignment, agree
from radgauge.core.errors import InputError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import read_judgments

STUDIES = [f"s{n}" for n in range(10)]
ERRORS = np.array([0, 0, 0, 0, 1, 1, 2, 3, 4, 5], dtype=float)


def table(tmp_path: Path, *, zeros: bool) -> Path:
    rows = [f"{s},r,omission,{n:g}" for s, n in zip(STUDIES, ERRORS, strict=True) if n or zeros]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(["id,rater,category,count", *rows]) + "\n")
    return path


def aligned(path: Path, **settings: object) -> Alignment:
    values = (-ERRORS + np.linspace(0, 0.1, 10))[:, None]
    keys = tuple((study, "system") for study in STUDIES)
    results = Results({"m": Scores("m", "m", keys, values, values, ("m",), True)})
    judgments = read_judgments(path, **settings)  # type: ignore[arg-type]
    return agree(results, judgments, targets=["total"], resamples=20)


def test_a_table_without_zeros_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of its 6 counts is 0.*no_row="):
        read_judgments(table(tmp_path, zeros=False))


def test_missing_rows_are_no_errors_if_told_so(tmp_path: Path) -> None:
    complete = aligned(table(tmp_path, zeros=True))
    filled = aligned(table(tmp_path, zeros=False), no_row="zero")
    assert filled.cases == complete.cases == 10
    assert filled.lines[0].correlation.value == complete.lines[0].correlation.value
    assert any("4 of 10 scored cases have no judgment" in note for note in filled.notes)
    partial = aligned(table(tmp_path, zeros=False), no_row="unjudged")
    assert partial.cases == 6
    assert any("left out" in note for note in partial.notes)


def test_scored_cases_without_a_judgment_are_refused_where_rows_may_be_missing(tmp_path: Path) -> None:
    path = table(tmp_path, zeros=True)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match=r"judgment.*'s9'.*no_row="):
        aligned(path)
    assert aligned(path, no_row="unjudged").cases == 9


def test_a_rater_without_a_row_counted_nothing_or_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("id,rater,category,count\na,x,omission,2\nb,x,omission,1\na,y,omission,4\n")
    zero, unknown = (read_judgments(path, no_row=how).mean_errors() for how in ("zero", "unjudged"))  # type: ignore[arg-type]
    assert zero.column("errors_total").tolist() == [3.0, 0.5]
    assert unknown.column("errors_total").tolist() == [3.0, 1.0]


def test_a_survey_has_a_column_per_category(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(
        "id,rater,rating,False finding,Omission,Omission significant\n"
        "a,x,4,1,3,2\na,y,5,,,0\nb,x,3,0,1,1\nb,y,2,,,\n"
    )
    found = read_judgments(path)
    x, y = found.errors.values()
    assert x.column("errors_total").tolist() == [4.0, 1.0]
    assert x.column("errors_omission").tolist() == [3.0, 1.0]
    assert x.column("errors_significant").tolist() == [2.0, 1.0]
    np.testing.assert_array_equal(y.column("errors_total"), [0.0, np.nan])  # a row of blanks is no judgment
    assert np.isnan(x.column("errors_location")).all()  # nobody was asked
    assert [found.ratings[rater].headline.tolist() for rater in "xy"] == [[4.0, 3.0], [5.0, 2.0]]
    assert "one column per category" in found.notes[0]


def test_a_survey_with_more_significant_errors_than_errors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    path.write_text("id,rater,omission,omission_significant\na,x,1,2\n")
    with pytest.raises(InputError, match=r"'omission'.*'omission_significant'"):
        read_judgments(path)
