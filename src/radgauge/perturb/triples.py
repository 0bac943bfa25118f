"""Triples of a report, the same in other words, and its opposite: the form of RaTE-Eval task 3.

There a language model wrote both; here the rules do. A metric is right where the rewrite scores better.
Zhao et al., RaTEScore (EMNLP 2024), section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from radgauge.cases import Case
from radgauge.perturb.make import perturb_reports


@dataclass(frozen=True, slots=True)
class Triple:
    """A report, a rewrite that means the same, and an opposite with a finding denied or stated."""

    id: str
    original: str
    rewrite: str
    opposite: str


def make_triples(reports: Mapping[str, str], *, seed: int = 0) -> list[Triple]:
    """The triples of all reports that can be both rewritten and turned round.

    Args:
        reports: Id -> text.
        seed: Seed of every choice.

    >>> [triple] = make_triples({"1": "There is no pleural effusion."})
    >>> triple.opposite
    'There is a pleural effusion.'
    """
    made = perturb_reports(reports, ["paraphrase", "flip_negation"], seed=seed).perturbed
    return [
        Triple(study, text, made[study, "paraphrase"].text, made[study, "flip_negation"].text)
        for study, text in reports.items()
        if (study, "paraphrase") in made and (study, "flip_negation") in made
    ]


def triple_cases(triples: Sequence[Triple]) -> list[Case]:
    """Two cases per triple, systems "rewrite" and "opposite", with the original as reference."""
    return [
        Case(triple.id, text, (triple.original,), system=system)
        for triple in triples
        for system, text in (("rewrite", triple.rewrite), ("opposite", triple.opposite))
    ]
