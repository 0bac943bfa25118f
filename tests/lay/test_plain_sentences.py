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
    return "KEPT" if sentence.kept else sentence.plain


TABLE = Path(__file__).parents[1] / "data" / "plain_sentences.tsv"
"""Sentences of our own: language, report, what is written; a line with # says what those below it are about."""
ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:] if line[0] != "#"]


@pytest.mark.parametrize(("language", "report", "plain"), ROWS, ids=[row[1] for row in ROWS])
def test_writes_anew(language: str, report: str, plain: str) -> None:
    assert _one(report, language) == plain


def test_a_sentence_without_a_subject_speaks_of_the_one_before() -> None:
    plain = [each.plain for each in write_plain("Left base opacity. May represent pneumonia.")]
    assert plain == [
        "There is a cloudy area at the bottom of your left lung.",
        "This may be pneumonia (a lung infection).",
    ]
    assert write_plain("May represent pneumonia.")[0].kept  # of nothing that was said


@pytest.mark.parametrize(
    ("report", "gloss"),
    [
        ("The left base is excluded from view.", ("excluded", "not on the picture")),
        ("An aneurysm cannot be excluded.", ("cannot be excluded", "is still possible")),
        ("Quixotic at the apex of the kyphotic curvature.", ("apex", "the most curved point")),
        ("Quixotic at the left apex.", ("apex", "the top of the lung")),
        ("Quixotic aortic valve.", ("aortic valve", "the valve between the heart and the main artery")),
        ("Quixotic at T9.", ("T9", "the ninth spine bone of the chest")),
        ("Increased retrosternal airspace.", ("airspace", "the space filled with air")),
        ("Opacities most prominent at the apices, quixotic.", ("prominent", "easy to see")),
        ("Post treatment interval film, quixotic.", ("interval", "time between two pictures")),
    ],
)
def test_glosses_go_by_the_words_around(report: str, gloss: tuple[str, str]) -> None:
    [sentence] = write_plain(report)
    assert gloss in [(each.term, each.plain) for each in sentence.glosses]


def test_abbreviations_keep_their_capitals() -> None:
    [sentence] = write_plain("The SVC is quixotic.")
    assert "(SVC: the large vein above the heart)" in sentence.plain


@pytest.mark.parametrize(
    "report",
    [
        "The lungs are symmetrically aerated.",
        "Malpositioned left PICC tip.",
        "Right PICC tip is not seen.",
        "Fractured pacemaker lead.",
        "Endotracheal tube tip at the carina, recommend retraction.",
        "Right PICC tip in the azygos vein.",
        "Bullous emphysematous changes.",  # more than bullae
        "Generalized osteopenia.",
        "Degenerative changes of multiple vertebral bodies.",
        "Mass in the left lower hemithorax.",  # not said to be in the lung
        "Probable fibrosis and scarring.",  # how far the doubt reaches
        "Normal central airways.",
        "Clearing of left base airspace disease.",
        "The lungs are intact and no acute abnormality is seen.",
        "Apparent cardiomegaly.",
        "No stable cardiomegaly.",
        "No cardiopulmonary abnormality.",  # more than no acute one
    ],
)
def test_keeps_a_name_that_says_more(report: str) -> None:
    [sentence] = write_plain(report)
    assert sentence.kept, sentence.plain


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
        "Interval development of two healed left rib fractures.",
        "Unfolding of the aorta.",  # not tortuous
        "Increased bibasilar opacities.",  # more than before, or more than normal
        "Increased kyphotic curvature of the thoracic spine.",
        "Low lung volumes with patchy bilateral scarring versus atelectasis.",  # not what the low volumes may be
        "No large effusion or pneumothorax.",  # whether a small pneumothorax is denied
        "No significant pleural effusion or pneumothorax.",
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
    with pytest.raises(InputError, match=r"language must be one of .*got 'xx'; a language is a file of words"):
        write_plain("No pneumothorax.", language="xx")


