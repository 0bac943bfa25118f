"""Cleaning: what no reader sees says nothing, and offsets lead back."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.clean import clean
from radgauge.reader import read_report

PLAIN = "Small left effusion. No fibrosis."


@pytest.mark.parametrize(
    "text",
    [
        "Small&nbsp;left effusion.&#32;No fibrosis.",
        "Sm\u00adall left eff\u200busion. No fibrosis.\ufeff",
        "Small left <b>effusion</b>. No \ufb01brosis.",
        "Small\u00a0left\u2009effusion. No fibrosis.",
        "Small left effusion&#46; No fi&zwnj;brosis.",
        "Small&amp;nbsp;left effusion. No fibrosis.",
        "<!-- draft -->Small left effusion. No <span class='x'>fibrosis</span>.",
    ],
)
def test_the_same_words_come_out(text: str) -> None:
    assert clean(text).text == PLAIN
    assert Case("1", text, (text,)) == Case("1", PLAIN, (PLAIN,))
    plain, other = read_report(PLAIN), read_report(text)
    assert [m.concept for m in other.mentions] == [m.concept for m in plain.mentions]
    assert [clean(text[m.start : m.end]).text for m in other.mentions] == [m.text for m in plain.mentions]


@pytest.mark.parametrize(
    "text", ["Nodule <5 mm, >3 mm.", "A & P; T1 &lt;unknown", "<FINDINGS> Clear.", "C&S; x &foo; y"]
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert clean(text).text.replace("<", "&lt;") == text.replace("<", "&lt;")


@pytest.mark.parametrize(
    "text", ["previously<br>described  deformity .", "<unk> rib", "<p>Clear.</p>", "a\u2010b"]
)
def test_what_a_published_tokenizer_counts_stays_in_a_case(text: str) -> None:
    assert Case("1", text, (text,)).references == (text,)
    assert clean(text).text != text


def test_breaking_tags_end_lines_and_offsets_lead_back() -> None:
    cleaned = clean("<p>Clear.</p><table><tr><td>Edema</td><td>no</td></tr></table>")
    assert cleaned.text.split() == ["Clear.", "Edema", "no"]
    start = cleaned.text.index("Edema")
    assert cleaned.original(start, start + 5) == (28, 33)
    assert clean("plain").starts == ()
