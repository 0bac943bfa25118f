"""Findings that shared a concept and are not one thing: each is read by its own name."""

from __future__ import annotations

import pytest

from radgauge.findings.concepts import ConceptSimilarity
from radgauge.reader import load_lexicon, read_report

APART = [
    ("Valgus deformity of the knee.", "genu_valgum", "Genu varum.", "genu_varum"),
    ("High-arched foot.", "pes_cavus", "Flat foot.", "pes_planus"),
    ("Golfer's elbow.", "medial_epicondylitis", "Tennis elbow.", "lateral_epicondylitis"),
    ("ALPSA lesion.", "alpsa_lesion", "GLAD lesion.", "glad_lesion"),
    ("Rickets.", "rickets", "Scurvy.", "scurvy"),
    ("Positive for a SNAC wrist.", "snac_wrist", "SLAC wrist.", "slac_wrist"),
    ("Hemivertebra at T10.", "hemivertebra", "Butterfly vertebra at T10.", "butterfly_vertebra"),
    ("Dextroscoliosis.", "dextroscoliosis", "Levoscoliosis.", "levoscoliosis"),
    ("Macrocephaly.", "macrocephaly", "Microcephaly.", "microcephaly"),
    ("Pineoblastoma.", "pineoblastoma", "Pineocytoma.", "pineocytoma"),
    ("Bosniak II cyst.", "bosniak_ii_cyst", "Bosniak IV cyst.", "bosniak_iv_cyst"),
    ("PI-RADS 4 lesion.", "pirads_4", "PI-RADS 5 lesion.", "pirads_5"),
    ("Gastroschisis.", "gastroschisis", "Omphalocele.", "omphalocele"),
    ("Dichorionic twins.", "dichorionic_twins", "Monochorionic twins.", "monochorionic_twins"),
    ("Vasa previa.", "vasa_previa", "Marginal cord insertion.", "marginal_cord_insertion"),
    ("Septate uterus.", "septate_uterus", "Bicornuate uterus.", "bicornuate_uterus"),
    ("Warthin tumor.", "warthin_tumor", "Pleomorphic adenoma.", "pleomorphic_adenoma"),
    ("Le Fort I fracture.", "le_fort_i", "Le Fort III fracture.", "le_fort_iii"),
    ("Ebstein anomaly.", "ebstein_anomaly", "Truncus arteriosus.", "truncus_arteriosus"),
    ("Pessary in place.", "pessary", "IUD in place.", "intrauterine_device"),
    ("Cholecystostomy tube.", "cholecystostomy_tube", "Biliary stent.", "biliary_stent"),
    ("Tracheal bronchus.", "tracheal_bronchus", "Tracheal diverticulum.", "tracheal_diverticulum"),
    ("Jejunal atresia.", "jejunal_atresia", "Annular pancreas.", "annular_pancreas"),
    ("Rectocele.", "rectocele", "Cystocele.", "cystocele"),
    ("Hip effusion.", "hip_effusion", "Knee effusion.", "knee_effusion"),
    ("Cam deformity.", "cam_deformity", "Pincer deformity.", "pincer_deformity"),
    ("ATFL tear.", "atfl_tear", "CFL tear.", "cfl_tear"),
    ("Peroneus brevis tear.", "peroneus_brevis_tear", "Peroneus longus tear.", "peroneus_longus_tear"),
    ("Superior pubic ramus fracture.", "superior_pubic_ramus_fracture", "Inferior pubic ramus fracture.", ""),
    ("Cleft lip.", "cleft_lip", "Micrognathia.", "micrognathia"),
    ("Parastomal hernia.", "parastomal_hernia", "Lumbar hernia.", "lumbar_hernia"),
]


@pytest.mark.parametrize(("one", "its", "other", "others"), APART)
def test_each_has_a_concept_of_its_own(one: str, its: str, other: str, others: str) -> None:
    assert (its, "present") in {(m.concept, m.assertion) for m in read_report(one).mentions}
    others = others or its.replace("superior", "inferior")
    assert (others, "present") in {(m.concept, m.assertion) for m in read_report(other).mentions}
    assert ConceptSimilarity(load_lexicon()).of(its, others) < 0.8
