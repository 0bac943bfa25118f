"""CLIP-like models of transformers, tiny and random, give what transformers itself gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError
from radgauge.encoders.image.two_tower import TwoTower
from radgauge.images.prepare import CLIP_MEAN, CLIP_STD, Preparation, from_transformers

pytest.importorskip("PIL", reason="the extra 'image' is not installed")
torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'models' is not installed")
pytestmark = pytest.mark.models

TEXTS = ["the lungs are clear", "small left effusion", "the lungs are clear and the heart is normal in size"]


def picture(height: int, width: int) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return ((rows * 5 + columns * 3) % 256).astype(np.uint8)


PICTURES = [picture(50, 40), picture(30, 64), picture(32, 32)]


def words(folder: Path) -> None:
    """A tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    listed = ["<pad>", "<s>", "</s>", "<unk>", *sorted({word for text in TEXTS for word in text.split()})]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(listed)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)


TOWER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION = {**TOWER, "image_size": 32, "patch_size": 8}
TEXT = {**TOWER, "vocab_size": 40, "max_position_embeddings": 12, "bos_token_id": 1, "eos_token_id": 2}


def build(folder: Path, kind: str) -> object:
    torch.manual_seed(0)
    text = {**TEXT, "pad_token_id": 0}
    if kind == "clip":
        config = transformers.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=24)
        model = transformers.CLIPModel(config)
    elif kind == "siglip":
        model = transformers.SiglipModel(transformers.SiglipConfig(text_config=text, vision_config=VISION))
    else:
        vision = transformers.ViTConfig(**VISION)
        config = transformers.VisionTextDualEncoderConfig.from_vision_text_configs(
            vision, transformers.BertConfig(**text), projection_dim=24
        )
        model = transformers.VisionTextDualEncoderModel(config)
    model.eval().save_pretrained(folder)
    words(folder)
    prepared = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "do_center_crop": True}
    settings = {**prepared, "resample": 3, "image_mean": CLIP_MEAN, "image_std": CLIP_STD}
    if kind == "siglip":
        settings = {
            "size": {"height": 32, "width": 32},
            "resample": 2,
            "image_mean": [0.5] * 3,
            "image_std": [0.5] * 3,
        }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return model


