"""Attributes of mentions: descriptors, change, sizes, history."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft, composed
from radgauge.reader.phrases import TIMES
from radgauge.reader.retag import COMPARING, NOUNS_OF_CHANGE
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item, Vocabulary

_WITHIN = frozenset({"anatomy", "determiner", "mask", "number", "unit", "preposition"})
_LISTS = shipped_toml(__file__, "word_lists.toml")
_GOING_ON = frozenset(_LISTS["continuing"])
"""Words behind which a description still belongs to the subject: "is present but unchanged", "which is stable"."""
_UNIT_MM: dict[str, float] = _LISTS["millimetres"]


def describe(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], drafts: Sequence[Draft]
) -> dict[int, int]:
    """Give every describing word to one mention; words behind a verb go to the subject."""
    owner: dict[int, int] = {}
    for position, draft in enumerate(drafts):
        for index in draft.words:
            cached = owner.get(index)
            if cached is None or abs(drafts[cached].item - index) > abs(draft.item - index):
                owner[index] = position
            if items[index].role == "side" and not draft.side:
                draft.side = items[index].value
    heads = {draft.item: position for position, draft in enumerate(drafts)}
    subjects: list[int] = []  # made when the first is asked for: most sentences ask for none
    for index, item in enumerate(items):
        if item.role not in MODIFIERS or (index in owner and item.role != "change"):
            continue
        if not subjects and index not in owner:
            subjects = _subjects(items, words, starts, heads)
        if item.role == "change" and words[index].endswith((" of", " in")):
            target = _next_finding(items, index, heads)
        elif index in owner:
            target = owner[index]
        elif item.role == "change" and words[index].endswith(NOUNS_OF_CHANGE) and _before_of(words, index):
            target = _next_finding(items, index + 1, heads)
            if target < 0:
                target = subjects[index]
        else:
            target = subjects[index]
        if target < 0:
            continue
        draft = drafts[target]
        if index not in owner or index not in draft.words:
            draft.words.append(index)
        owner[index] = target
        if item.role == "side" and not draft.side:
            draft.side = item.value
    for index, position in owner.items():
        if items[index].role == "change":
            _set_change(items, words, drafts, heads, index, position)
    return owner


def changed_aspects(
    items: Sequence[Item], words: Sequence[str], drafts: Sequence[Draft], vocabulary: Vocabulary
) -> None:
    """Name what a decreased aspect means for its structure: "the density of the liver is decreased"."""
    for draft in drafts:
        if draft.change != "decreased" or not draft.explicit or words[draft.item] not in _ASPECTS:
            continue
        if concept := composed(draft, items, f"decreased {words[draft.item]}", vocabulary):
            draft.concept, draft.change = concept, ""


_ASPECTS = frozenset({"density", "attenuation"})


def is_degree_of_change(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if the word of severity at `index` grades a change, not the finding: "slightly improved effusion".

    "Mild increase in edema" does, "mild increased edema" and "mild stable edema" do not.
    """
    if index + 1 >= len(items):
        return False
    change = words[index + 1]
    if items[index + 1].role != "change":
        return change.startswith(COMPARING)  # "slightly worse on the right"
    return words[index].endswith("ly") or change.endswith((" of", " in", *NOUNS_OF_CHANGE))


def _set_change(
    items: Sequence[Item],
    words: Sequence[str],
    drafts: Sequence[Draft],
    heads: dict[int, int],
    index: int,
    position: int,
) -> None:
    """A change word counts for its finding and, across a verb or a preposition, for those joined to it.

    "Effusion and atelectasis are unchanged" and "increase in effusion and atelectasis" speak of both.
    """
    value = items[index].value
    first = drafts[position].item
    spoken = [position]
    if first < index:
        between = {items[at].role for at in range(first + 1, index)}
        if "verb" in between or "comma" in between:
            spoken += _joined(items, heads, first, -1)
    elif words[index].endswith((" of", " in")) or any(
        items[at].role == "preposition" for at in range(index + 1, first)
    ):
        spoken += _joined(items, heads, first, 1)
    for at in spoken:
        if not drafts[at].change or drafts[at].change == "stable":
            drafts[at].change = value


