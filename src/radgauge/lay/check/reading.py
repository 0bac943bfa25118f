"""What a text says, read as a lay person would: facts with part, side, degree, doubt, change; advice; numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from radgauge.core.signature import component
from radgauge.lay.check.patterns import Found, everyday
from radgauge.text.sentences import split_sentences

_CUES = (
    *(
        "certainty",
        "degree",
        "change",
        "device_state",
        "normal",
        "benign",
        "not_assessed",
        "breaks",
        "sides",
        "zones",
    ),
    *("no", "no_behind", "no_negation", "advice", "actions", "gloss"),
)
NONE: frozenset[str] = frozenset()
_NUMBER = r"(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen)"
_MEASURE = re.compile(
    rf"\b(?P<first>{_NUMBER})(?P<more>(?: ?(?:-|–|to|x|by|×|or) ?{_NUMBER}|,? and {_NUMBER})*)[ -]*"
    rf"(?P<unit>mm|cm|millimet\w+|centimet\w+|days?|weeks?|months?|years?|hours?)\b"
)
_IN_A = re.compile(r"\b(?:in|every|after|within|once) an? (?P<unit>day|week|month|year|hour)\b")
_ONE = re.compile(_NUMBER)
_THAN_NORMAL = re.compile(
    r"(?:than|(?:limits?|end|top|range|side) of|above|below|upper|not|isn't|aren't|never|up to)(?: the| quite)?$"
)
_SAME_SIDE = re.compile(
    r"\b(?:that|the) same (?:lung|side|breast|kidney|leg|arm|rib\w*|place|area|part)\b|\bthere too\b"
)
_ADJECTIVE = re.compile(r"patchy|streaky|hazy|dense|markings")
_APPOSITION = re.compile(
    r", (?:an?|the|which (?:is|are)) (?:(?!(?:no|not|and|or|is|are)\b)[^,.;()]){3,70},"
    r"(?= (?:is|are|has|have|was|were|shows?|looks?|appears?)\b)"
)
_BRACKETS = re.compile(r"\([^()]*\)")
_NO_ADVICE = re.compile(
    r"\b(?:no|not|don't|without)\b(?: \w+){0,3} "
    r"(?:follow-?up|need(?:ed)?|require\w*|necessary|imaging|pictures?|tests?|scans?)\b"
)
_PRONOUN = re.compile(r"^\W*(?:it|this|they|these|that|both|none of (?:them|these)|its)\b")
_CLAUSE_ABOUT_IT = re.compile(r"^\W*(?:and |but |so )?(?:it|this|they|these|that|which)\b")


_NEW_SUBJECT = re.compile(
    r"(?: +|(?:,| and|, and) +(?=(?:the|both|your|there)\b))"
    r"(?:there (?:is|are|was|were|has|have)\b(?! (?:no|not)\b)|"
    r"(?!(?:in|of|at|on|to|for|from|with|within|by|or|and|nor|but|that|which|is|are|was|were|has|have|as|than|around|"
    r"near|under|over|behind|between|can|may|not)\b)(?:[a-z'-]+ +){1,4}?"
    r"(?:is|are|was|were|has|have|appears?|remains?|looks?|demonstrates?|shows?)\b"
    r"(?! (?:been |clearly )?(?:seen|identified|noted|present|evident|visuali[sz]ed|demonstrated|detected|"
    r"appreciated|visible|found|apparent|shown|observed)\b))"
)


_REACH = 200  # facts back that "the same side" refers to at most


class Fact(NamedTuple):
    """One thing a text says. Empty means not said."""

    kind: str  # finding | device | normal | benign | limited
    values: frozenset[str]
    start: int
    end: int
    sentence: int
    denied: bool = False
    parts: frozenset[str] = NONE
    sides: frozenset[str] = NONE
    zones: frozenset[str] = NONE
    degree: str = ""
    certainty: str = ""
    change: str = ""
    state: str = ""
    gloss: bool = False


class Advice(NamedTuple):
    """What a text tells to do."""

    actions: frozenset[str]
    intervals: frozenset[tuple[float, str]]
    urgency: str
    start: int
    end: int


class EverydayReading(NamedTuple):
    """A text as a lay person would read it."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    facts: tuple[Fact, ...]
    advice: tuple[Advice, ...]
    sizes: frozenset[float]  # mm
    levels: frozenset[str]
    urgency: str
    parts: frozenset[str]
    sides: frozenset[str]
    causes: tuple[tuple[int, int], ...]
    proofs: tuple[tuple[int, int], ...]
    reasons: bool
    is_benign: bool
    unread: tuple[int, ...]  # sentences of which nothing was read


