"""The image-text encoder that ships, and files of its format."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import radgauge_image_weights

import radgauge
from radgauge.core.errors import MissingExtra, ModelError
from radgauge.encoders.image.convolutions import Layer, Network
from radgauge.encoders.image.embedded_image_text import (
    EmbeddedImageText,
    ImageText,
    load_image_text,
    save_image_text,
    squared,
)
from radgauge.encoders.image.image_text import image_text_encoder
from radgauge.encoders.image.picture_side import Direction, PictureSide, ViewLayer
from radgauge.encoders.text.report_claims import ReportClaims
from radgauge.images import Grey

pytest.importorskip("PIL", reason="needs the extra image")

NORMAL = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."


def _picture(height: int = 90, width: int = 70, seed: int = 0) -> Grey:
    return np.random.default_rng(seed).integers(0, 256, (height, width)).astype(np.uint8)


def _tiny(path: Path, **about: object) -> Path:
    rng = np.random.default_rng(0)
    claims = ReportClaims(("+finding",))
    layer = Layer(rng.normal(size=(2, 1, 3, 3)).astype(np.float32), np.zeros(2, np.float32), stride=2)
    network = Network((layer,))
    matrix = rng.normal(size=(claims.dimensions, 3)).astype(np.float32)
    save_image_text(path, ImageText(network, _side(), claims, matrix, np.zeros(3, np.float32), 32, about))
    return path


def _side() -> PictureSide:
    """Four numbers per picture; all pictures are frontal and nothing speaks against them."""
    rng = np.random.default_rng(1)
    layer = ViewLayer(
        np.zeros(4, np.float32),
        np.ones(4, np.float32),
        rng.normal(size=(4, 3)).astype(np.float32),
        np.eye(4, 1, dtype=np.float32),
        1.0,
    )
    never = Direction(np.zeros(4, np.float32), 0.0)
    limits = {"distance": 1e9, "inverted": 1.0, "turned": 1.0}
    return PictureSide(Direction(np.zeros(4, np.float32), 1.0), (layer, layer), never, never, limits)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = _tiny(tmp_path / "mine.npz", constants={"frontal": 0.5, "lateral": 0.25})
    encoder = image_text_encoder(str(file))
    assert isinstance(encoder, EmbeddedImageText)
    assert encoder.constant == 0.5
    assert encoder.constants == {"frontal": 0.5, "lateral": 0.25}
    (seen,) = map(encoder.seen, encoder.look([_picture()]))
    assert (seen.view, seen.objection) == ("frontal", "")
    (blank,) = map(encoder.seen, encoder.look([np.full((40, 40), 9, np.uint8)]))
    assert blank.objection == "is blank"
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
    with monkeypatch.context() as patch:
        patch.setattr("radgauge.encoders.image.embedded_image_text.FORMAT", 1)
        old = _tiny(tmp_path / "old.npz")
    with pytest.raises(ModelError, match="is of form 1, this radgauge reads form 2"):
        load_image_text(old)
    monkeypatch.setattr("radgauge.encoders.image.embedded_image_text.VERSION", 99)
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
    assert radgauge_image_weights.PATH.stat().st_size < 10_000_000
    model = load_image_text()
    assert set(model.about["constants"]) == {"frontal", "lateral", "frontal+lateral"}
    assert all(0 < value < 1.3 for value in model.about["constants"].values())
    with zipfile.ZipFile(radgauge_image_weights.PATH) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
    assert {"meta", "vocabulary", "text_matrix", "text_bias"} <= names
    assert all(name[0] in "+-=" for name in model.claims.vocabulary)  # names of the lexicon, not words of reports


def test_needs_numpy_and_pillow_alone() -> None:
    code = (
        "import sys, numpy as np\n"
        "from radgauge.encoders.image.embedded_image_text import EmbeddedImageText\n"
        "encoder = EmbeddedImageText()\n"
        "encoder.embed_texts(['Clear.'])\n"
        "encoder.embed_images([np.zeros((40, 40), np.uint8)])\n"
        "print(sorted({'torch', 'transformers', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    source = os.pathsep.join(
        str(Path(module.__file__).parents[1]) for module in (radgauge, radgauge_image_weights)
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert done.stdout == "[]\n"


def _studies(shared_data: Path, split: str, number: int) -> tuple[list[list[Grey]], list[str]]:
    """Pictures and findings of real studies."""
    from io import BytesIO

    from PIL import Image

    from radgauge.io.corpora.recognise import read_r2gen

    folder = shared_data / "iu_xray"
    studies = read_r2gen(folder / "r2gen_annotation.json", split=split)[:number]
    pictures = []
    with zipfile.ZipFile(folder / "images_train_val.zip") as archive:
        for study in studies:
            contents = [archive.read(name.with_suffix(".jpg").as_posix()) for name in study.images]
            pictures.append([np.asarray(Image.open(BytesIO(each)).convert("L")) for each in contents])
    return pictures, [study.text() for study in studies]


@pytest.mark.long
def test_what_is_no_upright_chest_radiograph_is_told(shared_data: Path) -> None:
    """Every eighth of 40 real pictures, changed in each way; the real ones themselves pass."""
    studies, _ = _studies(shared_data, "val", 20)
    real = [picture for study in studies for picture in study]
    encoder = EmbeddedImageText()

    def objections(pictures: list[Grey]) -> list[str]:
        return [encoder.seen(row).objection for row in encoder.look(pictures)]

    assert sum(map(bool, objections(real))) <= 1
    changed = real[::8]
    assert all("inverted" in why or "chest radiograph" in why for why in objections([255 - x for x in changed]))
    turned = objections([np.ascontiguousarray(x[::-1, ::-1]) for x in changed])
    assert sum(map(bool, turned)) >= len(turned) - 1
    rng = np.random.default_rng(0)
    others = [np.zeros((256, 256), np.uint8), rng.integers(0, 256, (256, 256)).astype(np.uint8)]
    others.append(np.tile(np.arange(256, dtype=np.uint8), (200, 1)))
    assert objections(others) == ["is blank", *["does not look like a chest radiograph"] * 2]


@pytest.mark.nightly
def test_views_are_told_from_the_picture(shared_data: Path) -> None:
    """The frontal stands first in most of these studies; every study has a frontal or a lateral first."""
    studies, _ = _studies(shared_data, "val", 24)
    encoder = EmbeddedImageText()
    views = [[encoder.seen(row).view for row in encoder.look(study)] for study in studies]
    assert sum(each == ["frontal", "lateral"] for each in views) >= 18
    assert all("frontal" in each and "lateral" in each for each in views[:20])


@pytest.mark.nightly
def test_the_same_candidates_score_alike_with_one_view_and_with_two(shared_data: Path, tmp_path: Path) -> None:
    from PIL import Image

    from radgauge.core.cases import Case
    from radgauge.metrics.vlscore import VLScore
    from radgauge.run.score import score

    studies, texts = _studies(shared_data, "val", 20)
    encoder = EmbeddedImageText()
    one, two = [], []
    for number, study in enumerate(studies):
        views = [encoder.seen(row).view for row in encoder.look(study)]
        if sorted(views) != ["frontal", "lateral"]:
            continue
        files = [tmp_path / f"{number}_{view}.png" for view in views]
        for picture, file in zip(study, files, strict=True):
            Image.fromarray(picture).save(file)
        case = Case(str(number), texts[number - 1], (texts[number],), images=tuple(files))
        two.append(case)
        one.append(Case(case.id, case.candidate, case.references, images=(files[views.index("frontal")],)))
    single, both = (score(cases, VLScore())["vlscore"].headline for cases in (one, two))
    known = ~np.isnan(single) & ~np.isnan(both)
    assert known.sum() >= 16
    assert abs(float((single - both)[known].mean())) < 0.03


def test_a_normal_report_in_other_words_lies_nearer_than_a_missing_pathology() -> None:
    """With pictures at several places of the space; drawn ones would not be judged."""
    from radgauge.metrics._triangle import triangle_area

    encoder = EmbeddedImageText()
    normal = [
        NORMAL,
        "Heart size and pulmonary vascularity are within normal limits. Lungs are clear. No effusion.",
        "No acute cardiopulmonary abnormality. The lungs are clear bilaterally. No pneumothorax.",
        "Cardiomediastinal silhouette is normal. No focal consolidation. Bony structures are intact.",
    ]
    finding = "There is a moderate left pleural effusion. The heart is enlarged."
    wrong_side = "There is a moderate right pleural effusion. The heart is enlarged."
    missing = "The heart is enlarged."
    words = encoder.embed_texts([*normal, finding, wrong_side, missing]).astype(np.float64)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, words.shape[1]))
    points /= np.linalg.norm(points, axis=1, keepdims=True)

    def area(one: int, two: int) -> float:
        here = [np.repeat(words[[at]], len(points), axis=0) for at in (one, two)]
        return float(triangle_area(points, *here).mean())

    rewordings = [area(0, at) for at in (1, 2, 3)]
    assert np.mean(rewordings) < area(4, 6) < area(4, 0)  # a missing effusion, a wholly normal report
    assert min(rewordings) < area(4, 5)  # a wrong side


@pytest.mark.nightly
def test_own_reports_are_told_from_others(shared_data: Path) -> None:
    from radgauge.encoders.image.embedded_image_text import unit
    from radgauge.lab.training.image_text_figures import matching, mean_by_study

    studies, texts = _studies(shared_data, "val", 296)
    owners = np.repeat(np.arange(len(studies)), [len(study) for study in studies])
    encoder = EmbeddedImageText()
    vectors = encoder.embed_images([picture for study in studies for picture in study])
    images = unit(mean_by_study(vectors, owners, studies=len(studies)))
    assert matching(images, encoder.embed_texts(texts)).auroc > 0.7


def test_without_the_weights_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "radgauge_image_weights", None)
    with pytest.raises(MissingExtra, match=r"radgauge_image_weights is not installed; .*radgauge\[image\]"):
        EmbeddedImageText().embed_texts(["Clear."])
