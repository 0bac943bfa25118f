"""VLScore on an encoder simple enough to check by hand."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.readings import Readings
from radgauge.encoders.image.image_text import Calibration
from radgauge.encoders.image.picture_side import Seen
from radgauge.metrics.vlscore import VLScore
from radgauge.run.contract import CHECKS, Bench
from radgauge.run.score import score

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")

WORDS = (
    "effusion",
    "heart",
    "clear",
    "left",
    "no",
    "right",
    "pneumothorax",
    "tube",
    "edema",
    "granuloma",
    "normal",
)


@dataclass(frozen=True)
class Counted:
    """A picture is its two first pixels over ten; a text how often it has each of some words, and its length."""

    name: str = "counted-1"
    constant: float | None = 20.0

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        found = np.zeros((len(images), len(WORDS) + 1), np.float32)
        for row, picture in enumerate(images):
            found[row, :2] = picture[0, :2] / 10
        return found

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        found = np.zeros((len(texts), len(WORDS) + 1), np.float32)
        for row, text in enumerate(texts):
            found[row] = [*(text.lower().count(word) for word in WORDS), len(text.split()) / 10]
            if text == "unheard":
                found[row] = np.nan
        return found


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Counted())


def save(path: Path, *pixels: int) -> Path:
    image.fromarray(np.array([[*pixels, 0, 0]], dtype=np.uint8)).save(path)
    return path


@pytest.fixture
def frontal(tmp_path: Path) -> Path:
    return save(tmp_path / "frontal.png", 0, 0)


def values(metric: VLScore, *cases: Case) -> np.ndarray:
    return next(iter(score(cases, metric).judges.values())).values


def by_hand(candidate: str, reference: str, *points: tuple[float, float]) -> float:
    """The smallest area over the points, by the paper's formula."""
    g, r = Counted().embed_texts([candidate, reference]).astype(float)
    found = []
    for point in points:
        i = np.zeros_like(g)
        i[:2] = point
        a, b = i - g, i - r
        found.append(0.5 * math.sqrt(max(a @ a * (b @ b) - (a @ b) ** 2, 0)))
    return min(found)


def test_the_score_is_one_minus_area_over_c(frontal: Path) -> None:
    case = Case("1", "left effusion", ("heart clear clear",), images=(frontal,))
    area = by_hand("left effusion", "heart clear clear", (0, 0))
    assert area > 1
    found = values(VLScore(), case)[0]
    assert found == pytest.approx([1 - area / 20, area])
    assert values(VLScore(constant=4 * area), case)[0, 0] == pytest.approx(0.75)
    assert values(VLScore(constant=area / 2), case)[0, 0] == 0
    assert values(VLScore(), dataclasses.replace(case, candidate="heart clear clear"))[0].tolist() == [1, 0]


def test_the_four_similarities(frontal: Path) -> None:
    case = Case("1", "effusion", ("heart",), images=(frontal,))  # at right angles but for their length
    g, r = Counted().embed_texts(["effusion", "heart"]).astype(float)
    cosine = g @ r / (np.linalg.norm(g) * np.linalg.norm(r))
    assert values(VLScore(similarity="cosine"), case)[0] == pytest.approx([cosine])
    assert values(VLScore(similarity="image_cosine"), case)[0] == pytest.approx([cosine])  # the image is at 0
    sphere = VLScore(similarity="sphere")
    legs, base = np.linalg.norm(g), np.linalg.norm(g - r)
    assert values(sphere, case)[0] == pytest.approx(
        [legs * legs * base / (4 * by_hand("effusion", "heart", (0, 0)))]
    )
    assert not sphere.higher_is_better
    assert [VLScore(similarity=name).columns for name in ("triangle", "sphere", "cosine", "image_cosine")] == [
        ("vlscore_demo", "vlscore_area_demo"),
        ("vlscore_sphere_demo",),
        ("vlscore_cosine_demo",),
        ("vlscore_image_cosine_demo",),
    ]
    assert VLScore().directions == (True, False)