@dataclass(frozen=True)
class EverydayReader:
    """A `Reader` of everyday wording, for lay and professional texts."""

    @property
    def signature(self) -> str:
        """Version of rules and patterns, which counts up when a reading of the probes moves."""
        return component("everyday")

    def read(self, texts: Sequence[str]) -> list[EverydayReading]:
        """One reading per text."""
        return [read_everyday(text) for text in texts]


def read_everyday(text: str) -> EverydayReading:
    """Read a lay or professional text.

    >>> [fact] = read_everyday("Your heart is a bit bigger than usual.").facts
    >>> sorted(fact.values), fact.degree, fact.denied
    (['cardiomegaly'], 'low', False)
    """
    plain = _plain(text)
    spans = tuple(
        span for whole in split_sentences(text) for span in _pieces(plain, whole) if text[slice(*span)].strip()
    )
    facts: list[Fact] = []
    advice: list[Advice] = []
    unread = []
    for number, (start, end) in enumerate(spans):
        found, told = _sentence(plain, (start, end), number, facts)
        facts += found
        advice += told
        words = len(re.findall(r"[a-z]{3,}", plain[start:end]))
        if not found and not told and words > 1 and not _is_technique(plain[start:end]):
            unread.append(number)
    known = everyday()
    return EverydayReading(
        text,
        spans,
        tuple(facts),
        tuple(advice),
        frozenset(size for size, unit in _measures(plain) if unit == "mm"),
        frozenset(value for each in known.groups["spine_level"].find(plain) for value in each.values),
        _urgency(plain),
        frozenset(value for each in known.parts.find(plain, overlapping=True) for value in each.values),
        frozenset(value for each in known.groups["sides"].find(plain) for value in each.values),
        tuple((each.start, each.end) for each in known.groups["cause"].find(plain)),
        tuple((each.start, each.end) for each in known.groups["proof"].find(plain)),
        bool(known.groups["reasons"].find(plain)),
        bool(known.groups["benign_by_nature"].find(plain)),
        tuple(unread),
    )


LONGEST = 500
"""Characters of a sentence; a longer one is read in pieces, so that time grows with the length of the text."""


def _pieces(text: str, span: tuple[int, int]) -> Iterable[tuple[int, int]]:
    start, end = span
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        cut = cut if cut > start else start + LONGEST
        yield start, cut
        start = cut
    yield start, end


def _plain(text: str) -> str:
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    lowered = re.sub(r"[\s*_]", " ", lowered.replace("’", "'").replace("–", "-").replace("—", "-"))
    return _APPOSITION.sub(lambda match: " " * len(match[0]), lowered)


def _is_technique(sentence: str) -> bool:
    """Whether a sentence tells how the picture was taken or what a word means; it makes no claim."""
    return any(everyday().groups[name].find(sentence.strip()) for name in ("technique", "gloss"))


def _urgency(text: str) -> str:
    found = everyday().groups["urgency"].find(text)
    values = {value for each in found for value in each.values}
    return "low" if "low" in values else "high" if "high" in values else ""


