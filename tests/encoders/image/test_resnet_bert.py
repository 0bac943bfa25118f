"""A ResNet-50 and a BERT wired by a file give what the same layers give by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.image.two_tower import TwoTower

pytest.importorskip("PIL", reason="the extra 'image' is not installed")
torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
pytestmark = pytest.mark.models

TEXTS = ["The heart is mildly enlarged.", "No pneumothorax."]
PICTURES = [np.random.RandomState(0).randint(0, 256, (70, 64)).astype(np.uint8)]
PREPARATION = {
    "size": {"height": 64, "width": 64},
    "image_mean": [0.5] * 3,
    "image_std": [0.25] * 3,
    "resample": 2,
}


@pytest.fixture(scope="module")
def parts(seeded, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Networks with seeded weights, and the folder of the text encoder."""
    import transformers

    from radgauge.encoders.image.resnet import ResNet50

    folder = tmp_path_factory.mktemp("parts")
    bert_folder = seeded.bert_folder(folder / "small-bert")
    bert = transformers.BertModel(transformers.AutoConfig.from_pretrained(bert_folder)).eval()
    bert.load_state_dict(seeded.fill(dict(bert.state_dict()), seed=1))
    resnet = ResNet50().eval()
    names = resnet.state_dict().items()
    resnet.load_state_dict(
        {k: torch.from_numpy(seeded._residual(k, tuple(v.shape), seed=2)).to(v.dtype) for k, v in names}
    )
    return {"bert": bert, "resnet": resnet, "words": bert_folder}


def place(folder: Path, parts: dict, state: dict, wiring: dict) -> TwoTower:
    folder.mkdir(exist_ok=True)
    state = {**{f"image.net.{k}": v for k, v in parts["resnet"].state_dict().items()}, **state}
    state |= {f"text.net.{k}": v for k, v in parts["bert"].state_dict().items()}
    torch.save({"state_dict": state}, folder / "pytorch_model.bin")
    (folder / "small-bert").mkdir(exist_ok=True)
    for path in parts["words"].iterdir():
        (folder / "small-bert" / path.name).write_bytes(path.read_bytes())
    (folder / "two_tower.json").write_text(json.dumps(wiring))
    return TwoTower(str(folder), unit=False)


def wiring(image_head: list, text_head: list, *, head_first: bool = False, **text: object) -> dict:
    shared = {"weights": "pytorch_model.bin"}
    return {
        "image": {**shared, "prefix": "image.net.", "head": image_head, "head_first": head_first},
        "text": {**shared, "prefix": "text.net.", "head": text_head, "encoder": "nobody/small-bert", **text},
        "preparation": PREPARATION,
        "constant": 0.06,
    }


def pixels() -> torch.Tensor:
    from PIL import Image

    small = np.asarray(Image.fromarray(PICTURES[0]).resize((64, 64), Image.Resampling.BILINEAR))
    values = (small.astype(np.float32) / 255 - 0.5) / 0.25
    return torch.from_numpy(np.stack([values] * 3))[None]


