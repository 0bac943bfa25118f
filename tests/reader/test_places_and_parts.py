"""Wordings that a comparison of findings stumbled over."""

from __future__ import annotations

import pytest

from radgauge.reader import rate_entities, read_report


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("The enteric tube tip and proximal port are in the stomach.", "tube"),
        ("Mild, diffuse thickening of the bronchovascular markings.", "increased_interstitial_markings"),
        ("There are interstitial type opacities at the right base.", "interstitial_opacity"),
        ("Chronic microvascular changes.", "small_vessel_ischemic_disease"),
    ],
)
def test_concepts(text: str, concept: str) -> None:
    assert concept in {mention.concept for mention in read_report(text).mentions}


def test_present_on_a_side() -> None:
    (mention,) = read_report("There is pleural fluid present on the right.").mentions
    assert mention.attributes.laterality == "right"


@pytest.mark.parametrize(
    ("text", "concept", "assertion"),
    [
        ("Fluid in the left pleural space.", "pleural_effusion", "present"),
        ("There is no fluid in the left pleural space.", "pleural_effusion", "absent"),
        ("Pleural spaces: no fluid or air.", "pneumothorax", "absent"),
        ("Air is seen within the right pleural space.", "pneumothorax", "present"),
        ("Fluid seen within the left hemithorax.", "pleural_effusion", "present"),
    ],
)
def test_a_word_and_a_place_make_a_finding(text: str, concept: str, assertion: str) -> None:
    found = {mention.concept: mention.assertion for mention in read_report(text).mentions}
    assert found[concept] == assertion


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ("No focal consolidation with effusion.", ["absent", "absent"]),
        ("No pneumothorax with rib fracture.", ["absent", "absent"]),
        ("No consolidation with air bronchograms or cavitation.", ["absent", "absent", "absent"]),
        ("No edema with small bilateral pleural effusions.", ["absent", "present"]),
        ("No pneumothorax, with rib fracture.", ["absent", "present"]),
        ("No pneumothorax is seen with rib fracture.", ["absent", "present"]),
        ("No pneumothorax with chest tube.", ["absent", "present"]),
        ("The heart is not enlarged with effusion.", ["absent", "present"]),
        ("Possible pneumonia with effusion.", ["uncertain", "present"]),
    ],
)
def test_what_comes_with_a_denied_finding(text: str, assertions: list[str]) -> None:
    found = [mention.assertion for mention in read_report(text).mentions if mention.kind != "anatomy"]
    assert found == assertions


@pytest.mark.parametrize(
    ("text", "concept", "side"),
    [
        ("Left lung shows lower lobe consolidation.", "consolidation", "left"),
        ("The left lung demonstrates consolidation in the lower lobe.", "consolidation", "left"),
        ("In the left lung, there is lower lobe consolidation.", "consolidation", "left"),
        ("Left lung: upper lobe scarring and lower lobe consolidation.", "consolidation", "left"),
        ("Right lung is clear and left lung has basilar atelectasis.", "atelectasis", "left"),
        ("The right kidney has a lower pole cyst.", "renal_cyst", "right"),
        ("Left lung is clear; lower lobe consolidation.", "consolidation", ""),
        ("The lungs show lower lobe consolidation.", "consolidation", ""),
        ("Right chest port with tip in the SVC.", "superior_vena_cava", ""),
    ],
)
def test_a_part_has_the_side_of_its_whole(text: str, concept: str, side: str) -> None:
    found = {mention.concept: mention.attributes.laterality for mention in read_report(text).mentions}
    assert found[concept] == side


@pytest.mark.parametrize(
    ("text", "concept", "severity", "change"),
    [
        ("Slightly improved left effusion.", "pleural_effusion", "", "decreased"),
        ("Moderate effusion has mildly decreased.", "pleural_effusion", "moderate", "decreased"),
        ("Mild interval increase in moderate pulmonary edema.", "pulmonary_edema", "moderate", "increased"),
        ("Small effusion, minimally increased.", "pleural_effusion", "mild", "increased"),
        ("Effusion has decreased from moderate to small.", "pleural_effusion", "mild", "decreased"),
        ("The effusion, previously moderate, is now small.", "pleural_effusion", "mild", ""),
        ("Severe edema has almost completely resolved.", "edema", "severe", "decreased"),
        ("Stable mild cardiomegaly.", "cardiomegaly", "mild", "stable"),
        ("The heart size is mildly increased.", "cardiomegaly", "mild", ""),
        ("Mildly increased interstitial markings.", "increased_interstitial_markings", "mild", ""),
    ],
)
def test_the_degree_of_a_change_is_no_severity(text: str, concept: str, severity: str, change: str) -> None:
    (found,) = [mention.attributes for mention in read_report(text).mentions if mention.concept == concept]
    assert (found.severity, found.change) == (severity, change)