def _measures(text: str) -> list[tuple[float, str]]:
    numbers = everyday().numbers
    found = []
    for match in _MEASURE.finditer(text):
        unit = next(iter(v for each in everyday().groups["units"].find(match["unit"]) for v in each.values), "")
        for word in _ONE.findall(match["first"] + " " + match["more"]):
            value = float(numbers.get(word, 0) or (word if word[0].isdigit() else 0))
            found.append((value * 10, "mm") if unit == "cm" else (value, unit))
    found += [(1.0, match["unit"]) for match in _IN_A.finditer(text)]
    return found


@lru_cache(maxsize=4096)
def _found(sentence: str) -> Mapping[str, tuple[Found, ...]]:
    """What each kind of pattern finds in a sentence; reports repeat their sentences."""
    known = everyday()
    return {
        "findings": tuple(_joined(known.findings.find(sentence), sentence)),
        "devices": tuple(known.devices.find(sentence)),
        "parts": tuple(known.parts.find(sentence, overlapping=True)),
        **{name: tuple(known.groups[name].find(sentence)) for name in _CUES},
    }


class _Cues:
    """The cues of one sentence, found once; positions are those of the whole text."""

    def __init__(self, plain: str, span: tuple[int, int]) -> None:
        self.start = span[0]
        self.text = plain[slice(*span)]
        self.named = _found(self.text)
        self.findings, self.devices, self.parts = (self.named[name] for name in ("findings", "devices", "parts"))
        self.brackets = [match.span() for match in _BRACKETS.finditer(self.text)]
        said = (*self.findings, *self.devices, *self.named["normal"], *self.named["benign"])
        claims = sorted(each.start for each in said if not self._bracket(each.start))
        ends = {each.start for each in self.named["breaks"]} | set(self._run_ons())
        self.cuts = sorted(at for at in ends if not self._bracket(at))
        self.owner = [0]
        for number, (cut, following) in enumerate(pairwise([*self.cuts, len(self.text)]), 1):
            if any(cut <= at < following for at in claims):
                self.owner.append(number)
            elif claims and _CLAUSE_ABOUT_IT.match(self.text[cut:following].lstrip(",;: ")):
                self.owner.append(self.owner[bisect_right(self.cuts, claims[0])] if claims[0] < cut else number)
            else:  # "; now a moderate amount" goes with what it follows
                self.owner.append(self.owner[-1])

    def _run_ons(self) -> Iterable[int]:
        """Where a new subject with its verb follows a denied finding without a stop; the denial ends there."""
        for each in (*self.findings, *self.devices):
            denied = any(no.end <= each.start for no in self.named["no"])
            if denied and _NEW_SUBJECT.match(self.text, each.end):
                yield each.end

    def _bracket(self, at: int) -> int:
        """Number of the bracket that holds a place, from 1; 0 outside."""
        return next((n for n, (start, end) in enumerate(self.brackets, 1) if start <= at < end), 0)

    def clause(self, at: int) -> int:
        """Number of the clause that holds a place."""
        return self.owner[bisect_right(self.cuts, at)]

    def in_clause(self, name: str, at: int) -> list[Found]:
        found = self.parts if name == "parts" else self.named[name]
        return [each for each in found if self.clause(each.start) == self.clause(at)]


