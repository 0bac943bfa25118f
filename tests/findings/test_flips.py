"""One changed side, count or recommendation is an error; the same in other words is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.advice import advice_of
from radgauge.findings.labels import labels_in
from radgauge.metrics.errors import Errors
from radgauge.reader import read_report


def _values(pairs: list[tuple[str, str]]) -> list[dict[str, float]]:
    cases = [Case(str(index), candidate, (reference,)) for index, (reference, candidate) in enumerate(pairs)]
    rows = Errors().measure(cases, reading=Readings())
    return [dict(zip(Errors().columns, map(float, row), strict=True)) for row in rows]


_SIDES = [("R", "L"), ("Rt", "Lt"), ("Rt.", "Lt."), ("rt.", "lt."), ("(R)", "(L)"), ("(Rt)", "(Lt)"), ("R.", "L.")]
_SIDED = [
    "{} 7th rib fracture.",
    "Displaced fracture of the {} 3rd metacarpal.",
    "There is a fracture of the {} femur.",
    "Small {} pleural effusion.",
    "{} pleural effusion.",
]
_HYPHENATED = [("Small R-sided effusion.", "Small L-sided effusion."), ("R-sided mass.", "L-sided mass.")]


def test_every_way_to_write_a_side_is_read(record_property: Callable[[str, object], None]) -> None:
    flips = [(text.format(a), text.format(b)) for text, (a, b) in product(_SIDED, _SIDES)] + _HYPHENATED
    missed = [pair for pair, row in zip(flips, _values(flips), strict=True) if row["errors_location"] != 1]
    record_property("changed sides, abbreviated, that are noticed", f"{len(flips) - len(missed)} of {len(flips)}")
    assert missed == []
    spelled = [(text.format("right"), text.format(a)) for text, (a, _) in product(_SIDED, _SIDES)]
    assert [pair for pair, row in zip(spelled, _values(spelled), strict=True) if row["errors_total"]] == []


@pytest.mark.parametrize("text", ["Fracture of L 4.", "R/O fracture.", "Fracture of L1 (R1 resection)."])
def test_letters_that_are_no_side(text: str) -> None:
    assert not any(mention.attributes.laterality for mention in read_report(text).mentions)


def test_side_abbreviations_end_sentences_before_a_capital() -> None:
    texts = [read_report("Small effusion on the rt. Heart size is normal.").text]
    reading = read_report(texts[0])
    assert [reading.text[s.start : s.end] for s in reading.sentences] == [
        "Small effusion on the rt.",
        "Heart size is normal.",
    ]


_NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_COUNTED = [
    "There are {} nodules in the right upper lobe.",
    "{} displaced left rib fractures.",
    "{} hepatic cysts.",
]


def test_every_count_in_words_is_compared(record_property: Callable[[str, object], None]) -> None:
    flips = [
        (text.format(a), text.format(b))
        for text, (a, b) in product(_COUNTED, zip(_NUMBERS, (*_NUMBERS[4:], *_NUMBERS[:4]), strict=True))
    ]
    missed = [pair for pair, row in zip(flips, _values(flips), strict=True) if row["errors_severity"] != 1]
    record_property("changed counts in words that are noticed", f"{len(flips) - len(missed)} of {len(flips)}")
    assert missed == []
    digits = [(text.format(word), text.format(n)) for text in _COUNTED for n, word in enumerate(_NUMBERS, 2)]
    assert [pair for pair, row in zip(digits, _values(digits), strict=True) if row["errors_total"]] == []


@pytest.mark.parametrize(
    "text",
    [
        *("two views of the chest", "a 3 mm nodule", "2 3 mm nodules", "4 x 3 cm masses", "nodules in two months"),
        *("5-6 nodules", "grade 2 changes", "BI-RADS 4 calcifications", "12 week interval changes"),
    ],
)
def test_numbers_that_count_nothing(text: str) -> None:
    assert "count" not in {label.name for label in labels_in(text)}


_ADVICE = [
    ("Follow-up CT in 6 months is recommended.", "Follow-up CT in 12 months is recommended."),
    ("Follow-up CT in three months is recommended.", "Follow-up CT in one year is recommended."),
    ("Follow-up CT is recommended.", "No follow-up is recommended."),
    ("Follow-up CT is recommended.", ""),
    ("", "Recommend biopsy."),
    ("Recommend biopsy.", "Recommend MRI."),
    ("Ultrasound is advised.", "CT is advised."),
    ("Consider PET-CT for further characterization.", "Consider MRI for further characterization."),
    ("Urgent surgical consultation is recommended.", "Routine surgical consultation is recommended."),
    ("Further evaluation with MRI is recommended.", "Further evaluation is not required."),
    ("Tissue sampling should be considered.", "Mammography should be considered."),
    ("Repeat radiograph in 2 weeks.", "Repeat radiograph in 8 weeks."),
    ("Advise retraction of the tube by 3 cm.", "Advise advancement of the tube by 3 cm."),
    ("Recommend immediate neurosurgical consultation.", "Recommend outpatient neurosurgical consultation."),
    ("Recommend comparison with outside studies.", "Recommend surgical resection."),
    ("Clinical correlation is recommended.", "Bronchoscopy is recommended."),
]
_BEFORE = ["4 mm nodule in the right upper lobe. ", "Small left pleural effusion. ", "Lungs are clear. "]


def test_every_changed_recommendation_is_counted_apart(
    record_property: Callable[[str, object], None],
) -> None:
    flips = [(before + a, before + b) for before, (a, b) in product(_BEFORE, _ADVICE)]
    rows = _values(flips)
    missed = [pair for pair, row in zip(flips, rows, strict=True) if row["errors_advice"] != 1]
    record_property("changed recommendations that are counted", f"{len(flips) - len(missed)} of {len(flips)}")
    assert missed == []
    assert [pair for pair, row in zip(flips, rows, strict=True) if row["errors_total"]] == []


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Nodule. Follow-up CT in 12 months is recommended.", "Nodule. Recommend CT follow-up in one year."),
        ("Nodule. No further imaging is needed.", "Nodule. No follow-up is necessary."),
        (
            "Nodule. Recommend CT in 3 months. IMPRESSION: Follow-up is recommended.",
            "Nodule. CT in 3 months advised.",
        ),
        ("Nodule. An MRI could be obtained.", "Nodule. MRI is suggested."),
    ],
)
def test_the_same_recommendation_in_other_words(reference: str, candidate: str) -> None:
    assert _values([(reference, candidate)])[0]["errors_advice"] == 0


def test_without_a_recommendation_there_is_nothing_to_count() -> None:
    assert math.isnan(_values([("Nodule. Compared to the followup CT.", "Nodule.")])[0]["errors_advice"])
    assert advice_of(read_report("HISTORY: Cough, CT recommended. FINDINGS: Clear lungs.")) == ()


def test_a_changed_recommendation_is_explained() -> None:
    case = Case("1", "Nodule. Recommend MRI.", ("Nodule. Recommend biopsy.",))
    explanation = Errors().explain(case, reading=Readings())
    assert explanation is not None
    (note,) = [note for note in explanation.notes if note.data.get("category_key") == "advice"]
    assert (note.kind, note.reference_spans, note.candidate_spans) == ("changed", ((8, 25),), ((8, 22),))
