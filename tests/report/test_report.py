"""The report: complete, escaped, small, and the same numbers as the library's."""

from __future__ import annotations

import base64
import csv
import dataclasses
import gzip
import io
import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radgauge
from radgauge.analysis.summary import summarise
from radgauge.core.cases import Case
from radgauge.core.clean import decode
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.io.case_files import read_cases
from radgauge.io.judgments import Judgments
from radgauge.render.tables import to_csv, to_latex, to_markdown
from radgauge.report import Report, build_report, render_page, write_plots, write_report, write_tables
from radgauge.report.browser_data import script_safe
from radgauge.report.files import write_page, write_words
from radgauge.report.notes import explain_case
from radgauge.report.page import NAV
from radgauge.report.standing import most_disputed, percentiles
from radgauge.run.score import score


def unpacked(report: Report) -> dict[str, Any]:
    return json.loads(gzip.decompress(base64.b64decode(report.browser.packed)))


@pytest.fixture(scope="session")
def page(report: Report) -> str:
    return render_page(report)


def test_every_section_is_there(page: str) -> None:
    for section, _ in NAV:
        if section == "changes":  # only beside older scores
            continue
        assert f'<section id="{section}">' in page
        assert f'href="#{section}"' in page


def test_the_summary_shows_the_library_s_numbers(report: Report, results: Results) -> None:
    lines = {(line.system, line.column): line for line in summarise(results, resamples=50)}
    rows = list(csv.DictReader(io.StringIO(to_csv(report.tables["summary"]))))
    assert len(rows) == 4
    for row in rows:
        line = lines[row["system"], row["metric"]]
        assert float(row["value"]) == line.value
        assert (float(row["low"]), float(row["high"])) == (line.low, line.high)
        assert int(row["not_judged"]) == line.not_judged
    shown = report.tables["summary"].rows[1]
    assert shown[0].text == "ROUGE-L ↑"
    assert shown[1].text == f"{lines['ours', 'rouge_l'].value:.3f}"


def test_text_from_data_is_escaped_everywhere(page: str) -> None:
    assert "<b>theirs</b>" not in page
    assert "&lt;b&gt;theirs&lt;/b&gt;" in page
    assert "<title>A &lt;title&gt;</title>" in page
    assert "odd &lt;i&gt;" in page
    assert "BLEU-4 could not judge 1 of 30 (empty candidate); ROUGE-L could not judge 1 of 30" in page
    assert "window.hacked" not in page  # texts are compressed; none is in the markup
    assert page.count("<script") == 4  # cases, pictures, tables, and the page's own
    assert page.count("</script>") == 4


def test_hostile_text_reaches_the_browser_unchanged(report: Report, hostile: str) -> None:
    studies = {study["i"]: study for study in unpacked(report)["studies"]}
    assert decode(hostile) in studies["s04"]["r"][0]  # what a case keeps of it


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", markup)
    assert "url(" not in markup
    assert "@import" not in markup
    assert "default-src 'none'" in page


def test_json_is_safe_inside_a_script(hostile: str) -> None:
    text = script_safe(json.dumps({"a": hostile}, ensure_ascii=False))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": hostile}


def test_cases_hold_values_reasons_notes_and_radiologists(report: Report, results: Results) -> None:
    data = unpacked(report)
    empty = data["studies"][0]["c"][1]
    assert [data["reasons"][why] for why in empty[4].values()] == ["empty candidate"] * 2
    assert empty[2][0][0] is None
    assert empty[3] == [None, None]
    first = data["studies"][0]["c"][0]
    assert first[2][1][0] == pytest.approx(results["rouge"].headline[0], rel=1e-3)
    assert {"bleu", "rouge"} <= set(first[5])
    assert [line[0] for line in first[6]] == ["rating", "errors", "significant errors"]


def test_spans_are_where_the_words_are(report: Report) -> None:
    for study in unpacked(report)["studies"]:
        for case in study["c"]:
            for notes in case[5].values():
                for _, _, reference, candidate, which, *_ in notes:
                    assert all(0 <= place <= len(study["r"][which]) for place in reference)
                    assert all(0 <= place <= len(case[1]) for place in candidate)


