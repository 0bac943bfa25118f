"""layman: semantics through lay replacement."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from lay_entries import knowing_readings

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.metric import sums
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.metrics.layman import Layman
from radgauge.lay.replacement import replace_sentences
from radgauge.lay.sentences import sentence_set
from radgauge.metrics import _meteor_java
from radgauge.metrics.bleu import Bleu
from radgauge.metrics.meteor import Meteor
from radgauge.text.sentences import sentences_of

READING = knowing_readings()
REFERENCE = "Small left pleural effusion. Lungs are clear. Heart size is normal. No pneumothorax."


def _values(candidate: str, *references: str, metric: Layman | None = None) -> dict[str, float]:
    metric = metric or Layman()
    rows = metric.measure([Case("1", candidate, references or (REFERENCE,))], reading=READING)
    return dict(zip(metric.columns, map(float, metric.case_scores(rows)[0]), strict=True))


def test_shares_by_hand() -> None:
    values = _values("There is no pneumothorax. The heart is normal in size. Cardiomegaly is severe.")
    assert values["layman_semantics_embedded"] == pytest.approx(2 / 3)
    assert values["layman_recall_embedded"] == pytest.approx(2 / 4)
    assert values["layman_f1_embedded"] == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))


@pytest.mark.parametrize(
    "sentence",
    ["There is a small effusion on the left side.", "Small amount of left-sided pleural fluid."],
)
def test_other_words_for_the_same_match(sentence: str) -> None:
    assert _values(sentence)["layman_semantics_embedded"] == 1


@pytest.mark.parametrize(
    "sentence",
    ["No left pleural effusion.", "Small right pleural effusion.", "Small left pneumothorax.", "Rib fracture."],
)
def test_another_meaning_does_not_match(sentence: str) -> None:
    assert _values(sentence)["layman_semantics_embedded"] == 0


def test_every_sentence_of_the_set_finds_its_own_meaning() -> None:
    pairs = sentence_set()[::25]
    texts = [pair.professional for pair in pairs]
    replaced = replace_sentences(texts, sentence_set(), encoder=FindingEncoder(), reading=READING)
    assert min(replaced.similarity.values()) > 0.999


def test_replaced_text_gives_bleu_of_the_lay_texts() -> None:
    values = _values("No pneumothorax.", "No pneumothorax.")
    assert values["layman_lay_bleu_4_embedded"] == pytest.approx(1)
    raw = Bleu().case_scores(Bleu().measure([Case("1", "No effusion.", (REFERENCE,))], reading=READING))
    assert _values("No effusion.")["layman_raw_bleu_4_embedded"] == pytest.approx(float(raw[0, 0]))


def test_own_sentence_set(tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    file.write_text("professional\tlay\nNo pneumothorax.\tAll is well.\n", encoding="utf-8")
    values = _values("Rib fracture.", "Cardiomegaly.", metric=Layman(sentences=str(file)))
    assert values["layman_semantics_embedded"] == 1  # everything becomes the only entry
    assert values["layman_raw_semantics_embedded"] == 0


def test_best_reference_counts() -> None:
    assert _values("No pneumothorax.", "Cardiomegaly.", "No pneumothorax.")["layman_f1_embedded"] == 1


def test_sentences_without_words_are_no_sentences() -> None:
    assert sentences_of("Clear. . No effusion.") == ("Clear.", "No effusion.")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"models": "published"}, "the paper does not name its model"),
        ({"encoder": "best"}, "encoder must be one of findings, static, got 'best'"),
        ({"outside": "drop"}, "outside must be one of nearest, write, got 'drop'"),
        ({"threshold": 0.0}, "threshold must be above 0 and at most 1, got 0.0"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Layman(**settings)  # type: ignore[arg-type]


def test_meteor_before_and_after() -> None:
    pytest.importorskip("pycocoevalcap.meteor", reason="the extra 'meteor' is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine")
    cases = [
        Case("1", "No pneumothorax.", ("There is no pneumothorax.",)),
        Case("2", "Small left effusion.", ("Small left pleural effusion.",)),
        Case("3", "", ("Clear.",)),
    ]
    metric, reading = Layman(meteor=True), READING
    rows = metric.measure(cases, reading=reading)
    values = metric.case_scores(rows)
    raw, lay = (metric.columns.index(f"layman_{state}_meteor_embedded") for state in ("raw", "lay"))
    alone = Meteor().measure(cases[:2], reading=reading)
    np.testing.assert_allclose(values[:2, raw], Meteor().case_scores(alone)[:, 0])
    np.testing.assert_allclose(metric.corpus_scores(*sums(rows))[raw], Meteor().corpus_score(alone))
    assert values[0, lay] == pytest.approx(1)
    assert np.isnan(values[2]).all()


def test_meteor_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setattr(_meteor_java, "_running", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ModelError, match="there is no java on the PATH"):
        _values("No pneumothorax.", metric=Layman(meteor=True))
    assert "layman_raw_meteor_embedded" not in Layman().columns


def test_sentences_outside_the_set_are_written_only_if_asked() -> None:
    cases = [Case("1", "Cholelithiasis.", ("Stones in the gallbladder. Fatty liver.",))]
    written = Layman(outside="write").replaced(cases, reading=READING)
    assert written.lay["Cholelithiasis."] == "Cholelithiasis."  # the writer keeps it
    published = Layman().replaced(cases, reading=READING)
    assert published.lay["Cholelithiasis."] in {pair.lay for pair in sentence_set()}
    assert "outside:nearest" in Layman().signature()


def test_explains() -> None:
    explained = Layman().explain(Case("1", "No pneumothorax. Rib fracture.", (REFERENCE,)), reading=READING)
    assert explained is not None
    assert [note.kind for note in explained.notes] == ["matched", "added"]
    assert "air leak around the lung" in explained.notes[0].text
