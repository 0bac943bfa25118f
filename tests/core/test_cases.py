"""as_cases: what Python users hold goes through the same names and checks as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radgauge.core.cases import MISSING, Case
from radgauge.core.errors import InputError
from radgauge.io.records import as_cases, check_unique, text_notes
from radgauge.io.tables.cells import as_text, cell, study_id

COLUMNS: dict[str, list[Any]] = {
    "study_id": [1, 2, 3],
    "ground_truth": ["Clear.", None, "Normal."],
    "prediction": ["clear", "x", None],
    "split": ["test", "test", None],
}
EXPECTED = [
    Case("1", "clear", ("Clear.",), meta={"split": "test"}),
    Case("2", "x", ("",), meta={"split": "test"}),
    Case("3", "", ("Normal.",), meta={"split": ""}),
]


def test_dicts_columns_and_frames_give_the_same_cases() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    records = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    assert as_cases(records) == EXPECTED
    assert as_cases(iter(records)) == EXPECTED
    assert as_cases(COLUMNS) == EXPECTED
    assert as_cases(polars.DataFrame(COLUMNS)) == EXPECTED
    assert as_cases(pandas.DataFrame(COLUMNS)) == EXPECTED
    assert as_cases(pandas.DataFrame(COLUMNS).convert_dtypes()) == EXPECTED
    floats = pandas.DataFrame({**COLUMNS, "study_id": [1.0, 2.0, 3.0]})
    assert as_cases(floats) == EXPECTED
    assert as_cases(EXPECTED) == EXPECTED
    assert as_cases([EXPECTED[0], *records[1:]]) == EXPECTED
    assert as_cases([]) == []


def test_numpy_columns() -> None:
    assert as_cases({"id": np.array([7]), "candidate": np.array(["a"])})[0].id == "7"


def test_wide_and_named_columns() -> None:
    given = {"key1": ["1"], "truth": ["r"], "a": ["x"], "b": ["y"]}
    cases = as_cases(given, columns={"id": "key1", "reference": "truth"}, candidate_columns=["a", "b"])
    assert [(case.key, case.candidate, case.references) for case in cases] == [
        (("1", "a"), "x", ("r",)),
        (("1", "b"), "y", ("r",)),
    ]


@pytest.mark.parametrize("name", ["references", "reference"])
def test_several_references_in_a_list(name: str) -> None:
    assert as_cases([{"id": 1, "candidate": "a", name: ["r", "s"]}])[0].references == ("r", "s")


def test_images() -> None:
    case = as_cases([{"id": 1, "candidate": "a", "images": ["0.png", "1.png"]}])[0]
    assert case.images == (Path("0.png"), Path("1.png"))
    for names in ("0.png;1.png", "0.png | 1.png", "0.png, 1.png", '["0.png", "1.png"]'):
        assert as_cases([{"id": 1, "candidate": "a", "images": names}])[0].images == case.images
    odd = as_cases([{"id": 1, "candidate": "a", "images": "left, right.png"}])[0]  # a comma in a name
    assert odd.images == (Path("left, right.png"),)


def test_masks_and_white_space_stay() -> None:
    case = as_cases([{"id": 1, "candidate": " XXXX in ___ \n", "reference": "\t"}])[0]
    assert (case.candidate, case.references) == (" XXXX in ___ \n", ("\t",))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("text", "cases must be a sequence of Case or of dicts .* got str"),
        (3, "cases must be a sequence of Case"),
        ({"id": "1", "candidate": "a"}, "to judge one case pass a list with it"),
        ([{"id": "1", "candidate": "a"}, "b"], "record 2: a case must be a dict or a Case, got str"),
        ([{"id": "", "candidate": "a"}], "record 1: id: every case needs a non-empty id, got ''"),
        ([{"id": float("nan"), "candidate": "a"}], "every case needs a non-empty id, got nan"),
        ([{"id": "NaN", "candidate": "a"}], "every case needs a non-empty id"),
        ([{"id": True, "candidate": "a"}], "record 1: id must be a text or a number, got bool"),
        ([{"id": ["1"], "candidate": "a"}], "id must be a text or a number, got list"),
        ([{"id": "1", "candidate": 5}], r"record 1 \(id '1'\): candidate must be text, got 5"),
        ([{"id": "1", "candidate": {"a": "b" * 99}}], "candidate must be text, got an object$"),
        ([{"id": "1", "candidate": ["a", "b"]}], "candidate must be text, got a list$"),
        ([{"id": "1", "candidate": "a", "reference": False}], "reference must be text, got False"),
        (
            [{"id": "1", "candidate": "a\ud83d"}],
            r"candidate has half a character \(surrogate '\\ud83d'\) at pos",
        ),
        ([{"id": "\ud83d", "candidate": "a"}], "id has half a character"),
        ([Case("\ud83d", "a")], "record 1: id has half a character"),
        ([Case("1", "a\ud83d")], r"record 1 \(id '1'\): candidate has half a character"),
        ([Case("1", "a", ("b", "\ud83d"))], "reference has half a character"),
        ([Case("1", "a", system="\ud83d")], "system has half a character"),
        ([Case("1", "a", meta={"age": "\ud83d"})], "age has half a character"),
        ([{"id": "1", "text": "a"}], "cases: no candidate column"),
    ],
)
def test_what_cannot_be_a_case(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_cases(given)


def test_ids_occur_once() -> None:
    with pytest.raises(InputError) as error:
        as_cases([{"id": "1", "candidate": "a"}, {"id": 2, "candidate": "b"}, {"id": 1.0, "candidate": "a"}])
    assert str(error.value) == (
        "1 of 3 cases repeat an id; every (id, system) must occur once\n"
        "  1 exact copies, with the same texts: first '1' of system 'system' (record 1 and record 3)\n"
        "  remove the copies, or name the systems in a `system` column"
    )
    with pytest.raises(InputError, match="first 'a' of system 'system'"):
        check_unique([Case("a", "x"), Case("a", "y")])
    reports = [Case(study, text, meta={"who": text}) for study in "abc" for text in ("x", "y")]
    with pytest.raises(InputError, match=r"columns=\{'system': 'who'\}$"):
        check_unique(reports)


def test_odd_texts_are_noted() -> None:
    cases = [
        Case("1", " ", ("r",)),
        Case("2", "caf\ufffd", ("",)),
        Case("5.1E+07", "", (" ", "\n")),
        Case("4", "", ("r",), meta={MISSING: "no candidate"}),
    ]
    assert text_notes(cases, locations=["line 2", "line 3", "line 4", "line 5"]) == [
        "2 of 4 candidates are empty; first: id '1' (line 2)",
        "2 of 4 references are empty; first: id '2' (line 3)",
        "1 of 4 cases hold the replacement sign U+FFFD: the text was decoded wrongly before it came here; "
        "first: id '2' (line 3)",
        "1 of 4 ids look like numbers that a spreadsheet has rounded; first: id '5.1E+07' (line 4)",
    ]


def test_cells() -> None:
    pandas = pytest.importorskip("pandas")
    assert [cell(value) for value in (None, pandas.NA, pandas.NaT, np.float32("nan"), np.int64(3), 2.5, True)] == [
        *["", "", "", ""],
        *["3", "2.5", "True"],
    ]
    assert cell({"a": ["b"]}) == '{"a": ["b"]}'
    assert [as_text(word, where="") for word in ("nan", " NaN\n", "<NA>", "null", "None", "N/A")] == [""] * 6
    assert as_text("None seen.", where="") == "None seen."
    assert [study_id(value, where="") for value in (" 7 ", 7, 7.0, np.int32(7), "007")] == [*"7777", "007"]


def test_real_references() -> None:
    assert Case("1", "a", ("", "r", " ")).with_real_references().references == ("r",)
    case = Case("1", "a", ("r",))
    assert case.with_real_references() is case


@pytest.mark.parametrize(
    "dress",
    [
        "<p>{}</p>",
        "{}<br/>",
        "{}&nbsp;",
        "{} &#8211; clear",
        "No ef\u00adfusion. {}",
        "No\u200b effusion. {}",
        "\ufeff{}",
    ],
)
def test_markup_is_counted_in_a_note(dress: str) -> None:
    plain = Case("1", "Nodule < 5 mm & cyst > 3 mm; lungs clear.", ("Heart & lungs <normal.",))
    dressed = [
        Case("2", dress.format("Small effusion."), ("Small effusion.",)),
        Case("3", "Small effusion.", ("Clear.", dress.format("Small effusion."))),
    ]
    notes = [
        note for note in text_notes([plain, *dressed], locations=["row 1", "row 2", "row 3"]) if "markup" in note
    ]
    assert len(notes) == 1
    assert notes[0].startswith("2 of 3 cases")
    assert "'2' (row 2)" in notes[0]
    assert replace(dressed[0], candidate="Small effusion.").markup  # what came in, whatever is cleaned later
