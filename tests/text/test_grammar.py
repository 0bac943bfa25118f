"""One grammar for changed reports and for plain language."""

from __future__ import annotations

import pytest

from radgauge.lay.plain_sentences import mixed_text, write_plain
from radgauge.text.grammar import article, is_counted, is_plural, plural


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *[(word, "a") for word in ("uniform", "unit", "urine system", "ureteral stone", "uterine mass", "one")],
        *[(word, "an") for word in ("unremarkable", "unimpressive", "unidentified", "ulcer", "hour", "outline")],
        *[(word, "a") for word in ("CT", "UTI", "US", "PICC line", "FLAIR signal", "STIR", "SMALL EFFUSION")],
        *[(word, "an") for word in ("MRI", "MRI sign", "NG tube", "LVAD", "NSIP", "IV line", "SAH", "UPPER lobe")],
        *[(word, "an") for word in ("8 mm", "18 mm", "80", "11", "11-mm nodule", "8.5 cm")],
        *[(word, "a") for word in ("1.1 cm", "110 mm", "7 mm", "NEW MASS", "LARGE MASS")],
    ],
)
def test_article_follows_the_sound(word: str, expected: str) -> None:
    assert article(word) == expected


@pytest.mark.parametrize(
    "one", ["gas", "bowel gas", "pancreas", "lens of the eye", "mass", "pelvis", "abscess", "series"]
)
def test_words_in_s_that_are_one(one: str) -> None:
    assert not is_plural(one)


@pytest.mark.parametrize("several", ["lungs", "hila", "vertebrae", "foci", "emboli", "teeth", "tubes seen in"])
def test_words_that_are_several(several: str) -> None:
    assert is_plural(several)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("tooth", "teeth"),
        ("vertebra", "vertebrae"),
        ("mass", "masses"),
        ("cyst in the kidney", "cysts in the kidney"),
        ("area above the collarbone", "areas above the collarbone"),
        ("extra small bone, harmless", "extra small bones, harmless"),
        ("widened, damaged tube", "widened, damaged tubes"),
        ("arthritis", "arthritis"),
        ("diagnosis", "diagnoses"),
    ],
)
def test_plural_at_the_head(one: str, many: str) -> None:
    assert plural(one) == many


def test_what_takes_no_article() -> None:
    assert not is_counted("mild pulmonary edema")
    assert not is_counted("appendicitis")
    assert is_counted("flattened diaphragm")


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Bowel gas is seen.", "Bowel gas is seen."),
        ("Lung mass.", "There is a lump (mass) in your lungs."),
        ("Lung masses.", "There are lumps (masses) in your lungs."),
    ],
)
def test_plain_sentences_agree(said: str, plain: str) -> None:
    assert mixed_text(write_plain(said)) == plain
