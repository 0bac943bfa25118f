"""align: joined by key, direction taken care of, ceilings beside the metrics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from radgauge.analysis.agreement import agree
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments.judgments import Judgments, error_scores, rating_scores

STUDIES, GROUPS = [f"s{n}" for n in range(12)], ("x", "y")
KEYS = tuple((study, group) for study in STUDIES for group in GROUPS)
TRUTH = np.random.default_rng(3).integers(0, 6, len(KEYS)).astype(float)


def judge(name: str, values: np.ndarray, *, higher_is_better: bool, keys: tuple = KEYS) -> Scores:
    table = np.asarray(values, dtype=float)[:, None]
    return Scores(name, name, keys, table, table, (name,), higher_is_better)


@pytest.fixture
def judgments() -> Judgments:
    noise = np.random.default_rng(4).integers(0, 2, (2, len(KEYS)))
    counts = [
        (key, str(rater), 1 + i % 6, i % 2 == 0, float(TRUTH[i] + noise[rater, i]))
        for rater in range(2)
        for i, key in enumerate(KEYS)
    ]
    cases = tuple(Case(study, "text", ("reference",), group) for study, group in KEYS)
    ratings = {str(r): {key: 5 - TRUTH[i] for i, key in enumerate(KEYS)} for r in range(2)}
    return Judgments(
        "test",
        cases,
        error_scores(counts, keys=KEYS, signature="test"),
        rating_scores(ratings, keys=KEYS, signature="test"),
    )


def value(found, column: str, target: str, rater: str = "mean") -> float:  # type: ignore[no-untyped-def]
    (line,) = [x for x in found.lines if (x.column, x.target, x.rater) == (column, target, rater)]
    return line.correlation.interval.value


def test_positive_means_agreement_whatever_the_direction(judgments: Judgments) -> None:
    results = Results(
        {
            "up": judge("up", -TRUTH, higher_is_better=True),
            "down": judge("down", TRUTH, higher_is_better=False),
            "wrong": judge("wrong", TRUTH, higher_is_better=True),
        }
    )
    found = agree(results, judgments, targets=["rating", "total"], resamples=50)
    assert value(found, "up", "rating") == pytest.approx(1.0)
    assert value(found, "down", "rating") == pytest.approx(1.0)
    assert value(found, "wrong", "rating") == pytest.approx(-1.0)
    expected = kendalltau(-TRUTH, -judgments.mean_errors().column("errors_total")).statistic
    assert value(found, "up", "total") == pytest.approx(expected)
    assert found.preferences["up"].interval.value == 1.0
    assert found.preferences["wrong"].interval.value == 0.0


def test_scores_are_joined_by_key_not_by_position(judgments: Judgments) -> None:
    order = np.random.default_rng(5).permutation(len(KEYS))
    shuffled = judge("m", -TRUTH[order], higher_is_better=True, keys=tuple(KEYS[i] for i in order))
    found = agree(Results({"m": shuffled}), judgments, targets=["rating"], resamples=50)
    assert value(found, "m", "rating") == pytest.approx(1.0)


def test_cases_without_scores_are_left_out_and_counted(judgments: Judgments) -> None:
    part = judge("m", -TRUTH[:20], higher_is_better=True, keys=KEYS[:20])
    found = agree(Results({"m": part}), judgments, resamples=50)
    assert found.cases == 20
    assert any("4 of 24 judged cases have no scores" in note for note in found.notes)


def test_what_a_metric_could_not_judge_is_counted(judgments: Judgments) -> None:
    values = -TRUTH.copy()
    values[:3] = np.nan
    found = agree(Results({"m": judge("m", values, higher_is_better=True)}), judgments, resamples=50)
    assert {line.not_judged for line in found.lines} == {3}
    assert {line.correlation.interval.n for line in found.lines} == {21}


def test_single_raters_groups_and_the_ceiling(judgments: Judgments) -> None:
    results = Results({"m": judge("m", -TRUTH, higher_is_better=True)})
    found = agree(results, judgments, targets=["total"], per_rater=True, scope="group", resamples=50)
    assert {line.rater for line in found.lines} == {"mean", "0", "1"}
    assert {group.label for group in found.lines[0].correlation.groups} == {"x", "y"}
    (ceiling,) = found.ceilings
    assert 0.5 < ceiling.leave_one_out.mean.value <= 1
    assert [each.name for each in ceiling.agreements][:2] == ["ICC(2,1)", "ICC(2,k)"]


def test_the_noisy_subset(judgments: Judgments) -> None:
    results = Results({"m": judge("m", -TRUTH, higher_is_better=True)})
    many = judgments.mean_errors().column("errors_total") > 3
    found = agree(results, judgments, more_errors_than=3, resamples=50)
    assert found.cases == many.sum()
    with pytest.raises(InputError, match="only 0 cases have more than 99 errors"):
        agree(results, judgments, more_errors_than=99)


def test_categories_by_number_and_name(judgments: Judgments) -> None:
    results = Results({"m": judge("m", -TRUTH, higher_is_better=True)})
    found = agree(results, judgments, targets=["2", "omission", "omission_significant"], resamples=20)
    assert [line.target for line in found.lines] == ["omission", "omission_significant"]
    with pytest.raises(UsageError, match="there is no target 'style'"):
        agree(results, judgments, targets=["style"])


def test_no_shared_case_is_an_error(judgments: Judgments) -> None:
    other = judge("m", np.zeros(1), higher_is_better=True, keys=(("s0", "system"),))
    with pytest.raises(InputError, match=r"system\).*'s0', 'system'.*'s0', 'x'"):
        agree(Results({"m": other}), judgments)


def test_a_better_judge_stands_in_a_better_cluster(judgments: Judgments) -> None:
    rng = np.random.default_rng(6)
    results = Results(
        {
            "good": judge("good", -TRUTH, higher_is_better=True),
            "noise": judge("noise", rng.normal(size=len(TRUTH)), higher_is_better=True),
        }
    )
    found = agree(results, judgments, targets=["rating"], resamples=300)
    assert [(ranked.name, ranked.cluster) for ranked in found.ranking.judges] == [("good", 1), ("noise", 2)]


def test_pairs_are_compared_on_request(judgments: Judgments) -> None:
    rng = np.random.default_rng(7)
    results = Results(
        {
            "down": judge("down", TRUTH + rng.normal(size=len(TRUTH)), higher_is_better=False),
            "noise": judge("noise", rng.normal(size=len(TRUTH)), higher_is_better=True),
        }
    )
    assert agree(results, judgments, resamples=20).pairs == ()
    (pair,) = agree(results, judgments, pairs=True, test="hendrickson1970", resamples=200).pairs
    assert (pair.first, pair.second) == ("down", "noise")
    assert pair.difference.interval.value > 0
    assert pair.tests[0].test.method == "hendrickson1970"


def test_too_few_resamples_for_a_ranking_are_named(judgments: Judgments) -> None:
    rng = np.random.default_rng(7)
    results = Results({n: judge(n, rng.normal(size=len(TRUTH)), higher_is_better=True) for n in "abcd"})
    found = agree(results, judgments, resamples=50)
    assert any("50 resamples are too few to tell 4 judges apart" in note for note in found.notes)
    assert not any("too few" in note for note in agree(results, judgments, resamples=300).notes)


def test_a_frame_of_an_alignment_has_p_and_n() -> None:
    from scipy.stats import kendalltau

    import radgauge as rg
    from radgauge.core.cases import Case
    from radgauge.io.judgments.judgments import Judgments, rating_scores

    texts = ["No effusion.", "Small effusion.", "Edema.", "No edema seen.", "Clear lungs.", "Effusion and edema."]
    cases = tuple(Case(str(n), text, ("No effusion.",)) for n, text in enumerate(texts))
    ratings = {"a": {case.key: float(6 - n) for n, case in enumerate(cases)}}
    keys = tuple(case.key for case in cases)
    judgments = Judgments("six", cases, ratings=rating_scores(ratings, keys=keys, signature="six"))
    results = rg.score(cases, ["bleu:variant=cxr"])
    found = rg.agree(results, judgments, resamples=10).to_dict()
    (scores,) = results.judges.values()
    expected = kendalltau(scores.headline, [6 - n for n in range(6)], method="asymptotic").pvalue
    assert found["p"] == [pytest.approx(expected)]
    assert found["n"] == [6]


def _noisy_copies(judgments: Judgments, noise: float) -> tuple[Judgments, Scores]:
    """Twelve copies without an error, whose values differ by rounding, and twelve reports in the raters' order."""
    total = judgments.mean_errors().column("errors_total")
    copies = np.arange(len(KEYS)) < len(KEYS) // 2
    cases = tuple(
        Case(case.id, "The  lungs are clear." if copy else f"Report {n}.", ("the lungs are clear.",), case.system)
        for n, (case, copy) in enumerate(zip(judgments.cases, copies, strict=True))
    )
    counts = [(key, "0", 1, True, 0.0 if copies[i] else 1 + total[i]) for i, key in enumerate(KEYS)]
    values = np.where(copies, 1.0 + noise * np.random.default_rng(1).uniform(-1, 1, len(KEYS)), 0.5 - 0.01 * total)
    counted = error_scores(counts, keys=KEYS, signature="test")
    return Judgments("test", cases, counted), judge("m", values, higher_is_better=True)


