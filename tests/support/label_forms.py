"""Statements of structured reports by the hundred: labels times separators times values times layouts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

FORMS = json.loads((Path(__file__).parents[1] / "data" / "label_forms.json").read_text("utf-8"))
LABELS, SEPARATORS, FRAMES = FORMS["LABELS"], FORMS["SEPARATORS"], FORMS["FRAMES"]
"""Labels with their concepts; what stands between label and value; what stands around both."""
VALUES, ONE_SIGN, BOXES, OTHERS = FORMS["VALUES"], FORMS["ONE_SIGN"], FORMS["BOXES"], FORMS["OTHERS"]
"""What each status is called, alone or in a form of its own."""


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
