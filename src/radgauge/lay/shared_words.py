"""Words that stand once and may hold for two findings: said of both, or the sentence is kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from radgauge.lay.limits import LIMITS
from radgauge.lay.statement import NoPlan, Statement
from radgauge.reader import Mention, Modifier

_LISTED = re.compile(r"[\s,]*(?:and/or|and|or|versus|vs\.?)?\s*", re.IGNORECASE)
_ALONGSIDE = re.compile(r"[\s,]*with\s+(?:(?:associated|adjacent|an?|the|some)\s+)*", re.IGNORECASE)
_ANYWHERE = frozenset({"pleural_effusion", "pneumothorax"})  # lie around the lung, wherever the other finding is
_LUMPS = frozenset({"lung_nodule", "nodule", "lung_mass", "mass", "lung_opacity"})


def share(statement: Statement, before: Statement, *, between: str) -> Statement:
    """The statement with what stands once before its list: "no definite A or B", "stable A and B".

    Args:
        statement: The finding.
        before: The finding in front of it.
        between: The words between them.

    Raises:
        NoPlan: If it is not sure how far a degree reaches in a list of denials.
    """
    anew = re.search(r"\b(?:no|without|with|but)\b", between, re.IGNORECASE)
    denied = statement.status == before.status == "absent" and not anew
    limits = [quality for quality in ("definite", "suspicious", *LIMITS) if quality in before.qualities]
    if denied:
        if (before.severity and not statement.severity) or (
            "significant" in before.qualities and "significant" not in statement.qualities
        ):
            raise NoPlan("how far a degree reaches in a list of denials")
        lumps = statement.concept in _LUMPS  # "no suspicious nodule, mass or effusion": no suspicious effusion
        more = tuple(
            quality
            for quality in limits
            if quality not in statement.qualities and (quality != "suspicious" or lumps)
        )
        statement = statement._replace(qualities=(*statement.qualities, *more))
    listed = re.fullmatch(r"(?:[\s,]|and|\w+ ){1,6}", between) and re.search(r"\band\b|,", between)
    made = statement.status == before.status == "present" and not anew
    if made and before.change == "stable" and not statement.change and listed:
        statement = statement._replace(change="stable")
    return statement


def stop_at_shared_words(statement: Statement, before: Statement, *, between: str, behind: bool) -> None:
    """ "Mild scoliosis and degenerative changes", "stable scarring with pleural thickening": of one, or of both.

    Args:
        statement: The finding.
        before: The finding in front of it.
        between: The words between them.
        behind: Whether its word of change stands behind it.

    Raises:
        NoPlan: If a describing word of one of two findings may hold for the other and is not said of it.
    """
    if "absent" in (statement.status, before.status):
        return
    if _LISTED.fullmatch(between):
        words, words_before = (
            (item.severity, item.quantity, *(word for word in item.qualities if word != "focal"))
            for item in (statement, before)
        )
        if (before.change and not statement.change) or (behind and statement.change and not before.change):
            raise NoPlan("a change of one finding or of both")
        if not any(words) and any(words_before):
            raise NoPlan("a describing word of one finding or of both")
    elif _ALONGSIDE.fullmatch(between):
        if before.change and not statement.change:
            raise NoPlan("a change of one finding or of both")
        closer = set(before.places) - set(statement.places) - {"lung", "pleural_space", "airspace", "pleura"}
        if statement.side and statement.side == before.side and closer and statement.concept not in _ANYWHERE:
            raise NoPlan("a place of one finding or of both")


def is_change_behind(described: Sequence[Modifier], mention: Mention) -> bool:
    """True if a word of change follows the finding that it describes."""
    return any(m.role == "change" and m.start >= mention.end for m in described)
