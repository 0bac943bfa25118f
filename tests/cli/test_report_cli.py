"""`radgauge report` as a user meets it: from reports, from scores, with judgments; tables and plots as files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from command import radgauge

FAST = ("-m", "rouge", "-m", "bleu", "--sampling", "resamples=20,permutations=50")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["id,reference,candidate,system"]
    for n in range(8):
        reference = f"Small left effusion and {n} nodules. The heart is normal in size."
        lines += [f"{n},{reference},{reference},good", f"{n},{reference},Right effusion and {n} masses.,bad"]
    (tmp_path / "reports.csv").write_text("\n".join(lines) + "\n")
    judged = ["id,system,rater,rating"]
    judged += [f"{n},{s},{r},{v}" for n in range(8) for s, v in (("good", 5), ("bad", 1 + n % 3)) for r in "ab"]
    (tmp_path / "ratings.csv").write_text("\n".join(judged) + "\n")
    return tmp_path


def test_reports_are_scored_first(folder: Path) -> None:
    done = radgauge("report", "reports.csv", *FAST, "-o", "page.html", "--title", "Mine", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "page.html\n"
    page = (folder / "page.html").read_text()
    assert "<title>Mine</title>" in page
    assert "reports.csv" in page  # with its hash, under Methods
    assert "open it in a browser" in done.stderr


def test_scores_with_reports_judgments_and_several_outputs(folder: Path) -> None:
    done = radgauge("score", "reports.csv", "-m", "rouge", "-m", "bleu", "-o", "scores.jsonl", folder=folder)
    assert done.returncode == 0, done.stderr
    done = radgauge(
        *("report", "scores.jsonl", "--reports", "reports.csv", "-j", "ratings.csv", *FAST[4:]),
        *("-o", "report.html", "-o", "tables", "-o", "one.tex", "-o", "comparison=two.md"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text()
    assert 'id="radiologists"' in page
    assert hashlib.sha256((folder / "ratings.csv").read_bytes()).hexdigest() in page
    assert (folder / "tables" / "radiologists.csv").is_file()
    assert (folder / "one.tex").read_text().startswith("% needs")
    assert (folder / "two.md").read_text().startswith("| metric")
    assert (folder / "tables" / "radiologists-rouge_l.svg").is_file()


def test_scores_alone(folder: Path) -> None:
    radgauge("score", "reports.csv", "-m", "rouge", "-o", "scores.jsonl", folder=folder)
    done = radgauge("report", "scores.jsonl", *FAST[4:], "-q", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "No texts" not in (folder / "report.html").read_text()  # found where they were scored
    (folder / "reports.csv").write_text("id,reference,candidate,system\n0,a,b,good\n")
    done = radgauge("report", "scores.jsonl", *FAST[4:], folder=folder)
    assert "changed since it was scored" in done.stderr
    assert "No texts" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report"], 2, "no reports given"),
        (["report", "absent.csv"], 3, "absent.csv"),
        (["report", "reports.csv", *FAST, "--baseline", "nobody"], 2, "no system 'nobody'"),
        (["report", "reports.csv", *FAST, "-o", "x.docx"], 2, ".csv, .md, .tex"),
        (["report", "reports.csv", *FAST, "-o", "secret=x.csv"], 2, "no table 'secret'"),
    ],
)
def test_mistakes(folder: Path, arguments: list[str], code: int, message: str) -> None:
    done = radgauge(*arguments, folder=folder)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_pairs_of_metrics_as_json(folder: Path) -> None:
    radgauge("score", "reports.csv", "-m", "rouge", "-m", "bleu", "-o", "scores.jsonl", folder=folder)
    done = radgauge(
        *("agree", "scores.jsonl", "ratings.csv", "--pairs", "--settings", "test=hendrickson1970"),
        *("--sampling", "resamples=50", "--json"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["alignment"]["pairs"]
    assert {pair["first"], pair["second"]} == {"rouge_l", "bleu_4"}
    assert pair["tests"][0]["n"] == 16
    done = radgauge("agree", "scores.jsonl", "ratings.csv", "--pairs", "--settings", "test=coin", folder=folder)
    assert done.returncode == 2
    assert "test= must be one of pearson1898" in done.stderr


def test_a_hospitals_export_becomes_a_page_in_one_command(folder: Path) -> None:
    rows = ["KI-Pilot, Thorax;;;", ";;;", "Auftrag;Befund (Radiologe);Entwurf;Rückfrage", ";;;"]
    rows += [
        f"A{n};Small left effusion of {n} mm is seen.;Small effusion of {n} mm is seen.;Anruf" for n in range(8)
    ]
    rows += [rows[-1], "Summe;1142;;"]
    (folder / "befunde.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ("--columns", "id=Auftrag,candidate=Entwurf", "--input", "duplicates=first", "-o", "page.html")
    refused = radgauge("report", "befunde.csv", *FAST, *options[:2], folder=folder)
    assert "--input duplicates=first" in refused.stderr
    done = radgauge("report", "befunde.csv", *FAST, *options, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "8 studies" in (folder / "page.html").read_text().replace("<b>", "").replace("</b>", "")
    assert "Rückfrage" in done.stderr  # named as left out
    assert "Anruf" not in done.stderr
