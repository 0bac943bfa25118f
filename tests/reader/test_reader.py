"""The reader as a whole: contracts that hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.core.readings import Readings
from radgauge.reader import ReportReader, chexpert_labels, radgraph_graph, rate_entities, read_report

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
    assert reader.unpack(reader.pack(reading, text), text) == reading
    assert all(text[mention.start : mention.end] == mention.text for mention in reading.mentions)


def test_repeated_sentences_read_alike() -> None:
    reading = read_report("Small left effusion. Small left effusion.")
    first, second = reading.mentions
    assert first.attributes == second.attributes
    assert (first.sentence, second.sentence) == (0, 1)


WORDS = [
    "no",
    "effusion",
    "pneumothorax",
    ",",
    ".",
    "and",
    "or",
    "the",
    "heart",
    "is",
    "normal",
    "may represent",
    "left",
]


@given(
    st.lists(
        st.sampled_from([*WORDS, "\n", "L4-L5", "2.5 cm", "XXXX", "not", "versus", ":", "(", "lungs"]), max_size=60
    )
)
def test_any_order_of_report_words_is_read(words: list[str]) -> None:
    text = " ".join(words)
    reading = read_report(text)
    assert all(0 <= relation.source < len(reading.mentions) for relation in reading.relations)
    assert all(0 <= relation.target < len(reading.mentions) for relation in reading.relations)
    assert all(-1 <= modifier.mention < len(reading.mentions) for modifier in reading.modifiers)
    assert [mention.start for mention in reading.mentions] == sorted(mention.start for mention in reading.mentions)
    rate_entities(reading)
    radgraph_graph(reading)
    chexpert_labels(reading)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "nan", "None", "<b><i>" * 50, "((((" * 500, "." * 10_000, "\x00\ufffd\u202e", "no " * 5_000),
        *(
            "a" * 100_000,
            "_" * 5_000,
            "[**" * 3_000,
            "1. " * 3_000,
            "effusion, " * 3_000,
            "é" * 1_000,
            "\n" * 9_999,
        ),
        *("no effusion or " * 3_000, "- " * 5_000, "2 x " * 3_000 + "cm nodule", "\ud800 effusion"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_odd_texts_are_read(text: str) -> None:
    reading = read_report(text)
    assert reading.text == text
    rate_entities(reading)
    radgraph_graph(reading)


@pytest.mark.nightly
def test_time_grows_with_the_text_only() -> None:
    """A megabyte without a full stop takes the same work per character as a kilobyte."""
    phrase = "no effusion, left basilar opacity in the right lower lobe and "
    pieces = [len(read_report(phrase * count).sentences) for count in (100, 1000)]
    assert pieces[1] < 12 * pieces[0]
    assert len(read_report(phrase * 16_000).mentions) > 16_000


def test_the_reader_keeps_its_contract() -> None:
    reader = ReportReader()
    texts = ["No effusion.", "Cardiomegaly.", "No effusion."]
    readings = Readings().of(reader, texts)
    assert readings == reader.read(texts) == [read_report(text) for text in texts]
    assert reader.signature == ReportReader().signature
    assert hash(reader) == hash(ReportReader())
    assert reader.signature.startswith("report-reader-")


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="text must be a string, got NoneType"):
        read_report(None)  # type: ignore[arg-type]


def test_general_words_mean_what_the_region_makes_of_them() -> None:
    chest = read_report("The lungs are clear. No edema. Heart size is normal.")
    assert "pulmonary_edema" in {mention.concept for mention in chest.mentions}
    knee = read_report("Intact anterior cruciate ligament. Medial meniscus tear. No effusion. Patella is normal.")
    assert "joint_effusion" in {mention.concept for mention in knee.mentions}
    assert [mention.concept for mention in read_report("No edema.").mentions] == ["edema"]
