"""A report for its patient, sentence by sentence: the interface between the writer and whoever prints its text.

Every sentence of the report comes back once, in order, with where it stands in the report, what the patient reads,
the plain meaning of its terms, and whether the writer dared to write it anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from radgauge.core.clean import CleanText, clean
from radgauge.core.parsing import shipped_toml
from radgauge.lay.check.compare import check_lay
from radgauge.lay.check.reading import Fact, read_everyday
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.language_words import Words, glosses_in, languages, words_of
from radgauge.lay.lay_reader import plain_term
from radgauge.lay.plan import plan_sentence
from radgauge.lay.statement import NoPlan, mentions_in, places_by_mention
from radgauge.lay.wording import say
from radgauge.reader import Mention, ReportReading, load_lexicon, read_report
from radgauge.reader.lexicon import FINDING_KINDS
from radgauge.text import grammar

# Sentences that are no findings, said as a whole: how a picture was taken, what is advised, what was removed.

# Whole sentences about tubes, lines and pacemakers: which device, on which side, where its tip lies.
#
# A sentence is only said anew if all of it follows the pattern; anything further (a bend, a break, advice) keeps
# it.

_SIDE = r"(?:(?P<side>left|right)(?:[- ]sided?)? )?"
_SEEN = (
    r"(?: (?:is|are|was|were|has been|remains?))?(?: (?:again|now|also))?"
    r"(?: (?:noted|seen|identified|present|visuali[sz]ed|demonstrated|in place|in situ))?(?: again)?"
)
_SAME = (
    r"(?: (?:is |are |remains? )?(?:in )?"
    r"(?P<same>(?:stable|unchanged|unchanged in|stable in) position|unchanged|stable))?"
)
_TIP = (
    r"(?:,? (?:with )?(?:its |the )?(?:distal )?tips?(?: is| are| lies?| ends?)?(?: seen| located| noted)?"
    r"|,? (?:terminat(?:es|ing)|end(?:s|ing)))?"
)
_AT = (
    r"(?P<at>in|at|within|over|overlying|overlies|overlie|projecting over|projects over|projecting at|near|"
    r"in (?:the )?(?:expected )?region of|above) (?:the )?"
)
_NEAR = ("near", "in region of", "in the region of", "in the expected region of", "in expected region of")


def say_device(sentence: str, words: Mapping[str, Any]) -> str:
    """What a patient reads of a sentence about a device; "" if it is none or says more.

    >>> from radgauge.lay.language_words import words_of
    >>> say_device("The right PICC tip is in the upper SVC", words_of("en"))  # doctest: +NORMALIZE_WHITESPACE
    'There is a thin tube in a vein of your arm (PICC line) on the right. Its tip lies in the upper part of the
    large vein above your heart.'
    """
    table = words.get("device_sentences")
    if table is None:
        return ""
    known, pattern = _known(), _pattern()
    found = pattern.fullmatch(sentence.strip())
    if found is None:
        return ""
    name = next((n for n, p in known["device"].items() if re.fullmatch(p, found["device"], re.IGNORECASE)), "")
    if not name or name not in table["device"] or bool(found["where"]) != bool(found["at"]):
        return ""
    one, its = table["device"][name]
    side = words["sentence"]["sides"][(found["side"] or "").lower()]
    said = [grammar.capital(table["there"].format(device=one + side))]
    if found["where"]:
        told = _where(found, known, table)
        if not told:
            return ""
        said.append(grammar.capital(table["tip"].format(its=its, where=told)))
    if found["same"] or found["first"]:
        said.append(table["same"])
    return " ".join(said)


def _where(found: re.Match[str], known: Any, table: Any) -> str:
    place = next((n for n, p in known["place"].items() if re.fullmatch(p, found["where"], re.IGNORECASE)), "")
    at = (found["at"] or "").lower()
    if not place or place not in table["place"]:
        return ""
    if found["distance"] or at == "above":
        if not found["distance"] or at != "above":
            return ""
        distance = (table["about"] if found["about"] else "") + found["distance"].lower()
        return str(table["above"]).format(distance=distance, place=table["place"][place])
    how = "over" if "over" in at or "project" in at else "near" if at in _NEAR else "at" if at == "at" else "in"
    part = next((n for n, p in known["part"].items() if re.fullmatch(p, found["part"] or "", re.IGNORECASE)), "")
    if found["part"] and (not part or place not in table.get("parts_of", (place,))):
        return ""
    named = table["part"][part].format(place=table["place"][place]) if part else table["place"][place]
    return str(table[how]).format(place=named)


@lru_cache(maxsize=1)
def _known() -> Any:
    return shipped_toml(__file__, "professional.toml")["devices"]


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    known = _known()
    device, place, part = ("|".join(known[name].values()) for name in ("device", "place", "part"))
    return re.compile(
        r"(?:there (?:is|are) )?(?:an? |the )?(?:(?P<first>stable|unchanged)(?: position of(?: the| an?)?)? )?"
        rf"{_SIDE}"
        rf"(?P<device>{device}){_SEEN}{_SAME}{_TIP}"
        rf"(?: (?:(?P<about>approximately |about )?(?P<distance>\d+(?:\.\d+)? (?:cm|mm)) )?{_AT}"
        rf"(?:(?P<part>{part}) )?(?P<where>{place}))?",
        re.IGNORECASE,
    )


_WHOLE = (
    "views",
    "correlate",
    "heart_upper",
    "heart_borderline",
    "old_infection",
    "negative",
    "rotated",
    "heading",
)


def say_whole(sentence: str, words: Words) -> str:
    """A sentence that is no finding (how the picture was taken, what is advised); "" if it is none of these."""
    text, table = sentence.strip().rstrip("."), words["sentence"]
    patterns = shipped_toml(__file__, "professional.toml")["sentence"]
    for name in _WHOLE:
        if name in table and re.fullmatch(patterns[name], text, re.IGNORECASE):
            return str(table[name])
    device = say_device(text, words)
    if device:
        return device
    gone = re.fullmatch(patterns["removed"], text, re.IGNORECASE)
    if gone is not None and "removed" in table:
        device = next(
            (n for n, p in patterns["devices"].items() if re.fullmatch(p, gone["device"], re.IGNORECASE)), ""
        )
        if device in table["devices"]:
            name = table["devices"][device] + table["sides"][(gone["side"] or "").lower()]
            return grammar.capital(str(table["removed"]).format(device=name))
    followed = re.fullmatch(patterns["follow"], text, re.IGNORECASE) if "follow" in table else None
    if followed is not None and any(followed[name] for name in ("verb", "state", "late", "last")):
        return _follow(followed, table)
    found = re.fullmatch(patterns["advise"], text, re.IGNORECASE) if "advise" in table else None
    if found is None or not (found["verb"] or found["state"]):
        return ""
    state = (found["state"] or "").lower()
    how = "helpful" if "help" in state or "useful" in state or "benefit" in state else "advise"
    how = "consider" if (found["verb"] or "").lower() == "consider" or "consider" in state else how
    name = found["what"].lower()
    again = (found["again"] or "").lower()
    what = table["what"]["xray" if name.startswith(("x", "radio")) else name][
        2 if again[:1] == "f" else 1 if again else 0
    ]
    what += table["of_chest"] if re.search(r"\b(?:chest|thorax|thoracic)\b", text, re.IGNORECASE) else ""
    dye = re.search(r"(non-?|without )?(?:iv |intravenous )?contrast", text, re.IGNORECASE)
    what += table["contrast"][1 if dye[1] else 0] if dye is not None else ""
    when = ""
    if found["when"]:
        span = table["to"].join(filter(None, (found["from"], found["upto"])))
        when = table["when"].format(span=span, unit=table["units"][found["unit"].lower()])
    why = found["why"] or ""
    because = table["why"]["resolve" if "resol" in why or "clear" in why else "evaluate"] if why else ""
    because += table["if"] if found["if"] else ""
    return grammar.capital(str(table[how]).format(what=what, when=when, why=because))


def _follow(found: re.Match[str], table: Mapping[str, Any]) -> str:
    """ "Follow-up to resolution is recommended."""
    pictured = found["picture"] or re.search(r"radiograph|x-?ray|film|imaging", found["what"] or "", re.IGNORECASE)
    what = table["follow"]["picture" if pictured else "check"]
    state = " ".join(filter(None, (found["state"], found["late"]))).lower()
    how = "consider" if "consider" in state else "advise"
    behind = table["follow"]["treated"] if found["treated"] else ""
    if found["when"]:
        span = table["to"].join(filter(None, (found["from"], found["upto"])))
        behind += table["when"].format(span=span, unit=table["units"][found["unit"].lower()])
    why = table["why"]["resolve"] if found["why"] else ""
    return grammar.capital(str(table[how]).format(what=what, when=behind, why=why))


