"""Judgment files: read exactly, raters apart, wrong files named by file, column and row."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments import CANDIDATE, INSIGNIFICANT, SIGNIFICANT, Judgments, read_judgments
from radgauge.io.judgments.rexval import CANDIDATES, COUNTS, TEXTS


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def rexval(tmp_path: Path) -> Path:
    """Two studies in ReXVal's form, two raters: rater 1 counts one significant omission more than rater 0."""
    texts = [
        {"study_id": f"s{n}", "gt_report": "clear", **dict.fromkeys(CANDIDATES, "clear lungs")} for n in (7, 8)
    ]
    write(tmp_path / TEXTS, texts)
    counts = [
        {
            "study_number": study,
            "candidate_type": system,
            "rater_index": rater,
            "error_category": category,
            "clinically_significant": significant,
            "num_errors": rater if (category, significant) == (2, True) else int(category == 1 and study == 1),
        }
        for study in (0, 1)
        for system in CANDIDATES
        for rater in (0, 1)
        for category in range(1, 7)
        for significant in (True, False)
    ]
    write(tmp_path / COUNTS, counts)
    return tmp_path


def test_rexval(rexval: Path) -> None:
    found = read_judgments(rexval)
    assert (found.name, found.raters, len(found.cases)) == ("ReXVal", ("0", "1"), 8)
    assert found.cases[0].key == ("s7", "radgraph")
    mean = found.mean_errors()
    assert mean.column("errors_total").tolist() == [0.5] * 4 + [2.5] * 4
    assert mean.column("errors_significant").tolist() == [0.5] * 4 + [1.5] * 4
    assert found.errors["1"].column("errors_omission_significant").tolist() == [1.0] * 8
    assert np.isnan(mean.column("errors_false_uncertainty")).all()  # ReXVal does not ask for it
    assert not mean.higher_is_better


def _without(rexval: Path, *beginnings: str) -> Judgments:
    lines = (rexval / COUNTS).read_text().splitlines()
    (rexval / COUNTS).write_text("\n".join(line for line in lines if not line.startswith(beginnings)))
    return read_judgments(rexval)


def test_a_case_without_counts_was_not_judged(rexval: Path) -> None:
    found = _without(rexval, "1,bleu,1,")
    assert math.isnan(found.errors["1"].take([found.errors["1"].keys.index(("s8", "bleu"))]).values[0, 0])
    assert "rater 1 has no counts for 1 of 8 cases: not judged, not 0 errors" in found.notes


def test_a_missing_category_makes_a_case_unjudged_whatever_category_it_is(rexval: Path) -> None:
    found = _without(rexval, "1,bleu,1,4,True")
    place = found.errors["1"].keys.index(("s8", "bleu"))
    assert np.isnan(found.errors["1"].values[place]).all()
    assert not np.isnan(found.errors["0"].values[place, 0])
    assert "rater 1 has fewer than 12 counts for 1 of 8 cases: not judged" in found.notes


def test_a_study_that_nobody_judged_is_said(rexval: Path) -> None:
    found = _without(rexval, "1,")
    assert "4 of 8 cases were judged by nobody" in found.notes
    assert np.isnan(found.mean_errors().column("errors_total")).sum() == 4


def test_identical_candidates_with_unequal_counts_are_said(rexval: Path) -> None:
    assert not any("identical" in note for note in read_judgments(rexval).notes)
    text = (rexval / COUNTS).read_text()
    (rexval / COUNTS).write_text(text.replace("0,bleu,1,3,True,0", "0,bleu,1,3,True,2"))
    (note,) = [note for note in read_judgments(rexval).notes if "identical" in note]
    assert note.endswith("unequal counts in 1 judgments, first: rater 1, study s7")


def test_counts_without_zeros_are_refused(rexval: Path) -> None:
    lines = (rexval / COUNTS).read_text().splitlines()
    (rexval / COUNTS).write_text("\n".join(line for line in lines if not line.endswith(",0")))
    with pytest.raises(InputError, match="a case must have 12 counts by each rater "):
        read_judgments(rexval)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_errors", "errors", "must have the column 'num_errors'"),
        (
            "0,radgraph,0,1,True,0",
            "0,radgraph,0,1,maybe,0",
            "line 2: column .clinically_significant. must be",
        ),
        ("0,radgraph,0,1,True,0", "0,radgraph,0,1,True,many", "line 2: column 'num_errors' must be a number"),
        ("0,radgraph,0,1,True,0", "9,radgraph,0,1,True,0", "line 2: study_number must be 0 to 1, got 9"),
        ("0,radgraph,0,1,True,0", "0,rouge,0,1,True,0", "candidate_type must be one of radgraph"),
        ("0,radgraph,0,1,True,0", "0,radgraph,0,9,True,0", "error_category must be 1 to 6 in ReXVal, got 9"),
        ("0,radgraph,0,1,False,0", "0,radgraph,0,1,True,0", "line 3: this count was already given in"),
    ],
)
def test_wrong_rexval_cells_are_named(rexval: Path, old: str, new: str, message: str) -> None:
    text = (rexval / COUNTS).read_text()
    (rexval / COUNTS).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_judgments(rexval)


