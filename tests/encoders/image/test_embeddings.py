"""VLScore from embeddings that were computed elsewhere, and from two functions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import InputError, ModelError, UsageError
from radgauge.encoders.image.image_text import image_text_encoder, register_encoder
from radgauge.metrics.vlscore import VLScore

FIXTURE = Path(__file__).parents[2] / "data" / "vlscore_embeddings.json"


def vectors(count: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As parity/vlscore/embeddings_peer.py makes them: images, references, candidates."""
    rng = np.random.default_rng(seed)
    image, reference, candidate = (rng.normal(0, 1.2, (count, width)) for _ in range(3))
    candidate[:5] = reference[:5]
    candidate[5:10] = reference[5:10] + 1e-3 * candidate[5:10]
    candidate[10:12] *= 4
    return image, reference, candidate


def save(folder: Path, image: np.ndarray, reference: np.ndarray, candidate: np.ndarray, cases: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, table in (("img_emb", image), ("gt_emb", reference), ("output_emb", candidate)):
        np.save(folder / f"{name}.npy", table)
    (folder / "cases.csv").write_text(cases)
    return folder


def case(name: str, system: str = "system") -> rg.Case:
    return rg.Case(name, "The lungs are clear.", ("No effusion.",), system)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Study 1 of two systems: right angles, areas 0.5 and 1."""
    image, reference = np.zeros((2, 3)), np.array([[1.0, 0, 0], [1, 0, 0]])
    return save(tmp_path / "e", image, reference, np.array([[0, 1.0, 0], [0, 2, 0]]), "id,system\n1,a\n1,b\n")


def test_scores_are_those_of_the_authors_package(tmp_path: Path) -> None:
    authors = json.loads(FIXTURE.read_text())
    tables = vectors(authors["cases"], authors["width"], authors["seed"])
    names = [f"s{number}" for number in range(authors["cases"])]
    folder = save(tmp_path / "e", *tables, "id\n" + "\n".join(names) + "\n")
    order = np.random.default_rng(1).permutation(len(names))  # joined by id, in whatever order
    found = rg.score(
        [case(names[at]) for at in order], [f"vlscore:embeddings={folder},constant={authors['norm']}"]
    )
    values = found["vlscore"].column("vlscore")
    assert np.abs(values - np.array(authors["scores"])[order]).max() < 1e-6
    assert np.ptp(values) > 0.5


def test_systems_are_told_apart_and_absent_cases_have_a_reason(two: Path) -> None:
    metric = VLScore(embeddings=str(two), constant=2)
    assert metric.columns == ("vlscore", "vlscore_area")
    scores = rg.score([case("1", "b"), case("1", "a"), case("2", "a")], [metric])["vlscore"]
    assert scores.column("vlscore_area")[:2].tolist() == [1.0, 0.5]
    assert scores.column("vlscore")[:2].tolist() == [0.5, 0.75]
    assert math.isnan(scores.headline[2])
    assert scores.reasons[("2", "a")] == "there is no embedding of '2', 'a', or it is not finite"
    assert "network:embeddings@" in scores.signature


def test_other_vectors_have_another_signature(two: Path) -> None:
    metric = VLScore(embeddings=str(two), constant=2)
    before = metric.signature()
    np.save(two / "img_emb.npy", np.ones((2, 3)))
    assert metric.signature() != before
    assert rg.score([case("1", "a")], [metric])["vlscore"].headline[0] != 0.75


def test_a_parquet_file(tmp_path: Path, two: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'parquet' is not installed")
    import pyarrow

    rows = {"id": ["1", "1"], "system": ["a", "b"], "image": [[0.0, 0, 0]] * 2, "reference": [[1.0, 0, 0]] * 2}
    table = pyarrow.table({**rows, "candidate": [[0.0, 1, 0], [0.0, 2, 0]]})
    parquet.write_table(table, tmp_path / "e.parquet")
    cases = [case("1", "a"), case("1", "b")]
    values = [
        rg.score(cases, [VLScore(embeddings=str(place), constant=2)])["vlscore"].values
        for place in (tmp_path / "e.parquet", two)
    ]
    assert values[0].tolist() == values[1].tolist()
    parquet.write_table(table.drop_columns(["image"]), tmp_path / "e.parquet")
    with pytest.raises(ModelError, match="must be a Parquet file with id and lists of numbers in image"):
        rg.score(cases, [VLScore(embeddings=str(tmp_path / "e.parquet"), constant=2)])


def test_what_is_refused(tmp_path: Path, two: Path) -> None:
    with pytest.raises(UsageError, match="give an encoder, or embeddings that one has made, not both"):
        VLScore(embeddings=str(two), encoder="limitr")
    with pytest.raises(ModelError, match=r"nobody has measured the constant C .*vlscore:constant=1\.5"):
        rg.score([case("1", "a")], [f"vlscore:embeddings={two}"])
    (two / "cases.csv").write_text("id\n1\n")
    with pytest.raises(ModelError, match="1 cases for 2 embeddings"):
        rg.score([case("1")], [f"vlscore:embeddings={two},constant=2"])
    (two / "cases.csv").write_text("id\n1\n1\n\n")
    with pytest.raises(InputError, match=r"the case \('1', ''\) has two embeddings"):
        rg.score([case("1")], [f"vlscore:embeddings={two},constant=2"])
    (two / "cases.csv").unlink()
    with pytest.raises(ModelError, match=r"must hold cases\.csv with the columns id and.*cannot be joined"):
        rg.score([case("1")], [f"vlscore:embeddings={two},constant=2"])
    with pytest.raises(ModelError, match=r"img_emb\.npy is not there"):
        rg.score([case("1")], [f"vlscore:embeddings={tmp_path},constant=2"])
    with pytest.raises(UsageError, match="this needs an encoder"):
        VLScore(embeddings=str(two), constant=2).image_points([case("1")], reading=rg.Readings())


def test_two_functions_are_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.encoders.image.image_text._REGISTERED", {})
    image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
    image.fromarray(np.full((2, 2), 3, dtype=np.uint8)).save(tmp_path / "a.png")
    register_encoder(
        "mine",
        version="2",
        images=lambda pictures: [[float(each.mean()), 0, 0] for each in pictures],
        texts=lambda reports: [[0, float(len(each)), float(each.count("no"))] for each in reports],
        constant=100,
    )
    shown = rg.Case("1", "abcd", ("ab no",), images=(tmp_path / "a.png",))
    scores = rg.score([shown], ["vlscore:encoder=mine"], any_language=True)["vlscore"]
    i, g, r = np.array([3.0, 0, 0]), np.array([0, 4.0, 0]), np.array([0, 5.0, 1])
    area = 0.5 * np.linalg.norm(np.cross(g - i, r - i))
    assert scores.columns == ("vlscore", "vlscore_area")
    assert scores.values[0] == pytest.approx([1 - area / 100, area])
    assert image_text_encoder("mine").name == "mine@2"
    with pytest.raises(UsageError, match="must be letters, digits, - and _, and not taken, got 'limitr'"):
        register_encoder("limitr", version="1", images=len, texts=len)
