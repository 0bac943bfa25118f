"""The published entity recogniser against the authors' own code, on seeded checkpoints (see parity/ratescore)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from parity_scripts import parity_script

from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.readings import Readings
from radgauge.encoders.text.ratener import LABELS, RateNer, decode, kept_sentences
from radgauge.metrics.ratescore import RateScore
from radgauge.run.score import score
from radgauge.text.rush import rush_sentences

# transformers compiles parts of DeBERTa when it is imported
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")

FIXTURE = json.loads((Path(__file__).parents[2] / "data/parity/ratescore.json").read_text(encoding="utf-8"))
CANDIDATES, REFERENCES = zip(*FIXTURE["pairs"], strict=True)

SHORT = {"B": "B-DISEASE", "b": "B-ANATOMY", "I": "I-DISEASE", "i": "I-ANATOMY", "O": "O"}


def decoded(labels: str) -> list[tuple[int, int, str]]:
    """Decode one letter per sub-token; the last letter is the label on [SEP]."""
    tokens = ["[CLS]", *("x" * (len(labels) - 1)), "[SEP]"]
    return decode(tokens, ["O", *(SHORT[label] for label in labels)])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("OBIIOO", [(2, 4, "DISEASE")]),
        ("BO", [(1, 1, "DISEASE")]),
        ("BbO", [(1, 1, "DISEASE"), (2, 2, "ANATOMY")]),
        ("BiIO", [(1, 3, "DISEASE")]),  # the type of I- is not looked at
        ("OIIO", []),  # nothing was opened
        ("BIbIO", [(1, 2, "DISEASE"), (3, 4, "ANATOMY")]),
        ("BIII", [(1, 3, "DISEASE")]),  # I- on [SEP]: the entity ends before it
        ("BII" + "O", [(1, 3, "DISEASE")]),
        ("BBII", [(1, 1, "DISEASE")]),  # lost: the end of the first entity is still remembered
        ("BIbII", [(1, 2, "DISEASE")]),  # lost for the same reason
        ("OOB", []),  # only [SEP] is labelled
        ("BB", [(1, 1, "DISEASE")]),
    ],
)
def test_decoding_rules(labels: str, expected: list[tuple[int, int, str]]) -> None:
    assert decoded(labels) == expected


def test_labels_in_the_published_order() -> None:
    assert len(LABELS) == 11
    assert LABELS[0] == "B-ABNORMALITY"
    assert LABELS[-1] == "O"


def test_short_sentences_are_left_out() -> None:
    text = "No. \n a. Effusion."
    assert [text[a:b] for a, b in kept_sentences(text, [(0, 4), (4, 8), (8, 18)])] == ["No.", "Effusion."]


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match=r"splitter must be one of .*got 'x'"):
        RateNer("a/b", splitter="x")
    with pytest.raises(UsageError, match="tokens must be 0 or more, got -1"):
        RateNer("a/b", tokens=-1)


def test_the_original_splitter_must_be_installed() -> None:
    if importlib.util.find_spec("medspacy"):
        pytest.skip("medspacy is installed")
    with pytest.raises(UsageError, match="splitter 'pyrush'"):
        RateNer("a/b", splitter="pyrush").read(["No effusion."])


@pytest.mark.parametrize("side", ["candidate", "reference"])
def test_sentences_of_the_original_splitter(side: str) -> None:
    texts = CANDIDATES if side == "candidate" else REFERENCES
    for text, expected in zip(texts, FIXTURE[f"{side}_sentences"], strict=True):
        assert [text[a:b] for a, b in kept_sentences(text, rush_sentences(text))] == expected


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seeded checkpoints under the authors' names."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    builder, reports = parity_script("ratescore/checkpoints"), parity_script("ratescore/reports")
    folder = tmp_path_factory.mktemp("ratescore")
    words = builder.words_of(reports.SENTENCES)
    builder.build_ner(folder / "RaTE-NER-Deberta", words=words)
    builder.build_encoder(folder / "BioLORD-2023-C", words=words)
    return folder


@pytest.mark.models
@pytest.mark.parametrize("side", ["candidate", "reference"])
def test_same_entities_as_the_authors(checkpoints: Path, side: str) -> None:
    texts = CANDIDATES if side == "candidate" else REFERENCES
    found = RateNer(str(checkpoints / "RaTE-NER-Deberta"), tokens=70).read(texts)
    for entities, expected in zip(found, FIXTURE[f"{side}_entities"], strict=True):
        assert [list(entity[:2]) for entity in entities] == expected


@pytest.mark.models
def test_packed_entities_come_back(checkpoints: Path) -> None:
    reader = RateNer(str(checkpoints / "RaTE-NER-Deberta"))
    for text, entities in zip(CANDIDATES, reader.read(CANDIDATES), strict=True):
        assert reader.unpack(reader.pack(entities, text), text) == entities


def left_to_rounding(metric: RateScore) -> list[int]:
    """Pairs in which an entity has equally close ones of different types.

    The authors take whichever cosine is larger in its last bit, or the order in which a partial sort leaves equal
    ones: their value is one of several, and changes with the machine.
    """
    table, entities = metric._table([text for pair in FIXTURE["pairs"] for text in pair], Readings())
    found = []
    for pair in range(len(CANDIDATES)):
        for anchor, target in ((2 * pair, 2 * pair + 1), (2 * pair + 1, 2 * pair)):
            if entities[anchor] and entities[target]:
                cosines = table.vectors[table.names[anchor]] @ table.vectors[table.names[target]].T
                ties = cosines >= cosines.max(axis=1, keepdims=True) - 1e-5
                if any(len(set(table.types[target][row])) > 1 for row in ties):
                    found.append(pair)
                    break
    return found


@pytest.mark.models
@pytest.mark.parametrize("weights", ["long", "short"])
def test_same_scores_as_the_authors(checkpoints: Path, weights: str) -> None:
    metric = RateScore(models=str(checkpoints), weights=weights, no_entities="published")
    assert metric.columns == ("ratescore",)
    cases = [Case(str(i), c, (r,)) for i, (c, r) in enumerate(FIXTURE["pairs"])]
    found = score(cases, metric)["ratescore"].headline
    settled = np.setdiff1d(np.arange(len(cases)), left_to_rounding(metric))
    assert len(settled) >= 100
    expected = np.array(FIXTURE["scores"][weights])
    np.testing.assert_allclose(found[settled], expected[settled], atol=1e-5)
    assert 0.5 in expected[settled]  # a side without entities is among them


@pytest.mark.models
def test_a_report_without_sentence_keeps_its_place(checkpoints: Path) -> None:
    reader = RateNer(str(checkpoints / "RaTE-NER-Deberta"))
    alone, nothing, again = reader.read([REFERENCES[0], "a", REFERENCES[0]])
    assert nothing == ()
    assert alone == again


@pytest.mark.models
def test_spans_and_cache(checkpoints: Path, tmp_path: Path) -> None:
    reader = RateNer(str(checkpoints / "RaTE-NER-Deberta"))
    texts = list(REFERENCES[-20:])
    read = Readings(cache=Cache(tmp_path)).of(reader, texts)
    assert Readings(cache=Cache(tmp_path)).of(reader, texts) == read
    for text, entities in zip(texts, read, strict=True):
        for entity in entities:
            assert text[entity.start : entity.end].split() == entity.name.split()


@pytest.mark.models
def test_what_is_no_recogniser_is_refused(checkpoints: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="must hold the tokenizer of"):
        RateNer(str(tmp_path)).read(["No effusion."])
    import shutil

    other = tmp_path / "other"
    shutil.copytree(checkpoints / "RaTE-NER-Deberta", other)
    config = json.loads((other / "config.json").read_text())
    config["id2label"] = {key: value.replace("ANATOMY", "ORGAN") for key, value in config["id2label"].items()}
    config["label2id"] = {value: int(key) for key, value in config["id2label"].items()}
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"must label with B-ABNORMALITY, .*, got 'B-ORGAN'"):
        RateNer(str(other)).read(["No effusion."])
