"""Lightning checkpoints are read; what could run code is refused."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.checkpoints.lightning_checkpoint import open_lightning
from radgauge.encoders.checkpoints.weights import read_weights

TINY = Path(__file__).parents[2] / "data" / "parity" / "vlscore" / "lightning_tiny.ckpt"
"""Written by torch with settings of real omegaconf classes (parity/vlscore/peer.py)."""


def test_tensors_of_every_kind_and_settings_come_out() -> None:
    opened = open_lightning(TINY)
    assert opened.settings == {
        "cfg": {"model": {"text": {"last_n_layers": 4, "names": ["a", "b"], "norm": False}}},
        "lr": 0.5,
    }
    numbers = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = dict(opened.read("limitr."))
    assert np.array_equal(found["limitr.plain"], numbers)
    assert np.array_equal(found["limitr.turned"], numbers.T)
    assert np.array_equal(found["limitr.part"], numbers[1:, 1:3])
    assert np.array_equal(found["limitr.half"], numbers)
    assert np.array_equal(found["limitr.brain"], numbers)
    assert np.array_equal(found["limitr.parameter"], numbers[0])
    assert found["limitr.count"] == 7
    assert dict(opened.read("limitr.turned", "other.")).keys() == {"limitr.turned"}


@pytest.mark.models
def test_torch_agrees(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
    state = {"a": torch.randn(4, 5)[:, 1:4], "b": torch.zeros(0, 3), "c": torch.tensor(True)}
    torch.save({"state_dict": state}, tmp_path / "a.ckpt")
    found = dict(open_lightning(tmp_path / "a.ckpt").read(""))
    assert all(np.array_equal(found[name], value.numpy()) for name, value in state.items())


def archive(path: Path, payload: bytes, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("model/data.pkl", payload)
        for name, content in members.items():
            out.writestr(f"model/data/{name.removeprefix('s')}", content)
    return path


class Runs:
    """Its pickle calls a function when it is loaded."""

    def __init__(self, function: object, *given: object) -> None:
        self.function, self.given = function, given

    def __reduce__(self) -> tuple:
        return (self.function, self.given)


@pytest.mark.parametrize(
    ("function", "name"),
    [(os.system, "system"), (eval, "eval"), (exec, "exec"), (getattr, "getattr"), (os.mkdir, "mkdir")],
)
def test_code_is_refused_and_not_run(tmp_path: Path, function: object, name: str) -> None:
    mark = tmp_path / "ran"
    given = {"system": f"touch {mark}", "mkdir": str(mark)}.get(name, f"__import__('os').mkdir({str(mark)!r})")
    content = {"state_dict": {}, "hyper_parameters": Runs(function, given)}
    path = archive(tmp_path / "bad.ckpt", pickle.dumps(content, protocol=2))
    with pytest.raises(ModelError, match=rf"bad\.ckpt is not loaded: it names \w+\.{name}, .* could run code"):
        open_lightning(path)
    assert not mark.exists()


def test_names_that_are_let_in_do_nothing(tmp_path: Path) -> None:
    # A global of an allowed package and a call of it with arguments: the class is not imported, nothing is called.
    payload = (
        b"\x80\x02}(X\x0a\x00\x00\x00state_dict}X\x10\x00\x00\x00hyper_parameters"
        b"cpytorch_lightning.no_such_module\nRunner\n(X\x05\x00\x00\x00touchtR}X\x01\x00\x00\x00aX\x01\x00\x00\x00bsbu."
    )
    opened = open_lightning(archive(tmp_path / "a.ckpt", payload))
    assert opened.settings == {}
    assert opened.tensors == {}


def test_settings_may_name_types_and_paths(tmp_path: Path) -> None:
    settings = {"where": Path("a"), "kind": np.dtype("float32"), "size": np.float64(2.0), "depth": 3}
    content = {"state_dict": {}, "hyper_parameters": settings}
    path = tmp_path / "a.ckpt"
    found = open_lightning(archive(path, pickle.dumps(content, protocol=2))).settings
    assert found["depth"] == 3
    assert found.keys() == settings.keys()


def test_settings_that_hold_themselves_are_refused(tmp_path: Path) -> None:
    settings: dict = {}
    settings["self"] = settings
    content = {"state_dict": {}, "hyper_parameters": settings}
    with pytest.raises(ModelError, match="its settings hold themselves"):
        open_lightning(archive(tmp_path / "a.ckpt", pickle.dumps(content, protocol=2)))


@pytest.mark.models
@pytest.mark.parametrize(
    ("shape", "strides", "offset"), [((100,), (1,), 0), ((2, 2), (1, 5), 0), ((2,), (-1,), 1), ((4,), (1,), 1)]
)
def test_a_tensor_cannot_reach_beyond_its_storage(tmp_path: Path, shape, strides, offset) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
    torch.save({"state_dict": {"a": torch.zeros(4)}}, tmp_path / "good.ckpt")
    opened = open_lightning(tmp_path / "good.ckpt")
    from dataclasses import replace

    forged = replace(opened.tensors["a"], shape=shape, strides=strides, offset=offset)
    with pytest.raises(ModelError, match="a reaches beyond its storage"):
        list(replace(opened, tensors={"a": forged}).read(""))


def test_other_files_are_named_for_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    with pytest.raises(ModelError, match="cannot be read"):
        open_lightning(path)
    path.write_bytes(pickle.dumps({"state_dict": {}}))
    with pytest.raises(ModelError, match="must be a checkpoint in the zip form"):
        open_lightning(path)
    with pytest.raises(ModelError, match="must be a Lightning checkpoint with a state_dict"):
        open_lightning(archive(path, pickle.dumps([1, 2], protocol=2)))
    with pytest.raises(ModelError, match="is damaged"):
        open_lightning(archive(path, pickle.dumps({"state_dict": {}})[:-4]))
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("model/other", b"")
    with pytest.raises(ModelError, match=r"it has no data\.pkl"):
        open_lightning(path)


@pytest.mark.models
def test_steps_of_nothing_do_not_make_terabytes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
    state = {"huge": torch.zeros(1).expand(1 << 20, 1 << 20)}
    torch.save({"state_dict": state}, tmp_path / "a.ckpt")
    torch.save(state, tmp_path / "a.pth")
    with pytest.raises(ModelError, match=r"huge claims \(1048576, 1048576\) values"):
        dict(open_lightning(tmp_path / "a.ckpt").read(""))
    with pytest.raises(ModelError, match=r"huge claims \(1048576, 1048576\) values"):
        read_weights(tmp_path / "a.pth")


@pytest.mark.models
def test_archives_that_unpack_are_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
    state = {"a": torch.zeros(100_000)}
    torch.save({"state_dict": state}, tmp_path / "a.ckpt")
    for name in ("packed.ckpt", "packed.pth"):
        with zipfile.ZipFile(tmp_path / "a.ckpt") as old, zipfile.ZipFile(tmp_path / name, "w") as new:
            for member in old.namelist():
                kind = zipfile.ZIP_DEFLATED if "/data/" in member else zipfile.ZIP_STORED
                new.writestr(member, old.read(member), compress_type=kind)
    with pytest.raises(ModelError, match="is compressed, which PyTorch does not do"):
        dict(open_lightning(tmp_path / "packed.ckpt").read(""))
    with pytest.raises(ModelError, match="is compressed, which PyTorch does not do"):
        read_weights(tmp_path / "packed.pth")
