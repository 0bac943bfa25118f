"""One thing that a report says, ready to be said in any language."""

from __future__ import annotations

from typing import NamedTuple


class Statement(NamedTuple):
    """One thing to be said.

    Attributes:
        kind: finding | normal | same.
        concept: Id of the finding, or how a part is normal.
        status: present | absent | possible | probable | fits | concern.
        severity: trace | mild | moderate | severe | "".
        size_word: The report's own word of size ("small"), "" if it used another.
        side: left | right | bilateral | "".
        places: Ids of anatomy.
        change: new | increased | decreased | stable | again | seen | "".
        qualities: Describing words in normal form.
        quantity: multiple, two, ..., or "".
        many: Whether the report speaks of several.
        sizes_mm: Measurements.
        refers: Whether it says what the statement before it may be.
        joined: Whether it is an alternative to the statement before it ("or").
        otherwise: Whether it excepts what was described ("otherwise clear").
        roughly: Whether it holds as far as can be seen ("grossly").
        suffix: What a normal part is normal for: age | technique | "".
        link: Whether it is what the absence before it would speak for ("no opacity to suggest pneumonia").
        said: The report's own name of it, in lower case.
    """

    kind: str
    concept: str
    status: str = "present"
    severity: str = ""
    size_word: str = ""
    side: str = ""
    places: tuple[str, ...] = ()
    change: str = ""
    qualities: tuple[str, ...] = ()
    quantity: str = ""
    many: bool = False
    sizes_mm: tuple[float, ...] = ()
    refers: bool = False
    joined: bool = False
    otherwise: bool = False
    roughly: bool = False
    suffix: str = ""
    link: bool = False
    said: str = ""


class NoPlan(Exception):
    """Why a sentence cannot be written anew."""
