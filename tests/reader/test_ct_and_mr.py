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
    ("text", "concept", "assertion"),
    [
        ("No effusion, heart enlarged.", "cardiomegaly", "present"),
        ("No effusion, heart size enlarged, lungs clear.", "cardiomegaly", "present"),
        ("No effusion, heart enlarged or calcified.", "cardiomegaly", "absent"),
        ("No effusion, thickened pleura.", "pleural_thickening", "absent"),
        ("Negative acute bone abnormality.", "acute_osseous_abnormality", "absent"),
        ("There was no finding in favor of pneumonia.", "pneumonia", "absent"),
        ("The nodule was evaluated in favor of adenoma.", "adenoma", "present"),
        ("Low density lesion (cyst?) in the liver, bile stones.", "cyst", "uncertain"),
        ("Opacity (infection, aspiration?) in the right base.", "pulmonary_infection", "uncertain"),
        ("Atelectasis?, effusion is present.", "pleural_effusion", "present"),
        ("Ground glass (pneumonic foci?) in the upper lobe.", "pneumonia", "uncertain"),
        ("Osseous fusion at L4-L5.", "bony_fusion", "present"),
        ("Slight atelectasis in the middle lobe.", "atelectasis", "present"),
        ("No lymph nodes of pathological size were detected at the hila.", "hilar_lymphadenopathy", "absent"),
        ("Budding tree appearances in the left lung.", "tree_in_bud", "present"),
        ("Frosted glass densities in both lungs.", "ground_glass_opacity", "present"),
        ("The gallbladder is operated.", "absent_gallbladder", "present"),
        ("No hilar, subcarinal or axillary enlarged lymph nodes were observed.", "lymphadenopathy", "absent"),
        ("No cyst, and no portal or mesenteric adenopathy is present.", "mesenteric_adenopathy", "absent"),
        ("Enlarged hilar, axillary and retroperitoneal lymph nodes.", "retroperitoneal_adenopathy", "present"),
        ("The findings are nonspecific for viral pneumonia.", "viral_pneumonia", "uncertain"),
        ("A mass (cyst? Abscess in a patient with fever for three weeks?) in the liver.", "abscess", "uncertain"),
        ("A large nodule (tumor? Granuloma?) in the right upper lobe.", "lung_nodule", "present"),
        ("Tapering is seen in the thoracic vertebrae.", "osteophyte", "present"),
        ("Contamination of the perinephric fat is seen.", "perinephric_stranding", "present"),
        ("The ascending aorta is wider than normal.", "ectatic_aorta", "present"),
        ("The lad has a moderate stenosis.", "coronary_stenosis", "present"),
    ],
)
def test_finding_and_assertion(text: str, concept: str, assertion: str) -> None:
    assert assertion in {each.assertion for each in _findings(text) if each.concept == concept}


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


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("The spleen was larger than normal.", "splenomegaly"),
        ("There is an increase in heart size.", "cardiomegaly"),
    ],
)
def test_what_is_larger_than_normal_is_compared_with_no_study(text: str, concept: str) -> None:
    assert [(each.concept, each.attributes.change) for each in _findings(text)] == [(concept, "")]


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        (
            "mild tr and ai, no pe, old mi.",
            {"tricuspid_regurgitation", "myocardial_infarction", "pulmonary_embolism"},
        ),
        ("gs in the gb. normal hks.", {"cholelithiasis"}),
        ("the lungs of us all are clear.", set()),
    ],
)
def test_abbreviations_of_two_letters_hold_in_lower_case(text: str, concept: set[str]) -> None:
    assert {each.concept for each in _findings(text)} == concept


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Mild ectasia has been detected in the bronchi.", "bronchiectasis"),
        ("Dilatation was observed in the transverse colon.", "dilated_colon"),
        ("A hypodense lesion is observed in the upper pole of the left kidney.", "renal_mass"),
        ("Calcific foci were detected in the thyroid gland.", "thyroid_calcification"),
    ],
)
def test_a_finding_is_named_by_its_place_across_a_verb(text: str, concept: str) -> None:
    assert [each.concept for each in _findings(text)] == [concept]


@pytest.mark.parametrize(
    ("text", "concepts", "change"),
    [
        ("The size of the spleen has increased.", ["splenomegaly"], "increased"),
        ("Spleen size is increased.", ["splenomegaly"], ""),
        ("Liver and spleen sizes increased.", ["hepatomegaly", "splenomegaly"], ""),
        ("Left kidney dimensions are decreased.", ["renal_atrophy"], ""),
        ("The diameter of the ascending aorta has increased.", ["aortic_enlargement"], "increased"),
        ("The size of the nodule has increased.", ["nodule"], "increased"),
        ("Increase in spleen size.", ["splenomegaly"], "increased"),
        ("Increased diameter of the pulmonary artery.", ["pulmonary_artery_enlargement"], ""),
        ("Increased size of the effusion.", ["pleural_effusion"], ""),
    ],
)
def test_a_dimension_that_has_grown_enlarges_its_structure(text: str, concepts: list[str], change: str) -> None:
    findings = _findings(text)
    assert [each.concept for each in findings] == concepts
    assert {each.attributes.change for each in findings} == {change}


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
    ("text", "concept", "assertion"),
    [
        ("The right popliteal vein is not fully compressible.", "dvt", "present"),
        ("The left lung is only partially expanded.", "lung_collapse", "present"),
        ("The lungs are not fully evaluated.", "lung_collapse", ""),
        ("The urinary bladder contains gas.", "abnormal_gas", "present"),
        ("The gallbladder is absent.", "absent_gallbladder", "present"),
        ("Gallstones are absent.", "cholelithiasis", "absent"),
        ("The edema has given way to emphysema.", "edema", "absent"),
        ("The edema has given way to emphysema.", "emphysema", "present"),
        ("The film fails to exclude a pulmonary embolism.", "pulmonary_embolism", "uncertain"),
        ("It cannot be said that the pneumonia has cleared.", "pneumonia", "present"),
        ("If pneumonia persists, repeat the film.", "pneumonia", "uncertain"),
        ("The disc protrusion narrows the canal.", "disc_protrusion", "present"),
    ],
)
def test_what_a_verb_says_of_a_structure(text: str, concept: str, assertion: str) -> None:
    assert {each.assertion for each in _findings(text) if each.concept == concept} == {assertion} - {""}


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
