"""A plain convolutional network as data: layers that numpy holds, packed in 16 bits, run by onnxruntime.

A network is a chain of convolutions, some of which are cut to 0..6 or add the output of an earlier layer, then
the means over the picture of the last layer and, if wanted, of earlier ones, and one matrix. That covers
EfficientNet-lite and its kin once their normalisation is folded in. The ONNX form is written here, in memory,
because the package that writes it is large and nothing else of it is needed: a model in ONNX is a protocol buffer
of nodes and tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_IR_VERSION, _OPSET = 8, 13
_FLOAT = 1  # ONNX's number for 32-bit numbers


@dataclass(frozen=True, eq=False)
class Layer:
    """One convolution.

    Attributes:
        weight: (outputs, inputs / groups, height, width).
        bias: (outputs,).
        stride: Step in both directions; the picture is padded so that step 1 keeps its size and step 2 halves it.
        groups: 1, or the number of channels for a convolution of each channel with itself.
        clipped: Whether the output is cut to 0..6.
        adds: The output of the layer that lies so many layers back is added; 0 = none.
    """

    weight: Vectors
    bias: Vectors
    stride: int = 1
    groups: int = 1
    clipped: bool = True
    adds: int = 0

    @property
    def padding(self) -> tuple[int, int]:
        """Zeros before and after, in both directions."""
        total = self.weight.shape[2] - self.stride
        return total // 2, total - total // 2


@dataclass(frozen=True, eq=False)
class Network:
    """Layers, then means over the picture, then a matrix.

    Attributes:
        layers: In order; the first takes one channel.
        matrix: (channels of the tapped layers and of the last one, length of the vector).
        bias: (length of the vector,).
        taps: Numbers of earlier layers whose means stand before that of the last layer.
    """

    layers: tuple[Layer, ...]
    matrix: Vectors
    bias: Vectors
    taps: tuple[int, ...] = ()


def pack(network: Network) -> dict[str, NDArray[Any]]:
    """Arrays for a file: weights in 16 bits with one scale per output channel, the matrix in 32.

    Eight bits would halve the file; they moved the means by a fifth to a third of their spread over pictures.
    """
    settings = [[each.stride, each.groups, int(each.clipped), each.adds] for each in network.layers]
    parts: dict[str, NDArray[Any]] = {
        "layers": np.array(settings, dtype=np.int32),
        "taps": np.array(network.taps, dtype=np.int32),
        "matrix": network.matrix.astype(np.float32),
        "matrix_bias": network.bias.astype(np.float32),
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
    taps = tuple(parts["taps"].tolist()) if "taps" in parts else ()  # files of earlier versions have none
    return Network(tuple(layers), parts["matrix"].astype(np.float32), parts["matrix_bias"], taps)


def onnx_model(network: Network) -> bytes:
    """The network in ONNX: input "pictures" (n, 1, height, width), output "vectors" (n, length), 32 bits."""
    tensors = [_tensor("low", np.float32(0)), _tensor("high", np.float32(6))]
    nodes: list[bytes] = []
    outputs = ["pictures"]  # outputs[n] goes into layer n
    for number, layer in enumerate(network.layers):
        tensors += [_tensor(f"weight{number}", layer.weight), _tensor(f"bias{number}", layer.bias)]
        name = f"layer{number}"
        before, after = layer.padding
        nodes.append(
            _node(
                "Conv",
                [outputs[number], f"weight{number}", f"bias{number}"],
                name,
                group=layer.groups,
                pads=(before, before, after, after),
                strides=(layer.stride, layer.stride),
            )
        )
        if layer.clipped:
            nodes.append(_node("Clip", [name, "low", "high"], f"{name}clipped"))
            name += "clipped"
        if layer.adds:
            nodes.append(_node("Add", [name, outputs[number + 1 - layer.adds]], f"{name}added"))
            name += "added"
        outputs.append(name)
    tensors += [_tensor("matrix", network.matrix), _tensor("matrixbias", network.bias)]
    tapped = [*(outputs[number + 1] for number in network.taps), outputs[-1]]
    nodes += [_node("GlobalAveragePool", [name], f"mean{place}") for place, name in enumerate(tapped)]
    nodes += [
        _node("Concat", [f"mean{place}" for place in range(len(tapped))], "means", axis=1),
        _node("Flatten", ["means"], "flat"),
        _node("Gemm", ["flat", "matrix", "matrixbias"], "vectors"),
    ]
    graph = b"".join(
        [
            *(_bytes(1, node) for node in nodes),
            _bytes(2, b"image"),
            *(_bytes(5, tensor) for tensor in tensors),
            _bytes(11, _value("pictures", ("n", 1, "height", "width"))),
            _bytes(12, _value("vectors", ("n", network.matrix.shape[1]))),
        ]
    )
    return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, _OPSET))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, values: Any) -> bytes:
    array = np.ascontiguousarray(values, dtype="<f4")
    shape = np.shape(values)
    dims = b"".join(_number(1, size) for size in shape)
    return dims + _number(2, _FLOAT) + _bytes(8, name.encode()) + _bytes(9, array.tobytes())


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int | Iterable[int]) -> bytes:
    parts = [*(_bytes(1, name.encode()) for name in inputs), _bytes(2, output.encode()), _bytes(4, kind.encode())]
    for name, value in attributes.items():
        if isinstance(value, int):
            content = _number(3, value) + _number(20, 2)
        else:
            content = b"".join(_number(8, each) for each in value) + _number(20, 7)
        parts.append(_bytes(5, _bytes(1, name.encode()) + content))
    return b"".join(parts)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = (_number(1, each) if isinstance(each, int) else _bytes(2, each.encode()) for each in shape)
    tensor = _number(1, _FLOAT) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))
