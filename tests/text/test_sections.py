"""Sections: headings wherever people and models put them, and none where there are none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.text.sections import CANONICAL, choose_section, has_headings, split_sections


def parts(text: str) -> list[tuple[str, str]]:
    return [(section.name, text[section.start : section.end]) for section in split_sections(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Lungs are clear.", [("preamble", "Lungs are clear.")]),
        ("FINDINGS: Clear.\nIMPRESSION: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("Findings:Stable.Impression:No change.", [("findings", "Stable."), ("impression", "No change.")]),
        ("Findings: clear Impression: normal", [("findings", "clear"), ("impression", "normal")]),
        ("findings : clear . impression : normal .", [("findings", "clear ."), ("impression", "normal .")]),
        ("## Findings\nClear.\n\n**Impression:** Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("**FINDINGS**:\nClear.\n__Conclusion__: ok", [("findings", "Clear."), ("impression", "ok")]),
        ("FINDINGS\nClear.\nIMPRESSION\n1. Normal", [("findings", "Clear."), ("impression", "1. Normal")]),
        ("EXAM: , CT.,FINDINGS:  ,Clear.,", [("examination", "CT."), ("findings", "Clear.")]),
        ("FINDINGS:\nLUNGS: Clear.\nHEART: Normal.", [("findings", "LUNGS: Clear.\nHEART: Normal.")]),
        ("CT. FINDINGS AND IMPRESSION: Clear.", [("preamble", "CT."), ("findings and impression", "Clear.")]),
        ("REASON  FOR EXAM: Cough. FINDINGS: x", [("indication", "Cough."), ("findings", "x")]),
        ("FINDINGS: IMPRESSION: Normal.", [("findings", ""), ("impression", "Normal.")]),
    ],
)
def test_headings(text: str, expected: list[tuple[str, str]]) -> None:
    assert parts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "In comparison: no change.",
        "The findings: are stable",
        "Cough, history: none given",  # lower case: a word of a sentence
        "a prior\nstudy\nshowed this",
        "Impression of the liver on the kidney.",
        "these findings\nare stable",
    ],
)
def test_words_that_are_no_headings(text: str) -> None:
    assert parts(text) == [("preamble", text)]
    assert not has_headings(text)


def test_choosing() -> None:
    report = "INDICATION: Cough. FINDINGS: Clear. IMPRESSION: Normal. ADDENDUM: None."
    assert choose_section(report, "findings") == "Clear."
    assert choose_section(report, "impression") == "Normal."
    assert choose_section(report, "both") == "Clear.\nNormal."
    assert choose_section(report, "whole") == report
    assert choose_section("Clear.", "findings") is None
    assert choose_section("Clear.", "whole") == "Clear."
    assert choose_section("IMPRESSION: Normal.", "findings") == ""
    together = "FINDINGS AND IMPRESSION: Clear."
    assert [choose_section(together, name) for name in ("findings", "impression", "both")] == ["Clear."] * 3
    twice = "FINDINGS: A. IMPRESSION: B. FINDINGS: C."
    assert choose_section(twice, "findings") == "A.\nC."


def test_only_findings_and_impression_count_as_headings() -> None:
    assert has_headings("Impression: x")
    assert not has_headings("INDICATION: Cough. The lungs are clear.")


@given(st.lists(st.sampled_from([*CANONICAL, "FINDINGS:", "Impression:", "clear.", "\n", "**", "## ", ", ", "x"])))
def test_sections_tile_the_text_in_order(words: list[str]) -> None:
    text = " ".join(words)
    sections = split_sections(text)
    position = 0
    for section in sections:
        assert position <= section.start <= section.end <= len(text)
        position = section.end
    for name in ("findings", "impression", "both"):
        assert choose_section(text, name) is None or isinstance(choose_section(text, name), str)


def test_real_transcripts_mostly_have_findings_or_impression(shared_data: Path) -> None:
    with (shared_data / "mtsamples" / "mtsamples_radiology.csv").open(encoding="utf-8") as stream:
        texts = [row["transcription"] for row in csv.DictReader(stream)]
    found = sum(has_headings(text) for text in texts)
    assert found / len(texts) > 0.5
