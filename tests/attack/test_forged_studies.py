"""Study files rewritten by somebody who has the program: every hash and state in them is right again."""

from __future__ import annotations

import gc
import json
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from study_server import StudyServer
from study_support import Rater, two_systems

from radgauge.core.errors import InputError, UsageError
from radgauge.study import Store, new_study, schema
from radgauge.study.check import check_study
from radgauge.study.design import design_from_dict
from radgauge.study.schema import EVENT_COLUMNS, chained, content_hash, event_of, plain_json
from radgauge.study.state import replay

pytestmark = pytest.mark.process

PART = {"candidate": "A", "field": "errors", "part": "omission/significant"}
KEY = "0123456789abcdef" * 3


def judged(path: Path) -> str:
    """A study with answers of two raters; its anchor."""
    new_study(path, two_systems(), raters=["Ann", "Bob"], blinding=f"{0:064x}")
    with Store(path) as store:
        for person in ("rater-1", "rater-2"):
            rater = Rater(store, person)
            rater.train()
            for number, case in enumerate(rater.keys()[:2]):
                rater.act(case, "set", **PART, value=number + 1)
    found = check_study(path)
    assert found.problems == ()
    return found.anchor


def answer_changed(db: sqlite3.Connection) -> None:
    db.execute("""UPDATE events SET payload = replace(payload, '"value":2', '"value":9') WHERE kind = 'set'""")


def event_put_in_anothers_name(db: sqlite3.Connection) -> None:
    (seq,) = db.execute("SELECT max(seq) FROM events WHERE person = 'rater-1' AND kind = 'set'").fetchone()
    db.execute("UPDATE events SET person = 'rater-2' WHERE seq = ?", (seq,))


