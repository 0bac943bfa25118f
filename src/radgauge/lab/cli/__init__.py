"""Verbs of the laboratory: train, generate."""
