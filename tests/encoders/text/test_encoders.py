"""Transformer encoders against plain transformers on small seeded checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cache import Cache
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.readings import Readings
from radgauge.encoders.checkpoints import hub
from radgauge.encoders.checkpoints.hub import (
    checkpoint_folder,
    checkpoint_name,
    offline,
    pick_device,
    split_revision,
)
from radgauge.encoders.text.encoders import TransformerEncoder, encoder_named
from radgauge.text.static_embedding import EMBEDDED, StaticEncoder

TEXTS = [
    "pleural effusion",
    "left lower lobe consolidation with air bronchograms " * 6,
    "heart",
    "",
    "no acute cardiopulmonary abnormality",
    "heart",
]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UsageError, match=r"pooling must be one of .*got 'max'"):
        TransformerEncoder("x/y", pooling="max")
    with pytest.raises(UsageError, match="max_length must be 3 or more and tokens 0"):
        TransformerEncoder("x/y", max_length=2)


def test_encoders_by_name() -> None:
    assert encoder_named("embedded") == StaticEncoder()
    assert encoder_named(str(EMBEDDED)) == StaticEncoder(path=str(EMBEDDED))
    assert encoder_named("a/b", pooling="cls") == TransformerEncoder("a/b", pooling="cls")


def test_offline_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in [("1", True), ("true", True), ("0", False), ("", False)]:
        monkeypatch.setenv("RADGAUGE_OFFLINE", value)
        assert offline() is expected


def test_revisions_are_split_off() -> None:
    assert split_revision("a/b@main") == ("a/b", "main")
    assert split_revision("/data/user@host/model") == ("/data/user@host/model", None)


@pytest.mark.parametrize("model", ["nothing", "./nothing/here", "/no/such/folder", "a/b/c"])
def test_what_is_no_model_is_refused(model: str) -> None:
    with pytest.raises(ModelError, match="owner/name@revision"):
        checkpoint_folder(model)


@pytest.mark.models
def test_nothing_is_fetched_when_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="'a/model'"):
        checkpoint_folder("a/model")


def test_listed_checkpoints_are_found_where_radgauge_keeps_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    checkpoint_folder.cache_clear()
    with pytest.raises(ModelError, match="run: radgauge models fetch biolord"):
        checkpoint_folder("FremyCompany/BioLORD-2023-C")
    folder = tmp_path / "BioLORD-2023-C"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).touch()
    assert checkpoint_folder("FremyCompany/BioLORD-2023-C") == folder
    checkpoint_folder.cache_clear()


@pytest.mark.models
def test_a_listed_vocabulary_does_not_stand_for_the_encoder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path))
    folder = tmp_path / "Bio_ClinicalBERT"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    checkpoint_folder.cache_clear()
    with pytest.raises(ModelError, match="emilyalsentzer/Bio_ClinicalBERT"):
        checkpoint_folder("emilyalsentzer/Bio_ClinicalBERT")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of random weights with a tokenizer of letters."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    letters = [chr(ord("a") + at) for at in range(26)]
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    torch.manual_seed(7)
    transformers.BertModel(config).eval().save_pretrained(folder)
    return folder


def plain(folder: Path, text: str, pooling: str, max_length: int) -> np.ndarray:
    """One text at a time through transformers, without padding."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        output = model(**tokenizer(text, truncation=True, max_length=max_length, return_tensors="pt"))
    hidden = output.last_hidden_state[0]
    vector = {"cls": hidden[0], "mean": hidden.mean(0), "pooler": output.pooler_output[0]}[pooling].numpy()
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.mark.models
@pytest.mark.parametrize("pooling", ["cls", "mean", "pooler"])
@pytest.mark.parametrize("max_length", [30, 12])
def test_same_vectors_as_plain_transformers(checkpoint: Path, pooling: str, max_length: int) -> None:
    encoder = TransformerEncoder(str(checkpoint), pooling=pooling, max_length=max_length, tokens=70)
    expected = np.stack([plain(checkpoint, text, pooling, max_length) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=2e-6)
    assert encoder.encode([]).shape == (0, 32)


@pytest.mark.models
def test_batch_size_and_order_do_not_matter(checkpoint: Path) -> None:
    one, many = (TransformerEncoder(str(checkpoint), tokens=size) for size in (1, 4096))
    np.testing.assert_allclose(one.encode(TEXTS), many.encode(TEXTS), atol=2e-6)
    np.testing.assert_allclose(many.encode(TEXTS[::-1])[::-1], many.encode(TEXTS), atol=2e-6)
    assert one.signature == many.signature


@pytest.mark.models
def test_vectors_survive_the_cache(checkpoint: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder(str(checkpoint))
    first = Readings(cache=Cache(tmp_path / "kept")).of(encoder, TEXTS)
    again = Readings(cache=Cache(tmp_path / "kept")).of(encoder, TEXTS)
    np.testing.assert_array_equal(np.stack(first), np.stack(again))


@pytest.mark.models
def test_signature_follows_the_weights(checkpoint: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / checkpoint.name
    shutil.copytree(checkpoint, copy)
    assert checkpoint_name(str(copy)) == checkpoint_name(str(checkpoint))
    other = tmp_path / "other" / checkpoint.name
    shutil.copytree(checkpoint, other)
    weights = other / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    assert checkpoint_name(str(other)) != checkpoint_name(str(checkpoint))
    assert TransformerEncoder(str(copy)).signature.endswith("|pool:mean|max:30")


def sentence_transformers_folder(checkpoint: Path, folder: Path, pooling: dict[str, bool], dense: bool) -> Path:
    """The checkpoint with the files that sentence-transformers adds."""
    import shutil

    import torch
    from safetensors.torch import save_file

    shutil.copytree(checkpoint, folder)
    modules = [
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 32, **pooling}))
    if dense:
        modules.append({"path": "2_Dense", "type": "sentence_transformers.models.Dense"})
        (folder / "2_Dense").mkdir()
        activation = {"activation_function": "torch.nn.modules.activation.Tanh"}
        (folder / "2_Dense/config.json").write_text(json.dumps(activation))
        torch.manual_seed(1)
        state = {"linear.weight": torch.randn(8, 32), "linear.bias": torch.randn(8)}
        save_file(state, folder / "2_Dense/model.safetensors")
    modules.append({"path": "3_Normalize", "type": "sentence_transformers.models.Normalize"})
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


@pytest.mark.models
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_of_sentence_transformers_folders_is_honoured(
    checkpoint: Path, tmp_path: Path, pooling: str
) -> None:
    switches = {f"pooling_mode_{name}": name.startswith(pooling) for name in ("cls_token", "mean_tokens")}
    folder = sentence_transformers_folder(
        checkpoint, tmp_path / "st", {**switches, "include_prompt": True}, dense=False
    )
    expected = np.stack([plain(checkpoint, text, pooling, 30) for text in TEXTS])
    np.testing.assert_allclose(TransformerEncoder(str(folder)).encode(TEXTS), expected, atol=2e-6)


@pytest.mark.models
def test_dense_layers_follow_the_pooling(checkpoint: Path, tmp_path: Path) -> None:
    import torch

    folder = sentence_transformers_folder(
        checkpoint, tmp_path / "st", {"pooling_mode_mean_tokens": True}, dense=True
    )
    torch.manual_seed(1)
    weight, bias = torch.randn(8, 32), torch.randn(8)
    found = TransformerEncoder(str(folder)).encode(["pleural effusion"])[0]
    from transformers import AutoModel, AutoTokenizer

    batch = AutoTokenizer.from_pretrained(checkpoint)("pleural effusion", return_tensors="pt")
    with torch.no_grad():
        hidden = AutoModel.from_pretrained(checkpoint).eval()(**batch).last_hidden_state[0].mean(0)
        expected = torch.nn.functional.normalize(torch.tanh(weight @ hidden + bias), dim=0).numpy()
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.models
def test_unknown_modules_and_poolings_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    folder = sentence_transformers_folder(
        checkpoint, tmp_path / "max", {"pooling_mode_max_tokens": True}, dense=False
    )
    with pytest.raises(ModelError, match="pools by pooling_mode_max_tokens"):
        TransformerEncoder(str(folder)).encode(["lung"])
    folder = sentence_transformers_folder(
        checkpoint, tmp_path / "lstm", {"pooling_mode_mean_tokens": True}, dense=False
    )
    modules = json.loads((folder / "modules.json").read_text())
    modules[2]["type"] = "sentence_transformers.models.LSTM"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match="has a module LSTM that is not known"):
        TransformerEncoder(str(folder)).encode(["lung"])


