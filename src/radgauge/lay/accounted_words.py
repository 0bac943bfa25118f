"""Every word of a sentence has its place: in a finding, a describing word, a cue, a doubt; or it says nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.lay.normal_parts import QUIET_PARTS, QUIET_QUANTITIES, SUFFIXES
from radgauge.lay.plan_finding import AT_LEVELS, CALCIFIED, LEVELS, SUSPICIOUS
from radgauge.lay.sentence_parts import mentions_in
from radgauge.lay.statement import NoPlan
from radgauge.reader import Modifier, ReportReading
from radgauge.reader.lexicon import FINDING_KINDS

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+(?:\.\d+)?")
_SPREAD = frozenset({"scattered", "diffuse", "multiple", "numerous"})
_UNIT = frozenset({"mm", "cm", "x", "by", "measuring", "measures", "approximately", "about"})


class _Knowledge(NamedTuple):
    empty: frozenset[str]
    refuse: re.Pattern[str]
    hedges: Mapping[str, re.Pattern[str]]
    links: frozenset[str]
    comparing: frozenset[str]


@lru_cache(maxsize=1)
def _knowledge() -> _Knowledge:
    table = shipped_toml(__file__, "professional.toml")
    hedges = {
        name: re.compile(r"\b(?:" + "|".join(table["hedge"][name]) + r")\b", re.IGNORECASE)
        for name in ("possible", "probable", "concern", "fits")
    }
    return _Knowledge(
        frozenset(table["words"]["empty"]),
        re.compile(r"\b(?:" + "|".join(map(re.escape, table["words"]["refuse"])) + r")\b", re.IGNORECASE),
        hedges,
        frozenset(word for link in table["hedge"]["links"] for word in link.split()),
        frozenset(table["words"]["comparing"]),
    )


def stop_at_refused_words(text: str) -> None:
    """ "Removed", "greater", "if": such a word says more than the findings do.

    Raises:
        NoPlan: If the sentence has one.
    """
    without = re.sub(r"within (?:the )?normal limits", "normal", text, flags=re.IGNORECASE)
    refused = _knowledge().refuse.search(without)
    if refused:
        raise NoPlan(f"the sentence says more than its findings: {refused[0]!r}")


def find_hedges(
    reading: ReportReading, mine: Sequence[int], span: tuple[int, int]
) -> dict[int, tuple[str, int, int]]:
    """Doubt by mention: its kind and where it stands, before the mention and behind the finding in front of it.

    Raises:
        NoPlan: If a doubt stands behind the last finding.
    """
    found: dict[int, tuple[str, int, int]] = {}
    findings = [i for i in mine if reading.mentions[i].kind in FINDING_KINDS]
    at = span[0]
    for index in findings:
        mention = reading.mentions[index]
        window = reading.text[at : mention.start]
        for name, pattern in _knowledge().hedges.items():
            match = pattern.search(window)
            if match and index not in found:
                found[index] = (name, at + match.start(), at + match.end())
        at = mention.end
    if findings and re.search(
        r"\b(?:is|are) (?:possible|suspected|questioned)|(?:cannot|can not|not) (?:be )?(?:excluded|ruled out)",
        reading.text[at : span[1]],
    ):
        raise NoPlan("doubt behind a finding")
    return found


def account_for_words(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> None:
    """Whether every word of a sentence is told by what was read in it.

    Args:
        reading: The report.
        mine: Mentions of the sentence.
        modifiers: Its describing words.
        span: Where it stands.
        hedges: Doubt by mention: its kind, start and end.

    Raises:
        NoPlan: If a word is not.
    """
    spans = [(reading.mentions[i].start, reading.mentions[i].end) for i in mine]
    spans += [(m.start, m.end) for m in modifiers]
    whole = mentions_in(reading, reading.mentions[mine[0]].sentence) if mine else ()
    spans += [
        (m.start, m.end)
        for m in (reading.mentions[i] for i in whole)
        if CALCIFIED.fullmatch(m.text) and m.form != "implied"
    ]
    cues = {word for i in mine for word in re.findall(r"[a-z']+", reading.mentions[i].attributes.cue.lower())}
    sizes = [size for i in mine for size in reading.mentions[i].attributes.sizes_mm]
    known = _knowledge()
    compared = any(m.role == "change" for m in modifiers)
    lowered = reading.text[slice(*span)].lower()
    suffixes = [m.span() for p in SUFFIXES.values() for m in p.finditer(lowered)]
    clips = all(
        reading.mentions[i].concept.endswith("clips") for i in mine if reading.mentions[i].kind in FINDING_KINDS
    )
    for word in _WORD.finditer(reading.text, *span):
        said = word[0].lower()
        if any(start <= word.start() - span[0] < end for start, end in suffixes):
            continue
        if said == "throughout" and (LEVELS.search(lowered) or any(m.value in _SPREAD for m in modifiers)):
            continue
        if said == "under" and any(reading.mentions[i].concept == "free_air" for i in mine):
            continue
        if AT_LEVELS.search(lowered) and said == "levels":
            continue
        if clips and said in ("overlying", "overlie", "projecting", "over", "project"):
            continue
        if any(start <= word.start() < end for start, end in spans) or said in known.empty:
            continue
        if any(start <= word.start() < end for _, start, end in hedges.values()):
            continue
        if said in known.links and any(end <= word.start() < end + 25 for _, _, end in hedges.values()):
            continue
        if compared and said in known.comparing:
            continue
        if sizes and (said in _UNIT or _is_size(said, sizes)):
            continue
        if said == "suspicious" and any(
            SUSPICIOUS.search(reading.text[span[0] : reading.mentions[i].start])
            and reading.mentions[i].assertion == "absent"
            for i in mine
        ):
            continue
        if said in cues and said not in ("or", "versus") and not _is_hedge(said):
            continue
        raise NoPlan(f"not understood: {word[0]!r}")
    for each in modifiers:
        if each.mention < 0 and not (each.value in QUIET_PARTS or each.value in QUIET_QUANTITIES):
            raise NoPlan(f"belongs to nothing: {reading.text[each.start : each.end]!r}")


def _is_hedge(word: str) -> bool:
    return any(pattern.search(word) for pattern in _knowledge().hedges.values())


def _is_size(word: str, sizes: Sequence[float]) -> bool:
    return word[0].isdigit() and any(abs(float(word) * unit - size) < 0.01 for size in sizes for unit in (1, 10))
