"""Training of an image-text encoder on drawn pictures, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra image")

from PIL import Image

from radgauge.cli import app
from radgauge.core.errors import ImageError, InputError, UsageError
from radgauge.encoders.image.embedded_image_text import EmbeddedImageText, load_image_text
from radgauge.encoders.text.report_claims import ReportClaims
from radgauge.lab.training import image_text
from radgauge.lab.training.image_text import train_image_text, view_points
from radgauge.lab.training.image_text_data import read_material
from radgauge.lab.training.image_text_figures import auroc, largest_area, matching, mean_by_study, ranks
from radgauge.lab.training.image_text_fit import fit_layers
from radgauge.lab.training.image_text_reports import ReportRows, reworded
from radgauge.lab.training.image_text_settings import ImageTextSettings
from radgauge.lab.training.image_text_views import changed_direction, distance_limit, view_direction, view_layer
from radgauge.reader import ReportReader

SMALL = ImageTextSettings(size=32, dimensions=8, least=2)
TEXTS = {
    "left": "There is a left pleural effusion. No pneumothorax.",
    "right": "There is a right pleural effusion. No pneumothorax.",
    "none": "The lungs are clear. No pleural effusion or pneumothorax.",
}


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """Sixteen studies; an effusion is a bright patch, a lateral has a bright half."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "studies"
    (folder / "images").mkdir(parents=True)
    records = []
    for number in range(16):
        kind = list(TEXTS)[number % 3]
        names = [f"{number}_{view}.png" for view in range(2)]
        for view, name in enumerate(names):
            picture = rng.integers(0, 60, size=(40, 36)).astype(np.uint8)
            if kind != "none":
                column = slice(4, 12) if kind == "right" else slice(24, 32)
                picture[22:34, column] = 220
            if view:
                picture[:20] = 250
            Image.fromarray(picture).save(folder / "images" / name)
        records.append({"id": f"s{number}", "findings": TEXTS[kind], "impression": "See above.", "images": names})
    (folder / "studies.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    return folder


def test_the_constant_comes_from_studies_that_the_fit_has_not_seen() -> None:
    rng = np.random.default_rng(0)
    studies, width = 40, 6
    owners = np.repeat(np.arange(studies), 2)
    images = rng.normal(size=(len(owners), width)).astype(np.float32)
    images[:, 0] += np.tile((4.0, -4.0), studies)  # a frontal and a lateral each
    rows = rng.normal(size=(studies, 5)).astype(np.float32)
    reports = ReportRows(ReportClaims(()), np.ones(5, np.float32), rows, rows[:0])
    settings = ImageTextSettings(dimensions=3, picture_ridge=1e-6, report_ridge=1e-6, view_ridge=1e-6)
    changed = images[:8] + 1
    views = ("frontal", "lateral", "frontal+lateral")
    constants = image_text._held_out_constants(images, owners, changed, -changed, reports, settings, views=views)
    assert set(constants) == set(views)
    side, text, centre = image_text._fitted(images, owners, changed, -changed, reports, settings)
    points, shown = view_points(side.rows(images), owners, studies)["frontal+lateral"]
    texts = image_text.unit(((rows - centre) @ text).astype(np.float32))
    seen = largest_area(points[:8], texts[shown][:8], others=50, seed=0)  # as many studies as a fifth has
    assert seen < constants["frontal+lateral"] <= 1.3


@pytest.mark.nightly
def test_train_go_on_and_use(studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    material = read_material(studies / "studies.jsonl", studies / "images", validation=0.25)
    assert (len(material.train), len(material.validation)) == (12, 4)
    assert material.train[0].texts[1].endswith("See above.")
    told: list[str] = []
    steps: list[tuple[str, int, int]] = []
    whole = train_image_text(
        material, tmp_path / "whole", settings=SMALL, tell=told.append, progress=lambda *step: steps.append(step)
    )
    assert [line.split(":")[0] for line in told[:3]] == ["pictures", "inverted pictures", "turned pictures"]
    assert ("pictures", 24, 24) in steps
    assert ("decoding", 24, 24) in steps
    told.clear()
    again = train_image_text(material, tmp_path / "whole", settings=SMALL, tell=told.append)
    assert told[0] == "pictures: 24 known from the last run"
    assert again.matching == whole.matching

    # a run that is stopped behind the first pass over the pictures
    def stop(*given: object, **settings: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(image_text, "_turned", stop)
        with pytest.raises(KeyboardInterrupt):
            train_image_text(material, tmp_path / "halves", settings=SMALL)
    told.clear()
    halves = train_image_text(material, tmp_path / "halves", settings=SMALL, tell=told.append)
    assert [line.endswith("known from the last run") for line in told[:3]] == [True, True, False]
    assert halves.file.read_bytes()[:2] == whole.file.read_bytes()[:2] == b"PK"
    np.testing.assert_array_equal(load_image_text(halves.file).matrix, load_image_text(whole.file).matrix)

    encoder = EmbeddedImageText(str(whole.file))
    assert encoder.constants == pytest.approx(whole.constants)
    assert set(whole.constants) == {"frontal", "lateral", "frontal+lateral"}
    assert all(0 < value <= 1.3 for value in whole.constants.values())
    files = [studies / "images" / f"{number}_{view}.png" for number in (0, 5) for view in (0, 1)]
    rows = encoder.look([np.asarray(Image.open(path)) for path in files])
    assert [encoder.seen(row).view for row in rows] == ["frontal", "lateral"] * 2
    reports = encoder.embed_texts([*TEXTS.values(), "..."])
    vectors = encoder.embed_images([np.asarray(Image.open(path)) for path in files])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert vectors.shape[1] == reports.shape[1] == SMALL.dimensions
    assert np.isnan(reports).any(axis=1).tolist() == [False, False, False, True]


@pytest.mark.long
def test_from_the_command_line(studies: Path, tmp_path: Path) -> None:
    command = ["train", "image-text", str(studies / "studies.jsonl"), "--images", str(studies / "images")]
    command += ["--output", str(tmp_path / "out"), "--size", "32", "--validation", "0.25", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["validation"]["frontal"]["studies"] == 4
    assert load_image_text(Path(found["file"])).about["constants"] == pytest.approx(found["constants"])
    plain = CliRunner().invoke(app, command[:-1])
    assert "frontal+lateral" in plain.stdout
    assert "pictures: 24 known from the last run" in plain.stderr


def test_what_cannot_be_trained_on(studies: Path, tmp_path: Path) -> None:
    table = studies / "studies.jsonl"
    with pytest.raises(InputError, match="is not a folder of images"):
        read_material(table, tmp_path / "none")
    with pytest.raises(UsageError, match="must lie between 0 and 1, got 2"):
        read_material(table, studies / "images", validation=2.0)
    few = tmp_path / "few.jsonl"
    few.write_text("".join(table.read_text().splitlines(keepends=True)[:5]))
    with pytest.raises(InputError, match="training needs 8 studies or more"):
        read_material(few, studies / "images")
    (studies / "images" / "0_0.png").write_bytes(b"no picture")
    with pytest.raises(ImageError, match=r"0_0\.png is not an image"):
        train_image_text(read_material(table, studies / "images"), tmp_path / "out", settings=SMALL)
    for change, message in (
        ({"size": 100}, "size must be a multiple of 32, got 100"),
        ({"dimensions": 0}, "dimensions must be 1 or more, got 0"),
        ({"view_ridge": 0.0}, r"view_ridge must be above 0, got 0\.0"),
        ({"rewording": -1.0}, "rewording and threads must be 0 or more"),
    ):
        with pytest.raises(UsageError, match=message):
            ImageTextSettings(**{**vars(SMALL), **change})


def test_views_are_found_though_some_studies_have_the_lateral_first() -> None:
    rng = np.random.default_rng(0)
    truth = np.tile([True, False], 60)
    truth[:20] = ~truth[:20]  # ten of sixty studies
    numbers = rng.normal(size=(120, 9)).astype(np.float32)
    numbers[:, 4] += np.where(truth, 4, -4)
    found = view_direction(numbers, np.tile([True, False], 60))
    assert ((found(numbers) > 0) == truth).all()
    alone = view_direction(numbers, np.ones(120, bool))
    assert (alone(numbers) > 0).all()  # one picture per study: nothing tells views apart


def test_changed_pictures_lie_above_their_limit_and_strange_ones_far_away() -> None:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(400, 12)).astype(np.float32)
    changed = real[::4] + np.eye(12, dtype=np.float32)[3] * 9
    direction, limit = changed_direction(real, changed)
    assert (direction(real) < limit).all()
    assert (direction(changed) > limit).all()
    flat = real * np.r_[np.full(3, 3.0), np.full(9, 0.1)].astype(np.float32)
    layer, edge = view_layer(flat, np.zeros((12, 1))), distance_limit(flat)
    assert (layer.distance(flat) < edge).mean() > 0.99
    assert layer.distance(flat[:1] + 5).item() > edge


def test_layers_find_what_correlates_in_either_view() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 2))
    mix = [rng.normal(size=(8, 8)) for _ in range(2)]
    pictures = tuple(np.hstack([hidden, rng.normal(size=(300, 6))]) @ each for each in mix)
    pictures = tuple((each - each.mean(0)) / each.std(0) for each in pictures)
    rows = (np.hstack([hidden @ rng.normal(size=(2, 3)), rng.normal(size=(300, 4))]) + 1).astype(np.float32)
    settings = ImageTextSettings(dimensions=12, picture_ridge=0.1, report_ridge=0.1, view_ridge=0.1)
    owners = (np.arange(300), np.arange(300))
    found = fit_layers(pictures, owners, rows, rows[:0], settings=settings)
    read = (rows - found.centre) @ found.text
    assert read.shape == (300, 12)
    assert np.linalg.norm(read, axis=1).mean() == pytest.approx(1)
    for numbers, layer in zip(pictures, found.views, strict=True):
        seen = numbers @ layer
        assert np.corrcoef(seen[:, 0], read[:, 0])[0, 1] > 0.8
    assert found.views[0].shape == (8, 12)


def test_directions_in_which_rewordings_differ_are_left_out() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 2))
    pictures = hidden @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(300, 5))
    rows = hidden.astype(np.float32)  # two columns, both seen in the pictures
    aside = np.zeros((300, 2), np.float32)
    aside[:, 1] = rng.normal(size=300) * 30  # but rewordings change the second at will
    settings = ImageTextSettings(dimensions=2, picture_ridge=0.1, report_ridge=0.1, view_ridge=0.1)
    plain, kept = (
        fit_layers((pictures,), (np.arange(300),), rows, each, settings=settings).text
        for each in (rows[:0], aside)
    )
    assert np.linalg.norm(plain[1]) > 0.3 * np.linalg.norm(plain[0])
    assert np.linalg.norm(kept[1]) < 0.05 * np.linalg.norm(kept[0])


