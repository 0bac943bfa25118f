"""The style sheet that all pages share."""

from __future__ import annotations

import os
from importlib.resources import files

from radgauge.render.svg import DARK, FONT, LIGHT, SERIES, shape, style_sheet

PAGE_LIGHT = {
    **LIGHT,
    "ground": "#f7f8fa",
    "edge": "#b9c0cd",
    "link": "#0b5a99",
    "tint": "#eef2f7",
    "pick": "#e3eefb",
    "k0": "#2b6cb0",
    "k0b": "#e4effb",
    "k1": "#b8500a",
    "k1b": "#fdebdc",
    "k2": "#8a3f9c",
    "k2b": "#f5e6f8",
    "k3": "#7a5b00",
    "k3b": "#fff3c4",
    "k4": "#b00020",
    "k4b": "#fde3e6",
    "k5": "#0f766e",
    "k5b": "#d9f3ef",
}
PAGE_DARK = {
    **DARK,
    "paper": "#161b26",
    "ground": "#0f131b",
    "edge": "#4a5468",
    "link": "#7dbcf8",
    "tint": "#1e2533",
    "pick": "#1c3450",
    "k0": "#7dbcf8",
    "k0b": "#17304a",
    "k1": "#ff9a5c",
    "k1b": "#46290f",
    "k2": "#dca6ea",
    "k2b": "#3b2344",
    "k3": "#f0cf63",
    "k3b": "#413610",
    "k4": "#ff8b98",
    "k4b": "#4c1a22",
    "k5": "#5fd6c8",
    "k5b": "#123b37",
}


def paper_size() -> str:
    """Return the paper that pages are printed on: Letter where the locale is North American, else A4."""
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_PAPER", "LANG"))
    return "letter" if next(filter(None, names), "").startswith(("en_US", "en_CA", "fr_CA", "es_MX")) else "A4"


def page_style() -> str:
    """The style sheet of a page, in light and dark."""
    sheet = (files("radgauge.render") / "page.css").read_text(encoding="utf-8")

    def variables(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in colours.items())

    light, dark = variables(PAGE_LIGHT), variables(PAGE_DARK)
    replacements = {
        "@LIGHT@": f":root{{color-scheme:light;{light}}}",
        "@DARK@": (
            f"@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}"
            f":root[data-theme=light]{{color-scheme:light;{light}}}"
            f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        ),
        "@LIGHTPRINT@": f":root,:root[data-theme]{{color-scheme:light;{light}}}",
        "@PLOT@": style_sheet(),
        "@FONT@": FONT,
        "@PAPER@": paper_size(),
    }
    for mark, text in replacements.items():
        sheet = sheet.replace(mark, text)
    return sheet


def series_mark(series: int) -> str:
    """The mark of a series, for a legend."""
    drawn = shape(series, 7, 7, f"c{series % SERIES}", size=4.4)
    return f'<svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">{drawn}</svg>'
