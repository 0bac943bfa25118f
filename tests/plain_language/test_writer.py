"""The plain-language writer keeps what a report says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.cases import Case
from radgauge.metric import sums
from radgauge.metrics.lay_fidelity import LayFidelity
from radgauge.plain_language.lay_reader import LayReader, lay_class, lay_lexicon, plain_term
from radgauge.plain_language.rules import lay_rules
from radgauge.plain_language.writer import plain_language
from radgauge.reading import Readings
from radgauge.report_reader import load_lexicon


@pytest.mark.parametrize(
    ("report", "lay"),
    [
        ("No pneumothorax.", "There is no air leak around the lung."),
        ("The heart is normal in size.", "The heart is normal in size."),
        ("Lungs are clear.", "Both lungs are clear."),
        ("Mild cardiomegaly.", "There is a slightly enlarged heart."),
        ("Possible left lower lobe pneumonia.", "There may be pneumonia in the lower section of the left lung."),
        ("Large right pleural effusion.", "There is a large amount of fluid around the lung on the right."),
        ("No large pleural effusion.", "There is no large amount of fluid around the lung."),
        (
            "Stable small bilateral pleural effusions.",
            "There is a small amount of fluid around the lung on both sides, the same as before.",
        ),
        ("The trachea is midline.", "The windpipe is in the middle where it should be."),
        ("", ""),
    ],
)
def test_writes_short_plain_sentences(report: str, lay: str) -> None:
    assert plain_language(report) == lay


def test_keeps_numbers() -> None:
    assert "6 mm" in plain_language("There is a 6 mm calcified granuloma in the right lung base.")


def test_a_sentence_that_is_not_understood_keeps_its_words() -> None:
    lay = plain_language("The patient's quixotic catheter sits near the cardiac apex XXXX.")
    assert "quixotic" in lay
    assert "XXXX" in lay


def test_abbreviations_and_latin_plurals() -> None:
    assert plain_language("No pneumothoraces.") == "There are no air leaks around the lung."
    assert "CT scan" in plain_language("Prior CT was reviewed by quixotic means.")


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_written(text: str) -> None:
    assert isinstance(plain_language(text), str)


def test_rules_name_concepts_of_the_lexicon() -> None:
    lexicon, rules = load_lexicon(), lay_rules()
    assert not [name for name in (*rules.terms, *rules.synonyms) if name not in lexicon]


def test_every_term_of_the_rules_is_read_back() -> None:
    lexicon = lay_lexicon()
    wrong = {}
    for name, term in lay_rules().terms.items():
        found = [mention.concept for mention in LayReader().read([f"There is a {term}."])[0].mentions]
        if lay_class(name) not in found and name not in found and lexicon[name].kind != "anatomy":
            wrong[name] = found
    assert not wrong


def test_shared_terms_mean_the_most_general_concept() -> None:
    lexicon = load_lexicon()
    assert plain_term(lexicon["spondylosis"]) == plain_term(lexicon["degenerative_spine_change"])
    assert lay_class("spondylosis") == "degenerative_spine_change"
    assert lay_class("pleural_effusion") == "pleural_effusion"


def test_indiana_findings_get_easier_and_stay_right(shared_data: Path) -> None:
    pytest.importorskip("pyphen")
    from radgauge.text.readability import readability

    with (shared_data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["findings"] for row in csv.DictReader(file) if row["findings"]][::40]
    cases = [Case(str(number), plain_language(text), (text,)) for number, text in enumerate(texts)]
    metric = LayFidelity()
    fidelity = metric.corpus_scores(*sums(metric.measure(cases, reading=Readings())))[0]
    easier = [
        readability(case.references[0]).flesch_kincaid_grade - readability(case.candidate).flesch_kincaid_grade
        for case in cases
    ]
    assert fidelity >= 0.95
    assert sum(easier) / len(easier) >= 4
