"""Plan of a professional sentence: its statements, ready for any language; or why there is none.

The report reader says what stands in the sentence; a plan is only made if every word of it is accounted for, every
part and every describing word has its place in a statement, and the doubt is worded in a way that is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.lay.limits import LIMITS, REACH, stop_at_other_measurements, stop_at_run_on
from radgauge.lay.normal_parts import (
    QUIET_PARTS,
    QUIET_QUANTITIES,
    SUFFIXES,
    normal_parts,
    reserve,
    unchanged_parts,
)
from radgauge.lay.plan_finding import AT_LEVELS, CALCIFIED, CAN_HARDEN, LEVELS, SUSPICIOUS, plan_finding
from radgauge.lay.shared_words import is_change_behind, share, stop_at_shared_words
from radgauge.lay.statement import NoPlan, Statement, mentions_in, modifiers_in
from radgauge.reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.reader.lexicon import FINDING_KINDS

# Every word of a sentence has its place: in a finding, a describing word, a cue, a doubt; or it says nothing.

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
    reading: ReportReading, indices: Sequence[int], span: tuple[int, int]
) -> dict[int, tuple[str, int, int]]:
    """Doubt by mention: its kind and where it stands, before the mention and behind the finding in front of it.

    Raises:
        NoPlan: If a doubt stands behind the last finding.
    """
    hedges: dict[int, tuple[str, int, int]] = {}
    findings = [i for i in indices if reading.mentions[i].kind in FINDING_KINDS]
    at = span[0]
    for index in findings:
        mention = reading.mentions[index]
        window = reading.text[at : mention.start]
        for name, pattern in _knowledge().hedges.items():
            match = pattern.search(window)
            if match and index not in hedges:
                hedges[index] = (name, at + match.start(), at + match.end())
        at = mention.end
    if findings and re.search(
        r"\b(?:is|are) (?:possible|suspected|questioned)|(?:cannot|can not|not) (?:be )?(?:excluded|ruled out)",
        reading.text[at : span[1]],
    ):
        raise NoPlan("doubt behind a finding")
    return hedges


def account_for_words(
    reading: ReportReading,
    indices: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> None:
    """Check that every word of a sentence is covered by what was read in it.

    Args:
        reading: The report.
        mine: Mentions of the sentence.
        modifiers: Its describing words.
        span: Where it stands.
        hedges: Doubt by mention: its kind, start and end.

    Raises:
        NoPlan: If a word is not.
    """
    spans = [(reading.mentions[i].start, reading.mentions[i].end) for i in indices]
    spans += [(m.start, m.end) for m in modifiers]
    sentence_mentions = mentions_in(reading, reading.mentions[indices[0]].sentence) if indices else ()
    spans += [
        (m.start, m.end)
        for m in (reading.mentions[i] for i in sentence_mentions)
        if CALCIFIED.fullmatch(m.text) and m.form != "implied"
    ]
    cues = {word for i in indices for word in re.findall(r"[a-z']+", reading.mentions[i].attributes.cue.lower())}
    sizes = [size for i in indices for size in reading.mentions[i].attributes.sizes_mm]
    knowledge = _knowledge()
    compared = any(m.role == "change" for m in modifiers)
    lowered = reading.text[slice(*span)].lower()
    suffixes = [m.span() for p in SUFFIXES.values() for m in p.finditer(lowered)]
    clips = all(
        reading.mentions[i].concept.endswith("clips") for i in indices if reading.mentions[i].kind in FINDING_KINDS
    )
    for word in _WORD.finditer(reading.text, *span):
        token = word[0].lower()
        if any(start <= word.start() - span[0] < end for start, end in suffixes):
            continue
        if token == "throughout" and (LEVELS.search(lowered) or any(m.value in _SPREAD for m in modifiers)):
            continue
        if token == "under" and any(reading.mentions[i].concept == "free_air" for i in indices):
            continue
        if AT_LEVELS.search(lowered) and token == "levels":
            continue
        if clips and token in ("overlying", "overlie", "projecting", "over", "project"):
            continue
        if any(start <= word.start() < end for start, end in spans) or token in knowledge.empty:
            continue
        if token == "changes" and re.match(
            r" (?:of|from|compatible|consistent)\b", lowered[word.end() - span[0] :]
        ):
            continue  # "changes of emphysema" are emphysema
        if any(start <= word.start() < end for _, start, end in hedges.values()):
            continue
        if token in knowledge.links and any(end <= word.start() < end + 25 for _, _, end in hedges.values()):
            continue
        if compared and token in knowledge.comparing:
            continue
        if sizes and (token in _UNIT or _is_size(token, sizes)):
            continue
        if token == "suspicious" and any(
            SUSPICIOUS.search(reading.text[span[0] : reading.mentions[i].start])
            and reading.mentions[i].assertion == "absent"
            for i in indices
        ):
            continue
        if token in cues and token not in ("or", "versus") and not _is_hedge(token):
            continue
        raise NoPlan(f"not understood: {word[0]!r}")
    for modifier in modifiers:
        if modifier.mention < 0 and not (modifier.value in QUIET_PARTS or modifier.value in QUIET_QUANTITIES):
            raise NoPlan(f"belongs to nothing: {reading.text[modifier.start : modifier.end]!r}")


def _is_hedge(word: str) -> bool:
    return any(pattern.search(word) for pattern in _knowledge().hedges.values())


def _is_size(word: str, sizes: Sequence[float]) -> bool:
    return word[0].isdigit() and any(abs(float(word) * unit - size) < 0.01 for size in sizes for unit in (1, 10))


_MASK = re.compile(r"[Xx]{3,}|_{2,}")
_JOINED = re.compile(r"^[\s,]*(?:and/or|or|versus|vs\.?|and)?[\s,]*(?:a|an|the)?\s*$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|versus|vs|and/or)\b", re.IGNORECASE)
_ASIDE = re.compile(  # a possible finding of its own: "cardiomegaly, question effusion", "A and possible B"
    r"\b(?:possible|probable|question(?:able)?(?: of)?|suspect(?:ed)?|maybe|perhaps|suspicion (?:for|of)|"
    r"not excluded|(?:cannot|can not) (?:be )?(?:excluded?|ruled? out))$|"
    r"\b(?:and|with)\s+(?:an?\s+)?(?:(?:most |more )?(?:likely|probabl[ey]|possibl[ey])|presumed)$",
    re.IGNORECASE,
)
_REFERS = re.compile(  # "This may be ...", and the same without its subject: "May represent pneumonia."
    r"\s*(?:(?:this|these|which)\b|(?:may|might|could|likely|probably|possibly|most likely)\s+(?:be|represent|"
    r"reflect|indicate|due)|(?:most )?(?:consistent|compatible) with|in keeping with|suggest(?:s|ing|ive)\b|"
    r"represent(?:s|ing)?\b|reflect(?:s|ing)?\b|favou?red\b|(?:concerning|worrisome|suspicious) for)"
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|there'?s?|shows?|demonstrates?|reveals?|seen|noted|identified|present|appears?|"
    r"visible|visuali[sz]ed|demonstrated|remains?)\b"
)
_ADVERB = re.compile(r"\b(?:likely|probably|possibly|presum(?:ed|ably))$", re.IGNORECASE)
_CLOUDY = frozenset({"infiltrate", "airspace_disease", "airspace_opacity", "lung_opacity"})  # alike in plain words


def plan_sentence(reading: ReportReading, number: int, places_of: Mapping[int, Sequence[int]]) -> list[Statement]:
    """The statements of a sentence of a report, in their order; `places_of` is `places_by_mention` of the report.

    Raises:
        NoPlan: If anything in the sentence would be lost or guessed.
    """
    start, end, _ = reading.sentences[number]
    text = reading.text[start:end]
    if _MASK.search(text):
        raise NoPlan("a word of the report is missing")
    indices = [i for i in mentions_in(reading, number) if reading.mentions[i].form != "implied"]
    hardened = {i for i, later in zip(indices, _next_finding(reading, indices), strict=True) if later >= 0}
    indices = [i for i in indices if i not in hardened]
    modifiers = modifiers_in(reading, (start, end))
    if re.search(r"[A-Za-z]/[A-Za-z]", text):
        raise NoPlan("a slash can mean and, or, both")
    stop_at_refused_words(text)
    stop_at_run_on(reading, indices, end)
    hedges = find_hedges(reading, indices, (start, end))
    account_for_words(reading, indices, modifiers, (start, end), hedges)
    planned = _statements(reading, indices, modifiers, (start, end), hedges, places_of)
    if not planned:
        raise NoPlan("nothing was read in the sentence")
    stop_at_other_measurements(text, planned)
    return planned


def _next_finding(reading: ReportReading, indices: Sequence[int]) -> list[int]:
    """The granuloma behind each bare "calcified" ("calcified hilar granulomas"), which is no finding; else -1."""
    following = []
    for index in indices:
        later = [i for i in indices if i > index and reading.mentions[i].kind in FINDING_KINDS]
        bare = CALCIFIED.fullmatch(reading.mentions[index].text) is not None and later
        granuloma = bare and reading.mentions[later[0]].concept in CAN_HARDEN
        following.append(later[0] if granuloma else -1)
    return following


def _statements(
    reading: ReportReading,
    indices: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
    places_of: Mapping[int, Sequence[int]],
) -> list[Statement]:
    planned: list[Statement] = []
    used: set[int] = set()
    lowered = reading.text[span[0] : span[1]].lower()
    reserved = reserve(lowered)
    previous: Mention | None = None
    for index in indices:
        mention = reading.mentions[index]
        if mention.kind == "open" or mention.attributes.context != "current":
            raise NoPlan(f"not in the lexicon or not about today: {mention.text!r}")
        described = [m for m in modifiers if m.mention == index]
        targets = list(places_of.get(index, ()))
        if mention.kind in FINDING_KINDS:
            if mention.concept == "acute_abnormality" and not planned:
                targets = targets or [i for i in indices if i < index and reading.mentions[i].kind == "anatomy"]
            statement = plan_finding(reading, index, described, targets, modifiers, hedges)
            between = reading.text[previous.end : mention.start] if previous is not None else ""
            joined = bool(
                previous is not None
                and _ALTERNATIVE.search(between)
                and _JOINED.match(_bare(between, described, reading))
            )
            if joined and statement.status == "alternative":
                before = planned[-1]
                statement = statement._replace(status=before.status, joined=True, refers=before.refers)
            elif statement.status == "alternative":
                follows = _next_joined(reading, indices, index)
                if not follows:
                    raise NoPlan("an alternative to something that was not read")
                hedged = index in hedges
                status = hedges[index][0] if hedged else "present" if follows == "or" else "possible"
                if status == "present" and not _STATES.search(lowered):
                    raise NoPlan("findings with 'or' that nothing states: a denial may be lost")
                statement = statement._replace(status=status)
            made = [s for s in planned if s.kind == "finding" and s.status == "present"]
            if made and not statement.joined and index in hedges and _is_aside(reading, hedges[index], span[0]):
                pass
            elif _is_alternative(statement, made, index in hedges) and re.search(r"\b(?:with|and)\b", between):
                raise NoPlan("two findings, or one that explains the other")
            elif made and statement.status in hedges_that_refer:
                if index in hedges and _ADVERB.search(reading.text[hedges[index][1] : hedges[index][2]]):
                    _stop_unless_near(statement.concept, made[-1].concept)
                statement = statement._replace(refers=not statement.joined or statement.refers)
            elif _REFERS.match(lowered) and statement.status in hedges_that_refer:
                if not span[0] or not reading.text[: span[0]].strip():
                    raise NoPlan("what it refers to is not said")
                statement = statement._replace(refers=True)
            if statement.refers and statement.concept in _CLOUDY and any(s.concept in _CLOUDY for s in made):
                raise NoPlan("what it may be has the same plain name")
            if statement.status == "absent" and index in hedges:
                linked = planned and planned[-1].kind == "finding" and planned[-1].status == "absent"
                if not linked or not re.fullmatch(r"\s*to suggest (?:an? )?(?:\w+ )?", between):
                    raise NoPlan("a denial in doubt")
                statement = statement._replace(link=True)
            if previous is not None and planned and planned[-1].kind == "finding":
                statement = share(statement, planned[-1], between=between)
                stop_at_shared_words(
                    statement, planned[-1], between=between, behind=is_change_behind(described, mention)
                )
            statement = _of_the_parts(statement, planned)
            if statement.status == "absent" and re.search(r"expanded|inflated|aerated", mention.attributes.cue):
                planned.append(Statement("normal", "well_expanded", places=("lung",), side=statement.side))
            _stop_at_doubt_before(statement, planned, between)
            if _is_named_again(statement, planned, between):
                planned.pop()
            denied = statement.status == "absent"
            planned.append(
                statement._replace(
                    otherwise=reserved.otherwise and denied,
                    roughly=denied and _is_roughly(lowered[: mention.start - span[0]], statement),
                )
            )
            previous = mention
        elif mention.kind == "normality":
            targets = targets or [i for i in indices if reading.mentions[i].kind == "anatomy"]
            planned += normal_parts(reading, index, targets, modifiers, lowered)
        else:
            continue
        used.update(targets)
    part_indices = [i for i in indices if reading.mentions[i].kind == "anatomy" and i not in used]
    if reserved.suffix and not all(s.kind == "normal" for s in planned):
        raise NoPlan("a reservation that the plain sentence cannot carry")
    if planned and all("lung" in _around(s.concept) for s in planned if s.kind == "finding"):
        part_indices = [
            i
            for i in part_indices
            if reading.mentions[i].concept != "lung"
            or reading.mentions[i].attributes.laterality in ("left", "right")
        ]
    volumes = {"low_lung_volumes", "hyperinflation"} & {s.concept for s in planned}
    part_indices = [i for i in part_indices if not (volumes and reading.mentions[i].concept == "lung_volumes")]
    stable = any(reading.mentions[i].attributes.change == "stable" for i in part_indices)
    for index in part_indices:
        mention = reading.mentions[index]
        if (
            planned
            or not stable
            or mention.attributes.change not in ("", "stable")
            or any(m.mention == index and m.role not in ("change", "part", "side", "quantity") for m in modifiers)
        ):
            raise NoPlan(f"a part that no statement takes up: {mention.text!r}")
    planned += unchanged_parts(reading, part_indices, lowered)
    if re.search(r"\bagain\b", lowered) and not any(s.change or s.kind == "same" for s in planned):
        raise NoPlan("a comparison that no statement takes up")
    return planned


def _of_the_parts(statement: Statement, planned: Sequence[Statement]) -> Statement:
    """ "Bones are intact with no acute abnormality": no acute abnormality of the bones, not of anything."""
    if statement.concept != "acute_abnormality" or statement.status != "absent":
        return statement
    own = set(statement.places)
    if own and own <= {"bones", "thorax"} and "bones" in own:
        location = ("thorax",) if "thorax" in own else ()
        return statement._replace(concept="acute_osseous_abnormality", places=location)
    if own == {"lung"}:
        return statement._replace(concept="acute_pulmonary_abnormality", side="")
    parts = {location for other in planned if other.kind == "normal" for location in other.places}
    if parts and not parts <= {"bones", "chest_bones", "rib", "spine", "thoracic_spine"}:
        raise NoPlan("a denial of which the sentence does not say how far it reaches")
    return statement._replace(concept="acute_osseous_abnormality") if parts else statement


def _is_roughly(before: str, statement: Statement) -> bool:
    """True if the words before a denied finding mean that it holds as far as can be seen."""
    subject = re.match(r"\W*(?:the )?(?:visuali[sz]ed|visible|imaged)\b", before) is not None
    return "grossly" in before or (subject and not {"visible", *LIMITS} & set(statement.qualities))


def _stop_at_doubt_before(statement: Statement, planned: Sequence[Statement], between: str) -> None:
    """ "Probable fibrosis and scarring": whether the doubt reaches the second, is not said.

    Raises:
        NoPlan: If a finding without doubt is joined to one in doubt.
    """
    if statement.status != "present" or statement.joined or not planned or planned[-1].kind != "finding":
        return
    if planned[-1].status in hedges_that_refer and re.search(r"\b(?:and|with)\b|^[\s,]*$|,", between):
        raise NoPlan("how far a doubt reaches")


def _is_named_again(statement: Statement, planned: Sequence[Statement], between: str) -> bool:
    """ "Postoperative changes of sternotomy": the operation is named, so that its changes need no sentence."""
    if not planned:
        return False
    general = Statement("finding", "postsurgical_change", said=planned[-1].said, many=planned[-1].many)
    return (
        planned[-1] == general
        and statement.concept in ("sternotomy", "cabg", "sternotomy_wires")
        and re.fullmatch(r"\s*(?:of|from|due to|related to)\s+(?:a |prior |previous )?", between) is not None
    )


def _is_alternative(statement: Statement, made: Sequence[Statement], hedged: bool) -> bool:
    """True if doubt comes from "versus" alone, after a finding that is there: "A with B versus C"."""
    doubtful = statement.status in hedges_that_refer and not statement.joined
    return bool(made) and doubtful and not hedged


def _is_aside(reading: ReportReading, hedge: tuple[str, int, int], start: int) -> bool:
    return _ASIDE.search(reading.text[max(start, hedge[1] - REACH) : hedge[2]]) is not None


def _stop_unless_near(concept: str, before: str) -> None:
    """ "Cardiomegaly, likely effusion": whether the one is what the other is, is not said."""
    here, there = _around(concept), _around(before)
    if here and there and not here & there:
        raise NoPlan("two findings, or one that explains the other")


def _around(concept: str) -> frozenset[str]:
    lexicon = load_lexicon()
    locations = lexicon[concept].location if concept in lexicon else ()
    return frozenset(
        "lung" if location in ("lung", "pleural_space", "airspace") else location for location in locations
    )


hedges_that_refer = frozenset({"possible", "probable", "fits", "concern"})


def _bare(between: str, described: Sequence[Modifier], reading: ReportReading) -> str:
    for modifier in described:
        between = between.replace(reading.text[modifier.start : modifier.end], " ")
    return re.sub(r"\s+", " ", between)


def _next_joined(reading: ReportReading, indices: Sequence[int], index: int) -> str:
    """The word that joins a finding to its alternative; "" if there is none."""
    later = [i for i in indices if i > index and reading.mentions[i].kind in FINDING_KINDS]
    if not later:
        return ""
    between = reading.text[reading.mentions[index].end : reading.mentions[later[0]].start]
    word = _ALTERNATIVE.search(between)
    return word[0].lower() if word is not None and len(between.split()) <= 4 else ""
