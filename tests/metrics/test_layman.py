"""layman: semantics through lay replacement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.cases import Case
from radgauge.errors import UsageError
from radgauge.layman.encoder import FindingEncoder
from radgauge.layman.replacement import nearest, replace_sentences, sentences_of
from radgauge.layman.sentences import sentence_set
from radgauge.metrics.bleu import Bleu
from radgauge.metrics.layman import Layman
from radgauge.reading import Readings

REFERENCE = "Small left pleural effusion. Lungs are clear. Heart size is normal. No pneumothorax."


def _values(candidate: str, *references: str, metric: Layman | None = None) -> dict[str, float]:
    metric = metric or Layman()
    rows = metric.measure([Case("1", candidate, references or (REFERENCE,))], reading=Readings())
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
    replaced = replace_sentences(texts, sentence_set(), encoder=FindingEncoder(), reading=Readings())
    assert min(replaced.similarity.values()) > 0.999


def test_replaced_text_gives_bleu_of_the_lay_texts() -> None:
    values = _values("No pneumothorax.", "No pneumothorax.")
    assert values["layman_lay_bleu_4_embedded"] == pytest.approx(1)
    raw = Bleu().case_scores(Bleu().measure([Case("1", "No effusion.", (REFERENCE,))], reading=Readings()))
    assert _values("No effusion.")["layman_raw_bleu_4_embedded"] == pytest.approx(float(raw[0, 0]))


def test_nearest_in_blocks_is_nearest() -> None:
    rng = np.random.default_rng(0)
    queries, entries = rng.normal(size=(5000, 8)).astype(np.float32), rng.normal(size=(70, 8)).astype(np.float32)
    chosen, products = nearest(queries, entries)
    assert (chosen == (queries @ entries.T).argmax(axis=1)).all()
    assert products == pytest.approx((queries @ entries.T).max(axis=1), rel=1e-5)


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
        ({"threshold": 0.0}, "threshold must be above 0 and at most 1, got 0.0"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Layman(**settings)  # type: ignore[arg-type]


def test_explains() -> None:
    explained = Layman().explain(Case("1", "No pneumothorax. Rib fracture.", (REFERENCE,)), reading=Readings())
    assert explained is not None
    assert [note.kind for note in explained.notes] == ["matched", "added"]
    assert "air leak around the lung" in explained.notes[0].text
