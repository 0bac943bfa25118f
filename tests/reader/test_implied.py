"""What follows from a statement of normality, and from a sentence that names no finding."""

from __future__ import annotations

import pytest

from radgauge.reader import chexpert_labels, radgraph_graph, rate_entities, read_report


def _implied(text: str) -> list[tuple[str, str]]:
    return [
        (mention.concept, mention.attributes.laterality)
        for mention in read_report(text).mentions
        if mention.form == "implied" and mention.kind == "normality" and mention.assertion == "absent"
    ]


@pytest.mark.parametrize(
    ("text", "concept", "side"),
    [
        ("The right lung is clear.", "lung_opacity", "right"),
        ("The common bile duct is not dilated; the cystic duct is normal.", "cholelithiasis", ""),
        ("Common bile duct of normal caliber.", "biliary_dilatation", ""),
        ("L CP angle clr.", "pleural_effusion", "left"),
        ("ACL/PCL ok", "pcl_tear", ""),
        ("Gallbladder wall normal.", "gallbladder_wall_thickening", ""),
    ],
)
def test_normality_denies_what_the_structure_typically_has(text: str, concept: str, side: str) -> None:
    assert (concept, side) in _implied(text)


@pytest.mark.parametrize("text", ["The lung is not clear.", "Normal study.", "Possible pneumonia.", "The lungs."])
def test_nothing_is_implied_without_a_structure_called_normal(text: str) -> None:
    assert _implied(text) == []


def test_views_leave_implied_denials_out() -> None:
    reading = read_report("The lungs are clear.")
    assert _implied(reading.text)
    assert [entity.name for entity in rate_entities(reading)] == ["lungs", "clear"]
    assert [node["tokens"] for node in radgraph_graph(reading)["entities"].values()] == ["lungs", "clear"]
    assert chexpert_labels(reading)["No Finding"] == "positive"


@pytest.mark.parametrize(
    ("text", "concept", "side"),
    [
        ("The medial meniscus is torn. The lateral one is not.", "lateral_meniscal_tear", ""),
        ("Right adrenal nodule. The left is normal.", "adrenal_nodule", "left"),
        ("Left ovarian cyst. Its counterpart is normal.", "ovarian_cyst", "right"),
    ],
)
def test_a_counterpart_of_the_last_finding_is_denied(text: str, concept: str, side: str) -> None:
    found = [mention for mention in read_report(text).mentions if mention.form == "ellipsis"]
    assert [(each.concept, each.attributes.laterality, each.assertion) for each in found] == [
        (concept, side, "absent")
    ]


@pytest.mark.parametrize("text", ["The lateral one is not.", "No meniscal tear. The lateral one is not."])
def test_without_a_finding_before_there_is_no_counterpart(text: str) -> None:
    assert not [mention for mention in read_report(text).mentions if mention.form == "ellipsis"]
