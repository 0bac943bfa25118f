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
    """Plain wording of a sentence about a device; "" if it is none or says more.

    >>> from radgauge.lay.language_words import words_of
    >>> say_device("The right PICC tip is in the upper SVC", words_of("en"))  # doctest: +NORMALIZE_WHITESPACE
    'There is a thin tube in a vein of your arm (PICC line) on the right. Its tip lies in the upper part of the
    large vein above your heart.'
    """
    table = words.get("device_sentences")
    if table is None:
        return ""
    patterns, pattern = _device_patterns(), _pattern()
    match = pattern.fullmatch(sentence.strip())
    if match is None:
        return ""
    name = next((n for n, p in patterns["device"].items() if re.fullmatch(p, match["device"], re.IGNORECASE)), "")
    if not name or name not in table["device"] or bool(match["where"]) != bool(match["at"]):
        return ""
    one, its = table["device"][name]
    side = words["sentence"]["sides"][(match["side"] or "").lower()]
    plain = [grammar.capital(table["there"].format(device=one + side))]
    if match["where"]:
        location = _where(match, patterns, table)
        if not location:
            return ""
        plain.append(grammar.capital(table["tip"].format(its=its, where=location)))
    if match["same"] or match["first"]:
        plain.append(table["same"])
    return " ".join(plain)


def _where(match: re.Match[str], patterns: Any, table: Any) -> str:
    location = next(
        (n for n, p in patterns["place"].items() if re.fullmatch(p, match["where"], re.IGNORECASE)), ""
    )
    at = (match["at"] or "").lower()
    if not location or location not in table["place"]:
        return ""
    if match["distance"] or at == "above":
        if not match["distance"] or at != "above":
            return ""
        distance = (table["about"] if match["about"] else "") + match["distance"].lower()
        return str(table["above"]).format(distance=distance, place=table["place"][location])
    how = "over" if "over" in at or "project" in at else "near" if at in _NEAR else "at" if at == "at" else "in"
    part = next(
        (n for n, p in patterns["part"].items() if re.fullmatch(p, match["part"] or "", re.IGNORECASE)), ""
    )
    if match["part"] and (not part or location not in table.get("parts_of", (location,))):
        return ""
    named = table["part"][part].format(place=table["place"][location]) if part else table["place"][location]
    return str(table[how]).format(place=named)


@lru_cache(maxsize=1)
def _device_patterns() -> Any:
    return shipped_toml(__file__, "professional.toml")["devices"]


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    patterns = _device_patterns()
    device, location, part = ("|".join(patterns[name].values()) for name in ("device", "place", "part"))
    return re.compile(
        r"(?:there (?:is|are) )?(?:an? |the )?(?:(?P<first>stable|unchanged)(?: position of(?: the| an?)?)? )?"
        rf"{_SIDE}"
        rf"(?P<device>{device}){_SEEN}{_SAME}{_TIP}"
        rf"(?: (?:(?P<about>approximately |about )?(?P<distance>\d+(?:\.\d+)? (?:cm|mm)) )?{_AT}"
        rf"(?:(?P<part>{part}) )?(?P<where>{location}))?",
        re.IGNORECASE,
    )


_FIXED_SENTENCES = (
    "views",
    "correlate",
    "heart_upper",
    "heart_borderline",
    "old_infection",
    "negative",
    "rotated",
    "heading",
)


