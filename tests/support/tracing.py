"""System calls of a program, as strace sees them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def network_tracer(log: Path, *, before: Sequence[str] = ()) -> tuple[str, ...]:
    """What is put before a command so that its network calls, and those of its children, are written to a file.

    Args:
        log: The file.
        before: Further words that the command is started with; the test skips where they are not allowed either.
    """
    for name in ("strace", *before[:1]):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    tracer = (*before, "strace", "-f", "--seccomp-bpf", "-e", "trace=network", "-o", str(log))
    if subprocess.run([*tracer, "true"], capture_output=True).returncode:
        pytest.skip("tracing, or what comes before it, is not allowed here")
    return tracer
