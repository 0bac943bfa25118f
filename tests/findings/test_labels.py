"""Ribs, levels, segments, grades and percentages."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.labels import labels_in
from radgauge.metrics.errors import Errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fractures of the left 4th through 7th ribs", {("rib", str(n)) for n in (4, 5, 6, 7)}),
        ("ribs 6-8 and 10", {("rib", str(n)) for n in (6, 7, 8, 10)}),
        ("Disc bulge at L4/5 and L5-S1", {("disc", "l4-l5"), ("disc", "l5-s1")}),
        ("Fracture of L1", {("vertebra", "l1")}),
        ("Stanford type B dissection", {("type", "b")}),
        ("Type II endoleak", {("type", "2")}),
        ("BI-RADS 4A", {("assessment", "4")}),
        ("A 50-69% stenosis", {("percent", "59.5")}),
        ("Cyst in segment VII", {("segment", "7")}),
        ("Fracture of the fifth metatarsal", {("digit", "5")}),
        ("T2 hyperintense lesion", set()),
        ("A spiculated nodule", {("margin", "irregular")}),
        ("Partial tear of the tendon", {("completeness", "partial")}),
        ("An undisplaced fracture", {("displacement", "undisplaced")}),
        ("Nonobstructing stone", {("obstruction", "nonobstructing")}),
        ("A 70-year-old patient", set()),
    ],
)
def test_labels_of_a_sentence(text: str, expected: set[tuple[str, str]]) -> None:
    assert {(name, value) for name, value, _ in labels_in(text)} - {("vertebra", "t2")} == expected


@pytest.mark.parametrize(
    ("reference", "candidate", "categories"),
    [
        ("Fracture of the left 6th rib.", "Fracture of the left 7th rib.", [2]),
        ("Fracture of the left 6th rib.", "Left rib fracture.", []),
        ("Fractures of ribs 5 to 7 on the left.", "Fracture of the left 6th rib.", []),
        ("Displaced fracture of the distal tibia.", "Undisplaced fracture of the distal tibia.", [3]),
        ("Old fracture of the left clavicle.", "Acute fracture of the left clavicle.", [3]),
        ("Full-thickness tear of the subscapularis.", "Partial tear of the subscapularis.", [3]),
        ("Acute on chronic subdural hematoma.", "Acute subdural hematoma.", []),
    ],
)
def test_the_wrong_one_is_in_the_wrong_place(reference: str, candidate: str, categories: list[int]) -> None:
    found = Errors().profile(Case("1", candidate, (reference,)), reading=Readings())
    assert found is not None
    assert [error.category for error in found[0].errors] == categories


def test_a_denied_kind_leaves_the_other_kind() -> None:
    found = Errors().profile(
        Case("1", "Chronic left ulnar fracture.", ("No acute fracture. Old left ulnar fracture.",)),
        reading=Readings(),
    )
    assert found is not None
    assert found[0].errors == ()


def test_a_reversed_change_costs_as_much_as_a_wrong_place() -> None:
    reference = "The left pleural effusion has increased. The heart is normal."
    other = {
        "reversed": "The left pleural effusion has decreased.",
        "place": "The right pleural effusion has increased.",
    }
    quality = {
        name: Errors().measure([Case("1", text, (reference,))], reading=Readings())[0][0]
        for name, text in other.items()
    }
    assert abs(quality["reversed"] - quality["place"]) < 0.1
    assert quality["reversed"] < 0.5
