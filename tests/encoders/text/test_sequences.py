"""Sequences laid end to end get the vectors that transformers gives them one by one."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from radgauge.encoders.text import batching
from radgauge.encoders.text.flat_bert import FlatBert
from radgauge.encoders.text.sequences import FlatMpnet, SequenceEncoder, can_be_flat

pytestmark = pytest.mark.models

IDS = [[2, 9, 8, 3], [2, 11, 3], [2, 9, 1, 7, 1, 3], [2, 12, 3], [5], [2, 9, 8, 3]]
"""1 is the padding id of RoBERTa, here as part of a text."""


def network(seeded: ModuleType, folder: Path, kind: str, layers: int = 2) -> Any:
    import transformers

    seeded.encoder(folder, kind=kind)
    model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
    model.encoder.layer = model.encoder.layer[:layers]
    return model


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("first_only", [False, True])
def test_vectors_are_those_of_transformers(
    seeded: ModuleType, tmp_path: Path, kind: str, layers: int, first_only: bool
) -> None:
    import torch

    model = network(seeded, tmp_path, kind, layers)
    with torch.inference_mode():
        expected = [model(torch.tensor([ids]))[0][0] for ids in IDS]
    encoder = SequenceEncoder(model, pad=1, device="cpu")
    assert isinstance(encoder.flat, FlatBert)
    for found, wanted in zip(encoder.vectors(IDS, first_only=first_only), expected, strict=True):
        torch.testing.assert_close(found, wanted[0] if first_only else wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("first_only", [False, True])
def test_mpnet_is_that_of_transformers(layers: int, first_only: bool) -> None:
    """Also at distances that share a bucket, and with the padding id in a text."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.MPNetConfig(
        vocab_size=20,
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=514,
    )
    model = transformers.MPNetModel(config).eval()
    torch.nn.init.normal_(model.encoder.relative_attention_bias.weight)
    texts = [*IDS, [2, *[9, 8, 7] * 60, 3], [2, *[5, 6] * 255]]
    with torch.inference_mode():
        expected = [model(torch.tensor([ids]))[0][0] for ids in texts]
    encoder = SequenceEncoder(model, pad=1, device="cpu")
    assert isinstance(encoder.flat, FlatMpnet)
    for found, wanted in zip(encoder.vectors(texts, first_only=first_only), expected, strict=True):
        torch.testing.assert_close(found, wanted[0] if first_only else wanted, atol=1e-5, rtol=1e-5)


def test_other_architectures_run_by_their_own_code(seeded: ModuleType, tmp_path: Path) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.DistilBertConfig(vocab_size=20, dim=16, n_layers=1, n_heads=2, hidden_dim=24)
    model = transformers.DistilBertModel(config).eval()
    assert not can_be_flat(model)
    with torch.inference_mode():
        expected = [model(torch.tensor([ids]))[0][0] for ids in IDS]
    encoder = SequenceEncoder(model, pad=0, device="cpu")
    for found, first, wanted in zip(
        encoder.vectors(IDS), encoder.vectors(IDS, first_only=True), expected, strict=True
    ):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(first, wanted[0], atol=1e-5, rtol=1e-5)


def test_a_network_with_another_activation_is_left_to_transformers(seeded: ModuleType, tmp_path: Path) -> None:
    model = network(seeded, tmp_path, "bert")
    assert can_be_flat(model)
    model.config.hidden_act = "relu"
    assert not can_be_flat(model)


def test_equal_sequences_are_read_once(
    seeded: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[list[int]] = []
    plain = batching.token_batches

    def watched(lengths: list[int], **settings: Any) -> Any:
        sizes.append(lengths)
        return plain(lengths, **settings)

    monkeypatch.setattr(batching, "token_batches", watched)
    found = SequenceEncoder(network(seeded, tmp_path, "bert"), pad=0, device="cpu").vectors(IDS)
    assert sizes == [[4, 3, 6, 3, 1]]
    assert found[0] is found[-1]
