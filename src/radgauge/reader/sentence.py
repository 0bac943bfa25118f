"""Reading one sentence: items become mentions with assertion, attributes and relations.

Positions are relative to the sentence, so that its reading can be used again wherever the sentence recurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from radgauge.reader.anaphora import not_there, refers_back
from radgauge.reader.assertion import asked_findings, assert_items, question
from radgauge.reader.attributes import is_degree_of_change, stops
from radgauge.reader.composing import Draft
from radgauge.reader.drafts import drafts_of
from radgauge.reader.ellipsis import TRIGGERS, unnamed_findings
from radgauge.reader.implied import implied_denials
from radgauge.reader.open_claims import count_content
from radgauge.reader.passes import ATTRIBUTES, SIDES, TAGGING, Parse
from radgauge.reader.reading import Attributes, Mention, Modifier, Relation
from radgauge.reader.sides import give_side, topic_side
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item, Vocabulary

_GRADES = ("trace", "mild", "moderate", "severe")
_MENTIONED = FINDINGS | {"anatomy", "normality"}
_DESCRIBING = frozenset({"quality", "position", "quantity", "amount"})


class SentenceReading(NamedTuple):
    """Mentions, modifiers and relations of one sentence; offsets count from its first character."""

    mentions: tuple[Mention, ...]
    modifiers: tuple[Modifier, ...]
    relations: tuple[Relation, ...]
    unread: tuple[tuple[int, int], ...] = ()  # spans of content words that no rule explained
    content: int = 0  # content words
    known: int = 0  # content words that the lexicon knows
    refers: bool = False  # whether it speaks of something that the sentence before named
    normal: bool = False  # whether it calls something normal
    counterpart: tuple[str, int, int] = ("", 0, 0)  # what it denies of that: "the lateral one is not", and where


_MEASURED = frozenset({"increased", "increase", "decreased", "decrease", "larger", "smaller"})
"""Words of change that in a term compare with the normal: "decrease in liver density"."""
_BREAKS = frozenset({"comma", "semicolon", "colon", "open"})
_RELATIVE = frozenset({"which", "that", "and", "-", "–"})


def read_sentence(text: str, vocabulary: Vocabulary) -> SentenceReading:
    """Mentions of one sentence with everything that is said about them."""
    parse = Parse.of(text, vocabulary)
    parse.apply(TAGGING)
    items, words, tokens = parse.items, parse.words, parse.tokens
    questioned = asked_findings(items, words, tokens) if "?" in text else {}
    parse.drafts = drafts_of(items, words, parse.starts, vocabulary)
    if not parse.drafts:
        content, understood, unread = count_content(items, tokens)
        return SentenceReading((), (), (), unread, content, understood, counterpart=not_there(text))
    if "side" in parse.roles or not TRIGGERS.isdisjoint(words):
        parse.drafts = unnamed_findings(items, words, parse.starts, parse.drafts, vocabulary)
    _name_composed(parse)
    content, understood, unread = count_content(items, tokens)
    _assert(parse, questioned)
    parse.apply(ATTRIBUTES)
    topic, about = topic_side(items, parse.drafts) if "side" in parse.roles else ("", 0)
    order_of = {draft.item: position for position, draft in enumerate(parse.drafts)}
    _mention_drafts(parse, order_of)
    parse.apply(SIDES)
    if topic:
        give_side(parse.mentions, topic, about, vocabulary)
    modifiers = tuple(
        [
            Modifier(
                tokens.starts[item.first],
                tokens.ends[item.last - 1],
                item.role,
                item.value,
                parse.owner.get(index, -1),
            )
            for index, item in enumerate(items)
            if item.role in MODIFIERS and index not in order_of
        ]
    )
    mentions, relations = parse.mentions, parse.relations
    implied = (
        implied_denials(items, words, parse.drafts, mentions, vocabulary) if "normality" in parse.roles else []
    )
    mentions += implied
    if implied or any(draft.first != draft.item for draft in parse.drafts):
        mentions, modifiers, relations = _in_order(mentions, modifiers, relations)
    refers = refers_back(tokens.norms) or any(
        mention.attributes.laterality in ("same", "other") for mention in mentions
    )
    unnamed = not_there(text) if FINDINGS.isdisjoint(mention.kind for mention in mentions) else ("", 0, 0)
    normal = any(mention.kind == "normality" for mention in mentions)
    return SentenceReading(
        tuple(mentions), modifiers, tuple(relations), unread, content, understood, refers, normal, unnamed
    )


def _name_composed(parse: Parse) -> None:
    """Make findings of words with their structure, so that they can be denied: "no fluid in the pleura"."""
    concepts = parse.vocabulary.lexicon.concepts
    for draft in parse.drafts:
        item = parse.items[draft.item]
        if item.role not in _MENTIONED:
            composed = concepts.get(draft.concept)
            role = "open" if draft.concept.startswith("open:") else composed.kind if composed else "abnormality"
            parse.items[draft.item] = item._replace(role=role, value=draft.concept, form="noun")


def _assert(parse: Parse, questioned: dict[int, int]) -> None:
    """Decide what is present, absent or uncertain; `questioned` are findings with a question mark of their own."""
    parse.status, parse.decided = status, decided = assert_items(parse.items, parse.words, parse.starts)
    if parse.text.endswith("?"):
        question(parse.items, status)
    for index, mark in questioned.items():
        if status[index] == "present":
            status[index], decided[index] = "uncertain", mark
    for draft in parse.drafts:
        if draft.unnamed:
            status[draft.item], decided[draft.item] = ("absent" if draft.denied else "present"), -1


def _mention_drafts(parse: Parse, order_of: dict[int, int]) -> None:
    """Finish the drafts as mentions, with their places and what they suggest as relations."""
    advice = _advice_from(parse.items, parse.words) if "context" in parse.roles else len(parse.items)
    for position, draft in enumerate(parse.drafts):
        side = draft.side or _side(parse, draft, order_of)
        context = "recommendation" if draft.item >= advice else "history" if draft.history else "current"
        mention = _mention(parse, draft, side, context)
        parse.mentions.append(mention)
        if draft.explicit and mention.kind != "anatomy":
            parse.relations += [
                Relation(position, order_of[index], "located_at") for index in draft.explicit if index in order_of
            ]
    if "cue" in parse.roles and len(parse.mentions) > 1:
        parse.relations += _suggestions(parse)


def _advice_from(items: Sequence[Item], words: Sequence[str]) -> int:
    """Index where advice begins: findings before its clause are seen, "14 mm nodule, CT advised"."""
    for index, item in enumerate(items):
        if item.role == "context" and item.form == "sentence":
            before = range(index - 1, 0, -1)
            return next((at for at in before if items[at].role in _BREAKS or words[at] in _RELATIVE), 0)
    return len(items)


def _in_order(
    mentions: Sequence[Mention], modifiers: Sequence[Modifier], relations: Sequence[Relation]
) -> tuple[list[Mention], tuple[Modifier, ...], list[Relation]]:
    """Mentions sorted by where they start, and what refers to them: a clause starts before its last word."""
    order = sorted(range(len(mentions)), key=lambda index: mentions[index].start)
    order_of = {before: after for after, before in enumerate(order)}
    return (
        [mentions[index] for index in order],
        tuple(modifier._replace(mention=order_of.get(modifier.mention, -1)) for modifier in modifiers),
        [Relation(order_of[source], order_of[target], kind) for source, target, kind in relations],
    )


def _mention(parse: Parse, draft: Draft, side: str, context: str) -> Mention:
    """The finished mention of a draft."""
    text, tokens, items, words = parse.text, parse.tokens, parse.items, parse.words
    vocabulary = parse.vocabulary
    item = items[draft.item]
    start, end = tokens.starts[items[draft.first].first], tokens.ends[item.last - 1]
    concept = vocabulary.lexicon.concepts.get(draft.concept)
    kind = concept.kind if concept is not None else item.role
    assertion, cue = "present", ""
    locations: tuple[str, ...] = ()
    if kind != "anatomy":
        assertion = parse.status[draft.item]
        if (by := parse.decided[draft.item]) >= 0:
            cue = text[tokens.starts[items[by].first] : tokens.ends[items[by].last - 1]]
        elif draft.change == "resolved" and kind in FINDINGS:
            assertion = "absent"
        if draft.explicit:
            locations = tuple(dict.fromkeys([items[index].value for index in draft.explicit]))
        elif concept is not None:
            locations = concept.location
    severity, change = "", draft.change
    descriptors: tuple[str, ...] = ()
    if draft.words:
        grades = [index for index in draft.words if items[index].role == "severity"]
        if kind in FINDINGS:
            grades = [
                index
                for index in grades
                if not is_degree_of_change(items, words, index)
                and (
                    not index or words[index - 1] not in ("previously", "from")
                )  # "previously moderate, now small"
            ]
        if draft.sides_differ:  # "moderate right and small left effusions": the worse of the two
            grades.sort(key=lambda index: -_GRADES.index(items[index].value))
        severity = items[grades[0]].value if grades else ""
        descriptors = tuple([words[index] for index in sorted(draft.words) if items[index].role in _DESCRIBING])
    if kind in FINDINGS and item.last - item.first > 1:
        inner = _inside(tokens.norms[item.first : item.last], vocabulary, concept.name if concept else "")
        severity, change = severity or inner[0], change or inner[1]
    stated = (side, locations, severity, tuple(draft.sizes), change, descriptors, cue, context)
    form = "clause" if draft.clause else item.form
    attributes = tuple.__new__(Attributes, stated)  # half the time of the constructor
    read = (start, end, text[start:end], draft.concept, kind, assertion, 0, attributes, form)
    return tuple.__new__(Mention, read)


def _inside(norms: tuple[str, ...], vocabulary: Vocabulary, name: str) -> tuple[str, str]:
    """Severity and change that are part of the term: "severe aortic stenosis", "resolving pneumonia".

    Not if the concept is named by them: "borderline cardiomegaly" is one of its own kind.
    """
    severity = change = ""
    named = name.split()
    for norm, following in pairwise(norms):
        entry = vocabulary.word(norm)
        if entry is None:
            continue
        if (
            entry.role == "severity"
            and not severity
            and following not in vocabulary.named_by_size
            and norm not in named
        ):
            severity = entry.value
        elif entry.role == "change" and not change and norm not in _MEASURED:
            change = entry.value
    return severity, change


def _side(parse: Parse, draft: Draft, order_of: dict[int, int]) -> str:
    """Side of a mention that names none: that of its places, its concept, or a word like "bibasilar"."""
    common = ""
    for index in (draft.item, *draft.explicit):
        item = parse.items[index]
        side = parse.drafts[order_of[index]].side if index in order_of else ""
        side = side or parse.vocabulary.sides.get(item.value, "")
        if not side and parse.tokens.texts[item.last - 1].lower() in parse.vocabulary.bilateral_words:
            side = "bilateral"
        if side and side != common:
            common = "bilateral" if common and "midline" not in (common, side) else side
    return common


def _suggestions(parse: Parse) -> list[Relation]:
    """The finding before a linking cue suggests those behind it: "opacity consistent with pneumonia"."""
    items, drafts, relations = parse.items, parse.drafts, []
    findings = [position for position, mention in enumerate(parse.mentions) if mention.kind in FINDINGS]
    if len(findings) < 2:
        return []
    for index, item in enumerate(items):
        if item.role != "cue" or not any(
            (cue.link or cue.asserts == "uncertain") and cue.direction == "before" and cue.scope == "clause"
            for cue in item.cues
        ):
            continue
        before = [position for position in findings if drafts[position].item < index]
        after = [position for position in findings if drafts[position].item > index]
        if before:
            for target in after:
                between = items[index + 1 : drafts[target].item]
                if any(other.role in ("verb", "semicolon") or stops(other) for other in between):
                    break
                relations.append(Relation(before[-1], target, "suggestive_of"))
    return relations