__all__ = [
    "Gloss",
    "PlainSentence",
    "arrange",
    "is_about_chest",
    "languages",
    "mixed_text",
    "plain_text",
    "unexplained",
    "write_plain",
]

_MASK = re.compile(r"[Xx]{3,}(?:-[Xx]{3,})*|_{2,}")


class Gloss(NamedTuple):
    """A term of the report and what it means."""

    start: int  # Where the term begins in the report
    end: int  # Where it ends
    term: str  # The term as the report has it
    plain: str  # What it means, in plain words
    concept: str = ""  # Id of the concept in the lexicon, for pictures of where it is; "" if it has none


class PlainSentence(NamedTuple):
    """One sentence of a report and what its patient reads."""

    start: int  # Where the sentence begins in the report
    end: int  # Where it ends
    source: str  # The sentence as the report has it
    plain: str  # What the patient reads; the professional sentence with glosses if it is kept
    glosses: tuple[Gloss, ...] = ()  # Terms of the sentence in plain words, in text order
    # True if the professional sentence stands because it could not be written anew safely; the page then
    # names it under "ask your doctor about"
    kept: bool = False
    reasons: tuple[str, ...] = ()  # Why it is kept, in words for the radiologist; empty if it was written anew
    ask: str = ""  # The sentence that tells the patient to ask; "" unless kept

    @property
    def quoted(self) -> str:
        """The sentence as the report has it, with a mark where a word is missing."""
        return _MASK.sub("[...]", self.source)


