"""The corpus that tests of training share."""

from term_corpus import chosen, clusters, corpus_file, reports

__all__ = ["chosen", "clusters", "corpus_file", "reports"]
