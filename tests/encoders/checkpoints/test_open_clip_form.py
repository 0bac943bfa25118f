"""open_clip's form gives what open_clip gives, without it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.image.two_tower import TwoTower
from radgauge.images import grey

pytest.importorskip("PIL", reason="the extra 'image' is not installed")
pytestmark = pytest.mark.models

FIXTURE = Path(__file__).parents[2] / "data" / "parity" / "vlscore" / "open_clip.json"


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads(FIXTURE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pictures(seeded, tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    return [grey(path) for path in seeded.pictures(tmp_path_factory.mktemp("pictures"))]


def test_biomedclips_kind(seeded, recorded: dict, pictures: list, tmp_path: Path) -> None:
    encoder = TwoTower(str(seeded.open_clip(tmp_path / "m", kind="timm")), unit=False)
    assert np.abs(encoder.embed_images(pictures) - np.array(recorded["timm"]["images"])).max() < 1e-4
    texts = encoder.embed_texts(list(seeded.SENTENCES))
    assert np.abs(texts - np.array(recorded["timm"]["texts"])).max() < 1e-4


def test_open_clips_own_kind(seeded, recorded: dict, pictures: list, tmp_path: Path) -> None:
    import torch

    from radgauge.encoders.checkpoints.open_clip_form import load_open_clip

    folder = seeded.open_clip(tmp_path / "m", kind="own")
    seeded.bert_folder(tmp_path / "words")  # any tokenizer: numbers are given here
    for name in ("vocab.txt", "tokenizer_config.json", "config.json"):
        (folder / name).write_text((tmp_path / "words" / name).read_text())
    towers = load_open_clip(folder, device="cpu")
    with torch.inference_mode():
        images = towers.images([towers.prepare(each) for each in pictures]).numpy()
        texts = towers.text(torch.tensor(seeded.token_ids())).numpy()
    assert np.abs(images - np.array(recorded["own"]["images"])).max() < 1e-4
    assert np.abs(texts - np.array(recorded["own"]["texts"])).max() < 1e-4
    assert TwoTower(str(folder)).embed_texts(["clear", "clear lungs"]).shape == (2, 40)


def change(folder: Path, **settings: object) -> None:
    path = folder / "open_clip_config.json"
    found = json.loads(path.read_text())
    for key, value in settings.items():
        part, _, name = key.partition("__")
        (found[part] if part == "preprocess_cfg" else found["model_cfg"][part])[name] = value
    path.write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vision_cfg__timm_model_name": "swin_base"}, "has the image network 'swin_base'; of timm's only vit_"),
        ({"vision_cfg__timm_pool": "avg"}, "has the image network 'vit_tiny_patch16_224'"),
        ({"text_cfg__hf_pooler_type": "max_pooler"}, "pools text by 'max_pooler'; known are cls_last"),
        (
            {"preprocess_cfg__resize_mode": "longest"},
            "resizes pictures by 'longest'; known are shortest and squash",
        ),
        (
            {"vision_cfg__timm_model_name": "vit_small_patch16_224"},
            "does not fit the network; .* of another shape",
        ),
    ],
)
def test_what_is_not_known_is_named(seeded, tmp_path: Path, settings: dict, message: str) -> None:
    folder = seeded.open_clip(tmp_path / "m", kind="timm")
    change(folder, **settings)
    with pytest.raises(ModelError, match=message):
        TwoTower(str(folder)).embed_texts(["clear"])


def test_missing_files_are_named(seeded, tmp_path: Path) -> None:
    folder = seeded.open_clip(tmp_path / "m", kind="timm")
    (folder / "open_clip_model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"must hold open_clip_model\.safetensors"):
        TwoTower(str(folder)).embed_texts(["clear"])
    (folder / "open_clip_config.json").write_text("{}")
    with pytest.raises(ModelError, match="must describe an open_clip model"):
        TwoTower(str(folder)).embed_images([np.zeros((4, 4), np.uint8)])
