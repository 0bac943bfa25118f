"""Filled sheets back into the study: the same checks as on the page, written as the same events.

A sheet is compared with the study case by case and only differences are written, so collecting a sheet twice
changes nothing; a later save of the same sheet is taken, an earlier one is not. A case that was changed on the
page after the sheet was made is left as it is, and named.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json
from radgauge.study.design import Field
from radgauge.study.sheet.content import person_of_sheet
from radgauge.study.state import UNVERSIONED, CaseState, Event, Refused, last_step, replay
from radgauge.study.store import Store
from radgauge.study.views import Action

LARGEST = 100_000_000
SHEET = "sheet-"
"""How the client ids of collected actions begin; then the time of the sheet."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Outcome for a sheet."""

    file: str
    person: str
    changed: int  # Cases with new answers
    submitted: int  # Cases that are submitted now
    open: int  # Cases that are not
    problems: tuple[str, ...] = ()  # What was not taken, and why; what keeps a case from being submitted


@dataclass(frozen=True, slots=True)
class Wanted:
    """A case as a sheet has it; `version` is the study's when the sheet was made, `saved` the time of filling."""

    version: int
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cannot_judge: Mapping[str, str] = field(default_factory=dict)
    submitted: bool = False
    seconds: float = 0.0
    saved: int = 0


Step = tuple[str, dict[str, Any]]


def collect(path: Path | str, files: Sequence[Path | str]) -> list[Collected]:
    """Take the answers of filled sheets into the study.

    Args:
        path: The file of the study.
        files: What the forms have saved (.json).
    """
    collected = []
    with Store(path) as store:
        for each in files:
            file = Path(each)
            head, cases, problems = _read(store, file)
            person = person_of_sheet(store, head, name=file.name)
            collected.append(_taken(store, file.name, person.id, cases, problems))
    return collected


def _read(store: Store, file: Path) -> tuple[Mapping[str, Any], dict[str, Wanted], list[str]]:
    if not file.is_file():
        raise InputError(f"no such file: {file}")
    if file.stat().st_size > LARGEST:
        raise InputError(f"{file.name} is larger than a filled sheet can be")
    try:
        content = parse_json(file.read_bytes())
    except ValueError:
        raise InputError(f"{file.name} is no JSON file; it must be what the form has saved") from None
    if not isinstance(content, Mapping) or not isinstance(content.get("cases"), Mapping):
        raise InputError(f"{file.name} is no filled sheet of `radgauge study sheet`")
    saved = _moment(content.get("saved"), file)
    cases: dict[str, Wanted] = {}
    problems: list[str] = []
    for key, case in content["cases"].items():
        try:
            cases[str(key)] = _wanted(case, saved)
        except (TypeError, ValueError, AttributeError, KeyError):
            problems.append(f"case {str(key)[:20]}: its answers have another form than the sheet writes")
    return content, cases, problems


def _moment(value: Any, file: Path) -> int:
    """Time at which a sheet was filled, in seconds: from the form, else from the file."""
    try:
        return int(datetime.fromisoformat(str(value)).timestamp())
    except (ValueError, OverflowError):
        return int(file.stat().st_mtime)


