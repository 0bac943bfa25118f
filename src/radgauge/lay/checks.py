"""Is a lay sentence good enough? What can be told without a language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from radgauge.encoders.text.encoders import Encoder
from radgauge.findings.findings import Denial, Finding
from radgauge.findings.places import LEFT, RIGHT
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.fidelity import compare_lay, lay_findings
from radgauge.lay.glosses import glosses_in
from radgauge.lay.language_words import words_of
from radgauge.lay.lay_reader import LayReader
from radgauge.reader import ReportReading
from radgauge.text.language import looks_english
from radgauge.text.sentences import sentences_of

LLM, SIMILARITY, READER = "llm", "similarity", "reader"
CHECKS = {
    SIMILARITY: "the cosine of sentence and lay text is above theta (the paper's)",
    LLM: "a language model gives the lay text back unchanged (the paper's)",
    READER: "the lay reader finds the same statements on both sides (ours)",
}
COPIED = "copied"
"""Always on: a text that repeats a sentence with its terms is no lay text, though every other check likes it."""


LANGUAGE = "language"
"""Always on: a lay text in another language than its sentence, which a cosine of words can like."""

SIDES = "sides"
"""Always on: left and right in another order, or the other side; the likeness of two long sentences hides it."""


def similarities(sentences: Sequence[str], texts: Sequence[str], *, encoder: Encoder) -> list[float]:
    """Cosine of each sentence with its lay text, to five places."""
    if not sentences:
        return []
    rows = encoder.encode([*sentences, *texts]).astype(np.float64)
    products = np.einsum("ij,ij->i", rows[: len(sentences)], rows[len(sentences) :])
    return [round(float(each), 5) for each in products]


def is_copied(sentence: str, text: str) -> bool:
    """Whether the lay text is the sentence itself, and holds a term that the writer for patients would explain.

    >>> is_copied("No pneumothorax.", "No pneumothorax"), is_copied("No pneumothorax.", "No collapsed lung.")
    (True, False)
    """
    return normal_sentence(sentence) == normal_sentence(text) and bool(glosses_in(sentence, words_of("en")))


def in_another_language(sentence: str, text: str) -> bool:
    """Whether the lay text of an English sentence is not English.

    >>> in_another_language("No effusion.", "No hay líquido en los pulmones."), in_another_language("Ok.", "Fine.")
    (True, False)
    """
    return looks_english(sentence) and not looks_english(text)


def in_step(text: str, lay: str) -> list[tuple[str, str]]:
    """The sentences of both in pairs if there are as many; otherwise both as a whole.

    >>> in_step("Effusion. No nodule.", "There is fluid. There is no spot.")
    [('Effusion.', 'There is fluid.'), ('No nodule.', 'There is no spot.')]
    """
    mine, theirs = sentences_of(text), sentences_of(lay)
    return list(zip(mine, theirs, strict=True)) if mine and len(mine) == len(theirs) else [(text, lay)]


_SIDE = re.compile(r"\b(left|right)\b(?! away| now)", re.IGNORECASE)


def sides_differ(sentence: str, text: str) -> bool:
    """Whether a finding is on the other side, or sides are named in another order and no reading explains it.

    The order of left and right sees any wording; it misses findings that change places ("fluid left, spot right"
    told as "spot left, fluid right"), which the lay reader sees where it reads them on both sides. A text that
    only tells the same findings in another order passes.

    >>> sides_differ("Left effusion, right nodule.", "Fluid on the right, a spot on the left.")
    True
    >>> sides_differ("Left effusion.", "There is fluid around the left lung."), sides_differ("Effusion.", "Fluid.")
    (False, False)
    """
    said, says = ([side.lower() for side in _SIDE.findall(each)] for each in (sentence, text))
    if not said or not says:
        return False
    mine, theirs = (_sided(each) for each in LayReader().read([sentence, text]))
    shared = mine.keys() & theirs.keys()
    if any(not mine[concept] & theirs[concept] for concept in shared):
        return True
    if mine == theirs and set().union(*mine.values()) >= {*said, *says}:
        return False
    return _runs(said) != _runs(says)


def _sided(reading: ReportReading) -> dict[str, frozenset[str]]:
    """Claim -> the sides on which it is made, for claims and denials that have sides."""
    found: dict[str, frozenset[str]] = {}
    findings = lay_findings(reading)
    claims = [(each.concept, each.sides) for each in findings.present]
    claims += [(f"no {min(each.concepts)}", each.sides) for each in findings.denied if each.concepts]
    for concept, sides in claims:
        names = frozenset(name for name, bit in (("left", LEFT), ("right", RIGHT)) if sides & bit)
        if names:
            found[concept] = found.get(concept, frozenset()) | names
    return found


def _runs(sides: Sequence[str]) -> list[str]:
    """The sides in order, a side that is only repeated counted once."""
    return [side for place, side in enumerate(sides) if place == 0 or side != sides[place - 1]]


@lru_cache(maxsize=1 << 16)
def told_differently(sentence: str, text: str) -> str:
    """What the lay reader finds lost, added or changed; "" if nothing.

    >>> told_differently("Left pleural effusion.", "There is fluid around the lung on the right.")
    'changed: side'
    """
    told = compare_lay(*map(lay_findings, LayReader().read([sentence, text])))
    faults = [f"changed: {', '.join(sorted({each.attribute for _, _, how in told.changed for each in how}))}"]
    faults = faults if told.changed else []
    if told.lost or told.denials_lost:
        faults.append("left out: " + _names(told.lost, told.denials_lost))
    if told.added or told.denials_added:
        faults.append("added: " + _names(told.added, told.denials_added))
    return "; ".join(faults)


def _names(findings: Sequence[Finding], denials: Sequence[Denial]) -> str:
    said = [each.concept.replace("_", " ") for each in findings]
    said += [
        "a denial" if not (concepts := each.concepts) else f"no {min(concepts).replace('_', ' ')}"
        for each in denials
    ]
    return ", ".join(dict.fromkeys(said))