def test_a_missing_rexval_file_is_named(rexval: Path) -> None:
    (rexval / COUNTS).unlink()
    with pytest.raises(InputError, match=COUNTS):
        read_judgments(rexval)


@pytest.fixture
def radevalx(tmp_path: Path) -> Path:
    blank = dict.fromkeys(map(str, range(1, 9)), "")
    row = {"report_id": "r1", "ground_truth": "clear", CANDIDATE: "effusion", **blank}
    write(tmp_path / SIGNIFICANT, [{**row, "1": 2, "8": 1}])
    write(tmp_path / INSIGNIFICANT, [{**row, "3": 1}])
    return tmp_path


def test_radevalx(radevalx: Path) -> None:
    found = read_judgments(radevalx)
    mean = found.mean_errors()
    assert mean.column("errors_total").tolist() == [4.0]
    assert mean.column("errors_significant").tolist() == [3.0]
    assert mean.column("errors_omitted_uncertainty").tolist() == [1.0]
    assert "blank" in found.notes[0]


def test_radevalx_files_must_agree(radevalx: Path) -> None:
    path = radevalx / INSIGNIFICANT
    path.write_text(path.read_text().replace("effusion", "other"))
    with pytest.raises(InputError, match="different texts for 'r1'"):
        read_judgments(radevalx)


def test_radpref(tmp_path: Path) -> None:
    nothing = {"finding_errors": {}, "missing_findings": {}, "rating": 5}
    verdict = {
        "finding_errors": {
            "0": {"error_type": "false", "clinical_significance": "urgent"},
            "1": {"error_type": "attribute", "attributes": {"location": "negligible"}},
        },
        "missing_findings": {"0": {"clinical_significance": "benign_expected"}},
        "rating": 2,
    }
    item = {
        "id": "p1",
        "ground_truth_report": "clear",
        "C1_report": "effusion",
        "C2_report": "clear",
        "PatientAge": "061Y",
        "radiologists": {"1": {"C1": verdict, "C2": nothing}, "2": {"C1": nothing, "C2": nothing}},
    }
    path = tmp_path / "radpref.json"
    path.write_text(json.dumps([item]))
    found = read_judgments(path)
    assert found.errors["1"].values[0, :5].tolist() == [3, 1, 1, 1, 1]
    assert found.mean_errors().column("errors_total").tolist() == [1.5, 0.0]
    assert found.mean_ratings().headline.tolist() == [3.5, 5.0]
    assert found.cases[0].meta["patientage"] == "061Y"
    del item["radiologists"]["1"]["C2"]
    path.write_text(json.dumps([item]))
    with pytest.raises(InputError, match=r"radpref\.json, item 0, rater 1: the field 'C2'"):
        read_judgments(path)


def test_radpref_agrees_with_its_tidy_view(shared_data: Path) -> None:
    found = read_judgments(shared_data / "radpref_dev" / "radpref_dev.json")
    with (shared_data / "radpref_dev" / "radpref_dev.csv").open(encoding="utf-8") as file:
        tidy = {(row["id"], row["cand"]): row for row in csv.DictReader(file)}
    assert tidy.keys() == {case.key for case in found.cases}
    for rater in found.raters:
        for scores, letter in ((found.errors[rater], "e"), (found.ratings[rater], "r")):
            expected = [float(tidy[key][f"{letter}{rater}"]) for key in scores.keys]
            assert scores.headline.tolist() == expected


def test_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_text(
        "id,system,rater,category,significant,count,rating\n"
        "1,a,X,omission,yes,2,\n1,a,X,3,no,1,\n1,a,X,,,,4\n1,a,Y,omission,yes,0,\n1,b,X,1,yes,1,\n"
    )
    found = read_judgments(path)
    assert found.errors["X"].column("errors_total").tolist() == [3, 1]
    assert found.errors["X"].column("errors_significant").tolist() == [2, 1]
    assert found.mean_errors().column("errors_total").tolist() == [1.5, 1.0]  # Y did not see (1, b)
    assert found.ratings["X"].headline.tolist()[0] == 4.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,rater\n1,X\n", "must have the column rating, or category and count"),
        ("id,rater,category,count\n1,X,9,1\n", "line 2: column 'category' must be 1 to 8"),
        ("id,rater,category,count\n1,X,1,-1\n", "must be 0 or more"),
        ("id,rater,rating\n1,X,3\n1,X,4\n", "line 3: rater 'X' rates"),
        ("id,rater,rating\n1,,3\n", "line 2: column 'rater' must not be empty"),
    ],
)
def test_wrong_tables_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "judged.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_judgments(path)


def test_paths_and_formats_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_judgments(tmp_path / "absent")
    with pytest.raises(InputError, match="holds neither ReXVal"):
        read_judgments(tmp_path)
    with pytest.raises(UsageError, match="format must be one of rexval"):
        read_judgments(tmp_path, format="excel")
    with pytest.raises(InputError, match="is a folder"):
        read_judgments(tmp_path, format="table")


def test_endless_digits_in_radpref_are_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "radpref.json"
    path.write_text('[{"id": ' + "9" * 5000 + "}]", encoding="utf-8")
    with pytest.raises(InputError, match="not a JSON file"):
        read_judgments(path, format="radpref")
