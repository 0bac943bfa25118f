"""Tokenizers against the programs they follow."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.core.errors import UsageError
from radgauge.text.tokenizers import (
    TOKENIZERS,
    TokenReader,
    alphanumeric,
    check_tokenizer,
    locate,
    mteval_13a,
    words,
)

REPORT_LIKE = st.text(alphabet="ab1 2.,;:-/()[]\"'\n\t&<>İß", max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No effusion.", ["No", "effusion", "."]),
        ("2.5 cm, 1,000 ml at 10:30.", ["2.5", "cm", ",", "1,000", "ml", "at", "10:30", "."]),
        ("T11-T12/L1 (stable)", ["T11-T12/L1", "(", "stable", ")"]),
        (".5 and 5.", [".", "5", "and", "5", "."]),
        ("patient's [heart]", ["patient's", "[", "heart", "]"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(REPORT_LIKE)
def test_words_keeps_every_visible_character_and_is_stable(text: str) -> None:
    found = words(text)
    assert "".join(found) == "".join(text.split())
    assert words(" ".join(found)) == found


def test_words_equals_blanks_on_cleaned_text(shared_data: Path) -> None:
    """Why published numbers are met: 590 references cleaned by the field's script."""
    path = shared_data / "iu_xray_systems" / "test590_systems.csv"
    with path.open(newline="", encoding="utf-8") as file:
        cleaned = [record["reference_r2gen_cleaned"] for record in csv.DictReader(file)]
    assert [words(text) for text in cleaned] == [text.split() for text in cleaned]


@given(REPORT_LIKE | st.text(alphabet="ab{|}~[\\]^_`!\"#$%&()*+:;<=>?@/.,-' \n", max_size=30))
def test_13a_equals_sacrebleu(text: str) -> None:
    tokenizer = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a")
    assert mteval_13a(text) == tokenizer.Tokenizer13a()(text).split()


@given(st.text(max_size=60) | REPORT_LIKE)
def test_alphanumeric_equals_rouge_score(text: str) -> None:
    tokenize = pytest.importorskip("rouge_score.tokenize")
    assert alphanumeric(text.lower()) == tokenize.tokenize(text, None)


def test_stems_equal_nltk(shared_data: Path) -> None:
    porter = pytest.importorskip("nltk.stem.porter")
    text = (shared_data / "mtsamples" / "mtsamples_radiology.csv").read_text(encoding="utf-8")
    vocabulary = sorted(set(re.findall(r"[a-z0-9]{4,}", text.lower())))
    assert len(vocabulary) > 3000
    theirs = porter.PorterStemmer()
    ours = TokenReader("alphanumeric", stemmer=True).read(vocabulary)
    assert [word for (word,) in ours] == [theirs.stem(word) for word in vocabulary]


@given(st.text(alphabet="abdegilnosty", min_size=3, max_size=12))
def test_stems_of_any_letters_equal_nltk(word: str) -> None:
    porter = pytest.importorskip("nltk.stem.porter")
    from radgauge.text.tokenizers import stem

    assert stem(word) == porter.PorterStemmer().stem(word)


def test_short_words_are_not_stemmed() -> None:
    assert TokenReader("alphanumeric", stemmer=True).read(["Has lungs"]) == [("has", "lung")]


@given(st.text(max_size=40) | REPORT_LIKE, st.sampled_from(sorted(TOKENIZERS)))
def test_located_words_lie_in_the_text_in_order(text: str, tokenizer: str) -> None:
    (found,) = TokenReader(tokenizer).read([text])
    spans = [span for span in locate(text, found) if span is not None]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[0] <= b[0] for a, b in pairwise(spans))


def test_locate_counts_the_characters_of_the_original() -> None:
    text = "İİ effusion"
    assert locate(text, [text.lower().split()[0], "effusion"]) == [(0, 2), (3, 11)]
    assert locate("a &amp; b", ["a", "&x", "b"]) == [(0, 1), None, (8, 9)]


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(UsageError, match=r"bleu: tokenizer must be one of .*got 'ptb'"):
        check_tokenizer("ptb", allowed=("words", "13a"), metric="bleu")
