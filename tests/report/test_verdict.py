"""The first screen: the metric that deserves trust answers, counts are shares of reports, doubts are said."""

from __future__ import annotations

import math

import numpy as np
import pytest

import radgauge as rg
from radgauge.cases import Case
from radgauge.reading import Readings
from radgauge.report import build_report
from radgauge.report.verdict import Verdict, trusted_columns
from radgauge.stats.proportions import wilson_interval
from radgauge.studies.baselines import TEMPLATE

SIDES = ("left", "right")


def studies(number: int) -> list[tuple[str, str]]:
    """(reference, a rewording that keeps the meaning): findings that differ from study to study."""
    made = []
    for n in range(number):
        side, other = SIDES[n % 2], SIDES[(n + 1) % 2]
        reference = f"There is a large {side} pneumothorax. No {other} pleural effusion. Study {n} of the series."
        made.append(
            (reference, f"Large pneumothorax on the {side}. The {other} pleural space is free of effusion.")
        )
    return made


def verdict(cases: list[Case], metrics: list[str], **more: object) -> Verdict:
    results = rg.score(cases, metrics)
    return build_report(results, cases=cases, resamples=100, permutations=2000, **more).verdict  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def right_and_wrong() -> list[Case]:
    """`right` rewords, `copier` copies the words and turns the finding round."""
    cases = []
    for n, (reference, reworded) in enumerate(studies(24)):
        cases.append(Case(f"s{n}", reworded, (reference,), "right"))
        wrong = reference.replace("There is a large", "There is no")
        cases.append(Case(f"s{n}", wrong, (reference,), "copier"))
    return cases


def test_the_trusted_metric_decides_and_the_others_are_named(right_and_wrong: list[Case]) -> None:
    said = verdict(right_and_wrong, ["rouge", "errors", "bleu"])
    assert said.answer.startswith("right is better than copier: Clinical quality +")
    (opposite,) = [warning for warning in said.warnings if "the opposite" in warning]
    assert opposite.startswith("ROUGE-L and BLEU-4 say the opposite. Believe Clinical quality:")
    assert said.systems[0].system == "right"


def test_shares_are_of_reports_with_wilson_intervals(right_and_wrong: list[Case]) -> None:
    results = rg.score(right_and_wrong, ["errors"])
    counts = results["errors"].of_system("copier").column("errors_significant")
    hits = int((counts > 0).sum())
    copier = verdict(right_and_wrong, ["errors"]).systems[1]
    assert hits == 24
    assert (copier.significant, copier.judged) == (1.0, 24)
    assert (copier.low, copier.high) == wilson_interval(24, 24)
    assert copier.common[0].title == "finding left out"
    assert copier.common[0].share == 1.0
    assert "pneumothorax is missing: the candidate denies it." in copier.common[0].example
    assert copier.recall == pytest.approx(0.0)


def test_without_a_trusted_metric_the_page_says_so(right_and_wrong: list[Case]) -> None:
    said = verdict(right_and_wrong, ["rouge"])
    assert any("No metric of this report is known to follow radiologists" in warning for warning in said.warnings)
    assert said.systems == ()


def test_equal_systems_cannot_be_told_apart() -> None:
    cases = [Case(f"s{n}", text, (text,), system) for n, (text, _) in enumerate(studies(12)) for system in "ab"]
    said = verdict(cases, ["errors"])
    assert "cannot be told apart" in said.answer
    assert any("Only 12 studies" in warning for warning in said.warnings)


@pytest.mark.parametrize("name", [TEMPLATE, "always the same"])
def test_a_constant_report_that_wins_is_never_the_answer(name: str) -> None:
    cases = []
    normal = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."
    for n in range(20):
        cases.append(Case(f"s{n}", normal, (normal,), name))
        cases.append(Case(f"s{n}", f"Large left pneumothorax, study {n}.", (normal,), "bad"))
        cases.append(Case(f"s{n}", f"Small left effusion, study {n}. The heart is normal.", (normal,), "less bad"))
    said = verdict(cases, ["errors"])
    assert said.answer.startswith(("less bad", "bad and less bad", "less bad and bad"))
    assert [facts.system for facts in said.systems][-1] == name
    assert said.warnings[0].startswith(
        f"No system here beats writing the same for all: the constant report “{name}”"
    )


def test_a_system_behind_a_constant_report_is_called_worse() -> None:
    normal = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."
    cases = [Case(f"s{n}", f"Large left pneumothorax, study {n}.", (normal,), "model") for n in range(20)]
    cases += [Case(f"s{n}", normal, (normal,), TEMPLATE) for n in range(20)]
    said = verdict(cases, ["errors", "rouge"])
    assert said.answer.startswith(f"model is worse than {TEMPLATE}: Clinical quality -")
    assert not any("the opposite" in warning for warning in said.warnings)


def test_radiologists_of_the_same_cases_decide_who_is_trusted(judgments: object, results: rg.Results) -> None:
    from radgauge.studies.agreement import align

    found = align(results, judgments, resamples=50)  # type: ignore[arg-type]
    lows = {
        line.column: line.correlation.interval.low
        for line in found.lines
        if line.rater == "mean" and line.target == found.lines[0].target
    }
    expected = {column for column, low in lows.items() if low > 0.1}
    assert set(trusted_columns(results, found)) == expected
    assert trusted_columns(results, None) == []


def test_what_was_not_judged_is_counted() -> None:
    cases = [Case(f"s{n}", text if n else "", (text,), "one") for n, (text, _) in enumerate(studies(12))]
    said = verdict(cases, ["errors"])
    assert said.judged.startswith("Clinical quality could not judge 1 of 12 (empty candidate)")
    assert said.answer == "One system, one: there is nothing to compare it with."
    assert said.systems[0].judged == 11
    assert "11 reports are judged with low confidence" in said.confidence or "of 11 reports" in said.confidence


def test_the_appendix_holds_the_worst_by_value(right_and_wrong: list[Case]) -> None:
    results = rg.score(right_and_wrong, ["errors"])
    report = build_report(
        results, cases=right_and_wrong, reading=Readings(), resamples=20, permutations=100, appendix=5
    )
    values = results["errors"].headline
    worst = np.sort(values[~np.isnan(values)])[:5]
    assert [case.value for case in report.appendix] == [f"{value:.3f}" for value in worst]
    first = report.appendix[0]
    assert first.system == "copier"
    assert '<mark class="k4">' in first.reference
    assert any("pneumothorax is missing" in note for note in first.notes)
    assert not math.isnan(worst[0])
