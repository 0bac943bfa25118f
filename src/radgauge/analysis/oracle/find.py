"""oracle: for every query report the highest-scoring reports of a corpus by a metric.

Yu et al. (2023), Patterns 4(9), "metric-oracle reports": what retrieval could reach at best, and the reports
that radiologists judged to find out what the metrics overlook.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.analysis.oracle.corpus import Corpus, Reports, as_pairs
from radgauge.analysis.oracle.ranking import DECIMALS, Found
from radgauge.core.cache import Cache
from radgauge.core.errors import UsageError
from radgauge.core.metric import Metric, unaliased
from radgauge.core.progress import working
from radgauge.core.readings import Progress, Readings
from radgauge.core.registry import load
from radgauge.core.signature import unreleased_state
from radgauge.run.executors import HERE, Engine, run_in_order

# What a search has found so far, on disk, so that one that is stopped goes on.
#
# They lie in the reading cache, found by a hash of metric, corpus and query; every search finds the same
# texts, the best by that metric. Kept are places in the corpus and scores: no word of a report.

log = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds of searching that a kill may cost."""


class KeptMatches:
    """Matches of one corpus by one metric.

    Args:
        cache: Where they are kept; None keeps nothing.
        metric: Whose matches they are.
        texts: The texts of the corpus, in order.
        top: How many are found per query.
    """

    def __init__(self, cache: Cache | None, *, metric: Metric, texts: Sequence[str], top: int) -> None:
        self._cache = cache
        corpus = hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:16]
        self._signature = f"oracle|{metric.signature()}|corpus:{corpus}|top:{top}{unreleased_state()}"

    def known(self, queries: Sequence[str]) -> dict[str, Found]:
        """Cached matches by query."""
        if self._cache is None:
            return {}
        try:
            packed = self._cache.get(self._signature, queries)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return {}
        return {query: match for query, payload in packed.items() if (match := _unpack(payload)) is not None}

    def keeping(self, queries: Sequence[str], results: Iterable[Found]) -> Iterator[Found]:
        """The results as they come, written to disk about twice a second and at the end."""
        waiting: dict[str, bytes] = {}
        last = time.monotonic()
        try:
            for query, match in zip(queries, results, strict=True):
                waiting[query] = _pack(match)
                yield match
                if time.monotonic() - last >= EVERY:
                    self._put(waiting)
                    waiting, last = {}, time.monotonic()
        finally:
            self._put(waiting)

    def _put(self, packed: dict[str, bytes]) -> None:
        if self._cache is not None and packed:
            try:
                self._cache.put(self._signature, packed)
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        log.warning("the reading cache cannot be used (%s); matches are not kept for another run", error)
        self._cache = None


def _pack(match: Found) -> bytes:
    return json.dumps([match.indices.tolist(), match.scores.tolist(), match.why_not]).encode()


def _unpack(payload: bytes) -> Found | None:
    """None for bytes that are not ours: the query is asked anew."""
    try:
        indices, scores, why_not = json.loads(payload)
        return Found(np.array(indices, dtype=np.intp), np.array(scores, dtype=np.float64), str(why_not))
    except (ValueError, TypeError):
        return None


NAMES = {"bleu2_cxr": "bleu:variant=cxr"}
"""Names of columns that are the settings of a metric."""

SEARCHES = {
    "bleu2_cxr": "bleu2:search_bleu2",
    "radgraph": "graphs:search_graphs",
    "chexbert_similarity": "vectors:search_vectors",
    "bertscore": "token_matching:search_tokens",
}
"""Metrics with an index, and the search in it."""

COUNT_MATCHES = frozenset({"bleu", "radgraph", "chexbert_similarity"})
"""Metrics whose 0 says that two reports have nothing in common."""

NO_MATCH = "no report of the corpus has anything in common with it"
PAPER_FALLBACK = "No acute cardiopulmonary process."
"""Match of Yu et al. where RadGraph matched nothing: the most frequent report of their corpus."""

BLOCKS = 4
"""Blocks of queries per worker: few, as each makes the index anew; several, so that matches are kept early."""

