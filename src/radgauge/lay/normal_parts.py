"""Parts of the body that a report calls normal, clear or unchanged: which, in what way, with which limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from radgauge.lay.limits import is_seen_roughly, stop_at_words_inside
from radgauge.lay.statement import NoPlan, Statement
from radgauge.reader import Mention, Modifier, ReportReading

QUIET_PARTS = frozenset({"size", "contour", "appearance", "silhouette", "area of", "region of"})
QUIET_QUANTITIES = frozenset({"associated", "also", "overall", "grossly", "visible"})
SUFFIXES = {
    "age": re.compile(r"\bfor (?:the )?(?:patient'?s? |stated )?age\b"),
    "technique": re.compile(r"\bfor (?:(?:supine|portable|ap|the) )*(?:technique|projection|positioning)\b"),
}
AGAIN = re.compile(r"again|redemonstrat|persist|continu|remain|still", re.IGNORECASE)
"""Words of change that say that something was there before, not that it is the same."""
_SEEN_AGAIN = re.compile(r"\bagain\b|redemonstrat", re.IGNORECASE)
_EXCEPTS = re.compile(r"\b(?:otherwise|remaining|remainder|elsewhere|rest of)\b")
_SHAPE = r"contour|shape|configuration"
_IN_SIZE = re.compile(
    r"(?:[\s,]*\b(?:and|in|for|of|size|caliber|calibre|contours?|shape|appearance|configuration)\b)+",
    re.IGNORECASE,
)
_OUTLINE = re.compile(r"contour|silhouette|outline|border", re.IGNORECASE)
_OUTLINED = {
    "heart": "cardiac_silhouette",
    "mediastinum": "mediastinum_outline",
    "hilum": "hilum_outline",
    "aorta": "aorta_outline",
}
SHAPES = ("mediastinum_outline", "hilum_outline", "aorta_outline", "chest_bones")
"""Parts that are no concept of the lexicon."""
_CHEST = re.compile(r"thora|chest", re.IGNORECASE)
_OF_CHEST = re.compile(r"\s*(?:of|in) (?:the )?", re.IGNORECASE)


class Reserve(NamedTuple):
    """Remarks of a sentence about all of its normal parts."""

    otherwise: bool  # True if it excepts what was described
    roughly: bool  # True if it holds as far as can be seen
    suffix: str  # What the parts are normal for: age | technique | ""


def reserve(sentence: str) -> Reserve:
    """The reservations of a sentence in lower case.

    >>> reserve("the remaining lungs are grossly clear.")
    Reserve(otherwise=True, roughly=True, suffix='')
    """
    return Reserve(
        _EXCEPTS.search(sentence) is not None,
        is_seen_roughly(sentence),
        next((name for name, pattern in SUFFIXES.items() if pattern.search(sentence)), ""),
    )


def normal_parts(
    reading: ReportReading,
    index: int,
    targets: Sequence[int],
    modifiers: Sequence[Modifier],
    sentence: str,
) -> list[Statement]:
    """The statements of one mention of normality; `sentence` is its sentence in lower case.

    Raises:
        NoPlan: If it is denied, described further, or of nothing that was read.
    """
    mention = reading.mentions[index]
    if mention.assertion != "present":
        raise NoPlan("normality that is denied")
    if any(m.mention == index and not _is_quiet(m) for m in modifiers):
        raise NoPlan(f"normality that is described further: {mention.text!r}")
    if re.search(r"symmetric|equal", mention.text, re.IGNORECASE):
        raise NoPlan(f"normality that is described further: {mention.text!r}")
    if not targets:
        raise NoPlan("normality of nothing that was read")
    if any(m.mention in targets and m.role in ("position", "quality", "severity") for m in modifiers):
        raise NoPlan("a part that is described further")
    if any(m.mention in targets and m.role == "quantity" and not _is_quiet(m) for m in modifiers):
        raise NoPlan("a part that is counted")
    changes = [m for m in modifiers if m.role == "change"]
    if {m.value for m in changes} - {"stable"}:
        raise NoPlan("a change of something normal")
    limits = reserve(sentence)
    planned = []
    for target, location in _part_locations(reading, targets):
        part = reading.mentions[target]
        stop_at_words_inside(part)
        how = _how(reading, mention, part, len(targets))
        planned.append(
            Statement(
                "normal",
                how,
                side=part.attributes.laterality,
                places=(location,),
                otherwise=limits.otherwise,
                roughly=limits.roughly,
                suffix="" if how == "age_appropriate" else limits.suffix,
                change=change_said(reading, changes),
                said=part.text.lower(),
            )
        )
    return planned


def unchanged_parts(reading: ReportReading, targets: Sequence[int], sentence: str) -> list[Statement]:
    """Statements that parts look as they did before."""
    planned = []
    limits = reserve(sentence)
    for target, location in _part_locations(reading, targets):
        part = reading.mentions[target]
        stop_at_words_inside(part)
        near = sentence if len(targets) == 1 else reading.text[part.start : part.end + 5].lower()
        shape = len(targets) == 1 and re.search(rf"{_SHAPE}|appearance", sentence)
        how = "stable size" if re.search(r"\bsize\b", near) and not shape else "stable"
        planned.append(
            Statement(
                "same",
                how,
                side=part.attributes.laterality,
                places=(location,),
                otherwise=limits.otherwise,
                roughly=limits.roughly,
            )
        )
    return planned


def change_said(reading: ReportReading, changes: Sequence[Modifier]) -> str:
    """The change that words of change tell: "again seen" is not "unchanged"."""
    if not changes:
        return ""
    if any("chronic" in reading.text[m.start : m.end].lower() for m in changes):
        raise NoPlan("something long-standing, which is no comparison")
    phrases = [reading.text[m.start : m.end] for m in changes]
    if {m.value for m in changes} == {"stable"} and all(AGAIN.search(phrase) for phrase in phrases):
        return "seen" if all(_SEEN_AGAIN.search(phrase) for phrase in phrases) else "again"
    return changes[0].value


def _is_quiet(modifier: Modifier) -> bool:
    if modifier.role == "change":
        return True
    sides = ("left", "right", "bilateral")
    quiet = modifier.value in (*QUIET_QUANTITIES, *QUIET_PARTS, *sides, "both", "remaining", "other")
    return modifier.role in ("quantity", "side", "part") and quiet


def _how(reading: ReportReading, mention: Mention, part: Mention, count: int) -> str:
    """Kind of normality of a part; "size" only where the report says no more."""
    text = mention.text.lower() + _behind(reading, mention)
    sized = r"\b(?:size|caliber|calibre)\b"
    all_sized = re.search(sized, text) is not None or _subject_sized(reading, mention)
    clause = reading.text[min(part.start, mention.start) : max(part.end, mention.end)].lower()
    own = part.text.lower() if count > 1 else clause
    if mention.concept == "clear":
        return "clear and well" if re.search(r"expanded|inflated|aerated", mention.text.lower()) else "clear"
    if not (all_sized or re.search(sized, own)):
        return mention.concept
    near = text + " " + (clause if count == 1 else "")
    after = reading.text[part.start : part.end + 15].lower()
    if re.search(_SHAPE, near if all_sized or count == 1 else "") or re.search(rf"size,? and (?:{_SHAPE})", after):
        return "size and shape"
    return "size and look" if re.search(r"size,? and (?:\w+ )?appearance", near) else "size"


def _subject_sized(reading: ReportReading, mention: Mention) -> bool:
    """ "The heart and mediastinum sizes are normal": the sizes of both."""
    before = reading.text[max(0, mention.start - 30) : mention.start].lower()
    return re.search(r"(?<!heart )(?<!cardiac )\bsizes? (?:is|are|appears?) (?:\w+ )?$", before) is not None


def _behind(reading: ReportReading, mention: Mention) -> str:
    match = _IN_SIZE.match(reading.text, mention.end)
    return match[0].lower() if match is not None else ""


def _part_locations(reading: ReportReading, targets: Sequence[int]) -> list[tuple[int, str]]:
    """Each part with its place: outlines apart from what they outline, bones of the chest as such."""
    located: list[tuple[int, str]] = []
    parts = [(target, reading.mentions[target]) for target in targets]
    for number, (target, part) in enumerate(parts):
        later = parts[number + 1][1] if number + 1 < len(parts) else None
        before = parts[number - 1][1] if number else None
        if before is not None and before.concept == "bones" and part.concept == "thorax":
            if not _OF_CHEST.fullmatch(reading.text[before.end : part.start]):
                raise NoPlan("parts that are told apart in no known way")
            continue
        location = part.concept
        if location == "bones":
            chest = later is not None and later.concept == "thorax"
            location = "chest_bones" if chest or _CHEST.search(part.text) else location
        elif "size" not in part.text.lower() and (
            _outlines(part) or (later is not None and _shares(reading, part, later))
        ):
            location = _OUTLINED.get(location, location)
        if location == "mediastinum_outline" and located and located[-1][1] == "cardiac_silhouette":
            located.pop()
            location = "cardiomediastinal_silhouette"
        located.append((target, location))
    return located


def _outlines(part: Mention) -> bool:
    return _OUTLINE.search(part.text) is not None


def _shares(reading: ReportReading, part: Mention, later: Mention) -> bool:
    """ "Hilar and mediastinal contours": the outline of both."""
    between = reading.text[part.end : later.start]
    return _outlines(later) and re.fullmatch(r"[\s,]*(?:and)?\s*(?:the )?", between) is not None
