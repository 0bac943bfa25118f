"""What the table is judged by, and what is kept from training for it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sources import Concept

from radgauge.text.static_embedding import words_of

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_SMALL = frozenset(("of", "the", "in", "on", "a", "an", "and", "or", "to", "with", "for", "by", "at", "from"))


def key_of(text: str) -> str:
    """Texts with the same words in the same order are one text."""
    return " ".join(words_of(text))


@dataclass(frozen=True)
class Retrieval:
    """Each query must find its own target among all targets."""

    name: str
    queries: tuple[str, ...]
    targets: tuple[str, ...]
    answers: tuple[int, ...]

    def recall(self, encode: Encode) -> tuple[float, float]:
        """Share of queries whose target is the nearest, and among the five nearest."""
        similarity = encode(self.queries) @ encode(self.targets).T
        own = similarity[np.arange(len(self.queries)), self.answers]
        rank = (similarity > own[:, None]).sum(axis=1)
        return float((rank == 0).mean()), float((rank < 5).mean())


def _content(text: str) -> set[str]:
    return {word for word in words_of(text) if word not in _SMALL}


def lay_task(hpo: Sequence[Concept], *, count: int = 600, seed: int = 0) -> tuple[Retrieval, list[Concept]]:
    """Lay synonyms that share no word with the name of their term; one per term."""
    fit = []
    for concept in hpo:
        if not concept.terms:
            continue
        name = concept.terms[0]
        strange = [lay for lay in concept.lay if not _content(lay) & _content(name)]
        if strange:
            fit.append((concept, name, strange[0]))
    chosen = random.Random(seed).sample(fit, count)
    names = tuple(name for _, name, _ in chosen)
    queries = tuple(lay for _, _, lay in chosen)
    return Retrieval("lay HPO", queries, names, tuple(range(count))), [concept for concept, _, _ in chosen]


def lexicon_tasks(
    lexicon: Sequence[Concept], *, share: float = 0.12, seed: int = 0
) -> tuple[Retrieval, Retrieval, list[Concept]]:
    """One synonym, and the lay term, of some concepts must find the concept's name among all names.

    Terms that contain the name or are contained in it are too easy and left out.
    """
    fit = []
    for at, concept in enumerate(lexicon):
        name = _content(concept.terms[0])
        strange = [term for term in concept.terms[1:] if not (_content(term) <= name or name <= _content(term))]
        if strange:
            fit.append((at, concept, strange))
    drawn = random.Random(seed)
    chosen = drawn.sample(fit, int(len(fit) * share))
    queries = tuple(drawn.choice(strange) for _, _, strange in chosen)
    names = tuple(concept.terms[0] for concept in lexicon)
    answers = tuple(at for at, _, _ in chosen)
    lay = [(c.lay[0], at) for at, c, _ in chosen if c.lay and not _content(c.lay[0]) & _content(c.terms[0])]
    return (
        Retrieval("lexicon synonym", queries, names, answers),
        Retrieval("lexicon lay term", tuple(text for text, _ in lay), names, tuple(at for _, at in lay)),
        [concept for _, concept, _ in chosen],
    )


def report_task(pairs: Sequence[tuple[str, str]], *, count: int = 400, seed: int = 0) -> Retrieval:
    """The lay version of a report's findings must find the findings among those of all chosen reports."""
    distinct = {findings: lay for findings, lay in pairs if 8 <= len(findings.split()) <= 80}
    chosen = random.Random(seed).sample(sorted(distinct), count)
    queries = tuple(distinct[findings] for findings in chosen)
    return Retrieval("lay report", queries, tuple(chosen), tuple(range(count)))


def names_of(concepts: Iterable[Concept]) -> set[str]:
    """Every name, synonym and lay term, as `key_of` writes them."""
    return {key_of(term) for concept in concepts for term in (*concept.terms, *concept.lay)}


def without(concepts: Iterable[Concept], held_out: Iterable[Concept]) -> list[Concept]:
    """Concepts that share no name, synonym or lay term with a held-out one, whatever source they are from."""
    taken = names_of(held_out)
    return [concept for concept in concepts if not taken & names_of([concept])]


PAIRS = (
    ("effusion", "fluid around lung"),
    ("cardiomegaly", "enlarged heart"),
    ("pneumothorax", "collapsed lung"),
    ("pneumonia", "pulmonary infection"),
    ("lung", "pulmonary"),
    ("atelectasis", "volume loss"),
    ("opacity", "opacification"),
    ("no effusion", "effusion"),
    ("left", "right"),
    ("left pleural effusion", "right pleural effusion"),
    ("mild edema", "severe edema"),
    ("upper lobe", "lower lobe"),
    ("femur fracture", "cardiomegaly"),
    ("pneumothorax", "pleural effusion"),
)

_SWAPS = {
    "side": (("left", "right"),),
    "level": (("upper", "lower"), ("superior", "inferior"), ("anterior", "posterior"), ("medial", "lateral")),
    "severity": (("mild", "severe"), ("small", "large"), ("minimal", "marked")),
    "change": (("increased", "decreased"), ("improved", "worsened"), ("new", "resolved")),
}


ATTRIBUTES = frozenset(word for pairs in _SWAPS.values() for pair in pairs for word in pair) | {
    *("bilateral", "unilateral", "moderate", "trace", "slight", "tiny", "massive", "extensive", "marked"),
    *("acute", "chronic", "old", "middle", "proximal", "distal", "stable", "unchanged", "no", "not", "without"),
}
"""Words whose loss would change what a term says of side, place, degree, age, change or presence."""


def swapped(text: str, kind: str) -> str:
    """The text with the words of one kind exchanged for their opposites; the text itself if it has none."""
    for first, second in _SWAPS[kind]:
        pattern = re.compile(rf"\b({first}|{second})\b")
        if pattern.search(text):
            return pattern.sub(lambda match, a=first, b=second: b if match[0] == a else a, text)
    return text


_FRAMES = {
    "side": ("{} at the left base", "{} on the left", "{} in the right lung", "right sided {}"),
    "level": ("{} in the upper lobe", "posterior {}", "inferior {}", "{} in the lower zone"),
    "severity": ("{} of mild degree", "small area of {}", "{} which is severe", "marked {}"),
    "change": ("{} has increased", "improved {}", "{} is new", "{} has worsened"),
}


def triplets(concepts: Sequence[Concept], kind: str, *, seed: int = 0) -> list[tuple[str, str, str]]:
    """(text, same finding in other words with the same attribute, same words with the opposite attribute)."""
    drawn = random.Random(seed)
    made = []
    for concept in concepts:
        if len(concept.terms) < 2 or any(swapped(term, kind) != term for term in concept.terms):
            continue
        first, second = drawn.sample(concept.terms, 2)
        frame = drawn.choice(_FRAMES[kind])
        text = frame.format(first)
        made.append((text, frame.format(second), swapped(text, kind)))
    return made


def triplet_accuracy(items: Sequence[tuple[str, str, str]], encode: Encode) -> tuple[float, float]:
    """Share of triplets whose synonym is nearer than the opposite, and the mean cosine of the opposites."""
    text, same, opposite = (encode([item[at] for item in items]) for at in range(3))
    near, far = (text * same).sum(1), (text * opposite).sum(1)
    return float((near > far).mean()), float(far.mean())
