"""Count heads learn in the one loop, on an encoder and on the sketch, and `crepe` scores what they wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parity_scripts import parity_script
from scipy.stats import kendalltau

import radgauge as rg
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.judgments import error_scores
from radgauge.lab.training.estimator import train_estimator
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import count_pairs
from radgauge.metrics.crepe import Crepe

pytestmark = pytest.mark.models
pytest.importorskip("torch")
pytest.importorskip("transformers")

FINDINGS = ("pleural effusion", "pneumothorax", "cardiomegaly", "consolidation", "rib fracture", "edema")


def judgments(start: int, number: int) -> Judgments:
    """Pairs whose candidate invents and omits some of the findings: false findings and omissions are known."""
    rng = np.random.default_rng(start)
    cases, counts = [], []
    for at in range(start, start + number):
        reference, candidate = (rng.random(len(FINDINGS)) < 0.5 for _ in range(2))
        texts = [
            " ".join(
                f"{'There is' if there else 'No'} {name}." for name, there in zip(FINDINGS, side, strict=True)
            )
            for side in (reference, candidate)
        ]
        cases.append(Case(str(at), texts[1], (texts[0],)))
        for category, errors in ((1, candidate & ~reference), (2, reference & ~candidate)):
            counts.append((cases[-1].key, "reader", category, True, float(errors.sum())))
    keys = tuple(case.key for case in cases)
    return Judgments("written", tuple(cases), error_scores(counts, keys=keys, signature="written"))


def test_judged_pairs_become_counts_of_six_categories() -> None:
    table = count_pairs(judgments(0, 5))
    assert table.target.shape == (5, 6)
    assert (table.target[:, 2:] == 0).all()
    key = ("1", "system")
    counts = error_scores([], keys=(key,), signature="x", judged={"reader": {key}})
    empty = Judgments("x", (Case("1", "", ("",)),), counts)
    with pytest.raises(InputError, match="errors counted by category"):
        count_pairs(empty)


def test_categories_that_nobody_counted_teach_nothing() -> None:
    import torch

    from radgauge.lab.training.count_heads import count_loss

    predicted = torch.zeros(2, 12)
    target = torch.tensor([[1.0, torch.nan, 0, 0, 0, 0], [torch.nan, 2.0, 0, 0, 0, 0]])
    loss = count_loss(predicted, target)
    predicted[0, 1] = predicted[1, 6] = 100.0
    assert count_loss(predicted, target) == loss
    predicted[0, 0] = 100.0
    assert count_loss(predicted, target) > loss


def test_heads_on_the_sketch_learn_counts_and_crepe_reads_them(tmp_path: Path) -> None:
    settings = EstimatorSettings.for_counts("embedded", epochs=12, batch_size=32, hidden_sizes=(16,))
    tables = [count_pairs(judgments(start, number)) for start, number in ((0, 300), (1000, 60))]
    trained = train_estimator(*tables, folder=tmp_path, settings=settings)
    assert trained.best.val_kendall > 0.6
    other = judgments(5000, 60)
    scores = rg.score(list(other.cases), [Crepe(models=str(tmp_path / "crepe_embedded.npz"))])["crepe"]
    assert scores.columns[:2] == ("crepe_embedded", "crepe_false_finding_embedded")
    wanted = count_pairs(other).target
    for column, category in ((1, 0), (2, 1)):
        right = np.corrcoef(scores.values[:, column], wanted[:, category])[0, 1]
        crossed = np.corrcoef(scores.values[:, column], wanted[:, 1 - category])[0, 1]
        assert right > 0.5 > crossed  # a head learned its own category
    assert scores.values[:, 3:].mean() < 0.1  # and not those that never occur


def test_heads_on_an_encoder_are_a_checkpoint_in_crepes_layout(tmp_path: Path) -> None:
    seeded = parity_script("seeded")
    encoder = seeded.encoder(tmp_path / "bert", kind="bert")
    table, validation = count_pairs(judgments(0, 24)), count_pairs(judgments(1000, 12))
    settings = EstimatorSettings.for_counts(str(encoder), epochs=1, device="cpu")
    folder = tmp_path / "out"
    trained = train_estimator(table, validation, folder=folder, settings=settings)
    scores = rg.score(list(judgments(1000, 12).cases), [Crepe(models=str(folder))])["crepe"]
    assert scores.columns[0] == "crepe"
    assert np.isfinite(trained.best.train_loss)

    # Scored without padding by the metric, and with it by the loop: the same order, so the same tau.
    tau = kendalltau(scores.headline, validation.target.sum(axis=1)).statistic
    assert tau == pytest.approx(trained.best.val_kendall, abs=0.02)
