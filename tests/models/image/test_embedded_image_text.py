"""The image-text encoder that ships, and files of its format."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import radgauge
from radgauge.errors import ModelError
from radgauge.images import Grey
from radgauge.models.image.convolutions import Layer, Network
from radgauge.models.image.embedded_image_text import (
    EMBEDDED,
    EmbeddedImageText,
    ImageText,
    load_image_text,
    save_image_text,
    squared,
)
from radgauge.models.image.image_text import image_text_encoder
from radgauge.models.text.report_claims import ReportClaims

pytest.importorskip("PIL", reason="needs the extra image")

NORMAL = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."


def _picture(height: int = 90, width: int = 70, seed: int = 0) -> Grey:
    return np.random.default_rng(seed).integers(0, 256, (height, width)).astype(np.uint8)


def _tiny(path: Path, **about: object) -> Path:
    rng = np.random.default_rng(0)
    claims = ReportClaims(("+finding",))
    layer = Layer(rng.normal(size=(2, 1, 3, 3)).astype(np.float32), np.zeros(2, np.float32), stride=2)
    network = Network((layer,), rng.normal(size=(2, 3)).astype(np.float32), np.zeros(3, np.float32))
    matrix = rng.normal(size=(claims.dimensions, 3)).astype(np.float32)
    save_image_text(path, ImageText(network, claims, matrix, np.zeros(3, np.float32), 32, about))
    return path


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = _tiny(tmp_path / "mine.npz", constant=0.5)
    encoder = image_text_encoder(str(file))
    assert isinstance(encoder, EmbeddedImageText)
    assert encoder.constant == 0.5
    assert encoder.name.startswith("mine@")
    assert "|" not in encoder.name
    assert encoder.embed_images([_picture()]).shape == encoder.embed_texts(["Clear."]).shape == (1, 3)
    assert EmbeddedImageText(str(_tiny(tmp_path / "other.npz"))).constant is None


def test_files_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        load_image_text(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ModelError, match="must be a file of `radgauge train image-text`"):
        load_image_text(tmp_path / "text.npz")
    whole = _tiny(tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="must be a file of `radgauge train image-text`"):
        load_image_text(tmp_path / "cut.npz")
    monkeypatch.setattr("radgauge.models.image.embedded_image_text.VERSION", 99)
    with pytest.raises(ModelError, match="was trained on version 1 of the claims"):
        load_image_text(tmp_path / "whole.npz")


def test_squares_keep_the_shape_of_the_picture() -> None:
    placed = squared(np.full((50, 100), 200, np.uint8), 32)
    assert placed.shape == (32, 32)
    assert (placed[8:24] == 200).all()
    assert not placed[:8].any()
    assert not placed[24:].any()
    same = _picture(32, 32)
    np.testing.assert_array_equal(squared(same, 32), same)
    assert squared(np.full((1, 500), 9, np.uint8), 32).max() == 9


def test_vectors_do_not_depend_on_company() -> None:
    encoder = EmbeddedImageText()
    pictures = [_picture(seed=seed, height=60 + 30 * seed) for seed in range(3)]
    together = encoder.embed_images(pictures)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for row, picture in zip(together, pictures, strict=True):
        np.testing.assert_allclose(encoder.embed_images([picture])[0], row, atol=1e-4)
    texts = [NORMAL, "Large right pleural effusion.", "Cardiomegaly."]
    reports = encoder.embed_texts(texts)
    np.testing.assert_allclose(np.linalg.norm(reports, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(encoder.embed_texts(texts[::-1])[::-1], reports, atol=1e-5)
    assert together.shape[1] == reports.shape[1]
    assert encoder.embed_images([]).shape == (0, reports.shape[1])


def test_a_text_without_words_has_no_vector() -> None:
    assert np.isnan(EmbeddedImageText().embed_texts(["", "...", "XXXX"])).all()


def test_findings_count_more_than_how_they_are_put() -> None:
    def far(one: str, two: str) -> float:
        first, second = EmbeddedImageText().embed_texts([one, two])
        return float(np.linalg.norm(first - second))

    filler = f"{NORMAL} Two views of the chest were obtained."
    reworded = "Heart size within normal limits. Lungs are clear. There is no pleural effusion. No pneumothorax."
    finding = f"{NORMAL} There is a large left pleural effusion."
    assert far(NORMAL, filler) < far(NORMAL, finding)
    assert far(NORMAL, reworded) < far(NORMAL, finding)
    sides = far("Left lower lobe opacity.", "Right lower lobe opacity.")
    assert sides > far("Left lower lobe opacity.", "There is an opacity in the left lower lobe.")
    assert far("Cardiomegaly.", "No cardiomegaly.") > far("Cardiomegaly.", "There is cardiomegaly.")


def test_what_ships() -> None:
    assert EMBEDDED.stat().st_size < 10_000_000
    model = load_image_text()
    assert 0 < float(model.about["constant"]) < 2
    with zipfile.ZipFile(EMBEDDED) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
    assert {"meta", "vocabulary", "text_matrix", "text_bias"} <= names
    assert all(name[0] in "+-=" for name in model.claims.vocabulary)  # names of the lexicon, not words of reports


def test_needs_numpy_and_pillow_alone() -> None:
    code = (
        "import sys, numpy as np\n"
        "from radgauge.models.image.embedded_image_text import EmbeddedImageText\n"
        "encoder = EmbeddedImageText()\n"
        "encoder.embed_texts(['Clear.'])\n"
        "encoder.embed_images([np.zeros((40, 40), np.uint8)])\n"
        "print(sorted({'torch', 'transformers', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    source = str(Path(radgauge.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_own_reports_are_told_from_others(shared_data: Path) -> None:
    from io import BytesIO

    from PIL import Image

    from radgauge.io.corpora.r2gen import read_r2gen
    from radgauge.models.image.embedded_image_text import unit
    from radgauge.training.image_text_figures import matching, mean_by_study

    folder = shared_data / "iu_xray"
    studies = read_r2gen(folder / "r2gen_annotation.json", split="val")
    pictures = []
    with zipfile.ZipFile(folder / "images_train_val.zip") as archive:
        for study in studies:
            for name in study.images:
                content = archive.read(name.with_suffix(".jpg").as_posix())
                pictures.append(np.asarray(Image.open(BytesIO(content)).convert("L")))
    owners = np.repeat(np.arange(len(studies)), [len(study.images) for study in studies])
    encoder = EmbeddedImageText()
    images = unit(mean_by_study(encoder.embed_images(pictures), owners, studies=len(studies)))
    assert matching(images, encoder.embed_texts([study.text() for study in studies])).auroc > 0.65