def test_percentiles_know_the_direction() -> None:
    keys = (("1", "a"), ("2", "a"), ("3", "a"), ("4", "a"))
    rows = np.array([[3.0], [1.0], [1.0], [np.nan]])
    down = Scores("d", "d", keys, rows, rows, ("d",), False)
    assert percentiles(Results({"d": down}))[:3, 0] == pytest.approx([100 / 6, 200 / 3, 200 / 3])
    up = Scores("u", "u", keys, rows, rows, ("u",), True)
    (first, *_) = most_disputed(Results({"d": down, "u": up}))
    assert first.key == ("1", "a")
    assert (first.high[0], first.low[0]) == ("u", "d")


def test_a_large_set_is_sampled_and_says_so(results: Results, cases: tuple[Case, ...]) -> None:
    report = build_report(results, cases=cases, resamples=10, permutations=50, most_cases=8)
    assert len(report.browser.case_numbers) == 8
    assert report.browser.studies_shown == 4
    page = render_page(report)
    assert "The browser holds 8 of 30 cases (4 of 15 studies" in page
    assert report.tables["disagreement"].rows[0][0].case >= 0  # the most disputed are always in


def test_without_texts_there_are_numbers_and_a_note(results: Results) -> None:
    report = build_report(results, resamples=10, permutations=50)
    assert not report.browser.texts
    assert "--reports" in render_page(report)
    assert unpacked(report)["studies"][0]["c"][0][1] is None


def test_one_system_has_nothing_to_compare(cases: tuple[Case, ...], results: Results) -> None:
    alone = Results({name: scores.of_system("ours") for name, scores in results.judges.items()})
    page = render_page(build_report(alone, cases=cases, resamples=10))
    assert 'id="systems"' not in page
    assert 'id="radiologists"' not in page


def test_systems_on_different_studies_are_not_compared() -> None:
    apart = [Case("1", "no effusion", ("no effusion",), "a"), Case("2", "a mass", ("no effusion",), "b")]
    report = build_report(score(apart, ["rouge"]), cases=apart, resamples=10)
    assert "comparison" not in report.tables
    assert "share no study id" in report.notes[0]


@pytest.mark.parametrize("texts", [("", ""), ("no effusion", ""), ("😀 effusion", "😀 no effusion")])
def test_odd_sets_have_a_page_too(texts: tuple[str, str]) -> None:
    odd = [Case("1", texts[0], (texts[1],))]
    page = render_page(build_report(score(odd, ["rouge", "bleu", "errors"]), cases=odd, resamples=10))
    assert "Every case was judged" in page or "empty" in page


def test_reports_of_another_set_are_refused(results: Results) -> None:
    other = [Case("x", "text", ("text",), "nobody")]
    with pytest.raises(InputError, match=r"share no \(id, system\).*give the file that the scores were made from"):
        build_report(results, cases=other)
    with pytest.raises(InputError, match="no scores to report"):
        build_report(Results({}))


def test_radiologists_are_shown_with_their_own_agreement(report: Report, judgments: Judgments) -> None:
    table = report.tables["radiologists"]
    labels = [column.label for column in table.columns]
    assert labels == ["metric", "rating", "errors", "significant errors", "preferred", "cluster"]
    assert table.rows[-1][0].text == "one radiologist against the others"
    assert {"radiologists-rouge_l", "radiologists-bleu_4"} <= set(report.plots)
    assert "errors-radiologists" in report.tables
    assert report.tables["pairs"].columns[-1].label == "p williams1959"


def test_failure_modes_of_all_and_of_significant_errors_are_shown(
    page: str, report: Report, judgments: Judgments
) -> None:
    records = report.tables["failure_modes"].records
    assert {record["target"] for record in records} == {"total", "significant"}
    for record in records:
        if (record["category"], record["first"]) == ("total", "ours"):
            column = f"errors_{record['target']}"
            own = judgments.mean_errors().of_system("ours").column(column)
            assert record["mean_first"] == pytest.approx(own.mean())
    assert 'id="failure_modes"' in page
    assert f"of {len(records)} one-sided tests" in page


def test_methods_say_which_texts_and_how_values_are_averaged(report: Report, tmp_path: Path) -> None:
    text = "\n".join(report.methods)
    assert "no section was chosen" in text
    assert "Averaging." in text
    header = {"input": {"section": "findings", "split": "test", "sources": [{"name": "r.csv", "rows": 15}]}}
    judged = radgauge.score([{"id": "1", "candidate": "Clear lungs.", "reference": "Clear lungs."}], ["bleu"])
    (texts,) = [each for each in build_report(judged, header=header).methods if each.startswith("Texts.")]
    for fact in ("findings section", "split test", "r.csv (15 rows)"):
        assert fact in texts
    assert [path.name for path in write_words(report, [tmp_path])] == ["methods.txt", "references.bib"]


