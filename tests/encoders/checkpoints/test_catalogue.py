"""Where checkpoints are looked for, and how they are fetched: resumed, checked, refused."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import logging
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from radgauge.core.errors import ModelError, UsageError
from radgauge.core.registry import load
from radgauge.encoders.checkpoints.catalogue import (
    CHECKPOINTS,
    checkpoint,
    checkpoints_for,
    find,
    models_dir,
    needed_by,
    places_of,
)
from radgauge.encoders.checkpoints.fetch import fetch
from radgauge.encoders.checkpoints.hub import locate_file, locate_tokenizer


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's machine is looked at."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path / "models"))
    for name in ("HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)


def test_every_entry_is_complete_and_belongs_to_a_metric() -> None:
    names = [each.name for each in CHECKPOINTS]
    assert len(set(names)) == len(names)
    for each in CHECKPOINTS:
        assert each.purpose
        assert each.licence
        assert "/" in each.repo
        assert each.pinned or each.revision == "main"
        assert all(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", known) for known in each.hashes.values())
        assert not each.file or set(each.hashes) <= {each.file}
        assert bool(each.file) is not bool(each.patterns)


def test_nothing_is_found_on_an_empty_machine() -> None:
    assert [find(each) for each in CHECKPOINTS] == [None] * len(CHECKPOINTS)


@pytest.mark.parametrize(
    "place",
    [
        "models/chexbert.pth",
        "user/huggingface/hub/models--StanfordAIMI--RRG_scorers/snapshots/abc/chexbert.pth",
        "user/chexbert/chexbert.pth",
    ],
)
def test_places(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    assert find(checkpoint("chexbert")) == path
    assert locate_file("chexbert", models="published") == path


def test_unpacked_archives_of_the_authors_package(tmp_path: Path) -> None:
    folder = tmp_path / "user" / "radgraph" / "0.1.18" / "radgraph-xl"
    folder.mkdir(parents=True)
    assert find(checkpoint("radgraph-xl")) is None  # empty
    (folder / "config.json").write_text("{}")
    assert find(checkpoint("radgraph-xl")) == folder
    assert any("radgraph-xl" in str(place) for place in places_of(checkpoint("radgraph-xl")))


def test_a_vocabulary_is_not_an_encoder(tmp_path: Path) -> None:
    folder = models_dir() / "distilroberta-base"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert find(checkpoint("distilroberta-base")) is None
    (folder / "model.safetensors").write_bytes(b"")
    assert find(checkpoint("distilroberta-base")) == folder


def test_vocabularies_beside_the_weights(tmp_path: Path) -> None:
    folder = tmp_path / "given" / "ModernBERT-base"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert locate_tokenizer("answerdotai/ModernBERT-base", models=str(tmp_path / "given")) == folder
    assert locate_tokenizer(str(folder), models="published") == folder
    with pytest.raises(ModelError, match=r"config\.json of a/b"):
        locate_tokenizer("a/b", models=str(tmp_path))


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="there is no checkpoint or metric 'chexbart'"):
        checkpoint("chexbart")


def test_what_belongs_together() -> None:
    assert [each.name for each in checkpoints_for("radgraph-xl")] == ["radgraph-xl", "cxr-bert"]
    assert {each.name for each in checkpoints_for("radcliq")} == {
        *("radgraph", "pubmedbert", "chexbert", "bert-base-uncased", "distilroberta-base")
    }
    with pytest.raises(UsageError, match="bleu needs no checkpoint"):
        checkpoints_for("bleu")


@pytest.mark.parametrize(
    ("spec", "names", "megabytes"),
    [
        ("radgraph", "radgraph pubmedbert", 433),
        ("radgraph:network=radgraph-xl", "radgraph-xl cxr-bert", 417),
        ("radcliq:version=preprint", "radgraph pubmedbert", 433),
        ("chexbert_similarity", "chexbert bert-base-uncased", 1315),
        ("bertscore", "distilroberta-base", 333),
        ("ratescore:encoder=medcpt", "rate-ner medcpt", 747),
        ("vlscore", "limitr bio-clinicalbert", 1),
        ("vlscore:encoder=biomedclip", "biomedclip", 784),
    ],
)
def test_a_metric_needs_no_more_than_its_settings_read(spec: str, names: str, megabytes: int) -> None:
    needed = checkpoints_for(spec)
    assert {each.name for each in needed} == set(names.split())
    assert sum(each.megabytes for each in needed) == megabytes
    assert needed_by(load(spec.partition(":")[0])) == ()  # embedded


def test_companions_are_in_the_catalogue() -> None:
    assert all(checkpoint(other) for each in CHECKPOINTS for other in each.companions)


def test_offline_forbids_fetching() -> None:
    with pytest.raises(ModelError, match="RADGAUGE_OFFLINE"):
        fetch(checkpoint("chexbert"))


CONTENT = bytes(range(256)) * 5000


class Hub(BaseHTTPRequestHandler):
    """A hub that redirects to its storage, knows ranges, and can be made to fail."""

    stated = hashlib.sha256(CONTENT).hexdigest()
    cut = 0
    listed = '{"id": "a/b", "siblings": [{"rfilename": "config.json"}, {"rfilename": "x.bin"}]}'
    asked: list[str | None] = []  # noqa: RUF012 (reset by the fixture)

    agents: list[str] = []  # noqa: RUF012 (reset by the fixture)

    def do_HEAD(self) -> None:
        type(self).agents.append(self.headers.get("User-Agent", ""))
        self.send_response(302)
        self.send_header("X-Repo-Commit", "a" * 40)
        self.send_header("X-Linked-ETag", f'"{self.stated}"')
        self.send_header("X-Linked-Size", str(len(CONTENT)))
        self.send_header("Location", f"http://localhost:{self.server.server_port}/storage")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        if self.path.startswith("/api/"):
            self.answer(self.listed.encode(), 200)
        elif self.path != "/storage":
            self.send_response(302)
            self.send_header("Location", "/storage")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            wanted = self.headers.get("Range")
            type(self).asked.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if start >= len(CONTENT):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.answer(CONTENT[start:], 206 if wanted else 200)

    def answer(self, content: bytes, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.cut] if self.cut and status == 200 else content)

    def log_message(self, *arguments: object) -> None:
        """Be quiet."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A hub of our own on this machine."""
    pytest.importorskip("huggingface_hub")
    handler = type("OwnHub", (Hub,), {"asked": [], "agents": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("RADGAUGE_OFFLINE", "0")
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


ANY = dataclasses.replace(checkpoint("chexbert"), hashes={})


def test_fetch_a_file(hub: type[Hub]) -> None:
    seen = []
    path = fetch(ANY, progress=lambda name, done, total: seen.append((name, done, total)))
    assert path == models_dir() / "chexbert.pth"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == ("chexbert.pth", len(CONTENT), len(CONTENT))
    assert find(checkpoint("chexbert")) == path


def test_a_damaged_file_is_refused(hub: type[Hub]) -> None:
    hub.stated = "0" * 64
    with pytest.raises(ModelError, match=r"arrived damaged .* and was removed; fetch it again"):
        fetch(ANY)
    assert not list(models_dir().rglob("chexbert.pth"))


def test_what_is_known_here_counts_where_the_hub_states_nothing(
    hub: type[Hub], caplog: pytest.LogCaptureFixture
) -> None:
    hub.stated = "some-tag"
    with pytest.raises(ModelError, match=r"it must be 6550703c92d6[0-9a-f]{52}"):
        fetch(checkpoint("chexbert"))
    with caplog.at_level(logging.WARNING):
        fetch(ANY)
    assert "neither the hub nor radgauge knows its hash, so it was not checked" in caplog.text


def test_another_file_than_the_pinned_one_is_refused_and_leaves_nothing(hub: type[Hub]) -> None:
    pinned = checkpoint("chexbert").hashes["chexbert.pth"]
    found = hashlib.sha256(CONTENT).hexdigest()
    assert found == hub.stated  # the hub itself vouches for it
    with pytest.raises(ModelError, match=f"its hash is {found}, it must be {pinned}; nothing was kept"):
        fetch(checkpoint("chexbert"))
    assert not list(models_dir().rglob("*"))
    folder = dataclasses.replace(ANY, file="", patterns=("*.json", "*.bin"), hashes={"x.bin": "0" * 64})
    with pytest.raises(ModelError, match=f"x.bin of .* its hash is {found}, it must be {'0' * 64}"):
        fetch(folder)
    assert not list(models_dir().rglob("*"))


def test_git_hashes_of_small_files(hub: type[Hub]) -> None:
    hub.stated = hashlib.sha1(f"blob {len(CONTENT)}\0".encode() + CONTENT).hexdigest()
    assert fetch(ANY).read_bytes() == CONTENT
    hub.stated = "0" * 40
    with pytest.raises(ModelError, match="arrived damaged"):
        fetch(ANY)


def test_a_full_disk_is_named(hub: type[Hub]) -> None:
    def full(name: str, done: int, total: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ModelError, match=r"chexbert\.pth"):
        fetch(ANY, progress=full)
    assert fetch(ANY).read_bytes() == CONTENT


def test_fetch_a_folder_takes_only_what_is_needed(hub: type[Hub]) -> None:
    folder = fetch(checkpoint("modernbert"))
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    assert [path.name for path in models_dir().iterdir()] == ["ModernBERT-base"]


def test_a_folder_is_found_when_it_is_whole(hub: type[Hub]) -> None:
    """A config.json without the vocabulary behind it would be taken for the tokenizer."""
    wanted = checkpoint("modernbert")
    hub.listed = '{"id": "a/b", "siblings": [{"rfilename": "config.json"}, {"rfilename": "sub/vocab.txt"}]}'

    def stop(name: str, done: int, total: int) -> None:
        if name == "sub/vocab.txt":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(wanted, progress=stop)
    assert find(wanted) is None
    asked = len(hub.asked)
    folder = fetch(wanted)
    assert find(wanted) == folder
    assert (folder / "sub" / "vocab.txt").read_bytes() == CONTENT
    assert len(hub.asked) == asked + 1  # what was whole is not fetched again


def test_names_that_climb_out_of_the_folder(hub: type[Hub]) -> None:
    hub.listed = '{"id": "a/b", "siblings": [{"rfilename": "../config.json"}]}'
    with pytest.raises(ModelError, match=r"'\.\./config\.json'"):
        fetch(checkpoint("modernbert"))


def test_published_fetches_when_allowed(hub: type[Hub]) -> None:
    assert locate_file("radgraph", models="published").read_bytes() == CONTENT


def test_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # huggingface_hub tries again for 23 seconds
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("RADGAUGE_OFFLINE", "0")
    with pytest.raises(ModelError, match=r"ModernBERT-base@.* cannot be fetched"):
        fetch(checkpoint("modernbert"))
    with pytest.raises(ModelError, match="cannot be fetched"):
        fetch(checkpoint("chexbert"))


def test_huggingface_hub_takes_up_a_broken_connection_and_tells_nobody_what_is_installed(
    hub: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.cut = 3000
    assert fetch(ANY).read_bytes() == CONTENT
    assert hub.asked == [None, "bytes=3000-"]
    assert all("torch" not in agent and "radgauge/" in agent for agent in hub.agents)
    assert constants.HF_HUB_DISABLE_TELEMETRY is False


def test_the_offline_mode_of_huggingface_hub_is_heeded(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE"):
        fetch(ANY)
    assert not hub.asked
