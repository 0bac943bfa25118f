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
