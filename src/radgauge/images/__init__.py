"""Image files as grey pictures: what a viewer would show, and nothing about models."""

from radgauge.images.files import digest, grey
from radgauge.images.limits import Grey

__all__ = ["Grey", "digest", "grey"]