def _sentence(
    plain: str, span: tuple[int, int], number: int, before: Sequence[Fact]
) -> tuple[list[Fact], list[Advice]]:
    cues = _Cues(plain, span)
    advice = _advice(cues)
    facts: list[Fact] = []
    for kind, found in (("finding", cues.findings), ("device", cues.devices)):
        for each in found:
            if kind == "finding" and any(_overlap(each, other) for other in cues.devices):
                continue
            if each.values <= {"surgery"} and any(
                cues.clause(device.start) == cues.clause(each.start) for device in cues.devices
            ):
                continue  # "the tube has been removed" is no operation
            if any(cue.start < each.start for cue in cues.in_clause("not_assessed", each.start)):
                continue
            if (
                kind == "finding"
                and any(_overlap(each, other) for other in cues.named["change"])
                and each.values <= _VAGUE
            ):
                continue
            facts += _by_side(_fact(kind, each, cues, number, before), each, cues)
    taken = [(fact.start - cues.start, fact.end - cues.start) for fact in facts if fact.kind != "device"]
    for each in cues.named["normal"]:
        lead = cues.text[: each.start].rstrip()
        inside = any(start <= each.start < end for start, end in taken)
        if not inside and not _THAN_NORMAL.search(lead):
            facts += _normals(each, cues, number, before)
    for kind, name in (("benign", "benign"), ("limited", "not_assessed")):
        for each in cues.named[name]:
            facts.append(_fact(kind, each, cues, number, before)._replace(denied=False, values=frozenset({kind})))
    spoken = {cues.clause(fact.start - cues.start) for fact in facts}
    for each in cues.named["change"]:
        parts = frozenset(v for part in cues.in_clause("parts", each.start) for v in part.values)
        if cues.clause(each.start) not in spoken and parts and not (facts and _PRONOUN.match(cues.text)):
            course = _fact("course", each, cues, number, before)
            facts.append(course._replace(values=frozenset({"course"}), denied=False, parts=parts))
            spoken.add(cues.clause(each.start))
    facts.sort(key=lambda fact: fact.start)
    if advice and not any(cue.values for cue in cues.named["normal"]):
        facts = [fact for fact in facts if not _in_advice(fact, cues)]
    return facts, advice


_VAGUE = frozenset({"dilatation", "atrophy", "collapse", "nodule", "mass", "healing", "dislocation", "thickening"})


def _by_side(fact: Fact, each: Found, cues: _Cues) -> list[Fact]:
    """ "Small left and large right effusions" are two facts."""
    sides = [side for side in _near(each, cues, "sides") if side.start < each.start]
    degrees = [cue for cue in cues.in_clause("degree", each.start) if cue.start < each.start]
    if len(sides) != 2 or len(degrees) < 2 or {*sides[0].values, *sides[1].values} != {"left", "right"}:
        return [fact]
    found = []
    for side in sides:
        degree = max((cue for cue in degrees if cue.start < side.start), key=lambda cue: cue.start, default=None)
        told = min(degree.values) if degree is not None else ""
        found.append(fact._replace(sides=side.values, degree=told))
    return found


def _in_advice(fact: Fact, cues: _Cues) -> bool:
    """Whether a fact stands behind a cue of advice in its clause: what shall be found out, not what was found."""
    at = fact.start - cues.start
    if any(act.start <= at < act.end for act in cues.named["actions"]) or fact.values <= {
        "acute",
        "surgery",
        "pain",
    }:
        return True
    return any(cue.start <= at for cue in cues.in_clause("advice", at))


def _joined(found: Sequence[Found], text: str) -> list[Found]:
    """Neighbours that name one thing as one: "patchy opacity"."""
    joined: list[Found] = []
    for number, each in enumerate(found):
        if _ADJECTIVE.fullmatch(text[each.start : each.end]):
            later = found[number + 1] if number + 1 < len(found) else None
            if later is not None and len(text[each.end : later.start].split()) <= 5:
                continue  # "patchy left lower lobe airspace disease"
        last = joined[-1] if joined else None
        if last is not None and not text[last.end : each.start].strip() and _meanings(last) & _meanings(each):
            joined[-1] = Found(last.start, each.end, last.values | each.values, last.denied or each.denied)
        else:
            joined.append(each)
    return joined


def _meanings(found: Found) -> set[str]:
    return {meaning for value in found.values for meaning in everyday().means.get(value, {value})}


def _overlap(a: Found, b: Found) -> bool:
    return a.start < b.end and b.start < a.end


