"""Where a device ends: right, wrong, or not said."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import knowledge_for
from radgauge.metrics.errors import Errors
from radgauge.reader import load_lexicon, read_report

KNOWN = knowledge_for(load_lexicon())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Endotracheal tube tip in the right main bronchus.", ["bad"]),
        ("Endotracheal tube 4 cm above the carina.", ["good"]),
        ("Endotracheal tube 1 cm above the carina.", ["bad"]),
        ("Endotracheal tube is in satisfactory position.", ["good"]),
        ("Endotracheal tube is not in satisfactory position.", ["bad"]),
        ("Endotracheal tube in situ.", [""]),
        ("The nasogastric tube lies in the left lower lobe bronchus. Do not feed.", ["bad"]),
        ("Nasogastric tube passes below the diaphragm.", ["good"]),
        ("Right PICC. Repositioning needed.", ["bad"]),
        ("The left chest tube is malfunctioning.", ["bad"]),
        ("Left chest port with the tip in the lower SVC, no kink.", ["good"]),
        ("Endotracheal tube and nasogastric tube in satisfactory position.", ["good", "good"]),
        ("Endotracheal tube in good position. Nasogastric tube coiled in the esophagus.", ["good", "bad"]),
    ],
)
def test_position_of_a_device(text: str, expected: list[str]) -> None:
    found = findings_of(read_report(text), KNOWN).present
    assert [finding.position for finding in found if finding.kind == "device"] == expected


def test_a_dangerous_position_called_right_is_an_urgent_error_of_place() -> None:
    case = Case(
        "1",
        "Endotracheal tube in satisfactory position.",
        ("Endotracheal tube in the right main bronchus, needs pulling back.",),
    )
    found = Errors().profile(case, reading=Readings())
    assert found is not None
    (error,) = found[0].errors
    assert (error.category, error.significant, error.tier) == (2, True, 0)


def test_a_device_in_the_right_place_may_go_without_saying() -> None:
    case = Case("1", "Endotracheal tube.", ("Endotracheal tube 4 cm above the carina.",))
    found = Errors().profile(case, reading=Readings())
    assert found is not None
    assert not found[0].errors


def test_a_report_that_contradicts_itself_on_a_device_is_wrong() -> None:
    reference = "Right PICC tip in the right internal jugular vein. Repositioning needed."
    case = Case("1", f"{reference} Impression: Right PICC in satisfactory position.", (reference,))
    found = Errors().profile(case, reading=Readings())
    assert found is not None
    assert [(error.category, error.significant) for error in found[0].errors] == [(2, True)]
