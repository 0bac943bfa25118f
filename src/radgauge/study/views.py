"""Input and output of a store: actions of raters, and cases as one of them sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from radgauge.study.people import Person
from radgauge.study.state import CaseState, Problem, Refused, Shown, Span


class Stale(Refused):
    """The case was changed since the version that an action was based on; `state` is how it stands now."""

    def __init__(self, state: CaseState) -> None:
        super().__init__("this case was changed in another window; look at it again")
        self.state = state


@dataclass(frozen=True, slots=True)
class Action:
    """Action of a rater."""

    case: str  # Key of the case; "" for `ready`
    kind: str  # set, add, change, remove, copy, cannot_judge, can_judge, submit, reopen, undo, time or ready
    payload: Mapping[str, Any] = field(default_factory=dict)  # See `radgauge.study`
    based_on: int = 0  # `CaseState.version` that the rater saw; not looked at for `time` and `ready`
    client_id: str = ""  # Made anew for each action, the same for each retry of it; at most 64 characters


@dataclass(frozen=True, slots=True)
class Recorded:
    """An acknowledged action: its number, the case after it, and whether it was a retry."""

    seq: int
    state: CaseState
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A case in a rater's list."""

    key: str
    number: int  # From 1, in the rater's own order; training cases are counted for themselves
    training: bool  # True if it is a training case
    locked: bool  # True if the training must be submitted first
    started: bool  # True if there is an answer
    submitted: bool  # True if the rater is done with it
    cannot_judge: bool  # True if the rater said so of the whole case
    seconds: float  # Time spent


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case as one rater sees it, without the systems' names unless the design is not blinded."""

    key: str
    reference: str  # What the radiologist wrote; "" where the design does not show it
    reference_sentences: tuple[Span, ...]  # Character spans
    context: Mapping[str, str]  # Heading -> text, as the design wants
    images: int  # How many; files come from `Store.image_path`
    candidates: tuple[Shown, ...]  # In this rater's order
    training: bool  # True if it is a training case
    assisted: bool  # True if suggestions are offered
    state: CaseState  # Where the rater stands
    problems: tuple[Problem, ...] = ()  # What keeps the case from being submitted
    feedback: Mapping[str, Any] | None = None  # After a submitted training case: what was expected


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers of another rater on a case, in the labels of the one who asks; for adjudicators."""

    person: Person
    state: CaseState


def relabelled(state: CaseState, names: Mapping[str, str]) -> CaseState:
    """The same state with other labels, also where a candidate was chosen."""

    def renamed(answer: Any) -> Any:
        if isinstance(answer, Mapping) and answer.get("choice") in names:
            return {**answer, "choice": names[answer["choice"]]}
        return answer

    return replace(
        state,
        answers={
            names.get(label, label): {key: answer if label else renamed(answer) for key, answer in fields.items()}
            for label, fields in state.answers.items()
        },
        cannot_judge={names.get(label, label): reason for label, reason in state.cannot_judge.items()},
    )
