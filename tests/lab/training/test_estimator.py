"""Training: a tiny transformer and the sketch head learn, stop, resume and are reproducible."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parity_scripts import parity_script

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, ModelError, RadgaugeError, UsageError
from radgauge.core.readings import Readings
from radgauge.encoders.text.embedded_estimator import load_embedded
from radgauge.encoders.text.report_sketch import CLAIMS, WORDS_AND_GRAPH
from radgauge.lab.training.estimator import train_estimator
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import PairTable, read_pairs, write_pairs
from radgauge.lab.training.pairs import build_pairs
from radgauge.metrics.comet import Comet
from radgauge.run.score import score

pytestmark = pytest.mark.models
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

seeds = parity_script("comet/checkpoints")


@pytest.fixture(scope="module")
def folder(chosen, clusters, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pairs")
    corpus = build_pairs(chosen.reports, clusters, share=0.6, split="report")
    write_pairs(place, corpus, chosen=chosen, clusters=clusters, about={})
    return place


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small only lose by more threads."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


def some(table: PairTable, number: int) -> PairTable:
    chosen = np.random.default_rng(0).permutation(len(table))[:number]
    return replace(
        table,
        reference=table.reference[chosen],
        candidate=table.candidate[chosen],
        target=table.target[chosen],
        ids=tuple(table.ids[at] for at in chosen),
    )


@pytest.fixture(scope="module")
def tables(folder: Path) -> tuple[PairTable, PairTable]:
    return some(read_pairs(folder / "train.csv"), 128), some(read_pairs(folder / "val.csv"), 64)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT with weights, as one gets it from a hub."""
    import transformers

    place = seeds.write_encoder(tmp_path_factory.mktemp("encoder") / "bert", "bert")
    model = transformers.BertModel(transformers.BertConfig.from_pretrained(place), add_pooling_layer=False)
    seeds.fill(model)
    model.save_pretrained(place)
    return place


def tiny(encoder: Path, **changes: object) -> EstimatorSettings:
    return replace(
        EstimatorSettings(
            encoder=str(encoder),
            epochs=2,
            learning_rate=3e-3,
            encoder_learning_rate=1e-4,
            hidden_sizes=(16, 8),
            device="cpu",
            dropout=0.1,
        ),
        **changes,
    )


def test_a_transformer_learns_and_scores(encoder: Path, tmp_path: Path) -> None:
    """It learns to tell copies from other texts, which needs no words that it has not met."""
    rng = np.random.default_rng(0)
    words = [
        "no",
        "pleural",
        "effusion",
        "small",
        "left",
        "right",
        "heart",
        "enlarged",
        "lungs",
        "clear",
        "pneumothorax",
    ]
    texts = tuple(" ".join(rng.choice(words, 6)) for _ in range(24))
    reference = rng.integers(0, len(texts), 128)
    candidate = np.where(rng.random(128) < 0.5, reference, rng.integers(0, len(texts), 128))
    different = (reference != candidate).astype(np.float32)
    pairs = PairTable(texts, reference, candidate, different, (("", ""),) * 128)

    lines: list[str] = []
    settings = tiny(encoder, epochs=6, batch_size=8, accumulate=1, learning_rate=1e-2, encoder_learning_rate=1e-3)
    trained = train_estimator(pairs, pairs, folder=tmp_path, settings=settings, tell=lines.append)
    assert trained.best.val_pearson > 0.6
    assert trained.epochs[-1].train_loss < trained.epochs[0].train_loss
    assert lines[0].startswith("epoch 1: loss")
    with (tmp_path / "log.csv").open(encoding="utf-8") as stream:
        logged = list(csv.DictReader(stream))
    assert [float(row["val_kendall"]) for row in logged] == [epoch.val_kendall for epoch in trained.epochs]
    about = json.loads((tmp_path / "radgauge.json").read_text(encoding="utf-8"))
    assert (about["target"], about["higher_is_better"]) == ("radcliq", False)
    assert about["validation"]["epoch"] == trained.best.epoch

    cases = [
        Case(str(at), texts[of], (texts[to],))
        for at, (of, to) in enumerate(zip(candidate, reference, strict=True))
    ]
    values = Comet(models=str(tmp_path)).measure(cases, reading=Readings())[:, 0]
    assert np.corrcoef(values, different)[0, 1] == pytest.approx(trained.best.val_pearson, abs=0.01)


