"""The reader as a whole: contracts that hold for any text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.report_reader import ReportReader, read_report

REPORT = "FINDINGS: The heart is mildly enlarged. No effusion or pneumothorax.\nIMPRESSION: 1. Cardiomegaly."


def test_spans_are_the_text() -> None:
    reading = read_report(REPORT)
    assert [mention.text for mention in reading.mentions] == [
        REPORT[mention.start : mention.end] for mention in reading.mentions
    ]
    assert [sentence.section for sentence in reading.sentences] == ["findings", "findings", "impression"]


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_and_survives_packing(text: str) -> None:
    reader = ReportReader()
    (reading,) = reader.read([text])
    assert reader.unpack(reader.pack(reading)) == reading
    assert all(text[mention.start : mention.end] == mention.text for mention in reading.mentions)


def test_repeated_sentences_read_alike() -> None:
    reading = read_report("Small left effusion. Small left effusion.")
    first, second = reading.mentions
    assert first.attributes == second.attributes
    assert (first.sentence, second.sentence) == (0, 1)
