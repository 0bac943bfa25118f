"""Decoders as encoders: GritLM's way and the last position, against plain transformers without padding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import UsageError
from radgauge.encoders.text.encoders import DecoderEncoder, encoder_named, read_encoder

TEXTS = ["no effusion", "small left effusion", "a", "cardiomegaly and edema", "no effusion"]
BEFORE = "embed "


@pytest.fixture(scope="module", params=["MistralConfig", "LlamaConfig"])
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder of random weights with a head for words, as they are published, and a tokenizer of letters."""
    torch = pytest.importorskip("torch", reason="the extra models is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra models is not installed")
    folder = tmp_path_factory.mktemp("decoder")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = {"<s>": 0, "</s>": 1, **{chr(97 + at): at + 2 for at in range(26)}, " ": 28}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token=" "))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    config = getattr(transformers, request.param)(
        vocab_size=32,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=48,
        max_position_embeddings=128,
    )
    torch.manual_seed(3)
    transformers.AutoModelForCausalLM.from_config(config).eval().save_pretrained(folder)
    return folder


def states(folder: Path, text: str, *, both: bool) -> np.ndarray:
    """The last layer of one text, without padding."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    mask = torch.zeros(1, 1, ids.shape[1], ids.shape[1]) if both else torch.ones_like(ids)
    with torch.no_grad():
        return np.asarray(model(input_ids=ids, attention_mask=mask).last_hidden_state[0].numpy())


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.mark.models
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_same_vectors_as_plain_transformers(checkpoint: Path, pooling: str, both: bool) -> None:
    encoder = DecoderEncoder(
        str(checkpoint), pooling, "both" if both else "own", before=BEFORE, tokens=60, device="cpu"
    )
    found = encoder.encode(TEXTS)
    for text, row in zip(TEXTS, found, strict=True):
        hidden = states(checkpoint, BEFORE + text, both=both)
        assert len(hidden) == 1 + len(BEFORE) + len(text)
        expected = hidden[-1] if pooling == "last" else hidden[1 + len(BEFORE) :].mean(axis=0)
        np.testing.assert_allclose(row, unit(expected), atol=3e-6)
    np.testing.assert_array_equal(encoder.encode([]).shape, (0, 32))


@pytest.mark.models
def test_attention_to_both_sides_sees_what_follows(checkpoint: Path) -> None:
    """Only with it does the first position change with the last word."""
    for both in (True, False):
        first, second = (states(checkpoint, text, both=both)[1] for text in ("effusion left", "effusion right"))
        assert np.allclose(first, second, atol=1e-6) is not both


@pytest.mark.models
def test_settings_are_in_the_signature_and_the_room_is_checked(checkpoint: Path) -> None:
    plain = DecoderEncoder(str(checkpoint))
    others = [
        DecoderEncoder(str(checkpoint), "last"),
        DecoderEncoder(str(checkpoint), attention="both"),
        DecoderEncoder(str(checkpoint), before="x"),
        DecoderEncoder(str(checkpoint), max_length=9),
    ]
    assert len({each.signature for each in (plain, *others)}) == 5
    with pytest.raises(UsageError, match="must leave room behind the 7"):
        DecoderEncoder(str(checkpoint), before=BEFORE, max_length=8, device="cpu").encode(["a"])


def test_a_file_of_settings(tmp_path: Path) -> None:
    file = tmp_path / "grit.toml"
    file.write_text('model = "x/y"\nattention = "both"\nbefore = "<|embed|>\\n"\n', encoding="utf-8")
    assert encoder_named(str(file)) == DecoderEncoder("x/y", attention="both", before="<|embed|>\n")
    for text, message in (
        ('pooling = "mean"', "must name a model and may name pooling, attention, before, after, max_length"),
        ('model = "x"\nfoo = 1', "'foo' is not one of them"),
        ('model = "x"\nmax_length = "9"', "'max_length' is not one of them or no int"),
        ("model =", "cannot be read as TOML"),
        ('model = "x"\npooling = "cls"', "pooling must be mean or last, got 'cls'"),
        ('model = "x"\nmax_length = 2', "max_length must be 3 or more, got 2"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=message):
            read_encoder(file)
