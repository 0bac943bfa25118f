"""Which words two texts share, as notes for people: what lexical metrics show as their explanation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radgauge.core.metric import Note, Span
from radgauge.text.tokenizers import locate

Side = tuple[str, Sequence[str]]
"""A text and its words."""

_PLACES = 20  # occurrences of one phrase looked at: keeps a text of one repeated word from taking for ever


def shared_phrases(candidate: Side, reference: Side, *, shortest: int = 2) -> list[Note]:
    """Phrases in both texts, longest first at each place, and the words only one of them has.

    >>> notes = shared_phrases(("No big mass", ["no", "big", "mass"]), ("no mass", ["no", "mass"]))
    >>> [(note.kind, note.text) for note in notes]
    [('added', 'only in the candidate: big')]
    """
    text, words = candidate
    other_text, others = reference
    places: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(others) - shortest + 1):
        found = places.setdefault(tuple(others[start : start + shortest]), [])
        if len(found) < _PLACES:
            found.append(start)
    spans, other_spans = locate(text, words), locate(other_text, others)
    notes = []
    position = 0
    while position <= len(words) - shortest:
        size, where = 0, 0
        for start in places.get(tuple(words[position : position + shortest]), ()):
            length = _common(words, position, others, start)
            if length > size:
                size, where = length, start
        if size:
            phrase = " ".join(words[position : position + size])
            notes.append(
                Note(
                    "matched",
                    f"in both: {phrase}",
                    reference_spans=cover(other_spans[where : where + size]),
                    candidate_spans=cover(spans[position : position + size]),
                    data={"words": size},
                )
            )
        position += max(size, 1)
    known, known_others = set(words), set(others)
    added = [i for i, word in enumerate(words) if word not in known_others]
    missing = [i for i, word in enumerate(others) if word not in known]
    if added:
        listed = ", ".join(dict.fromkeys(words[i] for i in added))
        notes.append(
            Note("added", f"only in the candidate: {listed}", candidate_spans=_each(spans[i] for i in added))
        )
    if missing:
        listed = ", ".join(dict.fromkeys(others[i] for i in missing))
        places_of = _each(other_spans[i] for i in missing)
        notes.append(Note("missing", f"only in the reference: {listed}", reference_spans=places_of))
    return notes


def cover(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    """One span from the first to the last of these."""
    known = [span for span in spans if span is not None]
    return ((known[0][0], known[-1][1]),) if known else ()


def _each(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    return tuple(span for span in spans if span is not None)


def _common(words: Sequence[str], start: int, others: Sequence[str], other: int) -> int:
    length = 0
    while (
        start + length < len(words)
        and other + length < len(others)
        and words[start + length] == others[other + length]
    ):
        length += 1
    return length
