"""Systems that write the same report for everyone, and baselines that are meant to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.analysis.baselines import FREQUENT, NORMAL_TEMPLATE, TEMPLATE, constant_baselines
from radgauge.analysis.collapse import Collapse, collapse, collapse_notes
from radgauge.cli import app
from radgauge.samples import sample_reports_path


@pytest.mark.long
def test_the_template_system_is_seen_and_the_careful_one_is_not() -> None:
    cases = rg.read_cases(sample_reports_path()).cases
    found = {each.system: each for each in collapse(cases)}
    assert [name for name, each in found.items() if each.collapsed] == ["template"]
    assert found["template"].distinct < found["template"].distinct_references / 2
    (note,) = collapse_notes(cases)
    assert note.startswith("system 'template' writes 19 distinct reports for 72 studies")


def test_varied_reports_are_not_said_to_be_the_same() -> None:
    varied = Collapse("ours", 50, 50, 50, 0.11, True).sentence()
    assert varied.startswith("the reports of system 'ours' are more alike than the radiologists'")
    assert "0.11 above that of two of theirs, though 50 of 50 are distinct" in varied
    assert "collapsed" not in varied
    assert "it may have collapsed" in Collapse("ours", 50, 20, 50, 0.02, True).sentence()


def test_few_reports_say_nothing() -> None:
    assert collapse([rg.Case(str(n), "Clear.", (f"Mass {n}.",)) for n in range(9)]) == ()


@pytest.fixture
def same(tmp_path: Path) -> Path:
    findings = ("effusion", "edema", "pneumothorax", "cardiomegaly", "fracture", "mass")
    rows = [f"{n},There is a {findings[n % 6]} of {n} mm.,No acute abnormality." for n in range(24)]
    path = tmp_path / "reports.csv"
    path.write_text("id,reference,candidate\n" + "\n".join(rows) + "\n")
    return path


def test_score_says_so_and_adds_baselines(same: Path) -> None:
    done = CliRunner().invoke(
        app, ["score", str(same), "-m", "rouge", "--baselines", "--json", "--no-cache", "--resamples", "10"]
    )
    said = json.loads(done.stdout)
    assert said["collapse"][0].startswith("system 'reports' writes 1 distinct report for 24 studies")
    assert list(dict.fromkeys(line["system"] for line in said["summary"])) == ["reports", TEMPLATE, FREQUENT]


@pytest.mark.long
def test_baselines_are_compared_and_a_report_says_so(same: Path, tmp_path: Path) -> None:
    scores = str(tmp_path / "scores.jsonl")
    CliRunner().invoke(app, ["score", str(same), "-m", "rouge", "--baselines", "--no-cache", "-o", scores])
    done = CliRunner().invoke(app, ["compare", scores, "--json", "--permutations", "10"])
    said = json.loads(done.stdout)
    (leader,) = {line["baseline"] for line in said["comparisons"]}
    assert {leader, *(line["system"] for line in said["comparisons"])} == {"reports", TEMPLATE, FREQUENT}
    cases = rg.read_cases(same).cases
    report = rg.build_report(rg.score(cases, "rouge"), cases=cases, resamples=10, permutations=10)
    assert report.verdict is not None
    assert any("it may have collapsed" in warning for warning in report.verdict.warnings)


def test_baselines_are_constant_and_cover_every_study_once() -> None:
    cases = [rg.Case(study, "x", (text,), system) for study, text in (("1", "a"), ("2", "a")) for system in "mn"]
    rows = constant_baselines(cases)
    assert [(row.id, row.system, row.candidate) for row in rows] == [
        ("1", TEMPLATE, NORMAL_TEMPLATE),
        ("2", TEMPLATE, NORMAL_TEMPLATE),
        ("1", FREQUENT, "a"),
        ("2", FREQUENT, "a"),
    ]
    with pytest.raises(rg.UsageError, match="there is a system named 'normal template' already"):
        constant_baselines(rows[:2])
