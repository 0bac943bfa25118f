"""Mutated checkpoints: an error that names the file, never code that runs, never memory without end."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzzing import attempts

from radgauge.core.errors import ModelError
from radgauge.encoders.checkpoints.lightning_checkpoint import open_lightning
from radgauge.encoders.checkpoints.radgraph_archive import read_archive
from radgauge.encoders.checkpoints.weights import read_weights

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")


def _mutated(whole: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(whole)
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(len(content)))
        if rng.random() < 0.7:
            content[place : place + 1] = rng.bytes(1)
        else:
            del content[place : place + int(rng.integers(1, 200))]
    return bytes(content)


def _read_lightning(path: Path) -> None:
    for _, values in open_lightning(path).read(""):
        assert values.size <= 1000


READERS: dict[str, Callable[[Path], object]] = {
    "a.ckpt": _read_lightning,
    "a.pth": read_weights,
    "a.safetensors": read_weights,
    "a.tar.gz": lambda path: read_archive(path, network="radgraph"),
}


@pytest.mark.parametrize("name", READERS)
def test_mutated_checkpoints_are_refused_or_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    state = {"a": torch.arange(12.0).reshape(3, 4), "b": torch.ones(5, dtype=torch.int64)}
    if name == "a.ckpt":
        torch.save({"state_dict": state, "hyper_parameters": {"x": [1, 2]}}, path)
    elif name == "a.pth":
        torch.save(state, path)
    elif name == "a.safetensors":
        pytest.importorskip("safetensors.torch").save_file(state, path)
    else:
        torch.save(state, tmp_path / "weights.th")
        (tmp_path / "config.json").write_text("{}")
        with tarfile.open(path, "w:gz") as archive:
            for member in ("config.json", "weights.th"):
                archive.add(tmp_path / member, member)
    whole = path.read_bytes()
    for rng in attempts(60):
        path.write_bytes(_mutated(whole, rng))
        try:
            READERS[name](path)
        except ModelError as error:
            if path.name not in str(error):
                pytest.fail(f"the message does not name the file: {error}")
