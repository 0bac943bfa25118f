"""Answers of a rater on a case: derived from events by replaying them.

Candidates are addressed by their blinded label ("A", "B"); "" stands for the case as a whole. Answers are

    answers[label][field]            per case and candidate
    answers[label][field][sentence]  per sentence; sentences are numbered from "0"

and an answer is {part: count} for counts, a number for numbers and ratings, {"choice", "reason"} for choices,
and a list of entries with ids for marks and missing findings.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from radgauge.core.errors import InputError
from radgauge.study.design import Design, Field

CHANGES = ("set", "add", "change", "remove", "copy", "cannot_judge", "can_judge")
KINDS = (*CHANGES, "submit", "reopen", "undo", "time", "ready")
"""What an event can be. `time` and `ready` change no answer and need no version."""
UNVERSIONED = ("time", "ready")

Span = tuple[int, int]


class Refused(InputError):
    """An action that cannot be taken; nothing was written. The message is meant for the rater."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as a rater sees it."""

    label: str  # "A", "B", ..
    text: str
    sentences: tuple[Span, ...] = ()  # Character spans of its sentences
    # What radgauge's reader would mark, as entries of marks with category and significance; empty unless this
    # rater is offered assistance on this case
    suggestions: tuple[Mapping[str, Any], ...] = ()
    system: str = ""  # Who wrote it; "" where the rater must not know


@dataclass(frozen=True, slots=True)
class CaseState:
    """State of a rater's case."""

    version: int = 0  # How many versioned events lie behind it; an action names the version that it was based on
    # Label -> field -> answer, as the module says
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cannot_judge: Mapping[str, str] = field(default_factory=dict)  # Label -> reason
    submitted: bool = False  # True if the rater is done with the case
    seconds: float = 0.0  # Time spent on it, as the page reported
    can_undo: bool = False  # True if there is something to undo

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "version": self.version,
            "answers": self.answers,
            "cannot_judge": self.cannot_judge,
            "submitted": self.submitted,
            "seconds": self.seconds,
            "can_undo": self.can_undo,
        }


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a case cannot be submitted yet."""

    candidate: str
    field: str
    message: str
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the append-only table."""

    seq: int
    time: str
    person: str
    case: str
    kind: str
    payload: Mapping[str, Any]
    design: str
    client_id: str
    based_on: int


def labels(number: int) -> tuple[str, ...]:
    """Labels of candidates.

    >>> labels(3), labels(28)[-2:]
    (('A', 'B', 'C'), ('AA', 'AB'))
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple((letters[n // 26 - 1] if n >= 26 else "") + letters[n % 26] for n in range(number))


def replay(events: Iterable[Event]) -> CaseState:
    """The state of one rater on one case from all of their events, in order."""
    listed = list(events)
    undone = {event.payload["undoes"] for event in listed if event.kind == "undo"}
    answers: dict[str, dict[str, Any]] = {}
    cannot: dict[str, str] = {}
    submitted, seconds, version, steps = False, 0.0, 0, 0
    for event in listed:
        if event.kind == "time":
            seconds += float(event.payload["seconds"])
        if event.kind in UNVERSIONED:
            continue
        version += 1
        if event.kind == "undo" or event.seq in undone:
            continue
        steps += 1
        if event.kind in ("submit", "reopen"):
            submitted = event.kind == "submit"
        elif event.kind == "cannot_judge":
            cannot[event.payload["candidate"]] = event.payload["reason"]
        elif event.kind == "can_judge":
            cannot.pop(event.payload["candidate"], None)
        elif event.kind == "copy":
            _copy(answers, cannot, event.payload["source"], event.payload["candidate"])
        else:
            _apply(answers, event)
    return CaseState(version, _pruned(answers), cannot, submitted, round(seconds, 3), steps > 0)


def _pruned(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Without what was answered and cleared again."""
    pruned = {key: _pruned(answer) if isinstance(answer, dict) else answer for key, answer in answers.items()}
    return {key: answer for key, answer in pruned.items() if answer != {}}


def last_step(events: Sequence[Event]) -> Event | None:
    """The event that an undo takes back: the last one that changed something and was not undone."""
    undone = {event.payload["undoes"] for event in events if event.kind == "undo"}
    return next(
        (
            event
            for event in reversed(events)
            if event.kind not in (*UNVERSIONED, "undo") and event.seq not in undone
        ),
        None,
    )


def _copy(answers: dict[str, dict[str, Any]], cannot: dict[str, str], source: str, label: str) -> None:
    answers[label] = copy.deepcopy(answers.get(source, {}))
    cannot.pop(label, None)
    if source in cannot:
        cannot[label] = cannot[source]


