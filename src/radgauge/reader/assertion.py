"""Assertion: which findings of a sentence are present, absent or uncertain, by cues and their scope."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.lexicon import ABNORMAL_KINDS
from radgauge.reader.vocabulary import FINDINGS, JOINS, MODIFIERS, Cue, Item
from radgauge.text.tokens import Tokens

_FINITE = frozenset({"verb"})
_HEADS = FINDINGS | {"anatomy", "normality"}
_SUBJECT = frozenset({"anatomy", "determiner", "side", "position"})
_STATED = FINDINGS | {"normality", "severity"}
_EXCEPT = frozenset(shipped_toml(__file__, "word_lists.toml")["except"])
_ENDS = frozenset({"semicolon", "cue", "verb"})
_LEFT_OVER = frozenset({"anatomy", "side", "position", "severity"})
_IN_FRONT = frozenset({"determiner", "side", "position", "quantity"})
_SUBJECT_PARTS = frozenset({"part", "conjunction", "severity"})
_BEHIND_PREDICATE = frozenset({"comma", "semicolon", "mark", "conjunction", "preposition"})
_PHRASE = MODIFIERS | {"determiner", "mask", "number", "unit", "context", "anatomy", "mark", "bracket"}


def clause_starts(items: Sequence[Item], words: Sequence[str]) -> list[bool]:
    """For each item, whether a new clause starts there, after a comma, an "and" or no mark at all.

    A clause is new if it has its own subject and verb ("no effusion, the heart is enlarged"); a list under
    one negation is not ("no effusion, pneumothorax or consolidation is seen").
    """
    starts = [False] * len(items)
    has_verb = says_something = between = False
    for index, item in enumerate(items):
        role = item.role
        if role in ("verb", "normality", "cue") or role in FINDINGS:
            says_something = True
        if role == "semicolon":
            has_verb = says_something = False
            if index + 1 < len(items):
                starts[index + 1] = True
        elif role == "verb" or (role == "cue" and words[index].startswith("there ")):
            has_verb = True
        elif index and items[index - 1].role in FINDINGS and _runs_on(items, words, index):
            starts[index] = True
            has_verb = says_something = False
        elif words[index] == "between":
            between = True
        elif between and words[index] == "and":  # "the planes between the mass and the aorta are lost"
            between = False
        elif role in ("comma", "conjunction") and words[index] not in ("or", "nor"):
            denied = index + 2 < len(items) and _is_denial(items[index + 1])  # ", and no hilar adenopathy is seen"
            subject = _subject_kind(items, words, index + 1 + denied)
            if role == "comma" and words[index + 1 : index + 2] in (["or"], ["nor"]):
                subject = ""  # "no nodules, masses, or areas of atelectasis detected"
            new = bool(subject) and (has_verb or subject == "anatomy")
            if says_something and (new or (role == "comma" and _is_verbless(items, words, index + 1))):
                starts[index] = True
                has_verb = says_something = False
    return starts


def _is_denial(item: Item) -> bool:
    """True if an item denies what follows, and nothing else."""
    return item.role == "cue" and all(cue.asserts == "absent" and cue.direction == "before" for cue in item.cues)


def _is_verbless(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a structure and its predicate stand at `index` without a verb: "no effusion, heart enlarged"."""
    position = index
    while position < len(items) and items[position].role in _IN_FRONT:
        position += 1
    if position >= len(items) or _list_goes_on(items, words, index):
        return False
    if items[position].role in FINDINGS:  # the lexicon has both as one term: "heart size enlarged"
        return " " in words[position] and words[position].endswith("ed") and _ends_phrase(items, position)
    subject = position
    while position < len(items) and (
        (items[position].role == "anatomy" and items[position].form != "adjective")
        or items[position].role in _SUBJECT_PARTS
    ):
        position += 1
    if position == subject or items[subject].role != "anatomy" or position >= len(items):
        return False
    item = items[position]
    stated = item.role in ("normality", "change") or (item.role in FINDINGS and item.form == "adjective")
    return stated and _ends_phrase(items, position)


def _ends_phrase(items: Sequence[Item], index: int) -> bool:
    return index + 1 >= len(items) or items[index + 1].role in _BEHIND_PREDICATE


