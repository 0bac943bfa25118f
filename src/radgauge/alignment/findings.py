"""Findings: what a report claims, one record per claim, however often and in whichever words it is made.

A reading has mentions; a radiologist compares findings. Here mentions that say the same thing become one finding,
a description and the diagnosis it suggests become one, history, technique and limits of the study are left out,
and statements of normality become denials.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radgauge.alignment.concepts import ConceptSimilarity
from radgauge.alignment.places import SEVERITIES, SIDES, Places
from radgauge.alignment.rules import Rules, rules_for
from radgauge.report_reader.lexicon import Lexicon
from radgauge.report_reader.reading import Mention, ReportReading

Span = tuple[int, int]

FINDING_KINDS = frozenset({"abnormality", "disease", "device"})
SAME = 0.8
"""Similarity from which two findings of one report that share a place are one finding said twice."""

_ALTERNATIVE = re.compile(r"^\W*(?:\w+\W+){0,4}?(?:or|versus|vs|and/or)\b", re.IGNORECASE)
_SLASH = re.compile(r"^\s*/\s*$")


class Finding(NamedTuple):
    """One claim of a report.

    Attributes:
        concept: Lexicon id.
        others: Further concepts of the same claim: what it suggests, alternatives, more general words.
        kind: abnormality, disease or device.
        uncertain: Whether the report hedges.
        sides: Bits LEFT, RIGHT, MIDLINE; 0 = not said.
        locations: Anatomy ids that the report names, without what the concept implies anyway.
        severity: 0 = not said, 1 trace, 2 mild, 3 moderate, 4 severe.
        sizes_mm: Measurements.
        change: new, increased, decreased, stable, or "".
        descriptors: Other describing words.
        spans: Where the report says so.
        sentences: Indices of the sentences that say so.
    """

    concept: str
    others: tuple[str, ...]
    kind: str
    uncertain: bool
    sides: int
    locations: frozenset[str]
    severity: int
    sizes_mm: tuple[float, ...]
    change: str
    descriptors: frozenset[str]
    spans: tuple[Span, ...]
    sentences: frozenset[int]

    @property
    def concepts(self) -> tuple[str, ...]:
        """Every concept of the claim, the main one first."""
        return (self.concept, *self.others)


class Denial(NamedTuple):
    """A claim that something is not there.

    Attributes:
        concepts: What is denied: the concept or, for a statement of normality, all that it rules out.
        sides: Bits; 0 = everywhere.
        severity: Least severity that is denied: "no large effusion" leaves room for a small one.
        normal: Whether it is a statement of normality ("lungs are clear") and not a plain negation.
        span: Where the report says so.
    """

    concepts: frozenset[str]
    sides: int
    severity: int
    normal: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Findings:
    """What a report claims and what it denies.

    Attributes:
        present: Its claims, each once.
        denied: Its denials, plain ones and statements of normality.
        ruled_out: Every concept that some denial names, to see quickly that none does.
        topics: Parts of the chest that it speaks of.
        normal_topics: Those among them that it calls normal and finds nothing in.
    """

    present: tuple[Finding, ...]
    denied: tuple[Denial, ...]
    ruled_out: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    normal_topics: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that comparing findings needs to know, made once per lexicon."""

    lexicon: Lexicon
    similarity: ConceptSimilarity
    places: Places
    rules: Rules


@lru_cache(maxsize=4)
def knowledge_for(lexicon: Lexicon) -> Knowledge:
    """Similarity, places and rules for a lexicon."""
    similarity = ConceptSimilarity(lexicon)
    return Knowledge(lexicon, similarity, Places(similarity), rules_for(lexicon))


