"""Assignment of cases: those of a rater in their order, and what of each never changes for one rater."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from radgauge.study.actions import ActionCheck
from radgauge.study.design import Design
from radgauge.study.state import CaseState, Refused, Shown, Span, labels
from radgauge.study.views import Place


@dataclass(frozen=True, slots=True)
class Assignment:
    """Constants of a case for one rater."""

    check: ActionCheck
    systems: tuple[str, ...]
    context: Mapping[str, str]
    images: tuple[str, ...]
    training: Mapping[str, Any] | None
    assisted: bool


def places(connection: sqlite3.Connection, person_id: str, *, design: Design) -> tuple[Place, ...]:
    """The cases of a rater in their order, training first."""
    rows = connection.execute(
        'SELECT a."case", c.training IS NOT NULL, s.state FROM assignments a '
        'JOIN cases c ON c.key = a."case" '
        'LEFT JOIN states s ON s.person = a.person AND s."case" = a."case" '
        "WHERE a.person = ? ORDER BY c.training IS NULL, a.position",
        (person_id,),
    ).fetchall()
    states = [CaseState(**json.loads(state)) if state else CaseState() for *_, state in rows]
    open_training = any(
        training and not state.submitted for (_, training, _), state in zip(rows, states, strict=True)
    )
    locked = open_training and design.training_required
    seen = {True: 0, False: 0}
    assigned = []
    for (key, training, _), state in zip(rows, states, strict=True):
        seen[bool(training)] += 1
        assigned.append(
            Place(
                key,
                seen[bool(training)],
                bool(training),
                locked and not training,
                bool(state.answers or state.cannot_judge),
                state.submitted,
                "" in state.cannot_judge,
                state.seconds,
            )
        )
    return tuple(assigned)


def is_locked(connection: sqlite3.Connection, person_id: str, *, design: Design) -> bool:
    """True if a training case is still to be submitted before the others."""
    if not design.training_required or not design.training:
        return False
    rows = connection.execute(
        'SELECT s.state FROM assignments a JOIN cases c ON c.key = a."case" AND c.training IS NOT NULL '
        'LEFT JOIN states s ON s.person = a.person AND s."case" = a."case" WHERE a.person = ?',
        (person_id,),
    ).fetchall()
    return any(state is None or not json.loads(state)["submitted"] for (state,) in rows)


def assignment(connection: sqlite3.Connection, person_id: str, *, case: str, design: Design) -> Assignment:
    """A case of a rater; Refused if it is not theirs."""
    row = connection.execute(
        "SELECT a.systems, a.assisted, c.reference, c.sentences, c.context, c.images, c.training "
        'FROM assignments a JOIN cases c ON c.key = a."case" WHERE a.person = ? AND a."case" = ?',
        (person_id, case),
    ).fetchone()
    if row is None:
        raise Refused("this case is not yours")
    texts = {
        system: rest
        for system, *rest in connection.execute(
            'SELECT system, text, sentences, suggestions FROM candidates WHERE "case" = ?', (case,)
        )
    }
    systems = tuple(json.loads(row[0]))
    assisted = bool(row[1])
    candidates = tuple(
        Shown(
            label,
            texts[system][0],
            _spans(texts[system][1]),
            tuple(json.loads(texts[system][2])) if assisted else (),
            "" if design.blinded else system,
        )
        for label, system in zip(labels(len(systems)), systems, strict=True)
    )
    return Assignment(
        ActionCheck(design, row[2], _spans(row[3]), candidates),
        systems,
        json.loads(row[4]),
        tuple(json.loads(row[5])),
        json.loads(row[6]) if row[6] is not None else None,
        assisted,
    )


def _spans(text: str) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in json.loads(text))
