"""The writer for patients: what it writes anew, what it keeps, and that nothing is hard-wired to a language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.errors import InputError
from radgauge.plain_language.language_words import words_of
from radgauge.plain_language.normal_parts import SHAPES
from radgauge.plain_language.plain_sentences import languages, plain_text, write_plain
from radgauge.report_reader import load_lexicon


def _one(report: str, language: str = "en") -> str:
    [sentence] = write_plain(report, language=language)
    return "KEPT" if sentence.kept else sentence.plain


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        ("Small left pleural effusion.", "There is a small amount of fluid around your left lung."),
        ("Lungs are otherwise clear.", "Otherwise, your lungs are clear."),
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
        (
            "Recommend follow-up chest CT in 3 to 6 months.",
            "A follow-up CT scan of your chest is recommended in 3 to 6 months.",
        ),
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
            "This is probably an area in your right lung that is not fully open.",
        ),
        # what a radiograph cannot exclude, and how far was seen
        ("No evidence of tuberculosis.", "There is no sign of tuberculosis (TB)."),
        ("No pneumonia.", "There is no pneumonia (a lung infection)."),
        (
            "No evidence of pneumothorax or pneumonia.",
            "There is no sign of an air leak around your lungs and no sign of pneumonia (a lung infection).",
        ),
        (
            "No radiographic evidence of pneumonia or pleural effusion.",
            "There is no sign of pneumonia (a lung infection) and no sign of fluid "
            "around your lungs on this picture.",
        ),
        ("No visible pneumothorax.", "There is no visible air leak around your lungs."),
        ("The visualized bony structures are intact.", "As far as can be seen, your bones are intact."),
        ("The ribs, as visualized, are normal.", "As far as can be seen, your ribs look normal."),
        (
            "Lungs are otherwise grossly clear.",
            "Otherwise, as far as can be seen, your lungs are clear.",
        ),
        # no word of place, size or air is lost
        (
            "Tortuosity of the descending thoracic aorta.",
            "The descending part of your main artery (the aorta) is winding (tortuous).",
        ),
        ("The lungs are well expanded and clear.", "Your lungs are clear and well filled with air."),
        (
            "Heart size and mediastinal contours are normal.",
            "Your heart is normal in size. The outline of the middle of your chest looks normal.",
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
    ("report", "plain"),
    [
        # how far a denial was seen is said for everything
        ("No evidence of pleural effusion.", "There is no sign of fluid around your lungs."),
        ("No findings of consolidation.", "There is no sign of a solid patch in your lungs."),
        ("No evidence of lymphadenopathy.", "There is no sign of swollen lymph nodes."),
        ("No evidence of cardiomegaly.", "There is no sign that your heart is larger than normal."),
        ("No apparent pleural effusion.", "There is no visible fluid around your lungs."),
        ("No frank consolidation.", "There is no clear sign of a solid patch in your lungs."),
        ("The heart is not grossly enlarged.", "As far as can be seen, your heart is not larger than normal."),
        ("The heart is not significantly enlarged.", "Your heart is not significantly larger than normal."),
        ("Lungs are grossly clear of infiltrate.", "As far as can be seen, there is no hazy patch in your lungs."),
        (
            "Visualized osseous structures are without acute abnormality.",
            "As far as can be seen, there is no new or sudden problem in your bones.",
        ),
        # what is excepted
        ("No other lung nodules.", "There is no other spot (nodule) in your lungs."),
        ("The remaining lungs are clear.", "Otherwise, your lungs are clear."),
        (
            "Otherwise, the lungs are clear without infiltrate.",
            "Otherwise, your lungs are clear. Otherwise, there is no hazy patch in your lungs.",
        ),
        # size, shape and outline are not the whole part
        ("Mediastinal contours are unremarkable.", "The outline of the middle of your chest looks normal."),
        (
            "Hilar and mediastinal contours are stable.",
            "The outline of the roots of your lungs and the outline of the middle of your chest look the same as "
            "before.",
        ),
        (
            "The heart and mediastinum are normal in size and contour.",
            "Your heart and the middle of your chest are normal in size and shape.",
        ),
        (
            "Cardiac silhouette is normal in size and appearance.",
            "The outline of your heart is normal in size and looks normal.",
        ),
        (
            "Heart size is enlarged, pulmonary vascularity within normal limits.",
            "Your heart is larger than normal. The blood vessels of your lungs look normal.",
        ),
        (
            "The bony structures of the thorax are intact.",
            "The bones of your chest are intact.",
        ),
        (
            "Bones are intact without acute abnormality.",
            "Your bones are intact. There is no new or sudden problem in your bones.",
        ),
        (
            "Mediastinal contours and pulmonary vascularity are normal.",
            "The outline of the middle of your chest looks normal. The blood vessels of your lungs look normal.",
        ),
        ("No acute intrathoracic abnormality.", "There is no new or sudden problem in your chest."),
        ("No active disease.", "There is no active disease."),
        # place and degree as the report has them
        ("Tortuous thoracic aorta.", "Your main artery (the aorta) in the chest is winding (tortuous)."),
        ("Thoracic spondylosis.", "There is wear and tear in the middle part of your spine."),
        (
            "Multilevel degenerative changes of the spine.",
            "There is wear and tear in your spine, at several levels.",
        ),
        (
            "Osteophytes at multiple levels of the thoracic spine.",
            "There are bone spurs in the middle part of your spine, at several levels.",
        ),
        ("Extensive degenerative changes of the spine.", "There is extensive wear and tear in your spine."),
        ("Mild to moderate emphysema.", "There is mild to moderate emphysema (damaged air sacs) in your lungs."),
        (
            "Moderate to large right pleural effusion.",
            "There is a moderate to large amount of fluid around your right lung.",
        ),
        (
            "Mild interstitial edema.",
            "There is a small amount of fluid in the fine tissue of your lungs.",
        ),
        # seen again is not unchanged; several things have changed
        ("Persistent cardiomegaly.", "Your heart is larger than normal, as before."),
        # a term in brackets is one of the report's
        ("Levocurvature of the spine.", "There is a curve in your spine to the left."),
        # suspicious goes with what may be suspicious
        (
            "No suspicious nodule, mass or pneumothorax.",
            "There is no suspicious spot (nodule), no suspicious lump (mass) and no air leak around your lungs.",
        ),
        # what a sentence without a subject speaks of
        (
            "There are calcified left hilar granulomas.",
            "There are hardened scars from old infections (granulomas) at the root of your left lung.",
        ),
        (
            "Mild left base atelectasis.",
            "There is a small area at the bottom of your left lung that is not fully open.",
        ),
        (
            "Cardiomediastinal silhouette and pulmonary vasculature are normal.",
            "The outline of your heart and of the middle of your chest looks normal. The blood vessels of your "
            "lungs look normal.",
        ),
        (
            "Follow-up to resolution is recommended.",
            "A follow-up is recommended to make sure that it has cleared.",
        ),
        (
            "Recommend follow-up radiographs after treatment.",
            "A follow-up picture is recommended after treatment.",
        ),
        ("Borderline cardiomegaly.", "Your heart is at the border between normal and enlarged."),
        ("Postoperative changes of CABG.", "There are signs of earlier heart bypass surgery."),
        (
            "Recommend CT of the chest with contrast.",
            "A CT scan of your chest with contrast dye is recommended.",
        ),
    ],
)
def test_limits_places_and_degrees_are_not_lost(report: str, plain: str) -> None:
    assert _one(report) == plain


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        (
            "Right PICC tip in the lower SVC.",
            "There is a thin tube in a vein of your arm (PICC line) on the right. Its tip lies in the lower "
            "part of the large vein above your heart.",
        ),
        (
            "The endotracheal tube tip is about 4 cm above the carina.",
            "There is a breathing tube in your windpipe. Its tip lies about 4 cm above the place where the "
            "windpipe splits.",
        ),
        (
            "Unchanged position of the left subclavian central venous catheter.",
            "There is a thin tube in a large vein under your collarbone (central line) on the left. It is where "
            "it was before.",
        ),
        (
            "Enteric tube tip overlies the stomach.",
            "There is a feeding or stomach tube. Its tip lies over your stomach on the picture.",
        ),
        (
            "Right internal jugular catheter has been removed.",
            "The thin tube in a large vein of your neck (central line) on the right has been removed.",
        ),
        ("Left-sided pacemaker.", "There is a pacemaker (a device that steers the heartbeat) on the left."),
    ],
)
def test_tells_of_devices_and_their_tips(report: str, plain: str) -> None:
    assert _one(report) == plain


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
        "Rounded mass in the right middle lobe measures approximately 4.6 cm x 3.7 cm.",  # two numbers, not three
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


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        ("Small left pleural effusion.", "Es gibt Flüssigkeit um die linke Lunge, eine kleine Menge."),
        (
            "No consolidation or pneumothorax.",
            "Es gibt keine Verdichtung in der Lunge und keinen Luftaustritt um die Lunge.",
        ),
        ("Mild cardiomegaly.", "Ihr Herz ist etwas größer als normal."),
        ("The trachea is midline.", "Ihre Luftröhre liegt in der Mitte, wie es sein soll."),
        ("5 mm nodule in the left lung.", "Es gibt einen Fleck (Rundherd) in der linken Lunge, etwa 5 mm groß."),
        ("No large pleural effusion.", "KEPT"),
        ("No evidence of pneumonia.", "Es gibt kein Zeichen für eine Lungenentzündung."),
        ("No visualized pneumothorax.", "Es gibt kein sichtbares Zeichen für einen Luftaustritt um die Lunge."),
        ("Heart size is stable.", "Ihr Herz ist so groß wie zuvor."),
        ("Lungs are clear and expanded.", "Ihre Lunge ist frei und gut mit Luft gefüllt."),
        ("Lungs are otherwise clear.", "Sonst gilt: Ihre Lunge ist frei."),
        (
            "No definite pneumonia or pneumothorax.",
            "Es gibt kein sicheres Zeichen für eine Lungenentzündung und kein sicheres Zeichen für einen "
            "Luftaustritt um die Lunge.",
        ),
        ("No evidence of cardiomegaly.", "Es gibt kein Zeichen dafür, dass Ihr Herz größer als normal ist."),
        ("The bony thorax is intact.", "Die Knochen Ihres Brustkorbs sind unversehrt."),
        ("Mediastinal contours are stable.", "Der Umriss der Mitte Ihres Brustkorbs sieht aus wie zuvor."),
        (
            "Left base opacity may represent pneumonia.",
            "Es gibt eine wolkige Stelle unten in der linken Lunge. Das spricht möglicherweise für eine "
            "Lungenentzündung in der linken Lunge.",
        ),
        ("Mild elevation of the right hemidiaphragm.", "Die rechte Hälfte des Zwerchfells ist etwas angehoben."),
        ("Tortuous thoracic aorta.", "Ihre Hauptschlagader im Brustkorb ist geschlängelt."),
        ("No fracture or dislocation.", "Es gibt keinen Knochenbruch und keine Verrenkung."),
        ("No lymphadenopathy.", "Es gibt keinen vergrößerten Lymphknoten."),
        (
            "Multilevel degenerative changes of the thoracic spine.",
            "Es gibt Verschleiß an der Brustwirbelsäule, an mehreren Stellen.",
        ),
        (
            "Surgical clips in the right upper quadrant.",
            "Es gibt Metallklammern im rechten Oberbauch von einer früheren Operation.",
        ),
        (
            "Right PICC tip in the lower SVC.",
            "Es gibt einen dünnen Schlauch in einer Armvene (PICC-Katheter) rechts. Seine Spitze liegt "
            "in dem unteren "
            "Teil der großen Vene über dem Herzen.",
        ),
        ("PICC tip in the upper right atrium.", "KEPT"),  # a genitive that the words do not have
        (
            "The endotracheal tube tip is about 4 cm above the carina.",
            "Es gibt einen Beatmungsschlauch in der Luftröhre. Seine Spitze liegt etwa 4 cm über der "
            "Stelle, an der "
            "sich die Luftröhre teilt.",
        ),
        (
            "The left chest tube has been removed.",
            "Der Schlauch im Brustkorb (Drainage) links wurde entfernt.",
        ),
        (
            "Recommend follow-up chest CT in 3 to 6 months.",
            "Eine CT-Kontrolle des Brustkorbs wird in 3 bis 6 Monaten empfohlen.",
        ),
        (
            "Recommend radiographic follow-up after treatment to document resolution.",
            "Eine Kontrollaufnahme wird nach der Behandlung empfohlen, um zu sehen, ob es sich "
            "zurückgebildet hat.",
        ),
        (
            "Mild to moderate emphysema.",
            "Es gibt ein Emphysem (geschädigte Lungenbläschen) in der Lunge, leicht bis mäßig ausgeprägt.",
        ),
        ("Persistent cardiomegaly.", "Ihr Herz ist größer als normal, wie schon zuvor gesehen."),
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
    assert not [name for name in (*words["finding"], *words["part"]) if name not in (*lexicon.concepts, *SHAPES)]
    assert not [name for name in words["place"] if name not in lexicon and name != "body"]


def test_no_name_is_a_concept_id() -> None:
    for entry in words_of("en")["finding"].values():
        assert not re.search(r"\w_\w", entry.get("name", "") + entry.get("is", ""))


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(
        InputError, match="language must be one of de, en, got 'xx'; a language is a file of words"
    ):
        write_plain("No pneumothorax.", language="xx")


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        (
            "No evidence of large pleural effusion.",
            "There is no sign of a large amount of fluid around your lungs.",
        ),
        ("No active disease.", "There is no active disease."),
    ],
)
def test_amounts_and_activity_are_said_as_they_stand(report: str, plain: str) -> None:
    assert _one(report) == plain


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
    ("report", "plain"),
    [
        ("No dislocation visible.", "There is no visible joint out of place (dislocation)."),
        ("No rib fracture is seen on the left.", "There is no visible broken rib on the left."),
        ("No consolidation identified.", "There is no visible solid patch in your lungs."),
        ("A dislocation is not visible.", "There is no visible joint out of place (dislocation)."),
        ("No fracture of the visualized bones.", "There is no visible broken bone."),
        (
            "No infiltrate or pleural effusion is apparent.",
            "There is no visible hazy patch in your lungs and no visible fluid around your lungs.",
        ),
        (
            "No infiltrate, no pleural effusion seen.",  # said of the second
            "There is no hazy patch in your lungs and no visible fluid around your lungs.",
        ),
        (
            "No infiltrate and no pleural effusion are seen.",
            "There is no visible hazy patch in your lungs and no visible fluid around your lungs.",
        ),
        (
            "No pneumonia visible radiographically.",
            "There is no sign of pneumonia (a lung infection) on this picture.",
        ),
        ("No cardiomegaly is seen.", "As far as can be seen, your heart is not larger than normal."),
        (  # of the denial, not of the normal part beside it
            "Lungs are clear, no pneumothorax visible.",
            "Your lungs are clear. There is no visible air leak around your lungs.",
        ),
        ("No infiltrate is present.", "There is no hazy patch in your lungs."),
        ("No evidence of infiltrate is seen.", "There is no sign of a hazy patch in your lungs."),
    ],
)
def test_a_limit_is_said_wherever_its_word_stands(report: str, plain: str) -> None:
    assert _one(report) == plain


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
    ("report", "plain"),
    [
        (
            "Subtle infiltrate in the right lower lobe.",
            "There is a faint hazy patch in the lower part of your right lung.",
        ),
        ("Subtle opacities at the right base.", "There are faint cloudy areas at the bottom of your right lung."),
        ("Minimal scarring at the left apex.", "There is very mild scarring at the top of your left lung."),
        ("Subtle right pleural effusion.", "KEPT"),  # neither small nor a faint amount
        ("Subtle scoliosis of the thoracic spine.", "KEPT"),
        ("Subtle cardiomegaly.", "KEPT"),
    ],
)
def test_hard_to_see_is_not_small(report: str, plain: str) -> None:
    assert _one(report) == plain


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
    ("report", "plain"),
    [
        (
            "Mild cardiomegaly with pulmonary edema.",
            "Your heart is slightly larger than normal. There is fluid in your lungs.",
        ),
        (
            "Mild cardiomegaly and a small pleural effusion.",
            "Your heart is slightly larger than normal. There is a small amount of fluid around your lungs.",
        ),
        (
            "Right upper lobe infiltrate with pleural effusion.",
            "There is a hazy patch in the upper part of your right lung. There is fluid around your right lung.",
        ),
        (  # the clause behind a name belongs to that name only
            "There is atelectasis or scarring at the right base.",
            "There is scarring at the bottom of your right lung or an area at the bottom of your right lung that "
            "is not fully open.",
        ),
    ],
)
def test_two_findings_with_their_own_words_are_written(report: str, plain: str) -> None:
    assert _one(report) == plain


@pytest.mark.parametrize(
    ("report", "plain"),
    [
        ("Redemonstrated emphysema.", "There is emphysema (damaged air sacs) in your lungs, seen again."),
        (
            "Redemonstrated right pleural effusion, increased.",
            "There is fluid around your right lung, which has increased since the last picture.",
        ),
        ("Persistent emphysema.", "There is emphysema (damaged air sacs) in your lungs, as before."),
        ("Heart size is grossly stable.", "As far as can be seen, your heart is the same size as before."),
        (
            "Mediastinal contours are grossly unchanged.",
            "As far as can be seen, the outline of the middle of your chest looks the same as before.",
        ),
        ("Right pleural effusion is grossly unchanged.", "KEPT"),
        ("Grossly stable emphysema.", "KEPT"),
    ],
)
def test_seen_again_and_grossly_unchanged_are_not_unchanged(report: str, plain: str) -> None:
    assert _one(report) == plain


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