def test_single_linear_heads_as_medclip_has_them(parts: dict, tmp_path: Path) -> None:
    import transformers

    torch.manual_seed(0)
    image, text = torch.nn.Linear(2048, 24, bias=False), torch.nn.Linear(48, 24)
    state = {"image.net.fc.weight": image.weight, "text.head.weight": text.weight, "text.head.bias": text.bias}
    wired = wiring([["linear", "image.net.fc"]], [["linear", "text.head"]], pooling="mean", layers=[1, 2])
    encoder = place(tmp_path / "m", parts, state, wired)
    tokens = transformers.AutoTokenizer.from_pretrained(parts["words"])(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = image(parts["resnet"](pixels())).numpy()
        layers = parts["bert"](**tokens, output_hidden_states=True).hidden_states
        mask = tokens["attention_mask"][:, :, None]
        mean = ((layers[1] + layers[2]) / 2 * mask).sum(1) / mask.sum(1)
        words = text(mean).numpy()
    assert np.allclose(encoder.embed_images(PICTURES), expected, atol=1e-4)
    assert np.allclose(encoder.embed_texts(TEXTS), words, atol=1e-4)
    assert encoder.constant == 0.06
    assert not encoder.unit_length  # as `place` asks


def test_the_wiring_says_whether_vectors_have_length_one(parts: dict, tmp_path: Path) -> None:
    from radgauge.core.errors import UsageError
    from radgauge.encoders.image.image_text import image_text_encoder

    image, text = torch.nn.Linear(2048, 24, bias=False), torch.nn.Linear(48, 24)
    state = {"image.net.fc.weight": image.weight, "text.head.weight": text.weight, "text.head.bias": text.bias}
    wired = wiring([["linear", "image.net.fc"]], [["linear", "text.head"]], pooling="mean", layers=[1, 2])
    place(tmp_path / "m", parts, state, {**wired, "unit": False, "constant": 124})
    raw = image_text_encoder(str(tmp_path / "m"))
    assert (raw.unit_length, raw.constant) == (False, 124)
    assert np.linalg.norm(raw.embed_texts(TEXTS), axis=1) != pytest.approx(1)
    unit = image_text_encoder(str(tmp_path / "m"), unit=True)
    assert np.linalg.norm(unit.embed_texts(TEXTS), axis=1) == pytest.approx(1, abs=1e-5)
    assert unit.name + "+raw" == raw.name
    with pytest.raises(UsageError, match="unit is a setting of CLIP-like models"):
        image_text_encoder("embedded", unit=True)


def test_deep_heads_as_biovil_has_them(parts: dict, tmp_path: Path) -> None:
    import transformers

    torch.manual_seed(1)
    projector = torch.nn.Sequential(
        torch.nn.Conv2d(2048, 32, 1, bias=False),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 24, 1),
    ).eval()
    projector[1].running_mean.normal_()
    projector[1].weight.data.uniform_(0.5, 1.5)
    hidden, norm, out = torch.nn.Linear(48, 24), torch.nn.LayerNorm(24, eps=1e-12), torch.nn.Linear(24, 24)
    norm.weight.data.uniform_(0.5, 1.5)
    state = {f"image.projector.{k}": v for k, v in projector.state_dict().items()}
    for name, layer in (("hidden", hidden), ("norm", norm), ("out", out)):
        state |= {f"text.{name}.{k}": v for k, v in layer.state_dict().items()}
    wired = wiring(
        [
            ["linear", "image.projector.0"],
            ["batch_norm", "image.projector.1"],
            ["relu"],
            ["linear", "image.projector.3"],
        ],
        [["linear", "text.hidden"], ["gelu"], ["layer_norm", "text.norm"], ["linear", "text.out"]],
        head_first=True,
    )
    encoder = place(tmp_path / "m", parts, state, wired)
    tokens = transformers.AutoTokenizer.from_pretrained(parts["words"])(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        places = parts["resnet"].places(pixels()).transpose(1, 2).reshape(1, 2048, 2, 2)
        expected = projector(places).mean(dim=(2, 3)).numpy()
        first = parts["bert"](**tokens).last_hidden_state[:, 0]
        words = out(norm(torch.nn.functional.gelu(hidden(first)))).numpy()
    assert np.allclose(encoder.embed_images(PICTURES), expected, atol=1e-4)
    assert np.allclose(encoder.embed_texts(TEXTS), words, atol=1e-4)


def test_what_does_not_fit_is_named(parts: dict, tmp_path: Path) -> None:
    good = wiring([], [])
    encoder = place(tmp_path / "m", parts, {}, good)
    path = tmp_path / "m" / "two_tower.json"
    for change, message in (
        ({"text": {}}, "must have image and text, each with weights, prefix and head"),
        (
            {"image": {**good["image"], "head": [["conv", "a"]]}},
            r"a step of a head must be one of relu, .* got \['conv'",
        ),
        ({"text": {**good["text"], "pooling": "max"}}, "pooling must be one of cls, mean, pooler, got 'max'"),
        (
            {"image": {**good["image"], "head": [["linear", "image.no"]]}},
            r"has no image\.no\.weight, which two_tower",
        ),
        ({"image": {**good["image"], "prefix": "image."}}, "does not fit the network; .* missing"),
    ):
        path.write_text(json.dumps({**good, **change}))
        from radgauge.encoders.image.two_tower import _load

        _load.cache_clear()
        with pytest.raises(ModelError, match=message):
            encoder.embed_texts(TEXTS)
