"""Proof of a study: its events are complete and in order, and replaying them gives the states that are kept.

The check alone finds damage and careless edits. Whoever can write the file can also compute every hash anew, so a
forged file is found only against something that is not in it: an anchor that was noted before, or the key.

An anchor names how many events and people there were, and a digest over the design, the texts, the assignments,
these people and these events. A file that agrees with it has them unchanged and perhaps more behind them. It says
nothing of what came after it, of who sat at the keyboard, of tokens, or of the image files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.study.schema import EVENT_COLUMNS, chained, content_hash, event_of, plain_json, sealed
from radgauge.study.state import KINDS, Event, Refused, replay
from radgauge.study.store import Store

_ANCHOR = re.compile(r"([0-9]{1,15})\.([0-9]{1,9})\.([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """Result of a check."""

    events: int  # How many there are
    states: int  # How many states were replayed
    last_hash: str  # Hash of the last event, over all before it; the same in a copy that was made later
    anchor: str  # To be noted outside the file; a later check against it finds what was changed since
    problems: tuple[str, ...]  # What is wrong; empty = the study is proved


def check_study(path: Path | str, *, anchor: str | None = None) -> StudyCheck:
    """Replay all events of a study and compare with what is kept.

    Args:
        path: The file of the study.
        anchor: One that was noted before; the study must be its continuation.
    """
    if anchor is not None and not _ANCHOR.fullmatch(anchor):
        raise UsageError("an anchor is two numbers and 32 hexadecimal digits: 12.3.0f...")
    try:
        return _checked(path, anchor)
    except RadgaugeError:
        raise
    except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:  # content of another shape
        return StudyCheck(0, 0, "", "", (f"the content of the file is damaged ({type(error).__name__})",))


def require_proof(path: Path | str) -> StudyCheck:
    """The check of a study that is to be believed; InputError if anything is wrong."""
    result = check_study(path)
    if result.problems:
        raise InputError(
            f"{Path(path).name} cannot be trusted: {result.problems[0]}; look at `radgauge study check`"
        )
    return result


def _checked(path: Path | str, anchor: str | None) -> StudyCheck:
    problems: list[str] = []
    with Store(path, readonly=True) as store, store._reading() as connection:
        broken = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        problems += [f"the file is damaged: {line}" for line in broken[:5]]
        if broken:
            return StudyCheck(0, 0, "", "", tuple(problems))
        previous, expected, version = "", 0, store.design.version
        key, hashes = store.chain_key(), [""]
        grouped: dict[tuple[str, str], list[Event]] = {}
        for row in connection.execute(f"SELECT {EVENT_COLUMNS} FROM events ORDER BY seq"):
            expected += 1
            try:
                event = event_of(row)
            except ValueError:
                problems.append(f"event {row[0]}: its content is no JSON")
                continue
            if event.seq != expected:
                problems.append(f"event {expected} is missing")
                expected = event.seq
            if chained(previous, event, key=key) != row[9]:
                problems.append(f"event {event.seq} was changed, or one before it was removed")
            previous = row[9]
            hashes.append(previous)
            if event.kind not in KINDS:
                problems.append(f"event {event.seq}: there is no action {event.kind!r}")
            elif event.case:
                grouped.setdefault((event.person, event.case), []).append(event)
            if event.design != version:
                problems.append(f"event {event.seq} was made under another version of the design ({event.design})")
        stored = {
            (person, case): (version, state)
            for person, case, version, state in connection.execute(
                'SELECT person, "case", version, state FROM states'
            )
        }
        for owner, events in grouped.items():
            problems += _replayed(store, owner, events, stored.pop(owner, None))
        problems += [f"{person}, case {case}: a state without events" for person, case in stored]
        (design,) = connection.execute("SELECT value FROM about WHERE key = 'design_version'").fetchone()
        if json.loads(design) != version:
            problems.append("the design was changed after the study was made")
        problems += _assigned(connection)
        if content_hash(connection, key=key) != store.about.get("content"):
            problems.append("texts, or which candidate is whose, were changed after the study was made")
        if anchor is not None:
            problems += _against(anchor, store, connection, hashes)
        here = _anchor(store, connection, hashes, events=len(hashes) - 1, people=len(store.people()))
    return StudyCheck(expected, len(grouped), previous, here, tuple(problems))


def _anchor(store: Store, connection: sqlite3.Connection, hashes: list[str], *, events: int, people: int) -> str:
    """Return the anchor that the study had when it had so many events and people."""
    rows = connection.execute("SELECT id, name, role, created FROM people ORDER BY rowid LIMIT ?", (people,))
    first = rows.fetchall()
    assigned = [
        connection.execute('SELECT * FROM assignments WHERE person = ? ORDER BY "case"', (row[0],)).fetchall()
        for row in first
    ]
    about = [store.about.get(name) for name in ("id", "created", "title", "assistance")]
    content = [about, store.design.version, content_hash(connection), first, assigned, hashes[events]]
    return f"{events}.{people}.{sealed(plain_json(content).encode('utf-8'), key=b'')[:32]}"


def _against(anchor: str, store: Store, connection: sqlite3.Connection, hashes: list[str]) -> list[str]:
    """Return what speaks against a study that should continue the one of an anchor."""
    events, people = (int(number) for number in anchor.split(".")[:2])
    short = [
        f"{noted - there} of the {noted} {name} of the anchor are missing"
        for name, noted, there in (("events", events, len(hashes) - 1), ("people", people, len(store.people())))
        if there < noted
    ]
    if not short and _anchor(store, connection, hashes, events=events, people=people) != anchor:
        return ["the study is not the one of the anchor, or was changed since: design, texts, people or events"]
    return short


def _replayed(
    store: Store, owner: tuple[str, str], events: list[Event], stored: tuple[int, str] | None
) -> list[str]:
    """Replay one rater on one case, step by step: every event was allowed when it came."""
    person, case = owner
    where = f"{person}, case {case}"
    try:
        check = store.action_check(person, case)
    except Refused:
        return [f"{where}: events on a case that was not assigned"]
    differences = []
    for number, event in enumerate(events):
        before = replay(events[:number])
        if event.kind != "time" and event.based_on != before.version:
            differences.append(
                f"event {event.seq}: based on version {event.based_on} where {before.version} was current"
            )
        if event.kind == "undo":
            continue
        try:
            payload = check.payload(event.kind, event.payload, state=before)
        except Refused as error:
            differences.append(f"event {event.seq} could not have been accepted: {error}")
            continue
        if payload != event.payload:
            differences.append(f"event {event.seq}: its content is not in the form that is written")
    after = replay(events)
    if stored is None:
        differences.append(f"{where}: there are events and no state")
    elif stored != (after.version, plain_json(after.as_dict())):
        differences.append(f"{where}: the state kept is not what the events give")
    return differences


def _assigned(connection: sqlite3.Connection) -> list[str]:
    """Every assignment names the candidates that the case has."""
    systems: dict[str, set[str]] = {}
    for case, system in connection.execute('SELECT "case", system FROM candidates'):
        systems.setdefault(case, set()).add(system)
    rows: list[tuple[Any, ...]] = connection.execute('SELECT person, "case", systems FROM assignments').fetchall()
    return [
        f"{person}, case {case}: the candidates assigned are not those of the case"
        for person, case, listed in rows
        if sorted(json.loads(listed)) != sorted(systems.get(case, ()))
    ]
