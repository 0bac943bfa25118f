"""Reading one sentence: items become mentions with assertion, attributes and relations.

Positions are relative to the sentence, so that its reading can be used again wherever the sentence recurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from radgauge.reader.anaphora import not_there, refers_back
from radgauge.reader.assertion import asked_findings, assert_items, clause_starts, question
from radgauge.reader.attributes import (
    LONG_AGO,
    REPORTED,
    changed_aspects,
    describe,
    is_degree_of_change,
    mark_dated,
    mark_history,
    measure,
    over_limits,
    stops,
)
from radgauge.reader.composing import Draft
from radgauge.reader.drafts import drafts_of
from radgauge.reader.ellipsis import TRIGGERS, unnamed_findings
from radgauge.reader.implied import implied_denials
from radgauge.reader.open_claims import count_content, open_claims
from radgauge.reader.polarity import cancel_double_negation, turn_denials
from radgauge.reader.reading import Attributes, Mention, Modifier, Relation
from radgauge.reader.retag import (
    SHORT_OF,
    adjectives_in_front,
    clear_of,
    compare_places,
    compare_sides,
    deny_changes,
    deny_predicates,
    fall_short,
    join_levels,
    misplaced_devices,
    normal_aspects,
    not_seen_before,
    pathological_nodes,
    places_of_wholes,
    set_aside_preamble,
)
from radgauge.reader.senses import choose_senses, share_heads
from radgauge.reader.sides import (
    fronted_sides,
    give_side,
    same_side,
    sides_behind,
    sides_of_companions,
    sides_of_conclusions,
    split_by_side,
    topic_side,
)
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item, Vocabulary
from radgauge.reader.wholes import sides_of_wholes
from radgauge.text.tokens import Tokens

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


_SHOUTED = 20  # characters of a sentence in capitals; shorter ones may be abbreviations alone
_MEASURED = frozenset({"increased", "increase", "decreased", "decrease", "larger", "smaller"})
"""Words of change that in a term compare with the normal: "decrease in liver density"."""
_BREAKS = frozenset({"comma", "semicolon", "colon", "open"})
_RELATIVE = frozenset({"which", "that", "and", "-", "–"})


def read_sentence(text: str, vocabulary: Vocabulary) -> SentenceReading:
    """Mentions of one sentence with everything that is said about them."""
    tokens = vocabulary.spelling.tokens(text)
    items = vocabulary.match(tokens, lowered=text.islower(), capitals=text.isupper() and len(text) > _SHOUTED)
    roles = {item.role for item in items}
    if "number" in roles:
        items = join_levels(items, tokens)
    if not roles.isdisjoint(("conjunction", "comma", "slash")):
        share_heads(items, tokens, vocabulary)
    choose_senses(items, words_of(items, tokens), vocabulary)
    places_of_wholes(items, vocabulary)
    adjectives_in_front(items)
    words = words_of(items, tokens)
    if "pathologic" in text:
        pathological_nodes(items, words)
    if not roles.isdisjoint(("colon", "semicolon")):
        set_aside_preamble(items, words)
    if "side" in roles:
        same_side(items, vocabulary)
        compare_sides(items, words)
    if "device" in roles:
        misplaced_devices(items, words, vocabulary.misplaced)
    if "unknown" in roles:
        items = open_claims(items, words, tokens, vocabulary.compositions)
        words = words_of(items, tokens)
    if "normality" in roles:
        clear_of(items, words)
        normal_aspects(items, words)
    if not SHORT_OF.isdisjoint(words):
        fall_short(items, words, vocabulary)
    joined = "verb" in roles or not roles.isdisjoint(("comma", "conjunction", "semicolon"))
    starts = clause_starts(items, words) if joined else [False] * len(items)
    if "change" in roles:
        compare_places(items, words)
        deny_changes(items, words)
    if "cue" in roles:
        not_seen_before(items, words)
        cancel_double_negation(items, words)
        deny_predicates(items, words)
    questioned = asked_findings(items, words, tokens) if "?" in text else {}
    drafts = drafts_of(items, words, starts, vocabulary)
    if not drafts:
        content, understood, unread = count_content(items, tokens)
        return SentenceReading((), (), (), unread, content, understood, counterpart=not_there(text))
    if "side" in roles or not TRIGGERS.isdisjoint(words):
        drafts = unnamed_findings(items, words, starts, drafts, vocabulary)
    for draft in drafts:  # "no fluid in the pleural space": what a word and a place make together can be denied
        if items[draft.item].role not in _MENTIONED:
            composed = vocabulary.lexicon.concepts.get(draft.concept)
            role = "open" if draft.concept.startswith("open:") else composed.kind if composed else "abnormality"
            items[draft.item] = items[draft.item]._replace(role=role, value=draft.concept, form="noun")
    content, understood, unread = count_content(items, tokens)
    status, decided = assert_items(items, words, starts)
    if text.endswith("?"):
        question(items, status)
    for index, mark in questioned.items():
        if status[index] == "present":
            status[index], decided[index] = "uncertain", mark
    for draft in drafts:
        if draft.unnamed:
            status[draft.item], decided[draft.item] = ("absent" if draft.denied else "present"), -1
    if "normality" in roles or any(draft.inverse or items[draft.item].role == "normality" for draft in drafts):
        drafts = turn_denials(items, words, starts, drafts, vocabulary, (status, decided))
    described = "unknown" in roles or not {item.role for item in items}.isdisjoint(MODIFIERS)
    owner = describe(items, words, starts, drafts) if described else {}
    if "change" in roles:
        changed_aspects(items, words, drafts, vocabulary)
    if "unit" in roles:
        measure(items, words, drafts)
        drafts = over_limits(items, words, drafts, vocabulary)
    if (
        "context" in roles
        or not REPORTED.isdisjoint(words)
        or any(item.role == "cue" and item.value == "history" for item in items)
    ):
        mark_history(items, words, starts, drafts)
    if "number" in roles or not LONG_AGO.isdisjoint(words) or "last" in words:
        mark_dated(items, words, drafts)
    topic, about = "", 0
    if "side" in roles:
        sides_of_wholes(items, words, starts, drafts, vocabulary)
    if any(len(draft.explicit) > 1 or draft.sides_differ for draft in drafts):
        drafts, owner = split_by_side(items, drafts, owner, vocabulary)
    if "side" in roles:
        topic, about = topic_side(items, drafts)
    order_of = {draft.item: position for position, draft in enumerate(drafts)}
    advice = _advice_from(items, words) if "context" in roles else len(items)
    mentions = []
    relations = []
    for position, draft in enumerate(drafts):
        side = draft.side or _side(draft, drafts, order_of, items, tokens, vocabulary)
        context = "recommendation" if draft.item >= advice else "history" if draft.history else "current"
        mention = _mention(text, tokens, items, words, draft, vocabulary, (status, decided), (side, context))
        mentions.append(mention)
        if draft.explicit and mention.kind != "anatomy":
            relations += [
                Relation(position, order_of[index], "located_at") for index in draft.explicit if index in order_of
            ]
    if "cue" in roles and len(mentions) > 1:
        relations += _suggestions(items, drafts, mentions)
        sides_of_conclusions(mentions, relations, vocabulary)
    if "side" in roles:
        sides_behind(items, words, starts, drafts, mentions, vocabulary)
        fronted_sides(items, starts, drafts, mentions, vocabulary)
    if len(mentions) > 1 and any(mention.attributes.laterality for mention in mentions):
        sides_of_companions(items, words, drafts, mentions, vocabulary)
    if topic:
        give_side(mentions, topic, about, vocabulary)
    modifiers = tuple(
        [
            Modifier(
                tokens.starts[item.first], tokens.ends[item.last - 1], item.role, item.value, owner.get(index, -1)
            )
            for index, item in enumerate(items)
            if item.role in MODIFIERS and index not in order_of
        ]
    )
    implied = implied_denials(items, words, drafts, mentions, vocabulary) if "normality" in roles else []
    mentions += implied
    if implied or any(draft.first != draft.item for draft in drafts):
        mentions, modifiers, relations = _in_order(mentions, modifiers, relations)
    refers = refers_back(tokens.norms) or any(
        mention.attributes.laterality in ("same", "other") for mention in mentions
    )
    unnamed = not_there(text) if FINDINGS.isdisjoint(mention.kind for mention in mentions) else ("", 0, 0)
    normal = any(mention.kind == "normality" for mention in mentions)
    return SentenceReading(
        tuple(mentions), modifiers, tuple(relations), unread, content, understood, refers, normal, unnamed
    )


def _advice_from(items: Sequence[Item], words: Sequence[str]) -> int:
    """Where advice begins: findings before its clause are seen, "14 mm nodule, CT advised"."""
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


def words_of(items: Sequence[Item], tokens: Tokens) -> list[str]:
    """The normal form of each item's words."""
    norms = tokens.norms
    return [
        norms[item.first] if item.last - item.first == 1 else " ".join(norms[item.first : item.last])
        for item in items
    ]