def say_fixed(sentence: str, words: Words) -> str:
    """A sentence that is no finding (how the picture was taken, what is advised); "" if it is none of these."""
    text, table = sentence.strip().rstrip("."), words["sentence"]
    patterns = shipped_toml(__file__, "professional.toml")["sentence"]
    for name in _FIXED_SENTENCES:
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
    match = re.fullmatch(patterns["advise"], text, re.IGNORECASE) if "advise" in table else None
    if match is None or not (match["verb"] or match["state"]):
        return ""
    state = (match["state"] or "").lower()
    how = "helpful" if "help" in state or "useful" in state or "benefit" in state else "advise"
    how = "consider" if (match["verb"] or "").lower() == "consider" or "consider" in state else how
    name = match["what"].lower()
    again = (match["again"] or "").lower()
    what = table["what"]["xray" if name.startswith(("x", "radio")) else name][
        2 if again[:1] == "f" else 1 if again else 0
    ]
    what += table["of_chest"] if re.search(r"\b(?:chest|thorax|thoracic)\b", text, re.IGNORECASE) else ""
    dye = re.search(r"(non-?|without )?(?:iv |intravenous )?contrast", text, re.IGNORECASE)
    what += table["contrast"][1 if dye[1] else 0] if dye is not None else ""
    when = ""
    if match["when"]:
        span = table["to"].join(filter(None, (match["from"], match["upto"])))
        when = table["when"].format(span=span, unit=table["units"][match["unit"].lower()])
    why = match["why"] or ""
    because = table["why"]["resolve" if "resol" in why or "clear" in why else "evaluate"] if why else ""
    because += table["if"] if match["if"] else ""
    return grammar.capital(str(table[how]).format(what=what, when=when, why=because))


def _follow(match: re.Match[str], table: Mapping[str, Any]) -> str:
    """ "Follow-up to resolution is recommended."""
    pictured = match["picture"] or re.search(r"radiograph|x-?ray|film|imaging", match["what"] or "", re.IGNORECASE)
    what = table["follow"]["picture" if pictured else "check"]
    state = " ".join(filter(None, (match["state"], match["late"]))).lower()
    how = "consider" if "consider" in state else "advise"
    behind = table["follow"]["treated"] if match["treated"] else ""
    if match["when"]:
        span = table["to"].join(filter(None, (match["from"], match["upto"])))
        behind += table["when"].format(span=span, unit=table["units"][match["unit"].lower()])
    why = table["why"]["resolve"] if match["why"] else ""
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
    locations = places_by_mention(reading)
    written = []
    for number, (start, end, _) in enumerate(reading.sentences):
        source = " ".join(text[start:end].split())
        if not any(char.isalpha() for char in source):
            continue
        fixed = say_fixed(source, words)
        if fixed:
            written.append(PlainSentence(start, end, source, fixed))
            continue
        try:
            statements = plan_sentence(reading, number, locations)
            _read_back(source, say(statements, words_of("en")))
            plain = say(statements, words)
        except NoPlan as reason:
            written.append(_unchanged(reading, number, source, words, str(reason)))
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
    for difference in checked.differences:
        raise NoPlan(
            f"the check reads it otherwise: {difference.what}: {difference.professional!r} and {difference.lay!r}"
        )
    for difference in checked.unread:
        raise NoPlan(f"the check cannot read it: {difference.professional!r}")
    if not checked.kept:
        raise NoPlan("the check finds nothing to compare")


def _unchanged(reading: ReportReading, number: int, source: str, words: Words, reason: str) -> PlainSentence:
    start, end, _ = reading.sentences[number]
    frames = words["frames"]
    shown = _MASK.sub(frames["missing"], source)
    glosses = _explained(reading, number, words)
    plain = frames["kept"].format(source=shown)
    if glosses:
        explanations = "; ".join(frames["one_gloss"].format(term=_as_term(g.term), plain=g.plain) for g in glosses)
        plain += frames["gloss"].format(glosses=explanations)
    return PlainSentence(start, end, source, plain, glosses, True, (reason,), frames["ask"])


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
    """True if a sentence is about the chest; one that names no part goes with most of its report."""
    for group in (mentions, reading.mentions):
        named = [regions for mention in group if (regions := _regions(mention)) - _ANY_REGION]
        if named:
            return 2 * sum(bool(regions & _CHEST_REGIONS) for regions in named) >= len(named)
    return True


