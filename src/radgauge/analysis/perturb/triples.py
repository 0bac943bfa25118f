"""Triples of a report, the same in other words, and its opposite: the form of RaTE-Eval task 3.

There a language model wrote both; here the rules do. A metric is right where the rewrite scores better.
Zhao et al., RaTEScore (EMNLP 2024), section 4.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from radgauge.analysis.perturb.make import perturb_reports
from radgauge.core.errors import UsageError
from radgauge.core.files import write_file
from radgauge.core.progress import working
from radgauge.io.judgments.rate_eval import Triple


class Triples(NamedTuple):
    """Triples, and how many reports could not be said in other words, or have no sensible opposite."""

    triples: tuple[Triple, ...]
    no_rewrite: int
    no_opposite: int


@working("making triples")
def make_triples(reports: Mapping[str, str], *, seed: int = 0) -> Triples:
    """The triples of all reports that can be both rewritten and turned round; the others are counted.

    Args:
        reports: Id -> text.
        seed: Seed of every choice.

    >>> made = make_triples({"1": "There is no pleural effusion.", "2": "He was given contrast."})
    >>> made.triples[0].opposite, made.no_opposite
    ('There is a pleural effusion.', 1)
    """
    done = perturb_reports(reports, ["paraphrase", "flip_negation"], seed=seed)
    made = done.perturbed
    triples = tuple(
        Triple(study, text, made[study, "paraphrase"].text, made[study, "flip_negation"].text)
        for study, text in reports.items()
        if (study, "paraphrase") in made and (study, "flip_negation") in made
    )
    return Triples(triples, done.none_possible["paraphrase"], done.none_possible["flip_negation"])


def write_triples(path: Path, triples: Sequence[Triple]) -> None:
    """JSON lines with id, original, rewrite, opposite, as `radgauge triples` reads them."""
    if path.suffix.lower() != ".jsonl":
        raise UsageError(f"triples are written as .jsonl, got {path.name}")
    write_file(path, "".join(json.dumps(triple._asdict(), ensure_ascii=False) + "\n" for triple in triples))