def test_rewordings_keep_what_is_stated() -> None:
    texts = ["Large left effusion. No pneumothorax.", "The heart is normal. The lungs are clear.", "Cardiomegaly."]
    made = reworded(ReportReader().read(texts), seed=0)
    assert made[0].startswith("Large left effusion.")
    assert made[2].startswith("Cardiomegaly.")
    assert "effusion" not in made[1]
    assert made[1].count("Large") == made[1].count("Cardiomegaly") == 0
    assert reworded(ReportReader().read(["Cardiomegaly."]), seed=0) == ["Cardiomegaly."]


def test_points_by_the_views_that_a_study_has() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32)
    signs = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [1, 0, 0, 0], [-1, 0, 0, 0]], np.float32)
    found = view_points(np.hstack([vectors, signs]), np.array([0, 0, 1, 2]), 3)
    assert {name: studies.tolist() for name, (_, studies) in found.items()} == {
        "frontal": [0, 1],
        "lateral": [0, 2],
        "frontal+lateral": [0],
    }
    np.testing.assert_allclose(found["frontal+lateral"][0], [[0.5**0.5, 0.5**0.5]], atol=1e-6)


def test_figures_by_hand() -> None:
    pictures = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    reports = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    found = matching(pictures, reports)
    # own: 1, 0, 0; other: 1 (0-1), 0 (0-2), 0 (1-0), 1 (1-2), 1 (2-0), 1 (2-1)
    assert found.auroc == pytest.approx((4 * 0.5 + 2 + 2 * 2 * 0.5) / 18)
    assert ranks(pictures.astype(np.float64) @ reports.T).tolist() == [1.5, 2.5, 3.0]
    assert found.recall_1 == 0.0
    assert np.isnan(auroc(np.array([]), np.array([1.0])))
    means = mean_by_study(pictures, np.array([0, 0, 1]), studies=2)
    np.testing.assert_allclose(means, [[0.5, 0.5], [1, 0]])
    # a right triangle with legs of length 1 and 2 has the area 1
    corner, leg, other = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 2.0]]), 3
    assert largest_area(corner, leg, others=other, seed=0) == pytest.approx(1.0)
