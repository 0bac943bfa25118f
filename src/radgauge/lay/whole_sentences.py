"""Sentences that are no findings, said as a whole: how a picture was taken, what is advised, what was removed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from radgauge.core.parsing import shipped_toml
from radgauge.lay.device_sentences import say_device
from radgauge.lay.language_words import Words
from radgauge.text import grammar

_WHOLE = (
    "views",
    "correlate",
    "heart_upper",
    "heart_borderline",
    "old_infection",
    "negative",
    "rotated",
    "heading",
)


def say_whole(sentence: str, words: Words) -> str:
    """A sentence that is no finding (how the picture was taken, what is advised); "" if it is none of these."""
    text, table = sentence.strip().rstrip("."), words["sentence"]
    patterns = shipped_toml(__file__, "professional.toml")["sentence"]
    for name in _WHOLE:
        if name in table and re.fullmatch(patterns[name], text, re.IGNORECASE):
            return str(table[name])
    device = say_device(text, words)
    if device:
        return device
    gone = re.fullmatch(patterns["removed"], text, re.IGNORECASE)
    if gone is not None and "removed" in table:
        device = next(
            (n for n, p in patterns["devices"].items() if re.fullmatch(p, gone["device"], re.IGNORECASE)), ""
        )
        if device in table["devices"]:
            name = table["devices"][device] + table["sides"][(gone["side"] or "").lower()]
            return grammar.capital(str(table["removed"]).format(device=name))
    followed = re.fullmatch(patterns["follow"], text, re.IGNORECASE) if "follow" in table else None
    if followed is not None and any(followed[name] for name in ("verb", "state", "late", "last")):
        return _follow(followed, table)
    found = re.fullmatch(patterns["advise"], text, re.IGNORECASE) if "advise" in table else None
    if found is None or not (found["verb"] or found["state"]):
        return ""
    state = (found["state"] or "").lower()
    how = "helpful" if "help" in state or "useful" in state or "benefit" in state else "advise"
    how = "consider" if (found["verb"] or "").lower() == "consider" or "consider" in state else how
    name = found["what"].lower()
    again = (found["again"] or "").lower()
    what = table["what"]["xray" if name.startswith(("x", "radio")) else name][
        2 if again[:1] == "f" else 1 if again else 0
    ]
    what += table["of_chest"] if re.search(r"\b(?:chest|thorax|thoracic)\b", text, re.IGNORECASE) else ""
    dye = re.search(r"(non-?|without )?(?:iv |intravenous )?contrast", text, re.IGNORECASE)
    what += table["contrast"][1 if dye[1] else 0] if dye is not None else ""
    when = ""
    if found["when"]:
        span = table["to"].join(filter(None, (found["from"], found["upto"])))
        when = table["when"].format(span=span, unit=table["units"][found["unit"].lower()])
    why = found["why"] or ""
    because = table["why"]["resolve" if "resol" in why or "clear" in why else "evaluate"] if why else ""
    because += table["if"] if found["if"] else ""
    return grammar.capital(str(table[how]).format(what=what, when=when, why=because))


def _follow(found: re.Match[str], table: Mapping[str, Any]) -> str:
    """ "Follow-up to resolution is recommended."""
    pictured = found["picture"] or re.search(r"radiograph|x-?ray|film|imaging", found["what"] or "", re.IGNORECASE)
    what = table["follow"]["picture" if pictured else "check"]
    state = " ".join(filter(None, (found["state"], found["late"]))).lower()
    how = "consider" if "consider" in state else "advise"
    behind = table["follow"]["treated"] if found["treated"] else ""
    if found["when"]:
        span = table["to"].join(filter(None, (found["from"], found["upto"])))
        behind += table["when"].format(span=span, unit=table["units"][found["unit"].lower()])
    why = table["why"]["resolve"] if found["why"] else ""
    return grammar.capital(str(table[how]).format(what=what, when=behind, why=why))