def _apply(answers: dict[str, dict[str, Any]], event: Event) -> None:
    data = event.payload
    fields = answers.setdefault(data["candidate"], {})
    key = data["field"]
    if event.kind == "set":
        path = [key, *([str(data["unit"])] if data.get("unit") is not None else [])]
        path += [data["part"]] if data.get("part") else []
        _put(fields, path, copy.deepcopy(data["value"]))
        return
    entries = fields.setdefault(key, [])
    if event.kind == "add":
        entries.append({"id": str(event.seq), **copy.deepcopy(dict(data["entry"]))})
        return
    index = next((n for n, entry in enumerate(entries) if entry["id"] == data["id"]), None)
    if index is None:
        return  # it was added by an event that was undone
    if event.kind == "change":
        entries[index] = {"id": data["id"], **copy.deepcopy(dict(data["entry"]))}
    else:
        del entries[index]
    if not entries:
        del fields[key]


def _put(fields: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *above, last = path
    for step in above:
        fields = fields.setdefault(step, {})
    if value is None:
        fields.pop(last, None)
    else:
        fields[last] = value


def part_of(entry: Mapping[str, Any]) -> str:
    """The part of a field of counts that a mark or a missing finding belongs to."""
    level = entry.get("significance")
    return f"{entry.get('category', '')}/{level}" if level else str(entry.get("category", ""))


def counts_of(design: Design, state: CaseState, *, label: str, field: Field) -> dict[str, int]:
    """The counts of a candidate, part -> number; each at least the number of the marks that count into it."""
    answered = state.answers.get(label, {})
    counts = {part: int(answered.get(field.key, {}).get(part, 0)) for part in field.parts()}
    marked: dict[str, int] = {}
    for other in design.fields:
        if other.counts_into == field.key:
            for entry in answered.get(other.key, ()):
                marked[part_of(entry)] = marked.get(part_of(entry), 0) + 1
    return {part: max(number, marked.get(part, 0)) for part, number in counts.items()}


def problems(design: Design, candidates: Sequence[Shown], *, state: CaseState) -> list[Problem]:
    """Reasons why a case cannot be submitted; none where the rater cannot judge."""
    if "" in state.cannot_judge:
        return []
    refusals: list[Problem] = []
    judged = [shown for shown in candidates if shown.label not in state.cannot_judge]
    for question in design.fields:
        if question.per == "case":
            if judged:
                refusals += _unanswered(design, question, state, "", None)
            continue
        for candidate in judged:
            sentences = range(len(candidate.sentences)) if question.per == "sentence" else [None]
            for sentence in sentences:
                refusals += _unanswered(design, question, state, candidate.label, sentence)
        if question.identical:
            refusals += _unequal(design, question, judged, state)
    return refusals


def _unanswered(
    design: Design, question: Field, state: CaseState, label: str, sentence: int | None
) -> list[Problem]:
    answer = state.answers.get(label, {}).get(question.key)
    if sentence is not None:
        answer = (answer or {}).get(str(sentence))
    where = f"candidate {label}: " if label else ""
    where += f"sentence {sentence + 1}: " if sentence is not None else ""
    if (
        question.kind == "choice"
        and answer is not None
        and question.reason == "required"
        and not answer.get("reason")
    ):
        return [Problem(label, question.key, f"{where}{question.title}: give a reason", sentence)]
    if question.kind == "counts":
        if not question.explicit or answer or any(counts_of(design, state, label=label, field=question).values()):
            return []
        return [Problem(label, question.key, f"{where}count the errors, or say that there are none", sentence)]
    if not question.required or answer is not None:
        return []
    what = "add at least one" if question.kind in ("marks", "missing") else "not answered yet"
    return [Problem(label, question.key, f"{where}{question.title}: {what}", sentence)]


def _unequal(design: Design, question: Field, judged: Sequence[Shown], state: CaseState) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, Shown] = {}
    for candidate in judged:
        same = first.setdefault(candidate.text.strip(), candidate)
        if same is candidate:
            continue
        answers: list[Any] = []
        for label in (same.label, candidate.label):
            if question.kind == "counts" and question.per == "candidate":
                answers.append(counts_of(design, state, label=label, field=question))
            else:
                answers.append(state.answers.get(label, {}).get(question.key))
        if answers[0] != answers[1]:
            message = f"candidates {same.label} and {candidate.label} are identical: their answers must be equal"
            problems.append(Problem(candidate.label, question.key, f"{question.title}: {message}"))
    return problems
