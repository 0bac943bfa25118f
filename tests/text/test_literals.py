"""A guarded pattern finds what the pattern finds, in any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.findings.findings import knowledge_for
from radgauge.findings.labels import Label, label_rules, labels_in
from radgauge.reader import load_lexicon
from radgauge.text.literals import GuardedPattern, literals_of


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\bpartial(?:ly)?\b|\bincomplete", ("incomplete", "partial")),
        (r"(?<!non)\bdisplaced\b(?! rib)", ("displaced",)),
        (r"(?:up|down)(?:stream|ward)", ("stream", "ward")),  # the longer of the two parts
        (r"a{3}bc|(?:de)+f?", ("bc", "de")),
        (r"types?\b|quadrant", ("quadrant", "type")),
        (r"urgent|urgently", ("urgent",)),
        (r"x|urgent", ()),  # one letter is in every text
        (r"\d+|urgent", ()),
        (r"(?:urgent)?", ()),
        (r"(?:urgent)*|soon", ()),
    ],
)
def test_every_match_holds_one_of_the_words(pattern: str, words: tuple[str, ...]) -> None:
    assert literals_of(re.compile(pattern)) == words


def test_a_text_without_the_words_is_not_searched_and_one_beyond_ascii_is() -> None:
    guarded = GuardedPattern(re.compile("silent", re.IGNORECASE))
    assert guarded.search("No sign.") is None
    found = guarded.search("\u017filent")  # the long s is an s to re.IGNORECASE, and no lower case says so
    assert found is not None
    assert found[0] == "\u017filent"


_rules = knowledge_for(load_lexicon()).rules
_GUARDED = (_rules.limits, _rules.request, _rules.unseen, _rules.acted_on)
_WORDS = sorted(
    {word for each in _GUARDED for word in each.literals}
    | {word for word, _ in label_rules().words}
    | {"CT", "MRI", "7", "50 %", "L4-5", "type II", "sixth", "rib", "not", "non", "\u0130", "the", "- ", "."}
)


@given(st.lists(st.sampled_from(_WORDS) | st.text(max_size=8), max_size=12).map(" ".join), st.booleans())
def test_guards_do_not_change_what_is_found(text: str, upper: bool) -> None:
    text = text.upper() if upper else text
    for guarded in _GUARDED:
        assert guarded.literals
        plain, found = guarded.pattern.search(text), guarded.search(text)
        assert (plain and plain.span()) == (found and found.span())
    may = label_rules().that_may_match(text.lower())
    assert all(rule in may for rule in label_rules().rules if rule.pattern.search(text.lower()))


def test_labels_of_a_sentence_with_several() -> None:
    found = labels_in("Acute displaced fractures of the left sixth and 7th ribs, grade II, 50 % loss at L4-5.")
    assert [each[:2] for each in sorted(found, key=lambda label: label.start)] == [
        ("age", "acute"),
        ("displacement", "displaced"),
        ("rib", "6"),
        ("rib", "7"),
        ("grade", "2"),
        ("percent", "50"),
        ("disc", "l4-l5"),
    ]
    assert labels_in("The heart is normal.") == ()
    assert isinstance(found[0], Label)
