"""nodules: detection by size class, and what is said of nodules."""

from __future__ import annotations

import math

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import knowledge_for
from radgauge.metrics.nodules import CLASSES, COLUMNS, Nodule, Nodules, Pair, nodules_of
from radgauge.reader import load_lexicon, read_report

REFERENCE = (
    "8 mm solid nodule in the right upper lobe. 4 mm nodule in the lingula. "
    "Calcified nodule of 12 x 8 mm in the left lower lobe. No effusion."
)
READING = Readings()


def nodules(text: str, organ: str = "lung") -> list[Nodule]:
    knowledge = knowledge_for(load_lexicon())
    return list(nodules_of(findings_of(read_report(text), knowledge), knowledge, organ=organ))


def values(candidate: str, reference: str = REFERENCE, organ: str = "lung") -> dict[str, float]:
    metric = Nodules(organ=organ)  # type: ignore[arg-type]
    rows = metric.measure([rg.Case("1", candidate, (reference,))], reading=READING)
    return dict(zip(COLUMNS, metric.case_scores(rows)[0].tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 6 mm solid nodule in the right upper lobe.", [((6.0,), "solid", "", "")]),
        ("Ground-glass nodule of 4 mm in the left lower lobe.", [((4.0,), "ground glass", "", "")]),
        (
            "Part-solid nodule of the middle lobe with a solid component of 5 mm, 1.4 cm overall.",
            [((14.0,), "part-solid", "", "")],
        ),
        ("Three calcified granulomas in the right lower lobe, up to 5 mm.", [((5.0,), "", "calcified", "3")]),
        ("Nodule of 1.2 x 0.8 x 0.7 cm in the lingula.", [((12.0, 8.0, 7.0), "", "", "")]),
        ("Nodules in the right lung of 3 mm, 5 mm and 7 mm.", [((size,), "", "", "") for size in (7.0, 5.0, 3.0)]),
        ("Lung nodules.", [((), "", "", "")]),
        ("Thyroid nodule of 15 mm. 8 mm cyst in the left kidney. Tree-in-bud nodules.", []),
        ("No nodule. Lungs are clear.", []),
    ],
)
def test_nodules_of_a_report(text: str, expected: list[tuple[object, ...]]) -> None:
    assert [(each.dimensions, each.density, each.calcium, each.number) for each in nodules(text)] == expected


def test_other_organs() -> None:
    text = "12 mm cyst in the left kidney. 8 mm nodule in the right upper lobe."
    assert [each.dimensions for each in nodules(text, organ="any")] == [(12.0,), (8.0,)]
    assert values(text, "11 mm cyst of the left kidney.", organ="any")["nodules_sensitivity"] == 1.0


@pytest.mark.parametrize(
    ("reference", "candidate", "same"),
    [
        ((3.0,), (4.0,), True),
        ((3.0,), (4.1,), False),
        ((6.0,), (7.25,), True),
        ((6.0,), (7.3,), False),
        ((20.0,), (23.0,), True),
        ((20.0,), (23.1,), False),
        ((12.0, 8.0), (12.0, 3.0), False),  # every dimension
        ((12.0, 8.0), (12.0,), True),
        ((), (5.0,), None),
    ],
)
def test_tolerances(reference: tuple[float, ...], candidate: tuple[float, ...], same: bool | None) -> None:
    (nodule,) = nodules("Lung nodule.")
    pair = Pair(nodule._replace(dimensions=reference), nodule._replace(dimensions=candidate))
    assert pair.same_size is same


@pytest.mark.parametrize(
    ("size", "name"),
    [(3.9, "below_4"), (4, "4_to_6"), (6, "6_to_8"), (8, "8_to_15"), (15, "from_15"), (None, "unmeasured")],
)
def test_size_classes(size: float | None, name: str) -> None:
    (nodule,) = nodules("Lung nodule.")
    assert CLASSES[nodule._replace(dimensions=() if size is None else (size,)).size_class] == name


