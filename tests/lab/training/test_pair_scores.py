"""All-pairs scoring agrees with the metrics, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.lab.training.pair_scores import PairScorer
from radgauge.lab.training.pairs import scored_blocks

TEXTS = (
    "The heart is normal in size. The lungs are clear. No pleural effusion.",
    "The heart is mildly enlarged. Small left pleural effusion. No pneumothorax.",
    "Lungs are clear. Lungs are clear. Lungs are clear.",
    "Right lower lobe opacity.",
    "Calcified granuloma in the left upper lobe. No pleural effusion or pneumothorax.",
)


@pytest.mark.parametrize(
    ("column", "spec"),
    [
        ("bleu2", "bleu:variant=cxr"),
        ("radgraph_f1", "radgraph:variant=yu"),
        ("radcliq", "radcliq:version=preprint"),
    ],
)
def test_every_pair_has_the_value_of_the_metric(column: str, spec: str) -> None:
    reading = Readings()
    every = np.arange(len(TEXTS))
    block = PairScorer.of(TEXTS, reading=reading).block(every, every).target(column)
    cases = [Case(f"{i} {j}", TEXTS[j], (TEXTS[i],)) for i in every for j in every]
    expected = load(spec).measure(cases, reading=reading)[:, 0].reshape(block.shape)
    np.testing.assert_allclose(block, expected, atol=2e-6)


def test_blocks_and_single_pairs_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.lab.training.pairs.BLOCK", 2)
    scorer = PairScorer.of(TEXTS, reading=Readings())
    every = np.arange(len(TEXTS))
    blocks = scored_blocks(scorer, scorer.entities, [every], once=False)
    stacked = np.vstack([values.radcliq for _, values, _ in blocks])
    references, candidates = np.divmod(np.arange(len(TEXTS) ** 2), len(TEXTS))
    np.testing.assert_allclose(scorer.paired(references, candidates).radcliq, stacked.ravel(), atol=1e-6)


def test_a_copy_has_the_best_value_there_is() -> None:
    scorer = PairScorer.of(TEXTS, reading=Readings())
    every = np.arange(len(TEXTS))
    # facts of the published model: x = (1, 1)
    np.testing.assert_allclose(np.diag(scorer.block(every, every).radcliq), -0.15507246, atol=1e-5)


def test_texts_without_entities_or_words_cannot_be_scored() -> None:
    scorer = PairScorer.of(["Clear lungs.", "", "XXXX"], reading=Readings())
    assert scorer.judgeable.tolist() == [True, False, False]
    assert len(scorer) == 3
