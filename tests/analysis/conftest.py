"""The corpus that tests of studies share."""

from term_corpus import chosen, clusters, corpus_file, reports

__all__ = ["chosen", "clusters", "corpus_file", "reports"]
