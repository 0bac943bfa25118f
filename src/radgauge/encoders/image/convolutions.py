"""A plain convolutional network as data, packed in 16 bits, and run by numpy alone.

A network is a chain of convolutions, some of which are cut to 0..6 or add the output of an earlier layer, then
means and standard deviations over the picture of the last layer and of earlier ones. That covers EfficientNet-lite
and its kin once their normalisation is folded in. Our own code and no runtime for networks: those are large, and
the usual one asks for a name on the network and writes a device id from its first session on. It takes two to
three times as long per picture (docs/models/image_text.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_RUN = 512  # numbers that are multiplied in one go: neighbouring places of a layer with few channels are joined
_ZERO, _SIX = np.float32(0), np.float32(6)


@dataclass(frozen=True, eq=False)
class Layer:
    """One convolution."""

    weight: Vectors  # (outputs, inputs / groups, height, width)
    bias: Vectors  # (outputs,)
    # Step in both directions; the picture is padded so that step 1 keeps its size and step 2 halves it
    stride: int = 1
    groups: int = 1  # 1, or the number of channels for a convolution of each channel with itself
    clipped: bool = True  # True if the output is cut to 0..6
    adds: int = 0  # The output of the layer that lies so many layers back is added; 0 = none

    @property
    def padding(self) -> tuple[int, int]:
        """Zeros before and after, in both directions."""
        total = self.weight.shape[2] - self.stride
        return total // 2, total - total // 2


@dataclass(frozen=True, eq=False)
class Network:
    """Layers, then means and standard deviations over the picture."""

    layers: tuple[Layer, ...]  # In order; the first takes one channel
    taps: tuple[int, ...] = ()  # Numbers of earlier layers whose means and deviations are taken too

    @property
    def width(self) -> int:
        """Number of features per image."""
        return 2 * sum(len(self.layers[number].weight) for number in (*self.taps, -1))


def pack(network: Network) -> dict[str, NDArray[Any]]:
    """Arrays for a file: weights in 16 bits with one scale per output channel.

    Eight bits would halve the file; they moved the means by a fifth to a third of their spread over pictures.
    """
    settings = [[stage.stride, stage.groups, int(stage.clipped), stage.adds] for stage in network.layers]
    parts: dict[str, NDArray[Any]] = {
        "layers": np.array(settings, dtype=np.int32),
        "taps": np.array(network.taps, dtype=np.int32),
    }
    for number, layer in enumerate(network.layers):
        parts[f"bias_{number}"] = layer.bias.astype(np.float32)
        scale = np.abs(layer.weight).max(axis=(1, 2, 3))
        scale[scale == 0] = 1
        parts[f"codes_{number}"] = (layer.weight / scale[:, None, None, None]).astype(np.float16)
        parts[f"scale_{number}"] = scale.astype(np.float32)
    return parts


def unpack(parts: Any) -> Network:
    """The network in arrays that `pack` made."""
    layers = []
    for number, (stride, groups, clipped, adds) in enumerate(parts["layers"].tolist()):
        scale = parts[f"scale_{number}"][:, None, None, None]
        weight = parts[f"codes_{number}"].astype(np.float32) * scale
        layers.append(Layer(weight, parts[f"bias_{number}"], stride, groups, bool(clipped), adds))
    return Network(tuple(layers), tuple(parts["taps"].tolist()))


def run(network: Network, pictures: Vectors) -> Vectors:
    """Run the network on images.

    Args:
        network: The layers.
        pictures: (n, 1, height, width).

    Returns:
        (n, width): means of the tapped layers and of the last one, then their standard deviations.
    """
    features = np.empty((len(pictures), network.width), np.float32)
    if len(pictures):
        chain = _Chain(network, *pictures.shape[2:])
        for number, picture in enumerate(pictures[:, 0]):
            features[number] = chain(picture)
    return features


class _Chain:
    """The layers for pictures of one size, with room for what they compute: (height, width, channels) each.

    One picture at a time stays in the processor's cache. A layer writes into a field with the zeros around it that
    the next layer wants.
    """

    def __init__(self, network: Network, height: int, width: int) -> None:
        self._network = network
        self._fields: list[Vectors] = []  # fields[n] goes into layer n, without the zeros around it
        self._steps: list[Callable[[], None]] = []
        paddings = [*(layer.padding for layer in network.layers), (0, 0)]
        field = self._field(height, width, 1, paddings[0])
        for number, layer in enumerate(network.layers):
            size, stride = layer.weight.shape[2], layer.stride
            height, width = ((side - size) // stride + 1 for side in field.shape[:2])
            around = field
            field = self._field(height, width, len(layer.weight), paddings[number + 1])
            added = self._fields[number + 1 - layer.adds] if layer.adds else None
            convolve = (_all_channels if layer.groups == 1 else _each_channel)(layer, around, height, width)
            self._steps.append(partial(_finish, convolve, layer, self._fields[-1], added))

    def __call__(self, picture: Vectors) -> Vectors:
        self._fields[0][:, :, 0] = picture
        for step in self._steps:
            step()
        tapped = [*(self._fields[number + 1] for number in self._network.taps), self._fields[-1]]
        return np.concatenate(
            [feature_map.mean(axis=(0, 1)) for feature_map in tapped]
            + [_deviations(feature_map) for feature_map in tapped]
        )

    def _field(self, height: int, width: int, channels: int, padding: tuple[int, int]) -> Vectors:
        before, both = padding[0], sum(padding)
        field = np.zeros((height + both, width + both, channels), np.float32)
        self._fields.append(field[before : before + height, before : before + width])
        return field


def _deviations(field: Vectors) -> Vectors:
    """Standard deviation of each channel over the places; 0 where there is one place."""
    positions = field.shape[0] * field.shape[1]
    deviations: Vectors = field.std(axis=(0, 1), ddof=1 if positions > 1 else 0)
    return deviations


def _finish(convolve: Callable[[], Vectors], layer: Layer, into: Vectors, added: Vectors | None) -> None:
    """Apply the rest of a layer, written where the next layer reads it."""
    values = convolve().reshape(into.shape)
    values += layer.bias
    if layer.clipped:
        np.clip(values, _ZERO, _SIX, out=values if added is not None else into)
    if added is not None:
        np.add(values, added, out=into)
    elif not layer.clipped:
        into[...] = values


def _all_channels(layer: Layer, field: Vectors, height: int, width: int) -> Callable[[], Vectors]:
    """Every output from every input: one matrix product over the places of the picture."""
    outputs, inputs, size, _ = layer.weight.shape
    matrix = np.ascontiguousarray(layer.weight.transpose(2, 3, 1, 0).reshape(-1, outputs))
    out = np.empty((height * width, outputs), np.float32)
    if size == 1 and layer.stride == 1:
        rows = field.reshape(-1, inputs)  # a view: no zeros around
        return lambda: np.matmul(rows, matrix, out=out)
    down, right, deep = field.strides
    steps = (down * layer.stride, right * layer.stride, down, right, deep)
    windows = as_strided(field, (height, width, size, size, inputs), steps)
    columns = np.empty(windows.shape, np.float32)

    def product() -> Vectors:
        columns[...] = windows
        return np.matmul(columns.reshape(len(out), -1), matrix, out=out)

    return product


def _each_channel(layer: Layer, field: Vectors, height: int, width: int) -> Callable[[], Vectors]:
    """Every channel with itself: places with their neighbours, times weights, summed in place."""
    channels, _, size, _ = layer.weight.shape
    joined = 1
    if layer.stride == 1:  # then neighbouring places lie side by side
        joined = max(n for n in range(1, width + 1) if n == 1 or (width % n == 0 and n * channels <= _RUN))
    weight = np.ascontiguousarray(np.tile(layer.weight[:, 0].transpose(1, 2, 0), (1, 1, joined)))
    out = np.empty((height, width // joined, joined * channels), np.float32)
    down, right, deep = field.strides
    steps = (down * layer.stride, right * layer.stride * joined, deep, down, right)
    windows = as_strided(field, (*out.shape, size, size), steps)
    return partial(np.einsum, "yxcij,ijc->yxc", windows, weight, out=out)
