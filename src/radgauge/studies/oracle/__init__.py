"""Metric oracles: the best-scoring report of a corpus for every query, exactly and in minutes."""

from radgauge.studies.oracle.corpus import Corpus
from radgauge.studies.oracle.find import Match, oracle

__all__ = ["Corpus", "Match", "oracle"]
