"""Items whose role depends on their neighbours: adjectives, "clear of", denied changes, vertebral levels."""

from __future__ import annotations

from collections.abc import Container, Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.vocabulary import ALWAYS, FINDINGS, JOINS, MODIFIERS, Cue, Item, Vocabulary
from radgauge.text.tokens import Tokens

_LISTS = shipped_toml(__file__, "word_lists.toml")
_ADJECTIVE_ENDINGS: tuple[str, ...] = tuple(_LISTS["adjective_endings"])
_NAMED = FINDINGS | {"anatomy", "preposition"}
_BETWEEN_NOT_AND_CHANGE = frozenset(_LISTS["between_not_and_change"])
NOUNS_OF_CHANGE: tuple[str, ...] = tuple(_LISTS["nouns_of_change"])
"""Nouns whose object has changed, behind "of" or "in"; "remains in" speaks of its subject."""
COMPARING: tuple[str, ...] = tuple(_LISTS["comparatives"])
"""Comparatives that speak of places where a place follows, else of times."""
_ALSO_QUALITIES = frozenset(_LISTS["also_qualities"])


def adjectives_in_front(items: list[Item]) -> None:
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
        elif role == "comma" and following == "finding" and _adjectives_around(items, index):
            continue  # "displaced, acute rib fractures"
        elif role not in MODIFIERS:
            following = ""


def _adjectives_around(items: Sequence[Item], index: int) -> bool:
    """True if the comma at `index` parts adjectives of one phrase, not a predicate from what follows."""
    if index + 1 >= len(items) or items[index + 1].role not in ("quality", "severity"):
        return False
    position = index - 1
    if position < 0 or not (items[position].role in FINDINGS and items[position].form == "adjective"):
        return False
    position -= 1
    while position >= 0 and items[position].role in MODIFIERS:
        position -= 1
    return position < 0 or items[position].role in ("cue", "determiner", "preposition")


def clear_of(items: list[Item], words: Sequence[str]) -> None:
    """A word of normality before "of" denies what follows: "clear of consolidation"; so does "negative"."""
    for index, item in enumerate(items[:-1]):
        if item.value == "negative" and item.role == "normality" and _finding_follows(items, index + 1):
            items[index] = item._replace(role="cue", cues=(Cue("absent", "before", "phrase"),))
        if item.role == "normality" and words[index + 1] == "of" and words[index].endswith(("clear", "free")):
            items[index] = item._replace(role="cue", cues=(Cue("absent", "before", "clause"),))


def _finding_follows(items: Sequence[Item], index: int) -> bool:
    while index < len(items) and (items[index].role in MODIFIERS or items[index].role == "anatomy"):
        index += 1
    return index < len(items) and items[index].role in FINDINGS and items[index].form == "noun"


def places_of_wholes(items: list[Item], vocabulary: Vocabulary) -> None:
    """The adjective of a whole in front of its part adds nothing: "the thoracic esophagus", "abdominal bowel"."""
    for index, item in enumerate(items[:-1]):
        part = items[index + 1]
        if item.role != "anatomy" or item.form != "adjective" or part.role != "anatomy" or part.form != "noun":
            continue
        if item.value in vocabulary.lexicon.ancestors(part.value):
            items[index] = item._replace(role="position", form="noun")


def pathological_nodes(items: list[Item], words: Sequence[str]) -> None:
    """Read lymph nodes of pathological size as enlarged: "no node was seen in the axilla in pathological size"."""
    for index in range(2, len(items)):
        if not words[index].startswith("pathologic") or items[index - 1].role != "preposition":
            continue
        before = range(index - 1, -1, -1)
        node = next((at for at in before if items[at].role in FINDINGS or items[at].value == "lymph_node"), -1)
        if node >= 0 and items[node].role == "anatomy" and items[node].form == "noun":
            items[node] = items[node]._replace(role="abnormality", value="lymphadenopathy")
            items[index] = items[index]._replace(role="quality", value=words[index], form="noun")


