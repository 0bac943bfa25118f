"""From a reading to findings: which mentions are claims about these images, and which deny something.

A reading has mentions; a radiologist compares findings. History, technique, advice and limits of the study are
left out, and statements of normality become denials.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from radgauge.core.clean import TYPOGRAPHY
from radgauge.core.parsing import shipped_toml
from radgauge.findings.advice import advice_of
from radgauge.findings.findings import NOT_NORMAL, Denial, Finding, Findings, Knowledge
from radgauge.findings.labels import labels_in
from radgauge.findings.merging import drop_weak, join_suggestions, merge
from radgauge.findings.places import BOTH, SEVERITIES, SIDES
from radgauge.findings.rules import Rules
from radgauge.findings.support import Sentences
from radgauge.reader.attributes import decisive
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.reading import Mention, ReportReading
from radgauge.reader.vocabulary import FINDINGS

_ABNORMAL = "abnormality"
_ONE_LINE = TYPOGRAPHY | str.maketrans("\n\t", "  ")
"""Where a line ends says nothing to the rules, which are written with blanks."""


def findings_of(reading: ReportReading, knowledge: Knowledge) -> Findings:
    """The findings of one reading.

    >>> from radgauge.findings.findings import knowledge_for
    >>> from radgauge.reader import load_lexicon, read_report
    >>> known = knowledge_for(load_lexicon())
    >>> found = findings_of(read_report("Small left effusion. The effusion is new."), known)
    >>> [(each.concept, each.sides, each.change, len(each.spans)) for each in found.present]
    [('pleural_effusion', 1, 'new', 2)]
    """
    reading = replace(reading, text=reading.text.translate(_ONE_LINE))
    claims: dict[int, Finding] = {}
    denied: list[Denial] = []
    structures_of: dict[int, list[int]] = {}
    suggested: dict[int, list[int]] = {}
    for relation in reading.relations:
        if relation.type == "located_at":
            structures_of.setdefault(relation.source, []).append(relation.target)
        elif relation.type == "suggestive_of":
            suggested.setdefault(relation.source, []).append(relation.target)
    limits = _limits(reading, knowledge.rules)
    mentions = reading.mentions
    structures = _structures_by_sentence(mentions)
    on_quality = _on_quality(reading, knowledge.rules)
    for index, mention in enumerate(mentions):
        if mention.kind == "open" and mention.sentence in on_quality:
            continue
        if mention.form == "implied" or not _is_current(mention, limits[mention.sentence], knowledge.rules):
            continue
        if mention.kind == "anatomy":
            if mention.attributes.sizes_mm:
                _measured(index, mention, claims, denied, knowledge)
        elif mention.kind in FINDINGS:
            if (
                mention.assertion == "absent"
                or mention.attributes.change == "resolved"
                or _is_unlikely(mention, knowledge.rules)
            ):
                denied.append(_denial(mention, knowledge, structures.get(mention.sentence, frozenset())))
            elif mention.concept == _ABNORMAL and mention.attributes.cue and mention.attributes.locations:
                claims[index] = _not_normal(mention, mention.attributes.locations, ())
            elif mention.concept not in knowledge.rules.ignored and not _only_hedged(mention, knowledge.rules):
                claims[index] = _finding(mention, [mentions[t] for t in structures_of.get(index, ())], knowledge)
        elif mention.kind == "normality" and mention.assertion == "absent" and _is_denied(mention, reading):
            anatomy = [mentions[target] for target in structures_of.get(index, ())]
            if anatomy:
                claims[index] = _not_normal(mention, [structure.concept for structure in anatomy], anatomy)
        elif mention.kind == "normality":
            anatomy = [mentions[target] for target in structures_of.get(index, ())]
            if (denial := _normality(mention, anatomy, knowledge.lexicon)) is not None:
                denied.append(denial)
            elif _stands_alone(index, mentions) and _of_study(mention, reading):  # "Normal study."
                denied.append(_denial(mention, knowledge)._replace(concepts=frozenset((_ABNORMAL,)), normal=True))
    starts = [start for start, _, _ in reading.sentences]
    denied = [_limited(statement, reading, bisect_right(starts, statement.span[0]) - 1) for statement in denied]
    _place_devices(claims, reading, knowledge)
    _number(claims, reading)
    _weigh(claims, reading, knowledge.rules)
    join_suggestions(claims, suggested, mentions, reading.text, knowledge)
    drop_weak(claims, knowledge.rules)
    present = merge(list(claims.values()), knowledge)
    topics = knowledge.rules.topics
    table = {topic for finding in present for topic in topics.get(finding.concept, ())}
    named = frozenset(concept for denial in denied for concept in denial.concepts)
    plain = frozenset(concept for denial in denied if not denial.normal for concept in denial.concepts)
    ruled_out = named.union(*(knowledge.similarity.ancestors(concept) for concept in plain))
    normal = {topic for concept in named for topic in topics.get(concept, ())}
    return Findings(
        present=present,
        denied=tuple(denied),
        ruled_out=ruled_out,
        topics=frozenset(table | normal),
        normal_topics=frozenset(normal - table),
        one_sided=frozenset(normal - table - _both_sided(denied, topics)),
        disputed=_disputed(present, denied),
        sentences=_sentences(reading, present),
        content_words=reading.content_words,
        known_words=reading.known_words,
        unread=_unread(reading),
        advice=advice_of(reading),
        on_quality=bool(on_quality),
    )


def _both_sided(denied: Sequence[Denial], topics: Mapping[str, Sequence[str]]) -> set[str]:
    """Parts of the chest of which a denial speaks without a side, or denials of both sides."""
    sides: dict[str, int] = {}
    for denial in denied:
        for concept in denial.concepts:
            for topic in topics.get(concept, ()):
                sides[topic] = sides.get(topic, 0) | (denial.sides or BOTH)
    return {topic for topic, spoken in sides.items() if spoken & BOTH == BOTH}


def _stands_alone(index: int, mentions: Sequence[Mention]) -> bool:
    """True if a mention is the only one of its sentence; mentions are in the order of the text."""
    around = (*mentions[max(index - 1, 0) : index], *mentions[index + 1 : index + 2])
    return all(mention.sentence != mentions[index].sentence for mention in around)


def _of_study(mention: Mention, reading: ReportReading) -> bool:
    """True if "normal" is said of the study: "CT head: normal", not of what the reader lacks, "Trunk: normal"."""
    label, colon, _ = reading.text[reading.sentences[mention.sentence].start : mention.start].rpartition(":")
    return not colon or _STUDY.search(label) is not None


def _measured(
    index: int, mention: Mention, claims: dict[int, Finding], denied: list[Denial], knowledge: Knowledge
) -> None:
    """A structure with a size has or has not the finding that its size means: "spleen 15 cm"."""
    measures = knowledge.rules.measures
    above = (mention.concept, *knowledge.lexicon.ancestors(mention.concept))
    rule = measures.get(next((name for name in above if name in measures), ""))
    if rule is None:
        return
    size = decisive(mention.attributes.sizes_mm, rule.concept)
    if size > rule.up_to_mm:
        return
    attributes = mention.attributes._replace(locations=(mention.concept,))
    meant = mention._replace(concept=rule.concept, kind="abnormality", assertion="present", attributes=attributes)
    if size >= rule.from_mm:
        claims[index] = _finding(meant, (), knowledge)
    else:
        denied.append(_denial(meant, knowledge))


_ASIDE = frozenset({"history", "technique", "recommendation"})
"""Sections that say nothing of these images."""


def _unread(reading: ReportReading) -> frozenset[str]:
    return frozenset(
        reading.text[start:end].lower()
        for start, end, sentence in reading.unread
        if reading.sentences[sentence].section not in _ASIDE
    )


def _sentences(reading: ReportReading, present: Sequence[Finding]) -> Sentences:
    """The sentences; those that only deny or call normal claim nothing."""
    claiming = {number for finding in present for number in finding.sentences}
    silent = {m.sentence for m in reading.mentions if m.assertion == "absent" or m.kind == "normality"}
    spans = tuple((start, end) for start, end, _ in reading.sentences)
    texts = tuple(reading.text[start:end] for start, end in spans)
    return Sentences(texts, tuple(n for n in range(len(texts)) if n in claiming or n not in silent), spans)


def _place_devices(claims: dict[int, Finding], reading: ReportReading, knowledge: Knowledge) -> None:
    """Say of each device whether the report finds it where it belongs."""
    if any(finding.kind == "device" for finding in claims.values()):
        for index, position in knowledge.devices.positions(reading).items():
            if index in claims:
                claims[index] = claims[index]._replace(position=position)


def _number(claims: dict[int, Finding], reading: ReportReading) -> None:
    """Give each label of a sentence to the finding that stands nearest."""
    for number, inside in _by_sentence(claims, reading).items():
        start, end, _ = reading.sentences[number]
        labels = labels_in(reading.text[start:end])
        supplied: dict[int, list[tuple[str, str]]] = {}
        for name, value, at in labels:
            nearest = min(inside, key=lambda index: _distance(reading.mentions[index], start + at))
            supplied.setdefault(nearest, []).append((name, value))
        for index, own in supplied.items():
            claims[index] = claims[index]._replace(labels=frozenset(own))


def _by_sentence(claims: Iterable[int], reading: ReportReading) -> dict[int, list[int]]:
    table: dict[int, list[int]] = {}
    for index in claims:
        table.setdefault(reading.mentions[index].sentence, []).append(index)
    return table


def _distance(mention: Mention, at: int) -> int:
    return max(mention.start - at, at - mention.end, 0)


def _weigh(claims: dict[int, Finding], reading: ReportReading, rules: Rules) -> None:
    """Steps of significance from the words around: what is old matters less, what is acted on more."""
    by_sentence = _by_sentence(claims, reading)
    for number, inside in by_sentence.items():
        start, end, _ = reading.sentences[number]
        words = reading.text[start:end]
        following = number + 1
        if following < len(reading.sentences) and following not in by_sentence:
            words += " " + reading.text[slice(*reading.sentences[following][:2])]
        raised = rules.acted_on.search(words) is not None
        for index in inside:
            lowered = rules.old.isdisjoint(claims[index].descriptors) is False
            if lowered:
                claims[index] = claims[index]._replace(shift=2)
            elif raised:
                claims[index] = claims[index]._replace(shift=-1)


def _disputed(present: Sequence[Finding], denied: Sequence[Denial]) -> frozenset[int]:
    """Findings that the report denies in the same breath: it claims them here and rules them out there."""
    denied_at: dict[str, list[int]] = {}
    for denial in denied:
        if not denial.sides and not denial.severity and not denial.only and not denial.labels:
            for concept in denial.concepts:
                denied_at.setdefault(concept, []).append(denial.span[0])
    return frozenset(
        position
        for position, finding in enumerate(present)
        if finding.kind != "device"
        and not finding.uncertain
        and any(not finding.spans[0][0] <= at < finding.spans[0][1] for at in denied_at.get(finding.concept, ()))
    )


def _is_current(mention: Mention, limit: int, rules: Rules) -> bool:
    """True if a mention speaks of these images; `limit` is where the sentence stops doing so."""
    if limit <= mention.start:
        return False
    context = mention.attributes.context
    return context == "current" or (context == "history" and mention.concept in rules.lasting)


def _limits(reading: ReportReading, rules: Rules) -> list[int]:
    """For each sentence the character behind which it names only what cannot be seen or was asked for."""
    result = []
    for start, end, _ in reading.sentences:
        sentence = reading.text[start:end]
        limit = end + 1
        if (match := rules.limits.search(sentence)) is not None:
            limit = start + match.end()
        if (match := rules.request.search(sentence)) is not None:
            limit = min(limit, start + match.start())
        if rules.unseen.search(sentence) is not None:
            limit = start
        result.append(limit)
    return result


def _on_quality(reading: ReportReading, rules: Rules) -> frozenset[int]:
    """Sentences about the images and not the patient: "underexposed, making evaluation difficult"."""
    return frozenset(
        number
        for number, (start, end, section) in enumerate(reading.sentences)
        if section not in _ASIDE and rules.quality.search(reading.text[start:end]) is not None
    )


def _cue_of(mention: Mention) -> str:
    return " ".join(mention.attributes.cue.lower().split())


def _is_unlikely(mention: Mention, rules: Rules) -> bool:
    cue = _cue_of(mention)
    return mention.assertion == "uncertain" and any(hedge in cue for hedge in rules.unlikely)


def _only_hedged(mention: Mention, rules: Rules) -> bool:
    if mention.assertion != "uncertain":
        return False
    cue = _cue_of(mention)
    return any(hedge in cue for hedge in rules.hedges)


def _finding(mention: Mention, anatomy: Sequence[Mention], knowledge: Knowledge) -> Finding:
    described = mention.attributes
    concept = knowledge.lexicon.concepts.get(mention.concept)
    implied = set(concept.location) if concept is not None else set()
    if mention.kind == "device":  # where a device ends matters even if that is where it belongs
        implied.difference_update(structure.concept for structure in anatomy)
    return Finding(
        concept=mention.concept,
        others=(),
        kind=mention.kind,
        uncertain=mention.assertion == "uncertain",
        sides=SIDES[described.laterality],
        locations=frozenset(described.locations).difference(implied),
        severity=SEVERITIES[described.severity],
        sizes_mm=described.sizes_mm,
        change=described.change,
        descriptors=frozenset(described.descriptors),
        spans=((mention.start, mention.end),),
        sentences=frozenset((mention.sentence,)),
    )


def _is_denied(mention: Mention, reading: ReportReading) -> bool:
    """True if the denial stands with the word of normality: not in "heart not enlarged, hila unremarkable"."""
    start, end, _ = reading.sentences[mention.sentence]
    cue = mention.attributes.cue.lower()
    before, after = reading.text[start : mention.start].lower(), reading.text[mention.end : end].lower()
    at = before.rfind(cue)
    between = before[at:] if at >= 0 else after.partition(cue)[0]
    return "," not in between and ";" not in between


def _not_normal(mention: Mention, where: Sequence[str], anatomy: Sequence[Mention]) -> Finding:
    """A structure that is said not to be normal, whatever is wrong with it."""
    described = mention.attributes
    sides = SIDES[described.laterality]
    for structure in anatomy:
        sides |= SIDES[structure.attributes.laterality]
    return Finding(
        concept=NOT_NORMAL + where[0],
        others=(),
        kind="abnormality",
        uncertain=False,
        sides=sides,
        locations=frozenset(where),
        severity=SEVERITIES[described.severity],
        sizes_mm=described.sizes_mm,
        change=described.change if described.change != "resolved" else "",
        descriptors=frozenset(described.descriptors),
        spans=((mention.start, mention.end),),
        sentences=frozenset((mention.sentence,)),
    )


def _structures_by_sentence(mentions: Sequence[Mention]) -> dict[int, frozenset[str]]:
    table: dict[int, frozenset[str]] = {}
    for mention in mentions:
        if mention.kind == "anatomy":
            table[mention.sentence] = table.get(mention.sentence, frozenset()) | {mention.concept}
    return table


def _denial(mention: Mention, knowledge: Knowledge, structures: frozenset[str] = frozenset()) -> Denial:
    """A plain negation; of what can be anywhere only in the place that it names.

    `structures` are those of the sentence: "both main bronchi are open, no pathology is seen" speaks of them.
    """
    described = mention.attributes
    concept = knowledge.lexicon.concepts.get(mention.concept)
    wide = knowledge.similarity.is_wide(mention.concept)
    anywhere = wide or (concept is not None and not concept.location)
    where = frozenset(described.locations) or (structures if wide else frozenset())
    severity = SEVERITIES[described.severity] if SEVERITIES[described.severity] > SEVERITIES["mild"] else 0
    return Denial(
        frozenset((mention.concept,)),
        SIDES[described.laterality],
        severity,
        False,
        (mention.start, mention.end),
        where if anywhere else frozenset(),
    )


_NEARBY = 80  # characters around a denial that may limit it
_KIND = 30  # characters in front of a denial that say what kind is denied
_LISTS = shipped_toml(__file__, "word_lists.toml")
_NEW = re.compile(rf"\b(?:{'|'.join(_LISTS['new'])})\W+(?:[\w-]+\W+){{0,3}}$", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:to (?:account for|explain)|accounting for|explaining|that (?:would|could) explain)\b", re.I
)
"""Behind a denial of causes: the finding may be there, and not be one."""
_APART = re.compile(rf"\W*(?:{'|'.join(_LISTS['apart'])})\s+(?:this|these|that|those|the)\b", re.IGNORECASE)
_OTHER = re.compile(rf"\b(?:{'|'.join(_LISTS['other'])})\W+(?:[\w-]+\W+){{0,4}}$", re.IGNORECASE)
_STUDY = re.compile(rf"\b(?:{'|'.join(_LISTS['studies'])})\b", re.IGNORECASE)
_BORDERLINE = re.compile(
    r"\b(?:borderline|upper (?:limits? of )?normal|upper limits?|high[- ]normal|top[- ]normal)\b", re.IGNORECASE
)
_SERIOUS = re.compile(rf"\b(?:{'|'.join(_LISTS['serious'])})\W+(?:[\w-]+\W+){{0,2}}$", re.IGNORECASE)
_REST = re.compile(rf"\b(?:{'|'.join(_LISTS['rest'])})\b", re.IGNORECASE)


def _limited(denial: Denial, reading: ReportReading, sentence: int) -> Denial:
    """The denial with what it leaves open: "no new nodule", "no suspicious nodule", "lungs otherwise clear"."""
    opening, end, _ = reading.sentences[sentence]
    start, end = max(opening, denial.span[0] - _NEARBY), min(end, denial.span[1] + _NEARBY)
    before = reading.text[start : denial.span[0]]
    if labels := labels_in(reading.text[max(start, denial.span[0] - _KIND) : denial.span[1]]):
        denial = denial._replace(labels=frozenset((name, value) for name, value, _ in labels))
    if denial.normal and _BORDERLINE.search(reading.text[start:end]):
        return denial._replace(severity=SEVERITIES["moderate"])
    if denial.normal:
        return denial._replace(only="rest") if _REST.search(reading.text[start:end]) else denial
    if _NEW.search(before):
        return denial._replace(only="new")
    of_rest = _SERIOUS.search(before) or _OTHER.search(before) or _APART.match(reading.text, opening)
    of_rest = of_rest or _CAUSE.search(reading.text[denial.span[1] : end])
    return denial._replace(only="rest") if of_rest else denial


def _normality(mention: Mention, anatomy: Sequence[Mention], lexicon: Lexicon) -> Denial | None:
    """Return the denial of a statement of normality; without a place only what its word rules out itself."""
    word = lexicon.concepts.get(mention.concept)
    denies = set(word.denies) - {"abnormality"} if word is not None else set()
    sides = SIDES[mention.attributes.laterality]
    for structure in anatomy:
        entry = lexicon.concepts.get(structure.concept)
        denies.update(entry.denies if entry is not None else ())
        sides |= SIDES[structure.attributes.laterality]
    locations = frozenset(structure.concept for structure in anatomy)
    if not denies and not locations:
        return None
    return Denial(frozenset(denies), sides, 0, True, (mention.start, mention.end), locations)
