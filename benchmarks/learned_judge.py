"""Can a judge that learned from judged pairs beat `errors`? Every source is judged by what the others taught.

    python benchmarks/learned_judge.py [--data DIR] [--encoder FOLDER] [--sources NAMES] [--write]

Kendall's tau-b with the rating and with the total number of errors, source by source: `errors` and
`comet_embedded` as they are, their blend, combinations learned from the columns of all embedded metrics, and count
heads (`train estimator --heads counts`) on judged pairs with and without perturbed reports of known counts. Also
where `comet_embedded` is strong and weak: by how alike the wording of a pair is. `--encoder` (a MiniLM; minutes
per source) trains the heads with a transformer instead of the sketch. `--write` keeps the figures for
docs/models/learned_judge.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from judged_data import DATA, judged_sources
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import radgauge as rg
from radgauge.analysis.perturb import KINDS, perturb
from radgauge.core.readings import Readings
from radgauge.io.judgments import Judgments
from radgauge.lab.training.estimator import train_estimator
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import PairTable, count_pairs
from radgauge.metrics.crepe import Crepe
from radgauge.stats.coefficients import association

Values = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "learned_judge.json"
METRICS = ("errors", "comet", "ratescore", "radcliq", "chexbert_similarity", "rouge", "bertscore", "radgraph")
REAL = ("radpref_dev", "iu_pairs", "vlm_style")
"""Outputs of generators, or in their manner; in the other sources texts were written to be close calls."""
SHARED = (0.0, 0.3, 0.5, 0.75, 1.01)
"""ROUGE-L of candidate and reference, by which pairs are grouped: from free wording to near copies."""
MIN_PAIRS = 12
KNOWN = [name for name, kind in KINDS.items() if 1 <= kind.category <= 6 or (not kind.category and kind.harmless)]
PER_REPORT = 4


class Source:
    """The pairs of a source with every embedded metric, oriented so that higher is better."""

    def __init__(self, judgments: Judgments, reading: Readings) -> None:
        self.judgments = judgments
        self.rating = judgments.mean_ratings().headline
        self.total = -judgments.mean_errors().column("errors_total")
        self.columns: dict[str, Values] = {}
        for scores in rg.score(list(judgments.cases), list(METRICS), reading=reading).judges.values():
            self.columns |= {column: scores.oriented(column) for column in scores.columns}

    def tau(self, values: Values, *, inside: NDArray[np.bool_] | None = None) -> tuple[float, float]:
        """With the rating and with the total number of errors."""
        chosen = np.ones(len(values), dtype=bool) if inside is None else inside
        return (
            float(association(values[chosen], self.rating[chosen])),
            float(association(values[chosen], self.total[chosen])),
        )

    def features(self, prefix: str) -> Values:
        """Columns of `errors` with `comet_embedded`, or of everything; what is not judged counts as the median."""
        names = [name for name in self.columns if name.startswith((prefix, "comet")) and name not in _SPARSE]
        table = np.stack([self.columns[name] for name in names], axis=1)
        return np.where(np.isnan(table), np.nanmedian(table, axis=0), table)


_SPARSE = ("errors_quality_abnormal", "errors_quality_normal", "errors_precision", "errors_recall", "errors_f1",
           "errors_false_alarms")  # fmt: skip
"""Columns without a value on many pairs."""


def combination(make: Callable[[], Any], prefix: str, sources: dict[str, Source], left_out: str) -> Values:
    """A regressor of ranks within each other source, all sources weighing the same."""
    others = [source for name, source in sources.items() if name != left_out]
    ranks = [rankdata(source.rating) / len(source.rating) for source in others]
    weights = np.concatenate([np.full(len(each), 1 / len(each)) for each in ranks])
    model = make()
    last = model.steps[-1][0] if hasattr(model, "steps") else ""
    named = {f"{last}__sample_weight" if last else "sample_weight": weights}
    model.fit(np.concatenate([source.features(prefix) for source in others]), np.concatenate(ranks), **named)
    predicted: Values = model.predict(sources[left_out].features(prefix))
    return np.where(np.isnan(sources[left_out].columns["errors_quality"]), np.nan, predicted)


def perturbed(references: Sequence[str]) -> PairTable:
    """Changed copies of reports, each with one error of a known category or none."""
    rng = np.random.default_rng(0)
    texts: dict[str, int] = {}
    rows, targets = [], []
    for text in references:
        for kind in rng.permutation(KNOWN)[:PER_REPORT]:
            made = perturb(text, str(kind), rng=rng)
            if made is not None:
                target = np.zeros(6, np.float32)
                if category := KINDS[str(kind)].category:
                    target[category - 1] = 1.0
                rows.append([texts.setdefault(each, len(texts)) for each in (text, made.text)])
                targets.append(target)
    reference, candidate = np.array(rows, dtype=np.intp).T
    return PairTable(tuple(texts), reference, candidate, np.stack(targets), tuple(("", "") for _ in rows))


def joined(tables: Sequence[PairTable]) -> PairTable:
    """Several tables as one."""
    starts = np.cumsum([0, *(len(table.texts) for table in tables[:-1])])
    sides = (
        np.concatenate([getattr(t, side) + s for t, s in zip(tables, starts, strict=True)])
        for side in ("reference", "candidate")
    )
    return PairTable(
        tuple(text for table in tables for text in table.texts),
        *sides,
        np.concatenate([table.target for table in tables]),
        tuple(pair for table in tables for pair in table.ids),
    )


def split(table: PairTable) -> tuple[PairTable, PairTable]:
    """Training and validation: every sixth reference, by a hash of its text."""
    hashes = np.array([zlib.crc32(table.texts[at].encode()) % 6 == 0 for at in table.reference])

    def chosen(mask: NDArray[np.bool_]) -> PairTable:
        ids = tuple(pair for pair, use in zip(table.ids, mask, strict=True) if use)
        picked = {name: getattr(table, name)[mask] for name in ("reference", "candidate", "target")}
        return replace(table, **picked, ids=ids)

    return chosen(~hashes), chosen(hashes)


def heads(sources: dict[str, Source], left_out: str, encoder: str, *, changed: bool, reading: Readings) -> Values:
    """Count heads that learned from the other sources."""
    others = [source.judgments for name, source in sources.items() if name != left_out]
    train, validation = split(joined([count_pairs(judgments) for judgments in others]))
    if changed:
        train = joined([train, perturbed([train.texts[at] for at in dict.fromkeys(train.reference.tolist())])])
    with tempfile.TemporaryDirectory() as folder:
        settings = EstimatorSettings.for_counts(encoder, **({"epochs": 20} if encoder == "embedded" else {}))
        train_estimator(train, validation, folder=folder, settings=settings)
        models = folder if encoder != "embedded" else f"{folder}/crepe_embedded.npz"
        values = Crepe(models=models).measure(sources[left_out].judgments.cases, reading=reading)[:, 0]
    return -values


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--sources", help="only these, separated by commas")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    reading = Readings()
    sources = {name: Source(each, reading) for name, each in judged_sources(options.data).items()}
    forest = lambda: ExtraTreesRegressor(300, min_samples_leaf=5, max_features=0.4, random_state=0)  # noqa: E731
    ridge = lambda: make_pipeline(StandardScaler(), Ridge(100.0))  # noqa: E731
    judges: dict[str, Callable[[str], Values]] = {
        "`errors_quality`": lambda name: sources[name].columns["errors_quality"],
        "`errors_total`": lambda name: sources[name].columns["errors_total"],
        "`errors_significant`": lambda name: sources[name].columns["errors_significant"],
        "`comet_embedded`": lambda name: sources[name].columns["comet_embedded"],
        "quality + 0.2 `comet_embedded`": lambda name: (
            sources[name].columns["errors_quality"] + 0.2 * sources[name].columns["comet_embedded"]
        ),
        "ridge on `errors` and `comet_embedded`": lambda name: combination(ridge, "errors", sources, name),
        "ridge on all embedded metrics": lambda name: combination(ridge, "", sources, name),
        "trees on all embedded metrics": lambda name: combination(forest, "", sources, name),
        "count heads, judged pairs": lambda name: heads(
            sources, name, options.encoder, changed=False, reading=reading
        ),
        "count heads, judged and perturbed": lambda name: heads(
            sources, name, options.encoder, changed=True, reading=reading
        ),
    }
    chosen = options.sources.split(",") if options.sources else list(sources)
    table = {judge: {name: sources[name].tau(make(name)) for name in chosen} for judge, make in judges.items()}
    for judge, line in table.items():
        print(
            f"{judge:42}",
            *(f"{name} {rating:.3f}/{total:.3f}" for name, (rating, total) in line.items()),
            flush=True,
        )
    alike: list[dict[str, Any]] = []
    for low, high in pairwise(SHARED):
        for name, source in sources.items():
            inside = (source.columns["rouge_l"] >= low) & (source.columns["rouge_l"] < high)
            if inside.sum() >= MIN_PAIRS:
                taus = [
                    source.tau(source.columns[c], inside=inside)[0] for c in ("errors_quality", "comet_embedded")
                ]
                alike.append({"from": low, "to": high, "source": name, "pairs": int(inside.sum()), "tau": taus})
                print(f"ROUGE-L {low:g} to {high:g}: {name} n {inside.sum()}: {taus[0]:.2f}, comet {taus[1]:.2f}")
    if options.write:
        pairs = {name: len(source.rating) for name, source in sources.items()}
        RESULTS.write_text(json.dumps({"pairs": pairs, "judges": table, "alike": alike}, indent=1) + "\n")


if __name__ == "__main__":
    main()