def findings_of(reading: ReportReading, knowledge: Knowledge) -> Findings:
    """The findings of one reading.

    >>> from radgauge.report_reader import load_lexicon, read_report
    >>> known = knowledge_for(load_lexicon())
    >>> found = findings_of(read_report("Small left effusion. The effusion is new."), known)
    >>> [(each.concept, each.sides, each.change, len(each.spans)) for each in found.present]
    [('pleural_effusion', 1, 'new', 2)]
    """
    claims: dict[int, Finding] = {}
    denied: list[Denial] = []
    places: dict[int, list[int]] = {}
    suggested: dict[int, list[int]] = {}
    for relation in reading.relations:
        if relation.type == "located_at":
            places.setdefault(relation.source, []).append(relation.target)
        elif relation.type == "suggestive_of":
            suggested.setdefault(relation.source, []).append(relation.target)
    limits = _limits(reading, knowledge.rules)
    mentions = reading.mentions
    for index, mention in enumerate(mentions):
        if not _is_current(mention, limits[mention.sentence], knowledge.rules):
            continue
        if mention.kind in FINDING_KINDS:
            if mention.assertion == "absent" or mention.attributes.change == "resolved":
                denied.append(_denial(mention))
            elif mention.concept not in knowledge.rules.ignored and not _only_hedged(mention, knowledge.rules):
                claims[index] = _finding(mention, [mentions[t] for t in places.get(index, ())], knowledge)
        elif mention.kind == "normality" and mention.assertion != "absent":
            anatomy = [mentions[target] for target in places.get(index, ())]
            if (denial := _normality(mention, anatomy, knowledge.lexicon)) is not None:
                denied.append(denial)
    _join_suggestions(claims, suggested, mentions, reading.text, knowledge)
    _drop_weak(claims, knowledge.rules)
    present = _merge(list(claims.values()), knowledge)
    topics = knowledge.rules.topics
    found = {topic for finding in present for topic in topics.get(finding.concept, ())}
    ruled_out = frozenset(concept for denial in denied for concept in denial.concepts)
    normal = {topic for concept in ruled_out for topic in topics.get(concept, ())}
    return Findings(present, tuple(denied), ruled_out, frozenset(found | normal), frozenset(normal - found))


def _is_current(mention: Mention, limit: int, rules: Rules) -> bool:
    """Whether a mention speaks of these images; `limit` is where the sentence stops doing so."""
    if limit <= mention.start:
        return False
    context = mention.attributes.context
    return context == "current" or (context == "history" and mention.concept in rules.lasting)


def _limits(reading: ReportReading, rules: Rules) -> list[int]:
    """For each sentence the character behind which it names only what cannot be seen or was asked for."""
    found = []
    for start, end, _ in reading.sentences:
        sentence = reading.text[start:end]
        limit = end + 1
        if (match := rules.limits.search(sentence)) is not None:
            limit = start + match.end()
        if (match := rules.request.search(sentence)) is not None:
            limit = min(limit, start + match.start())
        if (match := rules.advice.search(sentence)) is not None and "consider" in match[0]:
            limit = start
        found.append(limit)
    return found


def _only_hedged(mention: Mention, rules: Rules) -> bool:
    return mention.assertion == "uncertain" and mention.attributes.cue.lower() in rules.hedges


def _join_suggestions(
    claims: dict[int, Finding],
    suggested: dict[int, list[int]],
    mentions: Sequence[Mention],
    text: str,
    knowledge: Knowledge,
) -> None:
    """A description and what it suggests are one claim; so are the alternatives of a differential."""
    for index in sorted(claims):
        following = index + 1
        while following < len(mentions) and mentions[following].kind == "anatomy":
            following += 1
        if index not in claims or following not in claims:
            continue
        a, b = claims[index], claims[following]
        between = text[mentions[index].end : mentions[following].start]
        if a.sentences != b.sentences:
            continue
        if _SLASH.match(between) or (a.uncertain and b.uncertain and _ALTERNATIVE.match(between)):
            claims[following] = _joined(a, b)
            del claims[index]
    for source, targets in suggested.items():
        if source not in claims:
            continue
        meant = next((t for t in targets if t in claims), None)
        if meant is not None and _can_be(claims[source], claims[meant], knowledge):
            claims[source] = _joined(claims[source], claims.pop(meant))


def _can_be(description: Finding, diagnosis: Finding, knowledge: Knowledge) -> bool:
    """Whether the words can stand for one thing: an opacity may be an effusion, a large heart is no pneumonia."""
    if description.sides and diagnosis.sides and not description.sides & diagnosis.sides:
        return False
    rules, concept = knowledge.rules, description.concept
    vague = concept in rules.weak or knowledge.similarity.of(concept, "lung_opacity") >= SAME
    return vague or diagnosis.uncertain or any(knowledge.similarity.of(concept, other) >= 0.5 for other in diagnosis.concepts)


def _joined(a: Finding, b: Finding) -> Finding:
    """One claim of two: the first names it, the second adds its concepts."""
    whole = union(a, b)
    return whole._replace(uncertain=a.uncertain, severity=a.severity or b.severity)


def _drop_weak(claims: dict[int, Finding], rules: Rules) -> None:
    """Words of description beside a proper finding of the same sentence say nothing of their own."""
    proper = {s for f in claims.values() if f.concept not in rules.weak for s in f.sentences}
    for index, finding in list(claims.items()):
        if finding.concept in rules.weak and not finding.others and not finding.sentences.isdisjoint(proper):
            del claims[index]


