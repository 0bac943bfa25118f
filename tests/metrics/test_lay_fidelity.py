"""lay_fidelity: what a lay text keeps, loses, adds and changes."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.lay.metrics.lay_fidelity import LayFidelity

REPORT = "Small left pleural effusion. Mild cardiomegaly. No pneumothorax."
METRIC = LayFidelity()


def _row(lay: str, report: str = REPORT) -> list[float]:
    rows = METRIC.measure([Case("1", lay, (report,))], reading=Readings())
    return [float(value) for value in METRIC.case_scores(rows)[0]]


GOOD = (
    "There is a small amount of fluid around the lung on the left. The heart is slightly enlarged. There is no "
    "air leak around the lung."
)


@pytest.mark.parametrize(
    ("lay", "expected"),
    [
        (GOOD, [1, 3, 0, 0, 0]),
        (REPORT, [1, 3, 0, 0, 0]),
        (GOOD.replace("left", "right"), [4 / 6, 2, 0, 0, 1]),
        (GOOD.replace("small", "large"), [4 / 6, 2, 0, 0, 1]),
        (GOOD.replace("There is a small", "There may be a small"), [4 / 6, 2, 0, 0, 1]),
        (GOOD.replace(" on the left", ""), [4 / 6, 2, 0, 0, 1]),
        (GOOD.replace("There is no air leak around the lung.", ""), [4 / 5, 2, 1, 0, 0]),
        (GOOD + " There is a broken rib.", [6 / 7, 3, 0, 1, 0]),
        (GOOD.replace("is no air", "is an air"), [4 / 6, 2, 0, 0, 1]),
    ],
)
def test_counts(lay: str, expected: list[float]) -> None:
    assert _row(lay) == pytest.approx(expected)


def test_normal_statements_count() -> None:
    assert _row("The lungs are clear. The heart looks normal.", "Lungs clear. Heart unremarkable.")[0] == 1
    assert _row("The lungs are clear.", "Lungs clear. Heart unremarkable.")[0] == pytest.approx(2 / 3)


def test_corpus_value_is_the_share_of_all_statements() -> None:
    cases = [Case("1", GOOD, (REPORT,)), Case("2", "There is a broken rib.", ("Rib fracture. No pneumothorax.",))]
    rows = METRIC.measure(cases, reading=Readings())
    assert METRIC.corpus_scores(*sums(rows))[0] == pytest.approx(8 / 9)
    stacked = np.stack([sums(rows)[0], sums(rows)[0]])
    assert METRIC.corpus_scores(stacked, np.full((2, 5), 2.0)).shape == (2, 5)


def test_best_reference_counts() -> None:
    case = Case("1", GOOD, ("Cardiomegaly.", REPORT))
    assert METRIC.case_scores(METRIC.measure([case], reading=Readings()))[0][0] == 1


def test_nothing_to_read_is_not_judged() -> None:
    case = Case("1", "Hello there.", (REPORT,))
    assert np.isnan(METRIC.measure([case], reading=Readings())).all()
    why = METRIC.why_not(case, reading=Readings())
    assert why == "no finding and no normal statement was read in the candidate"


def test_explains() -> None:
    explained = METRIC.explain(Case("1", GOOD.replace("left", "right"), (REPORT,)), reading=Readings())
    assert explained is not None
    assert explained.notes[0].kind == "changed"
    assert "side is left in the reference, right in the lay text" in explained.notes[0].text
    spans = explained.notes[0].candidate_spans
    assert GOOD.replace("left", "right")[slice(*spans[0])] == "amount of fluid around the lung"


@pytest.mark.parametrize(
    ("professional", "lay"),
    [
        ("No pneumothorax.", "You do not have a collapsed lung."),
        ("No pleural effusion.", "There is no fluid around your lungs."),
        (
            "No pleural effusion. The heart is normal. The lungs are clear.",
            "There is no fluid buildup around the lungs. Your heart is normal. Your lungs are clear.",
        ),
        ("Degenerative changes of the spine.", "There are age-related changes in the spine."),
        ("Tortuous aorta.", "The aorta is twisted."),
    ],
)
def test_words_said_to_patients(professional: str, lay: str) -> None:
    metric = LayFidelity()
    rows = metric.measure([Case("1", lay, (professional,))], reading=Readings())
    assert metric.case_scores(rows)[0, 0] == 1


def test_a_collapsed_lobe_is_no_pneumothorax() -> None:
    metric = LayFidelity()
    rows = metric.measure([Case("1", "Collapsed lung.", ("Left lower lobe atelectasis.",))], reading=Readings())
    assert metric.case_scores(rows)[0, 0] == 0
