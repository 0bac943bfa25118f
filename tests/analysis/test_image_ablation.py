"""Image ablation, on encoders of which one uses its images and one does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from radgauge.analysis.image_ablation import ablation_table, image_ablation, image_share, mirrored
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.judgments import rating_scores
from radgauge.metrics.vlscore import VLScore
from radgauge.render.tables import to_markdown
from radgauge.stats.resampling import Resampling

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")

FINDINGS = ("pleural effusion", "pneumothorax", "pneumonia", "atelectasis", "granuloma", "edema")
REPORTS = [
    f"There is a small {side} {finding}. The heart is {size}."
    for finding in FINDINGS
    for side, size in (("left", "normal in size"), ("right", "enlarged"))
]
HOW = Resampling(resamples=200)


def vector(text: str) -> np.ndarray:
    """A number for each finding, with the sign of its side, and one for the heart."""
    words = text.lower()
    sign = words.count("left") - words.count("right")
    found = [
        *((3 * sign if finding in words else 0) for finding in FINDINGS),
        "enlarged" in words,
        0,
    ]
    return np.array(found, np.float32)


@dataclass(frozen=True)
class Planted:
    """A picture is the number of its report."""

    blind: bool
    name: str = "planted-1"
    constant: float | None = 20.0

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        numbers = [0 if self.blind else int(picture[0, 0]) for picture in images]
        beside = np.array(
            [0] * (len(FINDINGS) + 1) + [5], np.float32
        )  # else own report and image coincide: area 0
        return np.stack([vector(REPORTS[number]) + beside for number in numbers])

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([vector(text) for text in texts])


@pytest.fixture
def studies(tmp_path: Path) -> list[Case]:
    found = []
    for number, report in enumerate(REPORTS):
        path = tmp_path / f"{number}.png"
        image.fromarray(np.full((1, 2), number, dtype=np.uint8)).save(path)
        found.append(Case(str(number), "", (report,), images=(path,)))
    return found


def judged(studies: list[Case]) -> Judgments:
    """Candidates are other studies' reports; raters say how far they are from the picture, not the reference."""
    cases, ratings = [], {}
    for number, study in enumerate(studies):
        for step in (1, 2, 3):
            candidate = REPORTS[(number + step) % len(REPORTS)]
            case = Case(study.id, candidate, study.references, f"s{step}", images=study.images)
            cases.append(case)
            ratings[case.key] = -float(np.linalg.norm(vector(candidate) - vector(REPORTS[number])))
    keys = tuple(case.key for case in cases)
    return Judgments(
        "planted", tuple(cases), ratings=rating_scores({"r": ratings}, keys=keys, signature="planted")
    )


def ablated(studies: list[Case], monkeypatch: pytest.MonkeyPatch, *, blind: bool, **settings):
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **given: Planted(blind))
    return image_ablation(studies, VLScore(), deals=5, resampling=HOW, **settings)


def test_an_encoder_that_uses_its_images(studies: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    found = ablated(studies, monkeypatch, blind=False)
    assert found.own_nearer.right == 1
    assert found.side.right == 1
    assert found.own_nearer.dealt < 0.7 > found.side.dealt
    assert found.own_nearer.low > 0
    assert found.image_matters
    assert 0.001 < found.share < 0.1  # most of the variance is between kinds of change
    assert "with the right images it matches images with their own reports better" in found.sentence
    assert found.changes["sides exchanged"].n == len(REPORTS)
    assert found.changes["change_location"].difference > 0


def test_an_encoder_that_looks_at_nothing(studies: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    found = ablated(studies, monkeypatch, blind=True, judgments=judged(studies))
    assert found.share == pytest.approx(0, abs=1e-12)
    assert found.agreement is not None
    assert found.agreement.n == 3 * len(REPORTS)
    for row in found.rows:
        assert row.right == pytest.approx(row.dealt) == pytest.approx(row.mean_image)
        assert row.difference == pytest.approx(0)
    assert not found.image_matters
    assert found.sentence.startswith("0 % of the variance of vlscore_demo over 36 judged pairs comes from which")
    assert "agrees with the raters no better than with images at random" in found.sentence
    assert "| agreement with raters | 36 |" in to_markdown(ablation_table(found))


def test_images_are_dealt_by_study_and_the_rows_are_those_of_the_metric(
    studies: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ablated(studies, monkeypatch, blind=False, judgments=judged(studies), kinds=("change_location",))
    again = ablated(studies, monkeypatch, blind=False, judgments=judged(studies), kinds=("change_location",))
    assert found == again
    assert list(found.changes) == ["change_location", "sides exchanged"]
    assert found.agreement is not None
    assert found.agreement.right == 1
    assert found.agreement.low <= found.agreement.difference <= found.agreement.high


def test_studies_without_images_are_counted_and_too_few_refused(
    studies: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = [Case("x", "", ("No effusion.",)), *studies]
    assert ablated(bare, monkeypatch, blind=True).left_out == 1
    with pytest.raises(InputError, match="at least 3 studies with a report and usable images, got 2"):
        ablated(studies[:2], monkeypatch, blind=True)


def test_the_share_of_the_variance_within_cases() -> None:
    values = np.array([[1.0, 3.0, 9.0], [3.0, 5.0, np.nan]])  # within: 1 and 1; in all: 2
    assert image_share(values) == pytest.approx(0.5)
    assert mirrored("LEFT base, Right apex") == "RIGHT base, Left apex"
