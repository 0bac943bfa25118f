"""What was paid for is on disk, whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.errors import InputError
from radgauge.llm.journal import Journal, key_of


def test_records_survive(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "j.jsonl") as journal:
        journal.add({"a": {"value": "ä\u2028b"}, "b": {"why": "x"}}, costs=[{"id": 0}])
        journal.add({"a": {"value": "later"}})
    with Journal(tmp_path / "new" / "j.jsonl") as journal:
        assert journal.get("a") == {"value": "later"}
        assert journal.get("b") == {"why": "x"}
        assert "c" not in journal
        assert list(journal.costs()) == [{"id": 0}]


def test_a_line_cut_anywhere_is_dropped_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.add({"a": {"value": "1"}})
        first = path.stat().st_size
        journal.add({"b": {"value": "zwei ü"}})
    whole = path.read_bytes()
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        with Journal(path) as journal:
            assert journal.get("a") == {"value": "1"}
            assert "b" not in journal
            journal.add({"c": {"value": "3"}})
        with Journal(path) as journal:
            assert (journal.get("a"), journal.get("c")) == ({"value": "1"}, {"value": "3"})


def test_damage_elsewhere_is_said(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"key": "a", "value": "1"}\n{"key": "b", "va\n{"key": "c", "value": "3"}\n')
    with pytest.raises(InputError, match="damaged at line 2"):
        Journal(path)


def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="no file locks on this system")
    with Journal(tmp_path / "j.jsonl"), pytest.raises(InputError, match="in use by another run"):
        Journal(tmp_path / "j.jsonl")
    Journal(tmp_path / "j.jsonl").close()


def test_keys_tell_parts_apart() -> None:
    assert key_of("a", "b") != key_of("ab") != key_of("b", "a")
    assert key_of("a", "b") == key_of("a", "b")