@pytest.mark.models
def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ModelError, match=r"must hold the tokenizer of .*, got: "):
        TransformerEncoder(str(tmp_path)).encode(["lung"])


@pytest.mark.models
def test_pickled_weights_are_not_run(checkpoint: Path, tmp_path: Path) -> None:
    """A .bin file may hold numbers only: code in it is refused, not executed."""
    import pickle
    import shutil

    folder = tmp_path / "pickled"
    shutil.copytree(checkpoint, folder)
    (folder / "model.safetensors").unlink()
    marker = tmp_path / "ran"

    class Bad:
        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            return Path.touch, (marker,)  # type: ignore[return-value]

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Bad()}, protocol=2))
    with pytest.raises(ModelError, match="must hold a transformers model, got: getattr, which could run code"):
        TransformerEncoder(str(folder)).encode(["lung"])
    assert not marker.exists()


@pytest.mark.models
def test_device_choice(caplog: pytest.LogCaptureFixture) -> None:
    torch = pytest.importorskip("torch")
    hub._tell_device.cache_clear()
    with caplog.at_level("INFO"):
        pick_device("auto")
        pick_device("auto")
    assert caplog.text.count(f"models run on {pick_device('auto')}") == 1
    assert pick_device("cpu") == "cpu"
    assert pick_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(UsageError, match="got 'gpu'"):
        pick_device("gpu")
