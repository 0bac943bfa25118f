"""What a search has found so far, on disk, so that one that is stopped goes on.

They lie in the reading cache, found by a hash of metric, corpus and query; every search finds the same
texts, the best by that metric. Kept are places in the corpus and scores: no word of a report.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from radgauge.analysis.oracle.ranking import Found
from radgauge.core.cache import Cache
from radgauge.core.metric import Metric
from radgauge.core.signature import unreleased_state

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
        """What was found before, by query."""
        if self._cache is None:
            return {}
        try:
            packed = self._cache.get(self._signature, queries)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return {}
        return {query: found for query, payload in packed.items() if (found := _unpack(payload)) is not None}

    def keeping(self, queries: Sequence[str], results: Iterable[Found]) -> Iterator[Found]:
        """The results as they come, written to disk about twice a second and at the end."""
        waiting: dict[str, bytes] = {}
        last = time.monotonic()
        try:
            for query, found in zip(queries, results, strict=True):
                waiting[query] = _pack(found)
                yield found
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


def _pack(found: Found) -> bytes:
    return json.dumps([found.indices.tolist(), found.scores.tolist(), found.why_not]).encode()


def _unpack(payload: bytes) -> Found | None:
    """None for bytes that are not ours: the query is asked anew."""
    try:
        indices, scores, why_not = json.loads(payload)
        return Found(np.array(indices, dtype=np.intp), np.array(scores, dtype=np.float64), str(why_not))
    except (ValueError, TypeError):
        return None
