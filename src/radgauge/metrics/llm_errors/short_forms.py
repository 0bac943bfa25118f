"""The shorter judgments: a rating with anchors, a preference of two candidates, entailment by sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from radgauge.core.metric import Note
from radgauge.llm.schema import INTEGER, TEXT, faults_of, listed, one_of, record
from radgauge.metrics.llm_errors.pairs import Pair, Text

RATINGS = (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)
RATING = record(reference_quote=TEXT, candidate_quote=TEXT, explanation=TEXT, rating=one_of(RATINGS))
PREFERENCE = record(
    reference_quote=TEXT,
    first_quote=TEXT,
    second_quote=TEXT,
    explanation=TEXT,
    better=one_of(["first", "second", "equal"]),
)
QUOTED_WORDS = 3
"""Words that a quote must have, if its report has as many: it shows that this pair of reports was judged."""
_NUMBER = re.compile(r"^\s*\[\d+\]\s*")
VERDICTS = ("entailed", "contradicted", "not_stated")
SIDES = ("candidate", "reference")
MAX_ENTRIES = 240
_SENTENCE = record(
    sentence=INTEGER, explanation=TEXT, evidence=listed(INTEGER, max_items=MAX_ENTRIES), verdict=one_of(VERDICTS)
)
ENTAILMENT = record(
    candidate=listed(_SENTENCE, max_items=MAX_ENTRIES), reference=listed(_SENTENCE, max_items=MAX_ENTRIES)
)


def explained_faults(
    value: Mapping[str, Any], *, schema: Mapping[str, Any], texts: Mapping[str, Text]
) -> list[str]:
    """List faults of a rating or a preference: its form, no reason, or quotes of other texts.

    Args:
        value: The answer.
        schema: RATING or PREFERENCE.
        texts: Name of each report that the answer quotes -> the report.
    """
    if faults := faults_of(value, schema):
        return faults
    faults = [] if value["explanation"].strip() else ["explanation must not be empty"]
    for name, text in texts.items():
        quote = _NUMBER.sub("", value[f"{name}_quote"])
        if len(quote.split()) < min(QUOTED_WORDS, len(text.text.split())):
            faults.append(f"{name}_quote must have at least {QUOTED_WORDS} words")
        elif quote.strip() and text.find(quote) is None:
            faults.append(f"{name}_quote must be words that stand in that report")
    return faults


def entailment_faults(value: Mapping[str, Any], pair: Pair) -> list[str]:
    """List faults of an entailment answer: every sentence is judged once, and by sentences that exist."""
    if faults := faults_of(value, ENTAILMENT):
        return faults
    faults = []
    for side, own, other in (
        ("candidate", pair.candidate, pair.reference),
        ("reference", pair.reference, pair.candidate),
    ):
        faults += _side_faults(value[side], side, own, other)
    return faults


def _side_faults(entries: Sequence[Mapping[str, Any]], side: str, own: Text, other: Text) -> list[str]:
    faults = []
    counts = dict.fromkeys(range(1, len(own.sentences) + 1), 0)
    last = len(other.sentences)
    for number, entry in enumerate(entries, start=1):
        if entry["sentence"] not in counts:
            faults.append(f"{side} {number}: sentence must be from 1 to {len(counts)}")
            continue
        counts[entry["sentence"]] += 1
        where = f"{side} sentence {entry['sentence']}"
        if any(not 1 <= evidence <= last for evidence in entry["evidence"]):
            faults.append(f"{where}: evidence must be numbers from 1 to {last}")
        if (entry["verdict"] == "not_stated") is bool(entry["evidence"]):
            required = "no evidence" if entry["verdict"] == "not_stated" else "evidence"
            faults.append(f"{where}: {entry['verdict']} needs {required}")
    for sentence, count in counts.items():
        if count != 1:
            faults.append(f"{side} sentence {sentence} must be judged once, it is judged {count} times")
    return faults


def entailment_row(value: Mapping[str, Any]) -> list[float]:
    """F1, precision, recall, and the share of the candidate's sentences that the reference contradicts."""
    share = {
        side: sum(entry["verdict"] == "entailed" for entry in value[side]) / len(value[side]) for side in SIDES
    }
    precision, recall = share["candidate"], share["reference"]
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    contradicted = sum(entry["verdict"] == "contradicted" for entry in value["candidate"]) / len(
        value["candidate"]
    )
    return [f1, precision, recall, contradicted]


def entailment_notes(value: Mapping[str, Any], pair: Pair, *, which: int) -> tuple[Note, ...]:
    """One sentence for each sentence of both reports that the other does not bear out, then for those it does."""
    texts = {"candidate": pair.candidate, "reference": pair.reference}
    names = {
        ("candidate", "contradicted"): "contradicted",
        ("reference", "contradicted"): "contradicted",
        ("candidate", "not_stated"): "added",
        ("reference", "not_stated"): "missing",
    }
    notes = []
    for side, other in (("candidate", "reference"), ("reference", "candidate")):
        for entry in value[side]:
            spans = {
                side: (texts[side].sentences[entry["sentence"] - 1],),
                other: tuple(texts[other].sentences[number - 1] for number in entry["evidence"]),
            }
            kind = names.get((side, entry["verdict"]), "matched")
            verdict = {"entailed": "bears out", "contradicted": "contradicts", "not_stated": "does not state"}
            text = f"The {other} {verdict[entry['verdict']]} sentence {entry['sentence']} of the {side}."
            why = f" {entry['explanation'].strip()}" if entry["explanation"].strip() else ""
            notes.append(Note(kind, text + why, spans["reference"], spans["candidate"], {"reference": which}))
    return tuple(sorted(notes, key=lambda note: note.kind == "matched"))


def self_agreement(values: Sequence[float], width: float) -> float:
    """Agreement of repeated judgments of one case: 1 minus the mean difference of two of them over the range.

    >>> self_agreement([4.0, 4.0, 3.0], 4.0)
    0.8333333333333334
    """
    defined = [value for value in values if not math.isnan(value)]
    pairs = [abs(a - b) for at, a in enumerate(defined) for b in defined[at + 1 :]]
    return 1.0 - sum(pairs) / len(pairs) / width if pairs else math.nan
