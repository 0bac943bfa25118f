"""The METEOR 1.5 program as a long-lived child process.

Starting it takes seconds (it loads a table of paraphrases), so one process serves the whole run. It ends
with ours whatever happens: it reads its input from us and stops when that ends, also after kill -9; after an
error or Ctrl-C in the middle of an exchange it is killed, because its answers could no longer be told apart.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from radgauge.core.errors import ModelError, require, shown

EXCHANGE = 32
"""Lines sent before answers are read: the answers must fit in a pipe, or both sides would wait for ever."""

_BREAKS = re.compile(r"[\r\n]+|\|{3,}")


class MeteorProcess:
    """Speaks the program's stdio protocol: one line of texts in, one line of statistics out."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        try:
            self._child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is ours to handle: it must not look like a failure of the program
            )
        except OSError as error:
            self._errors.close()
            raise ModelError(f"METEOR cannot be started: {command[0]}: {error}") from None

    def ask(self, lines: Sequence[str]) -> list[str]:
        """One answer per line."""
        answers: list[str] = []
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise self._failure()
        for start in range(0, len(lines), EXCHANGE):
            part = lines[start : start + EXCHANGE]
            sent = "".join(f"{line}\n" for line in part).encode("utf-8", "replace")
            try:
                stdin.write(sent)
                stdin.flush()
            except OSError:
                raise self._failure() from None
            for _ in part:
                answer = stdout.readline()
                if not answer.endswith(b"\n"):
                    raise self._failure()
                answers.append(answer.decode("ascii", "replace").strip())
        return answers

    def close(self, *, patience: float = 5.0) -> None:
        """End the process: politely, then not."""
        with suppress(OSError):
            if self._child.stdin is not None:
                self._child.stdin.close()
        try:
            self._child.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()
        self._errors.close()

    def kill(self) -> None:
        """End the process at once."""
        self._child.kill()
        self.close()

    def _failure(self) -> ModelError:
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=5)
        self._errors.seek(0)
        messages = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        reason = messages[0] if messages else f"exit code {self._child.returncode}"
        return ModelError(f"METEOR's Java program ended before it answered: {reason}")


_lock = threading.Lock()
_running: dict[int, MeteorProcess] = {}  # by our process id: a fork must not talk into its parent's pipe


def statistics(groups: Sequence[Sequence[str]]) -> list[list[float]]:
    """METEOR's statistics of each (candidate, reference, ...) group of texts."""
    lines = ["SCORE" + "".join(f" ||| {one_line(text)}" for text in (*g[1:], g[0])) + " " for g in groups]
    with _lock:
        pid = os.getpid()
        if pid not in _running:
            _running[pid] = MeteorProcess(command())
        try:
            answers = _running[pid].ask(lines)
        except BaseException:
            _running.pop(pid).kill()
            raise
    return [_numbers(answer) for answer in answers]


def one_line(text: str) -> str:
    """A text as the protocol can carry it: no line ends, no separator.

    >>> one_line("clear.\\nno ||| effusion")
    'clear. no   effusion'
    """
    return _BREAKS.sub(" ", text)


def command() -> list[str]:
    """Command that starts the program; says what is missing if there is none."""
    package = require("pycocoevalcap", extra="meteor")
    jars = [Path(folder) / "meteor" / "meteor-1.5.jar" for folder in package.__path__]
    jar = next((path for path in jars if path.is_file()), None)
    if jar is None:
        raise ModelError(f"pycocoevalcap has no meteor-1.5.jar (looked at {jars[0]}); install it anew")
    return [java(), "-Xmx2G", "-jar", str(jar), "-", "-", "-stdio", "-l", "en", "-norm"]


def java(program: str = "METEOR 1.5") -> str:
    """The Java runtime: $JAVA_HOME/bin/java, or the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    executable = (shutil.which("java", path=str(Path(home) / "bin")) if home else None) or shutil.which("java")
    if executable is None:
        raise ModelError(
            f"{program} is a Java program and there is no java on the PATH (nor under JAVA_HOME); "
            "install a Java runtime, version 8 or later"
        )
    return executable


def stop() -> None:
    """End this process's METEOR, if it runs."""
    with _lock:
        if process := _running.pop(os.getpid(), None):
            process.close()


atexit.register(stop)


def _numbers(answer: str) -> list[float]:
    try:
        return [float(word) for word in answer.split()]
    except ValueError:
        raise ModelError(f"METEOR answered {shown(answer)} instead of its statistics") from None
