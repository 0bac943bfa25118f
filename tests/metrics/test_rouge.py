"""ROUGE: by hand, against rouge-score and pycocoevalcap on real text, and against published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.readings import Readings
from radgauge.metrics.rouge import Rouge
from radgauge.run.score import score


def rouge(candidate: str, *references: str, metric: Rouge | None = None) -> list[float]:
    metric = metric or Rouge()
    return metric.measure([Case("1", candidate, references)], reading=Readings())[0].tolist()


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [  # L, 1, 2
        ("no effusion", "no effusion", (1.0, 1.0, 1.0)),
        ("no effusion", "small opacity", (0.0, 0.0, 0.0)),
        ("No acute effusion.", "no effusion", (0.8, 0.8, 0.0)),  # 2 of 3 and 2 of 2 words
        ("effusion no", "no effusion", (0.5, 1.0, 0.0)),  # one word in order, both words, no pair
        ("a b c d", "a b d c", (0.75, 1.0, 1 / 3)),
        ("clear", "clear", (1.0, 1.0, 0.0)),  # no word pair to share
    ],
)
def test_by_hand(candidate: str, reference: str, expected: tuple[float, ...]) -> None:
    assert rouge(candidate, reference) == pytest.approx(expected)


def test_coco_by_hand() -> None:
    # 2 words in order of 3 and of 2: P 2/3, R 1
    value = 2.44 * (2 / 3) * 1 / (1 + 1.44 * 2 / 3)
    assert rouge("no acute effusion", "no effusion", metric=Rouge(variant="coco")) == [pytest.approx(value)]


def test_coco_combines_the_best_precision_and_the_best_recall() -> None:
    # P is best against the first (3/3), R against the second (1/1)
    assert rouge("a b c", "a b c d", "c", metric=Rouge(variant="coco")) == [pytest.approx(1.0)]


def test_coco_keeps_empty_words_between_blanks() -> None:
    exact = Rouge(variant="coco")
    assert rouge("a  b", "a b", metric=exact) != rouge("a b", "a b", metric=exact)
    tidy = Rouge(variant="coco", tokenizer="words")
    assert rouge("a  b", "a b", metric=tidy) == rouge("a b", "a b", metric=tidy)


def test_the_best_reference_counts_for_each_output() -> None:
    both = rouge("a b c", "c b a", "a b x y z w")
    first, second = rouge("a b c", "c b a"), rouge("a b c", "a b x y z w")
    assert both == [max(pair) for pair in zip(first, second, strict=True)]


def test_a_reference_without_words_is_as_if_absent() -> None:
    assert rouge("no effusion", "...", "no effusion") == [1.0, 1.0, 1.0]
    assert all(map(math.isnan, rouge("no effusion", "...")))


@pytest.mark.parametrize("stemmer", [False, True])
def test_rouge_score(iu590, mrg_rl, stemmer: bool) -> None:
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer.RougeScorer(["rougeL", "rouge1", "rouge2"], use_stemmer=stemmer)
    metric = Rouge(stemmer=stemmer)
    for cases in (iu590["moerad"][:150], mrg_rl["qwen_dino_rag_logp"][:150]):
        expected = [
            [part.fmeasure for part in theirs.score(case.references[0], case.candidate).values()] for case in cases
        ]
        np.testing.assert_allclose(metric.measure(cases, reading=Readings()), expected, rtol=1e-12)


def test_rouge_score_with_several_references(mrg_rl) -> None:
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer.RougeScorer(["rougeL", "rouge1", "rouge2"])
    listed = mrg_rl["oracle_top20"][:60]
    texts = [case.references[0] for case in listed]
    cases = [Case(case.id, case.candidate, tuple(texts[i : i + 1 + i % 3])) for i, case in enumerate(listed)]
    expected = [
        [part.fmeasure for part in theirs.score_multi(case.references, case.candidate).values()] for case in cases
    ]
    np.testing.assert_allclose(Rouge().measure(cases, reading=Readings()), expected, rtol=1e-12)


def test_pycocoevalcap(mrg_rl, iu590) -> None:
    coco = pytest.importorskip("pycocoevalcap.rouge.rouge")
    metric = Rouge(variant="coco", lowercase=False, empty="zero")
    several = [
        Case(case.id, case.candidate, (*case.references, other.candidate))
        for case, other in zip(mrg_rl["oracle_top20"], mrg_rl["qwen_dino_rag_logp"], strict=True)
    ]
    for cases in (mrg_rl["qwen_dino_rag_beam3"][:120], iu590["moerad"][:120], several[:120]):
        gts = {i: list(case.references) for i, case in enumerate(cases)}
        res = {i: [case.candidate] for i, case in enumerate(cases)}
        corpus, each = coco.Rouge().compute_score(gts, res)
        rows = metric.measure(cases, reading=Readings())
        np.testing.assert_allclose(rows[:, 0], each, rtol=1e-13)
        assert metric.corpus_score(rows) == pytest.approx(corpus, rel=1e-13)


def test_published_corpus_values(published) -> None:
    cases, values = published
    metric = Rouge(variant="coco")
    value = metric.corpus_score(metric.measure(cases, reading=Readings()))
    assert value == pytest.approx(values["ROUGE_L"], rel=1e-13)


def test_very_long_texts() -> None:
    book = "no effusion is seen today " * 2000  # 10,000 words
    assert rouge(book, book) == [1.0, 1.0, 1.0]
    assert rouge(book, "no effusion")[0] == pytest.approx(2 * 2 / (10_000 + 2))
    explained = Rouge().explain(Case("1", book, ("no effusion",)), reading=Readings())
    assert explained is not None
    assert explained.notes[0].text == "too long to show the words in common"


def test_empty_candidates() -> None:
    records = [
        {"id": "1", "candidate": " ", "reference": "no effusion"},
        {"id": "2", "candidate": "?!", "reference": "no effusion"},
        {"id": "3", "candidate": "no effusion", "reference": "?!"},
    ]
    judged = score(records, [Rouge()])["rouge"]
    assert np.isnan(judged.values).all()
    assert list(judged.reasons.values()) == [
        "empty candidate",
        "candidate has no words",
        "reference has no words",
    ]
    counted = score(records[:2], [Rouge(empty="zero")])["rouge"]
    assert counted.values[:, 0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "lsum"}, "rouge: variant must be one of standard, coco, got 'lsum'"),
        ({"empty": "drop"}, "rouge: empty must be one of nan, zero, got 'drop'"),
        ({"lowercase": False}, "only variant 'coco' can keep the case"),
        ({"tokenizer": "words"}, "only variant 'coco' takes another tokenizer"),
        (
            {"variant": "coco", "tokenizer": "13a"},
            "must be one of default, words, whitespace, spaces",
        ),
    ],
)
def test_impossible_settings(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Rouge(**settings)


def test_signature_names_the_tokenizer_meant() -> None:
    assert "|tokenizer:alphanumeric|" in Rouge().signature()
    assert "|tokenizer:spaces|" in Rouge(variant="coco").signature()


@pytest.mark.parametrize("metric", [Rouge(), Rouge(stemmer=True), Rouge(variant="coco", tokenizer="words")])
def test_explanation(metric: Rouge) -> None:
    case = Case("1", "Small effusion, İ new.", ("clear", "a small new Effusion is new"))
    explained = metric.explain(case, reading=Readings())
    assert explained is not None
    (note,) = explained.notes
    assert [case.candidate[a:b] for a, b in note.candidate_spans] == ["Small", "effusion", "new"]
    assert [case.references[1][a:b] for a, b in note.reference_spans] == ["small", "Effusion", "new"]
    assert note.data["reference"] == 1


words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12).map(" ".join)


@given(candidate=words, references=st.lists(words, min_size=1, max_size=3))
def test_values_are_in_range_and_a_copy_is_perfect(candidate: str, references: list[str]) -> None:
    for metric in (Rouge(), Rouge(variant="coco"), Rouge(empty="zero"), Rouge(variant="coco", empty="zero")):
        values = np.array(rouge(candidate, *references, metric=metric))
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1 + 1e-12)))
        if candidate:
            assert rouge(candidate, candidate, *references, metric=metric)[0] == pytest.approx(1.0)
