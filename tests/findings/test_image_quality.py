"""A report on the picture is no report on the patient."""

from __future__ import annotations

import math

import pytest

import radgauge as rg

ABNORMAL = "Large right pleural effusion. Left lower lobe consolidation."
NORMAL = "The heart is normal. The lungs are clear. No pleural effusion or pneumothorax."


def errors(candidate: str, reference: str) -> dict[str, float]:
    scores = rg.score([rg.Case("1", candidate, (reference,))], ["errors"])["errors"]
    return dict(zip(scores.columns, scores.values[0].tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "The film is underpenetrated.",
        "A mostly dark picture, probably overexposed, making interpretation difficult.",
        "Grainy, low contrast image with poor visualization of the lungs.",
        "The examination is non-diagnostic.",
        "The image is too bright to be judged.",
    ],
)
def test_limitations_claim_nothing_and_leave_out_everything(text: str) -> None:
    values = errors(text, ABNORMAL)
    assert (values["errors_false_finding"], values["errors_omission"]) == (0, 2)
    assert values["errors_quality"] < 0.1
    assert math.isnan(errors(text, NORMAL)["errors_quality"])


def test_findings_on_a_poor_image_are_findings() -> None:
    values = errors(f"Underexposed film, making evaluation difficult. {ABNORMAL}", ABNORMAL)
    assert values["errors_total"] == 0
    assert values["errors_quality"] > 0.99
    assert errors("Large right pleural effusion on this poor quality image.", ABNORMAL)["errors_omission"] == 1


def test_what_speaks_of_neither_is_not_judged() -> None:
    assert math.isnan(errors("This is a frontal view of an adult.", ABNORMAL)["errors_quality"])
