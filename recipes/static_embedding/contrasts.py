"""Texts that differ in one attribute, with the interval in which their cosine should lie."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sources import Concept
from tasks import swapped

# Frames for training. Those of the evaluation in tasks.py are others, but with the same attribute words.
_FRAMES = {
    "side": (
        "left {}",
        "right {}",
        "{} on the right",
        "left sided {}",
        "{} of the left lung",
        "right lower {}",
    ),
    "level": ("upper {}", "lower {}", "anterior {}", "lateral {}", "superior {}", "{} of the upper lobe"),
    "severity": ("mild {}", "severe {}", "small {}", "large {}", "minimal {}", "{} is marked"),
    "change": ("increased {}", "decreased {}", "{} has improved", "new {}", "worsened {}", "resolved {}"),
}
_INTERVALS = {"side": (0.5, 0.62), "level": (0.5, 0.66), "severity": (0.55, 0.74), "change": (0.5, 0.7)}
_WORD_INTERVAL = (0.25, 0.5)
_SIBLINGS = (0.4, 0.62)
_FAMILY = (0.35, 0.85)
_NEGATIONS = ("no {}", "no evidence of {}", "without {}", "there is no {}")
_NEGATED = (0.55, 0.78)
_OPPOSITES = (
    "left right|upper lower|superior inferior|anterior posterior|medial lateral|mild severe|small large|"
    "minimal marked|increased decreased|improved worsened|new resolved|bilateral unilateral|acute chronic|"
    "benign malignant|normal abnormal|proximal distal|high low|presence absence"
)
OPPOSITES = tuple(tuple(pair.split()) for pair in _OPPOSITES.split("|"))

Contrast = tuple[str, str, float, float]


def siblings(terms: Sequence[str]) -> list[Contrast]:
    """Terms that differ in one attribute, such as the lobes of the two lungs."""
    known = set(terms)
    return [
        (term, other, *_SIBLINGS)
        for term in terms
        for kind in ("side", "level")
        if (other := swapped(term, kind)) in known and term < other
    ]


def families(concepts: Sequence[Concept]) -> list[Contrast]:
    """Names of concepts and of the kinds they belong to: near, whatever the contrastive loss makes of them."""
    names = {concept.key: concept.terms[0] for concept in concepts}
    return [
        (concept.terms[0], names[parent], *_FAMILY)
        for concept in concepts
        for parent in concept.parents
        if parent in names
    ]


def draw_contrasts(
    terms: Sequence[str], pairs: Sequence[Sequence[Contrast]], count: int, drawn: random.Random
) -> list[Contrast]:
    """Pairs of texts and their intervals: opposite attributes, opposite words, negations, and given pairs.

    Args:
        terms: What attributes are put to.
        pairs: Lists of given pairs, drawn from equally often.
        count: How many to draw.
        drawn: Source of chance.
    """
    made: list[Contrast] = []
    kinds = list(_FRAMES)
    while len(made) < count:
        roll = drawn.random()
        term = drawn.choice(terms)
        if roll < 0.45:
            kind = drawn.choice(("side", *kinds))
            text = drawn.choice(_FRAMES[kind]).format(term)
            other = swapped(text, kind)
            if swapped(term, kind) == term and other != text:
                made.append((text, other, *_INTERVALS[kind]))
        elif roll < 0.8 and pairs:
            made.append(drawn.choice(drawn.choice(pairs)))
        elif roll < 0.87:
            first, second = drawn.choice(OPPOSITES)
            made.append((first, second, *_WORD_INTERVAL))
        else:
            made.append((drawn.choice(_NEGATIONS).format(term), term, *_NEGATED))
    return made


def with_attribute(first: str, second: str, drawn: random.Random) -> tuple[str, str, str] | None:
    """Two names of one thing in one frame, and the first with the opposite attribute; None if not apt."""
    kind = drawn.choice(list(_FRAMES))
    frame = drawn.choice(_FRAMES[kind])
    if any(swapped(text, kind) != text for text in (first, second)):
        return None
    text = frame.format(first)
    other = swapped(text, kind)
    return (text, frame.format(second), other) if other != text else None
