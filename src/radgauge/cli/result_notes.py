"""What a reader of results should know beside them: few cases, low confidence, usual ranges, embedded parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radgauge.scores import Results


def few_cases_note(number: int, unit: str = "cases") -> list[str]:
    """A warning if the intervals rest on so few units that none of the methods is sure to hold."""
    from radgauge.stats.resample import FEW, LEAST

    if number >= FEW or not number:
        return []
    if number < LEAST:
        return [f"{number} {unit}: an interval needs at least {LEAST} (docs/intervals.md)"]
    return [f"{number} {unit}: with fewer than {FEW}, intervals can cover less than they say (docs/intervals.md)"]


def confidence_notes(results: Results) -> list[str]:
    """How many cases the embedded judge hardly understood."""
    notes = []
    for scores in results.values():
        if "errors_low_confidence" in scores.columns:
            low = scores.column("errors_low_confidence")
            if count := int((low == 1).sum()):
                notes.append(
                    f"{scores.judge}: {count} of {len(low)} cases are judged with low confidence, much of their "
                    f"texts was not understood (errors:low_confidence=skip leaves them out)"
                )
    return notes


def typical_notes(results: Results) -> list[str]:
    """Where the scores of metrics without bounds usually lie, if their signatures say so."""
    notes = []
    for scores in results.values():
        parts = dict(part.partition(":")[::2] for part in scores.signature.split("|"))
        low, sign, high = parts.get("typical", "").partition("..")
        if sign:
            notes.append(f"{scores.columns[0]} predicts {parts['predicts']}; usually it lies in {low} to {high}")
    return notes


def profile_note(results: Results) -> list[str]:
    """Said once per run: embedded parts give numbers of their own."""
    embedded = [column for scores in results.values() for column in scores.columns if column.endswith("_embedded")]
    if not embedded:
        return []
    return [
        "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
        "published numbers (--models published uses the authors' checkpoints)"
    ]


def account_notes(accounts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What a language model took, and how its judgments went, by judge."""
    if not accounts:
        return []
    from radgauge.metrics.llm_errors.accounts import account_text

    return [account_text(judge, account) for judge, account in accounts.items()]
