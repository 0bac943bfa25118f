"""`score -o FOLDER --explain FOLDER`: the lines of a run into a file, part by part, and none lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scale_runs import content, records, write
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.run.engines import Engine
from radgauge.run.run import Ran, score_to_folder

RUN = CliRunner()
POOL = Engine("pool", 2)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write(tmp_path / "r.csv", records(40))


def scored(reports: Path, explain: Path | str | None, *, to: str = "s", engine: Engine = Engine()) -> Ran:  # noqa: B008
    return score_to_folder(
        reports,
        reports.parent / to,
        metrics="ratescore,bleu",
        parts=4,
        kind="jsonl",
        engine=engine,
        explain=explain,
    )


@pytest.mark.long
def test_a_folder_has_the_lines_of_a_file(tmp_path: Path, reports: Path) -> None:
    command = ["score", str(reports), "-m", "ratescore,bleu", "--no-cache", "--resamples", "20"]
    for output, why in (("s.jsonl", "why.jsonl"), ("s", "why")):
        more = ["--parts", "4"] if why == "why" else []
        done = RUN.invoke(app, [*command, "-o", str(tmp_path / output), "--explain", str(tmp_path / why), *more])
        assert done.exit_code == 0, done.output
    assert "why each case got its scores, a file per part" in " ".join(done.stderr.split())
    one = (tmp_path / "why.jsonl").read_text(encoding="utf-8").splitlines()
    parts = sorted((tmp_path / "why").glob("part-*.jsonl"))
    assert len(parts) == 4
    lines = [line for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    assert sorted(lines) == sorted(one)
    assert len({(each["id"], each["system"]) for each in map(json.loads, lines)}) == 40
    about = json.loads((tmp_path / "why" / "manifest.json").read_bytes())
    assert about["complete"] is True
    assert about["parts"] == [part.name for part in parts]


def test_a_pool_writes_the_same_bytes(tmp_path: Path, reports: Path) -> None:
    scored(reports, tmp_path / "why")
    scored(reports, tmp_path / "why_too", to="t", engine=POOL)
    assert content(tmp_path / "why") == content(tmp_path / "why_too")
    assert content(tmp_path / "s") == content(tmp_path / "t")


def test_explanations_can_be_asked_for_later_and_lost_ones_come_back(tmp_path: Path, reports: Path) -> None:
    scored(reports, None)
    before = content(tmp_path / "s")
    assert scored(reports, tmp_path / "why").scored == 4
    assert content(tmp_path / "s") == before
    whole = content(tmp_path / "why")
    assert scored(reports, tmp_path / "why").scored == 0
    (tmp_path / "why" / "part-00002.jsonl").unlink()
    assert scored(reports, tmp_path / "why").scored == 1
    assert content(tmp_path / "why") == whole
    assert content(tmp_path / "s") == before


def test_a_folder_of_explanations_belongs_to_one_run(tmp_path: Path, reports: Path) -> None:
    scored(reports, tmp_path / "why")
    other = write(tmp_path / "other.csv", records(20))
    with pytest.raises(InputError, match="explains another run"):
        scored(other, tmp_path / "why", to="t")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty and holds no explanations"):
        scored(other, tmp_path / "mine", to="t")
    (tmp_path / "mine" / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is not of explanations"):
        scored(other, tmp_path / "mine", to="t")


@pytest.mark.parametrize(
    ("explain", "message"),
    [
        ("s3://bucket/why", "explanations hold words of the reports and stay on this machine"),
        ("why.jsonl", r"one file per part: got why\.jsonl, name it without an ending \(why\)"),
        ("s", "scores and explanations need a folder each"),
    ],
)
def test_places_that_cannot_hold_explanations(
    tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch, explain: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        score_to_folder(reports, "s", metrics="bleu", explain=explain)
    assert not (tmp_path / "s").exists()


def test_a_disk_that_takes_no_explanation_ends_the_run(
    tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("radgauge.run.work.explain_part", full)
    with pytest.raises(RadgaugeError, match=r"cannot be written \(No space left on device\); the parts that are"):
        scored(reports, tmp_path / "why")
    assert not list((tmp_path / "s").glob("part-*"))
    monkeypatch.undo()
    assert scored(reports, tmp_path / "why").scored == 4
