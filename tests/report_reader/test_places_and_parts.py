"""Wordings that a comparison of findings stumbled over."""

from __future__ import annotations

import pytest

from radgauge.report_reader import read_report


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
