"""Random retrieval and the table of systems against it."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.analysis.baselines import RANDOM, model_table, random_retrieval
from radgauge.analysis.compare import compare
from radgauge.analysis.summary import summarise
from radgauge.core.cases import MISSING, Case
from radgauge.core.errors import InputError, UsageError
from radgauge.run.score import score

CASES = [
    Case(study, candidate, (f"report of {study}",), system=system, meta={"split": "test"})
    for study in ("s1", "s2", "s3", "s4")
    for system, candidate in (("good", f"report of {study}"), ("bad", "nothing"))
]


def test_every_study_once_and_never_its_own_report() -> None:
    for seed in range(20):
        drawn = random_retrieval(CASES, rng=np.random.default_rng(seed))
        assert [case.key for case in drawn] == [(study, RANDOM) for study in ("s1", "s2", "s3", "s4")]
        assert all(case.candidate != case.references[0] for case in drawn)
        assert all(case.meta == {"split": "test"} for case in drawn)


def test_every_other_report_is_drawn_equally_often() -> None:
    generator = np.random.default_rng(0)
    drawn = [random_retrieval(CASES, rng=generator)[1].candidate for _ in range(3000)]
    counts = [drawn.count(f"report of s{n}") for n in (1, 3, 4)]
    assert sum(counts) == 3000
    assert min(counts) > 900


def test_the_seed_decides() -> None:
    one, again = (random_retrieval(CASES, rng=np.random.default_rng(3)) for _ in range(2))
    assert one == again


def test_a_corpus_is_drawn_from_without_the_study_itself_and_without_blanks() -> None:
    corpus = [Case("s1", "", ("mine",)), Case("x", "", ("other",)), Case("y", "", (" ",))]
    drawn = random_retrieval(CASES[:1], rng=np.random.default_rng(0), corpus=corpus)
    assert [case.candidate for case in drawn] == ["other"]


def test_a_missing_candidate_of_a_system_is_none_of_the_baseline() -> None:
    gone = [Case("s1", "", ("a",), meta={MISSING: "no candidate"}), Case("s2", "", ("b",))]
    assert not random_retrieval(gone, rng=np.random.default_rng(0))[0].missing


@pytest.mark.parametrize(
    ("cases", "error", "message"),
    [
        (CASES[:1], InputError, "needs another study than 's1' to draw from; add a corpus"),
        ([Case("1", "x")], InputError, "there is no reference that is not empty"),
        ([Case("1", "x", ("y",), system=RANDOM)], UsageError, "a system named 'random retrieval' already"),
    ],
)
def test_messages(cases: list[Case], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        random_retrieval(cases, rng=np.random.default_rng(0))


def test_the_table_of_systems() -> None:
    cases = [*CASES, *random_retrieval(CASES, rng=np.random.default_rng(0))]
    results = score(cases, ["bleu:variant=cxr"])
    lines = model_table(summarise(results), compare(results, baseline=RANDOM, percent=True))
    by_system = {line.summary.system: line for line in lines}
    assert list(by_system) == ["good", "bad", RANDOM]
    assert by_system[RANDOM].comparison is None
    good = by_system["good"].comparison
    assert good is not None
    assert good.improvement is not None
    value = by_system[RANDOM].summary.value
    assert good.improvement.value == pytest.approx(100 * (1 - value) / value)
    bad = by_system["bad"].comparison
    assert bad is not None
    assert bad.improvement is not None
    assert bad.improvement.value == pytest.approx(-100)
