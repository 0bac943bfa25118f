"""Reading one sentence: items become mentions with assertion, attributes and relations.

Positions are relative to the sentence, so that its reading can be used again wherever the sentence recurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radgauge.report_reader.assertion import assert_items, clause_starts
from radgauge.report_reader.levels import join_levels
from radgauge.report_reader.phrases import look_left, look_right, object_after, subject_before
from radgauge.report_reader.reading import Attributes, Mention, Modifier, Relation
from radgauge.report_reader.vocabulary import FINDINGS, MODIFIERS, Cue, Item, Vocabulary
from radgauge.text.tokens import Token, tokenize

_ADJECTIVE_ENDINGS = ("al", "ar", "ic", "ous", "ary", "oid", "ive")
_ALSO_QUALITIES = frozenset({"symmetric", "homogeneous", "midline"})
_UNIT_MM = {"mm": 1.0, "cm": 10.0}


class SentenceReading(NamedTuple):
    """Mentions, modifiers and relations of one sentence; offsets count from its first character."""

    mentions: tuple[Mention, ...]
    modifiers: tuple[Modifier, ...]
    relations: tuple[Relation, ...]
    context: str


EMPTY = SentenceReading((), (), (), "")


class _Draft:
    """A mention in the making: item index, concept, and what is found out about it."""

    __slots__ = ("change", "concept", "explicit", "history", "item", "side", "sizes", "words")

    def __init__(self, item: int, concept: str) -> None:
        self.item = item
        self.concept = concept
        self.words: list[int] = []
        self.explicit: list[int] = []
        self.sizes: list[float] = []
        self.change = ""
        self.side = ""
        self.history = False


def read_sentence(text: str, vocabulary: Vocabulary) -> SentenceReading:
    """Mentions of one sentence with everything that is said about them."""
    tokens = tokenize(text)
    if not tokens:
        return EMPTY
    items = join_levels(vocabulary.match(tokens, lowered=text.islower()), tokens)
    items = _adjectives_in_front(items)
    words = [" ".join([tokens[t].norm for t in range(item.first, item.last)]) for item in items]
    _clear_of(items, words)
    starts = clause_starts(items, words)
    status, decided = assert_items(items, words, starts)
    drafts = _drafts(items, words, starts, vocabulary)
    if not drafts:
        return SentenceReading((), (), (), _sentence_context(items))
    owner = _describe(items, words, starts, drafts)
    _measure(items, tokens, drafts)
    _history(items, starts, drafts)
    return _finish(text, tokens, items, words, status, decided, drafts, owner, vocabulary)


def _adjectives_in_front(items: list[Item]) -> list[Item]:
    """Adjectives in front of a finding are qualities of it: "calcified granuloma", "symmetric scarring".

    So are words that no lexicon knows but that look like adjectives: "ulnar neuropathy".
    """
    following = ""
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        role = item.role
        if role in FINDINGS:
            if item.form == "adjective" and following == "finding":
                items[index] = item._replace(role="quality")
            else:
                following = "finding" if item.form == "noun" else ""
        elif role == "normality" and following == "finding" and item.value in _ALSO_QUALITIES:
            items[index] = item._replace(role="quality")
        elif role == "unknown" and following and item.value.endswith(_ADJECTIVE_ENDINGS) and len(item.value) > 4:
            items[index] = item._replace(role="position" if following == "anatomy" else "quality")
        elif role == "anatomy":
            following = following or "anatomy"
        elif role not in MODIFIERS:
            following = ""
    return items


def _clear_of(items: list[Item], words: Sequence[str]) -> None:
    """A word of normality before "of" denies what follows: "grossly clear of consolidation"."""
    for index, item in enumerate(items[:-1]):
        if item.role == "normality" and words[index + 1] == "of" and words[index].endswith(("clear", "free")):
            items[index] = item._replace(role="cue", cues=(Cue("absent", "before", "clause"),))


def _drafts(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], vocabulary: Vocabulary
) -> list[_Draft]:
    """One draft per anatomy, finding and word of normality, with its places and describing words."""
    drafts = []
    for index, item in enumerate(items):
        role = item.role
        if role == "anatomy":
            draft = _Draft(index, item.value)
            draft.words, _, _ = look_left(items, index)
        elif role in FINDINGS or role == "normality":
            draft = _Draft(index, item.value)
            draft.words, before, draft.history = look_left(items, index)
            after_words, after = look_right(items, index)
            draft.words += after_words
            if role == "normality" or item.form == "adjective":
                objects = object_after(items, index)
                draft.explicit = objects or subject_before(items, index, starts) or after
            else:
                draft.explicit = before + after or subject_before(items, index, starts)
            if words[index] in vocabulary.compositions:
                draft.concept = _composed(draft, items, words[index], vocabulary) or draft.concept
        elif words[index] in vocabulary.compositions:
            draft = _Draft(index, "")
            draft.explicit = object_after(items, index) or subject_before(items, index, starts)
            concept = _composed(draft, items, words[index], vocabulary)
            if not concept or (index + 1 < len(items) and items[index + 1].role in FINDINGS):
                continue
            draft.concept = concept
            draft.words, _, draft.history = look_left(items, index)
        else:
            continue
        drafts.append(draft)
    _share_places(items, drafts)
    return drafts


def _composed(draft: _Draft, items: Sequence[Item], word: str, vocabulary: Vocabulary) -> str:
    """Concept of an organ and a word ("heart", "enlarged"), "" if the lexicon knows none."""
    for anatomy, concept in vocabulary.compositions[word]:
        for place in draft.explicit:
            if items[place].value in anatomy:
                return concept
    return ""


def _share_places(items: Sequence[Item], drafts: Sequence[_Draft]) -> None:
    """Findings joined by "and", "or" or commas share the place named behind the last of them."""
    by_item = {draft.item: draft for draft in drafts if items[draft.item].role in FINDINGS}
    order = sorted(by_item)
    for left, right in zip(reversed(order[:-1]), reversed(order[1:]), strict=True):
        first, second = by_item[left], by_item[right]
        if first.explicit or not second.explicit or min(second.explicit) < right:
            continue
        between = [items[index].role for index in range(left + 1, right)]
        joined = any(role in ("conjunction", "comma", "slash") for role in between)
        if joined and all(
            role in MODIFIERS or role in ("conjunction", "comma", "slash", "determiner", "mask")
            for role in between
        ):
            first.explicit = list(second.explicit)


def _describe(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], drafts: Sequence[_Draft]
) -> dict[int, int]:
    """Give every describing word to one mention; words behind a verb go to the subject."""
    owner: dict[int, int] = {}
    for position, draft in enumerate(drafts):
        for index in draft.words:
            known = owner.get(index)
            if known is None or abs(drafts[known].item - index) > abs(draft.item - index):
                owner[index] = position
            if items[index].role == "side" and not draft.side:
                draft.side = items[index].value
    heads = {draft.item: position for position, draft in enumerate(drafts)}
    for index, item in enumerate(items):
        if item.role not in MODIFIERS or (index in owner and item.role != "change"):
            continue
        if item.role == "change" and words[index].endswith((" of", " in")):
            target = _next_finding(items, index, heads)
        elif index in owner:
            target = owner[index]
        elif item.role == "change" and index + 1 < len(items) and words[index + 1] in ("of", "in"):
            target = _next_finding(items, index + 1, heads)
            if target < 0:
                target = _subject_head(items, index, starts, heads)
        else:
            target = _subject_head(items, index, starts, heads)
        if target < 0:
            continue
        owner[index] = target
        draft = drafts[target]
        if index not in draft.words:
            draft.words.append(index)
        if item.role == "side" and not draft.side:
            draft.side = item.value
    for index, position in owner.items():
        if items[index].role == "change":
            _set_change(items, drafts, position, items[index].value)
    return owner


def _set_change(items: Sequence[Item], drafts: Sequence[_Draft], position: int, value: str) -> None:
    """A change word counts for the finding and for those it is joined with in front of a verb."""
    draft = drafts[position]
    if not draft.change or draft.change == "stable":
        draft.change = value


def _next_finding(items: Sequence[Item], index: int, heads: dict[int, int]) -> int:
    """The mention that starts behind `index`: a finding if there is one in the phrase, else the anatomy."""
    anatomy = -1
    for position in range(index + 1, len(items)):
        role = items[position].role
        if role in FINDINGS and position in heads:
            return heads[position]
        if role == "anatomy" and anatomy < 0:
            anatomy = heads[position]
        elif role in ("verb", "cue", "semicolon", "comma"):
            break
    return anatomy


def _subject_head(items: Sequence[Item], index: int, starts: Sequence[bool], heads: dict[int, int]) -> int:
    """The mention to the left that a word behind a verb describes: the nearest finding, else the anatomy."""
    anatomy = -1
    position = index
    while position > 0:
        if starts[position]:
            break
        position -= 1
        role = items[position].role
        if role in FINDINGS and position in heads:
            return heads[position]
        if role == "anatomy" and anatomy < 0:
            anatomy = heads[position]
        elif role == "semicolon" or (role == "cue" and any(c.asserts == "stop" for c in items[position].cues)):
            break
    return anatomy


def _measure(items: Sequence[Item], tokens: Sequence[Token], drafts: Sequence[_Draft]) -> None:
    """Sizes in millimetres go to the finding behind them in the phrase, else to the nearest one before."""
    findings = [draft for draft in drafts if items[draft.item].role in FINDINGS]
    if not findings:
        return
    for index, item in enumerate(items):
        if item.role != "unit":
            continue
        sizes: list[float] = []
        position = index - 1
        while position >= 0 and index - position < 12:
            role, value = items[position].role, items[position].value
            if role == "number":
                try:
                    sizes.append(float(value.replace(",", ".")) * _UNIT_MM[item.value])
                except ValueError:
                    break
            elif (value not in ("x", "\u00d7", "by", "to", "*") and role not in ("unit", "preposition")) or (
                role == "unit" and (position == 0 or not sizes)
            ):
                break
            position -= 1
        sizes.reverse()
        behind = [draft for draft in findings if draft.item > index]
        front = [draft for draft in findings if draft.item < index]
        phrase = behind and all(
            items[between].role in MODIFIERS
            or items[between].role in ("anatomy", "mask", "number", "unit", "comma")
            for between in range(index + 1, behind[0].item)
        )
        target = behind[0] if phrase or not front else front[-1]
        target.sizes += sizes


def _history(items: Sequence[Item], starts: Sequence[bool], drafts: Sequence[_Draft]) -> None:
    """Findings behind "history of", "status post" up to the end of the clause are history."""
    for index, item in enumerate(items):
        if item.role == "context" and item.value == "history" and item.last - item.first > 1:
            for draft in drafts:
                if draft.item > index and not any(starts[index + 1 : draft.item + 1]):
                    between = items[index + 1 : draft.item]
                    if not any(each.role == "verb" or _stops(each) for each in between):
                        draft.history = True


def _stops(item: Item) -> bool:
    return item.role == "cue" and any(cue.asserts == "stop" for cue in item.cues)


def _sentence_context(items: Sequence[Item]) -> str:
    return next((item.value for item in items if item.role == "context" and item.form == "sentence"), "")


def _finish(
    text: str,
    tokens: Sequence[Token],
    items: Sequence[Item],
    words: Sequence[str],
    status: Sequence[str],
    decided: Sequence[int],
    drafts: Sequence[_Draft],
    owner: dict[int, int],
    vocabulary: Vocabulary,
) -> SentenceReading:
    lexicon = vocabulary.lexicon
    place = {draft.item: position for position, draft in enumerate(drafts)}
    context = _sentence_context(items)
    mentions = []
    relations = []
    for position, draft in enumerate(drafts):
        item = items[draft.item]
        concept = lexicon.concepts.get(draft.concept)
        kind = concept.kind if concept is not None else item.role
        start, end = tokens[item.first].start, tokens[item.last - 1].end
        assertion = status[draft.item] if kind != "anatomy" else "present"
        cue = ""
        if kind != "anatomy" and decided[draft.item] >= 0:
            by = items[decided[draft.item]]
            cue = text[tokens[by.first].start : tokens[by.last - 1].end]
        if draft.change == "resolved" and kind in FINDINGS and assertion == "present":
            assertion = "absent"
        locations = tuple(dict.fromkeys(items[index].value for index in draft.explicit))
        side = draft.side or _side_of_places(draft, drafts, place, items, tokens, vocabulary)
        if kind == "anatomy":
            locations = ()
        elif not locations and concept is not None:
            locations = concept.location
        severity = next((items[i].value for i in draft.words if items[i].role == "severity"), "")
        descriptors = tuple(
            words[i] for i in sorted(draft.words) if items[i].role in ("quality", "position", "quantity", "amount")
        )
        attributes = Attributes(
            laterality=side,
            locations=locations,
            severity=severity,
            sizes_mm=tuple(draft.sizes),
            change=draft.change,
            descriptors=descriptors,
            cue=cue,
            context=context if context == "recommendation" else "history" if draft.history else "current",
        )
        mentions.append(
            Mention(start, end, text[start:end], draft.concept, kind, assertion, 0, attributes, item.form)
        )
        for index in draft.explicit:
            if kind != "anatomy" and index in place:
                relations.append(Relation(position, place[index], "located_at"))
    relations += _suggestions(items, drafts, mentions)
    modifiers = tuple(
        Modifier(tokens[item.first].start, tokens[item.last - 1].end, item.role, item.value, owner.get(index, -1))
        for index, item in enumerate(items)
        if item.role in MODIFIERS and index not in place
    )
    return SentenceReading(tuple(mentions), modifiers, tuple(relations), context)


def _side_of_places(
    draft: _Draft,
    drafts: Sequence[_Draft],
    place: dict[int, int],
    items: Sequence[Item],
    tokens: Sequence[Token],
    vocabulary: Vocabulary,
) -> str:
    """Side of a mention that names none: that of its places, its concept, or a word like "bibasilar"."""
    sides = set()
    for index in (draft.item, *draft.explicit):
        item = items[index]
        if index in place and drafts[place[index]].side:
            sides.add(drafts[place[index]].side)
        elif side := vocabulary.sides.get(item.value, ""):
            sides.add(side)
        elif any(tokens[t].text.lower() in vocabulary.bilateral_words for t in range(item.first, item.last)):
            sides.add("bilateral")
    if len(sides) > 1:
        sides.discard("midline")
    return "bilateral" if len(sides) > 1 else next(iter(sides), "")


def _suggestions(items: Sequence[Item], drafts: Sequence[_Draft], mentions: Sequence[Mention]) -> list[Relation]:
    """The finding before a linking cue suggests those behind it: "opacity consistent with pneumonia"."""
    relations = []
    findings = [position for position, draft in enumerate(drafts) if mentions[position].kind in FINDINGS]
    for index, item in enumerate(items):
        if item.role != "cue" or not any(
            (cue.link or cue.asserts == "uncertain") and cue.direction == "before" and cue.scope == "clause"
            for cue in item.cues
        ):
            continue
        before = [position for position in findings if drafts[position].item < index]
        after = [position for position in findings if drafts[position].item > index]
        if before and after:
            for target in after:
                between = items[index + 1 : drafts[target].item]
                if any(each.role in ("verb", "semicolon") or _stops(each) for each in between):
                    break
                relations.append(Relation(before[-1], target, "suggestive_of"))
    return relations


def assertion_of(text: str, start: int, *, end: int, vocabulary: Vocabulary) -> str:
    """What a sentence asserts about the span [start, end), whether or not the lexicon knows its words."""
    tokens = tokenize(text)
    inside = [number for number, token in enumerate(tokens) if token.end > start and token.start < end]
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
    words = [" ".join([tokens[t].norm for t in range(item.first, item.last)]) for item in items]
    status, _ = assert_items(items, words, clause_starts(items, words))
    return status[items.index(target)]