Search = Callable[..., Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One report found for one query."""

    id: str
    rank: int  # 1 is the best
    corpus_id: str  # Smallest id with this text; "" if nothing was found, or the fallback is not in the corpus
    # The metric's value with the found text as candidate and the query as reference; NaN if the query cannot be
    # judged
    score: float
    text: str  # The text found; "" if nothing was found
    frequency: int  # How many reports of the corpus have this text
    note: str = ""  # Why nothing was found, or why the text is the fallback


@working("searching")
def oracle(
    corpus: Reports | Corpus,
    queries: Reports,
    *,
    metric: str | Metric = "bleu2_cxr",
    top: int = 1,
    fallback: str = "",
    models: str = "embedded",
    reading: Readings | None = None,
    progress: Progress | None = None,
    cache: Cache | None = None,
    engine: Engine = HERE,
) -> list[Retrieved]:
    """The best-scoring reports of a corpus for every query, exactly.

    Ties go to the text that occurs more often in the corpus, then to the smaller id. So a query with which no
    report has anything in common gets the most frequent report, unless `fallback` says otherwise.

    Args:
        corpus: Reports to search: id -> text, pairs of (id, text), cases (their first reference), or a Corpus.
        queries: Reports to find matches for, in the same forms.
        metric: bleu2_cxr, radgraph, chexbert_similarity or bertscore, which have an index; any other metric that
            needs only a reference is measured pair by pair.
        top: How many reports per query.
        fallback: The text to give where the best score is 0; it need not be in the corpus.
        models: Profile of a metric given by name.
        reading: Shared readings.
        progress: Told how many queries are done.
        cache: Where matches are kept, so that a search that was stopped goes on; None keeps nothing.
        engine: Where queries are searched; each worker makes the index of the corpus for itself.

    Returns:
        Matches in the order of the queries, best first; one without text where a query cannot be judged.

    >>> found = oracle({"a": "No effusion.", "b": "Large effusion."}, {"q": "Small effusion."})
    >>> found[0].corpus_id, round(found[0].score, 3)
    ('a', 0.577)
    """
    if top < 1:
        raise UsageError(f"top must be 1 or more, got {top}")
    judge = load_oracle_metric(metric, models=models) if isinstance(metric, str) else metric
    searched = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus)
    pairs = as_pairs(queries, what="queries")
    distinct = list(dict.fromkeys(text for _, text in pairs if text.strip()))
    cached = KeptMatches(cache, metric=judge, texts=searched.texts, top=top)
    found = cached.known(distinct)
    left = [text for text in distinct if text not in found]
    shared = reading if reading is not None else Readings()
    results = _searched(judge, searched.texts, left, top, shared, engine) if left else ()
    for number, (text, result) in enumerate(
        zip(left, cached.keeping(left, results), strict=True), start=len(found) + 1
    ):
        found[text] = result
        if progress is not None:
            progress("queries", number, len(distinct))
    matches: list[Retrieved] = []
    for identifier, text in pairs:
        matches += _matches(identifier, found.get(text), searched, fallback, zero=judge.name in COUNT_MATCHES)
    return matches


def _searched(
    metric: Metric, texts: Sequence[str], queries: Sequence[str], top: int, reading: Readings, engine: Engine
) -> Iterator[Found]:
    """Matches of each query, in order; workers get blocks of queries."""
    if engine.name == "process":
        yield from search_for(metric)(metric, texts, queries=queries, top=top, reading=reading)
        return
    size = -(-len(queries) // (engine.workers * BLOCKS))
    blocks = (
        (metric, texts, queries[start : start + size], top) for start in range(0, len(queries), max(size, 1))
    )
    for matches in run_in_order(search_block, blocks, engine=engine):
        yield from matches


def search_block(item: tuple[Metric, Sequence[str], Sequence[str], int]) -> list[Found]:
    """Matches of a block of queries, in a worker."""
    metric, texts, queries, top = item
    return list(search_for(metric)(metric, texts, queries=queries, top=top, reading=Readings()))


def load_oracle_metric(name: str, *, models: str = "embedded") -> Metric:
    """A metric by its registry name or, for BLEU-2 of CXR-Report-Metric, the name of its column.

    >>> load_oracle_metric("bleu2_cxr").columns
    ('bleu2_cxr',)
    """
    return unaliased(load(NAMES.get(name, name), models=models))


def search_for(metric: Metric) -> Search:
    """Search of a corpus for this metric."""
    name = "bleu2_cxr" if metric.columns == ("bleu2_cxr",) else metric.name
    module, _, function = SEARCHES.get(name, "exhaustive:search_exhaustively").partition(":")
    search: Search = getattr(importlib.import_module(f"radgauge.analysis.oracle.{module}"), function)
    return search


def _matches(
    identifier: str, match: Found | None, corpus: Corpus, fallback: str, *, zero: bool
) -> list[Retrieved]:
    if match is None or not len(match.indices):
        reason = "empty reference" if match is None else match.why_not
        return [Retrieved(identifier, 1, "", float("nan"), "", 0, reason)]
    nothing = zero and round(float(match.scores[0]), DECIMALS) == 0
    if nothing and fallback:
        at = next((index for index, text in enumerate(corpus.texts) if text.strip() == fallback.strip()), None)
        entry = ("", 0) if at is None else (corpus.ids[at], corpus.frequencies[at])
        return [Retrieved(identifier, 1, entry[0], 0.0, fallback, entry[1], f"{NO_MATCH}; this is the fallback")]
    note = f"{NO_MATCH}; the most frequent reports are given" if nothing else ""
    return [
        Retrieved(identifier, rank, corpus.ids[at], float(score), corpus.texts[at], corpus.frequencies[at], note)
        for rank, (at, score) in enumerate(zip(match.indices.tolist(), match.scores, strict=True), start=1)
    ]


def mean_score(matches: list[Retrieved]) -> float:
    """The mean of the best scores over the queries that could be judged; NaN if there is none."""
    scores = np.array([match.score for match in matches if match.rank == 1])
    return float(scores[~np.isnan(scores)].mean()) if (~np.isnan(scores)).any() else float("nan")
