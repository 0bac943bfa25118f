"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from scripted_judge import judge
from scripted_llm import ScriptedServer

# A busy machine is not a failing test; CI judges a change, so it tries the same examples every time.
settings.register_profile(
    "radgauge",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("radgauge")

pytest_plugins = ["processor_time"]


@pytest.fixture(scope="session")
def compiled_lexicon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first run leaves in the cache folder, so that processes of tests need not compile the lexicon."""
    cache = tmp_path_factory.mktemp("warm")
    code = "from radgauge.reader.compile import load_vocabulary; load_vocabulary()"
    source = str(Path(__file__).parents[1] / "src")
    environment = {**os.environ, "RADGAUGE_CACHE": str(cache), "PYTHONPATH": source}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return cache / "lexicon"


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache or the network; one that starts processes has a compiled lexicon."""
    monkeypatch.setenv("RADGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RADGAUGE_OFFLINE", "1")
    monkeypatch.setenv("RADGAUGE_CONFIG", "")
    if any(request.node.get_closest_marker(name) for name in ("process", "smoke")):
        shutil.copytree(request.getfixturevalue("compiled_lexicon"), tmp_path / "cache" / "lexicon")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real public data for development; not part of the repository for licence reasons."""
    folder = Path(os.environ.get("RADGAUGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the development data (../shared/data or $RADGAUGE_DATA) is not on this machine")
    return folder


@pytest.fixture
def llm_server() -> Iterator[ScriptedServer]:
    """An OpenAI-compatible server on this machine that a test can script."""
    with ScriptedServer().running() as server:
        yield server


@pytest.fixture
def named_server(llm_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """The same, named in the environment."""
    pytest.importorskip("openai", reason="the extra llm is not installed")
    for name, value in llm_server.environment.items():
        monkeypatch.setenv(name, value)
    return llm_server


@pytest.fixture
def judging(named_server: ScriptedServer) -> ScriptedServer:
    """A server that judges reports, named in the environment."""
    named_server.behaviour = judge
    return named_server
