"""Tables for papers: layout, names, decimals, marks, ties, what could not be judged; and LaTeX that compiles."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.analysis.compare import compare
from radgauge.analysis.summary import Summary, summarise
from radgauge.cli.options import app
from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.render.tables import to_csv, to_latex, to_markdown
from radgauge.report import PaperStyle, Report, paper_table, write_tables
from radgauge.report.paper import bibliography, p_paper
from radgauge.samples import sample_reports_path

ARTICLE = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n%s\n\\end{document}\n"
TWO_COLUMNS = ARTICLE.replace("\\documentclass", "\\documentclass[twocolumn]")


def line(system: str, value: float, column: str = "bleu_4", *, up: bool = True) -> Summary:
    return Summary(system, "bleu", column, value, value - 0.01, value + 0.01, 0.95, 20, 0, (), up, "bleu|x")


def test_values_times_100_with_names_and_one_decimal() -> None:
    style = PaperStyle(names={"m1": "Ours", "bleu_4": "B-4"}, scale=100, decimals=1)
    made = paper_table([line("m1", 0.12345), line("m2", 0.1)], columns=["bleu_4"], style=style)
    assert [column.label for column in made.columns] == ["System", "B-4 ↑"]
    assert [[cell.text for cell in row] for row in made.rows] == [["Ours", "12.3"], ["m2", "10.0"]]
    assert made.rows[0][1].small == "[11.3, 13.3]"
    assert made.rows[0][1].strong
    assert "times 100" in made.note
    assert "0.12345" in to_csv(made)


def test_systems_can_be_columns_and_lower_can_be_better() -> None:
    lines = [line("a", 3.0, "radcliq_v1", up=False), line("b", 2.0, "radcliq_v1", up=False)]
    made = paper_table(lines, columns=["radcliq_v1"], style=PaperStyle("columns", intervals=False))
    assert [column.label for column in made.columns] == ["Metric", "a", "b"]
    assert made.rows[0][0].text == "RadCliQ-v1 ↓"
    assert [cell.strong for cell in made.rows[0][1:]] == [False, True]
    assert made.rows[0][1].small == ""


def test_what_prints_the_same_is_not_bold_and_nan_is_a_dash() -> None:
    lines = [line("a", 0.20001), line("b", 0.20004), line("c", float("nan"))]
    made = paper_table(lines, columns=["bleu_4"])
    assert [row[1].strong for row in made.rows] == [False, False, False]
    assert made.rows[2][1].text == "–"


def test_marks_follow_the_corrected_tests_and_the_footnote_explains_them() -> None:
    cases = []
    for n in range(20):
        reference = f"Small left pleural effusion number {n}. The heart is enlarged."
        cases.append(Case(str(n), reference, (reference,), "copy"))
        cases.append(Case(str(n), "Nothing of the kind." if n % 10 else reference, (reference,), "bad"))
    results = rg.score(cases, ["rouge"])
    tests = compare(results, baseline="copy", permutations=999)
    made = paper_table(summarise(results, resamples=20), columns=["rouge_l"], comparisons=tests, permutations=999)
    assert tests[0].result.p_adjusted is not None
    assert tests[0].result.p_adjusted < 0.05
    assert [row[1].text[-1] == "†" for row in made.rows] == [False, True]
    assert "†: differs from copy (paired permutation test, Holm-corrected, p < 0.05)" in made.note
    assert "The smallest p that 999 permutations give is 0.001" in made.note
    assert "†: differs" in to_markdown(made)


@pytest.mark.parametrize(("p", "shown"), [(0.049, "0.049"), (0.0009999, "< 0.001"), (1.0, "1.000")])
def test_p_values_as_papers_print_them(p: float, shown: str) -> None:
    assert p_paper(p) == shown


@pytest.mark.parametrize(
    "wrong", [{"systems": "diagonal"}, {"scale": 0.0}, {"scale": float("nan")}, {"decimals": -1}]
)
def test_wrong_styles_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        PaperStyle(**wrong)  # type: ignore[arg-type]


def test_the_bibliography_has_what_a_composite_is_made_of() -> None:
    found = bibliography(["radcliq", "errors"])
    for key in ("radcliq", "radgraph", "bertscore", "chexbert", "bleu", "comet", "radgauge"):
        assert found.count(f"{{{key},") == 1
    assert rg.__version__ in found


def test_a_row_that_mixes_corpus_and_case_values_says_so(report: Report) -> None:
    assert report.tables["comparison"].note.startswith(
        "BLEU-4: values and differences are of all reports together"
    )


def test_every_table_compiles_and_fits(report: Report, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX on this machine (Debian: texlive-latex-recommended)")
    write_tables(report.tables, str(tmp_path / "tables"))
    odd = paper_table([line("τ ≥ 模 “a” 50% & _b_", 0.2), line("b", 0.1)], columns=["bleu_4"])
    (tmp_path / "tables" / "odd.tex").write_text(to_latex(odd), encoding="utf-8")
    inputs = "\n".join(f"\\input{{tables/{path.stem}}}" for path in sorted((tmp_path / "tables").glob("*.tex")))
    for name, form in (("article", ARTICLE), ("two", TWO_COLUMNS)):
        (tmp_path / f"{name}.tex").write_text(form % inputs, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert run.returncode == 0, run.stdout[-2000:]
        assert "Overfull" not in run.stdout
        assert "Undefined" not in run.stdout


@pytest.mark.long
def test_the_command_writes_tables_methods_and_references(tmp_path: Path) -> None:
    command = ["report", str(sample_reports_path()), "-m", "rouge", "-o", str(tmp_path / "r.html")]
    command += ["-o", str(tmp_path / "tables"), "--paper", "names=careful=Ours,scale=100"]
    run = CliRunner().invoke(app, [*command, "--sampling", "resamples=50,permutations=200"])
    assert run.exit_code == 0, run.output
    assert "Ours & " in (tmp_path / "tables" / "paper.tex").read_text()
    assert "@inproceedings{rouge," in (tmp_path / "tables" / "references.bib").read_text()
    assert (tmp_path / "tables" / "methods.txt").read_text().startswith("Data. 288 candidate reports of 4 systems")
    run = CliRunner().invoke(app, [*command, "--paper", "names=careful"])
    assert run.exit_code != 0
    assert "names=NAME=VALUE" in str(run.exception)