def _fact(kind: str, each: Found, cues: _Cues, number: int, before: Sequence[Fact]) -> Fact:
    known, at = everyday(), each.start
    parts = {v for part in cues.in_clause("parts", at) for v in part.values}
    parts |= {v for part in cues.parts if each.start <= part.start < each.end for v in part.values}
    own = {known.part_of[v] for v in each.values if v in known.part_of}
    previous = before[-1] if before else None
    if not parts and not own and previous is not None and _PRONOUN.match(cues.text):
        parts |= previous.parts
    return Fact(
        kind,
        each.values,
        cues.start + each.start,
        cues.start + each.end,
        number,
        denied=_is_denied(each, cues),
        parts=frozenset(parts | own),
        sides=_sides(each, cues, before),
        zones=frozenset(v for zone in _near(each, cues, "zones") for v in zone.values),
        degree=_degree(each, cues),
        certainty=_certainty(each, cues),
        change=_last_value(_near(each, cues, "change"), each),
        state=_last_value(_near(each, cues, "device_state"), each) if kind == "device" else "",
        gloss=any(gloss.start <= each.start for gloss in cues.named["gloss"]) or _in_brackets(each, cues),
    )


def _in_brackets(each: Found, cues: _Cues) -> bool:
    return cues.text.rfind("(", 0, each.start) > cues.text.rfind(")", 0, each.start)


def _near(each: Found, cues: _Cues, name: str) -> list[Found]:
    """Cues of the clause that no other finding is nearer to."""
    rivals = cues.devices if name == "device_state" else (*cues.findings, *cues.devices)
    others = [other for other in rivals if other != each]
    here = [other for other in others if cues.clause(other.start) == cues.clause(each.start)]
    found = []
    for cue in cues.in_clause(name, each.start):
        if name == "change" and each.start <= cue.start and cue.end <= each.end:
            continue  # "volumes are decreased" names a state, no course
        shares = name in ("zones", "sides")
        gap = _reach(cue, each, here, cues.text, shares=shares)
        nearest = min(
            (_reach(cue, other, [*here, each], cues.text) for other in here if not _overlap(other, each)),
            default=FAR,
        )
        if gap <= nearest or (name != "degree" and cues.text[cue.start : cue.end] in ("both", "bilateral")):
            found.append(cue)
    if not found and name in ("zones", "change"):  # a list shares what stands once in the sentence
        return []
    return found


def _reach(cue: Found, finding: Found, others: Sequence[Found], text: str, *, shares: bool = False) -> int:
    """How far a cue is from a finding; what stands behind "and" belongs to what follows: "A and persistent B"."""
    if shares:  # "scarring or atelectasis at the base": both are there
        for other in others:
            first, second = sorted((finding, other))
            if _EITHER.fullmatch(text[first.end : second.start]):
                beyond = cue.start >= second.end if second is other else cue.end <= first.start
                if beyond:
                    return _gap(cue, other)
    behind = finding.end <= cue.start and _JOINT.search(text[finding.end : cue.start])
    if behind and any(other.start >= cue.end for other in others):
        return FAR
    return _gap(cue, finding)


_EITHER = re.compile(r" (?:or|versus|vs)(?: \w+){0,3} ")
FAR = 10**6
_JOINT = re.compile(r"\b(?:and|or)\b|,")


def _gap(a: Found, b: Found) -> int:
    return max(0, a.start - b.end, b.start - a.end)


def _last_value(found: Sequence[Found], each: Found) -> str:
    if not found:
        return ""
    nearest = min(found, key=lambda cue: _gap(cue, each))
    return min(nearest.values)


def _is_denied(each: Found, cues: _Cues) -> bool:
    if each.denied:
        return True
    spoken = [
        *cues.named["no_negation"],
        *cues.named["change"],
        *cues.named["certainty"],
        *cues.named["not_assessed"],
        *(f for f in (*cues.findings, *cues.devices) if not f.denied),
    ]
    for no in cues.in_clause("no", each.start):
        if no.end > each.start + 1 and not each.start <= no.start < each.end:
            continue
        if any(_overlap(no, other) for other in spoken):
            continue
        return True
    behind = [no for no in cues.in_clause("no_behind", each.start) if no.start >= each.end]
    return any(not any(_overlap(no, other) for other in spoken) for no in behind)


