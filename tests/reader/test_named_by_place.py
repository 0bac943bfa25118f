"""Findings named by their place, sides that are said once, and what is said of a structure called normal."""

from __future__ import annotations

import pytest

from radgauge.reader import Mention, read_report


def _found(text: str, concept: str) -> list[Mention]:
    return [mention for mention in read_report(text).mentions if mention.concept == concept]


def _claims(text: str, concept: str) -> set[tuple[str, str]]:
    return {(mention.assertion, mention.attributes.laterality) for mention in _found(text, concept)}


def test_findings_of_several_structures_are_told_apart() -> None:
    concepts = {mention.concept for mention in read_report("Fractures of the tibia and the fibula.").mentions}
    assert {"tibial_fracture", "fibular_fracture"} <= concepts


def test_a_finding_that_has_a_place_of_its_own_keeps_its_name() -> None:
    assert _claims("Compression fracture of T12.", "vertebral_fracture") == {("present", "")}


@pytest.mark.parametrize(
    ("text", "concept", "claims"),
    [
        ("Orbital wall fracture on the left, no globe rupture.", "globe_rupture", {("absent", "left")}),
        ("Right knee: torn medial meniscus. No fracture.", "fracture", {("absent", "right")}),
        ("Stone in the left kidney, mild hydronephrosis.", "hydronephrosis", {("present", "left")}),
        ("Stone in the left kidney with cirrhosis.", "cirrhosis", {("present", "")}),
        ("Left lower lobe opacity. No pneumothorax.", "pneumothorax", {("absent", "")}),
        ("Left lower lobe opacity, no pneumothorax.", "pneumothorax", {("absent", "")}),
        ("Left hip arthrosis. Right hip normal. No fracture.", "fracture", {("absent", "")}),
        (
            "Two adrenal nodules: 21 mm on the left, 9 mm on the right.",
            "adrenal_nodule",
            {("present", "left"), ("present", "right")},
        ),
        (
            "Right foraminal stenosis at L3-4 and left at L4-5.",
            "foraminal_stenosis",
            {("present", "left"), ("present", "right")},
        ),
        (
            "The ureteral stent on the left was removed; the right one remains.",
            "ureteral_stent",
            {("absent", "left"), ("present", "right")},
        ),
    ],
)
def test_a_side_said_once_is_carried_on(text: str, concept: str, claims: set[tuple[str, str]]) -> None:
    assert _claims(text, concept) == claims


def test_sizes_of_two_sides_are_told_apart() -> None:
    found = _found("Two adrenal nodules: 21 mm on the left, 9 mm on the right.", "adrenal_nodule")
    assert {mention.attributes.laterality: mention.attributes.sizes_mm for mention in found} == {
        "left": (21.0,),
        "right": (9.0,),
    }


@pytest.mark.parametrize(
    ("text", "concept", "place"),
    [
        ("Marrow edema in the calcaneus; the talus is normal.", "bone_marrow_edema", "talus"),
        (
            "Thrombus in the left jugular vein. The carotid artery is clear.",
            "carotid_thrombosis",
            "carotid_artery",
        ),
        ("The spleen is normal.", "abnormality", "spleen"),
        ("The liver is unremarkable.", "liver_abnormality", "liver"),
    ],
)
def test_normality_of_a_structure_denies_the_finding_named_before(text: str, concept: str, place: str) -> None:
    denied = [each for each in _found(text, concept) if each.assertion == "absent"]
    assert [(each.form, each.attributes.locations) for each in denied] == [("implied", (place,))]


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Gas outlines the bile ducts, not the portal vein.", "portal_venous_gas"),
        ("Thrombus in the splenic vein; the portal vein contains none.", "portal_vein_thrombosis"),
    ],
)
def test_a_finding_is_denied_elsewhere_without_its_name(text: str, concept: str) -> None:
    assert [mention.assertion for mention in _found(text, concept)] == ["absent"]


def test_mentions_stay_in_text_order_and_relations_point_to_them() -> None:
    reading = read_report(
        "Fracture of the left radius; the ulna is normal and the wrist shows swelling of the skin."
    )
    assert [mention.start for mention in reading.mentions] == sorted(mention.start for mention in reading.mentions)
    pairs = {
        (reading.mentions[each.source].text, reading.mentions[each.target].text)
        for each in reading.relations
        if each.type == "located_at"
    }
    assert ("Fracture", "radius") in pairs


@pytest.mark.parametrize(
    "text",
    ["Common bile duct 6 mm.", "No lymph node larger than 14 mm.", "Lymph nodes up to 14 mm.", "Spleen 11 cm."],
)
def test_sizes_within_limits_are_no_finding(text: str) -> None:
    assert [each.concept for each in read_report(text).mentions if each.form == "clause"] == []


def test_the_other_side_is_the_opposite_of_the_one_named_before() -> None:
    text = "Left hip replacement. The contralateral hip shows osteoarthritis."
    assert _claims(text, "hip_osteoarthritis") == {("present", "right")}