def test_views(tmp_path: Path) -> None:
    paths = (save(tmp_path / "a.png", 40, 0), save(tmp_path / "b.png", 0, 80))
    case = Case("1", "left effusion", ("right heart",), images=paths)
    texts = ("left effusion", "right heart")
    expected = {
        "mean": by_hand(*texts, (2, 4)),
        "best": by_hand(*texts, (4, 0), (0, 8)),
        "first": by_hand(*texts, (4, 0)),
    }
    assert len({round(area, 6) for area in expected.values()}) >= 2
    for views, area in expected.items():
        assert values(VLScore(views=views), case)[0, 1] == pytest.approx(area)
        assert f"views:{views}" in VLScore(views=views).signature()
    assert VLScore().views == "mean"
    assert VLScore(models="published").views == "first"
    assert VLScore(models="published").encoder == "limitr"


def test_the_best_reference_counts(frontal: Path) -> None:
    case = Case("1", "left effusion", ("heart clear", "left effusion", "tube"), images=(frontal,))
    assert values(VLScore(), case)[0, 0] == 1


def test_what_cannot_be_judged_has_a_reason(tmp_path: Path, frontal: Path) -> None:
    (tmp_path / "broken.png").write_bytes(frontal.read_bytes()[:40])
    (tmp_path / "text.jpg").write_text("no picture")
    good = Case("good", "left effusion", ("heart",), images=(frontal,))
    cases = {
        "no image": dataclasses.replace(good, images=()),
        "broken.png is cut off or damaged": dataclasses.replace(good, images=(tmp_path / "broken.png",)),
        "text.jpg is not an image": dataclasses.replace(good, images=(frontal, tmp_path / "text.jpg")),
        "gone.dcm is not there": dataclasses.replace(good, images=(tmp_path / "gone.dcm",)),
        "candidate has no words": dataclasses.replace(good, candidate="..."),
        "reference has no words": dataclasses.replace(good, references=("-",)),
        "nothing to embed in the candidate": dataclasses.replace(good, candidate="unheard"),
        "nothing to embed in the reference": dataclasses.replace(good, references=("unheard",)),
        "no reference": dataclasses.replace(good, references=()),
    }
    named = [dataclasses.replace(case, id=reason) for reason, case in cases.items()]
    found = score([good, *named], VLScore())["vlscore"]
    assert not np.isnan(found.headline[0])
    assert np.isnan(found.values[1:]).all()
    for reason in cases:
        assert reason in found.reasons[reason, "system"]
    lone = dataclasses.replace(good, images=(frontal, tmp_path / "text.jpg"))
    assert not np.isnan(values(VLScore(views="first"), lone)[0, 0])  # the second file is not needed


def test_an_angle_without_a_direction_is_not_judged(frontal: Path) -> None:
    case = Case("1", "x", ("heart",), images=(frontal,))
    metric = VLScore(similarity="image_cosine")

    class Origin(Counted):
        def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
            found = Counted.embed_texts(self, texts)
            found[[text == "x" for text in texts]] = 0
            return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Origin())
        found = score([case], metric)["vlscore"]
    assert np.isnan(found.headline[0])
    assert found.reasons["1", "system"] == "a report and the origin of the angle are the same point"


