"""What is said about a mention: describing words, change, sizes, history."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.report_reader.drafts import Draft
from radgauge.report_reader.vocabulary import FINDINGS, MODIFIERS, Item

_UNIT_MM = {"mm": 1.0, "cm": 10.0}


def describe(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], drafts: Sequence[Draft]
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


def _set_change(items: Sequence[Item], drafts: Sequence[Draft], position: int, value: str) -> None:
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


def measure(items: Sequence[Item], drafts: Sequence[Draft]) -> None:
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


def mark_history(items: Sequence[Item], starts: Sequence[bool], drafts: Sequence[Draft]) -> None:
    """Findings behind "history of", "status post" up to the end of the clause are history."""
    for index, item in enumerate(items):
        if item.role == "context" and item.value == "history" and item.last - item.first > 1:
            for draft in drafts:
                if draft.item > index and not any(starts[index + 1 : draft.item + 1]):
                    between = items[index + 1 : draft.item]
                    if not any(each.role == "verb" or stops(each) for each in between):
                        draft.history = True


def stops(item: Item) -> bool:
    return item.role == "cue" and any(cue.asserts == "stop" for cue in item.cues)
