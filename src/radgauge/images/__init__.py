"""Image files as grey pictures: what a viewer would show, and nothing about models."""

from radgauge.images.files import Grey, digest, grey

__all__ = ["Grey", "digest", "grey"]
