"""Templates and files that the pages are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from radgauge.core.parsing import parse_toml
from radgauge.render.page import page_style
from radgauge.render.viewer import viewer_script, viewer_style

CANNOT_JUDGE = (
    "The candidate is empty or cut off",
    "The text cannot be understood",
    "The reference does not fit the candidate",
    "An image would be needed",
    "Outside my field",
)
"""Reasons that the page offers; raters may write their own."""


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("radgauge.study.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def page(template: str, /, *, code: int = 200, language: str = "en", **values: Any) -> HTMLResponse:
    """A page from its template; all values are escaped."""
    own = {"language": language, "t": partial(translated, language)}
    return HTMLResponse(
        _templates().get_template(f"{template}.html.j2").render({**values, **own}), status_code=code
    )


@cache
def words(language: str) -> Mapping[str, str]:
    """English sentence of a rater's page -> its translation; empty for English."""
    table = parse_toml((files("radgauge.study.web") / "words.toml").read_text(encoding="utf-8"))
    return MappingProxyType({english: row[language] for english, row in table.items() if language in row})


def translated(language: str, text: str, *values: object) -> str:
    """A sentence of a rater's page in a language, with values in the places {0}, {1}."""
    text = words(language).get(text, text)
    for number, value in enumerate(values):
        text = text.replace(f"{{{number}}}", str(value))
    return text


def message(title: str, heading: str, *, text: str, code: int = 200) -> HTMLResponse:
    """A page that says one thing."""
    return page("message", title=title, heading=heading, text=text, code=code)


def _own(name: str) -> str:
    return (files("radgauge.study.web") / "static" / name).read_text(encoding="utf-8")


@cache
def _files() -> Mapping[str, tuple[bytes, str, str]]:
    """Name -> content, media type and tag."""
    texts = {
        "study.js": _own("study.js"),
        "page.js": _own("page.js"),
        "join.js": _own("join.js"),
        "study.css": _own("study.css"),
        "page.css": page_style(),
        "viewer.js": viewer_script(),
        "viewer.css": viewer_style(),
    }
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
    return MappingProxyType(
        {
            name: (text.encode(), kinds[name.rpartition(".")[2]], hashlib.sha256(text.encode()).hexdigest()[:16])
            for name, text in texts.items()
        }
    )


async def static_file(request: Request) -> Response:
    """A script or style sheet; browsers ask each time and mostly hear that nothing has changed."""
    file = _files().get(request.path_params["name"])
    if file is None:
        return Response(status_code=404)
    content, kind, tag = file
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == f'"{tag}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
