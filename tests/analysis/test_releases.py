"""Two versions of a system: each compared with itself before, cases that flip, limits that stop a release."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.analysis.releases import Limit, broken_limits, compare_releases, unanswered_limits
from radgauge.cli.options import app
from radgauge.core.cases import Case
from radgauge.core.errors import BrokenLimit, InputError, UsageError
from radgauge.core.scores import Results

REFERENCE = "There is a large left pneumothorax. The heart is normal in size."
WRONG = "No pneumothorax. The heart is normal in size."


def scored(wrong: set[int], *, number: int = 12, metric: str = "errors") -> Results:
    cases = [Case(f"s{n}", WRONG if n in wrong else REFERENCE, (REFERENCE,), "model") for n in range(number)]
    return rg.score(cases, [metric])


def systems(*names: str, reference: str = REFERENCE) -> Results:
    cases = [Case(f"s{n}", REFERENCE, (reference,), name) for n in range(5) for name in names]
    return rg.score(cases, ["errors"])


def test_a_system_that_is_gone_breaks_the_gate() -> None:
    limits = [Limit.parse("errors_recall < -0.02")]
    found = compare_releases(systems("a"), systems("a", "b"), permutations=50)
    (reason,) = unanswered_limits(found, limits, allowed=4)
    assert "b of the older scores is not in the newer ones: 5 studies" in reason
    assert unanswered_limits(found, limits, allowed=5) == []
    found = compare_releases(systems("a", "b"), systems("a"), permutations=50)  # a system that is new does not
    assert unanswered_limits(found, limits, allowed=0) == []


def test_other_references_break_the_gate(tmp_path: Path) -> None:
    limits = [Limit.parse("errors_significant > +0.02")]
    paths = [tmp_path / "new.jsonl", tmp_path / "old.jsonl"]
    for path, reference in zip(paths, (WRONG, REFERENCE), strict=True):
        rg.write_scores(path, systems("a", reference=reference))
    found = compare_releases(*map(rg.read_scores, paths), permutations=50)
    (reason,) = unanswered_limits(found, limits, allowed=5)
    assert "other references" in reason
    assert reason in found.notes
    same = compare_releases(rg.read_scores(paths[1]), systems("a"), permutations=50)
    assert unanswered_limits(same, limits, allowed=0) == []
    assert same.notes == ()


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
    assert [(each.answered, each.asked, each.missing) for each in found.answers] == [
        (12, 12, ()),
        (10, 12, ("s10", "s11")),
    ]


ERRORS = {2, 3, 5}
"""Studies on which the older version is wrong."""


def silent(text: str | None, *, system: str = "model") -> Results:
    """The newer version: right, and on the studies of the older one's errors it writes this, or has no row."""
    cases = [
        Case(f"s{n}", REFERENCE if n not in ERRORS else text or "", (REFERENCE,), system)
        for n in range(12)
        if n not in ERRORS or text is not None
    ]
    return rg.score(cases, ["errors"])


SILENCE = pytest.mark.parametrize("text", ["", "...", "Report to follow.", None])


@SILENCE
def test_a_version_that_is_silent_on_its_errors_breaks_the_gate(text: str | None) -> None:
    found = compare_releases(silent(text), scored(ERRORS), permutations=200, columns=["errors_significant"])
    limits = [Limit.parse("errors_significant > +0.02"), Limit.parse("errors_recall < -0.02")]
    assert broken_limits(found.comparisons, limits) == []  # over the studies that both answered, which are equal
    (reason,) = unanswered_limits(found, limits, allowed=2)
    assert reason.startswith("3 studies have no judged answer of both model and model (before)")
    assert "first: s2" in reason
    assert unanswered_limits(found, limits, allowed=3) == []
    lines = {line.column: line.result for line in found.comparisons}
    assert {(line.n, line.value_b) for line in lines.values() if line.n} == {(9, 1.0), (9, 0.0)}
    answered = 12 if text == "Report to follow." else 9  # words, but nothing that can be judged
    assert [(each.answered, each.asked) for each in found.answers] == [(answered, 12), (12, 12)]


def test_an_older_version_that_was_silent_breaks_it_too() -> None:
    found = compare_releases(scored(ERRORS), silent(None), permutations=200)
    (reason,) = unanswered_limits(found, [Limit.parse("errors_quality < 0")], allowed=0)
    assert "model answered 12 of 12, model (before) answered 9 of 12" in reason


def test_one_system_on_either_side_is_one_system_whatever_it_is_called() -> None:
    found = compare_releases(silent("", system="new"), scored(ERRORS), permutations=200)
    assert {(line.system, line.baseline) for line in found.comparisons} == {("new", "model")}
    assert found.cases == 12
    assert [each.sentence() for each in found.answers] == [
        "new answered 9 of 12 studies, first without an answer: s2",
        "model answered 12 of 12 studies",
    ]


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
    run = CliRunner().invoke(app, ["diff", new, old, "--fail-if", "errors_significant > +0.2"])
    assert run.exit_code == 1
    assert "breaks 'errors_significant > +0.2'" in str(run.exception)
    assert "3 of 12 cases have a significant error that they had not before, first s0 (model)" in run.stderr
    run = CliRunner().invoke(app, ["diff", new, old, "--fail-if", "errors_significant > +0.3", "--json"])
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


@SILENCE
def test_the_gate_of_the_command_is_broken_by_silence(text: str | None, tmp_path: Path) -> None:
    new, old = str(tmp_path / "new.jsonl"), str(tmp_path / "old.jsonl")
    rg.write_scores(new, silent(text))
    rg.write_scores(old, scored(ERRORS))
    gate = [
        "diff",
        new,
        old,
        "--fail-if",
        "errors_significant > +0.02",
        "--fail-if",
        "errors_recall < -0.02",
    ]
    run = CliRunner().invoke(app, gate)
    assert run.exit_code == 1
    assert isinstance(run.exception, BrokenLimit)
    assert "3 studies have no judged answer of both" in str(run.exception)
    if text != "Report to follow.":
        assert run.stdout.splitlines()[0] == "model answered 9 of 12 studies, first without an answer: s2"
    run = CliRunner().invoke(app, [*gate, "--allow-missing", "3"])
    assert run.exit_code == 0, run.exception
    assert "no more than 3 studies missing" in run.stderr
    run = CliRunner().invoke(app, [*gate, "--allow-missing", "2", "--json"])
    assert isinstance(run.exception, BrokenLimit)
    told = json.loads(run.stdout)
    assert len(told["broken_limits"]) == 1
    assert told["answers"][0]["asked"] == 12
    if text != "Report to follow.":
        assert CliRunner().invoke(app, ["diff", new, old, "--allow-missing", "2"]).exit_code == 1
    assert CliRunner().invoke(app, ["diff", new, old]).exit_code == 0  # without a gate it is only shown
