"""Batches of like length; where memory runs out the batch is halved and nothing is lost."""

from __future__ import annotations

import logging

import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.text import sequences
from radgauge.encoders.text.batching import is_out_of_memory, run_batches, token_batches


class OutOfMemoryError(RuntimeError):
    """Named as that of torch, which is raised where a device has no memory left."""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OutOfMemoryError("CUDA"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_every_text_is_done_once_in_the_batches_that_fit(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    lengths = [5, 9, 1, 7, 3, 8, 2, 6]
    done: list[list[int]] = []

    def work(batch: list[int]) -> None:
        if sum(lengths[at] for at in batch) > 12:
            raise error
        done.append(batch)

    with caplog.at_level(logging.WARNING):
        run_batches(lengths, work, tokens=40, padding=False)
    assert sorted(at for batch in done for at in batch) == list(range(8))
    assert [lengths[at] for batch in done for at in batch] == sorted(lengths, reverse=True)
    assert "memory ran out with 7 texts at once; going on with 20 tokens" in caplog.text


def test_a_text_that_does_not_fit_alone_is_named_by_its_length() -> None:
    def work(batch: list[int]) -> None:
        raise MemoryError

    with pytest.raises(ModelError, match="memory must suffice for one text of 9 tokens"):
        run_batches([4, 9], work, tokens=100)


def test_other_errors_are_not_taken_for_want_of_memory() -> None:
    def work(batch: list[int]) -> None:
        raise RuntimeError("shapes do not match")

    assert not is_out_of_memory(RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        run_batches([4, 9], work, tokens=100)


@pytest.mark.parametrize("padding", [True, False])
def test_no_batch_is_larger_than_asked(padding: bool) -> None:
    lengths = [5, 9, 1, 7, 3, 8, 2, 6]
    for batch in token_batches(lengths, tokens=16, padding=padding):
        sizes = [lengths[at] for at in batch]
        assert (max(sizes) * len(sizes) if padding else sum(sizes)) <= 16


@pytest.mark.models
def test_vectors_are_the_same_after_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24
    )
    encoder = sequences.SequenceEncoder(transformers.BertModel(config), pad=0, device="cpu")
    ids = [[2, 5, 3], [2, 5, 6, 3], [2, 7, 3], [2, 8, 9, 9, 3]]
    expected = encoder.vectors(ids)
    flat = encoder.flat
    assert flat is not None
    plain, calls = flat.encode, []

    def small(batch: list[tuple[int, ...]], **settings: object) -> object:
        calls.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("no memory left")
        return plain(batch, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(flat, "encode", small)
    for found, wanted in zip(encoder.vectors(ids), expected, strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-6, rtol=0)
    assert calls == [4, 1, 2, 1]