def _merge(found: list[Finding], knowledge: Knowledge) -> tuple[Finding, ...]:
    """Claims that do not contradict each other in concept, side or place become one."""
    merged: list[Finding] = []
    for finding in found:
        for place, known in enumerate(merged):
            if _is_part(known, finding, knowledge):
                merged[place] = union(known, finding)._replace(sides=known.sides, locations=known.locations)
                break
            if _is_general(known, finding, knowledge):
                merged[place] = union(finding, known)
                break
            if _says_again(known, finding, knowledge):
                merged[place] = union(known, finding)
                break
        else:
            merged.append(finding)
    return tuple(merged)


def _is_part(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether `b` is a part of the device `a`: the leads of a pacemaker."""
    return a.sentences == b.sentences and b.concept in knowledge.rules.parts and a.kind == b.kind == "device"


def _is_general(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether `a` only announces `b`: "postoperative state following lobectomy"."""
    if a.sentences != b.sentences or a.concept == b.concept or a.sides or a.locations or a.sizes_mm:
        return False
    above = knowledge.similarity.ancestors(b.concept)
    return a.concept in above and knowledge.similarity.of(a.concept, b.concept) >= SAME


def _says_again(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether `b`, which comes later, says again what `a` said."""
    if a.sides and b.sides and not a.sides & b.sides:
        return False
    if a.sizes_mm and b.sizes_mm and a.sizes_mm != b.sizes_mm:
        return False
    apart = a.locations and b.locations and not knowledge.places.agree(a.locations, b.locations)
    if a.concept == b.concept:
        return not apart or a.sentences == b.sentences
    if apart:
        return False
    bare = not (b.sides or b.locations or b.severity or b.sizes_mm)
    if bare and (b.concept in a.others or b.concept in knowledge.similarity.ancestors(a.concept)):
        return b.concept in a.others or knowledge.similarity.of(a.concept, b.concept) >= SAME
    return knowledge.similarity.of(a.concept, b.concept) >= 0.88


def union(a: Finding, b: Finding) -> Finding:
    others = tuple(dict.fromkeys(c for c in (*a.others, *b.concepts) if c != a.concept))
    return Finding(
        concept=a.concept,
        others=others,
        kind=a.kind,
        uncertain=a.uncertain and b.uncertain,
        sides=a.sides | b.sides,
        locations=a.locations | b.locations,
        severity=max(a.severity, b.severity),
        sizes_mm=a.sizes_mm or b.sizes_mm,
        change=a.change or b.change,
        descriptors=a.descriptors | b.descriptors,
        spans=(*a.spans, *b.spans),
        sentences=a.sentences | b.sentences,
    )


def _finding(mention: Mention, anatomy: Sequence[Mention], knowledge: Knowledge) -> Finding:
    said = mention.attributes
    concept = knowledge.lexicon.concepts.get(mention.concept)
    implied = set(concept.location) if concept is not None else set()
    if mention.kind == "device":  # where a device ends matters even if that is where it belongs
        implied.difference_update(place.concept for place in anatomy)
    return Finding(
        concept=mention.concept,
        others=(),
        kind=mention.kind,
        uncertain=mention.assertion == "uncertain",
        sides=SIDES[said.laterality],
        locations=frozenset(said.locations).difference(implied),
        severity=SEVERITIES[said.severity],
        sizes_mm=said.sizes_mm,
        change=said.change,
        descriptors=frozenset(said.descriptors),
        spans=((mention.start, mention.end),),
        sentences=frozenset((mention.sentence,)),
    )


def _denial(mention: Mention) -> Denial:
    said = mention.attributes
    severity = SEVERITIES[said.severity] if SEVERITIES[said.severity] > SEVERITIES["mild"] else 0
    return Denial(
        frozenset((mention.concept,)), SIDES[said.laterality], severity, False, (mention.start, mention.end)
    )


def _normality(mention: Mention, anatomy: Sequence[Mention], lexicon: Lexicon) -> Denial | None:
    """What a statement of normality rules out; without a place only what its word rules out itself."""
    word = lexicon.concepts.get(mention.concept)
    denies = set(word.denies) - {"abnormality"} if word is not None else set()
    sides = SIDES[mention.attributes.laterality]
    for place in anatomy:
        known = lexicon.concepts.get(place.concept)
        denies.update(known.denies if known is not None else ())
        sides |= SIDES[place.attributes.laterality]
    return Denial(frozenset(denies), sides, 0, True, (mention.start, mention.end)) if denies else None
