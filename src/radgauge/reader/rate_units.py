"""A reading arranged for its RaTE entities: mentions, pieces of mentions and describing words in text order."""

from __future__ import annotations

import re
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.reader.reading import Mention, ReportReading
from radgauge.reader.senses import SHARED
from radgauge.reader.vocabulary import Vocabulary
from radgauge.text.tokens import Tokens

_STATED = re.compile(
    r"\s+(?:(?:is|are|was|were|remains?|appears?|lies|sits|seen|noted|now|again|also)\s+){0,3}", re.IGNORECASE
)
_PIECES_KEPT = 1 << 14
_MARKINGS = re.compile(r"(?:markings?|volumes?)$", re.IGNORECASE)


class Unit(NamedTuple):
    """A mention, a piece of one, or a describing word, as the view arranges them."""

    start: int
    end: int
    role: str  # anatomy | finding | normality | a modifier's role
    adjective: bool
    mention: Mention | None


def units_of(reading: ReportReading, vocabulary: Vocabulary) -> list[Unit]:
    units: list[Unit] = []
    before: Mention | None = None
    for mention in reading.mentions:
        if mention.form == "implied":
            continue
        again = before is not None and mention[:2] == before[:2]  # one finding, said of both sides
        before = mention
        if again or mention.form == "ellipsis":
            continue
        if units and _is_placed(units[-1], mention, reading.text):
            units[-1] = units[-1]._replace(role="anatomy")
        if mention.form == SHARED:
            units.append(Unit(mention.start, mention.end, "position", True, None))
        elif mention.kind == "anatomy":
            units.append(Unit(mention.start, mention.end, "anatomy", mention.form == "adjective", mention))
        elif mention.kind == "normality":
            units += _split(mention, vocabulary, "normality", split_front=True)
        elif mention.kind == "abnormality" and " " in mention.text:
            last = units[-1] if units else None
            noun = last is not None and last.role == "anatomy" and not last.adjective
            touching = noun and last is not None and last.end + 1 == mention.start
            units += _split(mention, vocabulary, "finding", split_front=not touching)
        elif mention.kind != "open":
            units.append(Unit(mention.start, mention.end, "finding", mention.form == "adjective", mention))
    units += [Unit(entry.start, entry.end, entry.role, True, None) for entry in reading.modifiers]
    units.sort(key=lambda unit: unit.start)
    return _whole_markings(reading.text, _whole_devices(reading.text, units))


def _is_placed(unit: Unit, mention: Mention, text: str) -> bool:
    """True if a statement is about a device as about a structure: "a Foley catheter is in situ" (Appendix A.1)."""
    stated = mention.kind == "normality" or mention.concept == "device_malposition"
    return stated and _is_device(unit) and _STATED.fullmatch(text, unit.end, mention.start) is not None


def _whole_markings(text: str, units: list[Unit]) -> list[Unit]:
    """An abnormal adjective makes one finding with markings and volumes: "prominent interstitial markings"."""
    full: list[Unit] = []
    for unit in units:
        last = full[-1] if full else None
        if (
            last is not None
            and last.role == "finding"
            and unit.role == "anatomy"
            and text[last.end : unit.start] == " "
            and _MARKINGS.search(text, unit.start, unit.end)
        ):
            full[-1] = last._replace(end=unit.end)
        else:
            full.append(unit)
    return full


def _whole_devices(text: str, units: list[Unit]) -> list[Unit]:
    """Devices named by several terms in a row are one ("PICC line catheter"), without a word for the tip."""
    full: list[Unit] = []
    for unit in units:
        last = full[-1] if full else None
        if _is_device(unit) and last is not None and _is_device(last) and text[last.end : unit.start] == " ":
            full[-1] = last._replace(end=unit.end)
        else:
            full.append(unit)
    return [
        unit._replace(end=unit.end - len(tip[0]))
        if _is_device(unit) and (tip := re.search(r"\s+tips?$", text[unit.start : unit.end], re.IGNORECASE))
        else unit
        for unit in full
    ]


def _is_device(unit: Unit) -> bool:
    return unit.mention is not None and unit.mention.kind == "device"


def _split(mention: Mention, vocabulary: Vocabulary, role: str, *, split_front: bool) -> list[Unit]:
    """A statement of several words as observation and anatomy: "enlarged heart", "heart is enlarged"."""
    entry = vocabulary.pieces
    key = (mention.text, role, split_front)
    result = entry.get(key)
    if result is None:
        result = _pieces_of(mention.text, vocabulary, role, split_front=split_front)
        if len(entry) >= _PIECES_KEPT:
            entry.clear()
        entry[key] = result
    at = mention.start
    adjective = len(result) == 1 and mention.form == "adjective"
    return [Unit(at + start, at + end, kind, adjective, mention) for start, end, kind in result]


def _pieces_of(
    text: str, vocabulary: Vocabulary, role: str, *, split_front: bool
) -> tuple[tuple[int, int, str], ...]:
    """Start, end and role of the pieces of the words of a statement; of one piece if it does not come apart."""
    tokens = vocabulary.spelling.tokens(text)
    full = ((*_kept_words(tokens, vocabulary, role), role),)
    if len(tokens.norms) < 2:
        return full
    items = vocabulary.match(tokens, lowered=False, max_words=len(tokens.norms) - 1)
    roles = [item.role for item in items]
    if "anatomy" not in roles:
        return full
    last = len(items) - 1

    def piece(first: int, final: int, kind: str) -> tuple[int, int, str]:
        return tokens.starts[items[first].first], tokens.ends[items[final].last - 1], kind

    nouns = [item.role == "anatomy" and item.form == "noun" for item in items]
    if nouns[last]:
        begin = last
        while begin > 0 and roles[begin - 1] in ("anatomy", "side", "position"):
            begin -= 1
        front = begin - 1
        while front >= 0 and roles[front] in ("preposition", "determiner"):
            front -= 1
        if front < 0:
            return full
        return piece(0, front, role), piece(begin, last, "anatomy")
    if "verb" in roles[:-1] and nouns[0]:
        verb = roles.index("verb")
        end = verb - 1
        while end > 0 and roles[end] == "part":
            end -= 1
        return piece(0, end, "anatomy"), piece(verb + 1, last, role)
    if nouns[0] and split_front and items[0].value not in _LEXICALISED and last > 0:
        end = 0
        while end < last - 1 and roles[end + 1] == "anatomy":
            end += 1
        return piece(0, end, "anatomy"), piece(end + 1, last, role)
    return full


def _kept_words(tokens: Tokens, vocabulary: Vocabulary, role: str) -> tuple[int, int]:
    """Span of a statement without words of quantity and change in front, and sides behind words of normality."""
    first, last = 0, len(tokens.norms) - 1
    while first < last:
        entry = vocabulary.word(tokens.norms[first])
        leaves = entry is not None and entry.role in ("quantity", "change", "preposition")
        if not leaves or tokens.norms[first] in ("increased", "decreased", "within", "at", "in", "over", "under"):
            break
        first += 1
    while role == "normality" and last > first and tokens.norms[last] == "bilaterally":
        last -= 1
    return tokens.starts[first], tokens.ends[last]


_LISTS = shipped_toml(__file__, "word_lists.toml")
_LEXICALISED = frozenset(_LISTS["lexicalised"])
"""Anatomy that makes one term with the finding behind it: "soft tissue swelling", "disc desiccation"."""
