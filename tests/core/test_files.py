"""Files: whole or not at all, for their owner only, tidied up after a kill."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from radgauge.core import files
from radgauge.core.errors import InputError
from radgauge.core.files import append_lines, make_folder, open_lines, replacing, sha256_of, tighten, write_file


@pytest.fixture(autouse=True)
def _open_umask(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The mask under which everybody may read and write what is made."""
    monkeypatch.setattr(files, "_tidy", set())
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("mask", [0, 0o022, 0o277])
def test_files_and_new_folders_are_for_the_owner_only(tmp_path: Path, mask: int) -> None:
    os.umask(mask)
    write_file(tmp_path / "a" / "b" / "file", "text")
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/file")] == [0o700, 0o700, 0o600]
    file, _ = open_lines(tmp_path / "c" / "lines")
    file.close()
    assert mode(tmp_path / "c" / "lines") == 0o600


def test_existing_files_are_tightened_and_existing_folders_stay_as_the_user_made_them(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    (folder / "file").write_text("old")
    (folder / "lines").write_text("one\n")
    write_file(folder / "file", "new")
    open_lines(folder / "lines")[0].close()
    assert [mode(folder), mode(folder / "file"), mode(folder / "lines")] == [0o755, 0o600, 0o600]


def test_tightening_takes_rights_from_others_but_not_from_shared_folders(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o755)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    for name in ("own", "shared", "absent"):
        tighten(tmp_path / name)
    assert mode(tmp_path / "own") == 0o700
    assert (tmp_path / "shared").stat().st_mode & 0o7777 == 0o1777


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "old")
    with pytest.raises(UnicodeEncodeError):
        write_file(tmp_path / "file", "\ud800")
    writing = replacing(tmp_path / "file")
    writing.__enter__().write_text("half")
    assert writing.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None) in (None, False)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "old"}


def test_the_file_that_a_link_names_is_replaced_not_the_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    write_file(tmp_path / "there" / "file", "old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    write_file(tmp_path / "pipe", "through")
    assert reader.communicate()[0] == b"through"


def test_a_long_name_has_room_for_the_file_beside_it(tmp_path: Path) -> None:
    write_file(tmp_path / ("n" * 249 + ".jsonl"), "x")
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_killed_run_left_is_removed_and_what_another_run_writes_is_not(tmp_path: Path) -> None:
    code = f"""
        import time
        from pathlib import Path
        from radgauge.core.files import replacing
        with replacing(Path({str(tmp_path)!r}) / "file.jsonl") as beside:
            beside.write_text("half")
            print("writing", flush=True)
            time.sleep(60)
    """
    killed, alive = (
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    for run in (killed, alive):
        assert run.stdout is not None
        assert run.stdout.readline() == "writing\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 2
    write_file(tmp_path / "other", "whole")
    try:
        assert sorted(path.name[:10] for path in tmp_path.iterdir()) == [".radgauge-", "other"]
    finally:
        alive.kill()
        for run in (killed, alive):
            run.communicate()


def test_files_of_others_are_no_leftovers(tmp_path: Path) -> None:
    for name in (".radgauge-notes", ".radgauge-0123456789abcdef.sh~", "file.part"):
        (tmp_path / name).write_text("keep")
    write_file(tmp_path / "file", "x")
    assert len(list(tmp_path.iterdir())) == 4


def test_a_full_disk_leaves_nothing_and_the_old_file(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "old")
    code = f"""
        import resource, signal
        from pathlib import Path
        from radgauge.core.files import append_lines, open_lines, write_file
        lines, _ = open_lines(Path({str(tmp_path)!r}) / "lines")
        append_lines(lines, b"one\\n")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # writing fails there as on a full disk
        for write in (lambda: write_file(Path({str(tmp_path)!r}) / "file", "x" * 5000),
                      lambda: append_lines(lines, b"y" * 5000 + b"\\n")):
            try:
                write()
            except OSError as error:
                print(error.errno)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("27\n27\n", "")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"file": "old", "lines": "one\n"}


def test_half_a_line_is_cut_off_and_lines_are_kept(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"one\x0b\ntwo\r\nhal")
    file, lines = open_lines(tmp_path / "lines")
    with file:
        assert lines == [b"one\x0b", b"two\r"]
        append_lines(file, b"three\n")
    assert (tmp_path / "lines").read_bytes() == b"one\x0b\ntwo\r\nthree\n"


def test_two_runs_do_not_append_to_one_file(tmp_path: Path) -> None:
    file, _ = open_lines(tmp_path / "lines")
    with file, pytest.raises(InputError, match="is in use by another run"):
        open_lines(tmp_path / "lines")


def test_a_folder_cannot_be_made_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError):
            make_folder(path)


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert sha256_of(tmp_path / "file") == hashlib.sha256(b"abc").hexdigest()


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    code = f"""
        from pathlib import Path
        from radgauge.core.files import write_file
        import sys
        for n in range(30):
            write_file(Path({str(tmp_path)!r}) / "file", sys.argv[1] * 10000)
    """
    runs = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), letter]) for letter in "abc"]
    while any(run.poll() is None for run in runs):
        if (tmp_path / "file").exists():
            content = (tmp_path / "file").read_text()
            assert content in ("a" * 10000, "b" * 10000, "c" * 10000)
        time.sleep(0.01)
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