def write_plain(text: str, *, language: str = "en") -> tuple[PlainSentence, ...]:
    """Each sentence of a report in plain language.

    A sentence is written anew if all of it was understood, the language has words for it, and the independent
    check reads the new sentence as it reads the old one. Any other stays as it is, with its terms explained.

    Args:
        text: The report, in English.
        language: Language of the plain text, one of `languages()`.

    >>> [first] = write_plain("No pneumothorax.")
    >>> first.plain, first.kept
    ('There is no air leak around your lungs.', False)
    """
    words = words_of(language)
    cleaned = clean(text)
    text = cleaned.text
    reading = read_report(text)
    places = places_by_mention(reading)
    written = []
    for number, (start, end, _) in enumerate(reading.sentences):
        source = " ".join(text[start:end].split())
        if not any(char.isalpha() for char in source):
            continue
        whole = say_whole(source, words)
        if whole:
            written.append(PlainSentence(start, end, source, whole))
            continue
        try:
            statements = plan_sentence(reading, number, places)
            _read_back(source, say(statements, words_of("en")))
            plain = say(statements, words)
        except NoPlan as reason:
            written.append(_kept(reading, number, source, words, str(reason)))
        else:
            written.append(PlainSentence(start, end, source, plain))
    return tuple(_in_original(sentence, cleaned) for sentence in written) if cleaned.starts else tuple(written)


