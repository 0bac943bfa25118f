"""Weights of radgauge's image-text encoder, for research and non-commercial use."""

from pathlib import Path

PATH = Path(__file__).parent / "image_text.npz"
"""The file, as `radgauge train image-text` writes it."""
