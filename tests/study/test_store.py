"""The store: what was acknowledged is kept, nobody overwrites anybody, and nobody sees what is not theirs."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_support import Rater, study_ids, two_systems

from radgauge.core.errors import InputError, UsageError
from radgauge.study import Action, NewStudy, Refused, Stale, Store, new_study
from radgauge.study.check import check_study
from radgauge.study.state import replay

Make = Callable[..., NewStudy]


def test_counts_marks_and_missing_findings_become_one_state(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s1"]
        beta = rater.label(case, "beta")
        rater.act(case, "set", candidate=beta, field="errors", part="omission/significant", value=2)
        entry = {"category": "location", "significance": "significant", "start": 6, "end": 11}
        rater.act(case, "add", candidate=beta, field="marks", entry=entry)
        done = rater.act(
            case,
            "add",
            candidate=beta,
            field="missing",
            entry={"category": "omission", "significance": "insignificant", "unit": 1},
        )
        said = done.state.answers[beta]
        assert said["errors"] == {"omission/significant": 2}
        assert [(each["start"], each["end"]) for each in said["marks"]] == [(6, 11)]
        assert said["missing"][0]["start"] == 29  # the second sentence of the reference
        assert done.state.version == 3
        assert not done.state.submitted
        assert rater.submit(case).state.submitted


@pytest.mark.parametrize(
    ("kind", "payload", "message"),
    [
        ("set", {"candidate": "Z", "field": "errors"}, "no candidate 'Z'"),
        ("set", {"candidate": "A", "field": "none"}, "no field 'none'"),
        ("set", {"candidate": "", "field": "errors"}, "asked per candidate"),
        (
            "set",
            {"candidate": "A", "field": "errors", "part": "omission", "value": 1},
            "does not count 'omission'",
        ),
        (
            "set",
            {"candidate": "A", "field": "errors", "part": "omission/significant", "value": -1},
            "from 0 to 99",
        ),
        ("set", {"candidate": "A", "field": "errors", "part": "omission/significant", "value": True}, "got True"),
        ("set", {"candidate": "A", "field": "errors", "part": "omission/significant", "value": 1.5}, "got 1.5"),
        ("set", {"candidate": "A", "field": "marks", "value": 1}, "does not fit"),
        ("add", {"candidate": "A", "field": "errors", "entry": {}}, "does not fit"),
        ("add", {"candidate": "A", "field": "marks", "entry": {"category": "x"}}, "choose a category"),
        ("add", {"candidate": "A", "field": "marks", "entry": {"category": "severity"}}, "choose a significance"),
        (
            "add",
            {
                "candidate": "A",
                "field": "marks",
                "entry": {"category": "severity", "significance": "significant", "start": 0, "end": 5000},
            },
            "the end of a passage",
        ),
        (
            "add",
            {
                "candidate": "A",
                "field": "missing",
                "entry": {"category": "omission", "significance": "significant"},
            },
            "name the missing finding",
        ),
        ("remove", {"candidate": "A", "field": "marks", "id": "99"}, "not there any more"),
        ("cannot_judge", {"candidate": "A", "reason": "  "}, "say why"),
        ("cannot_judge", {"candidate": "A", "reason": "x" * 5000}, "at most 4000 characters"),
        ("cannot_judge", {"candidate": "A", "reason": "\ud800"}, "half a character"),
        ("reopen", {}, "not submitted"),
        ("undo", {}, "nothing to undo"),
        ("time", {"seconds": -1}, "from 0 to 86400"),
        ("dance", {}, "no action 'dance'"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_written(
    make: Make, kind: str, payload: dict[str, Any], message: str
) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        before = len(store.events())
        with pytest.raises(Refused, match=message):
            rater.act(rater.keys()[0], kind, **payload)
        assert len(store.events()) == before


def test_identical_candidates_must_get_equal_counts(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s2"]
        rater.act(case, "set", candidate="A", field="errors", part="severity/insignificant", value=1)
        with pytest.raises(Refused, match="A and B are identical: their answers must be equal"):
            rater.submit(case)
        # a mark counts like a number that was entered
        entry = {"category": "severity", "significance": "insignificant", "start": 0, "end": 5}
        rater.act(case, "add", candidate="B", field="marks", entry=entry)
        assert rater.submit(case).state.submitted


def test_real_cases_wait_for_the_training_and_its_feedback_names_what_was_expected(make: Make) -> None:
    with Store(make(raters=1, design="preference").path) as store:
        rater = Rater(store, "rater-1")
        assert [place.locked for place in store.places("rater-1")] == [False, True, True, True, True]
        with pytest.raises(Refused, match="submit the training cases first"):
            rater.act(rater.keys()[0], "set", field="preference", value={"choice": "A", "reason": "x"})
        rater.act("t01", "set", field="preference", value={"choice": "A", "reason": "shorter"})
        assert store.case("rater-1", "t01").feedback is None
        rater.act("t01", "submit")
        feedback = store.case("rater-1", "t01").feedback
        assert feedback is not None
        assert (feedback["right"], feedback["of"]) == (0, 1)
        assert feedback["answers"][0]["expected"] == "B"
        assert not any(place.locked for place in store.places("rater-1"))


def test_undo_takes_back_step_by_step_and_is_an_event_itself(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = rater.keys()[0]
        before = len(store.events())
        for value in (1, 2):
            rater.act(case, "set", candidate="A", field="errors", part="omission/significant", value=value)
        rater.submit(case)
        assert not rater.act(case, "undo").state.submitted
        assert "B" not in rater.act(case, "undo").state.answers  # no errors, said by submit
        assert rater.act(case, "undo").state.answers == {"A": {"errors": {"omission/significant": 1}}}
        last = rater.act(case, "undo").state
        assert (last.answers, last.can_undo, last.version) == ({}, False, 8)
        with pytest.raises(Refused, match="nothing to undo"):
            rater.act(case, "undo")
        assert len(store.events()) == before + 8  # nothing was removed


def test_untouched_counts_are_no_zeros_and_identical_candidates_share_answers(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s2"]  # both candidates are the same text
        with pytest.raises(Refused, match="candidate A: count the errors, or say that there are none"):
            rater.act(case, "submit")
        rater.act(case, "set", candidate="A", field="errors", part="omission/significant", value=0)
        mark = {"category": "location", "significance": "significant", "start": 0, "end": 5}
        rater.act(case, "add", candidate="A", field="marks", entry=mark)
        state = rater.act(case, "copy", candidate="B", source="A").state
        assert state.answers["B"] == state.answers["A"]
        assert rater.act(case, "submit").state.submitted
        rater.act(case, "reopen")
        rater.act(case, "cannot_judge", candidate="A", reason="cut off")
        both = rater.act(case, "copy", candidate="B", source="A").state
        assert both.cannot_judge == dict.fromkeys("AB", "cut off")
        assert rater.act(case, "undo").state.cannot_judge == {"A": "cut off"}
        other = study_ids(store)["s1"]
        for payload in ({"candidate": "B", "source": "A"}, {"candidate": "A", "source": "A"}, {"candidate": "A"}):
            with pytest.raises(Refused, match="between identical candidates only"):
                rater.act(other, "copy", **payload)
    assert check_study(store.path).problems == ()


def test_a_submitted_case_takes_no_change_before_it_is_reopened(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = rater.keys()[0]
        rater.submit(case)
        with pytest.raises(Refused, match="reopen it"):
            rater.act(case, "set", candidate="A", field="errors", part="omission/significant", value=1)
        rater.act(case, "reopen")
        rater.act(case, "set", candidate="A", field="errors", part="omission/significant", value=1)


def test_two_windows_do_not_overwrite_each_other(make: Make) -> None:
    made = make(raters=1)
    with Store(made.path) as store, Store(made.path) as other:
        one, two = Rater(store, "rater-1"), Rater(other, "rater-1")
        one.train()
        case = one.keys()[0]
        seen = other.case("rater-1", case).state.version
        one.act(case, "set", candidate="A", field="errors", part="omission/significant", value=3)
        with pytest.raises(Stale) as stale:
            two.act(case, "set", seen, candidate="A", field="errors", part="omission/significant", value=7)
        assert stale.value.state.answers == {"A": {"errors": {"omission/significant": 3}}}
        now = stale.value.state.version
        two.act(case, "set", now, candidate="B", field="errors", part="omission/significant", value=7)
        assert store.state("rater-1", case).answers == {
            "A": {"errors": {"omission/significant": 3}},
            "B": {"errors": {"omission/significant": 7}},
        }


def test_a_retry_is_written_once(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = rater.keys()[0]
        said = {"candidate": "A", "field": "errors", "part": "omission/significant", "value": 2}
        first = store.record("rater-1", Action(case, "set", said, 0, "one"))
        again = store.record("rater-1", Action(case, "set", said, 0, "one"))
        assert (first.repeated, again.repeated, again.seq) == (False, True, first.seq)
        assert again.state.version == 1
        with pytest.raises(Refused, match="used for another action"):
            store.record("rater-1", Action(case, "submit", {}, 1, "one"))
        with pytest.raises(Refused, match="client_id"):
            store.record("rater-1", Action(case, "submit", {}, 1, ""))


def test_time_is_summed_and_disturbs_no_window(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        case = rater.keys()[0]
        rater.act(case, "time", seconds=12.5)
        assert rater.act(case, "time", based_on=77, seconds=3).state.seconds == 15.5
        assert store.state("rater-1", case).version == 0


def test_many_threads_and_processes_lose_nothing(make: Make) -> None:
    made = make(raters=4)
    with Store(made.path) as store, Store(made.path) as second:
        case = Rater(store, "rater-1").keys()[0]

        def write(place: int) -> None:
            rater = Rater((store, second)[place % 2], f"rater-{place + 1}")
            for _ in range(25):
                rater.act(case, "time", seconds=1)

        threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [store.state(f"rater-{n}", case).seconds for n in range(1, 5)] == [25.0] * 4
        assert [event.seq for event in store.events()] == list(range(1, 101))


WRITER = """
import sys
from radgauge.study import Action, Store
store = Store(sys.argv[1])
case = next(place.key for place in store.places("rater-1") if not place.training)
version = store.state("rater-1", case).version
for number in range(100_000):
    said = {"candidate": "A", "field": "rating", "value": number % 5 + 1}
    done = store.record("rater-1", Action(case, "set", said, version, f"n{number}"))
    version = done.state.version
    print(done.seq, flush=True)  # the acknowledgement