def _joined(items: Sequence[Item], heads: dict[int, int], index: int, step: int) -> list[int]:
    """Findings joined to the one at `index` by "and" or a comma, in one direction."""
    result = []
    joined = False
    position = index + step
    while 0 <= position < len(items):
        role = items[position].role
        if role in FINDINGS and position in heads:
            if not joined:
                break
            result.append(heads[position])
            joined = False
        elif role in ("conjunction", "comma", "slash"):
            joined = True
        elif role == "change" or (role not in MODIFIERS and role not in _WITHIN):
            break
        position += step
    return result


def _before_of(words: Sequence[str], index: int) -> bool:
    return index + 1 < len(words) and words[index + 1] in ("of", "in")


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


def _subjects(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], heads: dict[int, int]
) -> list[int]:
    """For each item the mention to the left that a word behind a verb describes, -1 for none.

    It is the nearest finding of the clause, else the nearest anatomy.

    One pass, because a sentence may be long: what is left of an item follows from what is left of the one before.
    It is kept twice, since a word that goes on ("but unchanged") is no border only for words right behind it.
    """
    result = []
    beyond = near = _NOTHING  # what lies left of an item: with other words in between, or only describing ones
    for index, item in enumerate(items):
        if starts[index]:
            beyond = near = _NOTHING
        result.append(near[0] if near[0] >= 0 else near[1])
        if item.role in FINDINGS and index in heads:
            beyond = near = (heads[index], -1)
        elif item.role == "anatomy" and index in heads:
            near = beyond = (beyond[0], heads[index])
        elif item.role == "semicolon" or stops(item):
            near = beyond if words[index] in _GOING_ON and item.role != "semicolon" else _NOTHING
            beyond = _NOTHING
        elif item.role not in MODIFIERS and item.role != "verb":
            near = beyond
    return result


_NOTHING = (-1, -1)


def measure(items: Sequence[Item], words: Sequence[str], drafts: Sequence[Draft]) -> None:
    """Give every size in millimetres to what it is the size of; a size of before tells the change."""
    before: list[tuple[Draft, list[float], str]] = []
    for index, item in enumerate(items):
        if item.role != "unit" or _goes_on(items, words, index):
            continue
        sizes: list[float] = []
        position, unit = index - 1, item.value
        while position >= 0 and index - position < 12:
            role, value = items[position].role, items[position].value
            if role == "number":
                try:
                    sizes.append(float(value.replace(",", ".")) * _UNIT_MM[unit])
                except ValueError:
                    break
            elif role == "unit":
                if not sizes or (words[position + 1] not in TIMES and words[position + 1] != "to"):
                    break
                unit = value
            elif value not in TIMES and value != "to" and role != "preposition":
                break
            position -= 1
        sizes.reverse()
        owner = _measured(items, drafts, index, position)
        if owner is None or not sizes:
            continue
        told_by = position + 1 if items[position + 1].role == "preposition" else position
        if told_by >= 0 and _is_past(items[told_by], words[told_by]):
            before.append((owner, sizes, words[told_by]))  # "previously 6 mm", "(was 6 mm)"
        elif (now := _sizes_now(items, words, position + 1, index)) and now < len(sizes):
            before.append((owner, sizes[:-now], "from"))  # "from 55 to 20 mm"
            owner.sizes += sizes[-now:]
        else:
            owner.sizes += sizes
    for owner, sizes, told_by_word in before:
        if not owner.sizes and told_by_word in _TENSE:  # the only size of a report in the past tense
            owner.sizes += sizes
        elif owner.sizes and not owner.change and max(owner.sizes) != max(sizes):
            owner.change = "increased" if max(owner.sizes) > max(sizes) else "decreased"


