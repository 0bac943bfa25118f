"""The sentence set that ships: every pair says the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.errors import InputError
from radgauge.lay.sentences import Pair, keeps_meaning, sentence_set


@pytest.mark.nightly
def test_every_pair_keeps_polarity_side_severity_certainty_and_change() -> None:
    assert not [pair for pair in sentence_set() if not keeps_meaning(pair)]


def test_no_sentence_is_there_twice() -> None:
    pairs = sentence_set()
    assert len({pair.professional for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "words",
    [
        *("No pneumothorax.", "The heart is normal in size.", "Lungs are clear.", "Cardiomegaly."),
        *("Small left pleural effusion.", "The endotracheal tube is unchanged.", "Possible pneumonia."),
        *("No pleural effusion or pneumothorax.", "The right pneumothorax has resolved."),
    ],
)
def test_everyday_sentences_are_there(words: str) -> None:
    assert words.lower() in {pair.professional.lower() for pair in sentence_set()} | {
        pair.professional.lower().removeprefix("the ") for pair in sentence_set()
    }


@pytest.mark.parametrize(
    "lay",
    [
        "There is no fluid around the lung on the left.",
        "There is fluid around the lung on the right.",
        "There is a large amount of fluid around the lung on the left.",
        "There may be fluid around the lung on the left.",
    ],
)
def test_the_check_sees_a_wrong_lay_side(lay: str) -> None:
    assert not keeps_meaning(Pair("Left pleural effusion.", lay))
    assert keeps_meaning(Pair("Left pleural effusion.", "There is fluid around the lung on the left."))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n", "must begin with the line"),
        ("professional\tlay\nonly one\n", "line 2 must hold two sentences"),
        ("professional\tlay\n", "holds no pair"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "set.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        sentence_set(str(file))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        sentence_set(str(tmp_path / "none.tsv"))
