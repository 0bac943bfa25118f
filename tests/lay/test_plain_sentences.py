"""The writer for patients: what it writes anew, what it keeps, and that nothing is hard-wired to a language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.core.errors import InputError
from radgauge.lay.language_words import words_of
from radgauge.lay.normal_parts import SHAPES
from radgauge.lay.plain_sentences import languages, plain_text, write_plain
from radgauge.reader import load_lexicon


def _one(report: str, language: str = "en") -> str:
    [sentence] = write_plain(report, language=language)
    if not sentence.kept:
        return sentence.plain
    assert sentence.ask == words_of(language)["frames"]["ask"]
    return f"KEPT {'; '.join(sentence.reasons)}"


def _rows(name: str) -> list[list[str]]:
    """Rows of a table of sentences of our own; a line with # says what those below it are about."""
    lines = (Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:] if line[0] != "#"]


@pytest.mark.parametrize(("language", "report", "plain"), _rows("plain_sentences.tsv"))
def test_writes_anew_or_keeps(language: str, report: str, plain: str) -> None:
    written = _one(report, language)
    assert written == plain or (plain == "KEPT" and written.startswith("KEPT "))


@pytest.mark.parametrize(("report", "term", "plain"), _rows("plain_glosses.tsv"))
def test_a_gloss_goes_by_its_sense(report: str, term: str, plain: str) -> None:
    [sentence] = write_plain(report)
    assert (term, plain) in [(gloss.term, gloss.plain) for gloss in sentence.glosses]


def test_a_sentence_without_a_subject_speaks_of_the_one_before() -> None:
    plain = [each.plain for each in write_plain("Left base opacity. May represent pneumonia.")]
    assert plain == [
        "There is a cloudy area at the bottom of your left lung.",
        "This may be pneumonia (a lung infection).",
    ]
    assert write_plain("May represent pneumonia.")[0].kept  # of nothing that was said


def test_abbreviations_keep_their_capitals() -> None:
    [sentence] = write_plain("The SVC is quixotic.")
    assert "(SVC: the large vein above the heart)" in sentence.plain


def test_a_comparison_or_a_finding_that_nobody_has_makes_increased_a_change() -> None:
    assert "which has decreased since the last picture" in _one("Decreased left pleural effusion.")
    assert "increased since" in _one("Increased bibasilar opacities compared to prior.")
    assert _one("No pneumothorax or large pleural effusion.").endswith(
        "no large amount of fluid around your lungs."
    )


def test_a_denied_fracture_reaches_no_farther_than_the_part_that_was_looked_at() -> None:
    assert _one("No fracture.") == "There is no broken bone."
    sentences = write_plain("Two views of the left wrist. No fracture.")
    assert sentences[-1].kept
    assert sentences[-1].reasons == ("a denial of which the report does not say how far it reaches",)
    assert _one("No fracture in the left shoulder.") == "There is no broken bone in your left shoulder."


def test_no_gloss_repeats_its_term() -> None:
    words = words_of("en")["gloss_words"]
    assert not [
        term for term, plain in words.items() if re.search(rf"\b{re.escape(term)}\b", plain) and term != "ct"
    ]


def test_markup_is_white_space() -> None:
    report = "Quixotic shadow.<BR>Heart size<br/>is normal.&nbsp;A quixotic 3 mm < 5 mm."
    written = write_plain(report)
    assert [each.source for each in written] == [
        "Quixotic shadow.",
        "Heart size is normal.",
        "A quixotic 3 mm < 5 mm.",
    ]
    assert written[1].plain == "Your heart is normal in size."
    assert report[written[2].start : written[2].end] == "A quixotic 3 mm < 5 mm."


def test_a_kept_sentence_explains_its_terms() -> None:
    [sentence] = write_plain("Blunting of the left costophrenic XXXX.")
    assert [gloss.term for gloss in sentence.glosses] == ["Blunting", "costophrenic"]
    assert sentence.plain == (
        "The report says: “Blunting of the left costophrenic [...].” "
        "(blunting: rounding; costophrenic: the lower corner of the lung)"
    )


def test_a_gloss_knows_its_organ() -> None:
    [liver] = write_plain("Fatty infiltration of the liver, quixotic.")
    assert [gloss.plain for gloss in liver.glosses] == ["fat in the liver"]
    *_, kidney = write_plain("Renal ultrasound. Quixotic collapse of the kidney.")
    assert not [gloss for gloss in kidney.glosses if "lung" in gloss.plain]
    [lung] = write_plain("Quixotic collapse of the lung.")
    assert [gloss for gloss in lung.glosses if "lung" in gloss.plain]


def test_every_sentence_comes_back_once_in_order() -> None:
    report = "Heart size is normal. Quixotic shadow. No pneumothorax."
    written = write_plain(report)
    assert [report[each.start : each.end] for each in written] == [each.source for each in written]
    assert [each.kept for each in written] == [False, True, False]
    assert plain_text(written).count("Please ask your doctor about this:") == 1


def test_a_sentence_that_is_repeated_is_said_once() -> None:
    assert (
        plain_text(write_plain("Mild cardiomegaly. Mild cardiomegaly."))
        == "Your heart is slightly larger than normal."
    )


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=120))
def test_any_text_can_be_written(text: str) -> None:
    assert isinstance(plain_text(write_plain(text)), str)


def test_languages_have_the_same_tables() -> None:
    assert languages() == ("de", "en")
    english, german = words_of("en"), words_of("de")
    assert not set(german["frames"]) - set(english["frames"])
    assert not set(german["finding"]) - set(english["finding"])
    assert not set(german["part"]) - set(english["part"])


@pytest.mark.parametrize("language", ["de", "en"])
def test_words_name_concepts_of_the_lexicon(language: str) -> None:
    lexicon, words = load_lexicon(), words_of(language)
    assert not [name for name in (*words["finding"], *words["part"]) if name not in (*lexicon.concepts, *SHAPES)]
    assert not [name for name in words["place"] if name not in lexicon and name != "body"]


def test_no_name_is_a_concept_id() -> None:
    for entry in words_of("en")["finding"].values():
        assert not re.search(r"\w_\w", entry.get("name", "") + entry.get("is", ""))


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError, match=r"language must be one of .*got 'xx'"):
        write_plain("No pneumothorax.", language="xx")


def test_a_gloss_goes_by_its_neighbours() -> None:
    (window,) = write_plain("Fullness of the AP window.")
    assert "(AP: between the main artery and the lung artery)" in window.plain


def test_german_says_how_far_was_seen_behind_the_finding() -> None:
    assert (
        _one("No pneumothorax visible.", "de")
        == "Es gibt kein sichtbares Zeichen für einen Luftaustritt um die Lunge."
    )
    assert _one("No cardiomegaly is seen.", "de") == "Soweit erkennbar gilt: Ihr Herz ist nicht größer als normal."
    assert _one("Subtle infiltrate in the left lung.", "de").startswith("KEPT")  # no word for it
