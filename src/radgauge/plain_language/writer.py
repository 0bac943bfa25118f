"""The embedded plain-language writer: a report in words a patient knows, offline and without a model.

A sentence that the report reader understood to the last word is written anew, one short sentence for each thing it
says. In any other sentence the terms are replaced where they stand, so that what was not understood is not lost.
Negation, side, severity, certainty, change and numbers are kept in both ways.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from radgauge.parsing import shipped_toml
from radgauge.plain_language.lay_reader import plain_term
from radgauge.plain_language.phrases import (
    degree,
    in_plain_words,
    is_amount,
    is_masked,
    place_of,
    plural,
    size_of,
    with_article,
)
from radgauge.plain_language.rules import lay_rules
from radgauge.report_reader import Lexicon, Mention, Modifier, ReportReading, load_lexicon, read_report
from radgauge.report_reader.lexicon import FINDING_KINDS, Concept
from radgauge.report_reader.reading import Relation
from radgauge.text.grammar import is_plural
from radgauge.text.tokens import phrase_key

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+(?:\.\d+)?")
_ALTERNATIVE = re.compile(r"\b(?:versus|vs|or)\b", re.IGNORECASE)
_UNITS = frozenset(shipped_toml(__file__, "rules.toml")["lists"]["units"])


def plain_language(text: str) -> str:
    """A report in plain language.

    >>> plain_language("Small left pleural effusion. No pneumothorax.")
    'There is a small amount of fluid around the lung on the left. There is no air leak around the lung.'
    """
    reading = read_report(text)
    mentions: list[list[int]] = [[] for _ in reading.sentences]
    for index, mention in enumerate(reading.mentions):
        if mention.form != "implied":
            mentions[mention.sentence].append(index)
    modifiers: list[list[Modifier]] = [[] for _ in reading.sentences]
    starts = [start for start, _, _ in reading.sentences]
    for each in reading.modifiers:
        number = bisect_right(starts, each.start) - 1
        if number >= 0 and each.start < reading.sentences[number].end:
            modifiers[number].append(each)
    relations: dict[int, list[Relation]] = {}
    for relation in reading.relations:
        for end in {relation.source, relation.target}:
            relations.setdefault(end, []).append(relation)
    written = (
        _sentence(reading, number, mentions[number], modifiers[number], relations)
        for number in range(len(reading.sentences))
    )
    return " ".join(filter(None, written))


def _sentence(
    reading: ReportReading,
    number: int,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    relations: Mapping[int, Sequence[Relation]],
) -> str:
    start, end, _ = reading.sentences[number]
    if not reading.text[start:end].strip():
        return ""
    written = _anew(reading, mine, modifiers, (start, end), relations) if mine else None
    return written if written is not None else _in_place(reading, mine, modifiers, (start, end))


def _anew(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    relations: Mapping[int, Sequence[Relation]],
) -> str | None:
    """The sentence as short ones, or None if something in it was not understood; `relations` are by mention."""
    if not _is_understood(reading, mine, modifiers, span):
        return None
    lexicon = load_lexicon()
    mentions = reading.mentions
    used: set[int] = set()
    written: list[str] = []
    for index in mine:
        mention = mentions[index]
        if mention.attributes.context != "current" or mention.kind == "open":
            return None
        related = relations.get(index, ())
        targets = [each.target for each in related if each.source == index and each.type == "located_at"]
        described = [each for each in modifiers if each.mention == index]
        if mention.kind in FINDING_KINDS:
            parts = [each for each in modifiers if each.mention in targets]
            sizes = [reading.text[each.start : each.end].lower() for each in described if each.role == "severity"]
            suggested = any(each.target == index and each.type == "suggestive_of" for each in related)
            suggested = suggested and not _ALTERNATIVE.search(mention.attributes.cue)
            sentence = _finding(mention, described, parts, lexicon, sizes=sizes, suggested=suggested)
        elif mention.kind == "normality":
            sentence = _normality(mention, [mentions[target] for target in targets], described, lexicon)
        else:
            continue
        if sentence is None:
            return None
        used.update(targets)
        written.append(sentence)
    places = {index for index in mine if mentions[index].kind == "anatomy"}
    return " ".join(dict.fromkeys(written)) if written and places <= used else None


def _is_understood(
    reading: ReportReading, mine: Sequence[int], modifiers: Sequence[Modifier], span: tuple[int, int]
) -> bool:
    """Whether every word belongs to a mention, a describing word, a cue, or is known to add nothing."""
    if is_masked(reading.text[span[0] : span[1]]):
        return False
    if any(each.mention < 0 and each.role not in ("quantity", "amount") for each in modifiers):
        return False
    spans = [(reading.mentions[index].start, reading.mentions[index].end) for index in mine]
    spans += [(each.start, each.end) for each in modifiers]
    cues = {word for index in mine for word in reading.mentions[index].attributes.cue.lower().split()}
    sizes = any(reading.mentions[index].attributes.sizes_mm for index in mine)
    for word in _WORD.finditer(reading.text, *span):
        if any(start <= word.start() < end for start, end in spans):
            continue
        said = word[0].lower()
        measured = sizes and (said in _UNITS or said[0].isdigit())
        if not (said in cues or said in lay_rules().understood or measured):
            return False
    return True


def _finding(
    mention: Mention,
    described: Sequence[Modifier],
    parts: Sequence[Modifier],
    lexicon: Lexicon,
    *,
    sizes: Sequence[str],
    suggested: bool,
) -> str | None:
    """One finding as a sentence; None if it has no plain name or is described in a way we cannot carry over."""
    rules, said = lay_rules(), mention.attributes
    concept = lexicon.concepts.get(mention.concept)
    term = plain_term(concept).partition(" (")[0] if concept is not None else ""
    if concept is None or not term:
        return None
    words = [*_within(mention, concept, term), *_adjectives(described)]
    term = plural(term) if _is_many(mention) and said.laterality != "bilateral" else term
    phrase = " ".join([*(word for word in dict.fromkeys(words) if not _is_named(word, term)), term])
    phrase = degree(phrase, said.severity, size=next((w for w in sizes if w), ""))
    where = [
        in_plain_words(each.value, "position", rules)
        for each in (*described, *parts)
        if each.role == "position" and each.value not in mention.text.lower()
    ]
    place = place_of(said, concept.location, lexicon, term=term, parts=where) + size_of(said)
    if where and not said.locations:
        return None
    if said.change == "resolved":
        return f"The {phrase} {'are' if is_plural(phrase) else 'is'} no longer seen{place}."
    if mention.assertion == "absent":
        return f"There {'are' if is_plural(phrase) else 'is'} no {_bare(phrase)}{place}."
    change = said.change
    if change == "new" and "new" not in phrase.split():
        phrase = f"new {phrase}"
        change = ""
    tail = f", {rules.change[change]}" if change and change != "new" else ""
    if suggested:
        verb = "may be" if mention.assertion == "uncertain" else "fits with"
        return f"This {verb} {with_article(phrase)}{place}{tail}."
    if mention.assertion == "uncertain":
        return f"There may be {with_article(phrase)}{place}{tail}."
    return f"There {'are' if is_plural(phrase) else 'is'} {with_article(phrase)}{place}{tail}."


def _is_many(mention: Mention) -> bool:
    """Whether a mention names several things; "changes" and "volumes" are one in plain English."""
    last = mention.text.lower().rpartition(" ")[2]
    return is_plural(last) and last not in ("changes", "volumes", "markings")


@lru_cache(maxsize=4096)
def _names(concept: Concept) -> frozenset[tuple[str, ...]]:
    return frozenset(phrase_key(term) for term in (*concept.terms, *concept.abbreviations))


def _bare(phrase: str) -> str:
    return phrase.removeprefix("a ").removeprefix("an ")


def _is_named(word: str, term: str) -> bool:
    """Whether a plain name tells a describing word already: "patchy" of a patch, "hardened" of calcium."""
    stems = [each.rstrip("s") for each in term.split()]
    return (
        word in stems
        or word.removesuffix("y") in stems
        or (word == "hardened" and {"calcium", "hard"} & {*stems} != set())
    )


def _within(mention: Mention, concept: Concept, term: str) -> Iterable[str]:
    """Plain words for what the report's name of the finding says beyond the plain one: "acute infarct"."""
    for word in mention.text.lower().replace("-", "").split():
        plain = lay_rules().quality.get(word, "")
        if plain and word not in concept.name.lower().split():
            yield plain


