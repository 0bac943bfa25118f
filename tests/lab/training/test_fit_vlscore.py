"""The constant is the largest area, and the metric takes the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.analysis.fit_vlscore import fit_vlscore
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.metrics.vlscore import VLScore
from radgauge.run.score import score

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")


@dataclass(frozen=True)
class Corner:
    """Pictures lie at the origin; a text lies as far out on its own axis as it has words."""

    name: str = "corner-1"
    constant: float | None = None

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        return np.zeros((len(images), 26), np.float32)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        found = np.zeros((len(texts), 26), np.float32)
        for row, text in enumerate(texts):
            found[row, ord(text[0].lower()) - ord("a")] = len(text.split())
        return found


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Corner())


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "a.png")
    return tmp_path / "a.png"


def test_c_is_the_largest_area(picture: Path, tmp_path: Path) -> None:
    pairs = [("a", "b"), ("a a", "b b b"), ("a a a", "a a a"), ("c c c c", "b b b")]  # areas 0.5, 3, 0, 6
    cases = [Case(str(at), g, (r,), images=(picture,)) for at, (g, r) in enumerate(pairs)]
    found = fit_vlscore([*cases, Case("gone", "a", ("b",), images=(tmp_path / "gone.png",))])
    assert found.constants == {"any": pytest.approx(6)}
    assert (found.triplets, found.left_out, found.views) == ({"any": 4}, 1, "mean")
    assert found.quantiles["0.5"] == pytest.approx(1.75)
    assert found.encoder == "corner-1"
    (tmp_path / "c.json").write_text(found.as_json())
    scores = score(cases, VLScore(calibration=str(tmp_path / "c.json")))["vlscore"]
    assert scores.headline == pytest.approx([1 - 0.5 / 6, 0.5, 1, 0])


def test_nothing_to_learn_from_is_an_error(picture: Path) -> None:
    with pytest.raises(InputError, match="none of the 1 cases could be judged"):
        fit_vlscore([Case("1", "a", ("b",))])
    with pytest.raises(InputError, match="all 1 triangles have no area"):
        fit_vlscore([Case("1", "a", ("a",), images=(picture,))])


def test_the_command(picture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from radgauge.cli import app

    monkeypatch.chdir(tmp_path)
    lines = ["id,candidate,reference,image", "1,a a,b b b,a.png", "2,a,b,a.png", "3,a,b,gone.png"]
    (tmp_path / "reports.csv").write_text("\n".join(lines) + "\n")
    run = CliRunner().invoke(
        app, ["fit", "vlscore", "reports.csv", "--images", ".", "--no-cache", "-o", "mine.json"]
    )
    assert run.exit_code == 0, run.output
    assert "all (2 triplets, views any): C" in run.stdout
    assert "2 triplets of corner-1, views=mean" in run.stderr
    assert "1 cases could not be judged" in run.stderr
    assert "use it with -m vlscore:calibration=mine.json" in run.stderr
    assert json.loads((tmp_path / "mine.json").read_text())["constants"] == {"any": pytest.approx(3)}
    run = CliRunner().invoke(app, ["fit", "vlscore", "reports.csv", "-m", "bleu"])
    assert run.exit_code != 0
