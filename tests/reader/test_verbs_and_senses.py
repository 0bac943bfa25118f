"""Verbs and comparisons that say a finding, words that take their meaning from their sentence, sizes of before."""

from __future__ import annotations

import pytest

from radgauge.reader import Mention, read_report


def _found(text: str, concept: str) -> Mention:
    mentions = [m for m in read_report(text).mentions if m.concept == concept and m.form != "implied"]
    assert mentions, [(m.concept, m.assertion) for m in read_report(text).mentions]
    return mentions[0]


@pytest.mark.parametrize(
    ("text", "concept", "assertion", "side"),
    [
        ("The left kidney is smaller than the right.", "renal_atrophy", "present", "left"),
        ("A protrusion at C5-6 touches the left C6 root.", "nerve_root_compression", "present", "left"),
        (
            "The osteophyte reaches the right L4 root without displacing it.",
            "nerve_root_compression",
            "present",
            "right",
        ),
        ("Mucus clogs the left sphenoid sinus.", "sinus_opacification", "present", "left"),
        ("The nasal septum veers to the right.", "nasal_septal_deviation", "present", "right"),
        ("L5 has slipped 4 mm forward on S1.", "spondylolisthesis", "present", ""),
        ("The mass penetrates the bladder wall.", "invasion", "present", ""),
        ("The tumor infiltrates the right psoas.", "invasion", "present", "right"),
        ("The cyst pushes the spleen aside.", "displacement", "present", ""),
        ("The right kidney is normal, its pelvis balloons.", "hydronephrosis", "present", "right"),
        ("The spleen has grown.", "splenomegaly", "present", ""),
        ("The third ventricle is wider than on the last scan.", "ventriculomegaly", "present", ""),
        ("The uterus is devoid of a mass.", "uterine_mass", "absent", ""),
        ("The hip joint is bereft of fluid.", "hip_effusion", "absent", ""),
        ("Pneumothorax is conspicuous by its absence.", "pneumothorax", "absent", ""),
        ("The left elbow has escaped fracture.", "fracture", "absent", "left"),
        ("Gas in the wall of the sigmoid colon.", "pneumatosis", "present", ""),
        ("Fluid around the liver.", "ascites", "present", ""),
        ("Mastoid air cells filled with secretions.", "mastoid_effusion", "present", ""),
        ("There is compression of the conus.", "cord_compression", "present", ""),
        ("The left brachial vein cannot be compressed.", "upper_extremity_dvt", "present", "left"),
        ("The right ovary is normal but its vein is occluded.", "venous_thrombosis", "present", "right"),
        ("Fluid in the right minor fissure.", "fissural_fluid", "present", "right"),
        ("# left clavicle, no disloc.", "clavicle_fracture", "present", "left"),
        ("R MCA infart.", "middle_cerebral_artery_infarct", "present", "right"),
        ("The sigmoid colon has twisted.", "sigmoid_volvulus", "present", ""),
        ("Opacification of the left frontal sinus.", "sinus_opacification", "present", "left"),
        ("Carcinoma of the pancreatic tail.", "pancreatic_cancer", "present", ""),
        ("The right basilic vein is not compressible.", "superficial_thrombophlebitis", "present", "right"),
        ("Consolidation or contusion, less likely edema.", "contusion", "uncertain", ""),
    ],
)
def test_what_a_verb_or_a_space_says(text: str, concept: str, assertion: str, side: str) -> None:
    mention = _found(text, concept)
    assert (mention.assertion, mention.attributes.laterality) == (assertion, side)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Stone at the base of the appendix.", {"appendix"}),
        ("Thrombus in the left femoral and popliteal veins.", {"common_femoral_vein", "popliteal_vein"}),
        ("Nodule in the lower pole of the left thyroid lobe.", {"thyroid_gland"}),
        ("Opacity at the right base.", {"lung_base"}),
    ],
)
def test_a_word_that_many_organs_share_takes_its_sense_from_the_sentence(text: str, places: set[str]) -> None:
    found = {
        place
        for m in read_report(text).mentions
        if m.kind in ("abnormality", "disease")
        for place in m.attributes.locations
    }
    assert found == places


@pytest.mark.parametrize(
    ("text", "sizes", "change"),
    [
        ("The abscess has gone from 60 x 42 mm to 25 x 20 mm.", (25.0, 20.0), "decreased"),
        ("Mass of 3 cm (was 5 cm).", (30.0,), "decreased"),
        ("The cyst measures 4.1 cm, formerly 2 cm.", (41.0,), "increased"),
        ("The node is 12 mm compared with 8 mm: a mass of 9 mm against 5 mm.", (9.0,), "increased"),
        ("The lesion has more than doubled.", (), "increased"),
        ("Effusion, up from yesterday.", (), "increased"),
        ("The nodule was not seen on the scan of two years ago.", (), "new"),
        ("A cyst, not seen on the ultrasound of 2017.", (), "new"),
    ],
)
def test_what_was_before_tells_the_change(text: str, sizes: tuple[float, ...], change: str) -> None:
    mention = [m for m in read_report(text).mentions if m.kind == "abnormality"][-1]
    assert (mention.assertion, mention.attributes.sizes_mm, mention.attributes.change) == (
        "present",
        sizes,
        change,
    )


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Status post ACL reconstruction.", "ligament_reconstruction"),
        ("Previous resection for carcinoma.", "malignancy"),
        ("Patient known with Crohn disease.", "crohn_disease"),
    ],
)
def test_what_was_done_or_known_before_is_history(text: str, concept: str) -> None:
    assert any(m.attributes.context == "history" for m in read_report(text).mentions if m.kind != "anatomy"), (
        concept
    )


def test_a_heading_inside_a_line_does_not_cover_what_follows_it() -> None:
    found = read_report("Indication: fall. Technique: two views were obtained. Fracture of the left radius.")
    assert [m.attributes.context for m in found.mentions if m.kind == "abnormality"] == ["current"]
    whole = read_report("FINDINGS: Effusion.\nHISTORY: Fall. Fracture in 2019.\n")
    assert next(m.attributes.context for m in whole.mentions if m.kind == "abnormality") == "current"


@pytest.mark.parametrize(
    ("text", "concept", "assertion"),
    [
        ("Loss of the right heart border and consolidation.", "consolidation", "present"),
        ("Metastasis less likely, sarcoidosis.", "sarcoidosis", "present"),
        ("Bulky right hilum - tuberculosis cannot be excluded.", "hilar_enlargement", "present"),
        ("Opacity in both lungs, worse at the bases.", "lung_opacity", "present"),
    ],
)
def test_what_ends_the_reach_of_a_cue(text: str, concept: str, assertion: str) -> None:
    mention = _found(text, concept)
    assert (mention.assertion, mention.attributes.change) == (assertion, "")