def _subject_kind(items: Sequence[Item], words: Sequence[str], index: int) -> str:
    """Kind of the noun phrase at `index` if a verb follows it, else ""."""
    kind = ""
    describing = True  # only adjectives so far: "subcarinal, hilar or axillary nodes"
    for position in range(index, min(index + 14, len(items))):
        role = items[position].role
        if role in _HEADS:
            named = role in FINDINGS and items[position].form == "noun" and describing
            kind = "anatomy" if role == "anatomy" else role if named else kind or role
            describing = describing and items[position].form == "adjective"
        elif role == "verb" or (
            role == "cue" and kind and any(cue.direction == "after" for cue in items[position].cues)
        ):
            return kind
        elif (role == "conjunction" and words[position] == "or" and kind not in ("", "anatomy")) or (
            role not in _PHRASE and role not in ("conjunction", "comma", "preposition", "unknown", "other")
        ):
            return ""
    return ""


def assert_items(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool]
) -> tuple[list[str], list[int]]:
    """Status of every item ("present", "absent", "uncertain") and the item that decided it (-1 for none)."""
    status = ["present"] * len(items)
    decided = [-1] * len(items)
    if any(item.role == "cue" for item in items):
        for index, item in enumerate(items):
            if item.role == "cue":
                _apply(items, words, starts, index, status, decided)
        _exceptions(items, words, starts, status, decided)
    _alternatives(items, words, status, decided)
    return status, decided


def _exceptions(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], status: list[str], decided: list[int]
) -> None:
    """Lift a denial that leaves a place or an amount: "no effusion except for a sliver on the left"."""
    for index in range(1, len(items)):
        if words[index] not in _EXCEPT or items[index - 1].role not in FINDINGS or status[index - 1] != "absent":
            continue
        end = next(
            (at for at in range(index + 1, len(items)) if starts[at] or items[at].role in _ENDS), len(items)
        )
        roles = {item.role for item in items[index + 1 : end]}
        if roles.isdisjoint(_HEADS - {"anatomy"}) and not roles.isdisjoint(_LEFT_OVER):
            status[index - 1], decided[index - 1] = "present", -1


def asked_findings(items: list[Item], words: Sequence[str], tokens: Tokens) -> dict[int, int]:
    """Findings with a question mark of their own, and where it stands: "lesion (cyst?), stones".

    The mark then says nothing of what follows. In brackets it asks for all that it stands behind.
    """
    questioned: dict[int, int] = {}
    for mark in range(1, len(items)):
        if words[mark] != "?":
            continue
        opening = mark - 1
        while opening >= 0 and words[opening] not in ("(", ")"):
            opening -= 1
        if opening >= 0 and words[opening] == "(":
            findings = [index for index in range(opening + 1, mark) if items[index].role in FINDINGS]
        elif tokens.starts[items[mark].first] == tokens.ends[items[mark - 1].last - 1]:  # not "?pneumonia"
            finding = mark - 1
            while finding > 0 and items[finding].role in MODIFIERS:  # "pneumonic foci?"
                finding -= 1
            findings = [finding] if items[finding].role in FINDINGS else []
        else:
            continue
        if findings:
            items[mark] = items[mark]._replace(role="mark", cues=())
            questioned = dict.fromkeys(findings, mark) | questioned
    return questioned


def question(items: Sequence[Item], status: list[str]) -> None:
    """A sentence that asks leaves what it names open: "Vegetation?"."""
    for index, item in enumerate(items):
        if item.role in FINDINGS and status[index] == "present":
            status[index] = "uncertain"


def _apply(
    items: Sequence[Item],
    words: Sequence[str],
    starts: Sequence[bool],
    index: int,
    status: list[str],
    decided: list[int],
) -> None:
    reached = False
    for cue in items[index].cues:
        if cue.asserts not in ("absent", "uncertain"):
            continue
        if cue.direction in ("before", "both") and not (len(items[index].cues) > 1 and _ends(items, index)):
            for target in _reach_forward(items, words, starts, index, cue):
                reached |= _mark(status, decided, target, cue.asserts, index)
        if cue.direction == "both" or (cue.direction == "after" and not reached):
            before = _reach_back(items, words, starts, index)
            for target in before[:1] if cue.direction == "both" else before:  # "density, atelectasis versus edema"
                _mark(status, decided, target, cue.asserts, index, back=True)