_AT_MOST = frozenset(_LISTS["at_most"])


def over_limits(
    items: list[Item], words: Sequence[str], drafts: list[Draft], vocabulary: Vocabulary
) -> list[Draft]:
    """The drafts with those of structures that are too large by their size alone: "common bile duct 13 mm"."""
    result = []
    spoken = {structure for draft in drafts if items[draft.item].role != "anatomy" for structure in draft.explicit}
    for draft in drafts:
        if items[draft.item].role != "anatomy" or not draft.sizes or draft.item in spoken:
            continue
        over, concept = vocabulary.limit(items[draft.item].value)
        unit = next((index for index in range(draft.item + 1, len(items)) if items[index].role == "unit"), -1)
        if (
            not concept
            or unit < 0
            or decisive(draft.sizes, concept) < over
            or _qualified(items, words, draft.item, unit)
        ):
            continue
        one = Draft(unit, concept)
        one.first, one.explicit, one.side, one.clause = draft.item, [draft.item], draft.side, True
        one.sizes, one.change = list(draft.sizes), draft.change
        items[unit] = items[unit]._replace(role="abnormality", value=concept)
        result.append(one)
    return [*drafts, *result]


def decisive(sizes: Sequence[float], concept: str) -> float:
    """Return the size that decides: the largest, of lymph nodes the short axis where two are given."""
    return min(sizes) if concept == "lymphadenopathy" and len(sizes) < _SEVERAL else max(sizes)


_SEVERAL = 4  # sizes of more than one lymph node


def _qualified(items: Sequence[Item], words: Sequence[str], index: int, unit: int) -> bool:
    """True if a size is denied, past, an upper bound, or that of something else."""
    if any(item.role == "cue" for item in items[:unit]) or any(word in _AT_MOST for word in words[index:unit]):
        return True
    between = items[index + 1 : unit]
    return any(item.role in FINDINGS or item.role in ("normality", "semicolon", "anatomy") for item in between)