def _adjectives(described: Iterable[Modifier]) -> Iterable[str]:
    """Describing words in plain English, in their order, those without meaning to a patient left out."""
    for each in described:
        if each.role in ("quality", "quantity"):
            word = in_plain_words(each.value, each.role, lay_rules())
            if word:
                yield word


def _normality(
    mention: Mention, places: Sequence[Mention], described: Sequence[Modifier], lexicon: Lexicon
) -> str | None:
    """A statement of normality as a sentence."""
    rules, said = lay_rules(), mention.attributes
    if mention.assertion != "present" or not places or mention.concept not in rules.normal:
        return None
    if any(each.role not in ("quantity", "side") for each in described):
        return None
    names = []
    for place in places:
        concept = lexicon.concepts.get(place.concept)
        term = plain_term(concept).partition(" (")[0] if concept is not None else ""
        if not term:
            return None
        if (
            is_plural(place.text.rpartition(" ")[2])
            and "contour" not in place.text
            and "silhouette" not in place.text
        ):
            term = plural(term)
        side = place.attributes.laterality
        if side in ("left", "right") and side not in term:
            term = f"{side} {term}"
        names.append(f"both {term}" if side == "bilateral" else f"the {term}")
    names = list(dict.fromkeys(names))
    several = len(names) > 1 or is_plural(names[0].removeprefix("the ").removeprefix("both "))
    subject = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    sized = any("size" in place.text.lower() for place in places) and mention.concept != "clear"
    if sized or "size" in mention.text:
        ending = f"{'are' if several else 'is'} normal in size"
    else:
        ending = rules.normal[mention.concept].format(
            look="look" if several else "looks", be="are" if several else "is"
        )
    tail = f", {rules.change[said.change]}" if said.change in ("stable",) else ""
    return f"{subject[0].upper()}{subject[1:]} {ending}{tail}."