@pytest.mark.parametrize("kind", ["clip", "siglip", "dual"])
def test_vectors_are_the_models_own(tmp_path: Path, kind: str) -> None:
    model = build(tmp_path, kind)
    encoder = TwoTower(str(tmp_path), unit=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    padding = "max_length" if kind == "siglip" else True
    with torch.inference_mode():
        tokens = tokenizer(TEXTS, padding=padding, truncation=True, max_length=12, return_tensors="pt")
        texts = model.get_text_features(**tokens)
        pixels = np.stack([json_free_prepared(each, kind) for each in PICTURES])
        images = model.get_image_features(pixel_values=torch.from_numpy(pixels))
    texts, images = (each if hasattr(each, "shape") else each.pooler_output for each in (texts, images))
    found_texts, found_images = encoder.embed_texts(TEXTS), encoder.embed_images(PICTURES)
    assert np.allclose(found_texts, texts.numpy(), atol=1e-5)
    assert np.allclose(found_images, images.numpy(), atol=1e-5)
    assert found_texts.shape[1] == found_images.shape[1]
    unit = TwoTower(str(tmp_path))
    assert np.allclose(np.linalg.norm(unit.embed_images(PICTURES), axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(unit.embed_texts(TEXTS), axis=1), 1, atol=1e-5)
    assert unit.name + "+raw" == encoder.name
    assert unit.constant is None
    assert unit.embed_texts([]).shape[0] == 0


def json_free_prepared(each: np.ndarray, kind: str) -> np.ndarray:
    """The same preparation by hand, with pillow on three channels."""
    from PIL import Image

    colour = Image.fromarray(each).convert("RGB")
    if kind == "siglip":
        values = np.asarray(colour.resize((32, 32), Image.Resampling.BILINEAR)) / 255
        return ((values - 0.5) / 0.5).transpose(2, 0, 1).astype(np.float32)
    width, height = colour.size
    scale = 32 / min(width, height)
    values = np.asarray(colour.resize((int(width * scale), int(height * scale)), Image.Resampling.BICUBIC)) / 255
    top, left = (values.shape[0] - 32) // 2, (values.shape[1] - 32) // 2
    values = values[top : top + 32, left : left + 32]
    return ((values - CLIP_MEAN) / CLIP_STD).transpose(2, 0, 1).astype(np.float32)


def test_batches_do_not_matter(tmp_path: Path) -> None:
    build(tmp_path, "clip")
    encoder = TwoTower(str(tmp_path))
    alone = np.vstack([encoder.embed_texts([text]) for text in TEXTS])
    assert np.allclose(encoder.embed_texts(TEXTS), alone, atol=1e-5)


def test_truncated_reports_are_counted_in_every_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from PIL import Image

    import radgauge as rg
    from radgauge.analysis.summary import summarise
    from radgauge.core.cache import Cache
    from radgauge.core.readings import Readings

    build(tmp_path / "clip", "clip")
    Image.fromarray(PICTURES[0]).save(tmp_path / "a.png")
    long = " ".join(["the lungs are clear"] * 4)
    cases = [
        rg.Case(name, candidate, (TEXTS[1],), images=(tmp_path / "a.png",))
        for name, candidate in (("1", f"{long} effusion"), ("2", long), ("3", TEXTS[0]))
    ]
    spec = f"vlscore:encoder={tmp_path / 'clip'},constant=1,domain=off"
    for _ in range(2):
        caplog.clear()
        results = rg.score(cases, [spec], reading=Readings(cache=Cache(tmp_path / "cache")))
        scores = results["vlscore"]
        assert scores.headline[0] == scores.headline[1]  # what follows the limit plays no part, so it must be said
        assert scores.truncated == {("1", "system"), ("2", "system")}
        assert "vlscore: in 2 of 3 cases (67 %) a report is longer than the encoder reads" in caplog.text
        assert {line.truncated for line in summarise(results, resamples=0)} == {2}
    rg.write_scores(tmp_path / "scores.jsonl", results)
    assert rg.read_scores(tmp_path / "scores.jsonl")["vlscore"].truncated == scores.truncated


def test_what_is_no_such_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"must hold config\.json"):
        TwoTower(str(tmp_path)).embed_texts(["clear"])
    build(tmp_path / "clip", "clip")
    (tmp_path / "clip" / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match=r"has no preprocessor_config\.json"):
        TwoTower(str(tmp_path / "clip")).embed_texts(["clear"])
    bert = transformers.BertModel(transformers.BertConfig(**TEXT))
    bert.save_pretrained(tmp_path / "bert")
    words(tmp_path / "bert")
    with pytest.raises(ModelError, match="is a BertModel, which does not put images and texts into one space"):
        TwoTower(str(tmp_path / "bert")).embed_texts(["clear"])


def test_preparations() -> None:
    flat = from_transformers({"do_resize": False, "do_normalize": False, "do_rescale": False}, where="")
    assert np.array_equal(flat(PICTURES[0]), np.repeat(PICTURES[0][None].astype(np.float32), 3, axis=0))
    cropped = from_transformers({"size": 16, "do_center_crop": True, "crop_size": 20}, where="")
    assert cropped(PICTURES[2]).shape == (3, 20, 20)
    black = (0 - np.array(CLIP_MEAN)) / np.array(CLIP_STD)
    assert np.allclose(cropped(PICTURES[2])[:, 0, 0], black)  # beyond the edge
    assert from_transformers({"size": 16}, where="")(PICTURES[0]).shape == (3, 16, 16)
    older = {"size": 16, "crop_size": 16, "feature_extractor_type": "CLIPFeatureExtractor"}
    assert from_transformers(older, where="").size == (16,)
    assert from_transformers(older, where="").crop == (16, 16)
    one = Preparation(size=(8, 12), crop=None, mean=(0.5,), std=(0.5,))
    assert one(PICTURES[1]).shape == (1, 8, 12)
    with pytest.raises(ModelError, match=r"shortest_edge or height and width, got \{'a'"):
        from_transformers({"size": {"a": 1}}, where="x")
    with pytest.raises(ModelError, match="unknown resampling filter 9"):
        from_transformers({"resample": 9}, where="x")
