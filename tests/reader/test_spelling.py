"""Shorthand written out, misspelled words mended, a capital L or R as a side; real words left as they are."""

from __future__ import annotations

import pytest

from radgauge.reader import load_lexicon, read_report
from radgauge.reader.compile import load_vocabulary
from radgauge.text.tokens import tokenize


def _read(text: str) -> list[tuple[str, str, str]]:
    return [
        (mention.concept, mention.assertion, mention.attributes.laterality)
        for mention in read_report(text).mentions
        if mention.kind not in ("anatomy", "normality", "open")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sm R eff, no ptx.", [("pleural_effusion", "present", "right"), ("pneumothorax", "absent", "")]),
        ("Mod centrilob emphysma.", [("centrilobular_emphysema", "present", "")]),
        ("Acute L rib fxs.", [("rib_fracture", "present", "left")]),
        ("Bilat eff L>R w compr atelect.", [("pleural_effusion", "present", "bilateral")]),
        ("No cardiomeglay or consolidaton.", [("cardiomegaly", "absent", ""), ("consolidation", "absent", "")]),
        ("Opacty beside the aneursym.", [("lung_opacity", "present", ""), ("aneurysm", "present", "")]),
    ],
)
def test_telegraphic_and_misspelled_words_are_read(text: str, expected: list[tuple[str, str, str]]) -> None:
    read = _read(text)
    assert read[: len(expected)] == expected


@pytest.mark.parametrize(
    "text",
    ["L4-L5 disc bulge.", "L-spine: disc bulge.", "R/O disc bulge.", "Grade I/L disc bulge."],
)
def test_a_letter_that_is_part_of_something_else_is_no_side(text: str) -> None:
    assert all(mention.attributes.laterality == "" for mention in read_report(text).mentions)


@pytest.mark.parametrize(
    "word", ["confusion", "injected", "nothing", "contacted", "simulation", "displayed", "mobility", "resolve"]
)
def test_a_word_of_its_own_is_not_mended(word: str) -> None:
    spelling = load_vocabulary().spelling
    assert spelling.tokens(f"the {word} there").norms[1] == tokenize(word).norms[0]


def test_offsets_are_those_of_the_text_as_written() -> None:
    reading = read_report("Lg R eff.")
    (mention,) = reading.mentions
    assert reading.text[mention.start : mention.end] == mention.text == "eff"


def test_every_short_form_is_one_word_that_stands_for_one_known_word() -> None:
    table = load_lexicon().tables["shorthand"]["shorthand"]
    vocabulary = load_vocabulary()
    forms = [form for group in table.values() for form in group]
    assert len(forms) == len(set(forms))
    for word, group in table.items():
        assert len(tokenize(word).norms) == 1
        assert tokenize(word).norms[0] in vocabulary.terms
        assert all(len(tokenize(form).norms) == 1 for form in group)