"""


@pytest.mark.process
def test_acknowledged_actions_survive_kill_9(make: Make) -> None:
    made = make(raters=1, design="radpref")
    with Store(made.path) as store:
        Rater(store, "rater-1").train()
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(made.path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(40)]
    os.kill(process.pid, signal.SIGKILL)
    told += [int(line) for line in process.stdout.read().split("\n") if line]
    process.wait()
    process.stdout.close()
    with Store(made.path) as store:
        events = {event.seq: event for event in store.events()}
        assert set(told) <= events.keys()
        case = events[told[-1]].case
        last = max(seq for seq, event in events.items() if event.kind == "set")
        expected = events[last].payload["value"]
        assert store.state("rater-1", case).answers["A"]["rating"] == expected


def test_events_cannot_be_changed_or_removed(make: Make) -> None:
    made = make(raters=1)
    with Store(made.path) as store:
        Rater(store, "rater-1").train()
    connection = sqlite3.connect(made.path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("UPDATE events SET payload = '{}'")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM events")
    connection.close()


def test_the_file_is_for_its_owner_only_whatever_the_umask(make: Make) -> None:
    before = os.umask(0)
    try:
        made = make(raters=1)
        with Store(made.path) as store:
            Rater(store, "rater-1").train()
            files = [path for path in made.path.parent.iterdir() if path.name.startswith(made.path.name)]
            assert {path.name.removeprefix(made.path.name) for path in files} == {"", "-wal", "-shm"}
            assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
            copy = store.backup(made.path.with_name("copy.sqlite"))
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_backup_while_it_runs_is_a_whole_study(make: Make) -> None:
    made = make(raters=1)
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        copy = store.backup(made.path.with_name("copy.sqlite"))
        rater.act(rater.keys()[0], "time", seconds=1)
        with pytest.raises(InputError, match="never overwrites"):
            store.backup(copy)
        with Store(copy, readonly=True) as kept:
            assert len(kept.events()) == len(store.events()) - 1


def test_tokens_are_kept_as_hashes_expire_and_can_be_revoked(make: Make) -> None:
    made = make(raters=2, days=1)
    content = made.path.read_bytes()
    assert not any(token.encode() in content for token in made.tokens.values())
    with Store(made.path) as store:
        token = made.tokens["rater-1"]
        person = store.person_of_token(token)
        assert person is not None
        assert (person.id, person.role) == ("rater-1", "rater")
        assert store.person_of_token(token + "x") is None
        assert store.person_of_token("") is None
        assert store.person_of_token(token, now=datetime.now(UTC) + timedelta(days=2)) is None
        newer = store.new_token("Rater 1")
        assert store.revoke_tokens("rater-1") == 2
        assert store.person_of_token(token) is None
        assert store.person_of_token(newer) is None
        assert store.person_of_token(made.tokens["rater-2"]) is not None
        assert sum(bool(each.revoked) for each in store.tokens()) == 2
        with pytest.raises(InputError, match="nobody here is called 'Nobody'"):
            store.new_token("Nobody")


def test_raters_see_their_own_cases_and_answers_only(make: Make) -> None:
    made = make(raters=2, shared=0)
    with Store(made.path) as store:
        one, two = Rater(store, "rater-1"), Rater(store, "rater-2")
        assert not set(one.keys()) & set(two.keys())
        assert len(one.keys()) == len(two.keys()) == 2
        for look in (
            lambda: store.case("rater-1", two.keys()[0]),
            lambda: store.image_path("rater-1", two.keys()[0], number=0),
            lambda: one.act(two.keys()[0], "submit"),
        ):
            with pytest.raises(Refused, match="not yours"):
                look()
        with pytest.raises(Refused, match="only an adjudicator"):
            store.others("rater-1", one.keys()[0])


def test_blinded_candidates_come_in_another_order_for_each_rater_and_case(make: Make) -> None:
    made = make(raters=8)
    with Store(made.path) as store:
        orders = {
            tuple(store.key(f"rater-{n}", case).values())
            for n in range(1, 9)
            for case in study_ids(store).values()
            if case[0] == "c"
        }
        assert orders == {("alpha", "beta"), ("beta", "alpha")}
        assert len({tuple(Rater(store, f"rater-{n}").keys()) for n in range(1, 9)}) > 1
        view = store.case("rater-1", study_ids(store)["s1"])
        assert {each.system for each in view.candidates} == {""}
        assert "alpha" not in repr(view)


def test_seed_and_blinding_of_a_study_make_it_again_and_the_seed_alone_only_the_division(make: Make) -> None:
    def read(made: NewStudy) -> tuple[list[Any], set[Any], str]:
        with Store(made.path) as store:
            rows = store._connection.execute(
                'SELECT a.*, c.id FROM assignments a JOIN cases c ON c.key = a."case" ORDER BY person, position'
            ).fetchall()
            return rows, {(row[0], row[-1]) for row in rows}, store.about["blinding"]

    shape = {"raters": 3, "shared": 0}
    first, division, blinding = read(make(**shape, seed=5))
    assert read(make(**shape, seed=5, blinding=blinding))[0] == first
    again, same, other = read(make(**shape, seed=5, blinding=None))
    assert other != blinding
    assert (again == first, same == division) == (False, True)
    assert read(make(**shape, seed=6))[1] != division
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        make(blinding="5")


def test_an_adjudicator_sees_the_others_in_the_adjudicators_labels(make: Make) -> None:
    made = make(raters=2, adjudicators=["Chief"], design="preference")
    with Store(made.path) as store:
        case = study_ids(store)["s1"]
        for name, system in (("rater-1", "alpha"), ("rater-2", "beta")):
            rater = Rater(store, name)
            rater.train()
            rater.act(
                case, "set", field="preference", value={"choice": rater.label(case, system), "reason": "why"}
            )
        chief = Rater(store, "adjudicator-1")
        said = {
            each.person.id: each.state.answers[""]["preference"]["choice"] for each in store.others(chief.id, case)
        }
        assert {who: store.key(chief.id, case)[label] for who, label in said.items()} == {
            "rater-1": "alpha",
            "rater-2": "beta",
        }
        assert chief.keys() == sorted(key for key in study_ids(store).values() if key[0] == "c")


def test_a_file_that_is_no_study_is_refused(tmp_path: Path, make: Make) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but a text of some length" * 20)
    with pytest.raises(InputError, match="damaged or no study"):
        Store(text)
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(InputError, match="is no study of radgauge"):
        Store(other)
    with pytest.raises(InputError, match="no such file"):
        Store(tmp_path / "absent.sqlite")
    made = make(raters=1)
    connection = sqlite3.connect(made.path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(InputError, match="newer radgauge"):
        Store(made.path)


def test_any_sequence_of_actions_replays_to_the_state_that_was_told(make: Make) -> None:
    """A rater who does anything at all, in two windows: after each answer the store and a replay agree."""
    made = make(raters=1)
    rng = np.random.default_rng(0)
    levels, places = ("significant", "insignificant"), ("A", "B")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s1"]
        seen = store.state("rater-1", case)
        told = {"done": 0, "refused": 0, "stale": 0}
        for number in range(300):
            label, level = places[rng.integers(2)], levels[rng.integers(2)]
            entries = [entry["id"] for entry in seen.answers.get(label, {}).get("marks", ())]
            entry = {"category": "severity", "significance": level, "start": int(rng.integers(5)), "end": 8}
            choices: list[tuple[str, dict[str, Any]]] = [
                (
                    "set",
                    {
                        "candidate": label,
                        "field": "errors",
                        "part": f"omission/{level}",
                        "value": int(rng.integers(3)),
                    },
                ),
                ("set", {"candidate": label, "field": "errors", "part": f"omission/{level}", "value": None}),
                ("add", {"candidate": label, "field": "marks", "entry": entry}),
                ("remove", {"candidate": label, "field": "marks", "id": entries[0] if entries else "0"}),
                (
                    "change",
                    {"candidate": label, "field": "marks", "id": entries[-1] if entries else "0", "entry": entry},
                ),
                ("cannot_judge", {"candidate": label, "reason": "unclear"}),
                ("can_judge", {"candidate": label}),
                ("undo", {}),
                ("undo", {}),
                ("submit", {}),
                ("reopen", {}),
                ("time", {"seconds": 1.5}),
            ]
            kind, payload = choices[rng.integers(len(choices))]
            based_on = seen.version - int(rng.random() < 0.1)  # a window that missed something
            try:
                seen = store.record("rater-1", Action(case, kind, payload, based_on, f"walk-{number}")).state
                told["done"] += 1
            except Stale as stale:
                told["stale"] += stale.state == seen
            except Refused:
                told["refused"] += 1
            assert store.state("rater-1", case) == seen
            assert replay(store.events(person_id="rater-1", case=case)) == seen
        assert min(told.values()) > 10
    assert check_study(made.path).problems == ()


def test_images_that_cannot_be_read_are_named_before_the_study_starts(tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    cases = [replace(case, images=(broken,)) for case in two_systems()]
    made = new_study(tmp_path / "a.sqlite", cases, raters=1)
    assert "1 of 4 images cannot be read; raters do not see them. First broken.png: " in made.notes[-1]
    for file, settings in (("b", {"images": False}), ("c", {"design": "rexval"})):
        plain = new_study(tmp_path / f"{file}.sqlite", cases, raters=1, **settings)
        assert not any("images" in note for note in plain.notes)
        with Store(plain.path) as store:
            assert not store.design.show_images
            key = Rater(store, "rater-1").keys()[0]
            assert store.case("rater-1", key).images == 0