def _ends(items: Sequence[Item], index: int) -> bool:
    """True if nothing follows in the phrase of the item at `index`: "lymphoma less likely, sarcoidosis"."""
    return index + 1 >= len(items) or items[index + 1].role in ("comma", "semicolon")


def _mark(
    status: list[str], decided: list[int], target: int, asserts: str, index: int, *, back: bool = False
) -> bool:
    """Set the status of one item; a negation is only lifted by a later word that leaves it open."""
    if status[target] == "absent" and asserts == "uncertain" and not back:
        return True
    if status[target] == "uncertain" and asserts == "absent" and back:
        return True
    if status[target] != asserts:
        status[target] = asserts
        decided[target] = index
    return True


def _reach_forward(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], index: int, cue: Cue
) -> list[int]:
    """Findings and words of normality that a cue at `index` reaches to the right."""
    phrase = cue.scope == "phrase"
    targets: list[int] = []
    after_verb = False
    passed = False  # a structure that a phrase is about: "loss of the heart border and effusion"
    for position in range(index + 1, len(items)):
        item = items[position]
        role = item.role
        if starts[position]:
            break
        if role in FINDINGS or role == "normality":
            targets.append(position)
        elif role == "cue":
            kinds = {other.asserts for other in item.cues if other.direction != "after"}
            if "stop" in kinds and position == index + 1 and cue.asserts == "uncertain":
                continue  # "suspected but unproven fracture"
            if "stop" in kinds or "absent" in kinds or (phrase and targets):
                break
            if not targets and _is_predicate(items[index]) and any(other.link for other in item.cues):
                break  # "could not be seen because of atelectasis"
            if (
                cue.asserts == "absent"
                and kinds & {"present", "uncertain"}
                and _concludes(items, words, index, position)
            ):
                break
        elif role == "verb":  # "no consolidation, features of edema or effusion": a noun
            after_verb = bool(targets) and words[position + 1 : position + 2] != ["of"]
        elif role == "anatomy":
            passed = True
        elif role in JOINS:
            if phrase and passed and not targets and cue.asserts == "absent":
                break
            following = items[position + 1] if position + 1 < len(items) else None
            if words[position] in ("or", "nor", "and / or", "/"):
                continue
            if following is None:
                break
            if phrase and targets and not _list_goes_on(items, words, position):
                break
            if after_verb and not (following.role == "conjunction" and words[position + 1] in ("or", "nor")):
                break
            if (
                targets
                and following.role in ("change", "determiner")
                and not _list_goes_on(items, words, position)
            ):
                break
            if targets and words[position] == "and" and following.role == "severity":
                break
        elif (
            role == "semicolon"
            or (role == "colon" and targets)  # "no perforation: uncomplicated appendicitis"
            or (words[position] == "by" and targets and _is_definite(words, position + 1))
        ):
            break  # "suspicious for compression by the mass": the mass is there
        elif role == "other" and words[position] == "with" and targets:
            denied = cue.asserts == "absent" and not after_verb
            if not (denied and _bare_companion(items, position, targets[-1])):
                break
    return targets


def _is_predicate(item: Item) -> bool:
    """True if a cue also denies what stands in front of it: "could not be seen"."""
    return any(cue.asserts == "absent" and cue.direction == "after" for cue in item.cues)


