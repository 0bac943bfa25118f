"""BERTScore on the static embedding: greedy matching by hand, idf, baseline tables, long and odd texts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import InputError, UsageError
from radgauge.encoders.text.token_vectors import (
    TokenVectors,
    greedy_match,
    idf_weights,
    known_layer,
    read_baseline,
)
from radgauge.metrics.bertscore import BertScore


def tokens(names: str, vectors: list[list[float]]) -> TokenVectors:
    rows = np.array(vectors, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return TokenVectors(tuple(names), tuple(names), rows, np.ones(len(rows), dtype=bool))


A = tokens("xy", [[1, 0], [0, 1]])
B = tokens("xz", [[1, 0], [1, 1]])


def test_greedy_matching_by_hand() -> None:
    # y finds z at 45 degrees; z finds x and y at 45 degrees
    half = math.sqrt(0.5)
    precision, recall, f1 = greedy_match(A, B)
    assert precision == pytest.approx((1 + half) / 2)
    assert recall == pytest.approx((1 + half) / 2)
    assert f1 == pytest.approx((1 + half) / 2)


def test_idf_weighs_rare_tokens() -> None:
    weights = idf_weights([A.keys, B.keys])
    assert weights["x"] == 0  # in every reference
    assert weights["y"] == pytest.approx(math.log(3 / 2))
    assert weights[None] == pytest.approx(math.log(3))
    assert greedy_match(A, B, weights=weights)[0] == pytest.approx(math.sqrt(0.5))


def test_markers_are_matched_but_not_averaged() -> None:
    marked = A._replace(counted=np.array([True, False]))
    assert greedy_match(marked, B)[0] == pytest.approx(1.0)


def score(candidate: str, reference: str, **settings: object) -> np.ndarray:
    metric = BertScore(**settings)  # type: ignore[arg-type]
    return rg.score([rg.Case("1", candidate, (reference,))], [metric])["bertscore"].values[0]


def test_a_copy_is_one_and_rescaling_is_linear() -> None:
    assert score("clear lungs", "clear lungs") == pytest.approx([1, 1, 1])
    chance = read_baseline("embedded", layer=0).values
    raw, scaled = score("clear lungs", "no effusion", rescale=False), score("clear lungs", "no effusion")
    assert scaled == pytest.approx((raw - chance[[2, 0, 1]]) / (1 - chance[[2, 0, 1]]))


def test_synonyms_score_above_other_words() -> None:
    assert score("enlarged heart", "cardiomegaly")[0] > score("broken rib", "cardiomegaly")[0]


def test_zero_for_empty_is_bert_scores_rule() -> None:
    assert np.isnan(score("", "clear lungs")[0])
    assert score("", "clear lungs", empty="zero", rescale=False).tolist() == [0, 0, 0]


def test_a_report_of_100_kb_and_one_of_punctuation() -> None:
    assert score("no effusion " * 9000, "no effusion")[0] == pytest.approx(1.0, abs=1e-5)
    found = rg.score([rg.Case("1", "?!...", ("clear",))], ["bertscore"])["bertscore"]
    assert found.reasons["1", "system"] == "candidate has no words"


def test_spaces_do_not_matter_to_the_static_embedding() -> None:
    assert score("clear   lungs", "clear lungs", collapse_spaces=True) == pytest.approx(
        score("clear lungs", "clear lungs")
    )


def test_published_layers_and_baselines() -> None:
    assert known_layer("distilroberta-base") == 5
    assert known_layer("FacebookAI/roberta-large@main") == 17
    found = read_baseline("distilroberta-base", layer=0)
    assert found.name == "distilroberta-base:5"
    assert found.values.tolist() == [0.84732, 0.84759504, 0.8473319]
    with pytest.raises(UsageError, match="the layer of 'somebody/encoder'"):
        known_layer("somebody/encoder")
    with pytest.raises(UsageError, match="'somebody/encoder', layer 3; use rescale=no"):
        read_baseline("somebody/encoder", layer=3)


def test_own_baseline(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n")
    assert read_baseline("x", layer=0, path=str(path)).values.tolist() == [0.1, 0.2, 0.3]
    with pytest.raises(InputError, match="a row for layer 4"):
        read_baseline("x", layer=4, path=str(path))


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="long must be one of truncate, windows"):
        BertScore(long="wrap")
    with pytest.raises(UsageError, match="layer must be 0"):
        BertScore(layer=-1)
    with pytest.raises(UsageError, match="encoder and layer belong to published models"):
        BertScore(encoder="roberta-large")


def test_idf_makes_cases_depend_on_each_other() -> None:
    assert BertScore().independent
    assert not BertScore(idf=True).independent
