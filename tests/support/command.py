"""The `radgauge` command: in this process, or in one of its own where that is what a test is about."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from radgauge.cli import main

SOURCE = Path(__file__).parents[2] / "src"


def radgauge(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command's own entry point: exit code, stdout and stderr, without the second that a process costs.

    An exception that it lets through fails the test, and so does a warning.
    """
    words = ["radgauge", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        for name, value in {"COLUMNS": "160", **environment}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", words)
        patch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own
        code: object = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
    out.flush()
    err.flush()
    assert b"Traceback" not in err.buffer.getvalue(), err.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
    said = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, int(str(code or 0)), *said)


def radgauge_process(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, as a user starts it."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "radgauge", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "160",
            **environment,
        },
        check=False,
    )
