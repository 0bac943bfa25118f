"""Metric oracles: the best-scoring report of a corpus for every query, exactly and in minutes."""

from radgauge.studies.oracle.corpus import Corpus
from radgauge.studies.oracle.find import Retrieved, oracle

__all__ = ["Corpus", "Retrieved", "oracle"]