def _in_place(
    reading: ReportReading, mine: Sequence[int], modifiers: Sequence[Modifier], span: tuple[int, int]
) -> str:
    """The sentence with every term that has plain words replaced."""
    lexicon, text = load_lexicon(), reading.text
    swaps: list[tuple[int, int, str]] = []
    for index in mine:
        mention = reading.mentions[index]
        concept = lexicon.concepts.get(mention.concept)
        term = plain_term(concept).partition(" (")[0] if concept is not None else ""
        if concept is None or not term or mention.kind == "normality" or mention.form != "noun":
            continue
        # "The heart ... is large": the word alone is no name of the finding
        gas = is_amount(mention.text) and not is_amount(term)  # "bowel gas" is not the bowel
        if phrase_key(mention.text) in _names(concept) and not gas:
            many = _is_many(mention) and not _OUTLINE.search(mention.text)
            single = (
                not many and not term.split(" of ")[0].endswith("s") and "," not in text[span[0] : mention.start]
            )
            alone = mention.kind == "anatomy" and " and " not in text[span[0] : mention.start]
            verb = " is" if single and alone and text.startswith(" are ", mention.end) else ""
            end = mention.end + len(" are") if verb else mention.end
            swaps.append((mention.start, end, (plural(term) if many else term) + verb))
    for each in modifiers:
        if each.role in ("quality", "quantity", "position"):
            word = in_plain_words(each.value, each.role, lay_rules())
            if each.value == "lateral" and _VIEW.match(text, each.end):
                word = "side"
            if word and word != each.value:
                swaps.append((each.start, each.end, word))
    written, at = [], span[0]
    for start, end, word in sorted(swaps, key=lambda swap: (swap[0], -swap[1])):
        if start < at:
            continue
        written += [_words(text[at:start]), word]
        at = end
    written.append(_words(text[at : span[1]]))
    sentence = re.sub(r"\s+", " ", "".join(written)).strip()
    sentence = re.sub(r"\b([a-z]+) \1\b", r"\1", sentence).replace("There are too ", "There is too ")
    sentence = re.sub(r"^(The )?[Ss]een ", r"\1", sentence)
    return sentence[:1].upper() + sentence[1:]


_OUTLINE = re.compile(r"contour|silhouette|structure|border", re.IGNORECASE)
_VIEW = re.compile(r"\s*(?:chest |radiographic )?(?:view|radiograph|projection|film|image|x-ray)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    words = sorted((*lay_rules().words, *lay_rules().abbreviations), key=len, reverse=True)
    return re.compile(r"(?<![\w/])(?:" + "|".join(map(re.escape, words)) + r")(?![\w/])", re.IGNORECASE)


def _words(text: str) -> str:
    def swap(found: re.Match[str]) -> str:
        rules, said = lay_rules(), found[0]
        known = rules.abbreviations.get(said) or rules.words.get(said)
        return known if known is not None else rules.words.get(said.lower(), said)

    return _pattern().sub(swap, text)
