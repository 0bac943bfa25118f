"""CREPE equals the authors' code on a seeded checkpoint; cuts are counted, what cannot be judged has a reason."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from parity_scripts import parity_script

import radgauge as rg
from radgauge.core.errors import ModelError
from radgauge.core.readings import pair_text, split_pair
from radgauge.metrics.crepe import Crepe

FIXTURE = Path(__file__).parents[1] / "data" / "parity" / "crepe" / "fixture.json"


def test_a_pair_is_split_where_it_was_joined() -> None:
    assert split_pair(pair_text("a\x1eb", "\x1ec")) == ("ab", "c")


@pytest.fixture(scope="session")
def seeded() -> ModuleType:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return parity_script("seeded")


@pytest.fixture(scope="session")
def folder(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeded.crepe(tmp_path_factory.mktemp("crepe"))


def scored(pairs: list[tuple[str, str]], folder: Path) -> rg.Scores:
    cases = [rg.Case(str(at), candidate, (reference,)) for at, (candidate, reference) in enumerate(pairs)]
    return rg.score(cases, [Crepe(models=str(folder))])["crepe"]


@pytest.mark.models
def test_counts_of_100_pairs_are_those_of_the_authors(seeded: ModuleType, folder: Path) -> None:
    import json

    expected = np.array(json.loads(FIXTURE.read_text())["counts"])
    scores = scored(seeded.crepe_pairs(), folder)
    assert len(expected) == 100
    assert np.abs(scores.values - expected).max() < 1e-5
    # The fixture could refute it: counts are clipped, differ from pair to pair, and depend on the order.
    assert (expected[:, 1:] == 0).mean() > 0.1
    assert np.ptp(expected[:, 0]) > 1
    turned = scored([(b, a) for a, b in seeded.crepe_pairs()], folder)
    assert np.abs(scores.values - turned.values).max() > 0.1
    assert {key[0] for key in scores.truncated} == {"96", "97", "98", "99"}


@pytest.mark.models
def test_the_better_reference_counts_and_texts_without_words_are_not_judged(folder: Path) -> None:
    references = ("The heart is mildly enlarged.", "No pneumothorax.")
    alone = scored([("No pneumothorax.", reference) for reference in references], folder).headline
    both = rg.score([rg.Case("1", "No pneumothorax.", references)], [Crepe(models=str(folder))])["crepe"]
    assert both.headline[0] == pytest.approx(alone.min(), abs=1e-6)
    empty = scored([(".", "No pneumothorax."), ("No pneumothorax.", "...")], folder)
    assert np.isnan(empty.values).all()
    assert sorted(empty.reasons.values()) == ["candidate has no words", "reference has no words"]


@pytest.mark.models
def test_incomplete_checkpoints_are_refused(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    other = tmp_path / "other"
    shutil.copytree(folder, other)
    state = load_file(other / "model.safetensors")
    del state["error_regressors.5.bias"]
    save_file(state, other / "model.safetensors")
    with pytest.raises(ModelError, match=r"1 missing: error_regressors\.5\.bias"):
        scored([("No pneumothorax.", "No pneumothorax.")], other)
    (other / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        scored([("No pneumothorax.", "No pneumothorax.")], other)
