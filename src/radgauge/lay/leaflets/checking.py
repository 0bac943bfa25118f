"""The independent check of leaflets that the embedded writer did not write: what is lost, added, told otherwise.

The embedded writer is held to the check sentence by sentence; a language model's text or one that was given is
not, so that what the check finds stands beside it for the radiologist who signs. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from radgauge.lay.check.compare import Difference, check_lay
from radgauge.lay.plain_sentences import PlainSentence

Verdict = Literal["agrees", "differs", "not judged"]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Check of a plain text against its report."""

    # agrees (every fact that was read is told alike and everything was read), differs, or not judged
    verdict: Verdict
    kept: int = 0  # Facts told alike
    changed: tuple[str, ...] = ()  # Facts told otherwise, in words
    lost: tuple[str, ...] = ()  # Facts of the report that the plain text lacks
    added: tuple[str, ...] = ()  # Facts of the plain text that the report lacks
    unread: tuple[str, ...] = ()  # What could not be compared

    @property
    def summary(self) -> str:
        """One cell of a table.

        >>> CheckedText("differs", 3, lost=("small effusion",)).summary
        'differs: 1 lost'
        """
        named = (("told otherwise", self.changed), ("lost", self.lost), ("added", self.added))
        counts = [f"{len(facts)} {name}" for name, facts in (*named, ("not judged", self.unread)) if facts]
        return f"{self.verdict}: {', '.join(counts)}" if counts and self.verdict != "agrees" else self.verdict


def check_sentences(sentences: Sequence[PlainSentence], *, language: str = "en") -> CheckedText:
    """Check the sentences that were written anew against what they stand for.

    Args:
        sentences: Of one leaflet; those kept in the words of the report need no check.
        language: Of the plain text; the check reads English.

    >>> said = PlainSentence(0, 23, "Left pleural effusion.", "There is fluid around your right lung.")
    >>> check_sentences([said]).changed
    ('side: left, but the plain text says right',)
    """
    if language != "en":
        return CheckedText("not judged", unread=("the plain text: the check reads English",))
    written = [sentence for sentence in sentences if not sentence.kept]
    report = " ".join(dict.fromkeys(_ended(sentence.source) for sentence in written))
    plain = " ".join(dict.fromkeys(_ended(sentence.plain) for sentence in written))
    check = check_lay(report, plain)
    changed = tuple(
        _otherwise(difference) for difference in check.differences if difference.what not in ("lost", "added")
    )
    return CheckedText(
        "differs" if check.differences else "agrees" if check.is_judged else "not judged",
        len(check.kept),
        changed,
        tuple(difference.professional for difference in check.differences if difference.what == "lost"),
        tuple(difference.lay for difference in check.differences if difference.what == "added"),
        tuple(difference.professional or difference.lay for difference in check.unread),
    )


def _ended(sentence: str) -> str:
    stripped = sentence.strip()
    return stripped if stripped.endswith((".", "!", "?", ":")) else f"{stripped}."


def _otherwise(difference: Difference) -> str:
    professional, lay = difference.professional.strip(), difference.lay.strip()
    if professional and lay:
        return f"{difference.what}: {professional}, but the plain text says {lay}"
    return (
        f"{difference.what}: {professional} is not in the plain text"
        if professional
        else f"{difference.what}: only the plain text says {lay}"
    )


def checked_from(record: Mapping[str, Any]) -> CheckedText:
    """Restore a check from `asdict` or JSON."""
    names = ("changed", "lost", "added", "unread")
    return CheckedText(record["verdict"], record["kept"], *(tuple(record[name]) for name in names))
