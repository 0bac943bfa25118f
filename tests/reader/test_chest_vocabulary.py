"""The chest and device vocabulary: what common phrases are read as, and that the files agree with each other."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report
from radgauge.reader.lexicon import load_lexicon
from radgauge.reader.lexicon.load import built_in_files, check_lexicon

PHRASES = {
    "The heart is enlarged.": "cardiomegaly",
    "Enlarged cardiac silhouette.": "enlarged_cardiac_silhouette",
    "The cardiomediastinal silhouette is prominent.": "enlarged_cardiomediastinum",
    "Widened mediastinum.": "mediastinal_widening",
    "Tortuosity of the thoracic aorta.": "tortuous_aorta",
    "The aorta is tortuous.": "tortuous_aorta",
    "Unfolding of the aorta.": "tortuous_aorta",
    "Calcified aortic arch.": "aortic_calcification",
    "Elevation of the right hemidiaphragm.": "elevated_hemidiaphragm",
    "The left hemidiaphragm is elevated.": "elevated_hemidiaphragm",
    "Flattening of the diaphragms.": "flattened_diaphragm",
    "Blunting of the left costophrenic angle.": "costophrenic_angle_blunting",
    "The right costophrenic sulcus is blunted.": "costophrenic_angle_blunting",
    "Fracture of the left 6th rib.": "rib_fracture",
    "Calcified right hilar lymph nodes.": "calcified_lymph_node",
    "Right hilar fullness.": "hilar_enlargement",
    "Scarring in the lingula.": "pulmonary_scarring",
    "RUL nodule.": "lung_nodule",
    "Plate-like atelectasis at the left base.": "subsegmental_atelectasis",
    "Patchy bibasilar airspace disease.": "airspace_disease",
    "Kerley B lines.": "kerley_lines",
    "Prominent interstitial markings.": "increased_interstitial_markings",
    "Lung volumes are low.": "low_lung_volumes",
    "Free air under the diaphragm.": "free_air",
    "Tension pneumothorax.": "tension_pneumothorax",
    "Bilateral pneumothoraces.": "pneumothorax",
    "Multilevel degenerative changes of the thoracic spine.": "degenerative_spine_change",
    "Degenerative changes of the spine and shoulders.": "degenerative_change",
    "The ETT terminates above the carina.": "endotracheal_tube",
    "Right IJ central line with tip in the SVC.": "jugular_central_line",
    "Left-sided PICC.": "picc",
    "Swan-Ganz catheter in the right pulmonary artery.": "swan_ganz_catheter",
    "Dobbhoff tube in the stomach.": "feeding_tube",
    "Median sternotomy wires.": "sternotomy_wires",
    "Dual-chamber pacemaker.": "pacemaker",
    "Right mainstem intubation.": "mainstem_intubation",
}


@pytest.mark.parametrize(("text", "concept"), PHRASES.items())
def test_phrase_is_read_as_concept(text: str, concept: str) -> None:
    found = [mention.concept for mention in read_report(text).mentions if mention.kind != "anatomy"]
    assert concept in found


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
