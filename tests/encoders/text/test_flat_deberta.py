"""DeBERTa on texts laid end to end gives the vectors that transformers gives them one by one."""

from __future__ import annotations

from typing import Any

import pytest

from radgauge.encoders.text.sequences import FlatDeberta, bucket_of, is_plain_deberta

pytestmark = pytest.mark.models

LENGTHS = (1, 2, 3, 3, 3, 7, 16, 17, 40, 90)
RATE_NER = {
    "relative_attention": True,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "max_relative_positions": -1,
    "position_biased_input": False,
    "type_vocab_size": 0,
}
"""As DeBERTa v3 and RaTE-NER-Deberta, but with 16 buckets for 256, so that short texts reach the far ones."""
OTHERS = {
    "as RaTE-NER": {},
    "the buckets of RaTE-NER": {"position_buckets": 256, "max_position_embeddings": 512},
    "own projections": {"share_att_key": False},
    "content to position only": {"pos_att_type": ["c2p"]},
    "position to content only": {"pos_att_type": ["p2c"]},
    "no positions but in the text": {"pos_att_type": [], "position_biased_input": True},
    "no buckets": {"position_buckets": -1, "max_relative_positions": 24},
    "no norm of distances": {"norm_rel_ebd": "none"},
    "convolution, as v2": {"conv_kernel_size": 3, "conv_act": "gelu"},
    "convolution by groups": {"conv_kernel_size": 5, "conv_act": "tanh", "conv_groups": 2},
    "types and narrow words": {"type_vocab_size": 2, "embedding_size": 12},
}


def network(layers: int = 2, **settings: Any) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.DebertaV2Config(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=40,
        layer_norm_eps=1e-7,
        **{"max_position_embeddings": 100, **RATE_NER, **settings},
    )
    model = transformers.DebertaV2Model(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2)
    return model


def texts() -> list[list[int]]:
    import torch

    torch.manual_seed(1)
    return [torch.randint(1, 50, (length,)).tolist() for length in LENGTHS]


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("settings", OTHERS.values(), ids=OTHERS)
def test_vectors_are_those_of_transformers(settings: dict[str, Any], first_only: bool) -> None:
    import torch

    model = network(**settings)
    assert is_plain_deberta(model)
    with torch.inference_mode():
        expected = [model(torch.tensor([ids])).last_hidden_state[0] for ids in texts()]
        found = FlatDeberta(model, device="cpu").encode(texts(), first_only=first_only)
    for mine, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, wanted[0] if first_only else wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layers", [0, 1])
def test_a_network_cut_at_a_layer(layers: int) -> None:
    import torch

    for settings in ({}, {"conv_kernel_size": 3}):
        model = network(layers=2, **settings)
        with torch.inference_mode():
            expected = [model(torch.tensor([ids]), output_hidden_states=True)[1][layers][0] for ids in texts()]
            model.encoder.layer = model.encoder.layer[:layers]
            flat = FlatDeberta(model, device="cpu")
            for first_only in (False, True):
                found = flat.encode(texts(), first_only=first_only)
                for mine, wanted in zip(found, expected, strict=True):
                    torch.testing.assert_close(mine, wanted[0] if first_only else wanted, atol=1e-5, rtol=0)


def test_buckets_are_those_of_transformers_at_every_distance() -> None:
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    distance = torch.arange(-1023, 1024)
    for buckets, farthest in ((256, 512), (16, 100), (32, 1024), (255, 511)):
        wanted = make_log_bucket_position(distance, buckets, farthest).long()
        assert torch.equal(bucket_of(distance, buckets=buckets, max_distance=farthest), wanted)


def test_other_forms_of_deberta_are_left_to_transformers() -> None:
    assert not is_plain_deberta(network(hidden_act="relu"))
    assert not is_plain_deberta(network(relative_attention=False))
    assert not is_plain_deberta(network(conv_kernel_size=3, conv_act="relu"))


@pytest.mark.parametrize("conv", [0, 3])
def test_an_estimator_has_the_vectors_that_transformers_gives_it(conv: int) -> None:
    import torch

    from radgauge.encoders.text.comet_network import Estimator
    from radgauge.encoders.text.estimator import DEFAULTS

    for pool in ("avg", "max", "cls"):
        for layer in ("mix", 1):
            model = network(conv_kernel_size=conv)
            estimator = Estimator(model, {**DEFAULTS, "pool": pool, "layer": layer}, padding=7).eval()
            with torch.inference_mode():
                found = estimator.embed_flat(FlatDeberta(model, device="cpu"), texts())
                for mine, ids in zip(found, texts(), strict=True):
                    wanted = estimator.embed(torch.tensor([ids]), torch.ones(1, len(ids)))[0]
                    torch.testing.assert_close(mine, wanted, atol=1e-5, rtol=0)


def test_a_span_tagger_scores_the_spans_as_with_padded_sentences() -> None:
    import torch

    from radgauge.encoders.text.sequences import SequenceEncoder
    from radgauge.encoders.text.span_ner import CLASSES, _scored, all_spans, build_head, span_logits

    model = network()
    head = build_head(32, width=20).eval()
    # word 0 is not read (a marker); the last text has one word in two pieces
    words: list[list[int | None]] = [[None, 0, 1, 2, None], [None, 0, 0, None]]
    ids = [[1, 9, 8, 7, 2], [1, 6, 5, 2]]

    class Padded(dict[str, torch.Tensor]):
        def word_ids(self, row: int) -> list[int | None]:
            return [*words[row], *[None] * (5 - len(words[row]))]

    encoded = Padded(
        input_ids=torch.tensor([ids[0], [*ids[1], 0]]), attention_mask=torch.tensor([[1] * 5, [1] * 4 + [0]])
    )
    with torch.inference_mode():
        wanted = span_logits(model, head, encoded, [3, 1])
        found = _scored(head, SequenceEncoder(model, pad=0, device="cpu").vectors(ids), words, [3, 1])
        states = model(torch.tensor([ids[1]])).last_hidden_state[0]
        by_hand = head["layers"](torch.cat([states[1], states[2], head["widths"].weight[0]])[None])
        nothing = _scored(head, [], [], [])
    assert [each.shape for each in found] == [(len(all_spans(3)), len(CLASSES)), (1, len(CLASSES))]
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=0)
    torch.testing.assert_close(found[1], by_hand, atol=1e-5, rtol=0)
    assert nothing == []
