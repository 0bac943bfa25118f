"""Corpora to search: every distinct text once, in the order in which ties are decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from radgauge.core.cases import Case
from radgauge.core.errors import InputError

Reports = Mapping[str, str] | Iterable[tuple[str, str]] | Iterable[Case]
"""Reports with their ids: a mapping, pairs of (id, text), or cases, whose first reference is meant."""


@dataclass(frozen=True)
class Corpus:
    """Distinct texts of a corpus.

    The order is the rule for ties: the text that occurs more often comes first, then the one whose smallest id
    comes first in the order of strings. A search that prefers the lower index obeys the rule.
    """

    texts: tuple[str, ...]  # Every distinct text that is not blank
    ids: tuple[str, ...]  # The smallest id that has the text
    frequencies: tuple[int, ...]  # How many reports have the text
    reports: int  # Number of reports, blank ones too
    blank: int  # Number of blank reports; they cannot be found

    @classmethod
    def of(cls, reports: Reports) -> Corpus:
        """Remove duplicates and put the texts in order.

        >>> corpus = Corpus.of({"3": "clear", "1": "edema", "2": "clear"})
        >>> corpus.texts, corpus.ids, corpus.frequencies
        (('clear', 'edema'), ('2', '1'), (2, 1))
        """
        entries: dict[str, tuple[int, str]] = {}
        blank = number = 0
        for identifier, text in as_pairs(reports, what="corpus"):
            number += 1
            if not text.strip():
                blank += 1
                continue
            count, smallest = entries.get(text, (0, identifier))
            entries[text] = (count + 1, min(smallest, identifier))
        if not entries:
            raise InputError(f"the corpus must hold at least one report that is not blank, got {number} reports")
        ordered = sorted(entries.items(), key=lambda item: (-item[1][0], item[1][1], item[0]))
        return cls(
            texts=tuple(text for text, _ in ordered),
            ids=tuple(identifier for _, (_, identifier) in ordered),
            frequencies=tuple(count for _, (count, _) in ordered),
            reports=number,
            blank=blank,
        )


def as_pairs(reports: Reports, *, what: str) -> list[tuple[str, str]]:
    """Pairs of (id, text), every id once; a study that occurs once per system is one report.

    Args:
        reports: A mapping, pairs or cases.
        what: What the reports are, for messages.
    """
    if isinstance(reports, str):
        raise InputError(f"{what} must map ids to texts, got one string")
    items = reports.items() if isinstance(reports, Mapping) else reports
    pairs: list[tuple[str, str]] = []
    for number, item in enumerate(items, start=1):
        if isinstance(item, Case):
            pair = (item.id, item.references[0] if item.references else "")
        else:
            pair = cast("tuple[str, str]", item)
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"{what}, report {number}: must be a pair (id, text) of strings, got {item!r:.80}")
        pairs.append(pair)
    by_id: dict[str, str] = {}
    for identifier, text in pairs:
        if by_id.setdefault(identifier, text) != text:
            raise InputError(
                f"{what}: the id {identifier!r} has two different texts; every report needs its own id"
            )
    return list(by_id.items())
