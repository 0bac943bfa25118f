"""Texts that are not English reports.

A number about words that nobody understood says nothing, however well it is computed.
"""

from __future__ import annotations

import math

from outcome import Outcome

import radgauge as rg
from radgauge.core.registry import DEFAULTS

GERMAN = (
    "Kein Pleuraerguss, kein Pneumothorax. Das Herz ist normal groß.",
    "Herzgröße normal. Kein Erguss, kein Pneumothorax, keine Stauung.",
)
ENGLISH = "No pleural effusion or pneumothorax. The heart is normal in size."
PROSE = "Our train was delayed, so we took a taxi to the airport and nearly missed the flight to Lisbon."


def judged(candidate: str, reference: str, *, any_language: bool = False) -> list[str]:
    """Names of the default metrics that give the case a value."""
    results = rg.score(references=[reference], candidates=[candidate], any_language=any_language, progress=False)
    return [name for name, scores in results.judges.items() if not math.isnan(scores.headline[0])]


def outcome(
    tried: str, names: list[str], *, must: str = "no default metric gives a value", want: int = 0
) -> Outcome:
    """The row of a control that counts the metrics that judged."""
    return Outcome(tried, must, f"{len(names)} of {len(DEFAULTS)} gave one", len(names) == want)


def control_german_against_german() -> Outcome:
    """Two reports in another language are not judged."""
    return outcome("a German report against a German report", judged(*GERMAN))


def control_german_against_english() -> Outcome:
    """Nor is a candidate in another language."""
    return outcome("a German report against an English one", judged(GERMAN[0], ENGLISH))


def control_german_counts_as_unanswered() -> Outcome:
    """A candidate in another language is an answer that the system owes."""
    results = rg.score(references=[ENGLISH, ENGLISH], candidates=[GERMAN[0], ENGLISH], progress=False)
    did = f"{len(results.unanswered)} of 2 unanswered"
    return Outcome("one of two candidates in German", "1 of 2 unanswered", did, did == "1 of 2 unanswered")


def control_forced() -> Outcome:
    """Whoever wants the numbers gets them."""
    names = judged(*GERMAN, any_language=True)
    total = len(DEFAULTS)
    return outcome(
        "the German pair with `any_language`", names, must="every default metric gives a value", want=total
    )


def control_prose() -> Outcome:
    """English prose that is no report is not read as one."""
    reading = [name for name in judged(PROSE, PROSE) if name not in ("bertscore", "bleu", "rouge")]
    return outcome("a travel story against itself", reading, must="no metric that reads findings gives a value")


def control_telegraphic_english() -> Outcome:
    """Short notes are reports."""
    names = judged("No PTX. Sm L eff. Cor nl.", "No PTX. L effusion. Heart normal.")
    total = len(DEFAULTS)
    return outcome("notes in English", names, must="every default metric gives a value", want=total)