def _sides(each: Found, cues: _Cues, before: Sequence[Fact]) -> frozenset[str]:
    inside = {v for side in cues.named["sides"] if each.start <= side.start < each.end for v in side.values}
    if inside:
        return _folded(inside)
    near = _near(each, cues, "sides")
    if near:
        return _folded({v for side in near for v in side.values})
    if _SAME_SIDE.search(cues.text) and before:
        return next((fact.sides for fact in before[: -_REACH - 1 : -1] if fact.sides), NONE)
    everywhere = {v for side in cues.named["sides"] for v in side.values}
    if len(everywhere) == 1 and not any(
        side.start > each.end and cues.clause(side.start) != cues.clause(each.start)
        for side in cues.named["sides"]
    ):
        return frozenset(everywhere)
    if not everywhere and before and _PRONOUN.match(cues.text):
        return before[-1].sides
    return NONE


def _folded(sides: Iterable[str]) -> frozenset[str]:
    found = frozenset(sides)
    return frozenset({"both"}) if found >= {"left", "right"} or "both" in found else found


def _degree(each: Found, cues: _Cues) -> str:
    found = []
    for cue in _near(each, cues, "degree"):
        inside = each.start <= cue.start and cue.end <= each.end
        if inside and each.values & _NAMED_BY_SIZE and cues.text[cue.start : cue.end] in ("large", "big"):
            continue
        between = cues.text[min(cue.end, each.end) : each.start].split()
        behind = cues.text[each.end : cue.start].split()
        again = _CLAUSE_ABOUT_IT.search(
            cues.text[each.end : cue.start].rpartition(";")[2].rpartition(",")[2].lstrip()
        )
        if (cue.start < each.end and len(between) <= 5) or (cue.start >= each.end and (len(behind) <= 4 or again)):
            found.append(cue)
    return _last_value(found, each)


_NAMED_BY_SIZE = frozenset({"cardiomegaly", "organ_enlarged"})


def _certainty(each: Found, cues: _Cues) -> str:
    found = cues.in_clause("certainty", each.start)
    before = [cue for cue in found if cue.start < each.start]
    if before:
        return min(max(before, key=lambda cue: cue.start).values)
    others = [other.start for other in (*cues.findings, *cues.devices) if other.start > each.start]
    behind = [
        cue
        for cue in found
        if cue.start >= each.end
        and (cues.text[cue.start : cue.end] in ("versus", "vs") or not any(start > cue.start for start in others))
    ]
    return min(behind[0].values) if behind else ""


def _normals(each: Found, cues: _Cues, number: int, before: Sequence[Fact]) -> list[Fact]:
    """A normal statement is one fact for each part that its clause names."""
    base = _fact("normal", each, cues, number, before)
    names = [
        part
        for part in cues.in_clause("parts", each.start)
        if not any(o.start <= part.start and part.end <= o.end and o[:2] != part[:2] for o in cues.parts)
    ]
    values = {v for part in names for v in part.values} or {
        v for part in cues.parts for v in part.values if not cues.findings
    }
    if not values and before and _CLAUSE_ABOUT_IT.match(cues.text):
        values = set(before[-1].parts)
    wide = {everyday().above.get(v, "") for v in values}
    values = {v for v in values if v not in wide} or values
    return [
        base._replace(values=frozenset({"normal"}), parts=frozenset({v}), denied=False) for v in sorted(values)
    ] or [base._replace(values=frozenset({"normal"}), denied=False)]


def _advice(cues: _Cues) -> list[Advice]:
    found = cues.named["advice"]
    if not found:
        return []
    actions = frozenset(v for each in cues.named["actions"] for v in each.values)
    urgency = _urgency(cues.text)
    intervals = frozenset(each for each in _measures(cues.text) if each[1] != "mm")
    if not actions and not intervals and not urgency:
        return []
    if _NO_ADVICE.search(cues.text):
        actions, intervals = frozenset({"none"}), frozenset()
    start = cues.start
    return [Advice(actions, intervals, urgency, start, start + len(cues.text))]
