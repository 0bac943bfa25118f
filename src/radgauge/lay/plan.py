"""What a professional sentence states, made ready to be said in any language; or why it cannot be.

The report reader says what stands in the sentence; a plan is only made if every word of it is accounted for, every
part and every describing word has its place in a statement, and the doubt is worded in a way that is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from radgauge.lay.accounted_words import account_for_words, find_hedges, stop_at_refused_words
from radgauge.lay.limits import LIMITS, REACH, stop_at_other_measurements, stop_at_run_on
from radgauge.lay.normal_parts import normal_parts, reserve, unchanged_parts
from radgauge.lay.plan_finding import CALCIFIED, CAN_HARDEN, plan_finding
from radgauge.lay.sentence_parts import mentions_in, modifiers_in
from radgauge.lay.shared_words import is_change_behind, share, stop_at_shared_words
from radgauge.lay.statement import NoPlan, Statement
from radgauge.reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.reader.lexicon import FINDING_KINDS

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
    mine = [i for i in mentions_in(reading, number) if reading.mentions[i].form != "implied"]
    hardened = {i for i, later in zip(mine, _next_finding(reading, mine), strict=True) if later >= 0}
    mine = [i for i in mine if i not in hardened]
    modifiers = modifiers_in(reading, (start, end))
    if re.search(r"[A-Za-z]/[A-Za-z]", text):
        raise NoPlan("a slash can mean and, or, both")
    stop_at_refused_words(text)
    stop_at_run_on(reading, mine, end)
    hedges = find_hedges(reading, mine, (start, end))
    account_for_words(reading, mine, modifiers, (start, end), hedges)
    planned = _statements(reading, mine, modifiers, (start, end), hedges, places_of)
    if not planned:
        raise NoPlan("nothing was read in the sentence")
    stop_at_other_measurements(text, planned)
    return planned


def _next_finding(reading: ReportReading, mine: Sequence[int]) -> list[int]:
    """The granuloma behind each bare "calcified" ("calcified hilar granulomas"), which is no finding; else -1."""
    found = []
    for index in mine:
        later = [i for i in mine if i > index and reading.mentions[i].kind in FINDING_KINDS]
        bare = CALCIFIED.fullmatch(reading.mentions[index].text) is not None and later
        granuloma = bare and reading.mentions[later[0]].concept in CAN_HARDEN
        found.append(later[0] if granuloma else -1)
    return found


def _statements(
    reading: ReportReading,
    mine: Sequence[int],
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
    for index in mine:
        mention = reading.mentions[index]
        if mention.kind == "open" or mention.attributes.context != "current":
            raise NoPlan(f"not in the lexicon or not about today: {mention.text!r}")
        described = [m for m in modifiers if m.mention == index]
        targets = list(places_of.get(index, ()))
        if mention.kind in FINDING_KINDS:
            if mention.concept == "acute_abnormality" and not planned:
                targets = targets or [i for i in mine if i < index and reading.mentions[i].kind == "anatomy"]
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
                follows = _next_joined(reading, mine, index)
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
