"""The worked examples of the RaTEScore paper (Appendix A.1 and A.5): entity types, and which text wins."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.metrics.ratescore import RateScore
from radgauge.reader import rate_entities, read_report


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A Foley catheter is in situ.", [("Foley catheter", "Anatomy"), ("in situ", "Non-Abnormality")]),
        ("A Foley catheter is not in place.", [("Foley catheter", "Anatomy"), ("not in place", "Abnormality")]),
        ("The heart is not normal.", [("heart", "Anatomy"), ("not normal", "Abnormality")]),
        ("The ribs are not intact.", [("ribs", "Anatomy"), ("not intact", "Abnormality")]),
        (
            "The femoral vein does not compress.",
            [("femoral vein", "Anatomy"), ("not compress", "Abnormality")],
        ),
        (
            "The femoral vein compresses fully.",
            [("femoral vein", "Anatomy"), ("compresses fully", "Non-Abnormality")],
        ),
        ("The appendix is air-filled.", [("appendix", "Anatomy"), ("air-filled", "Non-Abnormality")]),
        ("The appendix is not air-filled.", [("appendix", "Anatomy"), ("not air-filled", "Abnormality")]),
        ("There is a Foley catheter.", [("Foley catheter", "Abnormality")]),
    ],
)
def test_types_of_entities(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(entity.name, entity.type) for entity in rate_entities(read_report(text))] == expected


def test_the_rewritten_report_scores_above_the_opposite() -> None:
    metric = RateScore()
    reference = "The appendix is well visualized and air-filled."
    texts = ("The appendix is seen and contains gas.", "The appendix is poorly visualized and not air-filled.")
    cases = [Case(str(index), text, (reference,)) for index, text in enumerate(texts)]
    rewritten, opposite = metric.case_scores(metric.measure(cases, reading=Readings()))[:, 0]
    assert rewritten > opposite
