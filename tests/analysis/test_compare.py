"""compare: paired by study, direction of every column respected, corrections over all tests."""

from __future__ import annotations

import numpy as np
import pytest

import radgauge as rg
from radgauge.analysis.compare import compare
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import sums
from radgauge.core.scores import Results, Scores

rng = np.random.default_rng(1)
STUDIES = [f"s{n}" for n in range(40)]


def results(*, drop: int = 0) -> Results:
    """System b is better: its quality is higher and its errors fewer; b lacks the last `drop` studies."""
    keys = [(s, "a") for s in STUDIES] + [(s, "b") for s in STUDIES[: len(STUDIES) - drop]]
    noise = np.random.default_rng(2).normal(size=len(keys))
    good = np.array([system == "b" for _, system in keys])
    values = np.stack([noise + 2 * good, 5 + noise - 2 * good], axis=1)
    scores = Scores("m", "m", tuple(keys), values, values, ("quality", "errors"), True, directions=(True, False))
    return Results({"m": scores})


def test_each_column_has_its_own_direction() -> None:
    quality, errors = compare(results(), baseline="a", all_columns=True)
    assert quality.result.difference.value == pytest.approx(2, abs=0.6)
    assert errors.result.difference.value == pytest.approx(-2, abs=0.6)
    assert quality.result.better == errors.result.better == "a"  # the first named of the pair: system b
    assert quality.system == "b"
    assert quality.result.effect.d_z > 0
    assert errors.result.effect.d_z > 0
    assert quality.result.p_adjusted == quality.result.p  # one pair of systems; the other output is another family


def test_only_shared_studies_count() -> None:
    (line,) = compare(results(drop=10), baseline="a")
    assert line.result.n == 30


def test_the_seed_decides() -> None:
    one, again, other = (
        compare(results(), seed=seed, method="percentile")[0].result.difference for seed in (0, 0, 1)
    )
    assert one == again
    assert (one.low, one.high) != (other.low, other.high)


def test_all_pairs_and_unknown_systems() -> None:
    assert len(compare(results(), all_pairs=True)) == 1
    with pytest.raises(UsageError, match="no system 'c' in these scores; there are: a, b"):
        compare(results(), baseline="c")
    alone = Results({"m": results()["m"].of_system("a")})
    with pytest.raises(InputError, match="comparing needs two systems or more, got 1: a"):
        compare(alone)


def test_systems_without_a_shared_study_cannot_be_compared() -> None:
    values = np.zeros((2, 1))
    scores = Scores("m", "m", (("1", "a"), ("2", "b")), values, values, ("m",), True)
    with pytest.raises(InputError, match="share no study id"):
        compare(Results({"m": scores}))


def test_improvement_in_percent_is_positive_for_the_better_system_whatever_the_direction() -> None:
    for up in (True, False):
        values = np.array([[2.0], [2.0], [1.0], [1.0]])
        keys = (("1", "a"), ("2", "a"), ("1", "b"), ("2", "b"))
        scores = Scores("m", "m", keys, values, values, ("m",), up)
        (line,) = compare(Results({"m": scores}), baseline="a", percent=True)
        assert line.improvement is not None
        assert line.improvement.value == pytest.approx(-50 if up else 50)
        assert compare(Results({"m": scores}), baseline="a")[0].improvement is None


def test_the_interval_of_an_improvement_is_turned_too() -> None:
    quality, errors = compare(results(), baseline="a", all_columns=True, percent=True)
    assert quality.improvement is not None
    assert np.isnan(quality.improvement.low)  # the baseline's mean is about 0
    assert errors.improvement is not None
    assert 0 < errors.improvement.low < errors.improvement.value < errors.improvement.high


def test_n_counts_the_cases_behind_both_values() -> None:
    """A false alarm of one system is part of its value where the other system has 0 / 0."""
    texts = {"1": "Left pleural effusion.", "2": "No effusion.", "3": "No effusion.", "4": "Cardiomegaly."}
    wrong = {**texts, "2": "Left pleural effusion."}
    cases = [
        {"id": study, "system": system, "candidate": candidates[study], "reference": reference}
        for system, candidates in (("right", texts), ("wrong", wrong))
        for study, reference in texts.items()
    ]
    results = rg.score(cases, ["chexbert", "errors"])
    lines = {
        line.column: line.result for line in compare(results, baseline="right", permutations=50, all_columns=True)
    }
    head = "chexbert_5_micro_f1_embedded"
    assert lines[head].n == 3  # study 3 is normal in all of the texts
    assert lines[head].effect.n == 2
    assert lines[head].value_b == 1.0
    assert lines["errors_recall"].n == 2


