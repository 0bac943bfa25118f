"""`score -o FOLDER`, and what `compare` and `report` make of folders small and large."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scale_runs import records, write
from typer.testing import CliRunner

from radgauge.analysis import sums
from radgauge.cli import app
from radgauge.core.errors import InputError, UsageError

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = write(tmp_path / "r.csv", records(240))
    done = RUN.invoke(
        app, ["score", str(path), "-o", str(tmp_path / "s"), "-m", "bleu,rouge", "--parts", "5", "-q"]
    )
    assert done.exit_code == 0, done.output
    return tmp_path / "s"


def test_score_to_a_folder_prints_the_numbers_of_a_file(tmp_path: Path, folder: Path) -> None:
    said = [
        json.loads(
            RUN.invoke(app, ["score", str(tmp_path / "r.csv"), "-m", "bleu,rouge", "--json", *more]).stdout
        )["summary"]
        for more in ([], ["-o", str(folder), "--parts", "5"])
    ]
    assert said[0] == said[1]
    assert {line["judged"] for line in said[0]} == {119, 120}


def test_the_folder_is_named_in_the_message(tmp_path: Path, folder: Path) -> None:
    command = ["score", str(tmp_path / "r.csv"), "-o", str(folder), "-m", "bleu,rouge", "--parts", "5"]
    done = RUN.invoke(app, command)
    assert "240 cases in 5 parts, 5 of them were there; every id that went in came out" in " ".join(
        done.stderr.split()
    )


@pytest.mark.long
def test_a_folder_has_the_notes_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [
        "Small left pleural effusion.",
        "Heart is enlarged.",
        "Right lower lobe opacity.",
        "Old rib fracture.",
    ]
    rows = [
        {
            "id": f"s{at}",
            "reference": f"{findings[at % 4]} {findings[(at + at // 4) % 4]} Size {at} mm.",
            "candidate": "The lungs are clear."
            if at
            else "The heart is enlarged. The lungs are clear. Zorbal quimset fribbled vexo.",
        }
        for at in range(24)
    ]
    path = write(tmp_path / "r.csv", rows)
    command = ["score", str(path), "-m", "errors", "--resamples", "20"]

    def notes(*more: str) -> set[str]:
        done = RUN.invoke(app, [*command, *more], catch_exceptions=False)
        return {line for line in " ".join(done.stderr.split()).split(" note: ")[1:] if "--all-columns" not in line}

    said = notes("-o", str(tmp_path / "s.jsonl"))
    found = notes("-o", str(tmp_path / "s"), "--parts", "4")
    one, all_of_it = (" note ".join(sorted(each)) for each in (found, said))
    for sign in ("writes 2 distinct reports for 24 studies", "1 of 24 cases are judged with low confidence"):
        assert sign in one
        assert sign in all_of_it
    monkeypatch.setattr("radgauge.run.run.LOOKED_AT", 5)
    assert any(
        "in a sample of" in note and "distinct" in note
        for note in notes("-o", str(tmp_path / "t"), "--parts", "2")
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "2"], "--jobs and --cluster are for output to a folder"),
        (["-o", "s", "--baselines"], "--baselines needs all reports at once"),
        (["-o", "s", "--one-view"], "one_view must see all reports of a study"),
        (["-o", "s", "--gpus", "1"], "gpus= belongs to engine=ray"),
    ],
)
def test_options_that_do_not_fit_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.csv", records())
    with pytest.raises(UsageError, match=message):
        RUN.invoke(app, ["score", "r.csv", "-m", "bleu", *words], catch_exceptions=False)


def test_standard_input_is_no_input_of_a_folder(tmp_path: Path) -> None:
    command = ["score", "-", "-o", str(tmp_path / "s"), "-m", "bleu"]
    with pytest.raises(UsageError, match="standard input cannot be read a second time"):
        RUN.invoke(app, command, input="id,reference,candidate\n", catch_exceptions=False)


def test_a_metric_without_a_value_is_no_result(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", [{"id": str(at), "reference": "clear", "candidate": ""} for at in range(4)])
    with pytest.raises(InputError, match="bleu judged none of the 4 cases"):
        RUN.invoke(app, ["score", str(path), "-o", str(tmp_path / "s"), "-m", "bleu"], catch_exceptions=False)


@pytest.mark.long
def test_a_folder_is_compared_and_reported_as_its_file(tmp_path: Path, folder: Path) -> None:
    command = ["compare", str(folder), "--json", "--permutations", "500"]
    lines = json.loads(RUN.invoke(app, command).stdout)["comparisons"]
    assert {line["result"]["n"] for line in lines} == {119}
    page = tmp_path / "report.html"
    command = ["report", str(folder), "--reports", str(tmp_path / "r.csv"), "-o", str(page), "--resamples", "50"]
    done = RUN.invoke(app, [*command, "--permutations", "200", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["tables"]["summary"]
    exact = json.loads(RUN.invoke(app, ["score", str(tmp_path / "r.csv"), "-m", "bleu,rouge", "--json"]).stdout)
    values = {round(line["value"], 9) for line in exact["summary"]}
    assert {round(row["value"], 9) for row in rows} <= values


@pytest.mark.long
def test_a_folder_beyond_memory_has_normal_intervals(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "IN_MEMORY", 100)
    command = ["score", str(tmp_path / "r.csv"), "-o", str(folder), "-m", "bleu,rouge", "--parts", "5", "--json"]
    lines = json.loads(RUN.invoke(app, command).stdout)["summary"]
    assert {line["method"] for line in lines} == {"normal"}
