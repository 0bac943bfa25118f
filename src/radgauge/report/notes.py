"""Why each case got its scores, with the places in the texts: what the case browser shows and highlights."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Note, Span
from radgauge.core.readings import Readings
from radgauge.core.scores import Results

if TYPE_CHECKING:
    from radgauge.reader import Mention

KINDS = ("matched", "missing", "added", "changed", "contradicted", "info")
READER = "findings"
"""Name of the highlights that come from the embedded reader alone."""

MAX_NOTES, MAX_LENGTH = 40, 240


TELLING = ("errors", "llm_errors", READER)
"""Explanations that stay when there is no room for all."""


def explain_case(
    case: Case, results: Results, *, reading: Readings, every: bool = True
) -> dict[str, list[list[Any]]]:
    """Judge -> notes as the browser reads them.

    A note is [kind, text, reference spans, candidate spans, reference number, kind of error, weight, finding,
    sides, whether it moved the score most].

    Spans are flat lists of UTF-16 positions, the way JavaScript counts. If neither `errors` nor
    `llm_errors` explains the case, the embedded reader marks the findings, under the name `findings`.

    Args:
        case: With its texts.
        results: Scores of all cases.
        reading: Shared readings.
        every: False explains the most telling judges only (`TELLING`).
    """
    by_metric: dict[str, list[list[Any]]] = {}
    real = case.with_real_references()
    able = bool(case.candidate.strip()) and bool(real.references)
    for name, scores in results.judges.items():
        if scores.metric is None or not able or case.key in scores.reasons or not (every or name in TELLING):
            continue
        explanation = scores.metric.explain(real, reading=reading)
        if explanation is None:
            continue
        notes = _packed(explanation, real, reading)
        if notes:
            by_metric[name] = notes
    if able and not any(name in by_metric for name in ("errors", "llm_errors")):
        by_metric = {
            READER: _packed(Explanation(READER, {}, reader_notes(real, reading=reading)), real, reading),
            **by_metric,
        }
    return by_metric


def reader_notes(case: Case, *, reading: Readings) -> tuple[Note, ...]:
    """Findings of both reports by the embedded reader, compared concept by concept.

    >>> from radgauge.core.cases import Case
    >>> notes = reader_notes(Case("1", "Small left effusion.", ("No effusion.",)), reading=Readings())
    >>> [(note.kind, note.text) for note in notes]
    [('contradicted', 'effusion: absent in the reference, present in the candidate')]
    """
    from radgauge.reader import ReportReader  # only where `errors` has not read the reports

    reference, candidate = reading.of(ReportReader(), [case.references[0], case.candidate])
    theirs, ours = _by_concept(reference.mentions), _by_concept(candidate.mentions)
    notes = []
    for concept in dict.fromkeys([*theirs, *ours]):
        left, right = theirs.get(concept, []), ours.get(concept, [])
        spans = (tuple((m.start, m.end) for m in left), tuple((m.start, m.end) for m in right))
        name = (left or right)[0].text.lower()
        if not right:
            notes.append(Note("missing", f"{name}: only in the reference ({left[0].assertion})", *spans))
        elif not left:
            notes.append(Note("added", f"{name}: only in the candidate ({right[0].assertion})", *spans))
        else:
            notes.append(_compared(name, left, right, spans))
    return tuple(notes)


def _by_concept(mentions: Sequence[Mention]) -> dict[str, list[Mention]]:
    by_concept: dict[str, list[Mention]] = {}
    for mention in mentions:
        if mention.kind != "anatomy" and mention.form != "implied" and mention.attributes.context == "current":
            by_concept.setdefault(mention.concept, []).append(mention)
    return by_concept


def _compared(
    name: str, left: list[Mention], right: list[Mention], spans: tuple[tuple[Span, ...], tuple[Span, ...]]
) -> Note:
    left_assertions, right_assertions = {m.assertion for m in left}, {m.assertion for m in right}
    if left_assertions.isdisjoint(right_assertions):
        text = f"{name}: {left[0].assertion} in the reference, {right[0].assertion} in the candidate"
        return Note("contradicted", text, *spans)
    apart = []
    for attribute in ("laterality", "severity", "change"):
        a = {getattr(m.attributes, attribute) for m in left} - {""}
        b = {getattr(m.attributes, attribute) for m in right} - {""}
        if a != b:
            words = [", ".join(sorted(side)) or "not said" for side in (a, b)]
            apart.append(f"{attribute} {words[0]} in the reference, {words[1]} in the candidate")
    if apart:
        return Note("changed", f"{name}: {'; '.join(apart)}", *spans)
    return Note("matched", f"{name}: in both ({left[0].assertion})", *spans)


def _packed(explanation: Explanation, case: Case, reading: Readings) -> list[list[Any]]:
    packed = []
    for note in explanation.notes[:MAX_NOTES]:
        kind = KINDS.index(note.kind) if note.kind in KINDS else KINDS.index("info")
        chosen = note.data.get("reference", 0)
        which = chosen if isinstance(chosen, int) and 0 <= chosen < len(case.references) else 0
        text = note.text if len(note.text) <= MAX_LENGTH else note.text[: MAX_LENGTH - 1] + "…"
        packed.append(
            [
                kind,
                text,
                _utf16(
                    case.references[which], _wrong(note, case.references[which], note.reference_spans, reading)
                ),
                _utf16(case.candidate, _wrong(note, case.candidate, note.candidate_spans, reading)),
                which,
                *_facets(note),
                *([1] if note.data.get("moved_most") else []),
            ]
        )
    left_out = len(explanation.notes) - len(packed)
    if left_out > 0:
        packed.append([KINDS.index("info"), f"and {left_out} more", [], [], 0, *_facets(Note("info", ""))])
    return packed


def _facets(note: Note) -> tuple[str, int, str, str]:
    """Filters of the browser: kind of error, 1 if significant (0 if not, -1 if no error), finding, sides."""
    category = str(note.data.get("category_key", ""))
    weight = int(bool(note.data.get("significant"))) if category else -1
    concept = str(note.data.get("concept", "")).removeprefix("open:").replace("_", " ")
    return category, weight, concept, " ".join(sorted(set(_SIDES.findall(note.text.lower()))))


_SIDES = re.compile(r"\b(?:left|right|bilateral)\b")
_ROLES = {"side": "side", "severity": "severity", "change": "change", "position": "position"}


def _wrong(note: Note, text: str, spans: Sequence[Span], reading: Readings) -> Sequence[Span]:
    if words := note.data.get("unread"):
        return _spans_of_words(words, text)
    if note.kind != "changed" or "attribute" not in note.data:
        return spans
    return _wrong_words(text, spans, note.data["attribute"], reading=reading)


def _spans_of_words(words: Sequence[str], text: str) -> list[Span]:
    """Spans of words that were not understood; a word appears in one of the two texts only.

    >>> _spans_of_words(["zorb"], "The Zorb and the zorbs.")
    [(4, 8)]
    """
    pattern = "|".join(map(re.escape, words))
    return [match.span() for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE)]


def _wrong_words(text: str, spans: Sequence[Span], attribute: object, *, reading: Readings) -> Sequence[Span]:
    """Spans of a differing attribute: its words, if the reader knows them, or else the full finding."""
    from radgauge.reader import ReportReader

    role = _ROLES.get(str(attribute))
    if role is None or not spans:
        return spans
    (read,) = reading.of(ReportReader(), [text])
    ours = {number for number, mention in enumerate(read.mentions) if (mention.start, mention.end) in set(spans)}
    telling = [modifier for modifier in read.modifiers if modifier.role == role]
    wrong = [modifier for modifier in telling if modifier.mention in ours]
    if not wrong:  # it may describe the place: "left apical pneumothorax"
        own_sentences = [read.sentences[read.mentions[number].sentence] for number in ours]
        near = [m for m in telling if any(own.start <= m.start < own.end for own in own_sentences)]
        wrong = near if len(near) == 1 else []
    return [(modifier.start, modifier.end) for modifier in wrong] or spans


def _utf16(text: str, spans: Sequence[Span]) -> list[int]:
    """Spans as JavaScript counts: a character beyond the basic plane is two units there.

    >>> _utf16("a😀b", [(1, 3)])
    [1, 4]
    """
    wide = _wide(text)
    if not wide:
        return [position for span in spans for position in span]
    return [position + bisect_left(wide, position) for span in spans for position in span]


@functools.lru_cache(maxsize=64)
def _wide(text: str) -> tuple[int, ...]:
    """Positions of the characters beyond the basic plane; every mark of a text needs them."""
    return () if text.isascii() else tuple(i for i, letter in enumerate(text) if ord(letter) > 0xFFFF)