def _runs_on(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a sentence of its own begins without a mark: "no pneumothorax the lungs are hyperinflated"."""
    if items[index].role != "anatomy" and words[index] != "the":
        return False
    verb = index + 1
    while verb < len(items) and items[verb].role in _SUBJECT:
        verb += 1
    if items[verb - 1].role != "anatomy" or verb + 1 >= len(items):
        return False
    return words[verb] in ("is", "are") and items[verb + 1].role in _STATED


def _is_definite(words: Sequence[str], index: int) -> bool:
    return index < len(words) and words[index] in ("the", "this", "these")


def _concludes(items: Sequence[Item], words: Sequence[str], index: int, link: int) -> bool:
    """True if the link at `link` draws a conclusion from what the negation at `index` denies.

    "No lung markings, consistent with pneumothorax" does, "no opacity consistent with pneumonia" does not. Behind
    a comma or a verb, or where something normal is denied, the sign is absent and the disease present.
    """
    between = items[index + 1 : link]
    if words[link - 1] == "to":  # "no defect is seen to suggest embolism": what would be concluded is denied
        return False
    if items[link - 1].role == "comma" and not any(cue.link for cue in items[link].cues):
        return not _list_goes_on(items, words, link)  # "no consolidation, suspicious nodule or effusion"
    if items[link - 1].role == "comma" or any(item.role == "normality" for item in between):
        return True
    stated = False
    for item in between:
        if item.role == "verb" and stated:
            return True
        stated = stated or item.role in _HEADS or item.role == "unknown"
    return False


def _bare_companion(items: Sequence[Item], index: int, finding: int) -> bool:
    """True if the "with" at `index` ties a bare finding to the denied one: "no consolidation with effusion".

    What is described or stands behind a comma is said of its own: "no edema with small bilateral effusions".
    """
    if items[finding].role not in FINDINGS or items[finding].form != "noun" or index + 1 >= len(items):
        return False
    following = items[index + 1]
    between = {item.role for item in items[finding + 1 : index]}
    return following.role in ABNORMAL_KINDS and following.form == "noun" and "comma" not in between


def _list_goes_on(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if the list that continues at `index` still has an "or" before its end."""
    for position in range(index + 1, len(items)):
        role = items[position].role
        if role == "conjunction" and words[position] in ("or", "nor", "and / or"):
            return True
        if role in ("verb", "cue", "semicolon") or (role == "conjunction" and words[position] == "and"):
            return False
    return False


def _reach_back(items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], index: int) -> list[int]:
    """Findings that a cue at `index` reaches to the left: back to the verb, cue or clause before."""
    targets: list[int] = []
    for position in range(index - 1, -1, -1):
        item = items[position]
        role = item.role
        if role in FINDINGS:
            targets.append(position)
        elif role == "cue":
            if not all(cue.asserts in ("present", "nothing") for cue in item.cues):
                break
        elif role == "normality" and not targets and position == index - 1 and " " in words[position]:
            targets.append(position)  # "lung sliding is absent"
            break
        elif role in ("verb", "semicolon", "normality") or (role == "other" and words[position] == "with"):
            if not targets and role == "verb":
                continue
            break
        if starts[position]:
            break
    return targets


def _alternatives(items: Sequence[Item], words: Sequence[str], status: list[str], decided: list[int]) -> None:
    """Findings joined by "or" outside a negation are alternatives: none of them is certain."""
    unchanged = False
    for index, item in enumerate(items):
        unchanged |= item.role == "change" and words[index].startswith(("no ", "without ", "not "))
        if item.role != "conjunction" or words[index] not in ("or", "and / or") or unchanged:
            continue  # "no change in effusion or edema" leaves neither open
        after = _neighbour(items, index, 1)
        before = _neighbour(items, index, -1)
        if after < 0 or before < 0 or "absent" in (status[before], status[after]):
            continue
        if status[before] == "present" or status[after] == "present":
            while before >= 0 and status[before] == "present":
                status[before], decided[before] = "uncertain", index
                comma = before
                while comma > 0 and items[comma].role in MODIFIERS | FINDINGS | {"anatomy"}:
                    comma -= 1
                before = _neighbour(items, comma, -1) if items[comma].role == "comma" else -1
            if status[after] == "present":
                status[after], decided[after] = "uncertain", index


def _neighbour(items: Sequence[Item], index: int, step: int) -> int:
    """The finding next to a conjunction, past the words of its own phrase and place; -1 for none."""
    position = index + step
    while 0 <= position < len(items):
        role = items[position].role
        if role in ABNORMAL_KINDS:
            return position
        if (
            role not in _PHRASE
            and role != "preposition"
            and not (
                role == "cue" and all(cue.asserts in ("uncertain", "present") for cue in items[position].cues)
            )
        ):
            return -1
        position += step
    return -1
