"""One thing that a report says, ready to be said in any language."""

from __future__ import annotations

from typing import NamedTuple


class Statement(NamedTuple):
    """One thing to be said."""

    kind: str  # finding | normal | same
    concept: str  # Id of the finding, or how a part is normal
    status: str = "present"  # present | absent | possible | probable | fits | concern
    severity: str = ""  # trace | mild | moderate | severe | ""
    size_word: str = ""  # The report's own word of size ("small"), "" if it used another
    side: str = ""  # left | right | bilateral | ""
    places: tuple[str, ...] = ()  # Ids of anatomy
    change: str = ""  # new | increased | decreased | stable | again | seen | ""
    qualities: tuple[str, ...] = ()  # Describing words in normal form
    quantity: str = ""  # multiple, two, ..., or ""
    many: bool = False  # True if the report speaks of several
    sizes_mm: tuple[float, ...] = ()
    refers: bool = False  # True if it says what the statement before it may be
    joined: bool = False  # True if it is an alternative to the statement before it ("or")
    otherwise: bool = False  # True if it excepts what was described ("otherwise clear")
    roughly: bool = False  # True if it holds as far as can be seen ("grossly")
    suffix: str = ""  # What a normal part is normal for: age | technique | ""
    # True if it is what the absence before it would speak for ("no opacity to suggest pneumonia")
    link: bool = False
    said: str = ""  # The report's own name of it, in lower case


class NoPlan(Exception):
    """Why a sentence cannot be written anew."""
