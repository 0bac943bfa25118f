"""The structure and the side of a heading hold for the lines below it."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report

KNEES = "Right knee:\n  Menisci: tear\n  Ligaments: intact\nLeft knee:\n  Menisci: normal\n  Effusion: moderate"
KIDNEYS = "LEFT KIDNEY:\n- Stone: 5 mm\n- Hydronephrosis: none\nRIGHT KIDNEY:\n- Hydronephrosis: mild"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KNEES, [("meniscal_tear", "present", "right"), ("joint_effusion", "present", "left")]),
        (
            KIDNEYS,
            [
                ("nephrolithiasis", "present", "left"),
                ("hydronephrosis", "absent", "left"),
                ("hydronephrosis", "present", "right"),
            ],
        ),
        ("Lungs:\n- Right: consolidation\n- Left: clear", [("consolidation", "present", "right")]),
        ("Kidneys: Right: normal. Left: 3 mm stone.", [("nephrolithiasis", "present", "left")]),
        (
            "Carotid arteries:\n  Right: 50% stenosis\n  Left: no stenosis",
            [("carotid_stenosis", "present", "right"), ("carotid_stenosis", "absent", "left")],
        ),
        (
            "Left kidney:\n- Cyst\n\nLiver: cyst",
            [("renal_cyst", "present", "left"), ("liver_cyst", "present", "")],
        ),
        ("Findings:\nSmall effusion.", [("pleural_effusion", "present", "")]),
    ],
)
def test_a_heading_holds_for_what_stands_below_it(text: str, expected: list[tuple[str, str, str]]) -> None:
    said = [
        (mention.concept, mention.assertion, mention.attributes.laterality)
        for mention in read_report(text).mentions
        if mention.kind in ("abnormality", "disease")
    ]
    assert said == expected