def test_constants(frontal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.json"
    path.write_text(_calibration("counted-1", 8.0).as_json())
    metric = VLScore(calibration=str(path))
    assert metric.scales == {"any": 8}
    assert VLScore(calibration=str(path), constant=3).scales == {"any": 3}
    assert "|c:8|" in metric.signature()
    path.write_text(_calibration("another", 8.0).as_json())
    with pytest.raises(ModelError, match="and this is counted-1; learn it anew"):
        metric.scales  # noqa: B018
    path.write_text(_calibration("counted-1", 0.0).as_json())
    with pytest.raises(ModelError, match="the constant must be above 0"):
        metric.scales  # noqa: B018
    path.write_text(_calibration("counted-1", 8.0, views="first").as_json())
    with pytest.raises(ModelError, match="views=first, and this is views=mean"):
        metric.scales  # noqa: B018
    old = {"calibration": "vlscore", "encoder": "counted-1", "constant": 2.5, "views": "mean"}
    path.write_text(json.dumps(old))
    assert metric.scales == {"any": 2.5}
    path.write_text("[]")
    with pytest.raises(ModelError, match="must be a calibration of `radgauge fit vlscore`"):
        metric.scales  # noqa: B018
    monkeypatch.setattr(
        "radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Counted(constant=None)
    )
    with pytest.raises(
        ModelError, match="nobody has measured the constant C of embedded; learn it with `radgauge fit"
    ):
        VLScore().scales  # noqa: B018
    assert not np.isnan(values(VLScore(similarity="cosine"), Case("1", "left", ("no",), images=(frontal,))))
    with pytest.raises(UsageError, match=r"constant must be 0 .* or more, got -1"):
        VLScore(constant=-1)
    with pytest.raises(UsageError, match=r"vlscore: views must be one of .*got 'all'"):
        VLScore(views="all")


def test_towers_of_different_width_are_an_error(frontal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(Counted):
        def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
            return Counted.embed_texts(self, texts)[:, 1:]

    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Odd())
    with pytest.raises(ModelError, match="got vectors of 12 and 11 numbers"):
        values(VLScore(), Case("1", "left", ("no",), images=(frontal,)))


def test_the_explanation(tmp_path: Path) -> None:
    paths = (save(tmp_path / "a.png", 40, 0), save(tmp_path / "b.png", 0, 80))
    text = "Left effusion. The heart is normal."
    case = Case("1", text, ("Heart clear.",), images=paths)
    metric = VLScore()
    explained = metric.explain(case, reading=Readings())
    notes = [note.text for note in explained.notes]
    g, r = Counted().embed_texts([text, "Heart clear."]).astype(float)
    assert any(note.startswith(f"candidate to reference: {np.linalg.norm(g - r):.4g}; 1 % more") for note in notes)
    assert any("a.png" in note and "b.png" in note and "mean of their points" in note for note in notes)
    without = values(metric, dataclasses.replace(case, candidate=" The heart is normal."))[0, 0]
    assert any(f"without it the score would be {without:.3f}" in note for note in notes)
    area = explained.notes[0].data
    assert area["area"] == pytest.approx(explained.values["vlscore_area_demo"])
    assert area["area"] == pytest.approx(0.5 * np.linalg.norm(g - r) * area["height"])
    first = VLScore(views="first").explain(case, reading=Readings())
    aside = "judged with the image a.png; 1 more of the study not used (views=first)"
    assert aside in [note.text for note in first.notes]
    nothing = metric.explain(dataclasses.replace(case, candidate="..."), reading=Readings())
    assert math.isnan(nothing.values["vlscore_demo"])
    assert nothing.notes == ()


@pytest.mark.parametrize("similarity", ["triangle", "cosine", "sphere", "image_cosine"])
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
def test_contract(tmp_path: Path, check, similarity: str) -> None:
    images = (save(tmp_path / "a.png", 40, 10), save(tmp_path / "b.png", 0, 80))
    views = "best" if similarity == "sphere" else "mean"
    check(Bench(VLScore(similarity=similarity, views=views), images))


def _calibration(encoder: str, constant: float, views: str = "mean") -> Calibration:
    return Calibration(encoder, views, {"any": constant}, {"any": 3}, 0, {})


def test_a_calibration_is_plain_json() -> None:
    found = json.loads(_calibration("e", 2.5, "first").as_json())
    assert found["constants"] == {"any": 2.5}
    assert (found["calibration"], found["views"]) == ("vlscore", "first")


@dataclass(frozen=True)
class Sided(Counted):
    """Vectors of length one; the third pixel tells the view, the fourth that something is wrong."""

    name: str = "sided-1"
    constant: float | None = None
    unit_length: bool = True
    constants: ClassVar[dict[str, float]] = {"frontal": 0.5, "lateral": 1.0, "frontal+lateral": 0.8}

    def look(self, images: Sequence[np.ndarray]) -> np.ndarray:
        vectors = Counted.embed_images(self, images)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.hstack([vectors, np.array([picture[0, 2:4] for picture in images], np.float32)])

    def seen(self, row: np.ndarray) -> Seen:
        return Seen(row[:-2], "lateral" if row[-2] else "frontal", "is upside down" if row[-1] else "")

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        vectors = Counted.embed_texts(self, texts)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def sided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Path]:
    monkeypatch.setattr("radgauge.metrics.vlscore.image_text_encoder", lambda name, **settings: Sided())
    pixels = {"frontal": (40, 0, 0, 0), "lateral": (0, 40, 1, 0), "wrong": (40, 0, 0, 1)}
    for name, each in pixels.items():
        image.fromarray(np.array([each], np.uint8)).save(tmp_path / f"{name}.png")
    return {name: tmp_path / f"{name}.png" for name in pixels}


