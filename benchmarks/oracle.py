"""Oracle search at the size of the published study: time, memory, how both grow, and against brute force.

    python benchmarks/oracle.py --data ../shared/data [--sizes 10000,50000,185538] [--metrics bleu2_cxr,radgraph]

The corpus is put together from the sentences of a part of the IU reports: a fifth are copies of whole reports, the
others draw as many sentences as real reports have, each as often as it occurs. The queries are 2,192 other reports
as they are; equal ones are searched once. Every line is a process of its own: `read` is until the first query is
answered (reading and index), `search` is for the others, `peak` is the largest resident memory of the process,
corpus included. On a busy machine `cpu` says more than the clock. `mean` is over the queries that could be judged,
`zero` counts those with which no report has anything in common.

Brute force is sacreBLEU's sentence_score (orders 1 and 2, the smoothing closest to CXR-Report-Metric's) on a
sample of pairs, times the number of distinct pairs: copies count once, as they do in the search. Both sides of
that ratio are seconds of one core, since the load of a shared machine changes between two runs.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

from radgauge.analysis.oracle import Corpus
from radgauge.analysis.oracle.find import load_oracle_metric, search_for
from radgauge.core.readings import Readings
from radgauge.run.contract import REPORTS
from radgauge.text.sentences import split_sentences

Reports = list[tuple[str, str]]


def build(size: int, queries: int, data: Path | None, seed: int = 0) -> tuple[Reports, Reports]:
    """A corpus of `size` reports, and real reports to ask for."""
    rng = random.Random(seed)
    if data is None:
        real = [f"{a} {b}" for a in REPORTS for b in REPORTS if a != b]
    else:
        with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8") as file:
            joined = [f"{row['findings']} {row['impression']}".strip() for row in csv.DictReader(file)]
        real = [text for text in joined if text]
    rng.shuffle(real)
    cut = min(queries, len(real) // 2 if data is None else queries)
    asked, rest = real[:cut], real[cut:]
    sentences = [[text[start:end] for start, end in split_sentences(text)] for text in rest]
    pool = [sentence for each in sentences for sentence in each]
    lengths = [len(each) for each in sentences]
    corpus = [
        rng.choice(rest) if rng.random() < 0.2 else " ".join(rng.choices(pool, k=rng.choice(lengths)))
        for _ in range(size)
    ]
    return [(f"c{n}", text) for n, text in enumerate(corpus)], [(f"q{n}", text) for n, text in enumerate(asked)]


def one(metric: str, size: int, queries: int, data: Path | None) -> None:
    """Measure one search and print it as JSON."""
    reports, asked = build(size, queries, data)
    judge = load_oracle_metric(metric)
    began, cpu = time.perf_counter(), time.process_time()
    corpus = Corpus.of(reports)
    distinct = list(dict.fromkeys(text for _, text in asked))
    search = search_for(judge)(judge, corpus.texts, queries=distinct, top=1, reading=Readings())
    first = next(search)
    ready = time.perf_counter()
    answers = [first, *search]
    done = time.perf_counter()
    scores = [float(found.scores[0]) for found in answers if len(found.scores)]
    measured = {
        "texts": len(corpus.texts),
        "queries": len(distinct),
        "read": ready - began,
        "search": done - ready,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "mean": sum(scores) / len(scores),
        "zero": sum(score == 0 for score in scores),
        "not_judged": len(answers) - len(scores),
    }
    print(json.dumps(measured))


def brute_force(size: int, queries: int, data: Path | None, sample: int = 4000) -> float:
    """Seconds of one core that sacreBLEU takes per pair."""
    from sacrebleu.metrics import BLEU

    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    reports, asked = build(min(size, 20_000), queries, data)
    rng = random.Random(1)
    pairs = [(rng.choice(reports)[1], rng.choice(asked)[1]) for _ in range(sample)]
    bleu = BLEU(max_ngram_order=2, lowercase=True, smooth_method="floor", smooth_value=0.1, effective_order=True)
    for candidate, reference in pairs:  # so that its cache of tokenised texts is warm
        bleu.sentence_score(candidate, [reference])
    start = time.process_time()
    for candidate, reference in pairs:
        bleu.sentence_score(candidate, [reference])
    return (time.process_time() - start) / sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sizes", default="10000,50000,185538")
    parser.add_argument("--queries", type=int, default=2192)
    parser.add_argument("--metrics", default="bleu2_cxr,chexbert_similarity,radgraph")
    parser.add_argument("--one", nargs=2, metavar=("METRIC", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one[0], int(options.one[1]), options.queries, options.data)
        return
    sizes = [int(size) for size in options.sizes.split(",")]
    print(f"{'metric':<20} {'corpus':>8} {'distinct':>8} {'queries':>7} {'read s':>8} {'search s':>8} ", end="")
    print(f"{'total s':>8} {'cpu s':>8} {'peak MB':>8} {'mean':>6} {'zero':>5} {'not judged':>10}")
    for metric in options.metrics.split(","):
        for size in sizes:
            passed = ["--data", str(options.data)] if options.data else []
            command = [sys.executable, __file__, *passed, "--queries", str(options.queries)]
            done = subprocess.run(
                [*command, "--one", metric, str(size)], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            total = found["read"] + found["search"]
            print(
                f"{metric:<20} {size:>8} {found['texts']:>8} {found['queries']:>7} {found['read']:>8.1f} "
                f"{found['search']:>8.1f} {total:>8.1f} {found['cpu']:>8.1f} {found['peak']:>8.0f} "
                f"{found['mean']:>6.3f} {found['zero']:>5} {found['not_judged']:>10}",
                flush=True,
            )
            if metric == "bleu2_cxr" and size == sizes[-1]:
                each = brute_force(size, options.queries, options.data)
                pairs = found["texts"] * found["queries"]
                print(
                    f"  sacreBLEU: {1e6 * each:.1f} us a pair; {pairs:,.0f} distinct pairs would take "
                    f"{each * pairs / 3600:.1f} h of one core, {each * pairs / found['cpu']:,.0f} times as long",
                    flush=True,
                )


if __name__ == "__main__":
    main()
