"""One row of the table of controls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a control: what was tried, what radgauge must do, what it did, and whether that is right."""

    tried: str
    must: str
    did: str
    ok: bool
