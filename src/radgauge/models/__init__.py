"""Encoders and published checkpoints."""
