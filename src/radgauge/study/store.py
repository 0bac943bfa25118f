"""The store of a study: what raters see, what they did, and who they are. Safe for threads and processes.

Raters know a case by its opaque key and candidates by their blinded labels. Every action is one event; it is
acknowledged when it is on disk. An action names the version of the case that the rater saw: if another window was
faster it is refused as `Stale`, with the present state, and nothing is overwritten. A retry with the same
`client_id` is recognised and written once.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from radgauge.core.errors import InputError
from radgauge.core.files import check_folder, replacing
from radgauge.study import assignment, people, schema
from radgauge.study.actions import ActionCheck
from radgauge.study.assignment import Assignment
from radgauge.study.design import Design, Field, design_from_dict
from radgauge.study.people import Person, TokenInfo
from radgauge.study.schema import EVENT_COLUMNS, chained, event_of, plain_json
from radgauge.study.state import (
    UNVERSIONED,
    CaseState,
    Event,
    Refused,
    counts_of,
    labels,
    last_step,
    part_of,
    problems,
    replay,
)
from radgauge.study.views import Action, Answered, CaseView, Place, Recorded, Stale, relabelled

# Feedback on training cases: what was expected beside what the rater answered.


def feedback_on(
    design: Design, training: Mapping[str, Any], *, systems: Sequence[str], state: CaseState
) -> dict[str, Any]:
    """Return the feedback after a training case.

    Args:
        design: Of the study.
        training: What the case expects: {"answers": {system: {field: answer}}, "feedback": text}; the system
            "" holds the fields that are asked per case.
        systems: Systems in the rater's order of labels.
        state: What the rater submitted.

    Returns:
        {"text": the explanation, "right": how many expected answers were given, "of": how many are expected,
        "answers": [{"candidate": label, "field", "expected", "given", "right"}, ...]}.
    """
    names = {"": "", **dict(zip(labels(len(systems)), systems, strict=True))}
    label_of = {system: label for label, system in names.items()}
    lines = []
    for label, system in names.items():
        for key, expected in training["answers"].get(system, {}).items():
            question = design.field(key)
            answer = _given(design, question, state, label)
            wanted_answer = _wanted(question, expected, label_of)
            lines.append(
                {
                    "candidate": label,
                    "field": key,
                    "expected": wanted_answer,
                    "given": answer,
                    "right": wanted_answer == answer,
                }
            )
    right = sum(bool(line["right"]) for line in lines)
    return {"text": training.get("feedback", ""), "right": right, "of": len(lines), "answers": lines}


def _given(design: Design, question: Field, state: CaseState, label: str) -> Any:
    answer = state.answers.get(label, {}).get(question.key)
    if question.kind == "counts" and question.per == "candidate":
        counts = counts_of(design, state, label=label, field=question)
        return {part: number for part, number in counts.items() if number}
    if question.kind in ("marks", "missing"):
        return sorted(part_of(entry) for entry in answer or ())
    if question.per == "sentence":
        return {unit: _plain(question, value) for unit, value in (answer or {}).items()}
    return _plain(question, answer)


def _wanted(field: Field, expected: Any, label_of: Mapping[str, str]) -> Any:
    """The expected answer in the same form; a candidate is named by its number in the design."""
    if field.kind == "counts" and field.per == "candidate":
        return {part: number for part, number in expected.items() if number}
    if field.kind in ("marks", "missing"):
        return sorted(str(value) for value in expected)
    if field.kind == "choice" and field.candidates:
        return label_of.get(str(expected), expected)
    return expected


def _plain(field: Field, answer: Any) -> Any:
    if field.kind == "choice":
        return None if answer is None else answer["choice"]
    if field.kind == "counts":
        return {part: number for part, number in (answer or {}).items() if number}
    return answer


_CLIENT_ID = re.compile("[ -~]{1,64}")


class Store:
    """An open study."""

    def __init__(self, path: Path | str, *, readonly: bool = False) -> None:
        self.path = Path(path)
        self._connection = schema.connect(self.path, readonly=readonly)
        self._close = weakref.finalize(self, schema.close, self._connection)  # also of a study that nobody closes
        self._lock = threading.RLock()
        self._assignments: dict[tuple[str, str], Assignment] = {}
        try:
            self.about = schema.about(self._connection)
            self.design: Design = design_from_dict(self.about["design"])
            self._version = self.design.version  # a hash of all of it: once, not for every event
        except (sqlite3.DatabaseError, KeyError, TypeError, ValueError):
            self._close()
            raise InputError(f"{self.path.name} is damaged: it does not say what study it is") from None
        try:
            self._key = b"" if readonly else self.chain_key()
        except InputError:
            self._close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was acknowledged is in it."""
        with self._lock:
            self._close()

    @property
    def secret(self) -> bytes:
        """Random bytes of this study, for the seals of sheets."""
        return bytes.fromhex(self.about["secret"])

    def chain_key(self) -> bytes:
        """Return the key of the chain of events; empty if the study was made without one.

        Raises:
            InputError: The environment has no key, or another one than the study was made with.
        """
        fingerprint = self.about.get("key", "")
        key = schema.key_from_environment() if fingerprint else b""
        if schema.fingerprint(key) != fingerprint:
            raise InputError(
                f"{self.path.name} was made with a key: put the same one into {schema.KEY_VARIABLE} "
                f"({'another' if key else 'none'} is there)"
            )
        return key

    # People

    def people(self, *, role: str | None = None) -> tuple[Person, ...]:
        """Everyone, or those of a role: rater, adjudicator, organiser."""
        with self._reading() as connection:
            return tuple(person for person in people.everyone(connection) if role in (None, person.role))

    def person(self, person_id: str) -> Person:
        """One of them, by id or name."""
        match = next((other for other in self.people() if person_id in (other.id, other.name)), None)
        if match is None:
            names = ", ".join(f"{other.id} ({other.name})" for other in self.people())
            raise InputError(f"nobody here is called {person_id!r}; there are {names}")
        return match

    def add_person(self, name: str, *, role: Literal["rater", "adjudicator", "organiser"]) -> Person:
        """A further person; an adjudicator is assigned every case that several raters see."""
        with self._writing() as connection:
            return people.add(connection, name, role=role)

    def new_token(self, person_id: str, *, days: float = 90, now: datetime | None = None) -> str:
        """A secret for a person's link. It is told once: the study keeps only its hash."""
        who = self.person(person_id)
        with self._writing() as connection:
            return people.new_token(connection, who.id, days=days, now=now or datetime.now(UTC))

    def revoke_tokens(self, person_id: str, *, now: datetime | None = None) -> int:
        """Make all tokens of a person invalid; how many were valid."""
        who = self.person(person_id)
        with self._writing() as connection:
            return people.revoke(connection, who.id, now=now or datetime.now(UTC))

    def tokens(self) -> tuple[TokenInfo, ...]:
        """All tokens: whose, since when, until when; not the tokens themselves."""
        with self._reading() as connection:
            return people.tokens(connection)

    def person_of_token(self, token: str, *, now: datetime | None = None) -> Person | None:
        """Whose token this is; None if nobody's, expired or revoked."""
        with self._reading() as connection:
            return people.of_token(connection, token, now=now or datetime.now(UTC))

    # What a rater sees

    def places(self, person_id: str) -> tuple[Place, ...]:
        """The cases of a rater in their order, training first."""
        with self._reading() as connection:
            return assignment.places(connection, person_id, design=self.design)

    def case(self, person_id: str, case: str) -> CaseView:
        """A case as a rater sees it; Refused if it is not theirs."""
        assigned = self._assignment(person_id, case)
        state = self.state(person_id, case)
        check = assigned.check
        feedback = None
        if assigned.training is not None and state.submitted:
            feedback = feedback_on(self.design, assigned.training, systems=assigned.systems, state=state)
        return CaseView(
            key=case,
            reference=check.reference if self.design.show_reference else "",
            reference_sentences=check.reference_sentences if self.design.show_reference else (),
            context=assigned.context,
            images=len(assigned.images) if self.design.show_images else 0,
            candidates=check.candidates,
            training=assigned.training is not None,
            assisted=assigned.assisted,
            state=state,
            problems=tuple(problems(self.design, check.candidates, state=state)),
            feedback=feedback,
        )

    def image_path(self, person_id: str, case: str, *, number: int) -> Path:
        """File of an image of a case that is the rater's; numbered from 0."""
        assigned = self._assignment(person_id, case)
        if not self.design.show_images or not 0 <= number < len(assigned.images):
            raise Refused("there is no such image")
        return Path(assigned.images[number])

    def action_check(self, person_id: str, case: str) -> ActionCheck:
        """Return the check of a rater's actions on a case."""
        return self._assignment(person_id, case).check

    def state(self, person_id: str, case: str) -> CaseState:
        """State of a rater's case."""
        with self._reading() as connection:
            row = connection.execute(
                'SELECT state FROM states WHERE person = ? AND "case" = ?', (person_id, case)
            ).fetchone()
        return CaseState(**json.loads(row[0])) if row else CaseState()

    def key(self, person_id: str, case: str) -> Mapping[str, str]:
        """Label -> system for one rater and case. The key of the study: not for raters."""
        assigned = self._assignment(person_id, case)
        return dict(zip(labels(len(assigned.systems)), assigned.systems, strict=True))

    def others(self, person_id: str, case: str) -> tuple[Answered, ...]:
        """Answers of the raters on a case, in the asker's labels; Refused unless the asker adjudicates."""
        if self.person(person_id).role != "adjudicator":
            raise Refused("only an adjudicator sees the answers of others")
        own = {system: label for label, system in self.key(person_id, case).items()}
        states = []
        for other in self.people(role="rater"):
            try:
                theirs = self.key(other.id, case)
            except Refused:
                continue
            state = self.state(other.id, case)
            if state.version:
                states.append(Answered(other, relabelled(state, {a: own[b] for a, b in theirs.items()})))
        return tuple(states)

    # What a rater does

    def record(
        self, person_id: str, action: Action, *, now: datetime | None = None, offline: bool = False
    ) -> Recorded:
        """Write an action and wait until it is on disk.

        Args:
            person_id: Who acts.
            action: What they do.
            now: Time of the event.
            offline: Whether it comes from a sheet, which shows the training as worked examples; real cases do not
                wait for it then.

        Raises:
            Stale: Another window was faster; the exception carries the present state.
            Refused: The action does not fit the design, or the case is not this rater's.
        """
        if not isinstance(action.client_id, str) or not _CLIENT_ID.fullmatch(action.client_id):
            raise Refused("an action needs a client_id of 1 to 64 printable ASCII characters")
        if type(action.based_on) is not int or not 0 <= action.based_on < 2**53:
            raise Refused("based_on must be the version of the case")
        assigned = None if action.kind == "ready" else self._assignment(person_id, action.case)
        time = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds")
        with self._writing() as connection:
            again = connection.execute(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE person = ? AND client_id = ?",
                (person_id, action.client_id),
            ).fetchone()
            if again is not None:
                if (again[3], again[4]) != (action.case if assigned else "", action.kind):
                    raise Refused("this client_id was used for another action")
                return Recorded(again[0], self.state(person_id, again[3]), repeated=True)
            real = assigned is not None and assigned.training is None and action.kind != "time"
            if real and not offline and assignment.is_locked(connection, person_id, design=self.design):
                raise Refused("submit the training cases first")
            events = self._events(connection, person_id, action.case) if assigned is not None else []
            state = replay(events)
            if action.kind not in UNVERSIONED and action.based_on != state.version:
                raise Stale(state)
            payload: dict[str, Any] = {}
            if assigned is not None:
                payload = assigned.check.payload(action.kind, action.payload, state=state)
            if action.kind == "undo":
                step = last_step(events)
                if step is None:
                    raise Refused("there is nothing to undo")
                payload = {"undoes": step.seq}
            seq, previous = connection.execute(
                "SELECT coalesce(max(seq), 0) + 1, "
                "coalesce((SELECT hash FROM events ORDER BY seq DESC LIMIT 1), '') FROM events"
            ).fetchone()
            event = Event(
                *(seq, time, person_id, action.case if assigned else "", action.kind, payload),
                *(self._version, action.client_id, action.based_on),
            )
            row = (seq, time, person_id, event.case, event.kind, plain_json(payload))
            connection.execute(
                f"INSERT INTO events ({EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, event.design, event.client_id, event.based_on, chained(previous, event, key=self._key)),
            )
            after = replay([*events, event])
            if event.case:
                connection.execute(
                    "INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)",
                    (person_id, event.case, after.version, plain_json(after.as_dict())),
                )
        return Recorded(seq, after)

    def is_ready(self, person_id: str) -> bool:
        """True if a rater has confirmed reading the instructions."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT 1 FROM events WHERE person = ? AND kind = 'ready' LIMIT 1", (person_id,)
            ).fetchone()
        return row is not None

    # For the organiser

    def events(self, *, person_id: str | None = None, case: str | None = None) -> tuple[Event, ...]:
        """Events in their order, of everyone or one, on all cases or one."""
        with self._reading() as connection:
            rows = connection.execute(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE (?1 IS NULL OR person = ?1) "
                'AND (?2 IS NULL OR "case" = ?2) ORDER BY seq',
                (person_id, case),
            ).fetchall()
        return tuple(event_of(row) for row in rows)

    def backup(self, target: Path | str) -> Path:
        """A whole copy while the study runs."""
        path = Path(target)
        check_folder(path)
        if path.exists():
            raise InputError(f"{path} is there already; a backup never overwrites, choose another name")
        with replacing(path) as beside:
            copy = sqlite3.connect(beside)
            try:
                with self._reading() as connection:
                    connection.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                copy.close()
        return path

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.DatabaseError as error:
                raise InputError(f"{self.path.name} cannot be read: {error}") from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; when the block ends well it is on disk."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.DatabaseError as error:
                raise InputError(f"{self.path.name} cannot be written: {error}") from None

    @staticmethod
    def _events(connection: sqlite3.Connection, person_id: str, case: str) -> list[Event]:
        rows = connection.execute(
            f'SELECT {EVENT_COLUMNS} FROM events WHERE person = ? AND "case" = ? ORDER BY seq', (person_id, case)
        )
        return [event_of(row) for row in rows]

    def _assignment(self, person_id: str, case: str) -> Assignment:
        cached = self._assignments.get((person_id, case))
        if cached is None:
            with self._reading() as connection:
                cached = assignment.assignment(connection, person_id, case=case, design=self.design)
            self._assignments[(person_id, case)] = cached
        return cached
