"""Statements of structured reports by the hundred: labels times separators times values times layouts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

LABELS = {  # label -> concepts of which one must carry the status
    "Pleural effusion": "pleural_effusion",
    "Pneumothorax": "pneumothorax",
    "Cardiomegaly": "cardiomegaly",
    "Consolidation": "consolidation",
    "Hydronephrosis": "hydronephrosis",
    "Midline shift": "midline_shift",
    "Gallstones": "cholelithiasis",
    "Rib fracture": "rib_fracture",
    "Joint effusion": "joint_effusion",
    "Lymphadenopathy": "lymphadenopathy",
    "Ascites": "ascites",
    "Intracranial hemorrhage": "intracranial_hemorrhage",
}
SEPARATORS = [
    ": ",
    ":",
    " : ",
    " - ",
    " – ",
    " — ",
    " = ",
    "=",
    "? ",
    " -> ",
    " → ",
    " ........ ",
    " ..... ",
    "\t",
    "      ",
    ":\n",
    " | ",
]
VALUES = {
    "absent": [
        "No",
        "no",
        "NO",
        "None",
        "none seen",
        "Negative",
        "negative",
        "Absent",
        "Not seen",
        "not identified",
        "Not present",
        "nil",
        "no evidence",
        "Not detected",
    ],
    "present": ["Yes", "yes", "Present", "positive", "Positive", "mild", "Small", "Moderate", "Seen"],
    "neither": [
        "N/A",
        "n/a",
        "Not evaluated",
        "not mentioned",
        "Not assessed",
        "unknown",
        "Unknown",
        "not applicable",
        "Not reported",
        "cannot be assessed",
        "unable to assess",
        "not specified",
    ],
    "uncertain": ["Possible", "equivocal", "cannot be excluded"],
}
ONE_SIGN = {
    "absent": ["0", "(-)", "False", "N"],
    "present": ["(+)", "+", "True", "Y"],
    "neither": ["", "___", "-", "null"],
}
FRAMES = [
    "{}",
    "{}.",
    "- {}",
    "* {}",
    "• {}",
    "1. {}",
    "**{}**",
    "FINDINGS: {}.",
    "Lungs are hypoinflated. {}. Spine is scoliotic.",
    "Technique: AP view.\n{}\nSpine is scoliotic.",
]
BOXES = {
    "absent": [
        "[ ] {}",
        "☐ {}",
        "- [ ] {}",
        "{}: [ ] yes [x] no",
        "{}: ☐ Yes ☑ No",
        "{}: [ ] Present [X] Absent",
        "{} [ ]",
        "{}: yes [ ] no [x]",
        "{}\n[ ] Yes [x] No",
        "{}: ( ) yes (x) no",
        "✗ {}",
        "{}: ✗",
    ],
    "present": [
        "[x] {}",
        "[X] {}",
        "☑ {}",
        "☒ {}",
        "- [x] {}",
        "{}: [x] yes [ ] no",
        "{}: ☑ Yes ☐ No",
        "{} [x]",
        "{}: yes [x] no [ ]",
        "{}: [ ] absent [x] present",
        "{}: [ ] none [x] small [ ] large",
        "✓ {}",
        "{}: ✓",
    ],
    "neither": ["{}: [ ] yes [ ] no", "{}: ☐ Yes ☐ No", "{}: [ ] yes [ ] no [x] not evaluated"],
}
OTHERS = {
    "absent": [
        "{} (-)",
        "(-) {}",
        "{} (no)",
        "{} (absent)",
        "{} [none]",
        "{} (negative)",
        "No: {}",
        "Absent: {}",
        "Negative for: {}",
        "Not seen: {}",
        "**{}:** No",
        "**{}**: none",
        "__{}__: no",
        '"{}": false',
        '{{"{}": "absent"}}',
        "'{}': 'no'",
        "{}: 'None'",
        "{}, none.",
        "{}\nNone.",
        "Is there {}? No.",
        "Any {}? No",
        "{} -ve",
        "| {} | No |",
        "| {} | none | |",
        "|{}|absent|",
        "| Finding | Status |\n|---|---|\n| {} | No |",
        "| Finding | Yes | No |\n|---|---|---|\n| {} | | x |",
        "| 3 | {} | not seen |",
        "Finding\tStatus\n{}\tno",
        "{}: No evidence of {}.",
        "{}: no, as before",
    ],
    "present": [
        "{} (+)",
        "(+) {}",
        "{} (yes)",
        "{} (present)",
        "{} [yes]",
        "Present: {}",
        "Positive: {}",
        "**{}:** Yes",
        '"{}": true',
        '{{"{}": "present"}}',
        "{}: yes, small",
        "{}: Present, unchanged",
        "{}\nPresent.",
        "Is there {}? Yes.",
        "| {} | Yes |",
        "| {} | mild | on the left |",
        "| Finding | Status |\n|---|---|\n| {} | Present |",
        "| Finding | Yes | No |\n|---|---|---|\n| {} | x | |",
        "Finding\tStatus\n{}\tyes",
        "{} +ve",
        "{}: There is {}.",
    ],
    "neither": [
        "{}: ",
        "{}:",
        "{} =",
        "| {} | |",
        "| {} | N/A |",
        "|{}|  |",
        "**{}:** N/A",
        '"{}": null',
        '"{}": ""',
        "{} (not assessed)",
        "{}? Unknown.",
        "Not evaluated: {}",
        "{}:\nLungs: clear",
        "{}:\n\nLungs are clear.",
        "| Finding | Status |\n|---|---|\n| {} | |",
        "{}: .",
        "{}: not mentioned in the report.",
        "Is there {}? Not assessed.",
    ],
}


class Form(NamedTuple):
    """A text, the concept that its label names, and what it says of it."""

    text: str
    concept: str
    status: str
    kind: str


def forms() -> Iterator[Form]:
    """Every form."""
    for label, concept in LABELS.items():
        for separator, (status, values) in product(SEPARATORS, VALUES.items()):
            for value in values:
                yield Form(f"{label}{separator}{value}", concept, status, f"separator {separator!r}")
        for frame, (status, values) in product(FRAMES, VALUES.items()):
            for value in values:
                for name in (label, label.upper(), label.lower()):
                    yield Form(frame.format(f"{name}: {value}"), concept, status, f"frame {frame!r}")
        for status, values in ONE_SIGN.items():
            for value in values:
                yield Form(f"{label}: {value}", concept, status, f"sign {value!r}")
        for status, layouts in (*BOXES.items(), *OTHERS.items()):
            for layout in layouts:
                yield Form(
                    layout.replace("{}", label).replace("{{", "{").replace("}}", "}"),
                    concept,
                    status,
                    f"layout {layout!r}",
                )
    for (first, one), (second, two) in product(list(LABELS.items())[:4], list(LABELS.items())[4:8]):
        for joint in (". ", "; ", ", ", "\n", " | ", "\n- ", "\n\n"):
            for a, b in product(VALUES, VALUES):
                text = f"{first}: {VALUES[a][0]}{joint}{second}: {VALUES[b][1]}"
                yield Form(text, one, a, f"run {joint!r}")
                yield Form(text, two, b, f"run {joint!r}")
