"""What the matcher adds to `errors`, on sources of pairs left out of the fit: see README.md beside this file."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from network import Matcher, Words
from numpy.typing import NDArray
from pairs import RANKED, Pair, judged_pairs, ranked_pairs
from scipy.stats import kendalltau, rankdata
from train import predict

from radgauge.core.readings import Readings
from radgauge.metrics.errors import Errors
from radgauge.reader import ReportReader
from radgauge.text.sentences import split_sentences

WEIGHTS = np.array([0.0, 0.15, 0.4, 1.0, 1.6])
"""Of normal, benign, not actionable, actionable, urgent, in actionable findings."""
PULL = 3.0
RESAMPLES = 1000
Array = NDArray[np.float64]


def sentences(text: str) -> list[str]:
    """Sentences of a report; the whole text if it has none."""
    return [text[start:end] for start, end in split_sentences(text)] or [text]


def network_features(pairs: Sequence[Pair], network: Matcher, words: Words) -> Array:
    """Weighted contradictions and unmentioned abnormal statements in both directions."""
    groups, sizes = [], []
    for pair in pairs:
        candidate, reference = pair.case.candidate, pair.case.references[0]
        for report, told in ((reference, sentences(candidate)), (candidate, sentences(reference))):
            groups.append(words.group(report, told))
            sizes.append(len(told))
    found = predict(network, groups)
    ends = np.cumsum(sizes)[:-1]
    labels, tiers = (np.split(found[name], ends) for name in ("label", "tier"))
    rows = []
    for at in range(len(pairs)):
        row: list[float] = []
        for side in (2 * at, 2 * at + 1):
            weight = tiers[side] @ WEIGHTS
            against, absent = labels[side][:, 1] * weight, labels[side][:, 2] * weight
            row += [against.sum(), absent.sum(), against.max(), absent.max()]
            row += [weight.sum(), labels[side][:, 1].mean(), labels[side][:, 2].mean(), float(len(weight))]
        rows.append(row)
    raw = np.array(rows)
    whole = raw[:, 12] + 1.0
    lost = [raw[:, at] / whole for at in (0, 1, 8, 9)]
    total = sum(lost)
    squashed = [(1 - x) / (1 + x) for x in (total, *lost)]
    most = raw[:, [2, 3, 10, 11]]
    return np.column_stack([*squashed, most, np.log1p(raw[:, [0, 1, 8, 9]]), raw[:, [5, 6, 13, 14]]])


def rule_features(pairs: Sequence[Pair], weights: str, reading: Readings) -> Array:
    """Quality first, then counts; a pair that cannot be judged gets the median."""
    rows = Errors(weights=weights).measure([pair.case for pair in pairs], reading=reading)[:, :3]
    middle = np.nanmedian(rows, axis=0)
    rows = np.where(np.isnan(rows), middle, rows)
    return np.column_stack([rows[:, 0], np.log1p(rows[:, 1]), np.log1p(rows[:, 2])])


def unread(pairs: Sequence[Pair]) -> Array:
    """Share of the content of both reports that the reader did not understand."""
    texts = [text for pair in pairs for text in (pair.case.candidate, pair.case.references[0])]
    shares = np.array([reading.coverage for reading in ReportReader().read(texts)])
    return 1.0 - np.nan_to_num(shares, nan=1.0).reshape(-1, 2).mean(axis=1)


def ridge(features: Array, rating: Array, groups: Array, asked: Array) -> Array:
    """Ridge on standardised features, every source with the same weight."""
    middle, scale = features.mean(0), features.std(0) + 1e-9
    x, y = (features - middle) / scale, rating - rating.mean()
    weight = np.array([1 / (groups == group).sum() for group in groups])
    weight *= len(weight) / weight.sum()
    pull = PULL * len(y) / 100
    solved = np.linalg.solve((x * weight[:, None]).T @ x + pull * np.eye(x.shape[1]), (x * weight[:, None]).T @ y)
    return np.asarray((asked - middle) / scale @ solved)


def left_out(features: Array, rating: Array, source: Array) -> Array:
    """Predictions for each source by weights fitted on the others."""
    found = np.empty(len(rating))
    for name in np.unique(source):
        out = source == name
        found[out] = ridge(features[~out], rating[~out], source[~out], features[out])
    return found


def tau(values: Array, rating: Array) -> float:
    """Kendall tau-b."""
    return float(kendalltau(values, rating).statistic)


def bootstrap(judges: dict[str, Array], base: str, pairs: Sequence[Pair], rating: Array, source: Array) -> None:
    """Paired bootstrap over studies of each source: difference of tau to the base judge."""
    rng = np.random.default_rng(0)
    study = np.array([pair.study for pair in pairs])
    names = list(dict.fromkeys(source))
    drawn: dict[str, list[list[float]]] = {judge: [] for judge in judges}
    members = {
        name: [np.flatnonzero((source == name) & (study == each)) for each in np.unique(study[source == name])]
        for name in names
    }
    for _ in range(RESAMPLES):
        rows = {
            name: np.concatenate([cases[at] for at in rng.integers(0, len(cases), len(cases))])
            for name, cases in members.items()
        }
        for judge, values in judges.items():
            drawn[judge].append([tau(values[rows[n]], rating[rows[n]]) for n in names])
    against = np.array(drawn[base])
    for judge in judges:
        gain = np.array(drawn[judge]) - against
        whole = np.column_stack([gain, gain.mean(1)])
        low, high = np.percentile(whole, [2.5, 97.5], axis=0)
        ends = zip([*names, "mean"], low, high, strict=True)
        shown = [f"{name} [{least:+.3f}, {most:+.3f}]" for name, least, most in ends]
        print(f"  {judge:28}" + "  ".join(shown), flush=True)


def main() -> None:
    """Print tau of rules, network and both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("network", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[3] / "shared" / "data")
    given = parser.parse_args()
    torch.set_num_threads(1)
    pairs = judged_pairs(given.data)
    ranked = ranked_pairs(given.data)
    words = Words(given.weights)
    found, began = [], time.process_time()
    for file in given.network:
        network = Matcher()
        network.load_state_dict(torch.load(file, weights_only=True)["network"])
        found.append(network_features([*pairs, *ranked], network, words))
    learned = np.mean(found, axis=0)
    speed = len(given.network) * (len(pairs) + len(ranked)) / (time.process_time() - began)
    print(f"  {speed:.1f} pairs per second of one core")
    reading = Readings()
    rules = rule_features([*pairs, *ranked], "default", reading)
    hand = rule_features([*pairs, *ranked], "prior", reading)  # the default weights know all four sources
    rating = np.array([pair.rating for pair in pairs])
    source = np.array([pair.source for pair in pairs])
    n = len(pairs)
    both = np.column_stack([rules, learned])
    gated = np.column_stack([rules, learned[:, :1] * unread([*pairs, *ranked])[:, None]])
    judges = {
        "errors_quality": rules[:n, 0],
        "weights by hand": hand[:n, 0],
        "by hand, ridge": left_out(hand[:n], rating, source),
        "by hand and network, ridge": left_out(np.column_stack([hand, learned])[:n], rating, source),
        "network, no fit": learned[:n, 0],
        "network, ridge": left_out(learned[:n], rating, source),
        "both, ridge": left_out(both[:n], rating, source),
        "network where unread": left_out(gated[:n], rating, source),
    }
    ranks = np.empty(n)
    for name in np.unique(source):
        out = source == name
        ranks[out] = rankdata(judges["errors_quality"][out]) + rankdata(judges["network, ridge"][out])
    judges["mean rank"] = ranks
    names = list(dict.fromkeys(source))
    print(f"  {'tau-b, source left out':28}" + "".join(f"{name:>17}" for name in names) + f"{'mean':>8}")
    for judge, values in judges.items():
        taus = [tau(values[source == name], rating[source == name]) for name in names]
        print(f"  {judge:28}" + "".join(f"{t:17.3f}" for t in taus) + f"{np.mean(taus):8.3f}")
    everything = {"errors_quality": rules[n:, 0]}
    for judge, features in (("network, ridge", learned), ("both, ridge", both)):
        everything[judge] = ridge(features[:n], rating, source, features[n:])
    for judge, values in everything.items():
        table = values.reshape(-1, len(RANKED))
        first = int((table[:, :1] > table[:, 1:]).all(1).sum())
        print(f"  rankings, {judge}: rewording first in {first} of {len(table)}")
    for base in ("errors_quality", "by hand, ridge"):
        print(f"  difference of tau to {base}, 95 % paired bootstrap over studies")
        bootstrap(judges, base, pairs, rating, source)


if __name__ == "__main__":
    main()
