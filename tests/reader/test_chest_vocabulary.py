"""The chest and device vocabulary: what common phrases are read as, and that the files agree with each other."""

from __future__ import annotations

import pytest

from radgauge.reader.lexicon import load_lexicon
from radgauge.reader.lexicon.load import built_in_files, check_lexicon


def test_built_in_lexicon_has_no_problem() -> None:
    _, problems = check_lexicon(built_in_files())
    assert problems == []


def test_compositions_name_concepts_of_the_lexicon() -> None:
    lexicon = load_lexicon()
    for rule in lexicon.tables["compositions"]["composition"]:
        assert lexicon.concepts[rule["concept"]].kind != "anatomy", rule
        assert {lexicon.concepts[each].kind for each in rule["anatomy"]} == {"anatomy"}, rule


@pytest.mark.parametrize(
    ("child", "ancestor"),
    [
        ("consolidation", "lung_opacity"),
        ("pneumonia", "lung_opacity"),
        ("cardiomegaly", "enlarged_cardiac_silhouette"),
        ("picc", "central_venous_catheter"),
        ("central_venous_catheter", "support_device"),
        ("tension_pneumothorax", "pleural_abnormality"),
        ("rib_fracture", "osseous_abnormality"),
    ],
)
def test_hierarchy_holds(child: str, ancestor: str) -> None:
    assert ancestor in load_lexicon().ancestors(child)


@pytest.mark.parametrize(
    ("anatomy", "finding"),
    [
        ("lung", "consolidation"),
        ("heart", "cardiomegaly"),
        ("pleural_space", "pleural_effusion"),
        ("bones", "fracture"),
        ("costophrenic_angle", "pleural_effusion"),
        ("mediastinum", "mediastinal_widening"),
    ],
)
def test_normal_anatomy_denies_its_findings(anatomy: str, finding: str) -> None:
    assert finding in load_lexicon().concepts[anatomy].denies


def test_urgent_findings_are_urgent() -> None:
    concepts = load_lexicon().concepts
    urgent = ("tension_pneumothorax", "free_air", "device_malposition", "aortic_dissection", "pulmonary_embolism")
    assert {concepts[each].tier for each in urgent} == {"urgent"}
    assert concepts["calcified_granuloma"].tier == "benign"
