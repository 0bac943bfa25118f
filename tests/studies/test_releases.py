"""Two versions of a system: each compared with itself before, cases that flip, limits that stop a release."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.cases import Case
from radgauge.cli.options import app
from radgauge.errors import InputError, UsageError
from radgauge.results import Results
from radgauge.studies.releases import Limit, broken_limits, compare_releases

REFERENCE = "There is a large left pneumothorax. The heart is normal in size."
WRONG = "No pneumothorax. The heart is normal in size."


def scored(wrong: set[int], *, number: int = 12, metric: str = "errors") -> Results:
    cases = [Case(f"s{n}", WRONG if n in wrong else REFERENCE, (REFERENCE,), "model") for n in range(number)]
    return rg.score(cases, [metric])


def test_each_system_is_compared_with_itself_before() -> None:
    now, before = scored({0, 1, 2}), scored({2, 3})
    found = compare_releases(now, before, permutations=500, columns=["errors_significant"])
    (line,) = [line for line in found.comparisons if line.column == "errors_significant"]
    assert (line.system, line.baseline) == ("model", "model (before)")
    gap = now["errors"].column("errors_significant").mean() - before["errors"].column("errors_significant").mean()
    assert line.result.difference.value == pytest.approx(gap)
    assert gap == pytest.approx(1 / 12)
    assert [flip.key[0] for flip in found.worse] == ["s0", "s1"]
    assert [flip.key[0] for flip in found.better] == ["s3"]
    assert found.cases == 12
    assert found.notes == ()


def test_cases_that_only_one_has_are_counted_and_left_out() -> None:
    found = compare_releases(scored(set(), number=12), scored(set(), number=10), permutations=200)
    assert found.cases == 10
    assert found.notes == ("2 cases are in one of the two only and are left out; 10 are in both",)


def test_other_settings_are_not_compared() -> None:
    now = scored(set(), metric="bleu")
    with pytest.raises(InputError, match=r"bleu is left out.*variant was cxr, is standard"):
        compare_releases(now, scored(set(), metric="bleu:variant=cxr"))
    other = rg.score([Case("else", REFERENCE, (REFERENCE,), "model")], ["bleu"])
    with pytest.raises(InputError, match="share no"):
        compare_releases(now, other)


@pytest.mark.parametrize(
    ("text", "column", "above", "value", "difference"),
    [
        ("errors_significant > +0.05", "errors_significant", True, 0.05, True),
        ("bleu_4<-.1", "bleu_4", False, -0.1, True),
        (" errors_recall < 0.9 ", "errors_recall", False, 0.9, False),
    ],
)
def test_limits_are_read(text: str, column: str, above: bool, value: float, difference: bool) -> None:
    limit = Limit.parse(text)
    assert (limit.column, limit.above, limit.value, limit.difference) == (column, above, value, difference)


@pytest.mark.parametrize("text", ["", "errors", "errors >", "errors >= 1", "errors > 1e3", "> 0.1", "a > b"])
def test_a_limit_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot read the limit"):
        Limit.parse(text)


def test_limits_break_on_differences_values_and_what_was_not_judged() -> None:
    lines = compare_releases(scored({0, 1, 2}), scored(set()), permutations=200, columns=["errors_significant"])
    found = lines.comparisons
    assert broken_limits(found, [Limit.parse("errors_significant > +0.3")]) == []
    (why,) = broken_limits(found, [Limit.parse("errors_significant > +0.2")])
    assert why.startswith("errors_significant of model differs by +0.250 [")
    (why,) = broken_limits(found, [Limit.parse("errors_recall < 0.9")])
    assert why == "errors_recall of model is 0.750, which breaks 'errors_recall < 0.9'"
    (why,) = broken_limits(found, [Limit.parse("errors_false_alarms > 5")])
    assert "could not be judged, so the limit" in why
    with pytest.raises(UsageError, match="no output 'rouge_l' was compared"):
        broken_limits(found, [Limit.parse("rouge_l < 0.2")])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    for path, wrong in zip(paths, ({0, 1, 2}, set()), strict=True):
        rg.write_scores(path, scored(wrong))
    return paths


def test_the_command_ends_with_1_and_says_why(files: tuple[Path, Path]) -> None:
    new, old = map(str, files)
    run = CliRunner().invoke(app, ["compare", new, "-b", old, "--fail-if", "errors_significant > +0.2"])
    assert run.exit_code == 1
    assert "breaks 'errors_significant > +0.2'" in str(run.exception)
    assert "3 of 12 cases have a significant error that they had not before, first s0 (model)" in run.stderr
    run = CliRunner().invoke(app, ["compare", new, "-b", old, "--fail-if", "errors_significant > +0.3", "--json"])
    assert run.exit_code == 0
    told = json.loads(run.stdout)
    assert told["broken_limits"] == []
    assert {line["column"] for line in told["comparisons"]} >= {"errors_quality", "errors_significant"}


def test_the_report_shows_what_changed(files: tuple[Path, Path], tmp_path: Path) -> None:
    new, old = files
    page = tmp_path / "r.html"
    run = CliRunner().invoke(
        app, ["report", str(new), "-b", str(old), "-o", str(page), "--resamples", "50", "--json"]
    )
    assert run.exit_code == 0, run.output
    tables = json.loads(run.stdout)["tables"]
    assert [row["id"] for row in tables["flips"]] == ["s0", "s1", "s2"]
    assert {row["change"] for row in tables["flips"]} == {"became wrong"}
    quality = next(row for row in tables["changes"] if row["metric"] == "errors_quality")
    values = [scored(wrong)["errors"].headline for wrong in ({0, 1, 2}, set())]
    assert quality["difference"] == pytest.approx(float(np.mean(values[0]) - np.mean(values[1])))
    assert "3 reports have a clinically significant error that they had not before" in page.read_text()
