"""The writer for patients: what it writes anew, what it keeps, and that nothing is hard-wired to a language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.errors import InputError
from radgauge.plain_language.plain_sentences import languages, plain_text, write_plain
from radgauge.plain_language.wording import words_of
from radgauge.report_reader import load_lexicon


def _one(report: str, language: str = "en") -> str:
    [sentence] = write_plain(report, language=language)
    return "KEPT" if sentence.kept else sentence.plain


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        ("Small left pleural effusion.", "There is a small amount of fluid around your left lung."),
        ("Lungs are otherwise clear.", "Apart from what is described here, your lungs are clear."),
        ("Diminished lung volumes.", "Your lungs are filled with less air than usual."),
        ("Heart size is at the upper limits of normal.", "Your heart is at the upper end of normal in size."),
        ("Heart size is top normal.", "Your heart is at the upper end of normal in size."),
        (
            "Probable left lower lobe pneumonia.",
            "There is probably pneumonia (a lung infection) in the lower part of your left lung.",
        ),
        (
            "Possible left lower lobe pneumonia.",
            "There may be pneumonia (a lung infection) in the lower part of your left lung.",
        ),
        ("Multiple right rib fractures.", "There are several broken ribs on the right."),
        ("No large pleural effusion.", "There is no large amount of fluid around your lungs."),
        (
            "No definite pleural effusion, no pneumothorax.",
            "There is no clear sign of fluid around your lungs and no air leak around your lungs.",
        ),
        ("Recommend follow-up chest CT in 3 to 6 months.", "Another CT scan is recommended in 3 to 6 months."),
        (
            "The left PICC line has been removed.",
            "The thin tube in a vein of your arm (PICC line) on the left has been removed.",
        ),
        ("Stable cardiomegaly.", "Your heart is larger than normal, the same as before."),
        ("5 mm nodule in the right lung.", "There is a spot (nodule) in your right lung, about 5 mm across."),
        (
            "No focal opacity to suggest pneumonia.",
            "There is no cloudy area in your lungs that would suggest pneumonia (a lung infection).",
        ),
        (
            "Mild elevation of the right hemidiaphragm.",
            "The breathing muscle (diaphragm) on the right is slightly raised.",
        ),
        ("Bones are normal for age.", "Your bones look normal for your age."),
        # a possible finding of its own is not what the finding before it may be
        (
            "Cardiomegaly with possible small effusion.",
            "Your heart is larger than normal. There may be a small amount of fluid around your lungs.",
        ),
        (
            "Cardiomegaly, question trace bilateral pleural effusions.",
            "Your heart is larger than normal. There may be a very small amount of fluid around both lungs.",
        ),
        (
            "Right lower lobe opacity and possible left pleural effusion.",
            "There is a cloudy area in the lower part of your right lung. "
            "There may be fluid around your left lung.",
        ),
        (
            "Right lower lobe opacity, likely atelectasis.",
            "There is a cloudy area in the lower part of your right lung. "
            "This is probably a partly collapsed area in your right lung.",
        ),
        # what a radiograph cannot exclude, and how far was seen
        ("No evidence of tuberculosis.", "There is no sign of tuberculosis (TB)."),
        ("No pneumonia.", "There is no pneumonia (a lung infection) in your lungs."),
        (
            "No evidence of pneumothorax or pneumonia.",
            "There is no air leak around your lungs and no sign of pneumonia (a lung infection) in your lungs.",
        ),
        (
            "No radiographic evidence of pneumonia or pleural effusion.",
            "There is no sign of pneumonia (a lung infection) in your lungs and no sign of fluid "
            "around your lungs on this picture.",
        ),
        ("No visible pneumothorax.", "There is no visible air leak around your lungs."),
        ("The visualized bony structures are intact.", "As far as can be seen, your bones are intact."),
        ("The ribs, as visualized, are normal.", "As far as can be seen, your ribs look normal."),
        (
            "Lungs are otherwise grossly clear.",
            "Apart from what is described here and as far as can be seen, your lungs are clear.",
        ),
        # no word of place, size or air is lost
        (
            "Tortuosity of the descending thoracic aorta.",
            "The descending part of your main artery (the aorta) is winding (tortuous).",
        ),
        ("The lungs are well expanded and clear.", "Your lungs are clear and well filled with air."),
        (
            "Heart size and mediastinal contours are normal.",
            "Your heart is normal in size. The middle of your chest looks normal.",
        ),
        ("Heart size and contour are normal.", "Your heart is normal in size and shape."),
        ("Heart size is stable.", "Your heart is the same size as before."),
        (  # one list that is denied, no new clause
            "No consolidation, pneumothorax is present.",
            "There is no solid patch in your lungs and no air leak around your lungs.",
        ),
        ("Lung volumes are low.", "Your lungs are filled with less air than usual."),
    ],
)
def test_writes_anew(report: str, plain: str) -> None:
    assert _one(report) == plain


@pytest.mark.parametrize(
    "report",
    [
        "There is a fracture of the left pacemaker lead.",  # no broken bone
        "Interval removal of the quixotic device.",
        "No noncalcified nodule.",  # a calcified one may be there
        "No displaced rib fracture.",
        "There is blunting of the left XXXX.",
        "Dextroscoliosis of the thoracic spine.",  # the side of the curve
        "Quixotic shadow.",
        "No confluent consolidation.",  # another one may be there
        "No lobar pneumonia or pneumothorax.",
        "Cardiomegaly, likely small pleural effusion.",  # two findings, or one that explains the other
        "Right lung airspace disease may represent infiltrate.",  # alike in plain words
        "Left base opacity which may represent atelectasis versus infiltrate.",
        "Tortuosity of the ascending aorta.",
        "Interval development of two healed left rib fractures.",
        "Unfolding of the aorta.",  # not tortuous
    ],
)
def test_keeps_what_it_does_not_dare(report: str) -> None:
    [sentence] = write_plain(report)
    assert sentence.kept
    assert sentence.reasons
    assert sentence.ask == "Please ask your doctor about this sentence."
    assert "XXXX" not in sentence.plain


@pytest.mark.parametrize(
    "report",
    [
        "There is no pneumothorax the lungs are hyperinflated.",
        "No effusion lungs hyperinflated.",
        "No pleural effusion there is mild cardiomegaly.",
        "No pneumothorax, the aorta is tortuous.",
        "The lungs are clear without effusion the heart is enlarged.",
        "No pneumothorax<BR>lungs are hyperinflated.",
    ],
)
def test_a_denial_does_not_reach_the_next_clause(report: str) -> None:
    [sentence] = write_plain(report)
    assert sentence.kept
    assert sentence.reasons == ("a new clause behind a denial",)


def test_a_denied_fracture_reaches_no_farther_than_the_part_that_was_looked_at() -> None:
    assert _one("No fracture.") == "There is no broken bone."
    sentences = write_plain("Two views of the left wrist. No fracture.")
    assert sentences[-1].kept
    assert sentences[-1].reasons == ("a denial of which the report does not say how far it reaches",)
    assert _one("No fracture in the left shoulder.") == "There is no broken bone in your left shoulder."


@pytest.mark.parametrize(
    ("report", "glosses"),
    [
        ("The lateral view shows a quixotic shadow.", {"lateral": "from the side"}),
        ("Quixotic on frontal and lateral chest x-ray.", {"lateral": "from the side"}),
        ("Lateral quixotic of a rib.", {"lateral": "to the side"}),
        ("Widened AP diameter quixotic.", {"ap diameter": "the depth from front to back"}),
        ("AP quixotic.", {"ap": "a picture taken from front to back"}),
        (
            "Azygos fissure quixotic.",
            {"azygos fissure": "an extra fold of the right upper lung, a normal variant"},
        ),
        ("Prominent quixotic.", {"prominent": "larger or more marked than usual"}),
        ("Quixotic adenopathy.", {"adenopathy": "swollen glands"}),
    ],
)
def test_a_gloss_fits_its_context(report: str, glosses: dict[str, str]) -> None:
    [sentence] = write_plain(report)
    assert {each.term.lower(): each.plain for each in sentence.glosses} == glosses


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


def test_every_sentence_comes_back_once_in_order() -> None:
    report = "Heart size is normal. Quixotic shadow. No pneumothorax."
    written = write_plain(report)
    assert [report[each.start : each.end] for each in written] == [each.source for each in written]
    assert [each.kept for each in written] == [False, True, False]
    assert plain_text(written).count("Please ask your doctor") == 1


def test_a_sentence_that_is_repeated_is_said_once() -> None:
    assert (
        plain_text(write_plain("Mild cardiomegaly. Mild cardiomegaly."))
        == "Your heart is slightly larger than normal."
    )


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=120))
def test_any_text_can_be_written(text: str) -> None:
    assert isinstance(plain_text(write_plain(text)), str)


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        ("Small left pleural effusion.", "Es gibt Flüssigkeit um die linke Lunge, eine kleine Menge."),
        (
            "No consolidation or pneumothorax.",
            "Es gibt keine Verdichtung in der Lunge und keinen Luftaustritt um die Lunge.",
        ),
        ("Mild cardiomegaly.", "Ihr Herz ist leicht größer als normal."),
        ("The trachea is midline.", "Ihre Luftröhre liegt in der Mitte, wo sie hingehört."),
        ("5 mm nodule in the left lung.", "Es gibt einen Fleck (Rundherd) in der linken Lunge, etwa 5 mm groß."),
        ("No large pleural effusion.", "KEPT"),
        ("No evidence of pneumonia.", "Es gibt kein Zeichen für eine Lungenentzündung in der Lunge."),
        ("No visualized pneumothorax.", "Es gibt kein sichtbares Zeichen für einen Luftaustritt um die Lunge."),
        ("Heart size is stable.", "Ihr Herz ist so groß wie zuvor."),
        ("Lungs are clear and expanded.", "Ihre Lunge ist frei und gut mit Luft gefüllt."),
    ],
)
def test_german_needs_no_code(report: str, plain: str) -> None:
    assert _one(report, "de") == plain


def test_languages_have_the_same_tables() -> None:
    assert languages() == ("de", "en")
    english, german = words_of("en"), words_of("de")
    assert not set(german["frames"]) - set(english["frames"])
    assert not set(german["finding"]) - set(english["finding"])
    assert not set(german["part"]) - set(english["part"])


@pytest.mark.parametrize("language", ["de", "en"])
def test_words_name_concepts_of_the_lexicon(language: str) -> None:
    lexicon, words = load_lexicon(), words_of(language)
    assert not [name for name in (*words["finding"], *words["part"]) if name not in lexicon]
    assert not [name for name in words["place"] if name not in lexicon and name != "body"]


def test_no_name_is_a_concept_id() -> None:
    for entry in words_of("en")["finding"].values():
        assert not re.search(r"\w_\w", entry.get("name", "") + entry.get("is", ""))


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(
        InputError, match="language must be one of de, en, got 'xx'; a language is a file of words"
    ):
        write_plain("No pneumothorax.", language="xx")