def test_the_encoder_stays_frozen_at_first_and_its_embeddings_throughout(tables, encoder: Path, tmp_path) -> None:
    from radgauge.lab.training.learners import TransformerLearner

    settings = tiny(encoder, epochs=1)
    learner = TransformerLearner(settings, tables[0].texts, tables[1].texts)
    before = {name: value.clone() for name, value in learner.module.state_dict().items()}
    train_estimator(*tables, folder=tmp_path, settings=settings)
    after = torch.load(tmp_path / "checkpoints" / "model.ckpt", weights_only=True)["state_dict"]
    same = {name for name in before if torch.equal(before[name], after[name])}
    assert all(
        name.startswith("encoder.model.embeddings") for name in same & {n for n in before if "encoder" in n}
    )
    assert "encoder.model.embeddings.word_embeddings.weight" in same
    assert "encoder.model.encoder.layer.0.output.dense.weight" not in same
    learner.freeze(True)
    assert not any(parameter.requires_grad for parameter in learner.module.encoder.parameters())
    assert all(parameter.requires_grad for parameter in learner.module.estimator.parameters())


def test_learning_rates_fall_from_layer_to_layer(tables, encoder: Path) -> None:
    from radgauge.lab.training.learners import TransformerLearner

    learner = TransformerLearner(tiny(encoder), tables[0].texts, tables[1].texts)
    rates = [group["lr"] for group in learner.parameter_groups()]
    assert rates == pytest.approx([1e-4, 1e-4 * 0.95, 1e-4 * 0.95**3, 3e-3, 3e-3])


class Killed(Exception):
    """Stands for kill -9."""


@pytest.mark.parametrize("kind", ["transformer", "sketch"])
def test_an_interrupted_run_ends_with_the_same_weights(tables, encoder: Path, tmp_path, kind, monkeypatch) -> None:
    from radgauge.lab.training import estimator as module

    settings = (
        tiny(encoder, save_every=3, batch_size=16)
        if kind == "transformer"
        else EstimatorSettings.for_embedded(epochs=2, save_every=3, batch_size=16, device="cpu", accumulate=2)
    )
    train_estimator(*tables, folder=tmp_path / "whole", settings=settings)

    real, calls = module._Trainer._step, []

    def dying(self, chosen, *, last: bool) -> float:
        calls.append(1)
        if len(calls) in (5, 12):
            raise Killed
        return real(self, chosen, last=last)

    monkeypatch.setattr(module._Trainer, "_step", dying)
    for _ in range(2):
        with pytest.raises(Killed):
            train_estimator(*tables, folder=tmp_path / "parts", settings=settings)
    resumed = train_estimator(*tables, folder=tmp_path / "parts", settings=settings)
    whole, parts = (torch.load(tmp_path / name / "state.ckpt", weights_only=True) for name in ("whole", "parts"))
    for name, value in whole["module"].items():
        assert torch.equal(value, parts["module"][name]), name
    assert [epoch.val_kendall for epoch in resumed.epochs] == [
        each["val_kendall"] for each in whole["run"]["epochs"]
    ]


