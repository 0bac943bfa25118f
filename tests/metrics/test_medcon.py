"""MEDCON on an invented UMLS: counted by hand, and held to the contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.metrics.medcon import ConceptReader, Medcon, semantic_types
from radgauge.run.contract import check_metric
from radgauge.run.score import score

CONCEPTS = {
    "C1": ("T033", "effusion", "Effusion", "pleural fluid"),
    "C2": ("T047", "pleural effusion", "Pleural effusion"),
    "C3": ("T023", "lung", "Lung", "lungs", "lobe of lung"),
    "C4": ("T074", "ETT", "endotracheal tube", "tube"),
    "C5": ("T061", "thoracentesis"),  # a procedure: does not count
    "C6": ("T023", "heart", "Heart", "heart size"),
    "C7": ("T047", "left lower lobe consolidation of the lung"),  # more than five tokens
}


@pytest.fixture
def umls(tmp_path: Path) -> str:
    rows, types = [], []
    for cui, (kind, *names) in CONCEPTS.items():
        types.append(f"{cui}|{kind}|A|x|AT||")
        rows += [f"{cui}|ENG|P|L|PF|S|Y|A||||SRC|PT|1|{name}|0|N||" for name in names]
    (tmp_path / "MRCONSO.RRF").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "MRSTY.RRF").write_text("\n".join(types) + "\n", encoding="utf-8")
    return str(tmp_path)


def test_the_longest_string_is_found_and_its_parts_are_not(umls: str) -> None:
    [found] = ConceptReader(umls).read(
        ["Small pleural effusion at the lobe of lung; thoracentesis done. HEART clear."]
    )
    assert found == {"pleural effusion": ("C2",), "lobe of lung": ("C3",), "heart": ("C6",)}


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("effusion and tube", "effusion and tube", 1.0),
        ("effusion", "lung", 0.0),
        (
            "effusion. heart",
            "pleural fluid. lung",
            2 * 1 / (2 + 2),
        ),  # one string, another name of the same concept
        ("No effusion.", "Effusion.", 1.0),  # it knows no negation
        ("effusion", "Effusion; pleural fluid", 2 * 2 / (1 + 2)),  # above 1, as published
    ],
)
def test_by_hand(umls: str, candidate: str, reference: str, expected: float) -> None:
    found = score([Case("1", candidate, (reference,))], Medcon(umls=umls))["medcon"]
    assert found.headline[0] == pytest.approx(expected)


def test_case_is_a_setting(umls: str) -> None:
    cases = [Case("1", "PLEURAL FLUID and Tube", ("pleural fluid and tube",))]
    kept, lowered = (
        score(cases, Medcon(umls=umls, case=case))["medcon"].headline[0] for case in ("keep", "lower")
    )
    assert kept == pytest.approx(2 * 1 / (1 + 2))  # "Tube" is no string of this UMLS; capitals are looked up small
    assert lowered == 1.0


def test_what_has_no_concept_is_not_judged(umls: str) -> None:
    cases = [
        Case("1", "nothing known", ("effusion",)),
        Case("2", "effusion", ("blank",)),
        Case("3", " ", ("lung",)),
    ]
    found = score(cases, Medcon(umls=umls))["medcon"]
    assert np.isnan(found.headline).all()
    assert [found.reasons[case.key] for case in cases] == [
        "no UMLS concept found in the candidate",
        "no UMLS concept found in the reference",
        "empty candidate",
    ]
    zero = score(cases, Medcon(umls=umls, empty="zero"))["medcon"].headline
    assert zero.tolist() == [0.0, 0.0, 0.0]


def test_explanations_name_terms_and_concepts(umls: str) -> None:
    said = Medcon(umls=umls).explain(Case("1", "effusion. tube", ("pleural fluid. lung",)), reading=Readings())
    assert said is not None
    assert [(note.kind, note.text) for note in said.notes] == [
        ("matched", "pleural fluid (C1)"),
        ("missing", "lung (C3)"),
        ("added", "tube (C4)"),
    ]


def test_without_a_umls_it_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"medcon:umls=FOLDER"):
        score([Case("1", "a", ("a",))], load("medcon"))
    with pytest.raises(ModelError, match=r"must hold MRCONSO\.RRF, and it is not there"):
        load(f"medcon:umls={tmp_path}").signature()


def test_the_contract_holds(umls: str) -> None:
    check_metric(Medcon(umls=umls, case="lower"))


def test_the_seven_groups_are_there() -> None:
    assert {"T023", "T121", "T074", "T033", "T028", "T070", "T039"} <= semantic_types()
    assert not {"T061", "T170", "T101"} & semantic_types()  # procedures, concepts, living beings


@pytest.mark.nightly
def test_time_grows_with_the_text_and_not_with_its_square(umls: str) -> None:
    from time import process_time

    def took(words: int) -> float:
        began = process_time()
        ConceptReader(umls).read(["effusion lung " * words])
        return process_time() - began

    took(1000)
    assert took(40_000) < 12 * max(took(10_000), 0.005)
