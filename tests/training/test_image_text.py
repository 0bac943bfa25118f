"""Training of an image-text encoder on drawn pictures, end to end."""

from __future__ import annotations

import csv
import json
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs the extra models")
pytest.importorskip("PIL", reason="needs the extra image")

from PIL import Image

from radgauge.cli import app
from radgauge.errors import ImageError, InputError, ModelError, UsageError
from radgauge.models.image.convolutions import run
from radgauge.models.image.embedded_image_text import EmbeddedImageText, load_image_text, network_input
from radgauge.training import image_text
from radgauge.training.image_network import build_stages, folded, load_start, torch
from radgauge.training.image_text import train_image_text
from radgauge.training.image_text_data import changed_copies, read_material
from radgauge.training.image_text_figures import auroc, largest_area, matching, mean_by_study, ranks
from radgauge.training.image_text_settings import ImageTextSettings
from radgauge.training.image_text_start import canonical_start
from radgauge.training.image_text_towers import Towers

pytestmark = pytest.mark.models

SMALL = ImageTextSettings(
    start="scratch", frozen=0, size=32, epochs=2, batch_size=6, copies=1, dimensions=8, least=2, least_label=2
)
TEXTS = {
    "left": "There is a left pleural effusion. No pneumothorax.",
    "right": "There is a right pleural effusion. No pneumothorax.",
    "none": "The lungs are clear. No pleural effusion or pneumothorax.",
}


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """Twelve studies; an effusion is a bright patch. A folder with studies.jsonl and images."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "studies"
    (folder / "images").mkdir(parents=True)
    records = []
    for number in range(12):
        kind = list(TEXTS)[number % 3]
        names = [f"{number}_{view}.png" for view in range(1 + number % 2)]
        for name in names:
            picture = rng.integers(0, 60, size=(40, 36)).astype(np.uint8)
            if kind != "none":
                column = slice(4, 12) if kind == "right" else slice(24, 32)
                picture[22:34, column] = 220
            Image.fromarray(picture).save(folder / "images" / name)
        records.append({"id": f"s{number}", "findings": TEXTS[kind], "impression": "See above.", "images": names})
    (folder / "studies.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    return folder


def test_train_resume_and_use(studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    material = read_material(studies / "studies.jsonl", studies / "images", validation=0.25)
    assert (len(material.train), len(material.validation)) == (9, 3)
    assert material.train[0].texts[1].endswith("See above.")
    told: list[str] = []
    whole = train_image_text(material, tmp_path / "whole", settings=SMALL, tell=told.append)
    assert [each.epoch for each in whole.passes] == [1, 2]
    assert "validation AUROC" in told[0]

    class _Killed(Exception):
        pass

    # A kill during the second pass: the state of the first one is on disk.
    logs = 0
    write = image_text.replacing

    def stop_at_second_log(path: Path) -> AbstractContextManager[Path]:
        nonlocal logs
        logs += path.name == image_text.LOG
        if logs == 2:
            raise _Killed
        return write(path)

    monkeypatch.setattr(image_text, "replacing", stop_at_second_log)
    with pytest.raises(_Killed):
        train_image_text(material, tmp_path / "halves", settings=SMALL)
    monkeypatch.setattr(image_text, "replacing", write)
    other = ImageTextSettings(**{**vars(SMALL), "seed": 1})
    with pytest.raises(UsageError, match="holds a training with other settings or other studies"):
        train_image_text(material, tmp_path / "halves", settings=other)
    told.clear()
    halves = train_image_text(material, tmp_path / "halves", settings=SMALL, tell=told.append)
    assert told[0] == "going on after pass 1"
    assert halves.passes[-1].loss == pytest.approx(whole.passes[-1].loss, rel=1e-4)
    assert not (tmp_path / "halves" / image_text.STATE).exists()
    with (tmp_path / "whole" / image_text.LOG).open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert {"auroc", "recall_1", "recall_5", "recall_10"} <= set(rows[0])

    encoder = EmbeddedImageText(str(whole.file))
    assert encoder.constant == pytest.approx(whole.constant)
    assert 0 < whole.constant < 2.5
    pictures = encoder.embed_images(
        [np.asarray(Image.open(path)) for path in sorted((studies / "images").glob("*"))]
    )
    reports = encoder.embed_texts([*TEXTS.values(), "..."])
    np.testing.assert_allclose(np.linalg.norm(pictures, axis=1), 1, atol=1e-5)
    assert pictures.shape[1] == reports.shape[1] == SMALL.dimensions
    assert np.isnan(reports[3]).all()
    assert not np.isnan(reports[:3]).any()


def test_from_the_command_line(studies: Path, tmp_path: Path) -> None:
    command = ["train", "image-text", str(studies / "studies.jsonl"), "--images", str(studies / "images")]
    command += ["--output", str(tmp_path / "out"), "--start", "scratch", "--size", "32", "--epochs", "1"]
    command += ["--batch-size", "6", "--copies", "1", "--validation", "0.25", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["validation"]["studies"] == 3
    assert load_image_text(Path(found["file"])).about["constant"] == pytest.approx(found["constant"])


def test_folded_network_is_the_trained_one() -> None:
    torch.manual_seed(0)
    settings = ImageTextSettings(**{**vars(SMALL), "dimensions": 4})
    towers = Towers(settings, columns=3, claims=1, labels=1)
    stages = towers.stages
    pictures = torch.from_numpy(
        network_input(np.random.default_rng(0).integers(0, 255, (4, 64, 64)).astype(np.uint8))
    )
    values = pictures
    for stage in stages:  # in training mode, so that normalisation has something to fold
        values = stage(values)
    towers.train(False)
    towers.centre += torch.rand(len(towers.centre))
    towers.spread += torch.rand(len(towers.spread))
    with torch.no_grad():
        whole, places = towers.pictures(*towers.below(pictures))
        network = folded(stages, *towers.image_matrix())
    torch.testing.assert_close(places.mean(dim=1), whole)
    assert len(network.taps) == 4
    np.testing.assert_allclose(run(network, pictures.numpy()), whole.numpy(), atol=1e-3)


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
    with pytest.raises(UsageError, match="do not exist; give a file, 'imagenet' or 'scratch'"):
        load_start(target, str(tmp_path / "none.pth"))


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
        ({"frozen": 3}, "frozen stages need starting weights"),
        ({"frozen": 18}, "frozen must lie between 0 and 17, got 18"),
        ({"epochs": 0}, "epochs must be 1 or more, got 0"),
    ):
        with pytest.raises(UsageError, match=message):
            ImageTextSettings(**{**vars(SMALL), **change})


def test_changed_copies_are_seeded_and_keep_sides() -> None:
    squares = np.zeros((20, 64, 64), np.uint8)
    squares[:, 20:44, 4:16] = 200
    first, again, other = (changed_copies(squares, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert (first[:, :, :32].mean(axis=(1, 2)) > first[:, :, 32:].mean(axis=(1, 2))).all()


def test_frozen_stages_stay_and_give_the_same_file(studies: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    start = tmp_path / "start.pth"
    torch.save(published_layout(build_stages()), start)
    material = read_material(studies / "studies.jsonl", studies / "images", validation=0.25)
    settings = ImageTextSettings(**{**vars(SMALL), "start": str(start), "frozen": 17})
    trained = train_image_text(material, tmp_path / "frozen", settings=settings)
    source = build_stages()
    load_start(source, str(start))
    shipped = load_image_text(trained.file).network
    for stage in source:
        stage.train(False)
    expected = folded(source, torch.zeros(1, 1), torch.zeros(1)).layers[0].weight
    np.testing.assert_allclose(shipped.layers[0].weight, expected, atol=1e-3)
    # what the passes saw, and what the file makes of the same pictures
    assert trained.passes[-1].auroc == pytest.approx(trained.shipped.auroc, abs=0.2)


def test_start_finds_what_correlates() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(200, 2))
    owners = np.repeat(np.arange(200), 2)
    pictures = np.hstack([hidden[owners], rng.normal(size=(400, 6))]) @ rng.normal(size=(8, 8)) + 3
    reports = np.hstack([hidden @ rng.normal(size=(2, 3)), rng.normal(size=(200, 4))]) + 1
    start = canonical_start(
        pictures.astype(np.float32),
        owners,
        reports.astype(np.float32),
        dimensions=12,
        picture_ridge=0.1,
        report_ridge=0.1,
    )
    seen = mean_by_study((pictures - start.centre) / start.spread @ start.image, owners, studies=200)
    read = (reports - start.text_centre) @ start.text
    assert seen.shape == read.shape == (200, 12)
    assert np.linalg.norm(read, axis=1).mean() == pytest.approx(1)
    assert (read[:, 7:] == 0).all()  # seven columns of reports have seven directions
    for direction in (0, 1):
        assert np.corrcoef(seen[:, direction], read[:, direction])[0, 1] > 0.8
    assert abs(np.corrcoef(seen[:, 6], read[:, 6])[0, 1]) < 0.5


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