def test_detection_by_hand() -> None:
    found = values("Solid nodule in the right upper lobe, 9 mm. 12 x 3 mm nodule in the left lower lobe.")
    expected = {
        "nodules_f1": 2 / 5,  # 1 of 3 and of 2
        "nodules_sensitivity": 1 / 3,
        "nodules_false_positives": 1.0,
        "nodules_n": 3.0,
        "nodules_size": 1 / 2,
        "nodules_size_n": 2.0,
        "nodules_density": 1.0,
        "nodules_density_n": 1.0,
        "nodules_calcified_n": 0.0,
        "nodules_sensitivity_8_to_15": 1 / 2,
        "nodules_false_positives_8_to_15": 1.0,
        "nodules_n_8_to_15": 2.0,
        "nodules_sensitivity_4_to_6": 0.0,
        "nodules_n_4_to_6": 1.0,
        "nodules_n_from_15": 0.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert math.isnan(found["nodules_sensitivity_from_15"])
    assert math.isnan(found["nodules_calcified"])


@pytest.mark.parametrize(
    ("candidate", "f1"),
    [
        (REFERENCE, 1.0),
        (REFERENCE.replace("left lower", "left upper"), 2 / 3),
        (REFERENCE.replace("right", "left"), 2 / 3),
        (REFERENCE.replace("8 mm solid", "18 mm solid"), 2 / 3),
        ("Lungs are clear. No effusion.", 0.0),
    ],
)
def test_a_change_of_place_or_size_is_a_miss(candidate: str, f1: float) -> None:
    assert values(candidate)["nodules_f1"] == pytest.approx(f1)


def test_a_set_is_sums_over_sums_and_a_constant_report_gets_nothing() -> None:
    metric = Nodules()
    normal = "Lungs are clear. No effusion."
    texts = [(REFERENCE, REFERENCE), (normal, REFERENCE), ("5 mm nodule in the left upper lobe.", normal)]
    cases = [rg.Case(str(n), candidate, (reference,)) for n, (candidate, reference) in enumerate(texts)]
    rows = metric.measure(cases, reading=READING)
    total = dict(zip(COLUMNS, metric.corpus_scores(*sums(rows)).tolist(), strict=True))
    assert total["nodules_sensitivity"] == pytest.approx(3 / 6)
    assert total["nodules_false_positives"] == pytest.approx(1 / 3)
    assert total["nodules_n"] == 6
    constant = metric.measure(
        [rg.Case("1", normal, (REFERENCE,)), rg.Case("2", normal, (normal,))], reading=READING
    )
    assert metric.corpus_scores(*sums(constant))[:2].tolist() == [0.0, 0.0]


def test_the_best_reference_counts() -> None:
    case = rg.Case("1", REFERENCE, ("Lungs are clear.", REFERENCE))
    turned = rg.Case("1", REFERENCE, case.references[::-1])
    rows = Nodules().measure([case, turned], reading=READING)
    np.testing.assert_array_equal(rows[0], rows[1])
    assert Nodules().case_scores(rows)[0, 0] == 1.0


def test_reasons() -> None:
    normal = "Lungs are clear."
    results = rg.score(
        [rg.Case("1", normal, (normal,)), rg.Case("2", "Thank you very much indeed.", (normal,))], ["nodules"]
    )
    reasons = results["nodules"].reasons
    assert reasons["1", "system"] == "neither report has a nodule"
    assert "2" in {study for study, _ in reasons}


def test_explanations_name_every_nodule() -> None:
    candidate = (
        "Solid nodule in the right upper lobe, 9 mm. 12 x 3 mm nodule in the left lower lobe. "
        "20 mm mass in the right lower lobe."
    )
    notes = rg.explain(candidate=candidate, reference=REFERENCE, metric="nodules").notes
    assert [(note.kind, note.text) for note in notes] == [
        ("matched", "8 mm solid nodule right upper lobe: 9 mm solid nodule right upper lobe."),
        ("changed", "12 x 8 mm calcified nodule left lower lobe: 12 x 3 mm nodule left lower lobe, another size."),
        ("missing", "4 mm nodule lingula is missed."),
        ("added", "20 mm nodule right lower lobe is not in the reference."),
    ]
    assert candidate[slice(*notes[3].candidate_spans[0])] == "mass"
