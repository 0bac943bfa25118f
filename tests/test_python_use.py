"""What a person at a prompt or in a notebook meets first: short calls, short answers, frames."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

import radgauge as rg
from radgauge.core import progress

REPORTS = "id,reference,candidate\n1,No effusion.,No effusion.\n2,Small left effusion.,No effusion.\n"
RECORDS = [
    {"id": str(number), "system": system, "reference": f"Small effusion {number}.", "candidate": text}
    for number in range(300)
    for system, text in (("a", "Small effusion."), ("b", f"No effusion {number}."))
]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(REPORTS)
    return path


def test_a_file_is_scored_by_its_name(reports: Path) -> None:
    for given in (reports, str(reports), rg.read_cases(str(reports))):
        results = rg.score(given, "rouge")
        assert results["rouge"].headline.round(3).tolist() == [1.0, 0.4]
    assert results.header["input"]["cases"] == 2


def test_two_lists_are_scored_with_row_numbers_as_ids() -> None:
    results = rg.score(references=["No effusion.", ["Clear.", "No effusion."]], candidates=["No effusion."] * 2)
    assert results.keys_of_cases == (("1", "system"), ("2", "system"))
    assert results["rouge"].headline.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"nothing to score: give cases, or references=\[...\] and candidates=\[...\]"),
        ({"references": ["a"]}, "belong together; candidates is missing"),
        ({"references": ["a"], "candidates": ["a", "b"]}, "must be equally many, got 1 and 2"),
        ({"references": "a", "candidates": ["a"]}, r"references must be a list of texts, got one text"),
        ({"cases": [], "references": ["a"], "candidates": ["a"]}, "not both"),
    ],
)
def test_wrong_calls_say_what_to_write(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rg.score(**given)  # type: ignore[arg-type]


def test_paths_may_be_texts(reports: Path, tmp_path: Path) -> None:
    results = rg.score(reports, "rouge")
    rg.write_scores(str(tmp_path / "scores.jsonl"), results)
    back = rg.read_scores(str(tmp_path / "scores.jsonl"))
    assert isinstance(back, rg.Results)
    assert back.header["format"] == "radgauge-scores-1"
    assert back.header["input"]["sources"][0]["name"] == "reports.csv"
    assert rg.write_report(str(tmp_path / "report.html"), rg.build_report(back, resamples=10)) > 1000


def test_what_is_printed_is_short_and_tells_the_values() -> None:
    results = rg.score(RECORDS, ["rouge", "bleu"])
    assert len(repr(results)) < 500
    assert repr(results).splitlines()[0] == "Results: 2 metrics, 600 cases, 2 systems"
    assert "rouge_l ↑" in repr(results)
    assert "0.800" in repr(results)
    assert (
        repr(results["rouge"]) == "<Scores of rouge: 600 of 600 cases judged; columns rouge_l, rouge_1, rouge_2>"
    )
    lines = rg.summarise(results, resamples=20)
    assert isinstance(lines, list)
    assert repr(lines).splitlines()[0].split() == [
        "metric",
        "system",
        "value",
        "interval",
        "judged",
        "not",
        "judged",
    ]
    found = rg.compare(results, permutations=20, resamples=20)
    assert "b against a" in repr(found)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_everything(library: str) -> None:
    pytest.importorskip(library)
    results = rg.score(RECORDS[:40], ["rouge"])

    def frame(thing: object) -> object:
        return getattr(thing, f"to_{library}")()

    assert frame(results).shape == (40, 5)  # type: ignore[attr-defined]
    summary = frame(rg.summarise(results, resamples=20))
    assert list(summary["value"])[:2] == pytest.approx([0.8, 0.8])  # type: ignore[index]
    compared = frame(rg.compare(results, permutations=20, resamples=20))
    assert list(compared["system"]) == ["b"]  # type: ignore[index]
    reading = frame(rg.read_report("No left effusion."))
    assert "absent" in list(reading["assertion"])  # type: ignore[index]
    why = frame(rg.explain(candidate="Small effusion.", reference="No effusion."))
    assert next(iter(why["kind"])) == "contradicted"  # type: ignore[index]


def test_notebooks_show_tables_and_marked_texts() -> None:
    results = rg.score(RECORDS[:10], ["rouge"])
    assert "<table>" in results._repr_html_()
    assert "<td>rouge_l ↑</td>" in rg.summarise(results, resamples=20)._repr_html_()
    assert "<td>b against a</td>" in rg.compare(results, permutations=20, resamples=20)._repr_html_()
    reading = rg.read_report("No effusion <b>.")._repr_html_()
    assert (
        '<mark title="absent: pleural_effusion" style="background:#d7f0dd;color:#111">effusion</mark>' in reading
    )
    assert "<b>." not in reading
    why = rg.explain(candidate="Small effusion.", reference="No effusion.")
    assert len(repr(why)) < 500
    assert 'style="background:#ffc9e3;color:#111">effusion</mark>' in why._repr_html_()


def test_explaining_what_cannot_be_judged_says_why() -> None:
    with pytest.raises(rg.InputError, match="errors cannot judge this case: empty candidate"):
        rg.explain(candidate="", reference="No effusion.")
    with pytest.raises(rg.UsageError, match="give a case, or candidate and reference"):
        rg.explain()


def test_a_metric_shows_what_it_will_do() -> None:
    shown = repr(rg.load("bleu", variant="cxr"))
    assert "variant='cxr'" in shown
    assert "higher is better" in shown
    assert "needs reference" in shown
    assert "gives bleu2_cxr" in shown


def screen() -> Console:
    """Return a terminal that keeps what is drawn."""
    return Console(file=io.StringIO(), force_terminal=True, force_interactive=True, width=100)


def drawn(console: Console) -> str:
    return Text.from_ansi(console.file.getvalue()).plain  # type: ignore[attr-defined]


def test_long_work_shows_what_is_done_and_goes() -> None:
    console = screen()
    with progress.working("scoring", on=console, patience=0.0) as tell:
        tell("bleu", 1, 4)
        while not ("scoring bleu" in drawn(console) and "1/4" in drawn(console)):
            time.sleep(0.01)
        with progress.working("comparing"):
            while "comparing" not in drawn(console):
                time.sleep(0.01)
    assert console.file.getvalue().endswith("\x1b[2K")  # type: ignore[attr-defined]  # the line is gone


def test_short_work_shows_nothing() -> None:
    console = screen()
    with progress.working("scoring", on=console):
        pass
    assert drawn(console) == ""


def test_scoring_tells_its_progress() -> None:
    told: list[tuple[str, int, int]] = []
    rg.score(RECORDS[:4], ["rouge", "bleu"], progress=lambda *news: told.append(news))
    assert [news for news in told if news[0] == "scoring"] == [("scoring", 1, 2), ("scoring", 2, 2)]


def test_a_terminal_gets_a_line_and_a_pipe_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert progress._console() is not None
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert progress._console() is None
