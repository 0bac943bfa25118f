"""LIMITR gives what the authors' package gives on a seeded checkpoint."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ModelError, UsageError
from radgauge.encoders.image.limitr import Limitr, clean_report, squared
from radgauge.images import grey

pytest.importorskip("PIL", reason="the extra 'image' is not installed")
pytestmark = pytest.mark.models

FIXTURES = Path(__file__).parents[2] / "data" / "parity" / "vlscore"


@pytest.fixture(scope="module")
def authors() -> dict:
    return json.loads((FIXTURES / "fixture.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def checkpoint(seeded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeded.limitr(tmp_path_factory.mktemp("limitr"))


@pytest.fixture(scope="module")
def pictures(seeded, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return {path.name: grey(path) for path in seeded.pictures(tmp_path_factory.mktemp("pictures"))}


def test_texts_are_where_the_authors_put_them(checkpoint: Path, authors: dict) -> None:
    found = Limitr(str(checkpoint)).embed_texts(list(authors["texts"]))
    assert np.abs(found - np.array(list(authors["texts"].values()))).max() < 1e-5


def test_images_are_where_the_authors_put_them(
    checkpoint: Path, authors: dict, pictures: dict[str, np.ndarray]
) -> None:
    found = Limitr(str(checkpoint)).embed_images([pictures[name] for name in authors["images"]])
    assert np.abs(found - np.array(list(authors["images"].values()))).max() < 1e-5


def test_scores_are_the_authors(
    checkpoint: Path, authors: dict, seeded, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from radgauge.core.cases import Case
    from radgauge.metrics.vlscore import VLScore
    from radgauge.run.score import score

    places = {path.name: path for path in seeded.pictures(tmp_path_factory.mktemp("drawn"))}
    triples = zip(authors["files"], authors["candidates"], authors["references"], strict=True)
    cases = [Case(str(at), g, (r,), images=(places[name],)) for at, (name, g, r) in enumerate(triples)]
    metric = VLScore(encoder=str(checkpoint), constant=authors["norm"])
    found = score(cases, metric)["vlscore"].headline
    assert np.ptp(found) > 0.3
    assert np.abs(found - np.array(authors["scores"])).max() < 1e-5


def test_a_folder_holds_the_checkpoint(checkpoint: Path, tmp_path: Path) -> None:
    whole, inside = Limitr(str(checkpoint)), Limitr(str(checkpoint.parent))
    assert whole.name == inside.name
    assert whole.name.startswith("limitr@")
    assert whole.constant == 890
    assert Limitr(str(checkpoint), resize="area").name == whole.name.replace("resize:pil", "resize:area")


def test_the_two_ways_to_shrink_differ_a_little(checkpoint: Path, pictures: dict[str, np.ndarray]) -> None:
    one, other = (
        Limitr(str(checkpoint), resize=way).embed_images([pictures["drawn2.png"]]) for way in ("pil", "area")
    )
    assert 0 < np.abs(one - other).max() < 0.1 * np.abs(one).max()


def test_batches_do_not_matter_and_a_wordless_text_has_no_vector(checkpoint: Path, authors: dict) -> None:
    encoder, texts = Limitr(str(checkpoint)), [*list(authors["texts"])[:6], "…", "."]
    together = encoder.embed_texts(texts)
    alone = np.vstack([encoder.embed_texts([text]) for text in texts])
    assert np.isnan(together[-2:]).all()
    assert np.allclose(together[:-2], alone[:-2], atol=1e-5)
    assert np.isnan(encoder.embed_texts(["."])).all()


def test_long_reports_are_known_to_be_cut(checkpoint: Path) -> None:
    assert Limitr(str(checkpoint)).overlong(["effusion " * 200, "effusion", "..."]) == [True, False, False]


def test_laterals_go_through_a_network_of_their_own(
    checkpoint: Path, seeded, tmp_path: Path, pictures: dict[str, np.ndarray]
) -> None:
    import torch

    from radgauge.core.readings import Readings
    from radgauge.encoders.image.image_text import study_vectors

    assert Limitr(str(checkpoint)).side_view is None
    content, path = torch.load(checkpoint, weights_only=True), tmp_path / "both.ckpt"
    state = content["state_dict"]
    state |= {key.replace("encoder_f", "encoder_l"): value for key, value in state.items() if "encoder_f" in key}
    state["limitr.img_encoder_l.global_embedder.bias"] = state["limitr.img_encoder_f.global_embedder.bias"] + 1
    torch.save(content, path)
    shutil.copytree(checkpoint.parent / "Bio_ClinicalBERT", tmp_path / "Bio_ClinicalBERT")
    files = seeded.pictures(tmp_path / "pictures")[:2]
    encoder = Limitr(str(path))
    assert encoder.side_view.name == encoder.name + "+lateral"
    found = study_vectors([files, files[1:], []], encoder, reading=Readings())
    expected = Limitr(str(checkpoint)).embed_images([pictures[file.name] for file in files])
    assert [len(each) for each in found] == [2, 1, 0]
    assert np.allclose([each.vector for each in found[0]], expected + np.array([[0], [1]]), atol=1e-5)
    assert np.allclose([each.vector for each in found[1]], expected[1:], atol=1e-5)


def test_gloria_is_read_by_the_same_network(tmp_path: Path, authors: dict, checkpoint: Path) -> None:
    import torch

    content, path = torch.load(checkpoint, weights_only=True), tmp_path / "gloria.ckpt"
    names = {
        k: k.replace("limitr.", "gloria.").replace("img_encoder_f", "img_encoder") for k in content["state_dict"]
    }
    content["state_dict"] = {names[key]: value for key, value in content["state_dict"].items()}
    torch.save(content, path)
    shutil.copytree(checkpoint.parent / "Bio_ClinicalBERT", tmp_path / "Bio_ClinicalBERT")
    encoder, texts = Limitr(str(path)), list(authors["texts"])[:3]
    assert encoder.name.startswith("gloria@")
    assert encoder.constant == 1155
    assert np.allclose(encoder.embed_texts(texts), Limitr(str(checkpoint)).embed_texts(texts))


def test_a_checkpoint_of_another_shape_says_what_differs(checkpoint: Path, tmp_path: Path) -> None:
    import torch

    content = torch.load(checkpoint, weights_only=True)
    state = content["state_dict"]
    state["limitr.img_encoder_f.model.layer5.conv1.weight"] = torch.zeros(2)
    del state["limitr.img_encoder_f.global_embedder.bias"]
    state["limitr.img_encoder_f.model.bn1.weight"] = torch.zeros(3)
    path = tmp_path / "other.ckpt"
    torch.save(content, path)
    shutil.copytree(checkpoint.parent / "Bio_ClinicalBERT", tmp_path / "Bio_ClinicalBERT")
    with pytest.raises(ModelError, match=r"1 missing: .*global_embedder.bias; 1"):
        Limitr(str(path)).embed_texts(["clear"])
    content["hyper_parameters"]["model"]["vision"]["model_name"] = "densenet_121"
    torch.save(content, tmp_path / "dense.ckpt")
    with pytest.raises(ModelError, match="'densenet_121'; only resnet_50"):
        Limitr(str(tmp_path / "dense.ckpt")).embed_texts(["clear"])
    torch.save({"state_dict": {"encoder.weight": torch.zeros(2)}}, tmp_path / "strange.ckpt")
    with pytest.raises(ModelError, match=r"must be a checkpoint of LIMITR or GLoRIA"):
        Limitr(str(tmp_path / "strange.ckpt")).constant  # noqa: B018


def test_without_the_checkpoint_it_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="radgauge models fetch limitr"):
        Limitr().name  # noqa: B018
    with pytest.raises(ModelError, match=r"must hold epoch=8-step=44963\.ckpt"):
        Limitr(str(tmp_path)).name  # noqa: B018
    with pytest.raises(UsageError, match="resize must be one of pil, area"):
        Limitr(resize="cv2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Heart size\nis normal. No effusion!", "heart size is normal no effusion"),
        ("1. Clear. 2. Normal", "clear normal"),
        ("2.5 cm nodule", "5 cm nodule"),  # as LIMITR reads it: 2. is taken for numbering
        ("café – naïve", "caf nave"),
        ("...", ""),
    ],
)
def test_cleaning(text: str, expected: str) -> None:
    assert clean_report(text) == expected


def test_pictures_are_put_into_a_black_square() -> None:
    tall = squared(np.full((100, 51), 200, np.uint8), 20, resize="pil")
    assert tall.shape == (20, 20)
    assert tall[0].tolist() == [0] * 5 + [200] * 10 + [0] * 5
    wide = squared(np.full((3, 400), 200, np.uint8), 20, resize="area")
    assert wide.sum(axis=1).tolist() == [0] * 9 + [4000] + [0] * 10


def test_indiana_scores_are_the_authors(checkpoint: Path, shared_data: Path, tmp_path: Path) -> None:
    from radgauge.core.cases import Case
    from radgauge.metrics.vlscore import VLScore
    from radgauge.run.score import score

    expected = json.loads((FIXTURES / "indiana.json").read_text(encoding="utf-8"))
    listing = json.loads((shared_data / "iu_xray" / "r2gen_annotation.json").read_text(encoding="utf-8"))
    reports = {study["id"]: study["report"] for split in listing.values() for study in split}
    with zipfile.ZipFile(shared_data / "iu_xray" / "images_train_val.zip") as archive:
        images = [Path(archive.extract(f"{study}/0.jpg", tmp_path)) for study in expected["ids"]]
    others = [*expected["ids"][1:], expected["ids"][0]]
    cases = [
        Case(study, reports[other], (reports[study],), images=(image,))
        for study, other, image in zip(expected["ids"], others, images, strict=True)
    ]
    metric = VLScore(encoder=str(checkpoint), constant=expected["norm"])
    assert metric.columns[0] == "vlscore"
    found = score(cases, metric)["vlscore"].headline
    assert np.abs(found - np.array(expected["scores"])).max() < 1e-5
