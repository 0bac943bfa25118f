"""BERTScore equals bert-score 0.3.13 on seeded encoders; long texts are cut with a word, or read in windows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.cache import Cache
from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.encoders.text.token_encoder import TokenEncoder
from radgauge.encoders.text.token_vectors import TokenVectors
from radgauge.metrics import bertscore
from radgauge.metrics.bertscore import BertScore

from ..conftest import fixture

pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def folder(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeded encoders and the baseline table of the fixture."""
    root = tmp_path_factory.mktemp("encoders")
    for kind in ("roberta", "bert"):
        seeded.encoder(root / kind, kind=kind)
    lines = [f"{layer},0.{layer}1,0.{layer}2,0.{layer}3" for layer in range(4)]
    (root / "baseline.tsv").write_text("\n".join(["LAYER,P,R,F", *lines]) + "\n")
    return root


def pairs(seeded: ModuleType) -> list[tuple[str, str]]:
    return [*seeded.PAIRS, (seeded.LONG, seeded.SENTENCES[0]), ("", seeded.SENTENCES[0])]


@pytest.mark.parametrize("run", sorted(fixture("bertscore")))
def test_values_are_those_of_bert_score(folder: Path, seeded: ModuleType, run: str) -> None:
    expected = fixture("bertscore")[run]
    metric = BertScore(
        models=str(folder),
        encoder=expected["encoder"],
        layer=expected["layer"],
        idf=expected["idf"],
        rescale=expected["rescale"],
        baseline=str(folder / "baseline.tsv"),
        empty="zero",
    )
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(pairs(seeded))]
    scores = rg.score(cases, [metric])["bertscore"]
    for column, values in zip(("precision", "recall", "f1"), expected["values"], strict=True):
        mine, theirs = scores.column(f"bertscore_{column}"), np.array(values)
        known = ~np.isnan(mine)
        # With idf a text whose every token is in all references has no weighted mean: NaN here and there, except
        # that bert-score then calls the F1 zero.
        assert known.sum() >= 17
        if column != "f1":
            assert (known == ~np.isnan(theirs)).all()
        assert mine[known] == pytest.approx(theirs[known], abs=5e-6)


def test_long_texts_are_said_to_be_cut(folder: Path, seeded: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    case = [rg.Case("1", seeded.LONG, (seeded.SENTENCES[0],))]
    settings = {"models": str(folder), "encoder": "roberta", "layer": 1, "rescale": False}
    cut = rg.score(case, [BertScore(**settings)])["bertscore"].headline
    assert "bertscore: in 1 of 1 cases (100 %) a report is longer than the encoder reads" in caplog.text
    caplog.clear()
    whole = rg.score(case, [BertScore(**settings, long="windows")])["bertscore"].headline
    assert caplog.text == ""
    assert cut != whole


def test_windows_cover_every_token_once(folder: Path, seeded: ModuleType) -> None:
    reading = TokenEncoder(str(folder / "roberta"), 1, long="windows").read([seeded.LONG])[0]
    assert len(reading.vectors) == len(reading.keys) == len(reading.tokens)
    assert reading.cut == 0
    assert np.linalg.norm(reading.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    short = TokenEncoder(str(folder / "roberta"), 1, long="windows").read([seeded.SENTENCES[0]])[0]
    plain = TokenEncoder(str(folder / "roberta"), 1).read([seeded.SENTENCES[0]])[0]
    assert (short.vectors == plain.vectors).all()


def test_batches_do_not_matter(folder: Path, seeded: ModuleType) -> None:
    encoder = TokenEncoder(str(folder / "bert"), 2)
    together = encoder.read(seeded.REPORTS)
    for text, reading in zip(seeded.REPORTS, together, strict=True):
        alone = encoder.read([text])[0]
        assert reading.keys == alone.keys
        assert reading.vectors == pytest.approx(alone.vectors, abs=1e-5)


def test_bad_layers_and_folders(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="layer must be between 0 and 2"):
        TokenEncoder(str(folder / "bert"), 9).read(["x"])
    with pytest.raises(ModelError, match="must hold the encoder as distilroberta-base/"):
        rg.score([rg.Case("1", "a", ("b",))], [BertScore(models=str(tmp_path))])
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="must hold the tokenizer of"):
        TokenEncoder(str(tmp_path), 1).read(["x"])


def test_special_tokens_in_a_text_are_split_as_by_the_tokenizer_of_bert_score(
    seeded: ModuleType, tmp_path: Path
) -> None:
    size = dataclasses.replace(seeded.SMALL, texts=("heart",), merges=6)
    encoder = TokenEncoder(str(seeded.encoder(tmp_path / "roberta", size=size)), 1)
    first, second = encoder.read(["<unk> heart", "heart <unk>heart"])
    assert first.tokens[1:-1] == ("", "<unk>", "heart")  # a space stands before a text, whatever it begins with
    assert second.tokens[1:-1] == ("heart", "", "<unk>", "heart")
    assert second.keys[1] == first.keys[3] != second.keys[4]  # and none is put behind a special token


@pytest.mark.parametrize("idf", [False, True])
def test_many_texts_are_read_in_blocks_and_forgotten(
    folder: Path, seeded: ModuleType, monkeypatch: pytest.MonkeyPatch, idf: bool
) -> None:
    metric = BertScore(models=str(folder), encoder="roberta", layer=1, rescale=False, idf=idf)
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(pairs(seeded))]
    reading = rg.Readings()
    with reading.truncation() as cut:
        whole = metric.measure(cases, reading=reading)
    assert seeded.LONG in cut
    monkeypatch.setattr(bertscore, "PAIRS_AT_ONCE", 2)
    read: list[str] = []
    plain = TokenEncoder.read

    def counted(self: TokenEncoder, texts: list[str]) -> list[TokenVectors]:
        read.extend(texts)
        return plain(self, texts)

    monkeypatch.setattr(TokenEncoder, "read", counted)
    reading = rg.Readings()
    with reading.truncation() as in_blocks:
        assert metric.measure(cases, reading=reading) == pytest.approx(whole, abs=1e-5, nan_ok=True)
    assert sorted(read) == sorted({text for pair in pairs(seeded) for text in pair})  # each once
    assert not any(reading._known.values())
    assert in_blocks == cut
    if not idf:  # another metric of the run that asks for the same pairs needs no vectors
        metric.measure(cases, reading=reading)
        assert len(read) == len(set(read))


def test_vectors_of_tokens_are_not_kept_on_disk(folder: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    metric = BertScore(models=str(folder), encoder="bert", layer=1, rescale=False)
    case = rg.Case("1", "Quibblewick has an effusion.", ("No effusion.",))
    assert rg.score([case], [metric], reading=Readings(cache=cache))["bertscore"].keys == (("1", "system"),)
    assert cache.info().entries == 0