def _wanted(case: Any, saved: int) -> Wanted:
    seconds = case.get("seconds", 0.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e7:
        raise ValueError
    version = case["version"]
    if isinstance(version, bool) or not isinstance(version, int):
        raise ValueError
    answers = {str(label): dict(fields) for label, fields in case.get("answers", {}).items()}
    cannot = {str(label): str(reason) for label, reason in case.get("cannot_judge", {}).items()}
    return Wanted(version, answers, cannot, case.get("submitted") is True, float(seconds), saved)


def _taken(store: Store, name: str, person_id: str, cases: Mapping[str, Wanted], problems: list[str]) -> Collected:
    changed = 0
    own = {case.key for case in store.places(person_id) if not case.training}
    for key, sheet in cases.items():
        if key not in own:
            problems.append(f"case {key[:20]}: not a case of {person_id}")
            continue
        try:
            changed += _apply(store, person_id, key, sheet, problems)
        except Refused as refused:
            problems.append(f"case {key}: {refused}")
    done = sum(store.state(person_id, key).submitted for key in own)
    return Collected(name, person_id, changed, done, len(own) - done, tuple(problems))


def _apply(store: Store, person_id: str, key: str, sheet: Wanted, problems: list[str]) -> bool:
    """Write what a sheet changes on one case; all of it or nothing, but for an early submission."""
    now = store.state(person_id, key)
    steps = list(_steps(store, now, sheet))
    if not steps:
        return False
    why = _superseded(store.events(person_id=person_id, case=key), sheet)
    if why:
        if any(kind != "time" for kind, _ in steps):
            problems.append(f"case {key}: {why}; it stays as it is")
        return False
    _rehearse(store, person_id, key, [step for step in steps if step[0] != "submit"])
    for kind, payload in steps:
        version = store.state(person_id, key).version
        action = Action(key, kind, payload, version, f"{SHEET}{sheet.saved}-{secrets.token_hex(12)}")
        try:
            store.record(person_id, action, offline=True)
        except Refused as refused:
            if kind != "submit":
                raise
            problems.append(f"case {key}: not submitted: {refused}")
    return True


def _superseded(events: Sequence[Event], sheet: Wanted) -> str:
    """Why a sheet's answers on a case are out of date; "" if they are not."""
    later = [event for event in events if event.kind not in UNVERSIONED][sheet.version :]
    if not all(event.client_id.startswith(SHEET) for event in later):
        return "it was changed in the study after the sheet was made"
    stamps = [event.client_id.removeprefix(SHEET).partition("-")[0] for event in later]
    if any(stamp.isdecimal() and int(stamp) > sheet.saved for stamp in stamps):
        return "a later save of this sheet was collected already"
    return ""


def _rehearse(store: Store, person_id: str, key: str, steps: Sequence[Step]) -> None:
    """Refused if any step would be: before the first one is written."""
    check = store.action_check(person_id, key)
    events = list(store.events(person_id=person_id, case=key))
    seq = events[-1].seq if events else 0
    for kind, payload in steps:
        state = replay(events)
        stored = check.payload(kind, payload, state=state)
        if kind == "undo" and (step := last_step(events)) is not None:
            stored = {"undoes": step.seq}
        seq += 1
        time = datetime.now(UTC).isoformat()
        events.append(Event(seq, time, person_id, key, kind, stored, "", "", state.version))


def _steps(store: Store, now: CaseState, sheet: Wanted) -> Iterator[Step]:
    """The actions that lead from the present state to that of the sheet."""
    changes = list(_changes(store, now, sheet))
    if sheet.seconds > now.seconds + 0.5:
        left = sheet.seconds - now.seconds
        while left > 0:
            yield "time", {"seconds": min(left, 86_400)}
            left -= 86_400
    if changes and now.submitted:
        yield "reopen", {}
    yield from changes
    if sheet.submitted and (changes or not now.submitted):
        yield "submit", {}
    if now.submitted and not sheet.submitted and not changes:
        yield "reopen", {}


def _changes(store: Store, now: CaseState, sheet: Wanted) -> Iterator[Step]:
    for label, reason in sheet.cannot_judge.items():
        if now.cannot_judge.get(label) != reason:
            yield "cannot_judge", {"candidate": label, "reason": reason}
    for label in now.cannot_judge:
        if label not in sheet.cannot_judge:
            yield "can_judge", {"candidate": label}
    for label in dict.fromkeys([*now.answers, *sheet.answers]):
        before, after = now.answers.get(label, {}), sheet.answers.get(label, {})
        for key in dict.fromkeys([*before, *after]):
            if key not in store.design.keys:
                raise Refused(f"there is no field {key[:40]!r}")
            question = store.design.field(key)
            target = {"candidate": label, "field": key}
            if question.kind in ("marks", "missing"):
                yield from _lists(target, before.get(key, []), after.get(key, []))
            elif question.per == "sentence":
                old, new = before.get(key, {}), after.get(key, {})
                for unit in dict.fromkeys([*old, *new]):
                    if not str(unit).isdecimal():
                        raise Refused(f"{question.title}: sentences are numbered")
                    spot = {**target, "unit": int(unit)}
                    yield from _values(question, spot, old.get(unit), new.get(unit))
            else:
                yield from _values(question, target, before.get(key), after.get(key))


def _values(field: Field, target: Mapping[str, Any], old: Any, new: Any) -> Iterator[Step]:
    if field.kind != "counts":
        if old != new:
            yield "set", {**target, "value": new}
        return
    if not isinstance(new, Mapping | None):
        raise Refused(f"{field.title}: must be an object of counts")
    for part in dict.fromkeys([*(old or {}), *(new or {})]):
        before, after = (old or {}).get(part), (new or {}).get(part)
        if before != after:
            yield "set", {**target, "part": part, "value": after}


def _lists(target: Mapping[str, Any], old: Sequence[Any], new: Any) -> Iterator[Step]:
    """Entries are the same if they say the same; their ids are the study's own."""
    if not isinstance(new, list) or not all(isinstance(item, Mapping) for item in new):
        raise Refused("marks and missing findings must be lists of objects")
    left = [_plain(entry) for entry in new]
    for entry in old:
        if _plain(entry) in left:
            left.remove(_plain(entry))
        else:
            yield "remove", {**target, "id": entry["id"]}
    for text in left:
        yield "add", {**target, "entry": json.loads(text)}


def _plain(entry: Mapping[str, Any]) -> str:
    values = {key: value for key, value in entry.items() if key != "id" and value not in (None, "")}
    return json.dumps(values, sort_keys=True)
