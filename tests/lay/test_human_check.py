"""People's verdicts: drawn, read back, and obeyed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.lay.build import build_reports, build_sets
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.human_check import export_check, import_check
from radgauge.lay.refine import Refinement
from radgauge.lay.sentences import sentence_set
from radgauge.lay.translators import EmbeddedTranslator

REPORTS = {
    "1": "Small left pleural effusion. No pneumothorax.",
    "2": "There is no evidence of pneumothorax. Cardiomegaly.",
    "3": "Right rib fracture. Cardiomegaly.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    encoder = FindingEncoder()
    how = Refinement(EmbeddedTranslator(), ("fidelity",), encoder)
    build_sets(REPORTS, tmp_path / "sets", how=how, encoder=encoder)
    return tmp_path / "sets"


def _fill(path: Path, verdicts: dict[str, str], *, default: str = "yes") -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["matches"] = verdicts.get(row["professional"], default)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def test_export(folder: Path, tmp_path: Path) -> None:
    assert export_check(folder, tmp_path / "all.csv", count=500) == 5
    assert export_check(folder, tmp_path / "a.csv", count=2, seed=1) == 2
    export_check(folder, tmp_path / "b.csv", count=2, seed=1)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    for seed in range(2, 9):
        export_check(folder, tmp_path / f"{seed}.csv", count=2, seed=seed)
    draws = {(tmp_path / f"{seed}.csv").read_bytes() for seed in range(2, 9)}
    assert len(draws) > 1
    with pytest.raises(UsageError, match="may hold verdicts"):
        export_check(folder, tmp_path / "all.csv")


def test_what_people_reject_leaves_the_sets(folder: Path, tmp_path: Path) -> None:
    export_check(folder, tmp_path / "anna.csv")
    _fill(tmp_path / "anna.csv", {"No pneumothorax.": "No", "Cardiomegaly.": ""})
    found = import_check(folder, tmp_path / "anna.csv")
    assert (found.by, found.judged, found.accepted, found.blank) == ("anna", 4, 3, 1)
    assert found.share == pytest.approx(3 / 4)
    assert (found.low, found.high) == (pytest.approx(0.3006, abs=1e-4), pytest.approx(0.9544, abs=1e-4))
    assert (found.drawn_from, found.copies) == (5, 0)  # the near-copy of the denial too
    assert (found.rejected, found.pairs, found.lay_reports) == (1, 3, 2)
    assert "No pneumothorax." not in {pair.professional for pair in sentence_set(str(folder / "sentences.tsv"))}
    rows = [json.loads(line) for line in (folder / "reports.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["why"] for row in rows] == ["a person rejected the lay text of a sentence", "", ""]


def test_building_again_obeys_the_verdicts(folder: Path, tmp_path: Path) -> None:
    export_check(folder, tmp_path / "anna.csv")
    _fill(tmp_path / "anna.csv", {"No pneumothorax.": "no"})
    import_check(folder, tmp_path / "anna.csv")
    encoder = FindingEncoder()
    built = build_sets(
        REPORTS, folder, how=Refinement(EmbeddedTranslator(), ("fidelity",), encoder), encoder=encoder
    )
    assert (built.rejected, built.pairs) == (1, 3)


def test_several_people_and_second_thoughts(folder: Path, tmp_path: Path) -> None:
    export_check(folder, tmp_path / "check.csv")
    _fill(tmp_path / "check.csv", {"Cardiomegaly.": "no"})
    assert import_check(folder, tmp_path / "check.csv", by="anna").rejected == 1
    _fill(tmp_path / "check.csv", {"No pneumothorax.": "0"}, default="1")
    assert import_check(folder, tmp_path / "check.csv", by="ben").rejected == 2
    _fill(tmp_path / "check.csv", {})
    found = import_check(folder, tmp_path / "check.csv", by="anna")
    assert (found.rejected, found.share) == (1, 1.0)


def test_files_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "check.csv"
    export_check(folder, path)
    with pytest.raises(InputError, match="holds no verdict"):
        import_check(folder, path)
    _fill(path, {"Cardiomegaly.": "perhaps"})
    with pytest.raises(InputError, match="'perhaps'"):
        import_check(folder, path)
    path.write_text("pair,matches\nabc,yes\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: this pair is not in the set"):
        import_check(folder, path)
    path.write_text("professional,matches\nabc,yes\n", encoding="utf-8")
    with pytest.raises(InputError, match="must have the columns pair and matches"):
        import_check(folder, path)
    with pytest.raises(InputError, match="give the folder of"):
        import_check(tmp_path, path)


def test_whole_reports_are_checked_as_a_whole(tmp_path: Path) -> None:
    reports = {**REPORTS, "again": "Small  left pleural effusion.\nNo pneumothorax."}  # the text of "1"
    how = Refinement(EmbeddedTranslator(), ("fidelity",), FindingEncoder())
    sets = tmp_path / "sets"
    build_reports(reports, sets, how=how)
    assert export_check(sets, tmp_path / "anna.csv") == 3
    _fill(tmp_path / "anna.csv", {"Small left pleural effusion. No pneumothorax.": "no"})
    found = import_check(sets, tmp_path / "anna.csv")
    assert (found.judged, found.accepted, found.rejected, found.pairs, found.lay_reports) == (3, 2, 1, 2, 2)
    rows = {row["id"]: row for row in map(json.loads, (sets / "reports.jsonl").read_text("utf-8").splitlines())}
    assert [rows[study]["lay"] for study in ("1", "again")] == [None, None]
    assert rows["1"]["why"] == "a person rejected the lay text"
    assert build_reports(reports, sets, how=how).lay_reports == 2  # building again does not bring it back
    _fill(tmp_path / "anna.csv", {})
    assert import_check(sets, tmp_path / "anna.csv").lay_reports == 4  # the same person thinks otherwise
    rows = {row["id"]: row for row in map(json.loads, (sets / "reports.jsonl").read_text("utf-8").splitlines())}
    assert rows["1"]["lay"] == rows["again"]["lay"] != ""
    assert "rejected_lay" not in rows["1"]
