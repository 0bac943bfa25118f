"""Texts that attack a reader: over forty shapes that grow with a size, and random mixtures of hostile pieces."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

_DATA = json.loads((Path(__file__).parents[1] / "data" / "hostile_texts.json").read_text("utf-8"))
WORDS = tuple(_DATA["words"].split())


def _repeat(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _between(before: str, piece: str, after: str) -> Callable[[int], str]:
    return lambda size: before + (piece * (size // len(piece) + 1))[:size] + after


def _drawn(join: str, *, words: tuple[str, ...] = WORDS, every: int = 0, end: str = ". ") -> Callable[[int], str]:
    """Words drawn at random, so that nothing is read from a memory; a sentence ends after `every` words."""

    def make(size: int) -> str:
        rng = random.Random(size)
        pieces, length, count = [], 0, 0
        while length < size:
            word = rng.choice(words)
            count += 1
            pieces.append(word + (end if every and count % every == 0 else join))
            length += len(pieces[-1])
        return "".join(pieces)[:size]

    return make


def _numbered(template: str) -> Callable[[int], str]:
    """Sentences that all differ."""

    def make(size: int) -> str:
        pieces, length, number = [], 0, 0
        while length < size:
            number += 1
            pieces.append(template.format(n=number, word=_word(number)))
            length += len(pieces[-1])
        return "".join(pieces)[:size]

    return make


def _word(number: int) -> str:
    """A word of letters for a number: no two are alike, and no lexicon has them."""
    letters = ""
    while number:
        number, rest = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[rest] + "aeiou"[rest % 5]
    return letters


SHAPES: dict[str, Callable[[int], str]] = {
    "blanks": _repeat(" "),
    "blanks between words": _between("No effusion", " ", "Heart normal."),
    "tabs and blanks": _between("Clear.", " \t", "1. Heart"),
    "line ends": _between("Clear.", "\n", "Heart normal"),
    "blank lines": _between("Clear", " \n", "heart"),
    "no-break blanks": _between("Clear.", "\xa0", "Heart"),
    "zero-width blanks": _between("Clear", "\u200b", "heart"),
    "one letter": _repeat("a"),
    "one capital": _repeat("A"),
    "one digit": _repeat("1"),
    "full stops": _repeat("."),
    "full stops and blanks": _repeat(". "),
    "commas": _between("No effusion", ",", " or edema"),
    "comma blanks": _between("No effusion", ", ", "or edema"),
    "hyphens": _between("air", "-", "space"),
    "hyphenated word": _between("air", "-space", ""),
    "underscores": _repeat("_"),
    "masks": _repeat("XXXX "),
    "open masks": _repeat("[**"),
    "open brackets": _between("No ", "(", "effusion"),
    "nested brackets": lambda size: "(" * (size // 2) + ")" * (size - size // 2),
    "quotation marks": _between("He said ", '"', "."),
    "apostrophes": _between("patient", "'", "s"),
    "numbers": _repeat("12 "),
    "dotted number": _repeat("1."),
    "decimals": _repeat("1.5 x 2.5 cm "),
    "list items": _repeat("1. Heart "),
    "headings": _repeat("FINDINGS: "),
    "heading lines": _repeat("LUNGS:\n"),
    "capitals and blanks": _repeat("A "),
    "slashes": _repeat("and/or "),
    "colons": _between("FINDINGS", ":", " clear"),
    "emoji": _repeat("🫁"),
    "accents": _repeat("e\u0301"),
    "right to left": _repeat("\u202eلا يوجد "),
    "one sentence without end": _drawn(" "),
    "list without end": _drawn(", ", words=("effusion", "edema", "no mass", "left nodule", "or fracture")),
    "short sentences": _drawn(" ", every=4),
    "lines": _drawn(" ", every=5, end="\n"),
    "unlike sentences": _numbered("A {n} mm left nodule is seen near the {word}. "),
    "unlike normal sentences": _numbered("No {word} effusion. "),
    "unlike words": _numbered("{word} "),
    "unlike claims and denials": _numbered("There is {word}itis. No {word}oma. "),
    "labels": _numbered("Fracture of rib {n} seen. No right nodule. "),  # "rib 7." would read as a list number
    "normal studies": _numbered("Normal study. A {n} mm nodule. "),
}
"""Name -> text of about `size` characters."""

_FINDINGS = tuple(_DATA["findings"].split())
_PLACES = tuple(_DATA["places"].split())
_DEVICES = ("endotracheal tube", "central venous catheter", "pacemaker", "chest tube", "nasogastric tube", "stent")


def _grammar(template: str) -> Callable[[int, int], str]:
    """Sentences of the grammar's own words; of another seed other findings in the same form."""

    def make(size: int, seed: int = 0) -> str:
        rng = random.Random(seed)
        pieces, length, number = [], 0, 0
        while length < size:
            number += 1
            named = {name: rng.choice(words) for name, words in _NAMES.items()}
            pieces.append(template.format(n=number, m=rng.randrange(1, 99), word=_word(number), **named))
            length += len(pieces[-1])
        return "".join(pieces)[:size]

    return make