def _in_original(sentence: PlainSentence, cleaned: CleanText) -> PlainSentence:
    """The sentence with the spans of the report as it was before it was cleaned."""
    start, end = cleaned.original(sentence.start, sentence.end)
    glosses = []
    for gloss in sentence.glosses:
        first, last = cleaned.original(gloss.start, gloss.end)
        glosses.append(gloss._replace(start=first, end=last))
    return sentence._replace(start=start, end=end, glosses=tuple(glosses))


def _read_back(source: str, plain: str) -> None:
    """The independent check of one sentence; what it finds otherwise or cannot read keeps the sentence."""
    checked = check_lay(source, plain, strict=True)
    for each in checked.differences:
        raise NoPlan(f"the check reads it otherwise: {each.what}: {each.professional!r} and {each.lay!r}")
    for each in checked.unread:
        raise NoPlan(f"the check cannot read it: {each.professional!r}")
    if not checked.kept:
        raise NoPlan("the check finds nothing to compare")


def _kept(reading: ReportReading, number: int, source: str, words: Words, reason: str) -> PlainSentence:
    start, end, _ = reading.sentences[number]
    frames = words["frames"]
    shown = _MASK.sub(frames["missing"], source)
    glosses = _explained(reading, number, words)
    said = frames["kept"].format(source=shown)
    if glosses:
        told = "; ".join(frames["one_gloss"].format(term=_as_term(g.term), plain=g.plain) for g in glosses)
        said += frames["gloss"].format(glosses=told)
    return PlainSentence(start, end, source, said, glosses, True, (reason,), frames["ask"])


def _explained(reading: ReportReading, number: int, words: Words) -> tuple[Gloss, ...]:
    """The terms of a sentence with their meaning in its part of the body.

    In the chest the reviewed glosses come first; elsewhere the reader's findings do, since it knows their organ.
    """
    start, end, _ = reading.sentences[number]
    mentions = [reading.mentions[index] for index in mentions_in(reading, number)]
    chest = _is_chest(reading, mentions)
    named = [
        Gloss(m.start, m.end, m.text, plain, m.concept)
        for m in mentions
        if m.form != "implied" and (plain := _plain_name(m, words)) and plain.lower() != m.text.lower()
    ]
    listed = []
    for at, stop, plain in glosses_in(reading.text[start:end], words, chest=chest):
        first, last = start + at, start + stop
        concept = next((m.concept for m in mentions if m.start <= first < m.end and m.form != "implied"), "")
        listed.append(Gloss(first, last, reading.text[first:last], plain, concept))
    chosen: list[Gloss] = []
    for gloss in (*listed, *named) if chest else (*named, *listed):
        if not any(gloss.start < other.end and other.start < gloss.end for other in chosen):
            chosen.append(gloss)
    return tuple(sorted(chosen))


_CHEST_REGIONS = frozenset({"chest", "cardiac", "spine", "vascular", "breast"})
_ANY_REGION = frozenset({"any", "general"})


def _is_chest(reading: ReportReading, mentions: Sequence[Mention]) -> bool:
    """Whether a sentence speaks of the chest; one that names no part goes with most of its report."""
    for group in (mentions, reading.mentions):
        named = [regions for mention in group if (regions := _regions(mention)) - _ANY_REGION]
        if named:
            return 2 * sum(bool(regions & _CHEST_REGIONS) for regions in named) >= len(named)
    return True


def is_about_chest(text: str) -> bool:
    """Whether most of what a report names is of the chest, the only region whose words were reviewed.

    >>> is_about_chest("Small left pleural effusion."), is_about_chest("Gallstones. The liver is fatty.")
    (True, False)
    """
    reading = read_report(text)
    named = [regions for mention in reading.mentions if (regions := _regions(mention)) - _ANY_REGION]
    own = sum(bool(regions & {"chest", "cardiac"}) for regions in named)
    return not named or (3 * own >= len(named) and _is_chest(reading, ()))


