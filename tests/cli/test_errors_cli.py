"""`read --compare`, `fit errors` and `align --behaviour` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError

REFERENCE = "Left pleural effusion. Cardiomegaly. No pneumothorax."
CANDIDATE = "Right pleural effusion. Heart size is normal. Rib fracture."


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "reference.txt", tmp_path / "candidate.txt"
    for path, text in zip(paths, (REFERENCE, CANDIDATE), strict=True):
        path.write_text(text)
    return paths


def test_two_reports_side_by_side(texts: tuple[Path, Path]) -> None:
    shown = run("read", "--compare", *texts)
    assert "Cardiomegaly is missing: the candidate denies it" in shown
    assert "Rib fracture is not in the reference" in shown
    assert "side is left in the reference, right in the candidate" in shown
    assert "3 errors, 3 clinically significant" in shown


def test_the_comparison_as_data(texts: tuple[Path, Path]) -> None:
    found = json.loads(run("read", "--compare", *texts, "--json"))
    assert found["values"]["errors_total"] == 3
    places = {note["data"]["concept"]: note for note in found["notes"] if "category" in note["data"]}
    start, end = places["rib_fracture"]["candidate_spans"][0]
    assert CANDIDATE[start:end] == "Rib fracture"


def test_nothing_to_compare(tmp_path: Path) -> None:
    empty, noise, report = tmp_path / "e.txt", tmp_path / "n.txt", tmp_path / "r.txt"
    empty.write_text(" ")
    noise.write_text("xyzzy")
    report.write_text(REFERENCE)
    with pytest.raises(InputError, match="the candidate is empty: there is nothing to compare"):
        run("read", "--compare", report, empty)
    with pytest.raises(InputError, match="no finding and no normal statement was read in the reference"):
        run("read", "--compare", noise, report)


def test_fitting(tmp_path: Path) -> None:
    judgments = tmp_path / "ratings.csv"
    rows = ["id,system,reference,candidate,rater,rating"]
    for study in range(4):
        for system, text, rating in (("a", REFERENCE, 5), ("b", CANDIDATE, 1), ("c", "Cardiomegaly.", 3)):
            rows.append(f"{study},{system},{REFERENCE},{text},r1,{rating}")
    judgments.write_text("\n".join(rows) + "\n")
    output = tmp_path / "weights.json"
    shown = run("fit", "errors", "--judgments", judgments, "-o", output, "--no-cache", "--quiet")
    assert "learned, studies not seen" in shown
    assert set(json.loads(output.read_text())["tiers"]) == {"urgent", "actionable", "not_actionable", "benign"}


def test_behaviour() -> None:
    shown = run("align", "--behaviour", "-m", "rouge", "--no-cache", "--quiet")
    assert "partial credit" in shown
    found = json.loads(run("align", "--behaviour", "-m", "rouge", "--no-cache", "--quiet", "--json"))
    assert found["behaviour"][0]["judge"] == "rouge"