def test_a_difference_has_one_p_value_whatever_else_is_tested() -> None:
    drawn = np.random.default_rng(3).normal([0.0, 0.1, 0.3, 0.8], size=(40, 4))
    cases = [(f"s{study}", name) for name in "abcd" for study in range(40)]
    values = drawn.T.reshape(-1, 1)
    one = Scores("one", "one", tuple(cases), values, values, ("one",), True)
    more = Scores("two", "two", tuple(cases), -values, -values, ("two",), True)
    alone, beside = (
        {(line.column, line.system, line.baseline): line.result for line in compare(Results(judges))}
        for judges in ({"one": one}, {"one": one, "two": more})
    )
    assert {baseline for _, _, baseline in alone} == {"d"}  # the one that leads
    for key, result in alone.items():
        assert (result.p_adjusted, result.difference) == (beside[key].p_adjusted, beside[key].difference)
    pair = {line.system: line.result for line in compare(Results({"one": one}), baseline="d")}
    assert [pair[name].p_adjusted for name in "abc"] == [alone["one", name, "d"].p_adjusted for name in "abc"]


def test_the_floor_of_a_permutation_test_is_a_bound_and_more_are_made_for_many_pairs() -> None:
    keys = tuple((f"s{study}", name) for name in "abcdef" for study in range(60))
    values = np.repeat([0.0, 1, 2, 3, 4, 5], 60)[:, None] + np.random.default_rng(0).normal(0, 0.1, (360, 1))
    scores = Results({"one": Scores("one", "one", keys, values, values, ("one",), True)})
    lines = compare(scores, permutations=20)
    assert {line.result.resamples for line in lines} == {200}  # 40 for each of the five pairs
    assert all(line.result.p_is_bound for line in lines)
    assert max(line.result.p_shown for line in lines) < 0.05
    assert all(row[4].startswith("≤") for row in lines.grid().rows)


def test_no_interval_of_a_difference_leaves_its_range() -> None:
    normal, finding = "No pleural effusion.", "Large left pneumothorax."
    cases = [
        {
            "id": str(n),
            "system": name,
            "candidate": finding if name == "right" or n == 0 else normal,
            "reference": finding,
        }
        for n in range(6)
        for name in ("right", "wrong")
    ]
    lines = compare(rg.score(cases, ["errors", "bleu"]), baseline="right", all_columns=True)
    for line in lines:
        if line.column in ("errors_recall", "errors_f1", "bleu_1"):
            assert -1 <= line.result.difference.low < 0
            assert line.result.difference.high <= 1
    alone = rg.score(cases[:2], ["errors"])
    assert all(np.isnan(line.result.difference.low) for line in compare(alone, permutations=10))


def test_copies_that_differ_by_rounding_are_ties() -> None:
    keys = tuple((str(n), system) for system in ("a", "b") for n in range(20))
    values = np.ones((40, 1))
    values[20:, 0] += 4e-7 * np.arange(1, 21) / 20
    scores = Scores("m", "m", keys, values, values, ("m",), True)
    (line,) = compare(Results({"m": scores}), permutations=100, resamples=20)
    assert (line.result.difference.value, line.result.effect.ties, line.result.p) == (0, 1, 1)


def test_cases_with_equal_outputs_keep_their_own_counts() -> None:
    reference = "no pleural effusion or pneumothorax"
    texts = {"a": ("heart", "no pleural effusion or nodule"), "b": ("heart size is normal", reference)}
    cases = [
        rg.Case(f"{n}", text, (reference,), name) for name, both in texts.items() for n, text in enumerate(both)
    ]
    scored = rg.score(cases, ["bleu"])
    first, second = (scored["bleu"].corpus_scores(*sums(scored["bleu"].of_system(name).rows))[0] for name in texts)
    (line,) = compare(scored, systems=["a", "b"], baseline="b", permutations=10, resamples=20)
    assert (line.result.value_a, line.result.value_b) == (first, second)
    assert line.result.difference.value == pytest.approx(first - second, abs=1e-12)
