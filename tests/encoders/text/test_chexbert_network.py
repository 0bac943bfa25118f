"""The CheXbert network equals f1chexbert 0.0.2 on a seeded checkpoint; bad checkpoints are refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import ModelError
from radgauge.core.metric import sums
from radgauge.encoders.text import chexbert_network
from radgauge.encoders.text.chexbert_labels import CONDITIONS
from radgauge.encoders.text.chexbert_network import chexbert_reader
from radgauge.metrics.chexbert import Chexbert
from radgauge.metrics.chexbert_similarity import ChexbertSimilarity

from ..conftest import fixture

pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def folder(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A seeded checkpoint and its vocabulary."""
    return seeded.chexbert(tmp_path_factory.mktemp("chexbert")).parent


@pytest.mark.smoke
def test_labels_and_embeddings(folder: Path) -> None:
    expected = fixture("chexbert")
    texts = list(expected["labels"])
    found = chexbert_reader(str(folder)).read(texts)
    codes = {"": 0, 1: 1, 0: 2, -1: 3}
    for text, reading in zip(texts, found, strict=True):
        assert list(reading.classes) == [codes[label] for label in expected["labels"][text]]
        assert reading.embedding == pytest.approx(np.array(expected["embeddings"][text]), abs=2e-5)
    assert {cls for reading in found for cls in reading.classes} == {0, 1, 2, 3}


def test_averages(folder: Path, seeded: ModuleType) -> None:
    expected = fixture("chexbert")
    metric = Chexbert(models=str(folder), per_condition=True, empty="read")
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(seeded.PAIRS)]
    scores = rg.score(cases, [metric])["chexbert"]
    corpus = dict(zip(metric.columns, metric.corpus_scores(*sums(scores.rows)), strict=True))
    for size in ("14", "5"):
        for average in ("micro", "macro", "weighted"):
            value = expected[f"report_{size}"][f"{average} avg"]["f1-score"]
            assert corpus[f"chexbert_{size}_{average}_f1"] == pytest.approx(value, abs=1e-8)
    for name in CONDITIONS:
        value = expected["report_14"][name]
        mine = corpus[f"chexbert_{name.lower().replace(' ', '_')}_f1"]
        # scikit-learn says 0 where a condition never occurs; we say that there is no value
        assert (np.isnan(mine) and value["f1-score"] == 0) or mine == pytest.approx(value["f1-score"], abs=1e-8)
    assert corpus["chexbert_5_exact"] == pytest.approx(expected["accuracy"])
    assert scores.column("chexbert_5_exact").tolist() == expected["exact"]


def test_similarity_is_the_cosine_of_the_embeddings(folder: Path, seeded: ModuleType) -> None:
    vectors = {text: np.array(each) for text, each in fixture("chexbert")["embeddings"].items()}
    pairs = seeded.PAIRS[:6]
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(pairs)]
    scores = rg.score(cases, [ChexbertSimilarity(models=str(folder), empty="read")])["chexbert_similarity"]
    for value, (a, b) in zip(scores.headline, pairs, strict=True):
        cosine = vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b])
        assert value == pytest.approx(cosine, abs=1e-6)
    assert scores.columns == ("chexbert_similarity",)
    assert "chexbert@" in scores.signature


def test_long_texts_are_told_from_others(folder: Path, seeded: ModuleType) -> None:
    assert chexbert_reader(str(folder)).overlong([seeded.LONG * 3, "No effusion."]) == [True, False]


def test_readings_survive_the_cache(folder: Path) -> None:
    reader = chexbert_reader(str(folder))
    reading = reader.read(["No effusion."])[0]
    packed = reader.pack(reading, "No effusion.")
    assert len(packed) == 14 + 4 * len(reading.embedding)  # classes and numbers: there is no room for words
    again = reader.unpack(packed, "No effusion.")
    assert again.classes == reading.classes
    assert (again.embedding == reading.embedding).all()
    with pytest.raises(ValueError, match="too short"):
        reader.unpack(b"1234", "")


def test_a_checkpoint_of_the_wrong_shape(folder: Path, tmp_path: Path) -> None:
    import torch

    spoiled = Path(shutil.copytree(folder, tmp_path / "own"))
    stored = torch.load(spoiled / "chexbert.pth", weights_only=True)
    stored["model_state_dict"]["module.linear_heads.3.weight"] = torch.zeros(4, 7)
    stored["model_state_dict"]["module.bert.more"] = torch.zeros(1)
    del stored["model_state_dict"]["module.linear_heads.5.bias"]
    torch.save(stored, spoiled / "chexbert.pth")
    chexbert_network._load.cache_clear()
    with pytest.raises(
        ModelError,
        match=r"1 missing: linear_heads.5.bias; 1",
    ):
        chexbert_reader(str(spoiled)).read(["x"])


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"must hold chexbert\.pth"):
        chexbert_reader(str(tmp_path))
    (tmp_path / "chexbert.pth").write_bytes(b"no")
    with pytest.raises(ModelError, match=r"must hold the vocabulary and config\.json"):
        chexbert_reader(str(tmp_path))


def test_published_says_how_to_get_it() -> None:
    with pytest.raises(ModelError, match=r"forbids fetching it; .* radgauge models fetch chexbert"):
        chexbert_reader("published")
