"""Best Match and Top 10 %: the right pairs, in splits that do what they say."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.lab.training.clusters import Clusters
from radgauge.lab.training.pair_scores import PairScorer
from radgauge.lab.training.pairs import SPLITS, PairCorpus, build_pairs
from radgauge.lab.training.term_reports import TermReports, read_term_reports
from radgauge.run.engines import Engine


def every_pair(reports, clusters: Clusters) -> dict[tuple[int, int], float]:
    """All pairs inside clusters, the slow way."""
    scorer = PairScorer.of([report.text for report in reports], reading=Readings())
    every = np.arange(len(reports))
    values = scorer.block(every, every).radcliq
    return {
        (i, j): float(values[i, j])
        for i in every.tolist()
        for j in every.tolist()
        if i != j and clusters.labels[i] == clusters.labels[j]
    }


def kept(corpus: PairCorpus) -> dict[tuple[int, int], float]:
    return {
        (int(i), int(j)): float(value)
        for pairs in corpus.splits.values()
        for i, j, value in zip(pairs.reference, pairs.candidate, pairs.radcliq, strict=True)
    }


def test_top_keeps_the_best_share_of_all_pairs(reports, clusters) -> None:
    expected = every_pair(reports, clusters)
    corpus = build_pairs(reports, clusters, corpus="top", share=0.1, split="pairs")
    found = kept(corpus)
    assert corpus.scored == len(expected)
    assert len(found) == round(0.1 * len(expected))
    cut = sorted(expected.values())[len(found) - 1]
    assert max(found.values()) <= cut + 1e-6
    assert all(found[pair] == pytest.approx(expected[pair], abs=1e-6) for pair in found)


@pytest.mark.parametrize("unordered", [False, True])
def test_two_processes_find_the_same_pairs(
    reports, clusters, unordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("radgauge.lab.training.pairs.BLOCK", 7)  # several blocks of so few reports
    one, two = (
        build_pairs(reports, clusters, share=0.3, unordered=unordered, background=0.2, seed=1, engine=engine)
        for engine in (Engine(), Engine("pool", 2))
    )
    for name, pairs in one.splits.items():
        for mine, other in zip(pairs, two.splits[name], strict=True):
            assert mine.tobytes() == other.tobytes()
    assert (one.overlap, one.scored, one.seen) == (two.overlap, two.scored, two.seen)


def test_best_gives_every_report_its_best_partner(reports, clusters) -> None:
    expected = every_pair(reports, clusters)
    found = kept(build_pairs(reports, clusters, corpus="best", split="pairs"))
    assert sorted(i for i, _ in found) == list(range(len(reports)))
    for (i, _), value in found.items():
        assert value == pytest.approx(min(other for (a, _), other in expected.items() if a == i), abs=1e-6)


@pytest.mark.parametrize("kind", ["top", "best"])
def test_no_report_stands_in_two_splits(reports, clusters, kind: str) -> None:
    corpus = build_pairs(reports, clusters, corpus=kind, share=0.5, split="report", seed=1)
    used = [set(pairs.reference) | set(pairs.candidate) for pairs in corpus.splits.values()]
    assert all(used)
    assert not used[0] & used[1]
    assert not used[0] & used[2]
    assert not used[1] & used[2]
    assert set(corpus.seen.values()) == {0.0}
    assert corpus.report_split is not None
    assert np.bincount(corpus.report_split).tolist() == pytest.approx(
        [0.64 * len(reports), 0.16 * len(reports), 0.2 * len(reports)], abs=3
    )


def test_splitting_pairs_at_random_lets_reports_through(reports, clusters) -> None:
    corpus = build_pairs(reports, clusters, split="pairs", share=0.5)
    sizes = [len(corpus.splits[name].reference) for name in SPLITS]
    assert np.array(sizes) / sum(sizes) == pytest.approx([0.64, 0.16, 0.2], abs=0.01)
    assert corpus.seen["test"] == 1.0


def test_the_same_seed_gives_the_same_pairs(reports, clusters) -> None:
    first, second, third = (build_pairs(reports, clusters, background=0.5, seed=seed) for seed in (4, 4, 5))
    for name in SPLITS:
        np.testing.assert_array_equal(first.splits[name].reference, second.splits[name].reference)
    assert not np.array_equal(first.report_split, third.report_split)


def test_background_pairs_and_copies_join_training_only(reports, clusters) -> None:
    plain = build_pairs(reports, clusters, seed=2)
    wide = build_pairs(reports, clusters, background=1.0, seed=2)
    assert len(wide.splits["train"].reference) > 2 * len(plain.splits["train"].reference)
    assert kept(plain).keys() <= kept(wide).keys()
    np.testing.assert_array_equal(wide.splits["val"].radcliq, plain.splits["val"].radcliq)
    train = wide.splits["train"]
    copies = train.reference == train.candidate
    np.testing.assert_allclose(train.radcliq[copies], -0.155072, atol=1e-5)
    assert copies.any()
    assert set(wide.seen.values()) == {0.0}


def test_shares_of_abnormal_and_of_common_terms(reports, clusters) -> None:
    corpus = build_pairs(reports, clusters, split="pairs", share=1.0)
    pairs = every_pair(reports, clusters)
    words = [{word for term in report.terms for word in term.split("/")} for report in reports]
    common = [min(len(words[i] & words[j]), 2) for i, j in pairs]
    assert list(corpus.overlap["all"]) == pytest.approx([common.count(n) / len(common) for n in (0, 1, 2)])
    assert list(corpus.overlap["kept"]) == pytest.approx(list(corpus.overlap["all"]))
    abnormal = np.mean([not reports[i].normal for i, _ in pairs])
    total = sum(corpus.abnormal[name] * len(corpus.splits[name].reference) for name in SPLITS)
    assert total / len(pairs) == pytest.approx(abnormal)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"corpus": "worst"}, "the kind of corpus must be one of top, best, got 'worst'"),
        ({"split": "study"}, "split must be one of report, pairs, got 'study'"),
        ({"share": 0.0}, "share must be above 0 and at most 1, got 0.0"),
        ({"background": -1.0}, "background must be 0 or more, got -1.0"),
    ],
)
def test_impossible_settings_are_refused(reports, clusters, setting, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_pairs(reports, clusters, **setting)


def test_reports_that_cannot_be_paired_are_counted(chosen: TermReports, corpus_file) -> None:
    assert chosen.dropped == {"no text": 1, "no usable terms": 2, "text occurred before": 1}
    twice = read_term_reports(corpus_file, duplicates=True)
    assert len(twice.reports) == len(chosen.reports) + 1


@pytest.mark.long
def test_equal_texts_go_to_the_same_split(corpus_file) -> None:
    from radgauge.lab.training.clusters import cluster_terms

    twice = read_term_reports(corpus_file, duplicates=True).reports
    corpus = build_pairs(twice, cluster_terms([report.terms for report in twice], k=3), seed=7)
    assert corpus.report_split is not None
    text = twice[0].text
    assert len({int(corpus.report_split[at]) for at, report in enumerate(twice) if report.text == text}) == 1


def test_a_corpus_without_reports_is_refused(tmp_path) -> None:
    (tmp_path / "c.csv").write_text("id,report,terms\n1,,normal\n2,Clear.,No Indexing\n", encoding="utf-8")
    with pytest.raises(InputError, match="got 0; dropped: 1 no text, 1 no usable terms"):
        read_term_reports(tmp_path / "c.csv")


@pytest.mark.nightly
def test_the_whole_of_iu_xray(shared_data) -> None:
    from radgauge.lab.training.clusters import cluster_terms

    found = read_term_reports(shared_data / "iu_xray" / "indiana_reports.csv")
    grouped = cluster_terms([report.terms for report in found.reports], k=6)
    assert "normal" in {terms[0][0] for terms in grouped.prominent}
    corpus = build_pairs(found.reports, grouped, split="pairs")
    # the paper: 737,014 unordered pairs; overlap in Top 10 %: 19.8 % none, 46.9 % one, 33.3 % more
    assert corpus.scored / 2 == pytest.approx(737_014, rel=0.1)
    assert list(corpus.overlap["kept"]) == pytest.approx([0.198, 0.469, 0.333], abs=0.08)


def test_unordered_pairs_are_counted_once_as_the_paper_counts_them(reports, clusters) -> None:
    both = build_pairs(reports, clusters, corpus="top", share=0.1, split="pairs")
    once = build_pairs(reports, clusters, corpus="top", share=0.1, split="pairs", unordered=True)
    assert 2 * once.scored == both.scored
    assert once.kept == round(0.1 * once.scored)
    found = kept(once)
    assert all(i < j for i, j in found)
    expected = {pair: value for pair, value in every_pair(reports, clusters).items() if pair[0] < pair[1]}
    assert max(found.values()) <= sorted(expected.values())[len(found) - 1] + 1e-6
    assert once.overlap["all"] == pytest.approx(both.overlap["all"])  # overlap knows no order
    best = build_pairs(reports, clusters, corpus="best", split="pairs", unordered=True)
    pairs = [frozenset(pair) for pair in kept(best)]
    assert len(pairs) == len(set(pairs)) < len(reports)
    assert set().union(*pairs) == set(range(len(reports)))


@pytest.mark.models
def test_pairs_can_be_scored_with_the_networks_graphs(reports, clusters, tmp_path) -> None:
    pytest.importorskip("torch")
    from parity_scripts import parity_script

    from radgauge.metrics.radgraph import RadGraph

    folder = tmp_path / "radgraph"
    parity_script("seeded").radgraph(folder, network="radgraph", max_length=64)
    few = [report.text for report in reports[:6]]
    reading = Readings()
    scorer = PairScorer.of(few, reading=reading, models=str(folder))
    every = np.arange(len(few))
    found = scorer.block(every, every).radgraph_f1
    metric = RadGraph(models=str(folder))
    cases = [Case(f"{i} {j}", few[j], (few[i],)) for i in every for j in every]
    expected = metric.measure(cases, reading=reading)[:, 0].reshape(found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - PairScorer.of(few, reading=reading).block(every, every).radgraph_f1).max() > 0.01
