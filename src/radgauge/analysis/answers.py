"""Answers: how many of the studies that a system was asked about it reported at all.

A candidate that is absent or empty cannot be judged, so means leave it out; a system that is silent on the hard
studies would gain by it. The count stands beside every comparison, and a gate breaks on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from radgauge.core.scores import Results


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of one system."""

    system: str  # Name of the system
    asked: int  # Number of studies that any of the systems compared was asked about
    answered: int  # Number of these that it reported
    missing: tuple[str, ...]  # The others, in the order of the input

    def sentence(self) -> str:
        """The count, and the first study without an answer."""
        first = f", first without an answer: {self.missing[0]}" if self.missing else ""
        return f"{self.system} answered {self.answered:,} of {self.asked:,} studies{first}"


def answers(results: Results, systems: Sequence[str] | None = None) -> tuple[Answers, ...]:
    """Answers of each system, of the studies that any of them was asked about.

    >>> from radgauge import score
    >>> rows = [("1", "a", "Clear."), ("1", "b", "Clear."), ("2", "a", "Clear."), ("2", "b", "")]
    >>> cases = [{"id": i, "system": s, "candidate": c, "reference": "Clear."} for i, s, c in rows]
    >>> [(each.system, each.answered, each.asked) for each in answers(score(cases, "bleu"))]
    [('a', 2, 2), ('b', 1, 2)]
    """
    names = list(systems if systems is not None else dict.fromkeys(system for _, system in results.keys_of_cases))
    studies = list(dict.fromkeys(study for study, system in results.keys_of_cases if system in names))
    answered = set(results.keys_of_cases) - results.unanswered
    rows = []
    for name in names:
        missing = tuple(study for study in studies if (study, name) not in answered)
        rows.append(Answers(name, len(studies), len(studies) - len(missing), missing))
    return tuple(rows)


def unpaired(results: Results, system: str, baseline: str, judges: Iterable[str] = ()) -> tuple[str, ...]:
    """Studies that a comparison of two systems leaves out because one of them, or both, did not answer.

    Args:
        results: Scores of both.
        system: Name of the one.
        baseline: Name of the other.
        judges: Judges that must have understood both: words without a finding ("Report to follow.") are no answer.
            Their reason names the candidate; that of a case that does not apply to a judge does not.
    """
    silent = {study for reply in answers(results, (system, baseline)) for study in reply.missing}
    for judge in judges:
        reasons = results[judge].reasons
        silent |= {
            study
            for (study, name), reason in reasons.items()
            if name in (system, baseline) and "candidate" in reason
        }
    studies = dict.fromkeys(study for study, name in results.keys_of_cases if name in (system, baseline))
    return tuple(study for study in studies if study in silent)
