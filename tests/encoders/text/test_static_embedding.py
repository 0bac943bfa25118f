"""The embedded encoder: what a text's vector may depend on, what lies near what, and what bad tables say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.text.static_embedding import EMBEDDED, StaticEncoder, grams_of, load_table, words_of
from radgauge.text.words import normal_form

ENCODER = StaticEncoder()


def cosine(first: str, second: str, encoder: StaticEncoder = ENCODER) -> float:
    one, other = encoder.encode([first, second])
    return float(one @ other)


def test_rows_have_length_one_and_the_order_of_the_texts() -> None:
    texts = ["pleural effusion", "", "left lower lobe consolidation", "...", "rib"]
    vectors = ENCODER.encode(texts)
    assert vectors.shape == (5, ENCODER.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 0, 1], atol=1e-6)
    np.testing.assert_array_equal(ENCODER.encode(texts[::-1])[::-1], vectors)


def test_a_text_is_encoded_alike_alone_and_among_many() -> None:
    texts = [f"{size} mm nodule in the {side} lobe" for size in range(3000) for side in ("left", "right")] * 4
    together = ENCODER.encode(texts)  # more tokens than fit one pass
    alone = ENCODER.encode(texts[5:6])
    np.testing.assert_allclose(together[5], alone[0], atol=1e-6)
    np.testing.assert_array_equal(together[: len(texts) // 4], together[-len(texts) // 4 :])


def test_no_texts_give_no_rows() -> None:
    assert ENCODER.encode([]).shape == (0, ENCODER.dimensions)


@given(st.lists(st.text(max_size=60), max_size=8))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_a_finite_row(texts: list[str]) -> None:
    vectors = ENCODER.encode(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.isfinite(vectors).all()
    assert ((np.abs(lengths - 1) < 1e-5) | (lengths == 0)).all()


def test_a_very_long_text_is_encoded() -> None:
    assert cosine("pleural effusion " * 20_000, "pleural effusion") == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Pleural Effusions", "pleural effusion"),
        ("oedema", "edema"),
        ("haemorrhage", "hemorrhage"),
        ("air-space opacity", "air space opacity"),
        ("XXXX opacity", "opacity"),
        ("[**Hospital 12**] opacity ___", "opacity"),
    ],
)
def test_spelling_plural_hyphens_and_masks_do_not_matter(first: str, second: str) -> None:
    assert cosine(first, second) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "stranger"),
    [
        ("lung", "pulmonary", "bone"),
        ("heart", "cardiac", "kidney"),
        ("cardiomegaly", "enlarged heart", "pneumothorax"),
        ("pleural effusion", "fluid around the lung", "rib fracture"),
        ("pneumothorax", "collapsed lung", "enlarged heart"),
        ("pneumonia", "pulmonary infection", "fracture"),
        ("kidney stone", "renal calculus", "liver cyst"),
        ("fracture", "broken bone", "swelling"),
        ("endotracheal tube", "breathing tube", "feeding tube"),
    ],
)
def test_synonyms_are_nearer_than_strangers(first: str, second: str, stranger: str) -> None:
    assert cosine(first, second) > max(0.5, cosine(first, stranger) + 0.05)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("left pleural effusion", "right pleural effusion"),
        ("right upper lobe nodule", "left upper lobe nodule"),
        ("upper lobe opacity", "lower lobe opacity"),
        ("mild edema", "severe edema"),
        ("small pneumothorax", "large pneumothorax"),
    ],
)
def test_opposite_attributes_are_apart_yet_related(first: str, second: str) -> None:
    assert 0.3 < cosine(first, second) < 0.85


def test_unknown_words_are_read_by_their_letters() -> None:
    assert "cardiomegalia" not in load_table(EMBEDDED).rows
    assert cosine("cardiomegalia", "cardiomegaly") > 0.5
    assert cosine("cardiomegalia", "cardiomegaly") > cosine("cardiomegalia", "fracture") + 0.2


def test_a_word_of_another_alphabet_equals_itself_only() -> None:
    assert cosine("выпот", "выпот") == pytest.approx(1, abs=1e-6)
    assert abs(cosine("выпот", "перелом")) < 0.5


def test_numbers_without_a_vector_share_one() -> None:
    assert cosine("4711", "1234.5") == pytest.approx(1, abs=1e-6)


def test_known_terms_are_one_token_unless_switched_off() -> None:
    words = StaticEncoder(terms=False)
    term = max(load_table(EMBEDDED).terms, key=len)
    text = " ".join(load_table(EMBEDDED).words[row] for row in term)
    assert ENCODER.encode_tokens(text)[0] == (text,)
    assert words.encode_tokens(text)[0] == tuple(text.split())
    assert ENCODER.signature != words.signature


def test_tokens_and_weights_add_up_to_the_text() -> None:
    text = "The heart is mildly enlarged, zyxwvut."
    tokens, vectors = ENCODER.encode_tokens(text)
    weights = ENCODER.token_weights(text)
    assert len(tokens) == len(vectors) == len(weights)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    summed = (vectors * weights[:, None]).sum(axis=0)
    np.testing.assert_allclose(summed / np.linalg.norm(summed), ENCODER.encode([text])[0], atol=1e-5)
    assert ENCODER.encode_tokens("")[1].shape == (0, ENCODER.dimensions)
    assert weights[tokens.index("the")] < weights[tokens.index("heart")]


def test_it_is_a_reader() -> None:
    first, second, third = Readings().of(ENCODER, ["lung", "heart", "lung"])
    np.testing.assert_array_equal(first, third)
    np.testing.assert_array_equal(second, ENCODER.encode(["heart"])[0])


def test_remembered_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.text.static_embedding._REMEMBERED_WORDS", 10)
    before = ENCODER.encode(["qwertz effusion"])
    ENCODER.encode([f"unseen{'abcdefghijkl'[at]}word" for at in range(12)])
    np.testing.assert_array_equal(ENCODER.encode(["qwertz effusion"]), before)


def test_the_table_is_small_and_speaks_the_normal_forms_of_the_package() -> None:
    assert EMBEDDED.stat().st_size < 6_000_000
    words = [word for word in load_table(EMBEDDED).words if word.isalpha()]
    strange = [word for word in words if normal_form(word) != word]
    # The table must be made again when the rules of normal forms change.
    assert len(strange) < len(words) / 1000, strange[:20]


def test_words_and_grams() -> None:
    assert words_of("L4-L5 disc, 3.5x2 cm XXXX ___") == ["l4", "l5", "disc", "3.5", "x2", "cm"]
    assert grams_of("ab") == ["<ab", "ab>", "<ab>"]


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"static embedding .*none\.npz does not exist"):
        StaticEncoder(path=str(tmp_path / "none.npz")).encode(["lung"])


@pytest.mark.parametrize("content", [b"", b"not a table", EMBEDDED.read_bytes()[:5000]])
def test_a_broken_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="recipes/static_embedding"):
        StaticEncoder(path=str(path)).encode(["lung"])


def test_a_table_of_other_arrays_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, words=np.zeros(3))
    with pytest.raises(ModelError, match="must be a table written by"):
        StaticEncoder(path=str(path)).encode(["lung"])