@pytest.mark.parametrize(
    ("text", "concept", "places"),
    [
        ("T12 and L1 fractures.", "fracture", {"t12_vertebra", "l1_vertebra"}),
        (
            "There are mild T5, T7, and T12 compression fractures.",
            "vertebral_fracture",
            {"t5_vertebra", "t7_vertebra", "t12_vertebra"},
        ),
        ("Heart and lower lobe opacities.", "lung_opacity", {"lower_lobe"}),
        ("Clear right upper lobe and left lower lobe opacity.", "lung_opacity", {"left_lower_lobe"}),
        ("Scarring in the right upper lobe and left lower lobe opacity.", "lung_opacity", {"left_lower_lobe"}),
    ],
)
def test_places_joined_in_front_of_a_finding(text: str, concept: str, places: set[str]) -> None:
    stated = [mention for mention in read_report(text).mentions if mention.form != "implied"]
    (found,) = [mention.attributes for mention in stated if mention.concept == concept]
    assert set(found.locations) == places


def test_what_stands_in_front_of_joined_places_is_said_of_the_finding() -> None:
    text = "Improved mild right mid lung and right basilar consolidation."
    (found,) = [each.attributes for each in read_report(text).mentions if each.concept == "consolidation"]
    assert (found.change, found.severity, found.laterality) == ("decreased", "mild", "right")


@pytest.mark.parametrize(
    ("text", "concept", "assertion", "change"),
    [
        ("Effusion has not resolved.", "pleural_effusion", "present", "stable"),
        ("The pneumothorax has not yet resolved.", "pneumothorax", "present", "stable"),
        ("The effusion is no larger.", "pleural_effusion", "present", "stable"),
        ("Edema has not significantly worsened.", "edema", "present", "stable"),
        ("No increased interstitial markings.", "increased_interstitial_markings", "absent", ""),
        ("Right upper lobe nodule, not seen on the prior exam.", "lung_nodule", "present", "new"),
        ("The opacity was not present previously.", "lung_opacity", "present", "new"),
        ("Cardiomegaly is present but unchanged.", "cardiomegaly", "present", "stable"),
        ("There is an effusion, but the edema is improved.", "pleural_effusion", "present", ""),
        ("There is scarring in the right apex which is unchanged.", "pulmonary_scarring", "present", "stable"),
        ("Rib fractures are better seen on the prior CT.", "rib_fracture", "present", ""),
        (
            "Interstitial thickening, more prominent in the bases.",
            "increased_interstitial_markings",
            "present",
            "",
        ),
        ("The edema is more prominent than before.", "edema", "present", "increased"),
        ("The previously described nodule is not seen.", "nodule", "absent", ""),
    ],
)
def test_denied_changes_and_earlier_studies(text: str, concept: str, assertion: str, change: str) -> None:
    (found,) = [mention for mention in read_report(text).mentions if mention.concept == concept]
    assert (found.assertion, found.attributes.change) == (assertion, change)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "There are moderate right and small left pleural effusions.",
            [("right", "moderate"), ("left", "mild")],
        ),
        ("Trace right and large left pleural effusions.", [("right", "trace"), ("left", "severe")]),
        ("Opacity on the right and small left pleural effusion.", [("left", "mild")]),
    ],
)
def test_a_finding_of_two_sides(text: str, expected: list[tuple[str, str]]) -> None:
    found = [each.attributes for each in read_report(text).mentions if each.concept == "pleural_effusion"]
    assert [(each.laterality, each.severity) for each in found] == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("There are large right and small left effusions.", ["large right and small left effusions"]),
        ("Increase in size of right upper lobe mass.", ["right upper lobe", "mass"]),
    ],
)
def test_names_of_entities_keep_both_sides_and_leave_out_sizes(text: str, names: list[str]) -> None:
    assert [entity.name for entity in rate_entities(read_report(text))] == names


def test_joined_adjectives_are_composed_with_what_they_describe() -> None:
    found = [mention.concept for mention in read_report("Tortuous and calcified thoracic aorta.").mentions]
    assert found == ["tortuous_aorta", "aortic_calcification", "thoracic_aorta"]