_ASPECTS = frozenset(_LISTS["aspects"])


def normal_aspects(items: list[Item], words: Sequence[str]) -> None:
    """Read an aspect that is called normal as no finding: "the density of the liver is normal"."""
    for index, item in enumerate(items):
        if item.role in FINDINGS and words[index] in _ASPECTS and called_normal(items, index + 1):
            items[index] = item._replace(role="part", value=words[index], form="noun")


def called_normal(items: Sequence[Item], index: int) -> bool:
    """True if the predicate behind `index` is normality: "the organs included in the sections are normal"."""
    while index < len(items) and items[index].role in _BEFORE_PREDICATE:
        index += 1
    if index == len(items) or items[index].role != "verb":
        return False
    while index < len(items) and items[index].role in _IN_PREDICATE:
        index += 1
    return index < len(items) and items[index].role == "normality"


_BEFORE_PREDICATE = MODIFIERS | JOINS | {"unknown", "anatomy", "preposition", "determiner", "other"}
_IN_PREDICATE = MODIFIERS | {"verb", "determiner"}

SHORT_OF = frozenset(_LISTS["short_of"])


def fall_short(items: list[Item], words: Sequence[str], vocabulary: Vocabulary) -> None:
    """Read "beyond normal limits", "less than sharp", "not fully compressible" as not normal."""
    for index, item in enumerate(items[:-1]):
        if words[index] not in SHORT_OF:
            continue
        behind = index + 1
        while behind < len(items) - 1 and items[behind].role == "determiner":
            behind += 1
        if items[behind].role == "normality" or _says_normal(words[behind], vocabulary):
            items[index] = item._replace(role="cue", cues=(Cue("absent", "before", "phrase"),))


def _says_normal(word: str, vocabulary: Vocabulary) -> bool:
    return any(concept.startswith(ALWAYS) for _, concept in vocabulary.compositions.get(word, ()))


def deny_changes(items: list[Item], words: Sequence[str]) -> None:
    """A change that is denied behind its finding leaves it as it was: "has not resolved", "is no larger"."""
    for index, item in enumerate(items):
        if item.role != "change" or item.value not in ("increased", "decreased", "resolved"):
            continue
        if item.value == "resolved" and _is_moved(items, words, index):
            items[index] = item._replace(role="quantity")
            continue
        if item.value == "resolved" and (short := _falls_short(words, index)):
            items[index] = item._replace(value="decreased")
            for between in range(index - short, index):  # "all but disappeared": no exception begins here
                items[between] = items[between]._replace(role="quantity", cues=())
            continue
        if names_a_change(words, index):
            _deny_change_of(items, words, index)
            if item.value == "resolved" and _is_incomplete(words, index):
                items[index] = item._replace(value="decreased")
            continue
        if index + 1 < len(items) and (items[index + 1].role in MODIFIERS or items[index + 1].role in _NAMED):
            continue  # "no increased markings" denies the markings
        denial = index - 1
        while denial > 0 and words[denial] in _BETWEEN_NOT_AND_CHANGE:
            denial -= 1
        if denial > 0 and words[denial] in ("not", "no"):
            items[index] = item._replace(value="stable")
            for between in range(denial, index):
                items[between] = items[between]._replace(role="other", cues=())


_ALMOST: tuple[str, ...] = tuple(_LISTS["almost"])
_WHOLLY = frozenset(_LISTS["wholly"])


def _falls_short(words: Sequence[str], index: int) -> int:
    """Number of items in front of a resolution that say it is not whole, "almost completely cleared"; 0: none."""
    first = index - 1 if index > 0 and words[index - 1] in _WHOLLY else index
    for size in (1, 2):
        if " ".join(words[max(first - size, 0) : first]) in _ALMOST:
            return index - first + size
    full = first < index or words[index].startswith(("complete", "total", "full", "entire"))
    return index - first + 1 if full and words[first - 1 : first] == ["not"] else 0


