"""Metric oracles: the best-scoring report of a corpus for every query, exactly and in minutes."""

from radgauge.analysis.oracle.corpus import Corpus
from radgauge.analysis.oracle.find import Retrieved, oracle

__all__ = ["Corpus", "Retrieved", "oracle"]