def _mention(
    text: str,
    tokens: Tokens,
    items: Sequence[Item],
    words: Sequence[str],
    draft: Draft,
    vocabulary: Vocabulary,
    asserted: tuple[Sequence[str], Sequence[int]],
    entry: tuple[str, str],
) -> Mention:
    """The finished mention of a draft; `asserted` per item, `known` are its side and context."""
    item = items[draft.item]
    start, end = tokens.starts[items[draft.first].first], tokens.ends[item.last - 1]
    concept = vocabulary.lexicon.concepts.get(draft.concept)
    kind = concept.kind if concept is not None else item.role
    assertion, cue = "present", ""
    locations: tuple[str, ...] = ()
    if kind != "anatomy":
        assertion = asserted[0][draft.item]
        if (by := asserted[1][draft.item]) >= 0:
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
    stated = (entry[0], locations, severity, tuple(draft.sizes), change, descriptors, cue, entry[1])
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


def _side(
    draft: Draft,
    drafts: Sequence[Draft],
    order_of: dict[int, int],
    items: Sequence[Item],
    tokens: Tokens,
    vocabulary: Vocabulary,
) -> str:
    """Side of a mention that names none: that of its places, its concept, or a word like "bibasilar"."""
    side_found = ""
    for index in (draft.item, *draft.explicit):
        item = items[index]
        side = drafts[order_of[index]].side if index in order_of else ""
        side = side or vocabulary.sides.get(item.value, "")
        if not side and tokens.texts[item.last - 1].lower() in vocabulary.bilateral_words:
            side = "bilateral"
        if side and side != side_found:
            side_found = "bilateral" if side_found and "midline" not in (side_found, side) else side
    return side_found


def _suggestions(items: Sequence[Item], drafts: Sequence[Draft], mentions: Sequence[Mention]) -> list[Relation]:
    """The finding before a linking cue suggests those behind it: "opacity consistent with pneumonia"."""
    relations = []
    findings = [position for position, mention in enumerate(mentions) if mention.kind in FINDINGS]
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


def assertion_of(text: str, start: int, *, end: int, vocabulary: Vocabulary) -> str:
    """Return what a sentence asserts about the span [start, end), whether or not the lexicon knows its words."""
    tokens = vocabulary.spelling.tokens(text)
    inside = [
        number
        for number, (first, last) in enumerate(zip(tokens.starts, tokens.ends, strict=True))
        if last > start and first < end
    ]
    if not inside:
        return "present"
    items = [
        item
        for item in vocabulary.match(tokens, lowered=text.islower())
        if item.last <= inside[0] or item.first > inside[-1]
    ]
    target = Item(inside[0], inside[-1] + 1, "abnormality", "", "noun", ())
    items.append(target)
    items.sort(key=lambda item: item.first)
    words = words_of(items, tokens)
    status, _ = assert_items(items, words, clause_starts(items, words))
    return status[items.index(target)]
