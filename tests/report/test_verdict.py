"""The first screen: the metric that deserves trust answers, counts are shares of reports, doubts are said."""

from __future__ import annotations

import math

import numpy as np
import pytest

import radgauge as rg
from radgauge.analysis.baselines import TEMPLATE
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.scores import Scores
from radgauge.core.wording import interval, signed
from radgauge.io.judgments import Judgments
from radgauge.render.metric_names import metric_name
from radgauge.report import build_report
from radgauge.report.verdict import Verdict
from radgauge.stats.resample import wilson_interval

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
    assert said.answer.startswith("right is better than copier: F1 of significant findings +")
    (opposite,) = [warning for warning in said.warnings if "the opposite" in warning]
    assert opposite.startswith("ROUGE-L and BLEU-4 say the opposite. Believe Error-based quality:")
    assert said.systems[0].system == "right"


def test_shares_are_of_reports_with_wilson_intervals(right_and_wrong: list[Case]) -> None:
    results = rg.score(right_and_wrong, ["errors"])
    counts = results["errors"].of_system("copier").column("errors_significant")
    hits = int((counts > 0).sum())
    copier = verdict(right_and_wrong, ["errors"]).systems[1]
    assert hits == 24
    assert (copier.significant, copier.judged) == (1.0, 24)
    assert (copier.low, copier.high) == wilson_interval(24, 24)
    assert copier.common[0].title == "omitted finding"
    assert copier.common[0].share == 1.0
    assert "pneumothorax is missing: the candidate denies it." in copier.common[0].example
    assert copier.recall == pytest.approx(0.0)


def test_without_a_trusted_metric_the_page_says_so(right_and_wrong: list[Case]) -> None:
    said = verdict(right_and_wrong, ["rouge"])
    assert any(
        "No metric of this report is known to agree with radiologists" in warning for warning in said.warnings
    )
    assert said.systems == ()


def test_equal_systems_do_not_differ() -> None:
    cases = [Case(f"s{n}", text, (text,), system) for n, (text, _) in enumerate(studies(12)) for system in "ab"]
    answer = verdict(cases, ["errors"])
    assert "a and b do not differ by anything that matters" in answer.answer
    assert any("Only 12 studies" in warning for warning in answer.warnings)


def test_a_small_difference_with_a_wide_interval_is_no_equivalence() -> None:
    """Control: two systems that are wrong on as many studies, but on others, have not been shown to be alike."""
    cases = []
    for n, (text, _) in enumerate(studies(12)):
        wrong = "The lungs are clear. No pneumothorax."
        cases.append(Case(f"s{n}", wrong if n < 6 else text, (text,), "a"))
        cases.append(Case(f"s{n}", text if n < 6 else wrong, (text,), "b"))
    assert "cannot be told apart" in verdict(cases, ["errors"]).answer


NORMAL = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."


@pytest.mark.parametrize("name", [TEMPLATE, "always the same"])
@pytest.mark.parametrize("odd", [0, 1])
def test_no_system_that_beats_a_constant_report_is_the_heading(name: str, odd: int) -> None:
    """Nearly constant, 19 of 20 alike, is constant."""
    cases = []
    for n in range(20):
        cases.append(Case(f"s{n}", f"Odd. {NORMAL}" if n < odd else NORMAL, (NORMAL,), name))
        cases.append(Case(f"s{n}", f"Large left pneumothorax, study {n}.", (NORMAL,), "bad"))
    said = verdict(cases, ["errors", "rouge"])
    assert said.answer.startswith("No system here beats a constant report: by F1 of significant findings bad")
    assert name in said.answer
    assert [facts.system for facts in said.systems] == ["bad", name]


@pytest.mark.parametrize("systems", [2, 3])
def test_systems_that_detect_nothing_are_no_better_than_a_constant(systems: int) -> None:
    """Scores without texts: nobody sees that the reports are alike, but their F1 is that of a normal report."""
    cases = [
        Case(f"s{n}", f"{NORMAL} Seen on image {n}.", (reference,), f"model {number}")
        for number in range(systems)
        for n, (reference, _) in enumerate(studies(12))
    ]
    answer = verdict(cases, ["errors"]).answer
    assert answer.startswith("No system here beats a constant report: F1 of significant findings is 0 for model ")
    assert answer.endswith("as for a normal report written for all.")
    assert ("and every other" in answer) is (systems == 3)


def test_constant_reports_alone_are_called_so() -> None:
    texts = {"a": NORMAL, "b": "No acute disease."}
    cases = [Case(f"s{n}", text, (NORMAL,), name) for n in range(20) for name, text in texts.items()]
    assert verdict(cases, ["errors"]).answer == (
        "No system here beats a constant report: both 2 write the same for nearly every study."
    )


def test_a_system_that_beats_a_constant_report_is_named(right_and_wrong: list[Case]) -> None:
    cases = [case for case in right_and_wrong if case.system == "right"]
    cases += [Case(case.id, NORMAL, case.references, TEMPLATE) for case in cases]
    assert verdict(cases, ["errors"]).answer.startswith(f"right is better than {TEMPLATE}: F1 of significant")