def test_methods_name_versions_seed_hashes_and_gaps(page: str, report: Report) -> None:
    text = " ".join(report.methods)
    assert "radgauge 0.1.0" in text
    assert "seed 0" in text
    assert "rouge|variant:standard" in page
    assert "0" * 64 in page
    assert ("rouge_l", "<b>theirs</b>", "empty candidate", 1) in report.not_judged


def test_plots_are_well_formed_and_written(report: Report, tmp_path: Path) -> None:
    for plot in report.plots.values():
        root = ET.fromstring(plot.file())
        assert root.find("{http://www.w3.org/2000/svg}title").text
    pytest.importorskip("resvg_py")
    files, why = write_plots(tmp_path, report)
    assert why == ""
    assert {path.suffix for path in files} == {".svg", ".png"}
    assert (tmp_path / "correlations.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_rasteriser_there_is_svg_and_a_reason(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    files, why = write_plots(tmp_path, report)
    assert {path.suffix for path in files} == {".svg"}
    assert "pip install 'radgauge[plots]'" in why


def test_tables_for_papers(report: Report, tmp_path: Path) -> None:
    table = report.tables["summary"]
    latex = to_latex(table)
    assert "ROUGE-L $\\uparrow$" in latex
    assert "\\textbf{" in latex
    assert sum(line.endswith(" \\\\") for line in latex.splitlines()) == len(table.rows) + 1
    markdown = to_markdown(table)
    assert markdown.splitlines()[1] == "| --- | ---: | ---: | ---: |"
    assert write_tables(report.tables, str(tmp_path / "t.md"))[0].read_text() == markdown
    (file,) = write_tables(report.tables, f"comparison={tmp_path / 'c.csv'}")
    assert file.read_text().startswith("metric,higher_is_better,system,baseline")
    assert len(write_tables(report.tables, str(tmp_path / "all"))) == 3 * len(report.tables)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("t.docx", "must end in .csv, .tex or .md"),
        ("secret=t.csv", "no table 'secret'"),
        ("summary=t.pdf", "must end"),
    ],
)
def test_table_mistakes(report: Report, tmp_path: Path, wanted: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write_tables(report.tables, wanted.replace("t.", f"{tmp_path}/t."))


def test_the_page_is_written_whole(report: Report, tmp_path: Path) -> None:
    size = write_report(tmp_path / "deep" / "r.html", report)
    assert (tmp_path / "deep" / "r.html").stat().st_size == size
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["r.html"]


def test_the_same_input_gives_the_same_page(results: Results, cases: tuple[Case, ...]) -> None:
    pages = {render_page(build_report(results, cases=cases, resamples=20, permutations=50)) for _ in range(2)}
    assert len(pages) == 1


@pytest.mark.nightly
def test_600_studies_of_four_systems_stay_under_3_mb() -> None:
    from radgauge.core.readings import Readings
    from radgauge.samples import sample_reports_path

    sample = read_cases(sample_reports_path()).cases
    many = [
        dataclasses.replace(
            case,
            id=f"{case.id}-{copy}",
            candidate=f"{case.candidate} Series {copy * 7919}." if case.candidate else "",
            references=tuple(f"{text} Series {copy * 104729}." for text in case.references),
        )
        for copy in range(9)
        for case in sample
    ][:2400]
    reading = Readings()
    report = build_report(score(many, reading=reading), cases=many, reading=reading, resamples=100)
    assert report.browser.studies_shown == 600
    assert len(render_page(report).encode()) < 3_000_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_page_is_written_into_a_pipe_and_does_not_replace_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_page(pipe, "<p>grün</p>") == 12
        assert os.read(reader, 100).decode() == "<p>grün</p>"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_words_that_were_not_understood_are_marked_where_they_stand() -> None:
    candidate = "Small left effusion. It wibbles toward the zorb."
    case = Case("1", candidate, ("Small left effusion.",))
    notes = explain_case(case, score([case], ["errors"]), reading=Readings())["errors"]
    (unread,) = [note for note in notes if note[1].startswith("Not understood in the candidate")]
    spans = list(zip(unread[3][::2], unread[3][1::2], strict=True))
    assert [candidate[start:end] for start, end in spans] == ["wibbles", "zorb"]
    assert unread[2] == []
