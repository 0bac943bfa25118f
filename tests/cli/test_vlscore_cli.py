"""radgauge score with images: where files are looked for, and what is said of those that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.cli import app

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")


@dataclass(frozen=True)
class Lengths:
    """Pictures at 0, texts by their length and first letter."""

    name: str = "lengths-1"
    constant: float | None = 1e4

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        return np.zeros((len(images), 2), np.float32)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Lengths())
    lines = [
        {"id": "good", "images": ["a/0.png", "a/1.png"]},
        {"id": "ending", "images": ["b/0.png"]},
        {"id": "none"},
        *({"id": f"gone {at}", "images": [f"c/{at}.png"]} for at in range(9)),
    ]
    texts = {"candidate": "Clear lungs.", "reference": "The lungs are clear."}
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({**texts, **line}) + "\n" for line in lines))
    for name in ("a/0.png", "a/1.png", "b/0.jpg"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(np.zeros((8, 8), np.uint8)).save(path)
    return tmp_path / "r.jsonl"


def test_images_are_resolved_and_reasons_given(table: Path) -> None:
    output = table.with_name("scores.jsonl")
    arguments = ["score", table, "--images", table.parent / "files", "-m", "vlscore", "--no-cache", "-o", output]
    run = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "400"})
    assert run.exit_code == 0, run.output
    assert "9 of 12 images are not in files" in run.stderr
    assert "1 of 12 images were found with another ending" in run.stderr
    assert "10 of 12 not judged (1 no image, 1 image 0.png is not there" in run.stderr
    assert "6 more (every reason is in the file of --output)" in run.stderr
    header, *rows = [json.loads(line) for line in output.read_text().splitlines()]
    values = {row["id"]: row["vlscore_demo"] for row in rows}
    assert values["good"] == values["ending"] > 0
    assert values["gone 3"] is None
    assert "3.png is not there" in json.dumps(header)


def test_the_encoders_and_what_is_proved_of_them_stand_in_one_table() -> None:
    from radgauge.encoders.image.encoders import known_encoders

    run = CliRunner().invoke(app, ["models", "list", "--encoders", "--json"])
    assert run.exit_code == 0, run.output
    found = {each["name"]: each for each in json.loads(run.stdout)}
    wanted = {"LIMITR", "GLoRIA", "MedCLIP", "BioViL", "ConVIRT", "BiomedCLIP", "embedded"}
    assert wanted <= set(found) == {each.name for each in known_encoders()}
    assert all(all(each.values()) for each in found.values())
    assert "research, non-commercial" in found["embedded"]["licence"]
    assert "radgauge train image-text" in found["embedded"]["licence"]
    assert (found["LIMITR"]["constant"], found["GLoRIA"]["constant"]) == ("890", "1155")
    plain = CliRunner().invoke(app, ["models", "list"], env={"COLUMNS": "400"})
    assert all(name in plain.stdout for name in wanted)


def test_the_licence_stands_beside_the_weights() -> None:
    folder = Path(__file__).parents[2] / "packages" / "radgauge-image-weights"
    notice = (folder / "LICENSE").read_text(encoding="utf-8")
    assert "RESEARCH, NON-COMMERCIAL" in notice
    assert "radgauge train image-text" in notice
