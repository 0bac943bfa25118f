"""Networks as data: packing, and running them against torch's own convolutions."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.encoders.image.convolutions import Layer, Network, pack, run, unpack


def _network(seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)

    def layer(outputs: int, inputs: int, size: int, **more: int | bool) -> Layer:
        weight = rng.normal(size=(outputs, inputs, size, size)).astype(np.float32)
        return Layer(weight, rng.normal(size=outputs).astype(np.float32), **more)  # type: ignore[arg-type]

    return Network(
        (
            layer(4, 1, 3, stride=2),
            layer(8, 4, 1),
            layer(8, 1, 5, groups=8),
            layer(4, 8, 1, clipped=False, adds=3),
            layer(4, 1, 5, stride=2, groups=4),
            layer(6, 4, 1),
        ),
        taps=(0, 3),
    )


@pytest.mark.models
@pytest.mark.parametrize("shape", [(16, 24), (9, 13), (8, 12)])
def test_same_as_torch(shape: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    network = _network()
    pictures = np.random.default_rng(1).normal(size=(3, 1, *shape)).astype(np.float32)
    values = torch.from_numpy(pictures)
    outputs = [values]
    for layer in network.layers:
        before, after = layer.padding
        values = torch.nn.functional.pad(outputs[-1], (before, after, before, after))
        weight, bias = torch.from_numpy(layer.weight), torch.from_numpy(layer.bias)
        values = torch.nn.functional.conv2d(values, weight, bias, layer.stride, groups=layer.groups)
        values = values.clamp(0, 6) if layer.clipped else values
        if layer.adds:
            values = values + outputs[-layer.adds]
        outputs.append(values)
    tapped = [*(outputs[number + 1] for number in network.taps), values]
    expected = np.hstack(
        [each.mean(dim=(2, 3)).numpy() for each in tapped] + [each.std(dim=(2, 3)).numpy() for each in tapped]
    )
    assert network.width == expected.shape[1] == 28
    np.testing.assert_allclose(run(network, pictures), expected, rtol=1e-4, atol=1e-4)


def test_no_pictures() -> None:
    assert run(_network(), np.zeros((0, 1, 8, 8), np.float32)).shape == (0, 28)


def test_a_picture_leaves_nothing_behind_for_the_next() -> None:
    pictures = np.random.default_rng(1).normal(size=(3, 1, 16, 24)).astype(np.float32)
    alone = np.vstack([run(_network(), picture[None]) for picture in pictures])
    np.testing.assert_array_equal(run(_network(), pictures), alone)


def test_packed_weights_are_within_half_a_step() -> None:
    network = _network()
    again = unpack(pack(network))
    assert again.taps == network.taps
    for before, after in zip(network.layers, again.layers, strict=True):
        largest = np.abs(before.weight).max(axis=(1, 2, 3), keepdims=True)
        assert (np.abs(before.weight - after.weight) <= 0.5001 * largest / 2048).all()
        assert (before.stride, before.groups, before.clipped, before.adds) == (
            after.stride,
            after.groups,
            after.clipped,
            after.adds,
        )
        np.testing.assert_array_equal(before.bias, after.bias)
    assert network.taps == again.taps


def test_a_channel_of_zeros_stays_zero() -> None:
    empty = Layer(np.zeros((2, 1, 3, 3), np.float32), np.zeros(2, np.float32))
    network = Network((empty,))
    assert not unpack(pack(network)).layers[0].weight.any()
    assert run(network, np.ones((1, 1, 4, 4), np.float32)).tolist() == [[0.0] * 4]
