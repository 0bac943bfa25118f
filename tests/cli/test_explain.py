"""`radgauge explain` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, UsageError

REFERENCE = "Left pleural effusion. Cardiomegaly. 12 x 8 mm nodule in the right upper lobe. No pneumothorax."
CANDIDATE = (
    "Right pleural effusion. Heart size is normal. Possible nodule in the right upper lobe. Rib fracture, xyzzy."
)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["explain", *map(str, arguments)], env={"COLUMNS": "200"})
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


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    rows = [
        f'{study},{system},{REFERENCE},"{CANDIDATE}"' for study, system in (("1", "a"), ("1", "b"), ("2", "a"))
    ]
    path.write_text("\n".join(["id,system,reference,candidate", *rows]) + "\n")
    return path


def test_what_was_read_and_what_differs(texts: tuple[Path, Path]) -> None:
    shown = run(*texts)
    assert "Cardiomegaly is missing: the candidate denies it" in shown
    assert "Rib fracture is not in the reference" in shown
    assert "side is left in the reference, right in the candidate" in shown
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "pulmonary nodule present right upper lobe right 12 x 8 mm nodule" in lines
    assert "pneumothorax absent pleural space pneumothorax" in lines
    assert "unread: xyzzy" in lines


def test_the_explanation_as_data(texts: tuple[Path, Path]) -> None:
    data = json.loads(run(*texts, "--json"))
    assert (data["reference"], data["candidate"]) == (REFERENCE, CANDIDATE)
    by_concept = {note["data"]["concept"]: note for note in data["notes"] if "category" in note["data"]}
    start, end = by_concept["rib_fracture"]["candidate_spans"][0]
    assert CANDIDATE[start:end] == "Rib fracture"
    claims = {row["label"]: row for row in data["read"]["candidate"]}
    assert {row["status"] for row in claims.values()} == {"present", "normal", "uncertain"}
    assert (claims["pulmonary nodule"]["status"], claims["pulmonary nodule"]["side"]) == ("uncertain", "right")
    assert all(data["candidate"][row["start"] : row["end"]] == row["words"] for row in claims.values())


def test_a_study_of_a_table(table: Path) -> None:
    assert "Rib fracture is not in the reference" in run(table, "--id", "2")
    shown = run(table, "--id", "1", "--system", "b", "-m", "ratescore")
    assert "why (ratescore)" in shown
    assert "ratescore_embedded 0." in shown
    with pytest.raises(UsageError, match="--system: a, b"):
        run(table, "--id", "1")
    with pytest.raises(InputError, match=r"'9' of system 'a'; the first id is '1'"):
        run(table, "--id", "9", "--system", "a")


def test_wrong_use_is_refused(texts: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    empty, noise = tmp_path / "e.txt", tmp_path / "n.txt"
    empty.write_text(" ")
    noise.write_text("xyzzy")
    with pytest.raises(InputError, match="the candidate is empty"):
        run(texts[0], empty)
    with pytest.raises(InputError, match="errors cannot judge this case: no finding and no normal statement"):
        run(noise, texts[0])
    with pytest.raises(UsageError, match="got 1 file "):
        run(texts[0])
    with pytest.raises(InputError, match="is a table"):
        run(table, texts[0])
    with pytest.raises(UsageError, match="--id names a study of one table, got 2 files"):
        run(*texts, "--id", "1")
