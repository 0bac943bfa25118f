"""Verbs of reader studies and servers."""