_NAMES = {
    "finding": _FINDINGS,
    "other": _FINDINGS,
    "place": _PLACES,
    "device": _DEVICES,
    "side": ("left", "right"),
}

GRAMMAR: dict[str, Callable[[int, int], str]] = {
    "devices": _grammar("The {device} ends in the {place}. "),
    "devices to be moved": _grammar("{device} in the {place}. It should be withdrawn. "),
    "the same side": _grammar("{finding} {word}. A {n} mm nodule lies on the same side. "),
    "the other side": _grammar("{finding} on the {side}. The other one is not. "),
    "references back": _grammar("{finding} of the {side} {place}. It contains gas. This is new. "),
    "normal places": _grammar("{finding}. The {place} {word} is normal. Otherwise clear. "),
    "one finding everywhere": _grammar("Small left effusion near the {side} {place}. "),
    "one finding again": _grammar("Small left effusion {word}. "),
    "levels": _grammar("L{m}-S1: {finding} of the {place}. "),
    "unlike denials": _grammar("No {word}oma of the {place}. "),
    "unlike claims": _grammar("{word}itis of the {place}. "),
    "suggestions": _grammar("{finding} suggestive of {other}, likely {word}itis. "),
    "sizes": _grammar("New {n} mm {finding} in the {side} {place}. "),
    "advice": _grammar("Follow-up CT of the {place} in {n} months is recommended. "),
    "counts": _grammar("{m} {finding} nodules in the {place}. "),
    "abbreviated sides": _grammar("R {place} {finding}. (L) {other} {word}. "),
    "claimed and denied": _grammar("{finding} of the {place}. No {other}. {word} unchanged. "),
}
"""Name -> text of about `size` characters; texts of two seeds differ in every sentence."""

PIECES = tuple(piece for group in _DATA["pieces"] for piece in group)
"""What hostile texts are put together from: characters that break programs, and words that rules look for."""

REPORTS: tuple[str, ...] = (
    "The heart is mildly enlarged. There is a small left pleural effusion. No pneumothorax.",
    "FINDINGS: No acute cardiopulmonary abnormality. IMPRESSION: 1. Normal. 2. Old rib fracture.",
    "Right lower lobe consolidation, concerning for pneumonia; compared to prior, the 2.5 cm nodule is unchanged.",
)


def hostile_text(rng: random.Random) -> str:
    """A text that nobody would write: pieces in any order, a real report with damage, noise, or one long run."""
    kind = rng.random()
    if kind < 0.55:
        joins = rng.choice((" ", "", " ", ". ", ", ", "\n"))
        return joins.join(rng.choice(PIECES) for _ in range(rng.randint(0, 40)))
    if kind < 0.8:
        return _damaged(rng.choice(REPORTS), rng)
    if kind < 0.9:
        return "".join(
            chr(rng.choice((rng.randrange(128), rng.randrange(0x3000), rng.randrange(0x110000))))
            for _ in range(rng.randint(0, 60))
        )
    if kind < 0.99:
        return rng.choice(tuple(SHAPES.values()))(rng.randint(1, 300))
    piece = rng.choice(PIECES)
    return piece * rng.randint(100, 2000)


def _damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 8)):
        at = rng.randint(0, len(text))
        change = rng.random()
        if change < 0.4:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif change < 0.6:
            text = text[:at] + text[at + rng.randint(1, 10) :]
        elif change < 0.75:
            text = text[at:] + text[:at]
        elif change < 0.9:
            text = text[:at] + text[at : at + rng.randint(1, 30)] * rng.randint(2, 5) + text[at:]
        else:
            text = rng.choice((text.upper, text.lower, text.swapcase, text.title))()
    return text
