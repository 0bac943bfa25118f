"""Presentation of results: numbers in words, plots, tables, for every output."""
