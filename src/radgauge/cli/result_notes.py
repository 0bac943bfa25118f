"""Notes for readers of results: few cases, low confidence, usual ranges, embedded parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radgauge.analysis.summary import Summary
    from radgauge.core.scores import Results

Judges = Sequence[tuple[Sequence[str], str]]
"""Columns and signature of each judge."""

_LOW = "errors_low_confidence"


def few_cases_note(number: int, unit: str = "cases") -> list[str]:
    """A warning if the intervals rest on so few units that none of the methods is sure to hold."""
    from radgauge.stats.resample import FEW, MIN_UNITS

    if number >= FEW or not number:
        return []
    if number < MIN_UNITS:
        return [f"{number} {unit}: an interval needs at least {MIN_UNITS} (docs/intervals.md)"]
    return [f"{number} {unit}: with fewer than {FEW}, intervals can cover less than they say (docs/intervals.md)"]


def result_notes(judges: Judges, lines: Sequence[Summary]) -> list[str]:
    """Cases judged with low confidence, usual ranges, embedded parts."""
    notes = []
    for judge in dict.fromkeys(line.judge for line in lines if line.column == _LOW):
        own = [line for line in lines if (line.judge, line.column) == (judge, _LOW)]
        if count := sum(round(line.value * line.judged) for line in own if line.judged):
            notes.append(_unsure(judge, count, sum(line.judged + line.not_judged for line in own)))
    return [*notes, *_typical(judges), *_embedded(judges)]


def _unsure(judge: str, count: int, cases: int) -> str:
    return (
        f"{judge}: {count} of {cases} cases are judged with low confidence, much of their "
        "texts was not understood (errors:low_confidence=skip leaves them out)"
    )


def _typical(judges: Judges) -> list[str]:
    """List the usual ranges of metrics without bounds, if their signatures have them."""
    notes = []
    for columns, signature in judges:
        parts = dict(part.partition(":")[::2] for part in signature.split("|"))
        low, sign, high = parts.get("typical", "").partition("..")
        if sign:
            notes.append(f"{columns[0]} predicts {parts['predicts']}; usually it lies in {low} to {high}")
    return notes


def profile_note(results: Results) -> list[str]:
    """Said once per run: embedded parts give numbers of their own."""
    return _embedded([(scores.columns, scores.signature) for scores in results.judges.values()])


def _embedded(judges: Judges) -> list[str]:
    ends = {column.rpartition("_")[2] for columns, _ in judges for column in columns}
    demonstration = [
        "vlscore_demo shows how VLScore is computed and judges nothing: with the encoder that ships, wrong images "
        "agree with raters as well as right ones; name an encoder (vlscore:encoder=, radgauge probe image)"
    ]
    if "embedded" not in ends:
        return demonstration if "demo" in ends else []
    return [
        *(demonstration if "demo" in ends else []),
        "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
        "published numbers (--models published uses the authors' checkpoints)",
    ]


def account_notes(accounts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Describe the cost of a language model, and its judgments, by judge."""
    if not accounts:
        return []
    from radgauge.metrics.llm_errors.accounts import account_text

    return [account_text(judge, account) for judge, account in accounts.items()]
