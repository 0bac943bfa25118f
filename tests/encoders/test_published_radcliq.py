"""RadCliQ on published parts: one folder holds every checkpoint, and the contract is kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import radgauge as rg
from radgauge.metrics.radcliq import RadCliQ, composite
from radgauge.run.contract import CHECKS, Bench

pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def folder(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seeded checkpoints under their published names."""
    root = tmp_path_factory.mktemp("published")
    seeded.radgraph(root)
    seeded.chexbert(root)
    six = dataclasses.replace(seeded.SMALL, layers=6)
    seeded.encoder(root / "distilroberta-base", size=six, positions=128)
    return root


def test_the_parts_are_put_together(folder: Path, seeded: ModuleType) -> None:
    metric = RadCliQ(models=str(folder))
    assert metric.columns == ("radcliq_v1",)
    for part in ("radgraph@", "chexbert@", "distilroberta-base@", "distilroberta-base:5"):
        assert part in metric.signature()
    pairs = seeded.PAIRS[:5]
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(pairs)]
    scores = rg.score(cases, [metric])["radcliq"]
    parts = metric.part_scores([a for a, _ in pairs], [b for _, b in pairs], reading=rg.Readings())
    assert scores.headline == pytest.approx(composite("v1").predict(parts))
    assert not np.isnan(parts).any()


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
def test_contract(folder: Path, check) -> None:
    check(Bench(RadCliQ(models=str(folder), empty="nan"), reading=rg.Readings()))