def last_event_removed(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")


def rater_removed(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM events WHERE person = 'rater-1'")


def systems_swapped(db: sqlite3.Connection) -> None:
    for old, new in (("alpha", "x"), ("beta", "alpha"), ("x", "beta")):
        db.execute("UPDATE candidates SET system = ? WHERE system = ?", (new, old))


def text_changed(db: sqlite3.Connection) -> None:
    db.execute("UPDATE candidates SET text = replace(text, 'Large right', 'Small right')")


def raters_renamed(db: sqlite3.Connection) -> None:
    for old, new in (("Ann", "x"), ("Bob", "Ann"), ("x", "Bob")):
        db.execute("UPDATE people SET name = ? WHERE name = ?", (new, old))


def times_changed(db: sqlite3.Connection) -> None:
    db.execute("UPDATE events SET time = replace(time, '20', '19')")


def question_changed(db: sqlite3.Connection) -> None:
    (design,) = db.execute("SELECT value FROM about WHERE key = 'design'").fetchone()
    changed = json.loads(design)
    changed["instructions"] = "Count generously."
    version = design_from_dict(changed).version
    schema.write_about(db, {"design": changed, "design_version": version})
    db.execute("UPDATE events SET design = ?", (version,))


FORGERIES = (
    answer_changed,
    event_put_in_anothers_name,
    last_event_removed,
    rater_removed,
    systems_swapped,
    text_changed,
    raters_renamed,
    times_changed,
    question_changed,
)


def forge(path: Path, change: Callable[[sqlite3.Connection], None], *, key: bytes = b"") -> None:
    """Change a file and make everything in it right again that can be computed from the file (and the key)."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for trigger in ("events_stay", "events_remain"):
            db.execute(f"DROP TRIGGER {trigger}")
        change(db)
        rows = db.execute(f"SELECT {EVENT_COLUMNS} FROM events ORDER BY seq").fetchall()
        db.execute("DELETE FROM events")
        db.execute("DELETE FROM states")
        previous, by_case = "", {}
        for seq, row in enumerate(rows, start=1):
            event = event_of((seq, *row[1:]))
            case = by_case.setdefault((event.person, event.case), [])
            based_on = 0 if event.kind in ("time", "ready") else replay(case).version
            event = event_of((seq, *row[1:8], based_on))
            case.append(event)
            previous = chained(previous, event, key=key)
            db.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (seq, *row[1:8], based_on, previous)
            )
        for (person, name), events in by_case.items():
            state = replay(events)
            values = (person, name, state.version, plain_json(state.as_dict()))
            db.execute("INSERT INTO states VALUES (?, ?, ?, ?)", values)
        for case_key, systems in db.execute("SELECT rowid, systems FROM assignments").fetchall():
            db.execute("UPDATE assignments SET systems = ? WHERE rowid = ?", (systems, case_key))
        schema.write_about(db, {"content": content_hash(db, key=key)})


@pytest.mark.parametrize("change", FORGERIES, ids=lambda change: change.__name__)
def test_a_forged_study_passes_alone_and_not_against_its_anchor(
    change: Callable[[sqlite3.Connection], None], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "study.sqlite"
    anchor = judged(path)
    assert check_study(path, anchor=anchor).problems == ()
    forge(path, change)
    alone = check_study(path)
    assert alone.problems == (), "the forgery is clumsy: it must be one that only an anchor shows"
    assert alone.anchor != anchor
    problems = check_study(path, anchor=anchor).problems
    record_property("forged studies seen against their anchor", f"{len(problems)} of 1")
    (problem,) = problems
    assert "anchor" in problem


def test_a_backup_that_is_put_back_is_shorter_than_the_anchor(tmp_path: Path) -> None:
    path, old = tmp_path / "study.sqlite", tmp_path / "old.sqlite"
    before = judged(path)
    shutil.copy(path, old)
    with Store(path) as store:
        rater = Rater(store, "rater-1")
        rater.act(rater.keys()[2], "set", **PART, value=1)
        rater.act(rater.keys()[2], "set", **PART, value=2)
        store.add_person("Chief", role="adjudicator")
    after = check_study(path, anchor=before)  # the study went on, and continues its anchor
    assert after.problems == ()
    problems = check_study(old, anchor=after.anchor).problems
    assert problems == (
        f"2 of the {after.events} events of the anchor are missing",
        "1 of the 4 people of the anchor are missing",
    )
    with pytest.raises(UsageError, match="32 hexadecimal"):
        check_study(path, anchor="12")


@pytest.mark.parametrize(
    "change",
    [each for each in FORGERIES if each not in (last_event_removed, rater_removed, raters_renamed)],
    ids=lambda change: change.__name__,
)
def test_without_the_key_a_forgery_cannot_be_made_to_fit(
    change: Callable[[sqlite3.Connection], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(schema.KEY_VARIABLE, KEY)
    path = tmp_path / "study.sqlite"
    judged(path)
    assert KEY.encode() not in path.read_bytes()
    forge(path, change)
    assert check_study(path).problems
    for other in ("", "f" * 48):
        monkeypatch.setenv(schema.KEY_VARIABLE, other)
        with pytest.raises(InputError, match=schema.KEY_VARIABLE):
            check_study(path)
        with pytest.raises(InputError, match=schema.KEY_VARIABLE):
            Store(path)
    monkeypatch.setenv(schema.KEY_VARIABLE, "short")
    with pytest.raises(InputError, match="32 characters"):
        new_study(tmp_path / "other.sqlite", two_systems())


def answer(path: Path) -> None:
    with Store(path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        rater.act(rater.keys()[0], "set", **PART, value=1)


def test_a_copy_without_its_log_is_refused_and_a_backup_is_complete(tmp_path: Path) -> None:
    path, copy = tmp_path / "study.sqlite", tmp_path / "copy.sqlite"
    new_study(path, two_systems(), raters=1, blinding=f"{0:064x}")
    with Store(path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        events = len(store.events())
        shutil.copy(path, copy)
        for readonly in (True, False):
            with pytest.raises(InputError, match=r"copy\.sqlite-wal.*study backup"):
                Store(copy, readonly=readonly)
        with pytest.raises(InputError, match=r"copy\.sqlite-wal"):
            check_study(copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
        assert check_study(copy).events == events  # with its log it is complete
        store.backup(tmp_path / "backup.sqlite")
    assert check_study(tmp_path / "backup.sqlite").events == events
    assert check_study(path).events == events


def test_a_killed_server_is_read_with_its_log_and_closed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    new_study(path, two_systems(), raters=1, blinding=f"{0:064x}")
    with StudyServer(path) as server:
        answer(path)
        server.kill(signal.SIGKILL)
    assert Path(f"{path}-wal").exists()
    events = check_study(path).events
    assert events > 0
    store = Store(path)
    assert len(store.events()) == events
    del store  # nobody closes it
    gc.collect()
    assert not Path(f"{path}-wal").exists()
    assert check_study(path).events == events
