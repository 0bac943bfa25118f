"""Values, intervals and tests part by part: the values of the whole, and intervals of the same distribution."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from radgauge.errors import InputError, UsageError
from radgauge.io.score_folder import write_score_folder
from radgauge.results import Results
from radgauge.scale.comparisons import compare_parts
from radgauge.scale.statistics import Gathered, summarise_parts, weights
from radgauge.scores import score
from radgauge.stats.resampling import Resampling
from radgauge.studies.compare import compare
from radgauge.studies.summary import summarise

WORDS = ["no", "small", "left", "right", "pleural", "effusion", "opacity", "clear", "heart", "enlarged"]
HOW = Resampling(resamples=2000)


@pytest.fixture(scope="module")
def results() -> Results:
    rng = np.random.default_rng(1)
    cases = []
    for study in range(240):
        reference = list(rng.choice(WORDS, size=8))
        for system, share in (("a", 0.4), ("b", 0.6)):
            words = [word if rng.random() < share else str(rng.choice(WORDS)) for word in reference]
            if system == "a" and study % 9 == 0:
                continue
            text = "" if study == 5 else " ".join(words)
            cases.append(
                {"id": f"s{study}", "system": system, "candidate": text, "reference": " ".join(reference)}
            )
    return score(cases, ["bleu", "rouge"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, results: Results) -> Path:
    place = tmp_path_factory.mktemp("scores") / "folder"
    write_score_folder(place, results, divided=7)
    return place


def test_values_and_counts_are_those_of_the_whole(folder: Path, results: Results) -> None:
    expected = {(line.judge, line.column, line.system): line for line in summarise(results, resampling=HOW)}
    with Gathered(folder) as gathered:
        assert (gathered.cases, gathered.studies, set(gathered.systems)) == (453, 240, {"a", "b"})
        found = summarise_parts(gathered, resampling=HOW)
    assert len(found) == len(expected)
    for line in found:
        whole = expected[line.judge, line.column, line.system]
        assert line.value == pytest.approx(whole.value, abs=1e-12)
        assert (line.judged, line.not_judged, line.reasons) == (whole.judged, whole.not_judged, whole.reasons)
        assert line.method == whole.method == "percentile"
        spread = whole.high - whole.low  # other draws of the same distribution
        assert abs(line.low - whole.low) < 0.15 * spread
        assert abs(line.high - whole.high) < 0.15 * spread


@pytest.mark.parametrize("method", ["t", "bca"])
def test_other_intervals_are_those_of_the_whole(folder: Path, results: Results, method: str) -> None:
    how = Resampling(resamples=2000, method=method)  # type: ignore[arg-type]
    expected = {(line.column, line.system): line for line in summarise(results, resampling=how)}
    with Gathered(folder) as gathered:
        found = summarise_parts(gathered, resampling=how)
    for line in found:
        whole = expected[line.column, line.system]
        room = 1e-9 if method == "t" else 0.15 * (whole.high - whole.low)
        assert abs(line.low - whole.low) < room
        assert abs(line.high - whole.high) < room


def test_no_resamples_give_no_interval(folder: Path) -> None:
    with Gathered(folder) as gathered:
        found = summarise_parts(gathered, resampling=Resampling(resamples=0))
    assert all(math.isnan(line.low) and line.method == "" for line in found)


def test_comparisons_are_those_of_the_whole(folder: Path, results: Results) -> None:
    expected = compare(results, baseline="a", all_columns=True, percent=True, permutations=2000, resampling=HOW)
    with Gathered(folder) as gathered:
        found = compare_parts(
            gathered, baseline="a", all_columns=True, percent=True, permutations=2000, resampling=HOW
        )
    assert [(line.judge, line.column, line.system) for line in found] == [
        (line.judge, line.column, line.system) for line in expected
    ]
    for line, whole in zip(found, expected, strict=True):
        mine, theirs = line.result, whole.result
        assert mine.difference.value == pytest.approx(theirs.difference.value, abs=1e-12)
        assert (mine.n, mine.missing_a, mine.missing_b) == (theirs.n, theirs.missing_a, theirs.missing_b)
        assert mine.effect.d_z == pytest.approx(theirs.effect.d_z)
        assert replace(mine.effect, d_z=0.0) == replace(theirs.effect, d_z=0.0)
        assert mine.higher_is_better is theirs.higher_is_better
        assert mine.p == theirs.p == pytest.approx(1 / 2001)  # far apart: no rearrangement comes close
        spread = theirs.difference.high - theirs.difference.low
        assert abs(mine.difference.low - theirs.difference.low) < 0.15 * spread
        assert line.improvement is not None
        assert whole.improvement is not None
        assert line.improvement.value == pytest.approx(whole.improvement.value, abs=1e-9)


def test_equal_systems_have_no_small_p(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    cases = [
        {
            "id": f"s{study}",
            "system": system,
            "candidate": " ".join(rng.choice(WORDS, size=6)),
            "reference": " ".join(WORDS),
        }
        for study in range(150)
        for system in "ab"
    ]
    results = score(cases, ["rouge"])
    write_score_folder(tmp_path / "f", results, divided=5)
    (expected, *_) = compare(results, permutations=4000, resampling=HOW)
    with Gathered(tmp_path / "f") as gathered:
        (found, *_) = compare_parts(gathered, permutations=4000, resampling=HOW)
    assert abs(found.result.p - expected.result.p) < 0.04  # two runs of 4,000 rearrangements


def test_what_large_folders_do_not_do_is_said(folder: Path, tmp_path: Path) -> None:
    with Gathered(folder) as gathered:
        with pytest.raises(UsageError, match="a folder of this size has percentile intervals, got 'bca'"):
            compare_parts(gathered, resampling=Resampling(method="bca"))
        with pytest.raises(UsageError, match="a folder of this size is tested by permutation, got 'bootstrap'"):
            compare_parts(gathered, resampling=HOW, test="bootstrap")
        with pytest.raises(UsageError, match="there is no system 'c' in these scores; there are:"):
            compare_parts(gathered, resampling=HOW, baseline="c")
    apart = score(
        [
            {"id": f"{system}{at}", "system": system, "candidate": "clear", "reference": "clear"}
            for at in range(3)
            for system in "ab"
        ],
        "rouge",
    )
    write_score_folder(tmp_path / "apart", apart, divided=2)
    with Gathered(tmp_path / "apart") as gathered, pytest.raises(InputError, match="share no study id"):
        compare_parts(gathered, resampling=HOW)


def test_weights_draw_as_many_units_as_there_are() -> None:
    sizes = np.array([3, 0, 40, 7])
    total = np.zeros(30)
    seen = {}
    for part, start, block in weights(sizes, resamples=30, seed=0):
        total[start : start + len(block)] += block.sum(axis=1)
        seen[part] = block.mean()
    assert (total == 50).all()
    assert set(seen) == {0, 2, 3}
    assert seen[2] == pytest.approx(1.0, abs=0.1)
