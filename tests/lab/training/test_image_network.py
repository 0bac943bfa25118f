"""The image network in torch: published weights in, data out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra models")

from radgauge.core.errors import ModelError, UsageError
from radgauge.encoders.image.convolutions import run
from radgauge.encoders.image.embedded_image_text import network_input
from radgauge.lab.training.image_text import TAPS, build_stages, folded, load_start, published_network, torch

pytestmark = pytest.mark.models


def test_the_folded_network_is_the_same_one() -> None:
    torch.manual_seed(0)
    stages = build_stages()
    pictures = torch.from_numpy(
        network_input(np.random.default_rng(0).integers(0, 255, (4, 64, 64)).astype(np.uint8))
    )
    values = pictures
    for stage in stages:  # in training mode, so that normalisation has something to fold
        values = stage(values)
    stages.train(False)
    values, tapped = pictures, []
    with torch.no_grad():
        for number, stage in enumerate(stages):
            values = stage(values)
            if number in TAPS:
                tapped.append(values)
        network = folded(stages)
    expected = torch.cat([t.mean(dim=(2, 3)) for t in tapped] + [t.std(dim=(2, 3)) for t in tapped], dim=1)
    assert len(network.taps) == 4
    np.testing.assert_allclose(run(network, pictures.numpy()), expected.numpy(), atol=1e-3)


def published_layout(stages: object) -> dict[str, object]:
    """Weights under the names of the package that publishes them."""
    state: dict[str, object] = {}

    def put(layer: object, conv: str, norm: str) -> None:
        state[f"{conv}.weight"] = layer.conv.weight.detach()  # type: ignore[attr-defined]
        for name in ("weight", "bias", "running_mean", "running_var"):
            state[f"{norm}.{name}"] = getattr(layer.norm, name).detach()  # type: ignore[attr-defined]

    first, *blocks = stages  # type: ignore[misc]
    put(first, "_conv_stem", "_bn0")
    state["_conv_stem.weight"] = first.conv.weight.detach().repeat(1, 3, 1, 1) / 3
    for number, block in enumerate(blocks):
        place = f"_blocks.{number}."
        if block.expand is not None:
            put(block.expand, f"{place}_expand_conv", f"{place}_bn0")
        put(block.depth, f"{place}_depthwise_conv", f"{place}_bn1")
        put(block.project, f"{place}_project_conv", f"{place}_bn2")
    return state


def test_starting_weights_are_read_from_the_published_layout(tmp_path: Path) -> None:
    torch.manual_seed(0)
    source = build_stages()
    torch.save(published_layout(source), tmp_path / "start.pth")
    target = build_stages()
    load_start(target, str(tmp_path / "start.pth"))
    for one, two in zip(source.parameters(), target.parameters(), strict=True):
        torch.testing.assert_close(one, two)
    torch.save({"weights": torch.zeros(1)}, tmp_path / "other.pth")
    with pytest.raises(ModelError, match="does not hold the weights of EfficientNet-lite0"):
        load_start(target, str(tmp_path / "other.pth"))
    with pytest.raises(UsageError, match="'imagenet' or 'embedded'"):
        load_start(target, str(tmp_path / "none.pth"))
    network = published_network(str(tmp_path / "start.pth"))
    np.testing.assert_allclose(network.layers[0].weight, folded(source.train(False)).layers[0].weight, atol=1e-6)
