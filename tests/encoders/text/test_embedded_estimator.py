"""The sketch of a report, the head in numpy, and the file that ships."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.encoders.text import feed_forward
from radgauge.encoders.text.embedded_estimator import EMBEDDED, load_embedded, save_embedded
from radgauge.encoders.text.feed_forward import Head, head_of
from radgauge.encoders.text.report_sketch import CLAIMS, ReportSketch

TEXTS = ["No pleural effusion.", "Small left pleural effusion. Clear right lung.", "Unrelated words here."]


def random_head(size: int, *, hidden: int = 5, **names: str) -> Head:
    rng = np.random.default_rng(0)
    shapes = [(hidden, 4 * size), (3, hidden), (1, 3)]
    layers = [(rng.normal(size=shape) / 4, rng.normal(size=shape[0])) for shape in shapes]
    return head_of(layers, **{"activation": "Tanh", **names})


def test_the_head_is_the_formula() -> None:
    head = random_head(2, final_activation="Sigmoid")
    vectors = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
    h, s = vectors[1], vectors[0]
    value = np.concatenate([h, s, h * s, abs(h - s)])
    for at, (weight, bias) in enumerate(zip(head.weights, head.biases, strict=True)):
        value = weight @ value + bias
        value = np.tanh(value) if at < 2 else 1 / (1 + np.exp(-value))
    found = head.score(vectors, candidate=np.array([1]), reference=np.array([0]))
    assert found == pytest.approx(value, abs=1e-6)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    head, rng = random_head(8), np.random.default_rng(1)
    vectors = rng.normal(size=(20, 8)).astype(np.float32)
    pairs = {"candidate": rng.integers(0, 20, 50), "reference": rng.integers(0, 20, 50)}
    whole = head.score(vectors, **pairs)
    monkeypatch.setattr(feed_forward, "PAIRS_AT_ONCE", 7)
    np.testing.assert_allclose(head.score(vectors, **pairs), whole, rtol=1e-5)


@pytest.mark.parametrize("name", ["sigmoid", "identity", "softplus", "softsign", "Tanh"])
def test_known_activations(name: str) -> None:
    assert np.isfinite(
        random_head(2, activation=name).score(
            np.eye(2, dtype=np.float32), candidate=np.array([0]), reference=np.array([1])
        )
    )


def test_an_unknown_activation_is_refused() -> None:
    with pytest.raises(ModelError, match=r"activation must be one of .*got 'Relu'"):
        random_head(2, activation="Relu")


def test_a_sketch_keeps_what_reports_share() -> None:
    sketch = ReportSketch()
    one, two, other = sketch.vectors(TEXTS, reading=Readings())
    assert one.shape == (sketch.dimensions,)
    words = slice(0, sketch.sizes[0])
    assert np.linalg.norm(one[words]) == pytest.approx(sketch.scale, rel=1e-5)
    assert one[words] @ two[words] > one[words] @ other[words]


def test_claims_weigh_what_two_reports_tell_differently() -> None:
    sketch = ReportSketch(CLAIMS)
    told = ["Pneumothorax.", "Pneumothorax is present.", "No pneumothorax.", "Pneumothorax. Old rib fracture."]
    base, same, denied, more = sketch.vectors(told, reading=Readings())[:, : CLAIMS[-1]]
    assert sketch.dimensions == CLAIMS[-1] + 1
    np.testing.assert_array_equal(base, same)
    assert 0 < np.abs(base - more).sum() < np.abs(base - denied).sum()


@pytest.mark.parametrize("sizes", [(512, 512, 256, 256), CLAIMS])
def test_a_sketch_depends_on_its_text_alone(sizes: tuple[int, ...]) -> None:
    sketch = ReportSketch(sizes)
    together = sketch.vectors(TEXTS, reading=Readings())
    alone = np.vstack([sketch.vectors([text], reading=Readings()) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)
    assert sketch.vectors([], reading=Readings()).shape == (0, sketch.dimensions)


def test_writing_and_reading_keep_the_scores(tmp_path: Path) -> None:
    sketch = ReportSketch((16, 16, 8, 8))
    head = random_head(sketch.dimensions)
    save_embedded(tmp_path / "e.npz", head, sketch=sketch, about={"target": "bleu2"})
    found = load_embedded(tmp_path / "e.npz")
    assert (found.sketch, found.about["target"]) == (sketch, "bleu2")
    vectors = sketch.vectors(TEXTS, reading=Readings())
    pairs = {"candidate": np.array([0, 1]), "reference": np.array([1, 2])}
    np.testing.assert_allclose(found.head.score(vectors, **pairs), head.score(vectors, **pairs), atol=0.02)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        load_embedded(tmp_path / "none.npz")
    (tmp_path / "half.npz").write_bytes(EMBEDDED.read_bytes()[:5000])
    with pytest.raises(ModelError, match="must be an estimator that radgauge wrote"):
        load_embedded(tmp_path / "half.npz")
    save_embedded(tmp_path / "odd.npz", random_head(7), sketch=ReportSketch((16, 16, 8, 8)), about={})
    with pytest.raises(ModelError, match="this radgauge makes version 1 with 52"):
        load_embedded(tmp_path / "odd.npz")


def test_the_file_that_ships_is_small_and_says_what_it_is() -> None:
    assert EMBEDDED.stat().st_size < 2_000_000
    about = load_embedded().about
    assert (about["target"], about["higher_is_better"]) == ("errors_quality", True)
    assert load_embedded().sketch.sizes == CLAIMS
    assert about["validation"]["val_kendall"] >= 0.70
