"""Is a lay sentence good enough? What can be told without a language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from radgauge.encoders.text.encoders import Encoder
from radgauge.findings.places import LEFT, RIGHT
from radgauge.lay.check.compare import Difference, check_lay
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.fidelity import lay_findings
from radgauge.lay.language_words import glosses_in, words_of
from radgauge.lay.lay_reader import LayReader
from radgauge.lay.sentences import Pair, keeps_meaning, sentence_set
from radgauge.reader import ReportReading
from radgauge.text.language import looks_english
from radgauge.text.sentences import sentences_of

FIDELITY, LLM, SIMILARITY = "fidelity", "llm", "similarity"
CHECKS = {
    FIDELITY: "a reader of everyday wording finds the same facts in both (`lay_fidelity`; the default)",
    LLM: "a language model gives the lay text back unchanged (the paper's)",
    SIMILARITY: "the cosine of sentence and lay text is above theta (the paper's)",
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
    return [round(float(cosine), 5) for cosine in products]


class Calibration(NamedTuple):
    """A threshold for one encoder, and the shares of right and wrong lay texts that pass it."""

    theta: float
    right: float
    wrong: float


def calibrate_theta(encoder: Encoder, *, sample: int = 300) -> Calibration:
    """The cosine that best tells right lay texts of the sentence set from those of nearest neighbours.

    Args:
        encoder: Whose cosines are meant.
        sample: Entries, taken evenly from the set.
    """
    pairs = sentence_set()[:: max(1, len(sentence_set()) // sample)]
    sources, texts = zip(*pairs, strict=True)
    vectors = encoder.encode(sources).astype(np.float64)
    nearest = np.argsort(-(vectors @ vectors.T), axis=1, kind="stable")
    others = []
    for index, row in enumerate(nearest.tolist()):
        others.append(next(n for n in row if n != index and not same_statement(sources[index], sources[n])))
    right = np.array(similarities(sources, texts, encoder=encoder))
    wrong = np.array(similarities(sources, [texts[n] for n in others], encoder=encoder))
    grid = np.arange(0.3, 0.99, 0.01)
    gains = [float((right > theta).mean() - (wrong > theta).mean()) for theta in grid]
    theta = round(float(grid[int(np.argmax(gains))]), 2)
    return Calibration(theta, float((right > theta).mean()), float((wrong > theta).mean()))


def is_copied(sentence: str, text: str) -> bool:
    """True if the lay text is the sentence itself, and has a term that the writer for patients would explain.

    >>> is_copied("No pneumothorax.", "No pneumothorax"), is_copied("No pneumothorax.", "No collapsed lung.")
    (True, False)
    """
    return normal_sentence(sentence) == normal_sentence(text) and bool(glosses_in(sentence, words_of("en")))


def in_another_language(sentence: str, text: str) -> bool:
    """True if the lay text of an English sentence is not English.

    >>> in_another_language("No effusion.", "No hay líquido en los pulmones."), in_another_language("Ok.", "Fine.")
    (True, False)
    """
    return looks_english(sentence) and not looks_english(text)


def in_step(text: str, lay: str) -> list[tuple[str, str]]:
    """The sentences of both in pairs if there are as many; otherwise both as a whole.

    >>> in_step("Effusion. No nodule.", "There is fluid. There is no spot.")
    [('Effusion.', 'There is fluid.'), ('No nodule.', 'There is no spot.')]
    """
    sentences, lay_sentences = sentences_of(text), sentences_of(lay)
    return (
        list(zip(sentences, lay_sentences, strict=True))
        if sentences and len(sentences) == len(lay_sentences)
        else [(text, lay)]
    )


_SIDE = re.compile(r"\b(left|right)\b(?! away| now)", re.IGNORECASE)


def sides_differ(sentence: str, text: str) -> bool:
    """True if a finding is on the other side, or sides are named in another order and no reading explains it.

    The order of left and right sees any wording; it misses findings that change places ("fluid left, spot right"
    told as "spot left, fluid right"), which the lay reader sees where it reads them on both sides. A text that
    only tells the same findings in another order passes.

    >>> sides_differ("Left effusion, right nodule.", "Fluid on the right, a spot on the left.")
    True
    >>> sides_differ("Left effusion.", "There is fluid around the left lung."), sides_differ("Effusion.", "Fluid.")
    (False, False)
    """
    sides, text_sides = ([side.lower() for side in _SIDE.findall(passage)] for passage in (sentence, text))
    if not sides or not text_sides:
        return False
    concept_sides, text_concept_sides = (_sided(reading) for reading in LayReader().read([sentence, text]))
    shared = concept_sides.keys() & text_concept_sides.keys()
    if any(not concept_sides[concept] & text_concept_sides[concept] for concept in shared):
        return True
    if concept_sides == text_concept_sides and set().union(*concept_sides.values()) >= {*sides, *text_sides}:
        return False
    return _runs(sides) != _runs(text_sides)


def _sided(reading: ReportReading) -> dict[str, frozenset[str]]:
    """Claim -> the sides on which it is made, for claims and denials that have sides."""
    sides_by_concept: dict[str, frozenset[str]] = {}
    findings = lay_findings(reading)
    claims = [(finding.concept, finding.sides) for finding in findings.present]
    claims += [(f"no {min(denial.concepts)}", denial.sides) for denial in findings.denied if denial.concepts]
    for concept, sides in claims:
        names = frozenset(name for name, bit in (("left", LEFT), ("right", RIGHT)) if sides & bit)
        if names:
            sides_by_concept[concept] = sides_by_concept.get(concept, frozenset()) | names
    return sides_by_concept


def _runs(sides: Sequence[str]) -> list[str]:
    """The sides in order, a side that is only repeated counted once."""
    return [side for index, side in enumerate(sides) if index == 0 or side != sides[index - 1]]


@lru_cache(maxsize=1 << 16)
def unfaithful(sentence: str, text: str, *, strict: bool = False) -> str:
    """Reason why the reader of everyday wording disagrees or fails; "" if it reads the same facts.

    >>> unfaithful("The right lung is clear.", "Your lungs are clear.")
    'side told otherwise (right | not said)'
    >>> unfaithful("Possible pneumonia.", "There may be a lung infection (pneumonia).")
    ''
    """
    checked = check_lay(sentence, text, strict=strict)
    faults = [_fault(difference) for difference in checked.differences]
    faults += [f"not read ({difference.lay or difference.professional})" for difference in checked.unread]
    return "; ".join(faults)


def _fault(difference: Difference) -> str:
    if difference.what in ("lost", "added"):
        return f"{difference.what} ({difference.professional or difference.lay})"
    phrases = (phrase or "not said" for phrase in (difference.professional, difference.lay))
    return f"{difference.what} told otherwise ({' | '.join(phrases)})"


_LIMITS = re.compile(
    r"\b(?:acute|active|again|apparent|appreciable|borderline|calcified|chronic|clearly|convincing|definite(?:ly)?|"
    r"discrete|displaced|dominant|evidence|evident|focal|grossly|indication|large|likely|lobar|may|might|mild(?:ly)?|"
    r"moderate(?:ly)?|new|noncalcified|obvious|old|other(?:wise)?|overt|possibl[ey]|probabl[ey]|prominent|radiographic|"
    r"relatively|residual|severe(?:ly)?|signs?|significant(?:ly)?|slight(?:ly)?|small|suggest(?:ion|s)?|suspicious|tiny|"
    r"typical|upper|visible|visuali[sz]ed|within)\b|\d+(?:\.\d+)?",
    re.IGNORECASE,
)


def same_statement(sentence: str, other: str) -> bool:
    """True if two professional sentences may share one lay text: strict fidelity both ways, and the same limits.

    >>> same_statement("No pneumothorax.", "There is no pneumothorax.")
    True
    >>> same_statement("No pneumothorax.", "No large pneumothorax.")
    False
    >>> same_statement("Lungs clear.", "Left lung clear.")
    False
    """
    limits, others = (sorted(map(str.lower, _LIMITS.findall(text))) for text in (sentence, other))
    if limits != others or not (check_lay(sentence, other, strict=True).kept):
        return False
    both = all(not unfaithful(*pair, strict=True) for pair in ((sentence, other), (other, sentence)))
    return both and keeps_meaning(Pair(sentence, other))