def test_copies_are_not_ordered_by_rounding(judgments: Judgments) -> None:
    noisy, scores = _noisy_copies(judgments, 3e-7)
    default = agree(Results({"m": scores}), noisy, targets=["total"], resamples=20)
    assert value(default, "m", "total") == pytest.approx(1.0)
    exact = agree(Results({"m": scores}), noisy, targets=["total"], equality="exact", resamples=20)
    expected = kendalltau(scores.headline, -noisy.mean_errors().column("errors_total")).statistic
    assert value(exact, "m", "total") == pytest.approx(expected)
    assert expected < 0.9


def test_values_that_differ_by_more_than_the_precision_stay_apart(judgments: Judgments) -> None:
    noisy, scores = _noisy_copies(judgments, 3e-4)
    found = agree(Results({"m": scores}), noisy, targets=["total"], resamples=20)
    assert value(found, "m", "total") < 0.9


def test_the_coefficient_without_copies_stands_beside_the_other(judgments: Judgments) -> None:
    noisy, scores = _noisy_copies(judgments, 0.0)
    wrong = judge("wrong", np.where(scores.headline == 1, 1.0, -scores.headline), higher_is_better=True)
    found = agree(Results({"m": scores, "wrong": wrong}), noisy, targets=["total"], resamples=20)
    lines = {line.column: line for line in found.lines}
    assert found.copies == 12
    assert lines["m"].without_copies == pytest.approx(1.0)
    assert lines["wrong"].without_copies == pytest.approx(-1.0)
    assert lines["wrong"].correlation.value > 0  # copies alone
    assert any("12 of 24 candidates repeat a reference" in note for note in found.notes)


def test_counts_are_compared_with_counts_and_quality_with_all(judgments: Judgments) -> None:
    columns = ("errors_quality", "errors_total", "errors_significant")
    values = np.stack([-TRUTH, TRUTH, TRUTH], axis=1)
    scores = Scores("errors", "errors", KEYS, values, values, columns, True, directions=(True, False, False))
    found = agree(Results({"errors": scores}), judgments, targets=["rating", "total"], resamples=20)
    assert [(line.column, line.target) for line in found.lines] == [
        ("errors_quality", "rating"),
        ("errors_quality", "total"),
        ("errors_total", "total"),
    ]
    assert set(found.preferences) == {"errors_quality"}
    assert found.best_of["errors_quality"].gain.value == pytest.approx(1.0)
    assert found.calibrated["errors_quality"].interval.value == pytest.approx(1.0)