def _is_incomplete(words: Sequence[str], index: int) -> bool:
    """True if a resolution is called incomplete: "resolution of the pneumonia is not yet complete"."""
    behind = [word for phrase in words[index + 1 :] for word in phrase.split()]
    return "incomplete" in behind or "partial" in behind or ("complete" in behind and "not" in behind)


def misplaced_devices(items: list[Item], words: Sequence[str], misplaced: Container[str]) -> None:
    """A word like "coiled" behind a device is a finding of its own: the device is in the wrong place."""
    device = False
    for index, item in enumerate(items):
        if item.role == "device":
            device = True
        elif item.role == "semicolon" or (item.role in FINDINGS and item.form == "noun"):
            device = False
        elif device and words[index] in misplaced:
            items[index] = item._replace(role="abnormality", value="device_malposition", form="noun", cues=())


def names_a_change(words: Sequence[str], index: int) -> bool:
    """True if the words at `index` name a change of what follows: "increase in", "interval resolution of"."""
    if words[index].endswith((" of", " in")):
        return True
    behind = words[index + 1] if index + 1 < len(words) else ""
    return words[index].endswith(NOUNS_OF_CHANGE) and behind in ("of", "in")


def _is_moved(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if something was moved or measured, not taken away: "withdrawn by 2 cm", "gone from 5 to 2 cm"."""
    behind = index + 1
    if behind >= len(items) or not words[index].endswith(("withdrawn", "pulled", "gone", "out")):
        return False
    return items[behind].role in ("number", "severity") or words[behind] in ("by", "from", "to", "back", "into")


def _deny_change_of(items: list[Item], words: Sequence[str], index: int) -> None:
    """ "No further increase in the hematoma", "without significant resolution of": it is there, as it was."""
    denial = index - 1
    while denial >= 0 and items[denial].role in ("quality", "quantity", "severity", "amount"):
        denial -= 1
    if denial < 0 or not any(cue.asserts == "absent" and cue.direction == "before" for cue in items[denial].cues):
        return
    items[index] = items[index]._replace(value="stable")
    for between in range(denial, index):
        items[between] = items[between]._replace(role="other", cues=())


def deny_predicates(items: list[Item], words: Sequence[str]) -> None:
    """Deny the predicate behind "no evidence that", not its subject: "no evidence that it has grown".

    The subject is there; the cue is moved behind the verb.
    """
    for index, item in enumerate(items):
        if item.role != "cue" or not any(cue.scope == "predicate" for cue in item.cues):
            continue
        verb = next((at for at in range(index + 1, len(items)) if items[at].role in ("verb", "change")), -1)
        if verb < 0 or not any(at.role in FINDINGS for at in items[index + 1 : verb]):
            items[index] = item._replace(cues=(Cue("absent", "before", "clause"),))
            continue
        items[index] = item._replace(role="other", cues=())
        if items[verb].role == "change":
            items[verb] = items[verb]._replace(value="stable")
            continue
        items[verb] = items[verb]._replace(role="cue", cues=(Cue("absent", "before", "clause"),))
        behind = verb + 1
        if behind < len(items) and items[behind].role == "change":
            items[behind] = items[behind]._replace(value="stable")
            items[verb] = items[verb]._replace(role="verb", cues=())


def compare_places(items: list[Item], words: Sequence[str]) -> None:
    """A comparison of places is no change: "more prominent in the bases", "worse on the right"."""
    for index, item in enumerate(items):
        if item.role != "change" or not words[index].startswith(COMPARING):
            continue
        position = index + 1
        while position < len(items) and items[position].role in ("preposition", "determiner"):
            position += 1
        if position - index < 2 or position == len(items):
            continue
        role = items[position].role
        there = words[index].startswith(("more ", "less ")) or words[index + 1] in (
            "at",
            "in",
            "within",
            "over",
            "on",
        )
        if role == "side" or (role in ("anatomy", "position") and there):
            items[index] = item._replace(role="quantity")


_BEFORE = ("prior", "previous", "before", "earlier", "last ", "then", "yesterday", "old study")
_EARLIER = frozenset(
    {"ago", "earlier", "previous", "prior", "last", "yesterday", "before", "then", "baseline", "year"}
)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word.startswith(("19", "20"))


def not_seen_before(items: list[Item], words: Sequence[str]) -> None:
    """Read what an earlier study did not show as new: "not seen on the prior exam"."""
    for index, item in enumerate(items):
        if item.role != "cue" or not any(cue == ("absent", "after", "clause", False) for cue in item.cues):
            continue
        position = index + 1
        while position < len(items) and items[position].role in ("preposition", "determiner"):
            position += 1
        across = any(items[at].role == "preposition" for at in range(index + 1, position))
        earlier = any(word in _EARLIER or _is_year(word) for word in words[position : position + 5])
        if (across and earlier) or (position < len(items) and words[position].startswith(_BEFORE)):
            items[index] = item._replace(role="change", value="new", cues=())


def set_aside_preamble(items: list[Item], words: Sequence[str]) -> None:
    """Talk of how the images are read names no place: "when both lungs are examined in the lung window: ..."."""
    if words[0] not in _PREAMBLE_OPENS:
        return
    end = next((at for at in range(min(len(items), _LONGEST_PREAMBLE)) if items[at].role in _PREAMBLE_ENDS), 0)
    stated = {item.role for item in items[:end]}
    if _PREAMBLE.isdisjoint(words[:end]) or not stated.isdisjoint(FINDINGS) or "normality" in stated:
        return
    for index in range(end):
        if items[index].role in ("anatomy", "side", "part", "position"):
            items[index] = items[index]._replace(role="other", cues=())


_PREAMBLE = frozenset(_LISTS["preamble"])
_PREAMBLE_OPENS = frozenset({"when", "in", "on", "at"})
_PREAMBLE_ENDS = frozenset({"colon", "semicolon"})
_LONGEST_PREAMBLE = 16  # items

_CONCEPTS: dict[str, tuple[str, int]] = {
    letter: (level["concept"], level["highest"]) for letter, level in _LISTS["vertebral_levels"].items()
}
_SEQUENCES = frozenset(_LISTS["mri_sequences"])


def join_levels(items: list[Item], tokens: Tokens) -> list[Item]:
    """Join letter and number of vertebral levels, and the second level of a range, into one item."""
    joined: list[Item] = []
    index = 0
    while index < len(items):
        end = _level(items, tokens, index)
        if not end:
            joined.append(items[index])
            index += 1
            continue
        concept = _CONCEPTS[tokens.texts[items[index].first].upper()][0]
        following = end
        if following < len(items) and items[following].role in ("slash", "mark"):
            following += 1
        if following < len(items):
            if more := _level(items, tokens, following):
                end = more
            elif (
                items[following].role == "number"
                and tokens.starts[items[following].first] <= tokens.ends[items[end - 1].last - 1] + 1
            ):
                end = following + 1
        if end < len(items) and tokens.norms[items[end].first] in ("root", "nerve"):  # "the right S1 root"
            concept = "spinal_nerve_root"
            end += 1
            if end < len(items) and tokens.norms[items[end].first] == "root":
                end += 1
        joined.append(Item(items[index].first, items[end - 1].last, "anatomy", concept, "noun", ()))
        index = end
    return joined


def _level(items: Sequence[Item], tokens: Tokens, index: int) -> int:
    """Index behind the level that starts at `index`, 0 if none does."""
    if index + 1 >= len(items) or items[index + 1].role != "number" or items[index].last - items[index].first > 1:
        return 0
    first, second = items[index].first, items[index + 1].first
    letter, number = tokens.texts[first].upper(), tokens.texts[second]
    if letter not in _CONCEPTS or tokens.starts[second] != tokens.ends[first] or not number.isdigit():
        return 0
    if not 1 <= int(number[:3]) <= _CONCEPTS[letter][1]:
        return 0
    if letter == "T" and index + 2 < len(items) and tokens.norms[items[index + 2].first] in _SEQUENCES:
        return 0
    return index + 2