@pytest.mark.parametrize(
    "report",
    [
        "The lungs are chronically underinflated.",  # long-standing is no comparison with an earlier picture
        "Moderate emphysematous disease is again noted.",
        "Atherosclerotic calcification of the aortic arch.",
        "No cavity to suggest. active tuberculosis.",
    ],
)
def test_what_would_be_lost_keeps_the_sentence(report: str) -> None:
    (sentence,) = write_plain(report)
    assert sentence.kept
    assert report in sentence.plain


def test_a_gloss_goes_by_its_neighbours() -> None:
    (window,) = write_plain("Fullness of the AP window.")
    assert "(AP: between the main artery and the lung artery)" in window.plain


@pytest.mark.parametrize(
    "report",
    [
        "Infiltrate or pneumothorax.",
        "Left pleural effusion or consolidation.",
        "Right base infiltrate or scarring.",
    ],
)
def test_a_list_with_or_that_nothing_states_is_kept(report: str) -> None:
    [sentence] = write_plain(report)
    assert sentence.kept
    assert sentence.reasons == ("findings with 'or' that nothing states: a denial may be lost",)


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        ("Mild emphysema and pulmonary fibrosis.", "a describing word of one finding or of both"),
        (
            "There is minimal atelectasis or scarring at the right base.",
            "a describing word of one finding or of both",
        ),
        ("Several nodules and masses in the left lung.", "a describing word of one finding or of both"),
        ("Patchy infiltrate and consolidation.", "a describing word of one finding or of both"),
        ("New infiltrate and pleural effusion.", "a change of one finding or of both"),
        ("Emphysema and pulmonary fibrosis are unchanged.", "a change of one finding or of both"),
        ("Unchanged left apical scarring with pleural thickening.", "a change of one finding or of both"),
        ("Left upper lobe scarring with pleural thickening.", "a place of one finding or of both"),
    ],
)
def test_a_describing_word_that_two_findings_may_share_keeps_the_sentence(report: str, reason: str) -> None:
    [sentence] = write_plain(report)
    assert sentence.kept, sentence.plain
    assert sentence.reasons == (reason,)


@pytest.mark.parametrize(
    ("report", "gloss"),
    [
        ("Repeat film at a suitable interval after quixotic.", ("interval", "length of time")),
        ("Quixotic interval follow-up.", ("interval", "some time later")),
        ("In the interval, quixotic.", ("interval", "since the last picture")),
        ("Quixotic interval growth.", ("interval", "since the last picture")),
        ("No clear correlate, quixotic.", ("correlate", "something that matches it")),
        ("Correlate for quixotic tenderness.", ("Correlate", "check")),
        ("Correlate with quixotic tests.", ("Correlate", "compare")),
        ("Nodular outline, quixotic.", ("Nodular", "lumpy")),
        ("The margin is nodular, quixotic.", ("nodular", "lumpy")),
        ("Nodular quixotic shadow.", ("Nodular", "like a round spot")),
        ("Pathologic left rib fracture, quixotic.", ("Pathologic", "in a bone that a disease has weakened")),
        ("Pathologic quixotic.", ("Pathologic", "from a disease")),
        ("Quixotic air-fluid level.", ("air-fluid level", "a line where air meets fluid")),
        (
            "Quixotic, if clinically indicated.",
            ("if clinically indicated", "if your doctor thinks that it is needed"),
        ),
        ("Quixotic in the left ventricle.", ("left ventricle", "the lower left chamber of the heart")),
    ],
)
def test_a_gloss_goes_by_its_sense(report: str, gloss: tuple[str, str]) -> None:
    [sentence] = write_plain(report)
    assert gloss in [(each.term, each.plain) for each in sentence.glosses]


def test_german_says_how_far_was_seen_behind_the_finding() -> None:
    assert (
        _one("No pneumothorax visible.", "de")
        == "Es gibt kein sichtbares Zeichen für einen Luftaustritt um die Lunge."
    )
    assert _one("No cardiomegaly is seen.", "de") == "Soweit erkennbar gilt: Ihr Herz ist nicht größer als normal."
    assert _one("Subtle infiltrate in the left lung.", "de") == "KEPT"  # no word for it
