"""The trainable table and the shipped one must agree: same words, same terms, same letters."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from radgauge.text.static_embedding import StaticEncoder

pytestmark = pytest.mark.models
FOLDER = Path(__file__).parents[3] / "recipes" / "static_embedding"
WORDS = ("#", "1", "heart", "enlarged", "cardiomegaly", "lung", "left", "right", "of", "the")
GRAMS = ("<car", "card", "mega", "aly>", "ung", "<lu", "hea")


@pytest.fixture
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The training scripts import each other by name, as they do when they are run."""
    pytest.importorskip("torch")
    if not FOLDER.is_dir():
        pytest.skip("the training scripts are not part of the installed package")
    monkeypatch.syspath_prepend(str(FOLDER))
    names = {path.stem for path in FOLDER.glob("*.py")}
    for name in names & sys.modules.keys():
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("_scripts")
def test_the_written_table_gives_the_vectors_that_were_trained(tmp_path: Path) -> None:
    import torch
    from export import term_vectors, write_table
    from material import Material
    from sources import Concept
    from student import Student

    torch.manual_seed(3)
    student = Student(WORDS, GRAMS, dimensions=64)
    torch.nn.init.normal_(student.own)
    torch.nn.init.normal_(student.parts)
    concept = Concept("cardiomegaly", ("cardiomegaly", "enlarged heart"), lay=("heart of the left",))
    terms = term_vectors(student, {"lexicon": [concept], "hpo": []})
    assert set(terms) == {("enlarged", "heart")}  # a term that names a side keeps the sum of its words
    material = Material(WORDS, GRAMS, (), (), {}, [], (), [], [])
    path = tmp_path / "table.npz"
    write_table(student, material, terms, path=path, name="tiny")

    texts = ["left lung", "cardiomegaly of the heart", "cardiomegalia", "lungen 1", "77"]
    with torch.no_grad():
        expected = student([student.tokens(text) for text in texts]).numpy()
    words_only = StaticEncoder(path=str(path), terms=False)
    cosines = (words_only.encode(texts) * expected).sum(axis=1)
    assert (cosines > 0.98).all()  # what four bits lose

    encoder = StaticEncoder(path=str(path))
    assert encoder.encode_tokens("the enlarged heart")[0] == ("the", "enlarged heart")
    name, term = encoder.encode(["cardiomegaly", "enlarged heart"])
    apart = words_only.encode(["enlarged heart"])[0]
    assert name @ term > name @ apart + 0.1
    assert encoder.signature.startswith("tiny@")


@pytest.mark.usefixtures("_scripts")
def test_four_bits_keep_the_direction() -> None:
    from export import quantise

    vectors = np.random.default_rng(0).normal(size=(50, 256)).astype(np.float32)
    packed, scales = quantise(vectors)
    codes = np.empty(vectors.shape, np.float32)
    codes[:, 0::2], codes[:, 1::2] = packed & 15, packed >> 4
    found = (codes - 8) * scales[:, None]
    cosines = (found * vectors).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.99


@pytest.mark.usefixtures("_scripts")
def test_held_out_concepts_leave_no_name_in_any_source() -> None:
    from sources import Concept
    from tasks import swapped, without

    held = [Concept("a", ("Cardiomegaly", "large heart"), lay=("big heart",))]
    others = [
        Concept("b", ("heart enlargement", "big hearts")),  # the lay term of the held-out concept, in the plural
        Concept("c", ("pleural effusion", "pleural fluid")),
    ]
    assert [concept.key for concept in without(others, held)] == ["c"]
    assert swapped("left upper lobe", "side") == "right upper lobe"
    assert swapped("effusion", "side") == "effusion"
