"""Training of entity recognisers on a small seeded checkpoint, RaTE-NER files, and automatic annotation."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
from parity_scripts import parity_script
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, ModelError, UsageError
from radgauge.encoders.text.ratener import LABELS, RateNer
from radgauge.encoders.text.span_ner import SpanNer, all_spans
from radgauge.lab.training.annotate_ner import Proposal, annotate, read_proposals
from radgauge.lab.training.ner import NerSettings, evaluate, evaluate_tagger, predict_ner, train_ner
from radgauge.lab.training.ner_files import NerSentence, read_ner, write_ner

SENTENCES = [
    NerSentence(("No", "pleural", "effusion", "."), ((1, 2, "NON-ABNORMALITY"),)),
    NerSentence(("Enlarged", "heart", "."), ((0, 0, "ABNORMALITY"), (1, 1, "ANATOMY"))),
    NerSentence(("Signs", "of", "pneumonia", "."), ((2, 2, "DISEASE"),)),
    NerSentence(("Unchanged", "."), ()),
] * 3


def test_files_of_every_form(tmp_path: Path) -> None:
    for form in ("iob", "span"):
        write_ner(tmp_path / "x.json", SENTENCES, form=form)
        assert read_ner(tmp_path / "x.json") == SENTENCES
    tags = [LABELS.index("B-DISEASE"), "i-disease", "O"]
    (tmp_path / "lines.json").write_text(json.dumps({"tokens": ["a", "b", "c"], "ner_tags": tags}) + "\n")
    assert read_ner(tmp_path / "lines.json") == [NerSentence(("a", "b", "c"), ((0, 1, "DISEASE"),))]
    pure = {"sentences": [["a", "b"], ["c", "d"]], "ner": [[[0, 0, "Anatomy"]], [[2, 3, "Disease"]]]}
    (tmp_path / "pure.json").write_text(json.dumps(pure))
    assert read_ner(tmp_path / "pure.json")[1] == NerSentence(("c", "d"), ((0, 1, "DISEASE"),))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither a JSON list nor JSON lines"),
        ("[]", "holds no sentence"),
        ('{"ner_tags": []}', "record 1: the field 'tokens' is missing"),
        ('{"tokens": ["a"], "ner_tags": [0, 1]}', "1 tokens need as many ner_tags, got 2"),
        ('{"tokens": ["a"], "ner_tags": [11]}', "a tag must be 0 to 10 or a label such as B-DISEASE, got 11"),
        ('{"tokens": ["a"], "spans": [[0, 1, "disease"]]}', "the span 0 to 1 must lie within 1 words"),
        ('{"tokens": ["a"], "spans": [[0, 0, "organ"]]}', "there is no entity type 'organ'"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=message):
        read_ner(tmp_path / "x.json")


def test_results_by_hand() -> None:
    truth = [NerSentence(("a", "b", "c", "d"), ((0, 1, "DISEASE"), (3, 3, "ANATOMY")))]
    found = {each.type: each for each in evaluate([[(0, 1, "DISEASE"), (2, 3, "ANATOMY")]], truth)}
    assert (found["all"].precision, found["all"].recall, found["all"].f1) == (0.5, 0.5, 0.5)
    assert found["all"].accuracy == 0.75
    assert found["DISEASE"].f1 == 1.0
    assert found["ANATOMY"].accuracy == 0.5  # "c" and "d" are said to be anatomy, one is
    assert math.isnan(found["NON-DISEASE"].recall)
    with pytest.raises(InputError, match="0 predictions for 1 sentences"):
        evaluate([], truth)


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match=r"scheme must be one of .*got 'x'"):
        NerSettings("a/b", scheme="x")
    with pytest.raises(UsageError, match="batch_size must be 1 or more, got 0, 96"):
        NerSettings("a/b", epochs=0)


def test_spans_are_up_to_eight_words() -> None:
    assert all_spans(2) == [(0, 0), (0, 1), (1, 1)]
    assert max(last - first + 1 for first, last in all_spans(20)) == 8


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small seeded BERT."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    builder = parity_script("ratescore/checkpoints")
    words = sorted({word for sentence in SENTENCES for word in sentence.words if len(word) > 1})
    folder: Path = builder.build_encoder(tmp_path_factory.mktemp("bert"), words=words, spread=0.5)
    return folder


@pytest.mark.models
@pytest.mark.parametrize("scheme", ["iob", "span"])
def test_it_learns_resumes_and_is_used(start: Path, tmp_path: Path, scheme: str) -> None:
    def settings(epochs: int) -> NerSettings:
        return NerSettings(
            str(start), scheme=scheme, epochs=epochs, batch_size=4, learning_rate=2e-3, head_width=64, seed=3
        )

    results = train_ner(SENTENCES, tmp_path / "whole", settings=settings(40), dev=SENTENCES)
    assert results[0].type == "all"
    assert results[0].f1 > 0.9
    # stopped after two of four epochs, then the same command again
    train_ner(SENTENCES, tmp_path / "parts", settings=settings(4))
    import shutil

    import torch

    straight = torch.load(tmp_path / "parts" / "training_state.pt", weights_only=True)["network"]
    shutil.rmtree(tmp_path / "parts")

    def stop(_: str, done: int, total: int) -> None:
        if done == total // 2 + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_ner(SENTENCES, tmp_path / "parts", settings=settings(4), progress=stop)
    train_ner(SENTENCES, tmp_path / "parts", settings=settings(4))
    resumed = torch.load(tmp_path / "parts" / "training_state.pt", weights_only=True)["network"]
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)
    with pytest.raises(UsageError, match="holds a run with another seed"):
        train_ner(SENTENCES, tmp_path / "parts", settings=dataclasses.replace(settings(4), seed=4))
    with pytest.raises(UsageError, match="holds a run on other sentences; choose another output folder"):
        train_ner(SENTENCES[1:], tmp_path / "parts", settings=settings(4))

    from radgauge.core.registry import load
    from radgauge.run.score import score

    metric = load("ratescore", ner=str(tmp_path / "whole"))
    case = {"id": "1", "candidate": "No pleural effusion.", "reference": "No pleural effusion."}
    assert score([case], metric)["ratescore"].headline[0] == pytest.approx(1.0, abs=1e-5)
    reader = SpanNer(str(tmp_path / "whole")) if scheme == "span" else RateNer(str(tmp_path / "whole"))
    text = "No pleural effusion."
    (entities,) = reader.read([text])
    packed = reader.pack(entities, text)
    assert entities
    assert reader.unpack(packed, text) == entities
    assert predict_ner(str(tmp_path / "whole"), [("Signs", "of", "pneumonia", ".")]) == [[(2, 2, "DISEASE")]]


@pytest.mark.models
@pytest.mark.parametrize("scheme", ["iob", "span"])
def test_a_start_without_its_weights_is_refused(
    start: Path, tmp_path: Path, scheme: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    broken = shutil.copytree(start, tmp_path / "broken")
    tensors = load_file(broken / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if "layer.0" not in name}
    save_file(kept, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"broken.*layer\.0"):
        train_ner(SENTENCES, tmp_path / "out", settings=NerSettings(str(broken), scheme=scheme, head_width=8))
    assert not (tmp_path / "out").exists()
    # a head is new, so a start without one will do; and nobody but us speaks
    body = {name: tensor for name, tensor in tensors.items() if not name.startswith("classifier.")}
    save_file(body, broken / "model.safetensors", metadata={"format": "pt"})
    settings = NerSettings(str(broken), scheme=scheme, epochs=1, head_width=8)
    train_ner(SENTENCES, tmp_path / "out", settings=settings)
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert capfd.readouterr() == ("", "")


@pytest.mark.models
def test_what_is_no_span_model_is_refused(start: Path) -> None:
    with pytest.raises(ModelError, match=r"has no span_head.json"):
        SpanNer(str(start)).read(["No effusion."])


@pytest.mark.models
def test_command_line(start: Path, tmp_path: Path) -> None:
    write_ner(tmp_path / "train.json", SENTENCES)
    command = ["train", "ner", str(tmp_path / "train.json"), "-o", str(tmp_path / "out"), "--model", str(start)]
    done = CliRunner().invoke(
        app, [*command, "--epochs", "1", "--test", str(tmp_path / "train.json"), "--json", "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["results"][0]["type"] == "all"
    done = CliRunner().invoke(app, [*command[:5]])
    assert isinstance(done.exception, UsageError)
    assert "--model is needed" in str(done.exception)


REPORTS = [
    "No pleural effusion. The patient was told to come back next week with his papers.",
    "Large pneumothorax.",
]


@pytest.mark.long
def test_annotation_keeps_known_and_dense_sentences() -> None:
    sentences, counts = annotate(REPORTS)
    assert counts.sentences == 3
    assert [" ".join(each.words) for each in sentences] == ["No pleural effusion .", "Large pneumothorax ."]
    assert sentences[0].spans == ((1, 2, "NON-ABNORMALITY"),)
    none, _ = annotate(REPORTS, library=["toothbrush"])
    assert none == []
    with pytest.raises(InputError, match="the library of terms is empty"):
        annotate(REPORTS, library=[])


def test_annotation_from_a_language_model(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    record = {
        "sentence": "No pleural effusion.",
        "entities": [["pleural effusion", "abnormality"], ["ghost", "disease"]],
    }
    path.write_text(json.dumps(record) + "\n")
    sentences, counts = annotate(REPORTS, proposals=read_proposals(path))
    assert [each.spans for each in sentences] == [((1, 2, "NON-ABNORMALITY"),)]  # the rules found the denial
    assert counts.proposed == 1
    path.write_text('{"sentence": "x"}\n')
    with pytest.raises(InputError, match="line 1: must be"):
        read_proposals(path)
    path.write_text('{"sentence": "x", "entities": [["x", "organ"]]}\n')
    with pytest.raises(InputError, match=r"line 1: a type must be one of .*got 'ORGAN'"):
        read_proposals(path)


def proposed(sentence: str, *names: str, kind: str = "DISEASE") -> list[tuple[str, str]]:
    """Return words and types of the annotated sentence."""
    sentences, _ = annotate(
        [sentence],
        proposals={sentence: [Proposal(name, kind) for name in names]},
        library=names,
        density=0.0,
    )
    return [
        (" ".join(each.words[first : last + 1]), label) for each in sentences for first, last, label in each.spans
    ]


def test_repeated_entities_are_all_annotated_and_parts_of_words_are_not() -> None:
    found = proposed(
        "Effusion on the left, effusion on the right, massive mass.", "effusion", "mass", kind="ABNORMALITY"
    )
    assert [words for words, _ in found] == ["Effusion", "effusion", "mass"]
    found = proposed(
        "Pleural effusion; the effusion is small.", "effusion", "pleural effusion", kind="ABNORMALITY"
    )
    assert [words for words, _ in found] == ["Pleural effusion", "effusion"]


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("No {}.", True),
        ("There is no {} in the left lung.", True),
        ("{} is not seen.", True),
        ("No fracture, {} or effusion.", True),
        ("Negative for {}.", True),
        ("There is {} of the left lung.", False),
        ("No effusion, but {} of the liver.", False),
    ],
)
def test_diseases_that_no_lexicon_knows_are_denied_where_the_sentence_denies_them(
    sentence: str, denied: bool
) -> None:
    for name in ("quellar fibromatosis", "Zorb-Hentschel disease", "velimycosis"):
        assert [label for _, label in proposed(sentence.format(name), name)] == [
            "NON-DISEASE" if denied else "DISEASE"
        ]


def test_the_embedded_reader_is_a_tagger() -> None:
    truth = [
        NerSentence(("No", "pleural", "effusion", "."), ((1, 2, "NON-ABNORMALITY"),)),
        NerSentence(("Clear", "lungs", "."), ((0, 0, "NON-ABNORMALITY"), (1, 1, "ANATOMY"))),
    ]
    assert evaluate_tagger("embedded", truth)[0].f1 == 1.0
    denied = [NerSentence(each.words, tuple((a, b, "DISEASE") for a, b, _ in each.spans)) for each in truth]
    assert evaluate_tagger("embedded", denied)[0].f1 == 0.0


def test_a_tagger_that_marks_too_much_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "test.json"
    records = [
        {"tokens": ["Pneumonia", "and", "large", "effusion", "in", "the", "lung"], "spans": [[0, 0, "DISEASE"]]}
    ]
    file.write_text(json.dumps(records), encoding="utf-8")
    done = CliRunner().invoke(app, ["train", "ner", "--evaluate", str(file), "--model", "embedded"])
    assert "the tagger marks 3 entities where there are 1 (precision 0.33): it over-tags" in done.stderr
    records[0]["spans"] = [[0, 0, "DISEASE"], [2, 3, "ABNORMALITY"], [6, 6, "ANATOMY"]]
    file.write_text(json.dumps(records), encoding="utf-8")
    done = CliRunner().invoke(app, ["train", "ner", "--evaluate", str(file), "--model", "embedded"])
    assert "over-tags" not in done.stderr


def test_annotation_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_text("id,modality,report\n1,CT,No pleural effusion.\n")
    done = CliRunner().invoke(
        app,
        ["train", "ner", str(tmp_path / "reports.csv"), "--annotate", "-o", str(tmp_path / "a.json"), "--json"],
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["counts"]["kept_sentences"] == 1
    assert read_ner(tmp_path / "a.json")[0].spans == ((1, 2, "NON-ABNORMALITY"),)
    [record] = json.loads((tmp_path / "a.json").read_text())
    assert (record["id"], record["modality"]) == ("1", "CT")
    (tmp_path / "reports.csv").write_text("id,words\n1,No pleural effusion.\n")
    done = CliRunner().invoke(app, ["train", "ner", str(tmp_path / "reports.csv"), "--annotate", "-o", "x"])
    assert "a table of reports must have the column report, text, findings or reference" in str(done.exception)


@pytest.mark.models
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")
def test_a_tagger_that_exists_is_scored_from_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    words = ["no", "pleural", "effusion", "heart"]
    tagger = parity_script("ratescore/checkpoints").build_ner(tmp_path / "tagger", words=words)
    file = tmp_path / "test.json"
    file.write_text(json.dumps([{"tokens": ["no", "effusion"], "ner_tags": [10, 2]}]), encoding="utf-8")
    done = CliRunner().invoke(
        app, ["train", "ner", "--evaluate", str(file), "--model", str(tagger), "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    [every] = [each for each in json.loads(done.stdout)["results"] if each["type"] == "all"]
    expected = evaluate_tagger(str(tagger), read_ner(file))[0]
    assert (every["f1"], every["accuracy"], every["entities"]) == (expected.f1, expected.accuracy, 1)
