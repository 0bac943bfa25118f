"""Wordings that a comparison of findings stumbled over."""

from __future__ import annotations

import pytest

from radgauge.reader import rate_entities, read_report


def test_present_on_a_side() -> None:
    (mention,) = read_report("There is pleural fluid present on the right.").mentions
    assert mention.attributes.laterality == "right"


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


def test_what_stands_in_front_of_joined_places_is_said_of_the_finding() -> None:
    text = "Improved mild right mid lung and right basilar consolidation."
    (found,) = [each.attributes for each in read_report(text).mentions if each.concept == "consolidation"]
    assert (found.change, found.severity, found.laterality) == ("decreased", "mild", "right")


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