def _unit_area(texts: tuple[str, str], point: tuple[float, float]) -> float:
    g, r = Sided().embed_texts(texts).astype(float)
    i = np.zeros_like(g)
    i[:2] = np.array(point) / np.linalg.norm(point)
    a, b = i - g, i - r
    return 0.5 * math.sqrt(a @ a * (b @ b) - (a @ b) ** 2)


def test_the_mean_of_unit_vectors_has_length_one_and_each_view_set_its_constant(sided: dict[str, Path]) -> None:
    texts = ("left effusion", "right heart")
    expected = {("frontal",): ((1, 0), 0.5), ("lateral",): ((0, 1), 1.0), ("lateral", "frontal"): ((1, 1), 0.8)}
    for views, (point, constant) in expected.items():
        case = Case("1", texts[0], (texts[1],), images=tuple(sided[name] for name in views))
        area = _unit_area(texts, point)
        assert values(VLScore(), case)[0] == pytest.approx([max(1 - area / constant, 0), area], abs=1e-6)
    assert "c:frontal=0.5,lateral=1,frontal+lateral=0.8" in VLScore().signature()
    best = Case("1", texts[0], (texts[1],), images=(sided["frontal"], sided["lateral"]))
    alone = [max(1 - _unit_area(texts, (1, 0)) / 0.5, 0), max(1 - _unit_area(texts, (0, 1)) / 1.0, 0)]
    assert values(VLScore(views="best"), best)[0, 0] == pytest.approx(max(alone), abs=1e-6)


def test_views_without_a_constant_are_not_judged(sided: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(Calibration("sided-1", "mean", {"frontal": 0.5}, {"frontal": 9}, 0, {}).as_json())
    cases = [
        Case(name, "left effusion", ("right heart",), images=(sided[name],)) for name in ("frontal", "lateral")
    ]
    found = score(cases, VLScore(calibration=str(file)))["vlscore"]
    assert np.isnan(found.headline).tolist() == [False, True]
    assert found.reasons["lateral", "system"] == "no constant is known for studies with these views (lateral)"


def test_a_picture_that_should_not_be_judged_is_not(sided: dict[str, Path]) -> None:
    good = Case("good", "left effusion", ("right heart",), images=(sided["frontal"],))
    bad = Case("bad", "left effusion", ("right heart",), images=(sided["frontal"], sided["wrong"]))
    found = score([good, bad], VLScore())["vlscore"]
    assert np.isnan(found.headline).tolist() == [False, True]
    assert found.reasons["bad", "system"] == "wrong.png is upside down"
    assert not np.isnan(values(VLScore(domain="off"), bad)).any()
    assert not np.isnan(values(VLScore(views="first"), bad)).any()  # the wrong one is not used
    assert VLScore(models="published").domain == "off"


def test_a_constant_that_unit_vectors_never_reach_is_refused(sided: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match=r"one.*1\.299.*unit=no"):
        VLScore(constant=124).scales  # noqa: B018
    assert VLScore(constant=1.2).scales == {"any": 1.2}


def test_errors_of_side_are_marked_as_seen_by_the_text_alone(sided: dict[str, Path]) -> None:
    case = Case("1", "Right pleural effusion.", ("Left pleural effusion.",), images=(sided["frontal"],))
    notes = [note.text for note in VLScore().explain(case, reading=Readings()).notes]
    assert any(note.startswith("side differs (") and "seen by the texts alone" in note for note in notes)
    same = dataclasses.replace(case, candidate="Large left pleural effusion.")
    assert not any("side differs" in note.text for note in VLScore().explain(same, reading=Readings()).notes)


def test_the_sentence_that_moves_the_score_most_is_marked(tmp_path: Path) -> None:
    text = "Left effusion effusion effusion. The tube."
    case = Case("1", text, ("Heart clear.",), images=(save(tmp_path / "a.png", 40, 0),))
    found = VLScore().explain(case, reading=Readings())
    most = [note for note in found.notes if note.data.get("moved_most")]
    gains = [abs(note.data["gain"]) for note in found.notes if "gain" in note.data]
    assert len(most) == 1
    assert abs(most[0].data["gain"]) == max(gains) > 0