@pytest.mark.parametrize("kind", ["DistilBert", "Electra", "Albert", "ModernBert"])
def test_encoders_of_other_architectures_learn(tables, encoder: Path, tmp_path: Path, kind: str) -> None:
    import shutil

    import transformers

    size = {"vocab_size": len(transformers.AutoTokenizer.from_pretrained(encoder)), "pad_token_id": 0}
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    more = {"embedding_size": 8} if kind in ("Electra", "Albert") else {}
    if kind == "DistilBert":
        sizes = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
    if kind == "ModernBert":
        more = {"cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}
    config = getattr(transformers, f"{kind}Config")(**size, **sizes, **more, max_position_embeddings=64)
    place = tmp_path / "encoder"
    shutil.copytree(encoder, place, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, f"{kind}Model")(config).save_pretrained(place)
    trained = train_estimator(
        *(some(table, 24) for table in tables), folder=tmp_path / "out", settings=tiny(place, epochs=1)
    )
    assert np.isfinite(trained.best.train_loss)
    case = Case("1", "No effusion.", ("Small effusion.",))
    assert np.isfinite(Comet(models=str(tmp_path / "out")).measure([case], reading=Readings())).all()


def test_encoders_that_cannot_be_used_are_named(tables, encoder: Path, tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    copy = Path(shutil.copytree(encoder, tmp_path / "copy"))
    weights = load_file(copy / "model.safetensors")
    lost = "encoder.layer.1.output.dense.bias"
    save_file({name: value for name, value in weights.items() if name != lost}, copy / "model.safetensors")
    with pytest.raises(ModelError, match=rf"copy.*{lost}"):
        train_estimator(*tables, folder=tmp_path / "out", settings=tiny(copy))
    (copy / "model.safetensors").write_bytes((encoder / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(ModelError, match="copy' must hold a transformers model, got: "):
        train_estimator(*tables, folder=tmp_path / "out", settings=tiny(copy))


def test_a_finished_run_goes_on_for_more_epochs(tables, tmp_path: Path) -> None:
    settings = EstimatorSettings.for_embedded(epochs=1, device="cpu")
    train_estimator(*tables, folder=tmp_path / "parts", settings=settings)
    lines: list[str] = []
    longer = replace(settings, epochs=3, save_every=1)
    train_estimator(*tables, folder=tmp_path / "parts", settings=longer, tell=lines.append)
    assert lines[0] == "going on after epoch 1"
    train_estimator(*tables, folder=tmp_path / "whole", settings=replace(settings, epochs=3))
    files = [(tmp_path / name / "comet_embedded.npz").open("rb") for name in ("parts", "whole")]
    with files[0], files[1], np.load(files[0]) as parts, np.load(files[1]) as whole:
        assert all(np.array_equal(parts[name], whole[name]) for name in whole.files if name != "meta")


def test_a_state_that_is_damaged_is_named(tables, tmp_path: Path) -> None:
    settings = EstimatorSettings.for_embedded(epochs=1, device="cpu")
    train_estimator(*tables, folder=tmp_path, settings=settings)
    (tmp_path / "state.ckpt").write_bytes(b"PK half")
    with pytest.raises(ModelError, match=r"state\.ckpt"):
        train_estimator(*tables, folder=tmp_path, settings=settings)


def test_a_folder_with_another_run_is_left_alone(tables, tmp_path: Path) -> None:
    settings = EstimatorSettings.for_embedded(epochs=1, device="cpu")
    train_estimator(*tables, folder=tmp_path, settings=settings)
    with pytest.raises(UsageError, match="holds a training with other settings or other pairs"):
        train_estimator(*tables, folder=tmp_path, settings=replace(settings, seed=1))


def test_training_stops_early_and_leaves_the_random_state_alone(tables, tmp_path: Path) -> None:
    before = torch.get_rng_state()
    settings = EstimatorSettings.for_embedded(epochs=40, patience=1, learning_rate=0.05, device="cpu")
    trained = train_estimator(*tables, folder=tmp_path, settings=settings)
    assert trained.epochs[-1].epoch - trained.best.epoch == 1 or len(trained.epochs) == 40
    assert len(trained.epochs) < 40
    assert torch.equal(torch.get_rng_state(), before)


def test_a_target_where_higher_is_better(folder: Path, tmp_path: Path) -> None:
    tables = [read_pairs(folder / f"{name}.csv", target="radgraph_f1") for name in ("train", "val")]
    settings = EstimatorSettings.for_embedded(target="radgraph_f1", epochs=3, device="cpu")
    trained = train_estimator(*tables, folder=tmp_path, settings=settings)
    assert trained.best.val_kendall > 0.3
    assert Comet(models=str(tmp_path / "comet_embedded.npz")).higher_is_better is True


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_column_of_ones_own_is_learned_with_its_direction(folder: Path, tmp_path: Path, direction: str) -> None:
    reports = {row["id"]: row["text"] for row in rows(folder / "reports.csv")}
    tables = []
    for name in ("train", "val"):
        file = tmp_path / f"{name}.csv"
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(["reference", "candidate", "annoyance"])
            for row in rows(folder / f"{name}.csv"):
                texts = reports[row["reference_id"]], reports[row["candidate_id"]]
                writer.writerow([*texts, 10 - 2 * float(row["radgraph_f1"])])
        tables.append(read_pairs(file, target="annoyance"))
    assert tables[0].target.max() <= 10
    settings = EstimatorSettings.for_embedded(target="annoyance", direction=direction, epochs=1, device="cpu")
    train_estimator(*tables, folder=tmp_path / "run", settings=settings)
    learned = Comet(models=str(tmp_path / "run" / "comet_embedded.npz"))
    assert learned.higher_is_better is (direction == "higher")
    assert learned.parts()["predicts"] == "annoyance"


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_diverging_run_stops_with_advice(tables, tmp_path: Path) -> None:
    settings = EstimatorSettings.for_embedded(learning_rate=float("inf"), batch_size=16, device="cpu")
    with pytest.raises(RadgaugeError, match=r"the loss is (nan|inf) in epoch 1, step \d+"):
        train_estimator(*tables, folder=tmp_path, settings=settings)


def test_impossible_settings_and_tables_are_refused(tables, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="epochs must be 1 or more, got 0"):
        EstimatorSettings(epochs=0)
    with pytest.raises(UsageError, match="hidden_sizes must name at least one layer"):
        EstimatorSettings(hidden_sizes=())
    with pytest.raises(UsageError, match="of 'rating' say direction='higher' or 'lower'"):
        EstimatorSettings(target="rating")
    with pytest.raises(UsageError, match="of radcliq, lower is better"):
        EstimatorSettings(target="radcliq", direction="higher")
    with pytest.raises(UsageError, match="target must be the name of a column"):
        EstimatorSettings(target="a b", direction="higher")
    flat = replace(tables[1], target=np.zeros_like(tables[1].target))
    with pytest.raises(InputError, match="at least two pairs with different targets"):
        train_estimator(tables[0], flat, folder=tmp_path)


@pytest.mark.parametrize("target", ["rating", "errors_quality", "radcliq"])
def test_features_do_not_depend_on_the_name_of_the_target(
    tables, folder: Path, tmp_path: Path, target: str
) -> None:
    settings = EstimatorSettings.for_embedded(
        target=target, direction="lower" if target == "radcliq" else "higher", epochs=1, device="cpu"
    )
    own = [replace(table, computed=False) for table in tables]
    train_estimator(*own, folder=tmp_path / "own", settings=settings)
    assert load_embedded(tmp_path / "own" / "comet_embedded.npz").sketch.sizes == CLAIMS
    if target == "radcliq":  # as `train pairs` computed it, and as the option asks for
        assert tables[0].computed
        for name, features, sizes in (("pairs", "auto", WORDS_AND_GRAPH), ("claims", "claims", CLAIMS)):
            train_estimator(*tables, folder=tmp_path / name, settings=replace(settings, features=features))
            assert load_embedded(tmp_path / name / "comet_embedded.npz").sketch.sizes == sizes


def test_a_training_that_starts_from_the_shipped_head_orders_pairs_like_it(tables, tmp_path: Path) -> None:
    shipped = Comet()
    validation = tables[1]
    cases = [
        Case(str(at), validation.texts[c], (validation.texts[r],))
        for at, (r, c) in enumerate(zip(validation.reference, validation.candidate, strict=True))
    ]
    (judged,) = score(cases, [shipped]).judges.values()
    scores = judged.headline
    kept = np.isfinite(scores)
    table = some(replace(validation, target=np.where(kept, 3 - 2 * scores, 0).astype(np.float32)), 64)
    start = {"epochs": 1, "device": "cpu", "target": "rating", "direction": "lower", "learning_rate": 1e-9}
    taus = {
        name: train_estimator(
            table,
            table,
            folder=tmp_path / name,
            settings=EstimatorSettings.for_embedded(**start, start=name, features="claims"),
        ).best.val_kendall
        for name in ("shipped", "random")
    }
    assert taus["shipped"] > 0.8
    assert abs(taus["random"]) < taus["shipped"] - 0.3


def test_features_and_a_shipped_start_are_of_the_embedded_encoder() -> None:
    with pytest.raises(UsageError, match="features and start are of the encoder 'embedded'"):
        EstimatorSettings(encoder="my/bert", features="claims")
    with pytest.raises(UsageError, match="start=shipped is for one target"):
        EstimatorSettings(start="shipped", hidden_sizes=(8,))