def is_about_chest(text: str) -> bool:
    """True if most of what a report names is of the chest, the only region whose words were reviewed.

    >>> is_about_chest("Small left pleural effusion."), is_about_chest("Gallstones. The liver is fatty.")
    (True, False)
    """
    reading = read_report(text)
    named = [regions for mention in reading.mentions if (regions := _regions(mention)) - _ANY_REGION]
    own = sum(bool(regions & {"chest", "cardiac"}) for regions in named)
    return not named or (3 * own >= len(named) and _is_chest(reading, ()))


def _regions(mention: Mention) -> frozenset[str]:
    concepts = load_lexicon().concepts
    locations = [location for location in mention.attributes.locations if location in concepts]
    named = locations[0] if locations else mention.concept
    has_concept = named in concepts and mention.form != "implied"
    return frozenset(concepts[named].regions) if has_concept else frozenset()


def _plain_name(mention: Mention, words: Words) -> str:
    """The lexicon's plain name of a finding, in English; other languages have their list alone."""
    concepts = load_lexicon().concepts
    if mention.kind not in FINDING_KINDS or mention.concept not in concepts or not words.get("gloss_by_concept"):
        return ""
    return plain_term(concepts[mention.concept])


def unexplained(text: str, sentences: Sequence[PlainSentence]) -> int:
    """Number of abnormal findings of a report that no plain sentence says and no gloss explains."""
    reading = read_report(text)
    untranslated = [sentence for sentence in sentences if sentence.kept]
    return sum(
        any(sentence.start <= mention.start < sentence.end for sentence in untranslated)
        and not any(
            g.start < mention.end and mention.start < g.end for sentence in untranslated for g in sentence.glosses
        )
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
    """Text for a patient: sentences in plain words, without repetition, and what to ask the doctor about."""

    said: tuple[PlainSentence, ...]
    asked: tuple[PlainSentence, ...]


def arrange(sentences: Sequence[PlainSentence]) -> Arranged:
    """Say findings and impression once, and gather what was kept.

    A plain sentence that refers to one that was kept ("This may be ...", "Otherwise, ...") goes with it.

    >>> [len(part) for part in arrange(write_plain("No pneumothorax. Quixotic hilar XXXX. No pneumothorax."))]
    [1, 1]
    """
    plain: list[PlainSentence] = []
    questions: list[PlainSentence] = []
    texts: set[str] = set()
    facts: set[Fact] = set()
    behind_kept = False
    for sentence in sentences:
        key = normal_sentence(sentence.source if sentence.kept else sentence.plain)
        behind_kept = sentence.kept or (behind_kept and _REFERRING.match(sentence.plain) is not None)
        behind_kept = behind_kept or (bool(questions) and _EXCEPTING.match(sentence.plain) is not None)
        if key in texts:
            continue
        texts.add(key)
        if behind_kept:
            questions.append(sentence)
            continue
        reading = read_everyday(sentence.plain)
        own = {fact._replace(start=0, end=0, sentence=0) for fact in reading.facts}
        if own and own <= facts and not reading.advice and not reading.sizes:
            continue
        facts |= own
        plain.append(sentence)
    return Arranged(tuple(plain), tuple(questions))


_EXCEPTING = re.compile(r"(?:Otherwise|Sonst)\b")
_REFERRING = re.compile(r"(?:This|These|It|They)\b")


def plain_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text: what is said in plain words, then what the doctor must be asked about.

    >>> plain_text(write_plain("No pneumothorax."))
    'There is no air leak around your lungs.'
    """
    plain, questions = arrange(sentences)
    parts = [sentence.plain for sentence in plain]
    if questions:
        parts += [
            next(filter(None, (sentence.ask for sentence in questions)), ""),
            *(sentence.plain for sentence in questions),
        ]
    return " ".join(filter(None, parts))


def mixed_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text, a kept one as the report has it: no gloss, no advice, and no claim to be plain.

    >>> mixed_text(write_plain("No pneumothorax. Quixotic hilar XXXX."))
    'There is no air leak around your lungs. Quixotic hilar XXXX.'
    """
    return " ".join(sentence.source if sentence.kept else sentence.plain for sentence in sentences)