def _goes_on(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if another number follows the unit at `index`: "from 52 mm to 30 mm", "4 cm x 3 cm"."""
    return (
        index + 2 < len(items)
        and (words[index + 1] == "to" or words[index + 1] in TIMES)
        and items[index + 2].role == "number"
    )


def _sizes_now(items: Sequence[Item], words: Sequence[str], start: int, end: int) -> int:
    """Number of numbers stand behind the "to" of "from ... to ..."; 0 if there is no such thing."""
    if "from" not in words[start:end] or "to" not in words[start:end]:
        return 0
    last = max(index for index in range(start, end) if words[index] == "to")
    return sum(items[index].role == "number" for index in range(last + 1, end))


def _measured(items: Sequence[Item], drafts: Sequence[Draft], index: int, position: int) -> Draft | None:
    """Return the draft that the size between `position` and `index` measures.

    "14 mm nodule" measures what follows; "nodule of 14 mm", "duct, 4 mm," and "measures 4 mm" what precedes.
    Behind a place it is the size of the finding there, or of the place itself.
    """
    behind = next((draft for draft in drafts if draft.item > index and items[draft.item].role in FINDINGS), None)
    attached = position >= 0 and (
        items[position + 1].role == "preposition"
        or items[position].role in ("verb", "anatomy")
        or items[position].role in FINDINGS
    )
    if behind is not None and not attached and _in_phrase(items, index, behind.item):
        return behind
    if behind is not None and behind.unnamed and behind.side and _leads_to(items, index, behind.item):
        return behind  # "18 mm on the right, 11 mm on the left"
    front = [draft for draft in drafts if draft.item < index]
    if not front:
        return behind
    last = front[-1]
    if items[last.item].role in FINDINGS or items[last.item].role == "normality":
        return last
    for draft in reversed(front):
        if last.item in draft.explicit and items[draft.item].role in FINDINGS:
            return draft
    return last


def _leads_to(items: Sequence[Item], index: int, side: int) -> bool:
    return all(items[between].role in ("preposition", "determiner") for between in range(index + 1, side))


def _in_phrase(items: Sequence[Item], index: int, head: int) -> bool:
    return all(
        items[between].role in MODIFIERS or items[between].role in ("anatomy", "mask", "number", "unit", "comma")
        for between in range(index + 1, head)
    )


_PAST = frozenset({"was", "were", "against", "formerly", "earlier", "originally", "initially", "once", "former"})
_TENSE = frozenset({"was", "were"})
_COMPARED = ("previous", "prior", "compared", "versus", "up from", "down from")


def _is_past(item: Item, word: str) -> bool:
    """True if the word in front of a size says that it was measured before."""
    return (item.role in ("context", "quantity") and item.value == "history") or (
        word in _PAST or word.startswith(_COMPARED)
    )


def mark_history(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], drafts: Sequence[Draft]
) -> None:
    """Findings behind "history of", "status post" up to the end of the clause are history; so is what for."""
    for index, item in enumerate(items):
        if item.role in ("context", "cue") and item.value == "history" and item.last - item.first > 1:
            for draft in drafts:
                if draft.item > index and not any(starts[index + 1 : draft.item + 1]):
                    inside = items[index + 1 : draft.item]
                    if not any(inner.role == "verb" or stops(inner) or _denies(inner) for inner in inside):
                        draft.history = True
    for index, word in enumerate(words):
        if word not in REPORTED or _EARLIER_STUDY.isdisjoint(" ".join(words[max(index - 3, 0) : index]).split()):
            continue
        for draft in drafts:  # "the old films showed an effusion"
            if draft.item > index and not draft.change and not any(starts[index + 1 : draft.item + 1]):
                draft.history = True
    for before, draft in pairwise(drafts):
        if before.history and not draft.history and items[draft.item].role in FINDINGS:
            between = range(before.item + 1, draft.item)
            ends = any(items[structure].role in ("verb", "cue", "semicolon", "comma") for structure in between)
            if not ends and any(words[structure] == "for" for structure in between):
                draft.history = True  # "previous lumpectomy for cancer"


REPORTED = frozenset(_LISTS["reported"])
_EARLIER_STUDY = frozenset(_LISTS["earlier_study"])
LONG_AGO = frozenset(_LISTS["long_ago"])
_BEFORE_DATE = frozenset(
    {"preposition", "determiner", "side", "anatomy", "position", "quantity", "comma", "context"}
)


def mark_dated(items: Sequence[Item], words: Sequence[str], drafts: Sequence[Draft]) -> None:
    """A finding or operation with a date of its own is history: "appendectomy 2010", "stroke last year"."""
    for draft in drafts:
        if items[draft.item].role not in FINDINGS:
            continue
        index = draft.item + 1
        while index < len(items) and not (dated := _is_dated(items, words, index)):
            if items[index].role not in _BEFORE_DATE:
                break
            index += 1
        draft.history = draft.history or (index < len(items) and dated)


def _is_dated(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a year, "two years ago" or "in childhood" stands at `index`."""
    if words[index] in LONG_AGO or " ".join(words[index : index + 2]) in LONG_AGO:
        return True
    if words[index + 1 : index + 3] in (["year", "ago"], ["month", "ago"]):
        return True
    if items[index].role != "number":
        return False
    if len(words[index]) == 4 and words[index].isdigit() and words[index].startswith(("19", "20")):
        return index + 1 >= len(items) or items[index + 1].role != "unit"
    return False


def _denies(item: Item) -> bool:
    return item.role == "cue" and any(cue.asserts == "absent" for cue in item.cues)


def stops(item: Item) -> bool:
    return item.role == "cue" and any(cue.asserts == "stop" for cue in item.cues)
