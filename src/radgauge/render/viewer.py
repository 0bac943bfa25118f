"""The picture viewer that every page shares: script, style, and pictures as its script takes them.

A page puts `viewer_style()` and `viewer_script()` in and calls

    radgaugeViewer.mount(element, pictures)

with a list of records from `picture_record`: with the bytes in them (a page that is one file), or with an address
of the same site (a server). Thumbnails; a click enlarges, with zoom, window and level. The script draws on a
canvas and needs no more of a content security policy than to be let run (and `connect-src 'self'` with addresses).
"""

from __future__ import annotations

import base64
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radgauge.images.web import WebPicture


def viewer_script() -> str:
    """The script, for a script element or a file of its own."""
    return (files("radgauge.render") / "viewer.js").read_text(encoding="utf-8")


def viewer_style() -> str:
    """The style, for a style element or a file of its own."""
    return (files("radgauge.render") / "viewer.css").read_text(encoding="utf-8")


def picture_record(picture: WebPicture, *, name: str, url: str = "") -> dict[str, Any]:
    """Image data for the script; JSON can hold it.

    Args:
        picture: From `radgauge.images.web_picture`.
        name: What stands below the thumbnail.
        url: Where the script fetches `picture.data`; empty: the bytes go into the record.
    """
    source = {"url": url} if url else {"data": base64.b64encode(picture.data).decode()}
    return {
        "name": name,
        "type": picture.media_type,
        "width": picture.width,
        "height": picture.height,
        "full": list(picture.full),
        "deep": picture.deep,
        "low": picture.low,
        "step": picture.step,
        "window": list(picture.window),
        "inverted": picture.inverted,
        **source,
    }
