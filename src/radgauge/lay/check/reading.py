"""Read a text as a lay person would: facts with part, side, degree, doubt, change; advice; numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from radgauge.core.signature import component
from radgauge.lay.check.patterns import PatternMatch, everyday
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
    """Advice in a text."""

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
        span
        for sentence_span in split_sentences(text)
        for span in _pieces(plain, sentence_span)
        if text[slice(*span)].strip()
    )
    facts: list[Fact] = []
    advice: list[Advice] = []
    unread = []
    for number, (start, end) in enumerate(spans):
        sentence_facts, sentence_advice = _sentence(plain, (start, end), number, facts)
        facts += sentence_facts
        advice += sentence_advice
        words = len(re.findall(r"[a-z]{3,}", plain[start:end]))
        if not sentence_facts and not sentence_advice and words > 1 and not _is_technique(plain[start:end]):
            unread.append(number)
    patterns = everyday()
    return EverydayReading(
        text,
        spans,
        tuple(facts),
        tuple(advice),
        frozenset(size for size, unit in _measures(plain) if unit == "mm"),
        frozenset(value for match in patterns.groups["spine_level"].find(plain) for value in match.values),
        _urgency(plain),
        frozenset(value for match in patterns.parts.find(plain, overlapping=True) for value in match.values),
        frozenset(value for match in patterns.groups["sides"].find(plain) for value in match.values),
        tuple((match.start, match.end) for match in patterns.groups["cause"].find(plain)),
        tuple((match.start, match.end) for match in patterns.groups["proof"].find(plain)),
        bool(patterns.groups["reasons"].find(plain)),
        bool(patterns.groups["benign_by_nature"].find(plain)),
        tuple(unread),
    )


MAX_PIECE = 500
"""Characters of a sentence; a longer one is read in pieces, so that time grows with the length of the text."""


def _pieces(text: str, span: tuple[int, int]) -> Iterable[tuple[int, int]]:
    start, end = span
    while end - start > MAX_PIECE:
        cut = text.rfind(" ", start + MAX_PIECE // 2, start + MAX_PIECE)
        cut = cut if cut > start else start + MAX_PIECE
        yield start, cut
        start = cut
    yield start, end


def _plain(text: str) -> str:
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    lowered = re.sub(r"[\s*_]", " ", lowered.replace("’", "'").replace("–", "-").replace("—", "-"))
    return _APPOSITION.sub(lambda match: " " * len(match[0]), lowered)


def _is_technique(sentence: str) -> bool:
    """True if a sentence describes how the image was taken or defines a word; it makes no claim."""
    return any(everyday().groups[name].find(sentence.strip()) for name in ("technique", "gloss"))


def _urgency(text: str) -> str:
    matches = everyday().groups["urgency"].find(text)
    values = {value for match in matches for value in match.values}
    return "low" if "low" in values else "high" if "high" in values else ""


def _measures(text: str) -> list[tuple[float, str]]:
    numbers = everyday().numbers
    measures = []
    for match in _MEASURE.finditer(text):
        unit = next(
            iter(v for unit_match in everyday().groups["units"].find(match["unit"]) for v in unit_match.values), ""
        )
        for word in _ONE.findall(match["first"] + " " + match["more"]):
            value = float(numbers.get(word, 0) or (word if word[0].isdigit() else 0))
            measures.append((value * 10, "mm") if unit == "cm" else (value, unit))
    measures += [(1.0, match["unit"]) for match in _IN_A.finditer(text)]
    return measures


@lru_cache(maxsize=4096)
def _matches(sentence: str) -> Mapping[str, tuple[PatternMatch, ...]]:
    """Matches of each kind of pattern in a sentence; reports repeat their sentences."""
    patterns = everyday()
    return {
        "findings": tuple(_joined(patterns.findings.find(sentence), sentence)),
        "devices": tuple(patterns.devices.find(sentence)),
        "parts": tuple(patterns.parts.find(sentence, overlapping=True)),
        **{name: tuple(patterns.groups[name].find(sentence)) for name in _CUES},
    }


class _Cues:
    """The cues of one sentence, found once; positions are those of the whole text."""

    def __init__(self, plain: str, span: tuple[int, int]) -> None:
        self.start = span[0]
        self.text = plain[slice(*span)]
        self.named = _matches(self.text)
        self.findings, self.devices, self.parts = (self.named[name] for name in ("findings", "devices", "parts"))
        self.brackets = [match.span() for match in _BRACKETS.finditer(self.text)]
        matches = (*self.findings, *self.devices, *self.named["normal"], *self.named["benign"])
        claims = sorted(cue.start for cue in matches if not self._bracket(cue.start))
        ends = {cue.start for cue in self.named["breaks"]} | set(self._run_ons())
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
        """Positions of a new subject with its verb after a denied finding without a stop; it ends the denial."""
        for match in (*self.findings, *self.devices):
            denied = any(no.end <= match.start for no in self.named["no"])
            if denied and _NEW_SUBJECT.match(self.text, match.end):
                yield match.end

    def _bracket(self, at: int) -> int:
        """Number of the bracket that holds a place, from 1; 0 outside."""
        return next((n for n, (start, end) in enumerate(self.brackets, 1) if start <= at < end), 0)

    def clause(self, at: int) -> int:
        """Number of the clause that holds a place."""
        return self.owner[bisect_right(self.cuts, at)]

    def in_clause(self, name: str, at: int) -> list[PatternMatch]:
        matches = self.parts if name == "parts" else self.named[name]
        return [match for match in matches if self.clause(match.start) == self.clause(at)]


def _sentence(
    plain: str, span: tuple[int, int], number: int, before: Sequence[Fact]
) -> tuple[list[Fact], list[Advice]]:
    cues = _Cues(plain, span)
    advice = _advice(cues)
    facts: list[Fact] = []
    for kind, matches in (("finding", cues.findings), ("device", cues.devices)):
        for match in matches:
            if kind == "finding" and any(_overlap(match, other) for other in cues.devices):
                continue
            if match.values <= {"surgery"} and any(
                cues.clause(device.start) == cues.clause(match.start) for device in cues.devices
            ):
                continue  # "the tube has been removed" is no operation
            if any(cue.start < match.start for cue in cues.in_clause("not_assessed", match.start)):
                continue
            if (
                kind == "finding"
                and any(_overlap(match, other) for other in cues.named["change"])
                and match.values <= _VAGUE
            ):
                continue
            facts += _by_side(_fact(kind, match, cues, number, before), match, cues)
    taken = [(fact.start - cues.start, fact.end - cues.start) for fact in facts if fact.kind != "device"]
    for match in cues.named["normal"]:
        lead = cues.text[: match.start].rstrip()
        inside = any(start <= match.start < end for start, end in taken)
        if not inside and not _THAN_NORMAL.search(lead):
            facts += _normals(match, cues, number, before)
    for kind, name in (("benign", "benign"), ("limited", "not_assessed")):
        for match in cues.named[name]:
            facts.append(_fact(kind, match, cues, number, before)._replace(denied=False, values=frozenset({kind})))
    spoken = {cues.clause(fact.start - cues.start) for fact in facts}
    for match in cues.named["change"]:
        parts = frozenset(v for part in cues.in_clause("parts", match.start) for v in part.values)
        if cues.clause(match.start) not in spoken and parts and not (facts and _PRONOUN.match(cues.text)):
            course = _fact("course", match, cues, number, before)
            facts.append(course._replace(values=frozenset({"course"}), denied=False, parts=parts))
            spoken.add(cues.clause(match.start))
    facts.sort(key=lambda fact: fact.start)
    if advice and not any(cue.values for cue in cues.named["normal"]):
        facts = [fact for fact in facts if not _in_advice(fact, cues)]
    return facts, advice


_VAGUE = frozenset({"dilatation", "atrophy", "collapse", "nodule", "mass", "healing", "dislocation", "thickening"})


def _by_side(fact: Fact, match: PatternMatch, cues: _Cues) -> list[Fact]:
    """ "Small left and large right effusions" are two facts."""
    sides = [side for side in _near(match, cues, "sides") if side.start < match.start]
    degrees = [cue for cue in cues.in_clause("degree", match.start) if cue.start < match.start]
    if len(sides) != 2 or len(degrees) < 2 or {*sides[0].values, *sides[1].values} != {"left", "right"}:
        return [fact]
    facts = []
    for side in sides:
        degree = max((cue for cue in degrees if cue.start < side.start), key=lambda cue: cue.start, default=None)
        value = min(degree.values) if degree is not None else ""
        facts.append(fact._replace(sides=side.values, degree=value))
    return facts


def _in_advice(fact: Fact, cues: _Cues) -> bool:
    """True if a fact follows a cue of advice in its clause: what shall be found out, not what was found."""
    at = fact.start - cues.start
    if any(act.start <= at < act.end for act in cues.named["actions"]) or fact.values <= {
        "acute",
        "surgery",
        "pain",
    }:
        return True
    return any(cue.start <= at for cue in cues.in_clause("advice", at))


def _joined(matches: Sequence[PatternMatch], text: str) -> list[PatternMatch]:
    """Neighbours that name one thing as one: "patchy opacity"."""
    joined: list[PatternMatch] = []
    for number, match in enumerate(matches):
        if _ADJECTIVE.fullmatch(text[match.start : match.end]):
            later = matches[number + 1] if number + 1 < len(matches) else None
            if later is not None and len(text[match.end : later.start].split()) <= 5:
                continue  # "patchy left lower lobe airspace disease"
        last = joined[-1] if joined else None
        if last is not None and not text[last.end : match.start].strip() and _meanings(last) & _meanings(match):
            joined[-1] = PatternMatch(
                last.start, match.end, last.values | match.values, last.denied or match.denied
            )
        else:
            joined.append(match)
    return joined


def _meanings(match: PatternMatch) -> set[str]:
    return {meaning for value in match.values for meaning in everyday().means.get(value, {value})}


def _overlap(a: PatternMatch, b: PatternMatch) -> bool:
    return a.start < b.end and b.start < a.end


def _fact(kind: str, match: PatternMatch, cues: _Cues, number: int, before: Sequence[Fact]) -> Fact:
    patterns, at = everyday(), match.start
    parts = {v for part in cues.in_clause("parts", at) for v in part.values}
    parts |= {v for part in cues.parts if match.start <= part.start < match.end for v in part.values}
    own = {patterns.part_of[v] for v in match.values if v in patterns.part_of}
    previous = before[-1] if before else None
    if not parts and not own and previous is not None and _PRONOUN.match(cues.text):
        parts |= previous.parts
    return Fact(
        kind,
        match.values,
        cues.start + match.start,
        cues.start + match.end,
        number,
        denied=_is_denied(match, cues),
        parts=frozenset(parts | own),
        sides=_sides(match, cues, before),
        zones=frozenset(v for zone in _near(match, cues, "zones") for v in zone.values),
        degree=_degree(match, cues),
        certainty=_certainty(match, cues),
        change=_last_value(_near(match, cues, "change"), match),
        state=_last_value(_near(match, cues, "device_state"), match) if kind == "device" else "",
        gloss=any(gloss.start <= match.start for gloss in cues.named["gloss"]) or _in_brackets(match, cues),
    )


def _in_brackets(match: PatternMatch, cues: _Cues) -> bool:
    return cues.text.rfind("(", 0, match.start) > cues.text.rfind(")", 0, match.start)


def _near(match: PatternMatch, cues: _Cues, name: str) -> list[PatternMatch]:
    """Cues of the clause that no other finding is nearer to."""
    rivals = cues.devices if name == "device_state" else (*cues.findings, *cues.devices)
    others = [other for other in rivals if other != match]
    here = [other for other in others if cues.clause(other.start) == cues.clause(match.start)]
    own_cues = []
    for cue in cues.in_clause(name, match.start):
        if name == "change" and match.start <= cue.start and cue.end <= match.end:
            continue  # "volumes are decreased" names a state, no course
        shares = name in ("zones", "sides")
        gap = _reach(cue, match, here, cues.text, shares=shares)
        nearest = min(
            (_reach(cue, other, [*here, match], cues.text) for other in here if not _overlap(other, match)),
            default=FAR,
        )
        if gap <= nearest or (name != "degree" and cues.text[cue.start : cue.end] in ("both", "bilateral")):
            own_cues.append(cue)
    if not own_cues and name in ("zones", "change"):  # a list shares what stands once in the sentence
        return []
    return own_cues


def _reach(
    cue: PatternMatch, finding: PatternMatch, others: Sequence[PatternMatch], text: str, *, shares: bool = False
) -> int:
    """Distance of a cue from a finding; what follows "and" belongs to the next one: "A and persistent B"."""
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


def _gap(a: PatternMatch, b: PatternMatch) -> int:
    return max(0, a.start - b.end, b.start - a.end)


def _last_value(cues: Sequence[PatternMatch], match: PatternMatch) -> str:
    if not cues:
        return ""
    nearest = min(cues, key=lambda cue: _gap(cue, match))
    return min(nearest.values)


def _is_denied(match: PatternMatch, cues: _Cues) -> bool:
    if match.denied:
        return True
    spoken = [
        *cues.named["no_negation"],
        *cues.named["change"],
        *cues.named["certainty"],
        *cues.named["not_assessed"],
        *(f for f in (*cues.findings, *cues.devices) if not f.denied),
    ]
    for no in cues.in_clause("no", match.start):
        if no.end > match.start + 1 and not match.start <= no.start < match.end:
            continue
        if any(_overlap(no, other) for other in spoken):
            continue
        return True
    behind = [no for no in cues.in_clause("no_behind", match.start) if no.start >= match.end]
    return any(not any(_overlap(no, other) for other in spoken) for no in behind)


def _sides(match: PatternMatch, cues: _Cues, before: Sequence[Fact]) -> frozenset[str]:
    inside = {v for side in cues.named["sides"] if match.start <= side.start < match.end for v in side.values}
    if inside:
        return _folded(inside)
    near = _near(match, cues, "sides")
    if near:
        return _folded({v for side in near for v in side.values})
    if _SAME_SIDE.search(cues.text) and before:
        return next((fact.sides for fact in before[: -_REACH - 1 : -1] if fact.sides), NONE)
    everywhere = {v for side in cues.named["sides"] for v in side.values}
    if len(everywhere) == 1 and not any(
        side.start > match.end and cues.clause(side.start) != cues.clause(match.start)
        for side in cues.named["sides"]
    ):
        return frozenset(everywhere)
    if not everywhere and before and _PRONOUN.match(cues.text):
        return before[-1].sides
    return NONE


def _folded(sides: Iterable[str]) -> frozenset[str]:
    distinct = frozenset(sides)
    return frozenset({"both"}) if distinct >= {"left", "right"} or "both" in distinct else distinct


def _degree(match: PatternMatch, cues: _Cues) -> str:
    degree_cues = []
    for cue in _near(match, cues, "degree"):
        inside = match.start <= cue.start and cue.end <= match.end
        if inside and match.values & _NAMED_BY_SIZE and cues.text[cue.start : cue.end] in ("large", "big"):
            continue
        between = cues.text[min(cue.end, match.end) : match.start].split()
        behind = cues.text[match.end : cue.start].split()
        again = _CLAUSE_ABOUT_IT.search(
            cues.text[match.end : cue.start].rpartition(";")[2].rpartition(",")[2].lstrip()
        )
        if (cue.start < match.end and len(between) <= 5) or (
            cue.start >= match.end and (len(behind) <= 4 or again)
        ):
            degree_cues.append(cue)
    return _last_value(degree_cues, match)


_NAMED_BY_SIZE = frozenset({"cardiomegaly", "organ_enlarged"})


def _certainty(match: PatternMatch, cues: _Cues) -> str:
    certainty_cues = cues.in_clause("certainty", match.start)
    before = [cue for cue in certainty_cues if cue.start < match.start]
    if before:
        return min(max(before, key=lambda cue: cue.start).values)
    others = [other.start for other in (*cues.findings, *cues.devices) if other.start > match.start]
    behind = [
        cue
        for cue in certainty_cues
        if cue.start >= match.end
        and (cues.text[cue.start : cue.end] in ("versus", "vs") or not any(start > cue.start for start in others))
    ]
    return min(behind[0].values) if behind else ""


def _normals(match: PatternMatch, cues: _Cues, number: int, before: Sequence[Fact]) -> list[Fact]:
    """A normal statement is one fact for each part that its clause names."""
    base = _fact("normal", match, cues, number, before)
    names = [
        part
        for part in cues.in_clause("parts", match.start)
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
    advice_cues = cues.named["advice"]
    if not advice_cues:
        return []
    actions = frozenset(v for match in cues.named["actions"] for v in match.values)
    urgency = _urgency(cues.text)
    intervals = frozenset(measure for measure in _measures(cues.text) if measure[1] != "mm")
    if not actions and not intervals and not urgency:
        return []
    if _NO_ADVICE.search(cues.text):
        actions, intervals = frozenset({"none"}), frozenset()
    start = cues.start
    return [Advice(actions, intervals, urgency, start, start + len(cues.text))]