def test_a_negligible_difference_is_called_negligible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case a little better: no chance, and nothing that matters."""
    values = np.tile([[0.500], [0.508]], (60, 1)) + np.repeat(np.linspace(-0.2, 0.2, 60), 2)[:, None]
    keys = tuple((f"s{n}", name) for n in range(60) for name in ("old", "new"))
    scores = Scores("errors", "errors", keys, values, values, ("errors_quality",), True)
    results = rg.Results({"errors": scores})
    said = build_report(results, permutations=500, resamples=100).verdict
    smallest = metric_name("errors_quality").smallest
    assert smallest is not None
    assert 0.01 < smallest < 0.05
    assert said.answer == (
        "new and old do not differ by anything that matters: Error-based quality +0.008, below the smallest "
        f"effect of interest ({smallest:.3f})."
    )
    assert "unlikely to be chance" in said.reasons[0]
    (row,) = build_report(results, permutations=500, resamples=100).tables["comparison"].rows
    assert "negligible" in [cell.text for cell in row]
    (line,) = rg.compare(results, permutations=500)
    assert line.negligible
    assert line.p_text.endswith("~")
    assert "~ a difference unlikely to be chance, but below" in repr(rg.compare(results, permutations=500))
    monkeypatch.setattr(type(line), "negligible", False)
    assert "new is better than old" in build_report(results, permutations=500, resamples=100).verdict.answer


def test_silence_is_shown_before_anything_else() -> None:
    cases = []
    for n, (reference, reworded) in enumerate(studies(24)):
        cases.append(Case(f"s{n}", reworded if n % 2 else "", (reference,), "shy"))
        cases.append(Case(f"s{n}", reworded if n % 2 else reference.replace("large", "no"), (reference,), "bold"))
    said = verdict(cases, ["errors"])
    assert said.answered[0] == "shy answered 12 of 24 studies, first without an answer: s0."
    assert said.answered[1] == "bold answered 24 of 24 studies."
    shy = next(facts for facts in said.systems if facts.system == "shy")
    assert (shy.judged, shy.cases, shy.abnormal) == (12, 24, 12)


def test_older_scores_lead_the_page(right_and_wrong: list[Case]) -> None:
    right = [case for case in right_and_wrong if case.system == "right"]
    wrong = [Case(case.id, case.candidate, case.references, "old") for case in right_and_wrong[1::2]]
    results = rg.score(right, ["errors"])
    said = build_report(results, cases=right, before=rg.score(wrong, ["errors"]), resamples=100, permutations=500)
    assert said.verdict.answer.startswith("right is better than old: F1 of significant findings +")
    assert said.verdict.reasons[-1] == (
        "0 of 24 reports have a clinically significant error that they had not before, 24 have lost theirs."
    )


def test_a_change_of_references_is_no_change_of_the_system(right_and_wrong: list[Case]) -> None:
    wrong = [
        Case(case.id, case.candidate, case.references, name) for case in right_and_wrong[1::2] for name in "ab"
    ]
    easy = [Case(case.id, case.candidate, (NORMAL,), "a") for case in wrong if case.system == "a"]
    report = build_report(
        rg.score(easy, ["errors"]), before=rg.score(wrong, ["errors"]), resamples=0, permutations=50
    )
    assert report.verdict.answer.startswith(
        "Nothing can be said of a change: the two were scored against other ref"
    )
    assert report.verdict.reasons[-1].startswith("b of the older scores is not in the newer ones: 24 studies")


def test_headline_table_and_python_have_one_p_value(right_and_wrong: list[Case]) -> None:
    third = [Case(case.id, NORMAL, case.references, "third") for case in right_and_wrong[::2]]
    cases = [*right_and_wrong, *third]
    results = rg.score(cases, ["errors", "bleu"])
    report = build_report(results, cases=cases)
    table = {(row["metric"], row["system"]): row for row in report.tables["comparison"].records}
    lines = {(line.column, line.system): line.result for line in rg.compare(results)}
    assert table.keys() == lines.keys()
    for key, row in table.items():
        expected = lines[key].p_adjusted, lines[key].difference.low
        np.testing.assert_array_equal((row["p_adjusted"], row["low"]), expected)
    row = table["errors_f1", "copier"]
    bounds = interval(-row["high"], -row["low"])
    assert f"difference {signed(-row['difference'])} {bounds}" in report.verdict.reasons[0]


def test_with_judgments_the_page_is_about_metrics(judgments: object, results: rg.Results) -> None:
    report = build_report(results, judgments=judgments, resamples=50, permutations=50)  # type: ignore[arg-type]
    assert "the raters" in report.verdict.answer
    assert "is better than" not in report.verdict.answer
    assert "can be trusted" in report.verdict.reasons[-1] or "could be chance" in report.verdict.reasons[-1]


def test_what_was_not_judged_is_counted() -> None:
    cases = [Case(f"s{n}", text if n else "", (text,), "one") for n, (text, _) in enumerate(studies(12))]
    said = verdict(cases, ["errors"])
    assert said.judged.startswith("Error-based quality could not judge 1 of 12 (empty candidate)")
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


def test_counts_stand_beside_counted_errors_and_not_beside_ratings(judgments: Judgments) -> None:
    results = rg.score(judgments.cases, "errors")
    report = build_report(results, cases=judgments.cases, judgments=judgments, resamples=50, permutations=50)
    records = report.tables["radiologists"].records
    targets = {
        column: [r["target"] for r in records if r["judge"] == column] for column in {r["judge"] for r in records}
    }
    assert targets["errors_quality"] == ["rating", "total", "significant"]
    assert targets["errors_total"] == ["total"]
    assert targets["errors_significant"] == ["significant"]
