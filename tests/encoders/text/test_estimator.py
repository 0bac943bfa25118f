"""COMET checkpoints: the authors' scores, and clear words about checkpoints that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from parity_scripts import parity_script

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.encoders.text import estimator as module
from radgauge.metrics.comet import Comet

pytestmark = pytest.mark.models
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

seeds = parity_script("comet/checkpoints")

FIXTURE = json.loads((Path(__file__).parents[1] / "data" / "comet_parity.json").read_text(encoding="utf-8"))


def checkpoint(folder: Path, variant: str, **about: object) -> Path:
    """A seeded checkpoint as radgauge writes it."""
    encoder = seeds.write_encoder(folder / "base", seeds.VARIANTS[variant]["encoder"])
    hparams = {**module.DEFAULTS, **seeds.hparams_of(variant, encoder)}
    loaded = module.build(hparams, encoder=encoder, pretrained=False, device="cpu")
    seeds.fill(loaded.network)
    module.save_estimator(folder / variant, loaded, about={"target": "radcliq", "range": [-1, 1], **about})
    return folder / variant


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("small"), "bert_softmax")


def copied(small: Path, folder: Path) -> Path:
    import shutil

    return Path(shutil.copytree(small, folder / "copy"))


@pytest.mark.parametrize("variant", seeds.VARIANTS)
def test_scores_are_those_of_unbabel_comet(tmp_path: Path, variant: str) -> None:
    metric = Comet(models=str(checkpoint(tmp_path, variant)))
    cases = [Case(str(at), mt, (src,)) for at, (src, mt) in enumerate(seeds.PAIRS)]
    found = metric.measure(cases, reading=Readings())[:, 0]
    np.testing.assert_allclose(found, FIXTURE["scores"][variant], atol=1e-5)


def test_sparsemax_is_a_projection_on_the_simplex() -> None:
    from radgauge.encoders.text.comet_network import sparsemax

    values = torch.tensor([0.3, -1.0, 0.25, 0.1])
    found = sparsemax(values)
    assert float(found.sum()) == pytest.approx(1)
    assert float(found[1]) == 0
    assert torch.allclose(sparsemax(torch.zeros(4)), torch.full((4,), 0.25))
    assert sparsemax(torch.tensor([5.0, 0.0])).tolist() == [1.0, 0.0]
    assert sparsemax(torch.full((2,), -1e20)).tolist() == [0.5, 0.5]  # all layers dropped


def test_a_saved_checkpoint_needs_no_other_folder(small: Path, tmp_path: Path) -> None:
    moved = copied(small, tmp_path)
    loaded = module.load_estimator(moved, device="cpu")
    assert loaded.max_length == seeds.POSITIONS - 4
    assert loaded.hparams["class_identifier"] == module.CLASS


def test_batches_change_nothing(small: Path) -> None:
    one, many = (module.EstimatorReader(str(small), batch_size=size) for size in (1, 64))
    texts = list(seeds.REPORTS)
    alone = np.stack([one.read([text])[0] for text in texts])
    np.testing.assert_allclose(alone, np.stack(many.read(texts)), atol=1e-5)
    assert one.signature == many.signature
    np.testing.assert_array_equal(one.unpack(one.pack(alone[0], ""), ""), alone[0])


def test_references_are_read_once_for_all_systems(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = module.EstimatorReader.read

    def counting(self: module.EstimatorReader, texts: list[str]) -> object:
        read.extend(texts)
        return real(self, texts)

    monkeypatch.setattr(module.EstimatorReader, "read", counting)
    metric, reading = Comet(models=str(small)), Readings()
    for system in ("a", "b"):
        metric.measure([Case("1", f"no effusion {system}", ("clear lungs",), system=system)], reading=reading)
    assert sorted(read) == ["clear lungs", "no effusion a", "no effusion b"]


def test_a_checkpoint_without_hparams(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path)
    (folder / "hparams.yaml").unlink()
    with pytest.raises(ModelError, match=r"has no hparams\.yaml; a COMET"):
        module.load_estimator(folder)
    with pytest.raises(ModelError, match=r"has no hparams\.yaml; a COMET"):
        Comet(models=str(folder)).signature()


def test_a_checkpoint_of_another_class(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path)
    (folder / "hparams.yaml").write_text("class_identifier: regression_metric\n", encoding="utf-8")
    with pytest.raises(ModelError, match="class_identifier"):
        module.load_estimator(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "must be plain YAML"),
        ("- 1\n", "must hold settings, got list"),
        ("class_identifier: referenceless_regression_metric\npool: min\n", "pool must be one of avg, max, cls"),
        (
            "class_identifier: referenceless_regression_metric\nactivations: Relu6\n",
            "activation must be one of tanh, .* got 'Relu6'",
        ),
        ("a: !!python/object/apply:os.getcwd []\n", "must be plain YAML"),
    ],
)
def test_settings_that_cannot_be_used(small: Path, tmp_path: Path, text: str, message: str) -> None:
    folder = copied(small, tmp_path)
    (folder / "hparams.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        module.load_estimator(folder)


def test_a_checkpoint_that_is_half_written(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path)
    weights = folder / "checkpoints" / "model.ckpt"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="must be a PyTorch checkpoint, got: a file that is damaged or not whole"):
        module.load_estimator(folder)
    weights.unlink()
    with pytest.raises(ModelError, match=r"has no checkpoints/model\.ckpt"):
        module.load_estimator(folder)


def test_a_checkpoint_that_lacks_parameters(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path)
    weights = folder / "checkpoints" / "model.ckpt"
    content = torch.load(weights, weights_only=True)
    bias = content["state_dict"].pop("estimator.ff.6.bias")
    torch.save(content, weights)
    with pytest.raises(ModelError, match=r"lacks 1 of \d+ parameters, first"):
        module.load_estimator(folder)
    content["state_dict"]["estimator.ff.6.bias"] = bias.repeat(2)
    torch.save(content, weights)
    with pytest.raises(ModelError, match=r"estimator\.ff\.6\.bias"):
        module.load_estimator(folder)
    torch.save({"weights": bias}, weights)
    with pytest.raises(ModelError, match="must hold a state_dict"):
        module.load_estimator(folder)


def test_nothing_in_a_checkpoint_is_executed(small: Path, tmp_path: Path) -> None:
    folder = copied(small, tmp_path)
    torch.save({"state_dict": {}, "hyper_parameters": Path("x")}, folder / "checkpoints" / "model.ckpt")
    with pytest.raises(ModelError, match="must hold tensors only"):
        module.load_estimator(folder)


def test_direction_comes_from_the_target(small: Path, tmp_path: Path) -> None:
    errors, overlap = Comet(models=str(small)), Comet(models=str(small), target="radgraph_f1")
    assert (errors.higher_is_better, overlap.higher_is_better) == (False, True)
    assert errors.typical_range == (-1.0, 1.0)
    assert errors.columns == ("comet",)
    (copied(small, tmp_path) / "radgauge.json").unlink()
    silent = Comet(models=str(tmp_path / "copy"))
    with pytest.raises(ModelError, match="comet:target=radcliq"):
        _ = silent.higher_is_better
    assert "typical:unknown" in Comet(models=str(tmp_path / "copy"), target="bleu2").signature()
    (tmp_path / "copy" / "radgauge.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"radgauge\.json must be JSON"):
        _ = silent.higher_is_better


def test_a_folder_of_checkpoints_may_hold_one_named_comet(small: Path, tmp_path: Path) -> None:
    copied(small, tmp_path).rename(tmp_path / "comet")
    assert "checkpoint:comet@" in Comet(models=str(tmp_path)).signature()


def test_the_contract_holds_for_a_checkpoint(small: Path) -> None:
    from radgauge.run.contract import CHECKS, Bench

    bench = Bench(Comet(models=str(small)))
    for name, check in CHECKS.items():
        if name != "a_copy_beats_an_unrelated_text":  # random weights know no better
            check(bench)


def test_a_checkpoint_that_moved_names_no_folder_of_the_old_machine(small: Path, tmp_path: Path) -> None:
    import shutil

    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(small, elsewhere)
    said = (elsewhere / "hparams.yaml").read_text(encoding="utf-8")
    assert "pretrained_model: encoder\n" in said
    assert str(small.parent) not in said
    content = torch.load(elsewhere / "checkpoints" / "model.ckpt", weights_only=True)
    assert content["hyper_parameters"]["pretrained_model"] == "encoder"
    cases = [Case("1", "Clear.", ("No effusion.",))]
    before, after = (Comet(models=str(each)).measure(cases, reading=Readings()) for each in (small, elsewhere))
    np.testing.assert_array_equal(before, after)


def test_an_encoder_of_the_hub_is_named_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = tmp_path / "hub" / "models--emilyalsentzer--Bio_ClinicalBERT" / "snapshots" / "abc"
    cached.mkdir(parents=True)
    assert module.portable_name(str(cached)) == "emilyalsentzer/Bio_ClinicalBERT"
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path))
    own = tmp_path / "Bio_ClinicalBERT"
    own.mkdir()
    (own / "config.json").write_text("{}", encoding="utf-8")
    assert module.portable_name(str(own)) == "emilyalsentzer/Bio_ClinicalBERT"
    assert module.portable_name("some/where") == "some/where"
