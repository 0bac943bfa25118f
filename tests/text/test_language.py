"""Texts that are not English are told from telegraphic English."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.cases import Case
from radgauge.io.case_files import read_cases
from radgauge.io.records import text_notes
from radgauge.reader import load_lexicon
from radgauge.samples import sample_reports_path
from radgauge.text.language import looks_english

CLAIMS = Path(__file__).parents[1] / "data" / "reader_claims.tsv"


@pytest.mark.parametrize(
    "text",
    [
        "Kein Pleuraerguss. Das Herz ist nicht vergrößert.",
        "Pas d'épanchement. Le coeur est de taille normale.",
        "El corazón es de tamaño normal. No se observa derrame en la base.",
        "Сердце не увеличено, выпота нет.",
        "双肺清晰，心影大小正常，未见胸腔积液。",
    ],
)
def test_other_languages(text: str) -> None:
    assert not looks_english(text)


@pytest.mark.parametrize(
    "text",
    ["", "Normal.", "No PTX. No effusion.", "S/p CABG. De novo os odontoideum.", "≥ 5 mm, β-blocker."],
)
def test_short_english_is_left_alone(text: str) -> None:
    assert looks_english(text)


def test_what_the_reader_knows_is_english() -> None:
    """A report of two words must not be left unjudged because "fractures" is French too."""
    texts = [
        text for case in read_cases(sample_reports_path()).cases for text in (case.candidate, *case.references)
    ]
    texts += [term for concept in load_lexicon().concepts.values() for term in concept.terms]
    texts += [line.split("\t")[0] for line in CLAIMS.read_text("utf-8").splitlines()]
    assert [text for text in texts if not looks_english(text)] == []


def test_a_run_says_how_many_cases_are_not() -> None:
    spanish = Case(id="1", candidate="Sin derrame pleural.", references=("No se observa derrame ni neumotórax.",))
    english = Case(id="2", candidate="No effusion.", references=("There is no pleural effusion.",))
    (note,) = text_notes([spanish, english], locations=["line 2", "line 3"])
    assert note.startswith("1 of 2 cases hold a text that does not look English")
    assert not text_notes([english], locations=["line 3"])


def test_short_reports_in_other_languages_are_recognised() -> None:
    lines = (
        Path(__file__).with_name("data").joinpath("foreign_reports.tsv").read_text(encoding="utf-8").splitlines()
    )
    missed = [line for line in lines if looks_english(line.split("\t")[1])]
    assert len(lines) == 120
    assert len(missed) <= 2, missed
