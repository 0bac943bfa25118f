"""What a professional sentence states, made ready to be said in any language; or why it cannot be.

The report reader says what stands in the sentence; a plan is only made if every word of it is accounted for, every
part and every describing word has its place in a statement, and the doubt is worded in a way that is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from radgauge.parsing import shipped_toml
from radgauge.plain_language.limits import (
    LIMITS,
    REACH,
    limit_of,
    stop_at_more_than_normal,
    stop_at_other_measurements,
    stop_at_run_on,
    stop_at_words_inside,
)
from radgauge.plain_language.normal_parts import (
    QUIET_PARTS,
    QUIET_QUANTITIES,
    SUFFIXES,
    change_said,
    normal_parts,
    reserve,
    unchanged_parts,
)
from radgauge.plain_language.statement import NoPlan, Statement
from radgauge.report_reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.report_reader.lexicon import FINDING_KINDS

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+(?:\.\d+)?")
_MASK = re.compile(r"[Xx]{3,}|_{2,}")
_JOINED = re.compile(r"^[\s,]*(?:and/or|or|versus|vs\.?|and)?[\s,]*(?:a|an|the)?\s*$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|versus|vs|and/or)\b", re.IGNORECASE)
_WEAK = re.compile(r"typical|definite|obvious|convincing|overt|frank", re.IGNORECASE)
_LIMITING = re.compile(
    r"\b(?:non-?calcified|non-?displaced|displaced|acute|old|chronic|healed|significant|early|overt|frank|gross|"
    r"dominant|discrete|loculated|tension|confluent|active|recurrent|residual|resolving|healing|lobar|segmental|lobular|"
    r"unfold(?:ed|ing)|uncoil(?:ed|ing))\b",
    re.IGNORECASE,
)
_ACUTE = re.compile(r"acute|active|new\b|recent|superimposed", re.IGNORECASE)
_RANGE = re.compile(
    r"\b(?:trace|minimal|mild|small|moderate|slight)(?: to |-to-| ?- ?)"
    r"(?:mild|small|moderate|large|severe|marked)\b",
    re.IGNORECASE,
)
_SPREAD = frozenset({"scattered", "diffuse", "multiple", "numerous"})
_LEVELS = re.compile(r"multi-?\s?level", re.IGNORECASE)
_AT_LEVELS = re.compile(r"\bat (?:several|multiple) levels\b", re.IGNORECASE)
_UNIT = frozenset({"mm", "cm", "x", "by", "measuring", "measures", "approximately", "about"})
_SUSPICIOUS_OPACITY = re.compile(r"suspicious (?:pulmonary |lung |focal )*opacit(?:y|ies)", re.IGNORECASE)
_SUSPICIOUS = re.compile(r"\bsuspicious\s+(?:focal |pulmonary |appearing )?$", re.IGNORECASE)
_HEALED = re.compile(r"heal|\bold\b|chronic|remote", re.IGNORECASE)
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
_ADVERB = re.compile(r"\b(?:likely|probably|possibly|presum(?:ed|ably))$", re.IGNORECASE)
_LIMBS = re.compile(
    r"\b(?:shoulders?|clavic\w+|humer(?:us|al)|elbows?|forearms?|wrists?|hands?|fingers?|pelvi[sc]|hips?|femurs?|"
    r"femoral|knees?|tibia\w*|ankles?|foot|feet|scapula\w*|abdom\w+|kub)\b",
    re.IGNORECASE,
)
_BROKEN = frozenset({"fracture", "dislocation", "healed_fracture", "acute_osseous_abnormality"})
_LUMPS = frozenset({"lung_nodule", "nodule", "lung_mass", "mass", "lung_opacity"})
_CLOUDY = frozenset({"infiltrate", "airspace_disease", "airspace_opacity", "lung_opacity"})  # alike in plain words


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


def plan_sentence(reading: ReportReading, number: int) -> list[Statement]:
    """The statements of a sentence of a report, in their order.

    Raises:
        NoPlan: If anything in the sentence would be lost or guessed.
    """
    start, end, _ = reading.sentences[number]
    text = reading.text[start:end]
    if _MASK.search(text):
        raise NoPlan("a word of the report is missing")
    mine = [i for i, m in enumerate(reading.mentions) if m.sentence == number and m.form != "implied"]
    hardened = {i for i, later in zip(mine, _next_finding(reading, mine), strict=True) if later >= 0}
    mine = [i for i in mine if i not in hardened]
    modifiers = [m for m in reading.modifiers if start <= m.start < end]
    if re.search(r"[A-Za-z]/[A-Za-z]", text):
        raise NoPlan("a slash can mean and, or, both")
    refused = _knowledge().refuse.search(_without_normal_limits(text))
    if refused:
        raise NoPlan(f"the sentence says more than its findings: {refused[0]!r}")
    stop_at_run_on(reading, mine, end)
    hedges = _hedges(reading, mine, (start, end))
    _account_for_words(reading, mine, modifiers, (start, end), hedges)
    planned = _statements(reading, mine, modifiers, (start, end), hedges)
    if not planned:
        raise NoPlan("nothing was read in the sentence")
    stop_at_other_measurements(text, planned)
    return planned


_CALCIFIED = re.compile(r"calcif(?:ied|ic)", re.IGNORECASE)
_CAN_HARDEN = ("granuloma", "lung_nodule", "nodule")


def _next_finding(reading: ReportReading, mine: Sequence[int]) -> list[int]:
    """The granuloma behind each bare "calcified" ("calcified hilar granulomas"), which is no finding; else -1."""
    found = []
    for index in mine:
        later = [i for i in mine if i > index and reading.mentions[i].kind in FINDING_KINDS]
        bare = _CALCIFIED.fullmatch(reading.mentions[index].text) is not None and later
        granuloma = bare and reading.mentions[later[0]].concept in _CAN_HARDEN
        found.append(later[0] if granuloma else -1)
    return found


def _is_calcified(reading: ReportReading, index: int) -> bool:
    sentence = reading.mentions[index].sentence
    before = [m for m in reading.mentions[:index] if m.sentence == sentence and m.kind in FINDING_KINDS]
    return bool(before) and _CALCIFIED.fullmatch(before[-1].text) is not None


def _without_normal_limits(text: str) -> str:
    return re.sub(r"within (?:the )?normal limits", "normal", text, flags=re.IGNORECASE)


def _hedges(reading: ReportReading, mine: Sequence[int], span: tuple[int, int]) -> dict[int, tuple[str, int, int]]:
    """Doubt by mention: its kind and where it stands, before the mention and behind the finding in front of it."""
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


def _account_for_words(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> None:
    spans = [(reading.mentions[i].start, reading.mentions[i].end) for i in mine]
    spans += [(m.start, m.end) for m in modifiers]
    spans += [
        (m.start, m.end)
        for m in reading.mentions
        if span[0] <= m.start < span[1] and _CALCIFIED.fullmatch(m.text) and m.form != "implied"
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
        if said == "throughout" and (_LEVELS.search(lowered) or any(m.value in _SPREAD for m in modifiers)):
            continue
        if said == "under" and any(reading.mentions[i].concept == "free_air" for i in mine):
            continue
        if _AT_LEVELS.search(lowered) and said == "levels":
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
            _SUSPICIOUS.search(reading.text[span[0] : reading.mentions[i].start])
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


def _statements(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> list[Statement]:
    planned: list[Statement] = []
    used: set[int] = set()
    lowered = reading.text[span[0] : span[1]].lower()
    reserved = reserve(lowered)
    previous: Mention | None = None
    for index in mine:
        mention = reading.mentions[index]
        if mention.kind == "open" or mention.attributes.context != "current":
            raise NoPlan(f"not in the lexicon or not about today: {mention.text!r}")
        described = [m for m in modifiers if m.mention == index]
        targets = [r.target for r in reading.relations if r.source == index and r.type == "located_at"]
        if mention.kind in FINDING_KINDS:
            if mention.concept == "acute_abnormality" and not planned:
                targets = targets or [i for i in mine if i < index and reading.mentions[i].kind == "anatomy"]
            statement = _finding(reading, index, described, targets, modifiers, hedges)
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
                follows = _next_joined(reading, mine, index)
                if not follows:
                    raise NoPlan("an alternative to something that was not read")
                hedged = index in hedges
                status = hedges[index][0] if hedged else "present" if follows == "or" else "possible"
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
                statement = _shared(statement, planned[-1], between, mention, previous)
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
            targets = targets or [i for i in mine if reading.mentions[i].kind == "anatomy"]
            planned += normal_parts(reading, index, targets, modifiers, lowered)
        else:
            continue
        used.update(targets)
    places = [i for i in mine if reading.mentions[i].kind == "anatomy" and i not in used]
    if reserved.suffix and not all(s.kind == "normal" for s in planned):
        raise NoPlan("a reservation that the plain sentence cannot carry")
    if planned and all("lung" in _around(s.concept) for s in planned if s.kind == "finding"):
        places = [
            i
            for i in places
            if reading.mentions[i].concept != "lung"
            or reading.mentions[i].attributes.laterality in ("left", "right")
        ]
    volumes = {"low_lung_volumes", "hyperinflation"} & {s.concept for s in planned}
    places = [i for i in places if not (volumes and reading.mentions[i].concept == "lung_volumes")]
    stable = any(reading.mentions[i].attributes.change == "stable" for i in places)
    for index in places:
        mention = reading.mentions[index]
        if (
            planned
            or not stable
            or mention.attributes.change not in ("", "stable")
            or any(m.mention == index and m.role not in ("change", "part", "side", "quantity") for m in modifiers)
        ):
            raise NoPlan(f"a part that no statement takes up: {mention.text!r}")
    planned += unchanged_parts(reading, places, lowered)
    if re.search(r"\bagain\b", lowered) and not any(s.change or s.kind == "same" for s in planned):
        raise NoPlan("a comparison that no statement takes up")
    return planned


def _shared(
    statement: Statement, before: Statement, between: str, mention: Mention, previous: Mention
) -> Statement:
    """What stands once before a list holds for all of it: "no definite A or B", "stable A and B"."""
    anew = re.search(r"\b(?:no|without|with|but)\b", between, re.IGNORECASE)
    denied = statement.status == before.status == "absent" and not anew
    limits = [each for each in ("definite", "suspicious", *LIMITS) if each in before.qualities]
    if denied:
        if (before.severity and not statement.severity) or (
            "significant" in before.qualities and "significant" not in statement.qualities
        ):
            raise NoPlan("how far a degree reaches in a list of denials")
        lumps = statement.concept in _LUMPS  # "no suspicious nodule, mass or effusion": no suspicious effusion
        more = tuple(
            each for each in limits if each not in statement.qualities and (each != "suspicious" or lumps)
        )
        statement = statement._replace(qualities=(*statement.qualities, *more))
    listed = re.fullmatch(r"(?:[\s,]|and|\w+ ){1,6}", between) and re.search(r"\band\b|,", between)
    made = statement.status == before.status == "present" and not anew
    if made and before.change == "stable" and not statement.change and listed:
        statement = statement._replace(change="stable")
    return statement


def _of_the_parts(statement: Statement, planned: Sequence[Statement]) -> Statement:
    """ "Bones are intact with no acute abnormality": no acute abnormality of the bones, not of anything."""
    if statement.concept != "acute_abnormality" or statement.status != "absent":
        return statement
    own = set(statement.places)
    if own and own <= {"bones", "thorax"} and "bones" in own:
        place = ("thorax",) if "thorax" in own else ()
        return statement._replace(concept="acute_osseous_abnormality", places=place)
    if own == {"lung"}:
        return statement._replace(concept="acute_pulmonary_abnormality", side="")
    parts = {place for each in planned if each.kind == "normal" for place in each.places}
    if parts and not parts <= {"bones", "chest_bones", "rib", "spine", "thoracic_spine"}:
        raise NoPlan("a denial of which the sentence does not say how far it reaches")
    return statement._replace(concept="acute_osseous_abnormality") if parts else statement


def _is_roughly(before: str, statement: Statement) -> bool:
    """Whether what stands before a denied finding says that it holds as far as can be seen."""
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
    """Whether doubt comes from "versus" alone, behind a finding that is there: "A with B versus C"."""
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
    places = lexicon[concept].location if concept in lexicon else ()
    return frozenset("lung" if place in ("lung", "pleural_space", "airspace") else place for place in places)


hedges_that_refer = frozenset({"possible", "probable", "fits", "concern"})


def _bare(between: str, described: Sequence[Modifier], reading: ReportReading) -> str:
    for each in described:
        between = between.replace(reading.text[each.start : each.end], " ")
    return re.sub(r"\s+", " ", between)


def _next_joined(reading: ReportReading, mine: Sequence[int], index: int) -> str:
    """The word that joins a finding to its alternative; "" if there is none."""
    later = [i for i in mine if i > index and reading.mentions[i].kind in FINDING_KINDS]
    if not later:
        return ""
    between = reading.text[reading.mentions[index].end : reading.mentions[later[0]].start]
    word = _ALTERNATIVE.search(between)
    return word[0].lower() if word is not None and len(between.split()) <= 4 else ""


def _finding(
    reading: ReportReading,
    index: int,
    described: Sequence[Modifier],
    targets: Sequence[int],
    modifiers: Sequence[Modifier],
    hedges: Mapping[int, tuple[str, int, int]],
) -> Statement:
    mention = reading.mentions[index]
    if _SUSPICIOUS_OPACITY.fullmatch(mention.text):
        mention = mention._replace(concept="lung_opacity")
    said = mention.attributes
    parts = [m for m in modifiers if m.mention in targets]
    sentence = reading.text[slice(*reading.sentences[mention.sentence][:2])]
    if mention.concept.startswith("acute_") and not _ACUTE.search(sentence):
        raise NoPlan("a denial of more than what is acute")
    stop_at_words_inside(mention)
    for target in targets:
        stop_at_words_inside(reading.mentions[target])
    if any(m.role == "quantity" and m.value not in (*QUIET_QUANTITIES, "both") for m in parts):
        raise NoPlan("a place that is counted")
    for each in (*described, *parts):
        if each.role == "position" and not mention.start <= each.start < mention.end:
            raise NoPlan(f"a place told more closely: {reading.text[each.start : each.end]!r}")
    outside = {m.role for m in described if not mention.start <= m.start < mention.end}
    severity = said.severity if "severity" in outside or any(m.role == "severity" for m in described) else ""
    if said.severity and not severity:
        raise NoPlan("a degree that was not found in the text")
    words = [reading.text[m.start : m.end].lower() for m in described if m.role == "severity"]
    graded = list(_RANGE.finditer(reading.text, *reading.sentences[mention.sentence][:2]))
    if severity and any(span.start() <= m.start < span.end() for span in graded for m in described):
        words = [re.sub(r"\s*(?:to|-)\s*", " to ", graded[0][0].lower())]
    changes = [m for m in described if m.role == "change" and not mention.start <= m.start < mention.end]
    stop_at_more_than_normal(reading, mention, changes)
    change = change_said(reading, changes) if said.change == "stable" and changes else said.change
    change = change if "change" in outside else ""
    if change == "resolved":
        raise NoPlan("something that is gone")
    if change and mention.assertion == "absent":
        raise NoPlan("a change of something that is denied")
    qualities = tuple(
        "significant" if m.value == "significantly" else m.value
        for m in described
        if m.role == "quality" and not mention.start <= m.start < mention.end
    )
    if mention.concept in _CAN_HARDEN and _is_calcified(reading, index) and "calcification" not in qualities:
        qualities = (*qualities, "calcification")
    name = load_lexicon()[mention.concept].name.lower() if mention.concept in load_lexicon() else ""
    limits = [word.lower() for word in _LIMITING.findall(mention.text) if word.lower() not in name]
    if not mention.concept.startswith("acute"):
        qualities = (*qualities, *(word for word in limits if word not in qualities))
    inside = "suspicious" in mention.text.lower()
    if mention.assertion == "absent" and (inside or _SUSPICIOUS.search(reading.text[: mention.start])):
        qualities = (*qualities, "suspicious")
    elif inside:
        raise NoPlan(f"not told closely enough: {mention.text!r}")
    if mention.assertion == "absent":
        weak = _WEAK.search(said.cue) is not None or any(_WEAK.fullmatch(each) for each in qualities)
        qualities = tuple(each for each in qualities if not _WEAK.fullmatch(each)) + (
            ("definite",) if weak else ()
        )
    if change == "new" and _HEALED.search(" ".join((mention.text, name, *qualities))):
        raise NoPlan("new and old at once")
    if mention.assertion == "absent":
        if mention.concept in _BROKEN and not targets and _LIMBS.search(reading.text):
            raise NoPlan("a denial of which the report does not say how far it reaches")
        if not {"definite", "significant"} & set(qualities):
            limit = limit_of(reading, mention)
            qualities = (*qualities, limit) if limit else qualities
    counted = [m.value for m in described if m.role == "quantity" and m.value not in QUIET_QUANTITIES]
    if "apparent" in counted and mention.assertion != "absent":
        raise NoPlan("a doubt in a word of appearance")
    if {"other", "additional", "further"} & {*counted, *said.cue.lower().split()}:
        qualities = (*qualities, "other")
    if _LEVELS.search(" ".join((mention.text, *(reading.text[m.start : m.end] for m in (*described, *parts))))):
        qualities = (*(each for each in qualities if each != "multilevel"), "multilevel")
    if _AT_LEVELS.search(reading.text[slice(*reading.sentences[mention.sentence][:2])]):
        counted = [value for value in counted if value not in ("several", "multiple")]
        qualities = (*(each for each in qualities if each != "multilevel"), "multilevel")
    quantity = [value for value in counted if value not in ("apparent", "other", "additional", "further")]
    if quantity == ["some"] and not _is_many(mention):
        quantity = []
    if len(quantity) > 1:
        raise NoPlan("several words of number")
    return Statement(
        "finding",
        mention.concept,
        status=_status(mention, index, hedges),
        severity=severity,
        size_word=words[0] if words else "",
        side=said.laterality or _bend(mention),
        places=tuple(
            dict.fromkeys((*said.locations, *_named(mention), *(reading.mentions[i].concept for i in targets)))
        ),
        change=change,
        qualities=qualities,
        quantity=quantity[0] if quantity else "",
        many=_is_many(mention),
        sizes_mm=said.sizes_mm,
        said=mention.text.lower(),
    )


def _named(mention: Mention) -> tuple[str, ...]:
    """The part of the spine that stands in the name: "thoracic spondylosis"."""
    if mention.concept not in ("spondylosis", "disc_degeneration", "degenerative_spine_change", "kyphosis"):
        return ()
    found = re.search(r"thoracic|lumbar|cervical", mention.text, re.IGNORECASE)
    return (f"{found[0].lower()}_spine",) if found is not None else ()


def _bend(mention: Mention) -> str:
    """The side to which a spine bends, from the name of the curve."""
    text = mention.text.lower()
    return "right" if "dextro" in text else "left" if "levo" in text else ""


def _is_many(mention: Mention) -> bool:
    from radgauge.text.grammar import is_plural

    last = mention.text.lower().rpartition(" ")[2]
    return is_plural(last) and last not in ("changes", "volumes", "markings")


def _status(mention: Mention, index: int, hedges: Mapping[int, tuple[str, int, int]]) -> str:
    hedge = hedges.get(index)
    if mention.assertion == "absent":
        if hedge is not None and hedge[0] != "fits":
            raise NoPlan("a denial in doubt")
        return "absent"
    cue = mention.attributes.cue.lower()
    if hedge is not None and cue in ("or", "versus", "and/or", "vs"):
        return hedge[0]
    if mention.assertion == "uncertain" and cue in ("or", "versus", "and/or", "vs"):
        return "alternative"
    if mention.assertion == "uncertain" and hedge is None:
        return "alternative"
    if hedge is None:
        return "present"
    if mention.assertion == "present" and hedge[0] in ("possible", "concern"):
        raise NoPlan("a doubt that the reader did not see")
    return hedge[0]


def known_places() -> frozenset[str]:
    """Ids of anatomy in the lexicon."""
    return frozenset(concept.id for concept in load_lexicon() if concept.kind == "anatomy")
