"""Means of systems from a drawn slice: weights, refusals, differences, and a study from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import read_judgments
from radgauge.io.judgments.judgments import Judgments, rating_scores
from radgauge.io.scores_file import write_scores
from radgauge.study.estimate import estimate_means
from radgauge.study.sampling import sample_studies

FRAME, DRAWN = 600, 90


def _frame(seed: int = 0) -> tuple[list[Case], dict[tuple[str, str], float], Results]:
    """Cases of two systems, what raters would say of all of them, and a metric's scores."""
    rng = np.random.default_rng(seed)
    cases = [Case(f"s{n:03d}", "text", ("text",), system) for n in range(FRAME) for system in ("a", "b")]
    hard = np.repeat(rng.normal(size=FRAME), 2)
    truth = 3 + hard + np.tile([0.0, 0.4], FRAME) + rng.normal(0, 0.5, 2 * FRAME)
    values = (truth + rng.normal(0, 0.6, 2 * FRAME))[:, None]
    keys = tuple(case.key for case in cases)
    scores = Results({"m": Scores("m", "m", keys, values, values, ("m",), True)})
    return cases, dict(zip(keys, truth.tolist(), strict=True)), scores


def _judged(
    seed: int = 0, *, probability: bool = True, **draw: object
) -> tuple[Judgments, Results, dict[str, float]]:
    cases, truth, scores = _frame(seed)
    sample = sample_studies(cases, rng=np.random.default_rng(seed), number=DRAWN, **draw)  # type: ignore[arg-type]
    drawn = []
    for case in cases:
        if case.id in sample.stratum:
            name = sample.stratum[case.id]
            meta = {"stratum": name, "probability": repr(sample.strata[name].probability)} if probability else {}
            drawn.append(replace(case, meta=meta))
    keys = tuple(case.key for case in drawn)
    ratings = rating_scores({"r": {key: truth[key] for key in keys}}, keys=keys, signature="r")
    means = {system: float(np.mean([truth[key] for key in truth if key[1] == system])) for system in "ab"}
    return Judgments("slice", tuple(drawn), ratings=ratings), scores, means


def test_a_draw_with_more_of_the_worst_is_weighted_back() -> None:
    _, _, scores = _frame()
    judgments, scores, means = _judged(scores=scores, by="m", equal=True)
    plain = float(np.mean(judgments.mean_ratings().headline))
    assert plain < np.mean(list(means.values())) - 0.3  # more bad reports were read
    estimate = estimate_means(judgments, scores)
    assert [line.name for line in estimate.lines] == ["a", "b"]
    for line in estimate.lines:
        assert line.estimate.low <= means[line.name] <= line.estimate.high
        assert line.estimate.value == pytest.approx(means[line.name], abs=0.2)
        assert line.estimate.n_labels == DRAWN


def test_differences_are_of_the_same_studies() -> None:
    judgments, scores, means = _judged()
    estimate = estimate_means(judgments, scores, baseline="a", width=0.2)
    gap = estimate.lines[-1]
    assert gap.name == "b - a"
    assert gap.estimate.low <= means["b"] - means["a"] <= gap.estimate.high
    apart = np.hypot(*(line.estimate.width for line in estimate.lines[:2]))
    assert gap.estimate.width < 0.8 * apart  # what is hard for one is hard for the other
    assert gap.labels_needed is not None
    assert gap.labels_needed > DRAWN
    assert all(line.labels_alone.width > line.estimate.width for line in estimate.lines[:2])


def test_what_was_not_drawn_at_random_is_refused() -> None:
    judgments, scores, _ = _judged(probability=False)
    with pytest.raises(InputError, match=r"has no probability .* not drawn at random"):
        estimate_means(judgments, scores)
    assert estimate_means(judgments, scores, simple_random=True).n_studies == FRAME


def test_scores_of_another_frame_are_refused() -> None:
    judgments, scores, _ = _judged()
    keys = scores.keys_of_cases
    fewer = Results(
        {"m": scores["m"].take([n for n, key in enumerate(keys) if n < 800 or key in judgments.ratings["r"].keys])}
    )
    with pytest.raises(InputError, match="stand for 600 studies, and the scores have"):
        estimate_means(judgments, fewer)
    with pytest.raises(InputError, match="judged studies have no scores"):
        estimate_means(judgments, Results({"m": scores["m"].take([0, 1])}))
    lost = next(n for n, key in enumerate(keys) if key[1] == "b" and key not in judgments.ratings["r"].keys)
    with pytest.raises(InputError, match=r"system 'b' has scores on 599 of 600"):
        estimate_means(judgments, Results({"m": scores["m"].take([n for n in range(len(keys)) if n != lost])}))
    with pytest.raises(UsageError, match="choose one column of the scores: m; got 'bleu'"):
        estimate_means(judgments, scores, column="bleu")
    with pytest.raises(UsageError, match="baseline must be one of a, b"):
        estimate_means(judgments, scores, baseline="c")


def test_unread_and_unscored_studies_are_named() -> None:
    judgments, scores, _ = _judged()
    rated = judgments.ratings["r"]
    values = rated.values.copy()
    values[rated.keys.index(next(key for key in rated.keys if key[1] == "a"))] = np.nan
    partly = replace(judgments, ratings={"r": replace(rated, rows=values, values=values)})
    unscored = scores["m"].values.copy()
    unscored[0] = np.nan
    estimate = estimate_means(partly, Results({"m": replace(scores["m"], rows=unscored, values=unscored)}))
    assert f"a: 1 of {DRAWN} drawn studies have no judgment and are taken to be like the others" in estimate.notes
    assert "a: 1 studies without a score count with the mean score" in estimate.notes
    assert estimate.lines[0].estimate.n_labels == DRAWN - 1


def test_the_verb_reads_a_table_with_probabilities(tmp_path: Path) -> None:
    judgments, scores, means = _judged()
    table = tmp_path / "ratings.csv"
    rows = ["id,system,rater,rating,probability,stratum"]
    for case, value in zip(judgments.cases, judgments.ratings["r"].headline, strict=True):
        rows.append(f"{case.id},{case.system},r,{value},{case.meta['probability']},{case.meta['stratum']}")
    table.write_text("\n".join(rows) + "\n")
    assert read_judgments(table).cases[0].meta["probability"] == "0.15"
    write_scores(tmp_path / "scores.jsonl", scores)
    run = ["study", "estimate", str(table), "--scores", str(tmp_path / "scores.jsonl"), "--width", "0.3"]
    done = CliRunner().invoke(app, [*run, "--json"])
    assert done.exit_code == 0, done.output
    line = json.loads(done.stdout)["lines"][0]
    assert line["estimate"]["low"] <= means["a"] <= line["estimate"]["high"]
    done = CliRunner().invoke(app, run)
    assert "mean rating over 600 studies, from judged ones and m" in done.output
    assert "labels for 0.3" in done.output
