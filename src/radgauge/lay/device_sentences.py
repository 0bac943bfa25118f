"""Whole sentences about tubes, lines and pacemakers: which device, on which side, where its tip lies.

A sentence is only said anew if all of it follows the pattern; anything further (a bend, a break, advice) keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from radgauge.core.parsing import shipped_toml
from radgauge.text import grammar

_SIDE = r"(?:(?P<side>left|right)(?:[- ]sided?)? )?"
_SEEN = (
    r"(?: (?:is|are|was|were|has been|remains?))?(?: (?:again|now|also))?"
    r"(?: (?:noted|seen|identified|present|visuali[sz]ed|demonstrated|in place|in situ))?(?: again)?"
)
_SAME = (
    r"(?: (?:is |are |remains? )?(?:in )?"
    r"(?P<same>(?:stable|unchanged|unchanged in|stable in) position|unchanged|stable))?"
)
_TIP = (
    r"(?:,? (?:with )?(?:its |the )?(?:distal )?tips?(?: is| are| lies?| ends?)?(?: seen| located| noted)?"
    r"|,? (?:terminat(?:es|ing)|end(?:s|ing)))?"
)
_AT = (
    r"(?P<at>in|at|within|over|overlying|overlies|overlie|projecting over|projects over|projecting at|near|"
    r"in (?:the )?(?:expected )?region of|above) (?:the )?"
)
_NEAR = ("near", "in region of", "in the region of", "in the expected region of", "in expected region of")


def say_device(sentence: str, words: Mapping[str, Any]) -> str:
    """What a patient reads of a sentence about a device; "" if it is none or says more.

    >>> from radgauge.lay.language_words import words_of
    >>> say_device("The right PICC tip is in the upper SVC", words_of("en"))  # doctest: +NORMALIZE_WHITESPACE
    'There is a thin tube in a vein of your arm (PICC line) on the right. Its tip lies in the upper part of the
    large vein above your heart.'
    """
    table = words.get("device_sentences")
    if table is None:
        return ""
    known, pattern = _known(), _pattern()
    found = pattern.fullmatch(sentence.strip())
    if found is None:
        return ""
    name = next((n for n, p in known["device"].items() if re.fullmatch(p, found["device"], re.IGNORECASE)), "")
    if not name or name not in table["device"] or bool(found["where"]) != bool(found["at"]):
        return ""
    one, its = table["device"][name]
    side = words["sentence"]["sides"][(found["side"] or "").lower()]
    said = [grammar.capital(table["there"].format(device=one + side))]
    if found["where"]:
        told = _where(found, known, table)
        if not told:
            return ""
        said.append(grammar.capital(table["tip"].format(its=its, where=told)))
    if found["same"] or found["first"]:
        said.append(table["same"])
    return " ".join(said)


def _where(found: re.Match[str], known: Any, table: Any) -> str:
    place = next((n for n, p in known["place"].items() if re.fullmatch(p, found["where"], re.IGNORECASE)), "")
    at = (found["at"] or "").lower()
    if not place or place not in table["place"]:
        return ""
    if found["distance"] or at == "above":
        if not found["distance"] or at != "above":
            return ""
        distance = (table["about"] if found["about"] else "") + found["distance"].lower()
        return str(table["above"]).format(distance=distance, place=table["place"][place])
    how = "over" if "over" in at or "project" in at else "near" if at in _NEAR else "at" if at == "at" else "in"
    part = next((n for n, p in known["part"].items() if re.fullmatch(p, found["part"] or "", re.IGNORECASE)), "")
    if found["part"] and (not part or place not in table.get("parts_of", (place,))):
        return ""
    named = table["part"][part].format(place=table["place"][place]) if part else table["place"][place]
    return str(table[how]).format(place=named)


@lru_cache(maxsize=1)
def _known() -> Any:
    return shipped_toml(__file__, "professional.toml")["devices"]


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    known = _known()
    device, place, part = ("|".join(known[name].values()) for name in ("device", "place", "part"))
    return re.compile(
        r"(?:there (?:is|are) )?(?:an? |the )?(?:(?P<first>stable|unchanged)(?: position of(?: the| an?)?)? )?"
        rf"{_SIDE}"
        rf"(?P<device>{device}){_SEEN}{_SAME}{_TIP}"
        rf"(?: (?:(?P<about>approximately |about )?(?P<distance>\d+(?:\.\d+)? (?:cm|mm)) )?{_AT}"
        rf"(?:(?P<part>{part}) )?(?P<where>{place}))?",
        re.IGNORECASE,
    )
