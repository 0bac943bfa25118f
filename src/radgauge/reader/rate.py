"""A reading as RaTE entities: phrases typed Anatomy, Abnormality, Disease, Non-Abnormality or Non-Disease.

A mention is the term of the lexicon; an entity is the phrase around it. Side, severity and quality words in front
belong to it; words of change and quantity do not. Anatomy that is a noun phrase of its own is an entity of its
own; anatomical adjectives stay with the finding they stand before.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.rate_units import Unit, units_of
from radgauge.reader.reader import vocabulary_for
from radgauge.reader.reading import ReportReading
from radgauge.reader.vocabulary import Vocabulary

_JOIN = re.compile(r"\s*(?:,|/|,?\s*\b(?:and|or|and/or|as well as)\b)\s*", re.IGNORECASE)
_OF = re.compile(r"\s+(?:of|between)\s+(?:the\s+|both\s+)?", re.IGNORECASE)
_LEVELS = re.compile(r"\s*(?:and|to|through|,|-)\s*\d{1,2}\s+")  # "T11 and 12 vertebral bodies"
_RETAINED = frozenset({"severity", "quality", "side", "position", "amount"})
_LISTS = shipped_toml(__file__, "word_lists.toml")
_PLACING = frozenset(_LISTS["placing"])
_NOT_ANATOMY = frozenset(_LISTS["not_anatomy"])
_NORMAL = re.compile(
    r"(?:within\s+)?(?:upper\s+|top\s+|high\s+|low\s+|lower\s+)?"
    r"(?:limits?\s+of\s+)?\bnormal\b(?:\s+limits?|\s+range)?",
    re.IGNORECASE,
)


_DISEASE = re.compile(r"(?<!space )(?<!airspace )\b(?:disease|process)(?:es|s)?$", re.IGNORECASE)
"""A denied disease or process of an organ counts as a disease, air-space disease apart."""


class RateEntity(NamedTuple):
    """An entity: its words, RaTE type, assertion, and where it stands."""

    name: str
    type: str  # Anatomy | Abnormality | Disease | Non-Abnormality | Non-Disease
    assertion: str  # present | absent | uncertain
    start: int
    end: int


def rate_entities(reading: ReportReading, *, lexicon: Lexicon | None = None) -> list[RateEntity]:
    """Entities of a report in text order.

    >>> from radgauge.reader import read_report
    >>> [entity[:2] for entity in rate_entities(read_report("No large pleural effusion; clear lungs."))]
    [('large pleural effusion', 'Non-Abnormality'), ('clear', 'Non-Abnormality'), ('lungs', 'Anatomy')]
    """
    vocabulary = vocabulary_for(lexicon)
    units = units_of(reading, vocabulary)
    text = reading.text
    used = [False] * len(units)
    spans: list[tuple[int, int, Unit]] = []
    for index, unit in enumerate(units):
        if unit.role == "finding":
            first = _front_of_finding(text, units, index, vocabulary)
            for position in range(first, index + 1):
                used[position] = True
            spans.append((units[first].start, unit.end, unit))
        elif unit.role == "normality":
            used[index] = True
            spans += [(*_normal_words(text, part), part) for part in _joined_words(text, unit)]
    for index, unit in enumerate(units):
        if unit.role == "anatomy" and not used[index]:
            first, last = _anatomy_phrase(text, units, used, index)
            for position in range(first, last + 1):
                used[position] = True
            while last > index and text[units[last].start : units[last].end].lower() in _NOT_ANATOMY:
                last -= 1
            spans.append((units[first].start, _without_size(text, units[last]), unit))
    spans.sort(key=lambda span: span[0])
    return [_entity(text, start, end, unit) for start, end, unit in spans if end > start]


def _front_of_finding(text: str, units: list[Unit], index: int, vocabulary: Vocabulary) -> int:
    """First unit of the phrase of the finding at `index`."""
    first = index
    while first > 0:
        unit, following = units[first - 1], units[first]
        gap = text[unit.end : following.start]
        if unit.end > following.start:
            break
        if not gap.strip(" \n-"):
            if unit.role == "side" and text.count(" ", unit.start, unit.end) > 1:
                break  # "right greater than left" compares, it does not name
            if unit.role in _RETAINED or (unit.role == "anatomy" and unit.adjective):
                first -= 1
                continue
            if unit.role == "change" and text[unit.start : unit.end].lower() in ("increased", "decreased"):
                first -= 1
                continue
            if unit.role == "anatomy":
                front = first - 1
                while (
                    front > 0
                    and _touch(text, units, front)
                    and units[front - 1].role in ("anatomy", "side", "position")
                ):
                    front -= 1
                if front > 0 and _touch(text, units, front) and units[front - 1].role in ("quality", "severity"):
                    first = front - 1
                    continue
            break
        if _JOIN.fullmatch(gap) and first == index:
            starts_with_adjective = _starts_with_anatomy(text, following, vocabulary)
            if unit.role == "anatomy" and unit.adjective and starts_with_adjective:
                first -= 1
                continue
        elif _JOIN.fullmatch(gap):
            joined = unit.role in ("quality", "severity") and following.role in ("quality", "severity", "anatomy")
            adjectives = unit.role == "anatomy" and unit.adjective and following.role == "anatomy"
            if (joined or adjectives) and not _closes_phrase(text, units, first - 1):
                first -= 1
                continue
            sides = unit.role == "side" and following.role in ("severity", "quality", "side")
            if sides and _word_before(text, units, first - 1) not in _PLACING:  # "large right and small left"
                first -= 1
                continue
        break
    return first


def _starts_with_anatomy(text: str, unit: Unit, vocabulary: Vocabulary) -> bool:
    """True if a finding of several words starts with an anatomical adjective: "pleural disease"."""
    tokens = vocabulary.spelling.tokens(text[unit.start : unit.end])
    if len(tokens.norms) < 2:
        return False
    first = vocabulary.match(tokens, lowered=False, max_words=1)[0]
    return first.role == "anatomy" and first.form == "adjective"


def _touch(text: str, units: list[Unit], index: int) -> bool:
    """True if only blanks or a hyphen part the unit at `index` from the one before."""
    return not text[units[index - 1].end : units[index].start].strip(" \n-")


def _closes_phrase(text: str, units: list[Unit], index: int) -> bool:
    """True if the describing word at `index` follows a verb or a preposition, so belongs to what is before it."""
    return _word_before(text, units, index) in _PLACING | {"is", "are", "appears", "appear"}


def _word_before(text: str, units: list[Unit], index: int) -> str:
    """The word before the units that touch the one at `index`, "" for none."""
    while index > 0 and _touch(text, units, index):
        index -= 1
    before = re.findall(r"\w+", text[max(0, units[index].start - 24) : units[index].start])
    return before[-1].lower() if before else ""


def _anatomy_phrase(text: str, units: list[Unit], used: list[bool], index: int) -> tuple[int, int]:
    """First and last unit of the noun phrase of the anatomy at `index`."""
    last = index
    while last + 1 < len(units) and not used[last + 1]:
        unit, gap = units[last + 1], text[units[last].end : units[last + 1].start]
        if (not gap.strip(" \n-") and unit.role in ("anatomy", "part")) or (
            unit.role == "anatomy" and _LEVELS.fullmatch(gap) and text[units[last].end - 1].isdigit()
        ):
            last += 1
        elif (_OF.fullmatch(gap) and _leads_to_anatomy(text, units, used, last + 1)) or (
            _JOIN.fullmatch(gap)
            and units[last].adjective
            and unit.role == "anatomy"  # "parietal and temporal lobes"
        ):
            last += 1
            while units[last].role != "anatomy":
                last += 1
        else:
            break
    first = index
    while first > 0 and not used[first - 1]:
        unit, gap = units[first - 1], text[units[first - 1].end : units[first].start]
        if (
            (
                unit.role == "part"
                and _OF.fullmatch(gap)
                and text[unit.start : unit.end].lower() not in _NOT_ANATOMY
            )
            or (unit.role in ("side", "position", "anatomy") and not gap.strip(" \n-"))
            or (unit.role == "position" and _JOIN.fullmatch(gap) and units[first].role in ("position", "anatomy"))
        ):
            first -= 1
        else:
            break
    return first, last


def _leads_to_anatomy(text: str, units: list[Unit], used: list[bool], index: int) -> bool:
    """True if side and position words from `index` on lead to anatomy."""
    while index < len(units) and not used[index]:
        if units[index].role == "anatomy":
            return True
        if units[index].role not in ("side", "position", "part"):
            return False
        gap = text[units[index].end : units[index + 1].start] if index + 1 < len(units) else "x"
        if gap.strip(" \n-") and not _OF.fullmatch(gap):
            return False
        index += 1
    return False


def _without_size(text: str, unit: Unit) -> int:
    """End of an anatomy unit without a word of measurement: "heart" in "heart size"."""
    words = list(re.finditer(r"\S+", text[unit.start : unit.end]))
    while words and words[-1][0].lower() in _NOT_ANATOMY:
        words.pop()
    return unit.start + words[-1].end() if words else unit.start


def _joined_words(text: str, unit: Unit) -> list[Unit]:
    """Two words of normality joined by "and" are two: "clear and expanded"."""
    join = re.search(r"\s+and\s+", text[unit.start : unit.end])
    if join is None or _NORMAL.search(text, unit.start, unit.end):
        return [unit]
    return [unit._replace(end=unit.start + join.start()), unit._replace(start=unit.start + join.end())]


def _normal_words(text: str, unit: Unit) -> tuple[int, int]:
    """The words of normality themselves: "normal" in "normal in size and contour"."""
    matched = _NORMAL.search(text, unit.start, unit.end)
    if matched is None:
        first = re.compile(r"\S+").match(text, unit.start, unit.end)
        return (
            (unit.start, first.end())
            if first and len(text[unit.start : unit.end].split()) > 3
            else (unit.start, unit.end)
        )
    start = matched.start() + len(matched[0]) - len(matched[0].lstrip())
    return start, matched.end()


def _entity(text: str, start: int, end: int, unit: Unit) -> RateEntity:
    mention = unit.mention
    name = text[start:end]
    if unit.role == "anatomy" or mention is None:
        return RateEntity(name, "Anatomy", "present", start, end)
    if unit.role == "normality":
        return RateEntity(name, "Non-Abnormality", mention.assertion, start, end)
    if mention.form == "clause":
        kind = "Non-Abnormality" if mention.assertion == "absent" else "Abnormality"
        return RateEntity(name, kind, mention.assertion, start, end)
    general = _DISEASE.search(name) is not None and mention.assertion == "absent"
    kind = "Disease" if mention.kind == "disease" or general else "Abnormality"
    return RateEntity(
        name, f"Non-{kind}" if mention.assertion == "absent" else kind, mention.assertion, start, end
    )
