"""Image files as grey arrays: what a viewer would show, and nothing about models."""

from radgauge.images.files import digest, grey
from radgauge.images.limits import Grey
from radgauge.images.web import WebPicture, web_picture

__all__ = ["Grey", "WebPicture", "digest", "grey", "web_picture"]
