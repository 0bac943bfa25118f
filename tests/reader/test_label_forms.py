"""Status behind a label: what structured reports say is read as they say it."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from label_forms import Form, forms

from radgauge.reader import load_lexicon, read_report
from radgauge.reader.label_grammar import statements
from radgauge.reader.vocabulary import FINDINGS

SHARES = {"absent": 0.98, "present": 0.98, "neither": 0.95, "uncertain": 0.95}


def statuses(text: str, concept: str) -> set[str]:
    """What a text says of a concept and its relatives."""
    lexicon = load_lexicon()
    family = {concept, *lexicon.ancestors(concept)}
    return {
        mention.assertion
        for mention in read_report(text).mentions
        if mention.kind in FINDINGS
        and (mention.concept in family or concept in lexicon.ancestors(mention.concept))
    }


def shares(chosen: list[Form]) -> dict[str, float]:
    """Share of the forms that are read rightly, per status."""
    right, total = Counter[str](), Counter[str]()
    for form in chosen:
        total[form.status] += 1
        right[form.status] += statuses(form.text, form.concept) == ({form.status} - {"neither"})
    return {status: right[status] / count for status, count in total.items()}


def test_every_fiftieth_form_is_read_rightly() -> None:
    read = shares(list(forms())[::50])
    assert read.keys() == SHARES.keys()
    assert all(read[status] >= share for status, share in SHARES.items()), read


@pytest.mark.nightly
def test_every_form_is_read_rightly() -> None:
    read = shares(list(forms()))
    assert all(read[status] >= share for status, share in SHARES.items()), read


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("Edema: yes, effusion: no", "edema", {"present"}),
        ("Pneumonia: the lungs are clear.", "pneumonia", {"absent"}),
        ("Bones/fractures: normal", "fracture", {"absent"}),
        ("Heart: [x] normal [ ] enlarged", "cardiomegaly", set()),
        ("Pulmonary nodule: RADS category 0", "lung_nodule", {"present"}),
        ("FINDINGS: No effusion. IMPRESSION: Negative.", "pleural_effusion", {"absent"}),
        ("Comparison: None. Small pleural effusion.", "pleural_effusion", {"present"}),
        ("There is a nodule (not seen before).", "nodule", {"present"}),
        ("Small effusion - no pneumothorax", "pleural_effusion", {"present"}),
    ],
)
def test_values_are_told_from_sentences(text: str, concept: str, expected: set[str]) -> None:
    assert statuses(text, concept) == expected


def test_spans_point_into_the_text_across_boxes_and_tables() -> None:
    for text in ("Edema: [ ] none [x] mild", "| Edema | mild | basal |", '{"pleural_effusion": "left"}'):
        reading = read_report(text)
        assert reading.mentions
        assert all(text[m.start : m.end] == m.text.replace(" effusion", "_effusion") for m in reading.mentions)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "piece", [". ", "- ", ": ", "[ ] ", "| ", "? ", "no ", "seen ", "\t \t", "&amp;", "<p ", "_", "\n"]
)
def test_time_grows_with_the_text_alone(piece: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        statements(piece * count)
        return time.process_time() - start

    assert seconds(8000) < 12 * max(seconds(2000), 0.004)
