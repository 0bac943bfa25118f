"""Sentences and tokens of reports."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.text.sentences import split_sentences
from radgauge.text.tokens import MASK, phrase_key, tokenize
from radgauge.text.words import normal_form


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The heart is normal. No effusion.", ["The heart is normal.", "No effusion."]),
        ("the heart is normal . no effusion .", ["the heart is normal .", "no effusion ."]),
        ("1. Cardiomegaly. 2. No effusion.", ["Cardiomegaly.", "No effusion."]),
        ("1) Mass 2) Nodule", ["Mass", "Nodule"]),
        ("A 2.5 cm nodule. Stable.", ["A 2.5 cm nodule.", "Stable."]),
        ("Read by Dr. Smith. No change.", ["Read by Dr. Smith.", "No change."]),
        ("Clear.Heart normal.", ["Clear.", "Heart normal."]),
        ("Small left\npleural effusion.", ["Small left\npleural effusion."]),
        ("FINDINGS: Clear\n\nIMPRESSION: Normal", ["FINDINGS: Clear", "IMPRESSION: Normal"]),
        ("- Stable\n- No effusion", ["Stable", "No effusion"]),
        ("No XXXX. Lungs ___ clear.", ["No XXXX.", "Lungs ___ clear."]),
        ("Normal.,2. Mass is seen.", ["Normal.,", "Mass is seen."]),
        ("Atelectasis vs. pneumonia.", ["Atelectasis vs. pneumonia."]),
        ("... !! ,", []),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


@given(st.text(max_size=300))
def test_sentences_keep_every_word(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(st.text(max_size=300))
def test_tokens_stand_where_they_say(text: str) -> None:
    tokens = tokenize(text)
    assert [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)] == list(tokens.texts)
    assert list(tokens.starts) == sorted(set(tokens.starts))


def test_tokens_of_report_text() -> None:
    assert tokenize("T2-weighted, 3rd rib (XXXX) [**Name**] 1,5").norms == (
        *("t", "2", "weighted", ",", "3rd", "rib", "(", MASK, ")", MASK, "1,5"),
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oedema", "edema"),
        ("haemorrhages", "hemorrhage"),
        ("tumours", "tumor"),
        ("oesophageal", "esophageal"),
        ("grey", "gray"),
        ("centre", "center"),
        ("calibre", "caliber"),
        ("masses", "mass"),
        ("opacities", "opacity"),
        ("sinuses", "sinus"),
        ("ischaemia", "ischemia"),
        ("visualised", "visualized"),
    ],
)
def test_spellings_meet(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


def test_words_that_only_look_plural() -> None:
    assert [normal_form(word) for word in ("pelvis", "mass", "thorax", "lens", "this")] == [
        *("pelvis", "mass", "thorax", "lens", "this"),
    ]


def test_hyphens_do_not_matter_in_terms() -> None:
    assert phrase_key("ground-glass opacity") == phrase_key("Ground Glass Opacities")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Fracture of rib 7. No pneumothorax.", ["Fracture of rib 7.", "No pneumothorax."]),
        ("The largest is 12. No nodes.", ["The largest is 12.", "No nodes."]),
        ("1. Fracture of rib 2. No effusion.", ["Fracture of rib 2.", "No effusion."]),
        ("Impression 1. Cardiomegaly 2. No effusion", ["Impression", "Cardiomegaly", "No effusion"]),
        ("1. Heart normal. 2. No effusion.", ["Heart normal.", "No effusion."]),
        ("No cavity to suggest. active infection.", ["No cavity to suggest. active infection."]),
        ("no cavity. active infection.", ["no cavity.", "active infection."]),
    ],
)
def test_numbers_and_slips_at_the_end_of_a_sentence(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences
