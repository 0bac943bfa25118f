"""What goes into a store and comes out of it: actions of raters, and cases as one of them sees them."""

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
    """What a rater does.

    Attributes:
        case: Key of the case; "" for `ready`.
        kind: set, add, change, remove, copy, cannot_judge, can_judge, submit, reopen, undo, time or ready.
        payload: See `radgauge.study`.
        based_on: `CaseState.version` that the rater saw; not looked at for `time` and `ready`.
        client_id: Made anew for each action, the same for each retry of it; at most 64 characters.
    """

    case: str
    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    based_on: int = 0
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An acknowledged action: its number, the case after it, and whether it was a retry."""

    seq: int
    state: CaseState
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A case in a rater's list.

    Attributes:
        key: Of the case.
        number: From 1, in the rater's own order; training cases are counted for themselves.
        training: Whether it is a training case.
        locked: Whether the training must be submitted first.
        started: Whether there is an answer.
        submitted: Whether the rater is done with it.
        cannot_judge: Whether the rater said so of the whole case.
        seconds: Time spent.
    """

    key: str
    number: int
    training: bool
    locked: bool
    started: bool
    submitted: bool
    cannot_judge: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case as one rater sees it; nothing in it tells which system wrote what, unless the design is not blinded.

    Attributes:
        key: Of the case.
        reference: What the radiologist wrote; "" where the design does not show it.
        reference_sentences: Character spans.
        context: Heading -> text, as the design wants.
        images: How many; files come from `Store.image_path`.
        candidates: In this rater's order.
        training: Whether it is a training case.
        assisted: Whether suggestions are offered.
        state: Where the rater stands.
        problems: What keeps the case from being submitted.
        feedback: After a submitted training case: what was expected.
    """

    key: str
    reference: str
    reference_sentences: tuple[Span, ...]
    context: Mapping[str, str]
    images: int
    candidates: tuple[Shown, ...]
    training: bool
    assisted: bool
    state: CaseState
    problems: tuple[Problem, ...] = ()
    feedback: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What another rater said of a case, in the labels of the one who asks; for adjudicators."""

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
