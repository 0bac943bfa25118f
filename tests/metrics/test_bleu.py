"""BLEU: by hand, against sacreBLEU and pycocoevalcap on real text, and against published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.metrics.bleu import Bleu
from radgauge.run.score import score


def bleu(candidate: str, *references: str, metric: Bleu | None = None) -> dict[str, float]:
    metric = metric or Bleu()
    rows = metric.measure([Case("1", candidate, references)], reading=Readings())
    return dict(zip(metric.columns, metric.case_scores(rows)[0], strict=True))


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("no effusion", "no effusion", 1.0),
        ("no effusion", "small opacity", 0.0),  # not one word in common
        ("a b c", "a b d", math.sqrt(2 / 3 * 1 / 2)),  # 2 of 3 words, 1 of 2 word pairs, equal length
        ("a b", "a b c d", math.exp(1 - 4 / 2)),  # all found, half as long
        ("a a a a", "a b", math.sqrt(1 / 4 * (1 / 2) / 3)),  # clipped: one a; no word pair: half a match
        ("No effusion.", "no effusion .", 1.0),  # raw and cleaned text are the same words
    ],
)
def test_bleu_2_by_hand(candidate: str, reference: str, expected: float) -> None:
    assert bleu(candidate, reference)["bleu_2"] == pytest.approx(expected, rel=1e-14)


def test_bleu_4_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs, 1 of 4 triples, 0 of 3 quadruples; 6 words against 6
    value = bleu("a b c d e x", "b c d a e f")
    assert value["bleu_1"] == pytest.approx(5 / 6)
    assert value["bleu_3"] == pytest.approx((5 / 6 * 2 / 5 * 1 / 4) ** (1 / 3))
    assert value["bleu_4"] == pytest.approx((5 / 6 * 2 / 5 * 1 / 4 * 0.5 / 3) ** (1 / 4))


def test_a_text_too_short_for_an_order_uses_the_orders_it_has() -> None:
    assert set(bleu("no effusion", "no effusion").values()) == {1.0}


def test_several_references_clip_with_the_most_and_take_the_closest_length() -> None:
    rows = Bleu().measure([Case("1", "a a b", ("a c", "a a d e", "b"))], reading=Readings())
    # a twice (second reference), b once (third); lengths 2 and 4 are equally close to 3: the shorter
    assert rows[0].tolist() == [3, 1, 0, 0, 3, 2, 1, 0, 2]


def test_corpus_value_comes_from_summed_counts() -> None:
    cases = [Case("1", "a b", ("a b",)), Case("2", "x y z", ("a b c",))]
    metric = Bleu()
    value = metric.corpus_scores(*sums(metric.measure(cases, reading=Readings())))
    assert value[1] == pytest.approx(2 / 5)
    assert value[2] == pytest.approx(math.sqrt(2 / 5 * 1 / 3))


@pytest.mark.parametrize(
    ("smoothing", "second"),
    [("exp", 0.5 / 2), ("floor", 0.1 / 2), ("none", 0.0), ("coco", 1e-15 / 2)],
)
def test_smoothing(smoothing: str, second: float) -> None:
    value = bleu("no acute effusion", "no effusion", metric=Bleu(smoothing=smoothing))
    assert value["bleu_2"] == pytest.approx(math.sqrt(2 / 3 * second), rel=1e-8)


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [  # re-computed by hand from the source of fast-bleu 0.0.90 and CXR-Report-Metric
        (
            "No acute cardiopulmonary process.",
            "No acute cardiopulmonary abnormality.",
            0.6324555320336759,
        ),
        ("Mild edema.", "Edema is mild.", 0.15811388300841897),
        ("There is a left pleural effusion.", "No pneumothorax detected.", 0.043120969391201254),
        (
            "Heart size is normal. Lungs are clear.",
            "The heart is normal in size. The lungs are clear.",
            0.5222329678670936,
        ),
        ("clear", "effusion", 0.0),
    ],
)
def test_cxr_variant(reference: str, candidate: str, expected: float) -> None:
    value = bleu(candidate, reference, metric=Bleu(variant="cxr"))["bleu2_cxr"]
    assert value == pytest.approx(expected, rel=1e-12)


def test_cxr_variant_equals_the_authors_own_values(shared_data, iu590) -> None:
    """590 values of CXR-Report-Metric, computed by its users with the real program."""
    import csv

    path = shared_data / "iu_xray_systems" / "moerad_report_scores.csv"
    with path.open(newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    theirs = np.array([float(record["bleu_score"]) for record in records])
    cases = [
        Case(case.id, record["report"], case.references)
        for case, record in zip(iu590["moerad"], records, strict=True)
    ]
    ours = Bleu(variant="cxr").measure(cases, reading=Readings())[:, 0]
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_published_corpus_values(published) -> None:
    cases, values = published
    metric = Bleu(smoothing="coco", tokenizer="whitespace")
    ours = metric.corpus_scores(*sums(metric.measure(cases, reading=Readings())))
    default = Bleu()
    plain = default.corpus_scores(*sums(default.measure(cases, reading=Readings())))
    for column, value, plain_value in zip(metric.columns, ours, plain, strict=True):
        if (name := column.replace("bleu", "Bleu")) in values:
            assert value == pytest.approx(values[name], rel=1e-14)
            assert plain_value == pytest.approx(values[name], rel=1e-11)


def test_pycocoevalcap(mrg_rl, iu590) -> None:
    coco = pytest.importorskip("pycocoevalcap.bleu.bleu")
    metric = Bleu(smoothing="coco", tokenizer="whitespace", lowercase=False, empty="zero")
    for cases in (*mrg_rl.values(), *iu590.values()):
        gts = {i: list(case.references) for i, case in enumerate(cases)}
        res = {i: [case.candidate] for i, case in enumerate(cases)}
        corpus, per_case = coco.Bleu(4).compute_score(gts, res, verbose=0)
        rows = metric.measure(cases, reading=Readings())
        ours = metric.corpus_scores(*sums(rows))
        np.testing.assert_allclose(ours[[1, 2, 3, 0]], corpus, rtol=1e-12)
        np.testing.assert_allclose(metric.case_scores(rows)[:, [1, 2, 3, 0]].T, per_case, rtol=1e-9)


def test_pycocoevalcap_with_several_references(mrg_rl) -> None:
    coco = pytest.importorskip("pycocoevalcap.bleu.bleu")
    texts = [case.references[0] for case in mrg_rl["oracle_top20"]]
    cases = [
        Case(case.id, case.candidate, tuple(texts[i : i + 1 + i % 4]))
        for i, case in enumerate(mrg_rl["oracle_top20"])
    ]
    gts = {i: list(case.references) for i, case in enumerate(cases)}
    res = {i: [case.candidate] for i, case in enumerate(cases)}
    corpus, _ = coco.Bleu(4).compute_score(gts, res, verbose=0)
    metric = Bleu(smoothing="coco", tokenizer="whitespace")
    ours = metric.corpus_scores(*sums(metric.measure(cases, reading=Readings())))
    np.testing.assert_allclose(ours[[1, 2, 3, 0]], corpus, rtol=1e-12)


@pytest.mark.parametrize("tokenizer", ["13a", "whitespace"])
@pytest.mark.parametrize("smoothing", ["exp", "floor", "none"])
def test_sacrebleu(iu590, tokenizer: str, smoothing: str) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    theirs_corpus = sacrebleu.BLEU(
        lowercase=True, tokenize={"whitespace": "none"}.get(tokenizer, tokenizer), smooth_method=smoothing
    )
    theirs_case = sacrebleu.BLEU(
        lowercase=True,
        tokenize={"whitespace": "none"}.get(tokenizer, tokenizer),
        smooth_method=smoothing,
        effective_order=True,
    )
    metric = Bleu(tokenizer=tokenizer, smoothing=smoothing)
    for cases in iu590.values():
        rows = metric.measure(cases, reading=Readings())
        expected = theirs_corpus.corpus_score(
            [case.candidate for case in cases], [[case.references[0] for case in cases]]
        )
        assert metric.corpus_score(rows) * 100 == pytest.approx(expected.score, rel=1e-10)
        each = [theirs_case.sentence_score(case.candidate, case.references).score for case in cases[:150]]
        np.testing.assert_allclose(metric.case_scores(rows[:150])[:, 0] * 100, each, rtol=1e-9, atol=1e-9)


def test_empty_candidates() -> None:
    records = [
        {"id": "1", "candidate": "", "reference": "no effusion"},
        {"id": "2", "candidate": "no effusion", "reference": "no effusion"},
    ]
    judged = score(records, [Bleu()])["bleu"]
    assert math.isnan(judged.values[0, 0])
    assert judged.reasons[("1", "system")] == "empty candidate"
    counted = score(records, [Bleu(empty="zero")])["bleu"]
    assert counted.values[:, 0].tolist() == [0.0, 1.0]
    corpus = counted.corpus_scores(*sums(counted.rows))
    assert corpus[0] == pytest.approx(math.exp(1 - 4 / 2))  # two words where four were expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "nist"}, "bleu: variant must be one of .*radeval, got 'nist'"),
        ({"smoothing": "add"}, "bleu: smoothing must be one of exp, floor, none, coco, got 'add'"),
        ({"empty": "drop"}, "bleu: empty must be one of nan, zero, got 'drop'"),
        ({"tokenizer": "ptb"}, "bleu: tokenizer must be one of words, whitespace, 13a, got 'ptb'"),
        ({"variant": "cxr", "smoothing": "none"}, "variant 'cxr' fixes tokenizer, lowercase and smoothing"),
    ],
)
def test_impossible_settings(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Bleu(**settings)


def test_signatures_name_what_the_variant_means() -> None:
    assert "tokenizer:cxr|" in Bleu(variant="cxr").signature()
    assert "|smoothing:floor|" in Bleu(variant="cxr").signature()
    assert "|tokenizer:words|lowercase:yes|smoothing:exp|" in Bleu().signature()


def test_explanation() -> None:
    case = Case("1", "No pleural effusion. Heart is big.", ("There is no pleural effusion.",))
    explained = Bleu().explain(case, reading=Readings())
    assert explained is not None
    shown = [
        (note.kind, [case.candidate[start:end] for start, end in note.candidate_spans])
        for note in explained.notes
        if note.kind != "info"
    ]
    assert shown == [("matched", ["No pleural effusion."]), ("added", ["Heart", "big"]), ("missing", [])]
    assert (
        explained.notes[0].text == "n-grams of order 1 to 4 found in the reference: 5 of 8, 3 of 7, 2 of 6, 1 of 5"
    )


words = st.lists(st.sampled_from(["a", "b", "c", "d", "."]), max_size=12).map(" ".join)


@given(candidate=words, references=st.lists(words, min_size=1, max_size=3))
def test_values_are_in_range_and_a_copy_is_perfect(candidate: str, references: list[str]) -> None:
    for metric in (Bleu(), Bleu(smoothing="coco"), Bleu(variant="cxr")):
        values = np.array(list(bleu(candidate, *references, metric=metric).values()))
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1 + 1e-12)))
    if candidate.strip():
        assert set(bleu(candidate, candidate, *references).values()) == {1.0}