def _regions(mention: Mention) -> frozenset[str]:
    concepts = load_lexicon().concepts
    places = [place for place in mention.attributes.locations if place in concepts]
    named = places[0] if places else mention.concept
    known = named in concepts and mention.form != "implied"
    return frozenset(concepts[named].regions) if known else frozenset()


def _plain_name(mention: Mention, words: Words) -> str:
    """The lexicon's plain name of a finding, in English; other languages have their list alone."""
    concepts = load_lexicon().concepts
    if mention.kind not in FINDING_KINDS or mention.concept not in concepts or not words.get("gloss_by_concept"):
        return ""
    return plain_term(concepts[mention.concept])


def unexplained(text: str, sentences: Sequence[PlainSentence]) -> int:
    """Number of abnormal findings of a report that no plain sentence says and no gloss explains."""
    reading = read_report(text)
    kept = [each for each in sentences if each.kept]
    return sum(
        any(each.start <= mention.start < each.end for each in kept)
        and not any(g.start < mention.end and mention.start < g.end for each in kept for g in each.glosses)
        for mention in reading.mentions
        if (mention.kind in FINDING_KINDS or mention.kind == "open")
        and mention.assertion != "absent"
        and mention.form != "implied"
        and not _MASK.search(mention.text)
    )


def _as_term(term: str) -> str:
    """A term in small letters, abbreviations as the report has them."""
    return term if term.isupper() and len(term) > 1 else term.lower()


class Arranged(NamedTuple):
    """What a patient reads: what is said in plain words, each thing once, and what to ask the doctor about."""

    said: tuple[PlainSentence, ...]
    asked: tuple[PlainSentence, ...]


def arrange(sentences: Sequence[PlainSentence]) -> Arranged:
    """Say findings and impression once, and gather what was kept.

    A plain sentence that refers to one that was kept ("This may be ...", "Otherwise, ...") goes with it.

    >>> [len(part) for part in arrange(write_plain("No pneumothorax. Quixotic hilar XXXX. No pneumothorax."))]
    [1, 1]
    """
    said: list[PlainSentence] = []
    asked: list[PlainSentence] = []
    texts: set[str] = set()
    facts: set[Fact] = set()
    behind_kept = False
    for each in sentences:
        key = normal_sentence(each.source if each.kept else each.plain)
        behind_kept = each.kept or (behind_kept and _REFERRING.match(each.plain) is not None)
        behind_kept = behind_kept or (bool(asked) and _EXCEPTING.match(each.plain) is not None)
        if key in texts:
            continue
        texts.add(key)
        if behind_kept:
            asked.append(each)
            continue
        reading = read_everyday(each.plain)
        own = {fact._replace(start=0, end=0, sentence=0) for fact in reading.facts}
        if own and own <= facts and not reading.advice and not reading.sizes:
            continue
        facts |= own
        said.append(each)
    return Arranged(tuple(said), tuple(asked))


_EXCEPTING = re.compile(r"(?:Otherwise|Sonst)\b")
_REFERRING = re.compile(r"(?:This|These|It|They)\b")


def plain_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text: what is said in plain words, then what the doctor must be asked about.

    >>> plain_text(write_plain("No pneumothorax."))
    'There is no air leak around your lungs.'
    """
    said, asked = arrange(sentences)
    parts = [each.plain for each in said]
    if asked:
        parts += [next(filter(None, (each.ask for each in asked)), ""), *(each.plain for each in asked)]
    return " ".join(filter(None, parts))


def mixed_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text, a kept one as the report has it: no gloss, no advice, and no claim to be plain.

    >>> mixed_text(write_plain("No pneumothorax. Quixotic hilar XXXX."))
    'There is no air leak around your lungs. Quixotic hilar XXXX.'
    """
    return " ".join(each.source if each.kept else each.plain for each in sentences)
