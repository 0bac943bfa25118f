"""Acceptance of a change by words and cues alone, without the report reader.

The reader proposes changes. If it confirmed them too, metrics that rest on it would be measured on those changes
alone that it sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.forms import same_words
from radgauge.core.parsing import shipped_toml
from radgauge.text.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class Cues:
    """The tables of check.toml, compiled."""

    denial: re.Pattern[str]
    clause: re.Pattern[str]
    hedge: re.Pattern[str]
    comparison: re.Pattern[str]
    leaning: re.Pattern[str]
    generic: frozenset[str]
    families: dict[str, re.Pattern[str]]


@cache
def cues() -> Cues:
    """Return the shipped tables."""
    raw = shipped_toml(__file__, "check.toml")
    words = {name: re.compile(rf"\b(?:{'|'.join(terms)})\b", re.IGNORECASE) for name, terms in raw["cues"].items()}
    families = {
        name: re.compile("|".join(f"(?:{terms})" for terms in patterns), re.IGNORECASE)
        for name, patterns in raw["families"].items()
    }
    leaning = re.compile(rf"(?:{'|'.join(raw['leaning']['openings'])})\b", re.IGNORECASE)
    return Cues(**words, leaning=leaning, generic=frozenset(raw["generic"]["words"]), families=families)


def denied(sentence: str, position: int) -> bool:
    """True if a cue denies what stands at the position.

    >>> denied("No effusion, but a small nodule.", 3), denied("No effusion, but a small nodule.", 25)
    (True, False)
    """
    before = sentence[:position]
    ends = [match.end() for match in cues().clause.finditer(before)]
    return cues().denial.search(before, max(ends, default=0)) is not None


def families_of(sentence: str, names: Sequence[str] = ()) -> frozenset[str]:
    """Return the families of findings that a sentence states, and those of the names of findings in it.

    >>> sorted(families_of("Small effusion. No pneumothorax."))
    ['effusion']
    """
    stated = {family for family, pattern in cues().families.items() if _stated(sentence, pattern)}
    return frozenset(
        stated | {family for family, p in cues().families.items() if any(p.search(name) for name in names)}
    )


def restates(sentence: str, *, families: frozenset[str], names: Sequence[str]) -> bool:
    """True if a sentence states a finding of these families, or uses one of the names, and does not deny it."""
    patterns = [cues().families[family] for family in families]
    specific = [name for name in names if name.lower() not in cues().generic]
    patterns += [re.compile(rf"\b{re.escape(name)}", re.IGNORECASE) for name in specific]
    return any(_stated(sentence, pattern) for pattern in patterns)


def _stated(sentence: str, pattern: re.Pattern[str]) -> bool:
    return any(not denied(sentence, match.start()) for match in pattern.finditer(sentence))


def accepted(text: str, kind: str, change: Sequence[Proposal]) -> bool:
    """True if the words around a change bear out what it claims to be.

    Args:
        text: The original.
        kind: Name of the kind.
        change: Proposals that are made together.
    """
    check = _CHECKS.get(kind)
    if check is None:
        return True
    return all(check(*_sentences(text, proposal)) for proposal in change)


def _sentences(text: str, proposal: Proposal) -> tuple[str, str, int]:
    """The changed sentence before and after, and the position of the change in it."""
    for start, end in split_sentences(text):
        if start <= proposal.start < max(end, start + 1):
            stop = max(end, proposal.end)
            after = text[start : proposal.start] + proposal.after + text[proposal.end : stop]
            return text[start:stop], after, proposal.start - start
    return text, text[: proposal.start] + proposal.after + text[proposal.end :], proposal.start


def _affirmed(before: str, after: str, position: int) -> bool:
    """Another word, in what the sentence does not deny."""
    return before != after and not denied(before, position)


def _counts(pattern: re.Pattern[str], before: str, after: str) -> tuple[int, int]:
    return len(pattern.findall(before)), len(pattern.findall(after))


def _flipped(before: str, after: str, position: int) -> bool:
    one, two = _counts(cues().denial, before, after)
    return one != two


def _hedged(before: str, after: str, position: int) -> bool:
    one, two = _counts(cues().hedge, before, after)
    return one < two


def _assured(before: str, after: str, position: int) -> bool:
    return _hedged(after, before, position)


def _compared(before: str, after: str, position: int) -> bool:
    one, two = _counts(cues().comparison, before, after)
    return one == 0 < two


def _no_longer_compared(before: str, after: str, position: int) -> bool:
    return _compared(after, before, position)


def _same_words(before: str, after: str, position: int) -> bool:
    return before != after and same_words(before, after)


_CHECKS: dict[str, Callable[[str, str, int], bool]] = {
    **dict.fromkeys(("bullets", "key_value", "other_voice", "abbreviate", "move_section"), _same_words),
    "change_location": _affirmed,
    "change_severity": _affirmed,
    "flip_negation": _flipped,
    "hedge": _hedged,
    "assert": _assured,
    "add_comparison": _compared,
    "drop_comparison": _no_longer_compared,
}
