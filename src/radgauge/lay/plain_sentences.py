"""A report for its patient, sentence by sentence: the interface between the writer and whoever prints its text.

Every sentence of the report comes back once, in order, with where it stands in the report, what the patient reads,
the plain meaning of its terms, and whether the writer dared to write it anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from radgauge.core.clean import CleanText, clean
from radgauge.lay.check.compare import check_lay
from radgauge.lay.glosses import glosses_in
from radgauge.lay.language_words import Words, languages, words_of
from radgauge.lay.plan import plan_sentence
from radgauge.lay.sentence_parts import mentions_in, places_by_mention
from radgauge.lay.statement import NoPlan
from radgauge.lay.whole_sentences import say_whole
from radgauge.lay.wording import say
from radgauge.reader import ReportReading, read_report

__all__ = ["Gloss", "PlainSentence", "languages", "mixed_text", "plain_text", "write_plain"]

_MASK = re.compile(r"[Xx]{3,}(?:-[Xx]{3,})*|_{2,}")


class Gloss(NamedTuple):
    """A term of the report and what it means.

    Attributes:
        start: Where the term begins in the report.
        end: Where it ends.
        term: The term as the report has it.
        plain: What it means, in plain words.
        concept: Id of the concept in the lexicon, for pictures of where it is; "" if it has none.
    """

    start: int
    end: int
    term: str
    plain: str
    concept: str = ""


class PlainSentence(NamedTuple):
    """One sentence of a report and what its patient reads.

    Attributes:
        start: Where the sentence begins in the report.
        end: Where it ends.
        source: The sentence as the report has it.
        plain: What the patient reads; the professional sentence with glosses if it is kept.
        glosses: Terms of the sentence in plain words, in text order.
        kept: Whether the professional sentence stands because it could not be written anew safely; the page then
            says "ask your doctor about this sentence" (`ask` has the words in the language of the text).
        reasons: Why it is kept, in words for the radiologist; empty if it was written anew.
        ask: The sentence that tells the patient to ask; "" unless kept.
    """

    start: int
    end: int
    source: str
    plain: str
    glosses: tuple[Gloss, ...] = ()
    kept: bool = False
    reasons: tuple[str, ...] = ()
    ask: str = ""


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
    mentions = [reading.mentions[index] for index in mentions_in(reading, number)]
    shown = _MASK.sub(words["frames"]["missing"], source)
    frames = words["frames"]
    glosses = []
    for at, stop, plain in glosses_in(reading.text[start:end], words):
        term = reading.text[start + at : start + stop]
        concept = next((m.concept for m in mentions if m.start <= start + at < m.end and m.form != "implied"), "")
        glosses.append(Gloss(start + at, start + stop, term, plain, concept))
    said = frames["kept"].format(source=shown)
    if glosses:
        told = "; ".join(frames["one_gloss"].format(term=_as_term(g.term), plain=g.plain) for g in glosses)
        said += frames["gloss"].format(glosses=told)
    return PlainSentence(start, end, source, said, tuple(glosses), True, (reason,), frames["ask"])


def _as_term(term: str) -> str:
    """A term in small letters, abbreviations as the report has them."""
    return term if term.isupper() and len(term) > 1 else term.lower()


def plain_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text, each once; behind a kept one that it must be asked about.

    >>> plain_text(write_plain("No pneumothorax."))
    'There is no air leak around your lungs.'
    """
    return " ".join(dict.fromkeys(" ".join(filter(None, (each.plain, each.ask))) for each in sentences))


def mixed_text(sentences: Sequence[PlainSentence]) -> str:
    """The sentences as one text, a kept one as the report has it: no gloss, no advice, and no claim to be plain.

    >>> mixed_text(write_plain("No pneumothorax. Quixotic hilar XXXX."))
    'There is no air leak around your lungs. Quixotic hilar XXXX.'
    """
    return " ".join(each.source if each.kept else each.plain for each in sentences)
