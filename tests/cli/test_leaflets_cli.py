"""`radgauge lay write -o` and `sign`: a table of reports in, leaflets and a table out."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from scripted_llm import Reply, Request, ScriptedServer
from study_support import Rater, study_ids
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.io.case_files import read_cases
from radgauge.render.printing import BROWSERS
from radgauge.study import Store, new_study


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(
        'id,report\n7,"Left pleural effusion. Cardiomegaly."\n8,\n9,- No effusion.\n', encoding="utf-8"
    )
    return path


def run(*arguments: object, text: str | None = None) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["lay", *map(str, arguments)], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "leaflets.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_becomes_leaflets_and_a_table(reports: Path, tmp_path: Path) -> None:
    out, err = run("write", reports, "-o", tmp_path / "out", "--hospital", "St Example", "--large-print")
    assert "2 of 3 reports have a leaflet: 0 signed, 0 not released, 2 to be signed" in out
    assert "no leaflet: 1 because the report is empty" in out
    assert "leaflets.csv" in err
    rows = rows_of(tmp_path / "out")
    assert [row["id"] for row in rows] == ["7", "8", "9"]
    assert rows[2]["report"] == "'- No effusion."  # no formula for a spreadsheet
    page = (tmp_path / "out" / rows[0]["page"]).read_text("utf-8")
    assert "St Example" in page
    assert 'class="large"' in page
    found = json.loads(run("write", reports, "-o", tmp_path / "out", "--json", "--hospital", "St Example")[0])
    assert (found["reports"], found["written"], found["new_pages"]) == (3, 2, 2)  # no longer large
    other = tmp_path / "other.csv"
    other.write_text("id,report\n1,Scoliosis.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds leaflets of other reports"):
        run("write", other, "-o", tmp_path / "out")
    run("write", other, "-o", tmp_path / "out", "--replace")
    assert [row["id"] for row in rows_of(tmp_path / "out")] == ["1"]


def test_one_report_and_standard_input(tmp_path: Path) -> None:
    report = tmp_path / "k17.txt"
    report.write_text("No pneumothorax.", encoding="utf-8")
    run("write", report, "-o", tmp_path / "one")
    assert (tmp_path / "one/pages/k17.html").is_file()
    run("write", "-o", tmp_path / "piped", text="id,report\n5,Cardiomegaly.\n")
    assert (tmp_path / "piped/pages/5.html").is_file()
    with pytest.raises(InputError, match="is a table"):
        run("write", tmp_path / "one/leaflets.csv")


def test_corrected_texts_are_given_back(reports: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("write", reports, "-o", folder)
    corrected = tmp_path / "corrected.csv"
    corrected.write_text(
        'id,report,plain\n7,"Left pleural effusion. Cardiomegaly.",Fluid on the left. A big heart.\n8,,\n'
        "9,- No effusion.,\n",
        encoding="utf-8",
    )
    run("write", corrected, "-o", folder, "--writer", "given")
    assert [(row["plain"], row["why"]) for row in rows_of(folder)] == [
        ("Fluid on the left. A big heart.", ""),
        ("", "the report is empty"),
        ("", "no plain text was given for this report"),
    ]
    assert not (folder / "pages/9.html").exists()
    other = tmp_path / "other.csv"
    other.write_text("id,reference,candidate\n1,Cardiomegaly.,A big heart.\n", encoding="utf-8")
    run("write", other, "-o", tmp_path / "others", "--writer", "given")
    assert [row["plain"] for row in rows_of(tmp_path / "others")] == ["A big heart."]
    with pytest.raises(UsageError, match="needs plain texts in the column candidate or plain"):
        run("write", reports, "-o", folder, "--writer", "given")
    with pytest.raises(UsageError, match="writes English only"):
        run("write", reports, "-o", folder, "--writer", "llm", "--language", "de")


def test_a_language_model_writes_and_is_paid_once(
    reports: Path, tmp_path: Path, named_server: ScriptedServer
) -> None:
    said = {
        "Left pleural effusion.": "There is fluid around the left lung.",
        "Cardiomegaly.": "The heart is too big.",
    }

    def behave(request: Request) -> Reply:
        return Reply(
            json.dumps(
                {
                    key: said.get(item, "There is no fluid around the lung.")
                    if isinstance(item, str)
                    else item.get("plain", "There is no fluid around the lungs.")
                    for key, item in request.items.items()
                }
            )
        )

    named_server.behaviour = behave
    _, err = run("write", reports, "-o", tmp_path / "out", "--writer", "llm")
    assert "requests" in err
    assert rows_of(tmp_path / "out")[0]["plain"] == " ".join(said.values())
    assert "the language model" in (tmp_path / "out/pages/7.html").read_text("utf-8")
    before = len(named_server.requests)
    run("write", reports, "-o", tmp_path / "out", "--writer", "llm")
    assert len(named_server.requests) == before


def test_signing_from_a_study(reports: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("write", reports, "-o", folder)
    made = new_study(
        tmp_path / "s.sqlite",
        read_cases(folder / "to_sign.jsonl").cases,
        design="lay",
        raters=["Dr Ada <Example>"],
    )
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["7"]
        label = rater.label(case, "leaflet")
        for unit in range(2):
            rater.act(case, "set", candidate=label, field="sentence_match", unit=unit, value={"choice": "yes"})
        for field in ("right", "complete", "release"):
            rater.act(case, "set", candidate=label, field=field, value={"choice": "yes"})
        rater.act(case, "set", candidate=label, field="understandable", value=5)
        rater.submit(case)
    out, _ = run("sign", folder, made.path)
    assert "1 signed, 0 not released, 1 to be signed" in out
    assert "signed by Dr Ada &lt;Example&gt; on" in (folder / "pages/7.html").read_text("utf-8")
    with pytest.raises(RadgaugeError, match="holds no leaflets"):
        run("sign", tmp_path, made.path)


@pytest.mark.browser
def test_pdf_files_are_printed_once(tmp_path: Path) -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser on this machine")
    report = tmp_path / "7.txt"
    report.write_text("Left pleural effusion.", encoding="utf-8")
    run("write", report, "-o", tmp_path / "out", "--pdf")
    pdf = tmp_path / "out/pages/7.pdf"
    assert pdf.read_bytes().startswith(b"%PDF")
    before = pdf.stat().st_mtime_ns
    run("write", report, "-o", tmp_path / "out", "--pdf")
    assert pdf.stat().st_mtime_ns == before


def test_a_pdf_without_a_browser_is_refused_before_anything_is_written(
    reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("RADGAUGE_BROWSER", raising=False)
    with pytest.raises(UsageError, match="a PDF needs a browser"):
        run("write", reports, "-o", tmp_path / "out", "--pdf")
    assert not (tmp_path / "out").exists()
