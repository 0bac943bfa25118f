"""What the lexicon does not know is data: open claims, unread words, coverage."""

from __future__ import annotations

import math

import pytest

from radgauge.reader import ReportReader, chexpert_labels, radgraph_graph, rate_entities, read_report


def opens(text: str) -> list[tuple[str, str, str]]:
    return [(each.text, each.assertion, each.attributes.laterality) for each in read_report(text).open_claims]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Quellation of the left kidney.", [("Quellation", "present", "left")]),
        ("No quellation of the right kidney.", [("quellation", "absent", "right")]),
        ("Possible zorbing process in the liver.", [("zorbing process", "uncertain", "")]),
        ("There is a large zorb.", [("zorb", "present", "")]),
        ("The left hemidiaphragm is quelled.", [("quelled", "present", "left")]),
        ("A Marlow gap in the right wrist.", [("Marlow gap", "present", "right")]),
        ("Findings consistent with frobnosis.", [("frobnosis", "present", "")]),
    ],
)
def test_unknown_words_in_the_position_of_a_finding_are_open_claims(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert opens(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The lungs are clear. No pleural effusion.",
        "Images were sent to the zorbian archive.",
        "XXXX of the left kidney. ___ in the liver.",
        "Quietly the heart is enlarged.",
    ],
)
def test_known_words_adverbs_and_masks_make_no_open_claim(text: str) -> None:
    assert opens(text) == []


def test_an_open_claim_carries_head_modifiers_place_and_size() -> None:
    [claim] = read_report("New 12 mm moderate frobnosis in the left kidney.").open_claims
    assert claim.concept == "open:frobnosis"
    assert claim.kind == "open"
    said = claim.attributes
    assert (said.severity, said.change, said.sizes_mm) == ("moderate", "new", (12.0,))
    assert said.locations == ("kidney",)


def test_the_concept_of_an_open_claim_does_not_depend_on_case_or_number() -> None:
    first, second = (
        read_report(text).open_claims[0] for text in ("Quellations of the liver.", "No quellation of the liver.")
    )
    assert first.concept == second.concept == "open:quellation"


def test_unread_words_are_spans_with_their_sentence() -> None:
    text = "The heart is normal. Discussed with the zorbian ward."
    reading = read_report(text)
    assert [(text[word.start : word.end], word.sentence) for word in reading.unread] == [
        ("zorbian", 1),
        ("ward", 1),
    ]


@pytest.mark.parametrize(
    ("text", "known", "content"),
    [
        ("Small effusion.", 2, 2),
        ("Small effusion XXXX.", 2, 2),
        ("Small frobnosis of the liver.", 2, 3),
        ("", 0, 0),
    ],
)
def test_coverage_is_the_share_of_content_words_that_the_lexicon_knows(
    text: str, known: int, content: int
) -> None:
    reading = read_report(text)
    assert (reading.known_words, reading.content_words) == (known, content)
    assert reading.coverage == known / content if content else math.isnan(reading.coverage)


def test_packing_keeps_unread_words_and_coverage() -> None:
    reader = ReportReader()
    text = "Zorbian ward. Frobnosis of the liver."
    [reading] = reader.read([text])
    packed = reader.pack(reading, text)
    unpacked = reader.unpack(packed, text)
    assert unpacked.unread == reading.unread
    assert unpacked.open_claims == reading.open_claims
    assert unpacked.coverage == reading.coverage < 1


def test_views_of_published_schemes_leave_open_claims_out() -> None:
    reading = read_report("Frobnosis of the liver.")
    assert [entity.name for entity in rate_entities(reading)] == ["liver"]
    assert [node["tokens"] for node in radgraph_graph(reading)["entities"].values()] == ["liver"]


def test_a_report_with_an_open_claim_is_not_labelled_no_finding() -> None:
    assert chexpert_labels(read_report("No effusion. Frobnosis of the lung."))["No Finding"] == ""
    assert chexpert_labels(read_report("No effusion. No frobnosis of the lung."))["No Finding"] == "positive"
