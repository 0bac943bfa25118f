"""Foreign checkpoints: what is damaged, incomplete or could run code is refused, never scored."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.checkpoints import weights
from radgauge.encoders.checkpoints.weights import encoder_from, load_tokenizer, load_transformer, read_weights

pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def whole(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT encoder with its tokenizer."""
    return Path(seeded.encoder(tmp_path_factory.mktemp("whole") / "bert", kind="bert"))


@pytest.fixture
def own(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "bert"))


def rewrite(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    state = {key: value.clone() for key, value in load_file(path).items()}  # the file must not be mapped
    save_file(change(state), path, metadata={"format": "pt"})


def test_a_whole_checkpoint(whole: Path) -> None:
    assert load_tokenizer(whole, of="bert").tokenize("effusion")
    assert not load_transformer(whole, of="bert").config.is_decoder


def test_without_its_vocabulary_a_tokenizer_would_know_no_word(own: Path) -> None:
    (own / "vocab.txt").unlink()
    with pytest.raises(ModelError, match="must hold the tokenizer of x/y"):
        load_tokenizer(own, of="x/y")


def test_missing_weights_are_not_drawn_at_random(own: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def other_names(state: dict[str, Any]) -> dict[str, Any]:
        return {f"x.{key}" if "layer.1." in key else key: value for key, value in state.items()}

    rewrite(own, other_names)
    with pytest.raises(ModelError, match=r"\d+ missing: encoder\.layer\.1\..*, \.\.\."):
        load_transformer(own, of="bert")
    assert capfd.readouterr() == ("", "")  # transformers' own report is not shown


def test_other_shapes_are_listed(own: Path) -> None:
    def short(state: dict[str, Any]) -> dict[str, Any]:
        key = "embeddings.word_embeddings.weight"
        return {**state, key: state[key][:7].clone()}

    rewrite(own, short)
    with pytest.raises(ModelError, match=r"embeddings\.word_embeddings\.weight \(7, 48\)"):
        load_transformer(own, of="bert")


def test_values_that_are_not_finite(own: Path) -> None:
    def spoil(state: dict[str, Any]) -> dict[str, Any]:
        state["encoder.layer.0.output.dense.bias"][3] = float("nan")
        return state

    rewrite(own, spoil)
    with pytest.raises(ModelError, match="1 with values that are not finite"):
        load_transformer(own, of="bert")


def test_values_that_are_not_finite_are_found_in_every_part(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_NUMBERS_AT_ONCE", 1000)

    def spoil(state: dict[str, Any]) -> dict[str, Any]:
        assert state["embeddings.word_embeddings.weight"].numel() > 2000
        state["embeddings.word_embeddings.weight"][-1, -1] = float("inf")
        return state

    rewrite(own, spoil)
    with pytest.raises(ModelError, match=r"embeddings\.word_embeddings\.weight"):
        load_transformer(own, of="bert")


def test_an_encoder_without_pooler_has_none(own: Path) -> None:
    rewrite(own, lambda state: {key: value for key, value in state.items() if not key.startswith("pooler.")})
    assert load_transformer(own, of="bert").pooler is None


@pytest.mark.parametrize(("keep", "why"), [(0, "header too small"), (4, "header too small"), (5000, "")])
def test_a_file_that_was_cut_off(own: Path, keep: int, why: str) -> None:
    path = own / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelError, match=f"must hold a transformers model, got: .*{why}"):
        load_transformer(own, of="bert")
    with pytest.raises(ModelError, match=f"must be a safetensors file, got: .*{why}"):
        read_weights(path)


class Code:
    """What an attacker would store."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("protocol", [2, 4])
def test_code_is_named_and_not_run(tmp_path: Path, protocol: int) -> None:
    path, marker = tmp_path / "weights.bin", tmp_path / "ran"
    path.write_bytes(pickle.dumps({"weight": Code(marker)}, protocol=protocol))
    with pytest.raises(ModelError, match=r"must hold tensors only; it is not loaded, because it holds") as caught:
        read_weights(path)
    assert "weights_only" not in str(caught.value)  # no advice to load it all the same
    assert not marker.exists()


def test_files_that_are_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(b"")
    with pytest.raises(ModelError, match="must be a PyTorch checkpoint, got: an empty file"):
        read_weights(path)


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_a_hollow_encoder_takes_no_memory_and_computes_the_same(
    seeded: ModuleType, tmp_path: Path, activation: str
) -> None:
    """Also by transformers' own code, which needs the positions that no checkpoint holds."""
    import torch

    folder = seeded.bert_folder(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": activation}))
    whole = encoder_from(folder, pooler=False).eval()
    hollow = encoder_from(folder, pooler=False, hollow=True).eval()
    assert {str(each.device) for each in hollow.parameters()} == {"meta"}
    hollow.load_state_dict(whole.state_dict(), assign=True)
    ids = torch.tensor([[2, 9, 8, 3]])
    with torch.inference_mode():
        assert torch.equal(hollow(ids)[0], whole(ids)[0])
