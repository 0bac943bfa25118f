"""The nouns: Case, Reader and Readings, Metric, Scores; with them files, the cache, settings and signatures."""
