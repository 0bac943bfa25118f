"""Metrics for texts in plain language."""
