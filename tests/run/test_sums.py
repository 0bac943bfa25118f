"""Sums over parts: the values of the whole, and the intervals of its bootstrap."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from score_folders import write_score_folder

from radgauge.analysis.summary import summarise
from radgauge.analysis.sums import summarise_parts
from radgauge.core.scores import Results
from radgauge.io.score_folder import read_score_folder
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling

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
    lines = summarise_parts(folder, resampling=HOW)
    assert [(line.judge, line.column, line.system) for line in lines] == list(expected)
    for line in lines:
        whole = expected[line.judge, line.column, line.system]
        assert line.value == pytest.approx(whole.value, abs=1e-12)
        assert (line.judged, line.not_judged, line.reasons) == (whole.judged, whole.not_judged, whole.reasons)
        assert line.not_applicable == whole.not_applicable
        assert (line.method, whole.method) == ("normal", "percentile")
        width = whole.high - whole.low
        assert abs(line.low - whole.low) < 0.2 * width
        assert abs(line.high - whole.high) < 0.2 * width


def test_the_interval_of_a_mean_is_the_textbook_one(folder: Path, results: Results) -> None:
    values = results["rouge"].of_system("b").values[:, 0]
    values = values[~np.isnan(values)]
    margin = 1.959964 * values.std() / math.sqrt(len(values))
    line = next(x for x in summarise_parts(folder, resampling=HOW) if (x.judge, x.system) == ("rouge", "b"))
    assert line.low == pytest.approx(values.mean() - margin, abs=1e-6)
    assert line.high == pytest.approx(values.mean() + margin, abs=1e-6)


def test_no_resamples_give_no_interval(folder: Path) -> None:
    lines = summarise_parts(folder, resampling=Resampling(resamples=0))
    assert lines
    assert all(math.isnan(line.low) and line.method == "" for line in lines)


def test_truncated_cases_are_counted_in_folders_as_in_files(tmp_path: Path, results: Results) -> None:
    bleu = results["bleu"]
    marked = replace(
        results, judges={**results.judges, "bleu": replace(bleu, truncated=frozenset(bleu.keys[3:10]))}
    )
    write_score_folder(tmp_path / "scores", marked, divided=4)
    expected = {(line.column, line.system): line.truncated for line in summarise(marked, resamples=0)}
    lines = summarise_parts(tmp_path / "scores", resampling=Resampling(resamples=0))
    assert {(line.column, line.system): line.truncated for line in lines} == expected
    assert sum(expected["bleu_1", system] for system in ("a", "b")) == 7
    assert read_score_folder(tmp_path / "scores")["bleu"].truncated == frozenset(bleu.keys[3:10])
