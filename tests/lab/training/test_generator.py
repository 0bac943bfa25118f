"""Training of a report generator on drawn pictures: what is learned, what is left out, and going on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL", reason="needs the extra image")
pytest.importorskip("threadpoolctl", reason="needs the extra image")
pytest.importorskip("safetensors", reason="needs the extra models")
pytest.importorskip("torch", reason="needs the extra models")

import torch
from generator_studies import TEXTS, draw_studies, read_table, write_table

from radgauge.core.errors import InputError, ModelError, UsageError
from radgauge.encoders.image.decoder_size import DecoderSize
from radgauge.encoders.image.report_decoder import ReportDecoder
from radgauge.encoders.image.report_words import fit_words, load_words, save_words
from radgauge.encoders.image.study_numbers import study_numbers
from radgauge.encoders.text.report_tokens import UNKNOWN, Vocabulary, joined_tokens, report_tokens
from radgauge.lab.training.generator import train_generator
from radgauge.lab.training.generator_data import GeneratorData, lay_share, lay_texts, read_generator_data
from radgauge.lab.training.generator_files import CARD, NETWORK, REPORTS, load_generator, load_network
from radgauge.lab.training.generator_settings import GeneratorSettings

pytestmark = pytest.mark.models

SMALL = GeneratorSettings(
    width=16, layers=1, heads=2, narrow=8, least=1, epochs=3, batch_size=4, warm=4, longest=40
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_studies(tmp_path_factory.mktemp("generator"))


def _data(folder: Path, **changes: object) -> GeneratorData:
    given: dict[str, object] = {"split": "train", "validation": 0.2, "domain": "off", "cache": folder / "cache"}
    return read_generator_data(folder / "studies.jsonl", folder / "images", **{**given, **changes})  # type: ignore[arg-type]


def _copy(drawn: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn, tmp_path / "copy"))


def test_studies_are_split_and_nothing_is_lost(drawn: Path) -> None:
    data = _data(drawn)
    assert (len(data.train), len(data.validation), dict(data.left_out)) == (14, 4, {})
    assert not set(data.train.ids) & set(data.validation.ids)
    assert not [name for name in (*data.train.ids, *data.validation.ids) if int(name[1:]) >= 18]
    named = _data(drawn, validation="test")
    assert named.validation.ids == tuple(f"s{number}" for number in range(18, 24))
    assert len(named.train) == 18


def test_a_smaller_size_is_part_of_a_larger(drawn: Path) -> None:
    small, large = _data(drawn, size=8), _data(drawn, size=12)
    assert len(small.train) == 8
    assert set(small.train.ids) < set(large.train.ids)
    assert small.validation.ids == large.validation.ids
    with pytest.raises(UsageError, match="got 99 of 14"):
        _data(drawn, size=99)


def test_patients_and_pictures_of_validation_are_not_learned_from(drawn: Path, tmp_path: Path) -> None:
    folder = _copy(drawn, tmp_path)
    records = read_table(folder / "studies.jsonl")
    records[0]["patient"] = "p18"  # s18 is in the split test
    shutil.copy(folder / "images" / "19.png", folder / "images" / "same.png")
    records[1]["images"] = ["same.png"]
    write_table(folder / "studies.jsonl", records)
    data = _data(folder, validation="test")
    assert dict(data.left_out) == {
        "a patient of the validation studies": 1,
        "a picture of the validation studies": 1,
    }
    assert not {"s0", "s1"} & set(data.train.ids)
    assert len(data.train) == 16


def test_patients_are_drawn_whole(drawn: Path, tmp_path: Path) -> None:
    folder = _copy(drawn, tmp_path)
    records = read_table(folder / "studies.jsonl")
    for number, record in enumerate(records):
        record["patient"] = f"p{number // 3}"
    write_table(folder / "studies.jsonl", records)
    data = _data(folder)
    watched = {int(name[1:]) // 3 for name in data.validation.ids}
    assert not watched & {int(name[1:]) // 3 for name in data.train.ids}
    assert dict(data.left_out) == {}


def test_studies_that_cannot_be_used_are_counted(drawn: Path, tmp_path: Path) -> None:
    folder = _copy(drawn, tmp_path)
    records = read_table(folder / "studies.jsonl")
    records[0]["images"], records[1]["images"], records[2]["findings"] = ["gone.png"], [], " "
    (folder / "images" / "3.png").write_bytes(b"no picture")
    write_table(folder / "studies.jsonl", records)
    assert dict(_data(folder).left_out) == {
        "no report": 1,
        "a picture that is not there": 1,
        "no picture named": 1,
        "a picture that cannot be used": 1,
    }
    for record in records:
        record["images"] = ["gone.png"]
    write_table(folder / "studies.jsonl", records)
    with pytest.raises(InputError, match=r"needs 8 studies or more .* got 0 and 0"):
        _data(folder)


def test_wrong_shares_and_splits_are_refused(drawn: Path) -> None:
    with pytest.raises(UsageError, match="the share for validation must lie between 0"):
        _data(drawn, validation=1.5)
    with pytest.raises(UsageError, match="must be different splits, got 'train' for both"):
        _data(drawn, validation="train")


def test_lay_reports_are_written_by_the_embedded_writer(drawn: Path) -> None:
    lay = _data(drawn, register="lay")
    assert any("fluid" in text for text in lay.train.texts)
    assert not any("fluid" in text for text in _data(drawn).train.texts)
    assert 0 < lay.lay_sentences[0] <= lay.lay_sentences[1]
    assert _data(drawn).lay_sentences == (0, 0)


def test_a_sentence_that_the_writer_keeps_stands_in_a_lay_report_and_is_counted() -> None:
    texts = ["No pneumothorax. The quixotic catheter sits near the cardiac apex.", "No pneumothorax."]
    plain = "There is no air leak around your lungs."
    assert lay_texts(texts) == [f"{plain} The quixotic catheter sits near the cardiac apex.", plain]
    assert lay_share(texts) == (2, 3)


def test_pictures_are_kept_by_what_they_hold(drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [(drawn / "images" / "0.png",), (drawn / "images" / "0.png", drawn / "images" / "1.png"), ()]
    cache = tmp_path / "cache"
    first = study_numbers(paths, cache=cache, domain="off")
    assert first.reasons == ("", "", "no picture is named")
    assert not first.rows[2].any()
    monkeypatch.setattr("radgauge.encoders.image.study_numbers.picture_numbers", None)  # nothing is computed again
    again = study_numbers(paths, cache=cache, domain="off")
    np.testing.assert_array_equal(first.rows, again.rows)
    checked = study_numbers(paths, cache=cache)
    assert checked.reasons[0] == "the picture 0.png does not look like a chest radiograph"


def test_a_damaged_cache_is_made_again(drawn: Path, tmp_path: Path) -> None:
    paths, cache = [(drawn / "images" / "0.png",)], tmp_path / "cache"
    first = study_numbers(paths, cache=cache, domain="off")
    for file in cache.iterdir():
        file.write_bytes(b"PK damaged")
    np.testing.assert_array_equal(first.rows, study_numbers(paths, cache=cache, domain="off").rows)


def test_words_of_a_study_left_out_are_those_of_a_regression_without_it() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(24, 5)).astype(np.float32)
    texts = ["left effusion." if row[0] > 0 else "lungs clear." for row in rows]
    model = fit_words(rows, texts)
    assert set(model.words) == {"left", "effusion", "lungs", "clear"}
    assert model.strength.min() > 0.5
    said = model.predicted(rows)[:, model.words.index("left")]
    assert ((said > 0) == (rows[:, 0] > 0)).mean() > 0.9
    order, cosines = model.nearest(rows[:3], max_items=5)
    assert order.shape == (3, 5)
    assert (np.diff(cosines, axis=1) <= 1e-6).all()
    # the prediction for a study must not lean on its own report: turn it round and nothing of it follows
    turned = ["lungs clear." if texts[0].startswith("left") else "left effusion.", *texts[1:]]
    own = model.training[0, model.words.index("left")]
    assert np.sign(own) == np.sign(fit_words(rows, turned).training[0, model.words.index("left")])


def test_words_survive_the_disk(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    model = fit_words(rows, ["left effusion."] * 4 + ["lungs clear."] * 5)
    save_words(tmp_path / "words.npz", model)
    found = load_words(tmp_path / "words.npz")
    assert (found.words, found.ridges) == (model.words, model.ridges)
    np.testing.assert_array_equal(found.training, model.training)
    (tmp_path / "words.npz").write_bytes(b"PK")
    with pytest.raises(ModelError, match=r"words.npz must be the words of a generator"):
        load_words(tmp_path / "words.npz")
    with pytest.raises(InputError, match="must learn from 8 studies or more, got 3"):
        fit_words(rows[:3], ["a"] * 3)
    with pytest.raises(InputError, match="must share words: of 9 reports no word is in 2"):
        fit_words(rows, ["same."] * 9)


def test_tokens_and_back() -> None:
    for text in TEXTS.values():
        assert joined_tokens(report_tokens(text)) == text
    known = Vocabulary.of(["The XXXX is clear.", "The lung is clear."], min_count=1)
    assert "xxxx" not in known.tokens
    assert UNKNOWN in known.numbers("The XXXX is clear.", max_length=20).tolist()
    assert len(known.numbers("clear " * 50, max_length=10)) == 9  # cut, and without an end


def test_writing_word_by_word_is_reading_at_once() -> None:
    torch.manual_seed(0)
    network = ReportDecoder(DecoderSize(width=8, heads=2, longest=9), tokens=11, numbers=3, words=4).eval()
    tokens = torch.randint(4, 11, (2, 6))
    studies = network.look(torch.randn(2, 6), torch.randn(2, 4))
    whole, _ = network(tokens, studies)
    past, single = None, []
    for place in range(6):
        scores, past = network(tokens[:, place : place + 1], studies, past)
        single.append(scores)
    torch.testing.assert_close(torch.cat(single, dim=1), whole, atol=1e-5, rtol=1e-4)
    other, _ = network(tokens, network.look(torch.randn(2, 6), torch.randn(2, 4)))
    assert not torch.allclose(whole, other)


def test_a_stopped_training_goes_on_to_the_same_weights(drawn: Path, tmp_path: Path) -> None:
    data = _data(drawn)
    state = torch.get_rng_state()
    whole = train_generator(data, tmp_path / "whole", settings=SMALL)
    assert torch.equal(torch.get_rng_state(), state)
    assert [each.epoch for each in whole.epochs] == [1, 2, 3]
    assert whole.epochs[2].train_loss < whole.epochs[0].train_loss
    told: list[str] = []
    train_generator(data, tmp_path / "parts", settings=replace(SMALL, epochs=1))
    parts = train_generator(data, tmp_path / "parts", settings=SMALL, tell=told.append)
    assert told[0] == "going on after epoch 1"
    assert [each.validation_loss for each in parts.epochs] == [each.validation_loss for each in whole.epochs]
    assert (tmp_path / "parts" / NETWORK).read_bytes() == (tmp_path / "whole" / NETWORK).read_bytes()
    assert load_generator(tmp_path / "parts").signature == load_generator(tmp_path / "whole").signature
    card = json.loads((tmp_path / "whole" / CARD).read_text())
    assert card["studies"] == {"train": 14, "validation": 4}
    assert len(card["epochs"]) == 3
    network, vocabulary = load_network(tmp_path / "whole")
    assert "effusion" in vocabulary.tokens
    assert not network.training


def test_another_training_is_not_written_over(drawn: Path, tmp_path: Path) -> None:
    data = _data(drawn)
    settings = replace(SMALL, kind="retrieval")
    assert train_generator(data, tmp_path / "made", settings=settings).best is None
    train_generator(data, tmp_path / "made", settings=settings)  # the same again is no harm
    with pytest.raises(UsageError, match="holds a generator with other settings or other studies"):
        train_generator(data, tmp_path / "made", settings=replace(settings, seed=1))
    with pytest.raises(UsageError, match="holds a generator with other settings or other studies"):
        train_generator(_data(drawn, size=10), tmp_path / "made", settings=settings)


def test_training_ends_when_validation_no_longer_improves(drawn: Path, tmp_path: Path) -> None:
    settings = replace(SMALL, epochs=40, patience=1, learning_rate=0.3, warm=1)  # it soon gets worse
    found = train_generator(_data(drawn), tmp_path / "made", settings=settings)
    assert found.best is not None
    assert len(found.epochs) < 40
    assert found.epochs[-1].epoch - found.best.epoch == 1


def test_damaged_folders_are_named(drawn: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must be a folder that `radgauge train generator` wrote"):
        load_generator(tmp_path)
    made = tmp_path / "made"
    train_generator(_data(drawn), made, settings=replace(SMALL, kind="retrieval"))
    with pytest.raises(ModelError, match="must hold the network's tokens"):
        load_network(made)
    (made / REPORTS).write_text('{"id": "1", "report": "x"}\n')
    with pytest.raises(ModelError, match="got 1 reports and 14 studies"):
        load_generator(made)
    card = json.loads((made / CARD).read_text())
    (made / CARD).write_text(json.dumps({**card, "pictures": "other"}))
    with pytest.raises(ModelError, match="was trained on pictures as other sees them"):
        load_generator(made)
    (made / CARD).write_text(json.dumps({**card, "format": 99}))
    with pytest.raises(ModelError, match="is of form 99, this radgauge reads form 1"):
        load_generator(made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "oracle"}, "kind must be one of network, retrieval, got 'oracle'"),
        ({"register": "slang"}, "register must be one of professional, lay, got 'slang'"),
        ({"epochs": 0}, "epochs must be 1 or more, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"smoothing": 1.0}, "smoothing must be 0 or more and below 1, got 1.0"),
        ({"weight_decay": -1.0}, "weight_decay and seed must be 0 or more"),
    ],
)
def test_settings_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GeneratorSettings(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 7}, "width must be a multiple of heads, got 7 and 4"),
        ({"layers": 0}, "layers must be 1 or more, got 0"),
        ({"dropout": 1.0}, "dropout must be 0 or more and below 1, got 1.0"),
    ],
)
def test_sizes_of_the_network_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        DecoderSize(**changes)  # type: ignore[arg-type]
