"""Messages name ids, files and lines; they never show a report, whatever stands in the wrong place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, RadgaugeError, shown
from radgauge.io.case_files import read_cases
from radgauge.io.corpora import read_studies
from radgauge.io.judgments import read_judgments
from radgauge.io.tables import read_table

REPORT = "Mrs. Quibblewick has a small left pleural effusion."
FILES = {
    "list.jsonl": json.dumps({"id": "1", "reference": "clear", "candidate": [REPORT]}),
    "object.jsonl": json.dumps({"id": "1", "reference": {"text": REPORT}, "candidate": "clear"}),
    "id.jsonl": json.dumps({"id": [REPORT], "reference": "clear", "candidate": "clear"}),
    "no_header.csv": f"17,{REPORT},{REPORT} And more.\n18,{REPORT},{REPORT}\n",
    "same_cells.csv": f"17,{REPORT},{REPORT}\n",
    "ragged.csv": f"id,reference,candidate\n17,{REPORT}\n",
    "quote.csv": f'id,reference,candidate\n17,"{REPORT}"x,clear\n',
    "twice.json": f'{{"{REPORT}": 1, "{REPORT}": 2}}',
    "not.json": f'{{"id": {REPORT}}}',
    "surrogate.jsonl": json.dumps({"id": "1", "reference": "a", "candidate": REPORT + "\ud83d"}),
    "extra.jsonl": json.dumps({"id": "1", "reference": "a", "candidate": "b", "note": REPORT + "\ud83d"}),
    "latin.csv": f"id,reference,candidate\n17,{REPORT},caf\udce9\n",
    "ratings.csv": f"id,system,rater,category,count,significant\n1,a,r,{REPORT},1,yes\n",
    "counts.csv": f"id,system,rater,category,count,significant\n1,a,r,1,{REPORT},yes\n",
    "truths.csv": f"id,system,rater,category,count,significant\n1,a,r,1,1,{REPORT}\n",
    "rating.csv": f"id,system,rater,rating\n1,a,r,{REPORT}\n",
}
READERS: list[Callable[[Path], object]] = [read_cases, read_table, read_studies, read_judgments]


@pytest.mark.parametrize("name", FILES)
def test_no_error_shows_a_report(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8", errors="surrogateescape")
    said = []
    for read in READERS:
        try:
            read(path)
        except RadgaugeError as error:
            said.append(str(error))
    assert said
    assert [text for text in said for word in ("Quibblewick", "effusion", "pleural") if word in text] == []


def test_what_stands_in_a_message() -> None:
    values = [3, None, True, "yes", "2.5", REPORT, "two words", ["x"], {"a": 1}, b"bytes", 10**30]
    assert [shown(value) for value in values] == [
        *("3", "None", "True", "'yes'", "'2.5'", "a text of 51 characters", "a text of 9 characters"),
        *("a list", "an object", "a value of type bytes", "a long number"),
    ]


def test_half_a_character_in_any_cell_is_found_at_the_border(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    good = {"id": "1", "reference": "a", "candidate": "b", "age": "61", "system": "s"}
    for name in good:
        path.write_text(json.dumps({**good, name: "x\ud83d"}) + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"cases\.jsonl, line 1.*{name} has half a character"):
            read_cases(path)
    path.write_text(json.dumps({**good, "\ud83d": "x"}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"cases\.jsonl, line 1"):
        read_cases(path)


def test_a_column_called_missing_marks_no_case(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("id,reference,candidate,missing\n1,a,b,no\n", encoding="utf-8")
    (case,) = read_cases(path, keep_columns="missing").cases
    assert (case.missing, case.meta) == ("", {"missing": "no"})
