"""`radgauge probe image` on pictures that an encoder knows by heart."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.cli import app

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")

WORDS = ("effusion", "pneumothorax", "edema", "granuloma")
REPORTS = [f"There is a {side} {word}." for word in WORDS for side in ("left", "right")]


@dataclass(frozen=True)
class ByHeart:
    """A picture is the number of its report."""

    name: str = "by-heart-1"
    constant: float | None = 5.0

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        return self.embed_texts([REPORTS[int(picture[0, 0])] for picture in images]) + np.float32(0.1)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        sides = [text.lower().count("left") - text.lower().count("right") for text in texts]
        return np.array([[s * (w in t.lower()) for w in WORDS] for s, t in zip(sides, texts, strict=True)], "f4")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: ByHeart())
    with (tmp_path / "reports.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "reference", "image"])
        for number, report in enumerate(REPORTS):
            image.fromarray(np.full((1, 2), number, dtype=np.uint8)).save(tmp_path / f"{number}.png")
            writer.writerow([number, report, f"{number}.png"])
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "rater", "rating", "candidate", "reference"])
        for number, report in enumerate(REPORTS):
            writer.writerow([number, "a", number % 3, REPORTS[number - 1], report])
    return tmp_path


def probe(folder: Path, *arguments: str) -> str:
    words = ["probe", "image", str(folder / "reports.csv"), "--images", str(folder), "--no-cache"]
    done = CliRunner().invoke(
        app, [*words, "--deals", "3", "--sampling", "resamples=50", *arguments], catch_exceptions=False
    )
    assert done.exit_code == 0
    return done.output


def test_the_table_and_its_sentence(folder: Path) -> None:
    shown = " ".join(probe(folder, "--table", str(folder / "t.md")).split())
    assert "own report nearer than others 8 1.000" in shown
    assert "with the right images it matches images with their own reports better than with images" in shown
    assert "| right side nearer | 8 | 1.000 |" in (folder / "t.md").read_text()


def test_judged_pairs_take_the_images_of_the_reports(folder: Path) -> None:
    found = json.loads(probe(folder, "-j", str(folder / "ratings.csv"), "--json"))
    assert found["ablation"]["agreement"]["n"] == 8
    assert found["ablation"]["share_of"] == "8 judged pairs"
    assert found["image_matters"] is (found["ablation"]["agreement"]["low"] > 0)
