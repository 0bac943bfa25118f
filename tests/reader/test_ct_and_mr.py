"""Sentences as CT and MR reports write them: where it is, how large, open or not there."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report
from radgauge.reader.reading import Mention


def _findings(text: str) -> list[Mention]:
    return [
        mention for mention in read_report(text).mentions if mention.kind in ("abnormality", "disease", "open")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The upper abdominal organs included in the sections are normal.",
        "Liver density is normal.",
        "Vertebral heights, alignments and densities within the sections are normal.",
        "The globes and orbits maintain a normal appearance.",
        "The zorbels within the sections are normal.",
    ],
)
def test_what_is_called_normal_is_no_finding(text: str) -> None:
    assert _findings(text) == []


def test_the_adjective_of_a_whole_is_no_place_of_its_own() -> None:
    said = read_report("The thoracic esophagus is normal.").mentions
    assert {each.attributes.locations for each in said if each.kind == "normality"} == {("esophagus",)}


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        (
            "mild tr and ai, no pe, old mi.",
            {"tricuspid_regurgitation", "aortic_regurgitation", "myocardial_infarction", "pulmonary_embolism"},
        ),
        ("gs in the gb. normal hks.", {"cholelithiasis"}),
        ("the lungs of us all are clear.", set()),
    ],
)
def test_abbreviations_of_two_letters_hold_in_lower_case(text: str, concept: set[str]) -> None:
    assert {each.concept for each in _findings(text)} == concept


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("4.6 cm x 3.7 cm mass.", (46.0, 37.0)),
        ("A 4.6cm x 3.7cm x 20 mm mass.", (46.0, 37.0, 20.0)),
        ("A 24x45x20 mm mass.", (24.0, 45.0, 20.0)),
        ("Mass from 40 x 30 mm to 2 cm x 1 cm.", (20.0, 10.0)),
        ("Mass of 2 cm, 5 mm from the wall.", (20.0, 5.0)),
        ("The nodule was 6 mm.", (6.0,)),
        ("Nodule 8 mm (was 6 mm).", (8.0,)),
        ("The diameter of the ascending aorta was 43 mm.", (43.0,)),
    ],
)
def test_each_dimension_has_its_own_unit(text: str, sizes: tuple[float, ...]) -> None:
    assert _findings(text)[0].attributes.sizes_mm == sizes


@pytest.mark.parametrize(
    "text",
    [
        "Bone structures are natural.",
        "Calibration of the mediastinal major vascular structures is natural.",
        "Structures cannot be evaluated optimally as far as can be seen without contrast material.",
        "Clinical and laboratory correlation and close follow-up are recommended.",
        "Axial T2 with fat saturation, proton density and localizer sequences on a 3 Tesla magnet.",
    ],
)
def test_words_of_the_modality_are_understood_and_claim_nothing(text: str) -> None:
    reading = read_report(text)
    assert reading.unread == ()
    assert [each for each in reading.mentions if each.kind == "open"] == []


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("Old films showed a pneumothorax.", "history"),
        ("The previous study had shown a pneumothorax.", "history"),
        ("Screening for breast cancer.", "history"),
        ("Prior CT demonstrated a nodule, which has grown.", "current"),
        ("Compared with the prior study, today's film demonstrated an effusion.", "current"),
    ],
)
def test_what_an_earlier_study_showed_is_history(text: str, context: str) -> None:
    assert [each.attributes.context for each in _findings(text)] == [context]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Nodule of 12 x 8 mm in the left lower lobe.", (12.0, 8.0)),
        ("Nodule measuring 1.2 cm x 8 mm x 7 mm in the left lower lobe.", (12.0, 8.0, 7.0)),
        ("Nodule, 12 mm, in the left lower lobe.", (12.0,)),
        ("A nodule with a diameter of 7 mm is observed in the left lower lobe.", (7.0,)),
    ],
)
def test_a_place_behind_a_size_is_the_findings(text: str, sizes: tuple[float, ...]) -> None:
    (nodule,) = _findings(text)
    assert (nodule.concept, nodule.attributes.sizes_mm) == ("lung_nodule", sizes)
    assert (nodule.attributes.laterality, nodule.attributes.locations[0]) == ("left", "left_lower_lobe")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Nodule in the lingula. It measures 9 mm and is smooth.", (9.0,)),
        ("Nodule in the lingula. It measures approximately 1.2 x 0.8 cm.", (12.0, 8.0)),
        ("Right renal mass. This measures 5.5 cm x 40 mm.", (55.0, 40.0)),
        ("Nodule in the lingula. It previously measured 5 mm.", ()),
        ("Nodule in the lingula. It measured 5 mm on the prior study.", ()),
        ("4 mm nodule in the lingula. It measures 5 mm.", (4.0,)),
        ("No nodule. It measures 5 mm.", ()),
    ],
)
def test_a_size_of_the_next_sentence_is_the_findings(text: str, sizes: tuple[float, ...]) -> None:
    assert _findings(text)[0].attributes.sizes_mm == sizes


@pytest.mark.parametrize(
    ("text", "side", "places"),
    [
        ("In the left kidney, a cyst is seen.", "left", {"kidney"}),
        ("In the laterobasal segment of the right lung, a nodule is seen.", "right", {"basal_segment", "lung"}),
        ("In the left lung, a nodule is seen adjacent to the fissure.", "left", {"lung", "lung_fissure"}),
        ("When both lungs are examined in the lung window: a nodule in the left lung.", "left", {"lung"}),
        ("In the left lung, a nodule is seen; a mass in the right kidney.", "left", {"lung"}),
    ],
)
def test_a_place_that_opens_a_sentence_holds_for_it(text: str, side: str, places: set[str]) -> None:
    first = _findings(text)[0].attributes
    assert (first.laterality, set(first.locations)) == (side, places)


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Hepatic density is decreased.", {("hepatic_steatosis", "present")}),
        ("There is a decrease in density in the bones.", {("osteopenia", "present")}),
        ("No cause for the hydronephrosis is identified.", {("hydronephrosis", "present")}),
        ("A nodule could not be seen because of atelectasis.", {("nodule", "absent"), ("atelectasis", "present")}),
        ("No significant difference was found in the size of the cyst.", {("cyst", "present")}),
        ("No lymph node is seen in the axilla in pathological size.", {("axillary_lymphadenopathy", "absent")}),
        (
            "Few lymph nodes, and no enlarged lymph nodes in pathological size.",
            {("lymphadenopathy", "absent")},
        ),
        ("The wall is thickened in the sigmoid colon.", {("colonic_wall_thickening", "present")}),
        (
            "Dilatation of both collecting systems and of the kidneys and ureters.",
            {("hydronephrosis", "present"), ("hydroureter", "present")},
        ),
        ("Lesion (cyst?) of the left kidney.", {("renal_mass", "present"), ("renal_cyst", "uncertain")}),
    ],
)
def test_turns_of_phrase_of_ct_reports(text: str, concepts: set[tuple[str, str]]) -> None:
    assert {(each.concept, each.assertion) for each in _findings(text)} == concepts


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Nodules in both lungs  Hiatal hernia", 2),
        ("Nodules of the  Right lung", 1),
        ("Left kidney  Normal", 1),
        ("nodules  of  both  lungs  Hiatal  hernia", 1),
    ],
)
def test_two_blanks_stand_for_a_stop_where_blanks_are_single(text: str, count: int) -> None:
    assert len(read_report(text).sentences) == count


def test_the_short_axis_decides_on_lymph_nodes() -> None:
    said = {each.concept for each in _findings("Mediastinal lymph node measuring 30 x 23 mm.")}
    assert said == {"lymphadenopathy"}
    assert not _findings("Mediastinal lymph node measuring 15 x 8 mm.")


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Masses: A 4 mm cyst of the left kidney.", {("renal_cyst", "present")}),
        ("Masses: None.", {("mass", "absent")}),
        ("The acromio-clavicular joint is degenerative.", {("ac_joint_degenerative_change", "present")}),
        (
            "The lung is unremarkable, with no nodules, masses, or areas of atelectasis detected.",
            {("lung_nodule", "absent"), ("mass", "absent"), ("atelectasis", "absent")},
        ),
        ("Nodules in either lung: no.", {("lung_nodule", "absent")}),
    ],
)
def test_labels_and_compounds_of_structured_reports(text: str, concepts: set[tuple[str, str]]) -> None:
    assert {(each.concept, each.assertion) for each in _findings(text)} == concepts
