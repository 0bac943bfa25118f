"""The embedded sentence set: professional sentences and the same in plain words, all written by us.

recipes/lay_sentences writes data/sentences.tsv. A pair goes in only if the lay reader finds the same statements on
both sides: polarity, side, severity, certainty and change.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError
from radgauge.lay.fidelity import compare_lay, lay_findings
from radgauge.lay.lay_reader import LayReader

EMBEDDED = Path(__file__).parent / "data" / "sentences.tsv"
HEADER = "professional\tlay"


class Pair(NamedTuple):
    """A professional sentence and the same in plain words."""

    professional: str
    lay: str


@lru_cache(maxsize=4)
def sentence_set(path: str = "") -> tuple[Pair, ...]:
    """The pairs of a file of two tab-separated columns, "professional" and "lay"; "" is the embedded set.

    >>> len(sentence_set()) >= 1500
    True
    """
    source = Path(path) if path else EMBEDDED
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"sentence set {source} cannot be read: {error}") from None
    if not lines or lines[0] != HEADER:
        raise InputError(f"sentence set {source} must begin with the line 'professional<TAB>lay'")
    pairs = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 2 or not all(cell.strip() for cell in cells):
            raise InputError(f"sentence set {source}: line {number} must hold two sentences")
        pairs.append(Pair(*cells))
    if not pairs:
        raise InputError(f"sentence set {source} holds no pair")
    return tuple(pairs)


def keeps_meaning(pair: Pair) -> bool:
    """True if the lay reader finds the same statements on both sides, and at least one.

    >>> keeps_meaning(Pair("No pleural effusion.", "There is fluid around the lung."))
    False
    """
    professional, lay = map(lay_findings, LayReader().read(pair))
    matched, also, *wrong = compare_lay(professional, lay).counts
    return matched > 0 and also > 0 and not any(wrong)
