"""A report for its patient, sentence by sentence: the interface between the writer and whoever prints its text.

Every sentence of the report comes back once, in order, with where it stands in the report, what the patient reads,
the plain meaning of its terms, and whether the writer dared to write it anew.
"""

from __future__ import annotations

from typing import NamedTuple


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

    Args:
        text: The report, in English.
        language: Language of the plain text: a file `words/<language>.toml` must ship.

    >>> [first] = write_plain("No pneumothorax.")
    >>> first.plain, first.kept
    ('There is no air leak around the lung.', False)
    """
    from radgauge.plain_language.writer import plain_language
    from radgauge.report_reader import read_report

    found = []
    for start, end, _ in read_report(text).sentences:
        source = text[start:end].strip()
        if source:
            found.append(PlainSentence(start, end, source, plain_language(source)))
    return tuple(found)


def plain_text(sentences: tuple[PlainSentence, ...]) -> str:
    """The sentences as one text, what must be asked said behind each kept one.

    >>> plain_text(write_plain("No pneumothorax."))
    'There is no air leak around the lung.'
    """
    return " ".join(" ".join(filter(None, (each.plain, each.ask))) for each in sentences)
