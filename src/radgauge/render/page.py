"""Pages: the style sheet that all share, and a page with a few tables and plots for verbs whose result is not a
whole report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from radgauge.core.errors import UsageError
from radgauge.core.files import write_file
from radgauge.render.svg import DARK, FONT, LIGHT, SERIES, Plot, shape, style_sheet
from radgauge.render.tables import FORMATS, Table, to_html

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


def page_style() -> str:
    """The style sheet of a page, in light and dark."""
    sheet = (files("radgauge.render") / "page.css").read_text(encoding="utf-8")

    def variables(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in colours.items())

    light, dark = variables(PAGE_LIGHT), variables(PAGE_DARK)
    places = {
        "@LIGHT@": f":root{{color-scheme:light;{light}}}",
        "@DARK@": (
            f"@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}"
            f":root[data-theme=light]{{color-scheme:light;{light}}}"
            f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        ),
        "@LIGHTPRINT@": f":root,:root[data-theme]{{color-scheme:light;{light}}}",
        "@PLOT@": style_sheet(),
        "@FONT@": FONT,
    }
    for mark, text in places.items():
        sheet = sheet.replace(mark, text)
    return sheet


def series_mark(series: int) -> str:
    """The mark of a series, for a legend."""
    drawn = shape(series, 7, 7, f"c{series % SERIES}", size=4.4)
    return f'<svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">{drawn}</svg>'


def leaflet(
    title: str,
    tables: Sequence[Table],
    *,
    plots: Sequence[Plot] = (),
    notes: Sequence[str] = (),
    about: Mapping[str, object] | None = None,
) -> str:
    """One HTML file that opens anywhere; all that comes from data is escaped.

    Args:
        title: Heading.
        tables: Shown in order, below the plots.
        plots: Drawings.
        notes: Sentences below the heading.
        about: What the numbers rest on: version, seed, signatures, input.
    """
    parts = [f'<section class="hero"><h1>{escape(title)}</h1>']
    parts += [f'<p class="lead">{escape(note)}</p>' for note in notes]
    parts += [f'<figure class="wide">{plot.inline()}</figure>' for plot in plots]
    parts += [f"<p></p>{to_html(table)}" for table in tables]
    if about:
        made = json.dumps(about, ensure_ascii=False, indent=1, default=str)
        parts.append(
            "<details><summary>How these numbers were made</summary>"
            f'<pre class="code" style="white-space:pre-wrap">{escape(made)}</pre></details>'
        )
    head = f"<title>{escape(title)}</title><style>{page_style()}</style>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{head}</head>'
        f"<body><main>{''.join(parts)}</section></main></body></html>\n"
    )


def write_leaflet(
    path: Path,
    title: str,
    tables: Mapping[str, Table],
    *,
    plots: Sequence[Plot] = (),
    notes: Sequence[str] = (),
    about: Mapping[str, object] | None = None,
) -> list[Path]:
    """Write a page (.html), a table (.csv, .md, .tex; several go side by side with their names), or a folder.

    A folder gets the page, every table as CSV and Markdown, every plot as SVG, and `about` as JSON.
    """
    if path.suffix == ".html":
        return [_write(path, leaflet(title, list(tables.values()), plots=plots, notes=notes, about=about))]
    if path.suffix in FORMATS:
        make = FORMATS[path.suffix]
        first, *more = tables.items()
        return [
            _write(path, make(first[1])),
            *(_write(path.with_name(f"{path.stem}_{key}{path.suffix}"), make(table)) for key, table in more),
        ]
    if path.suffix:
        raise UsageError(f"the result must go to .html, .csv, .md, .tex or a folder, got {path.name!r}")
    page = leaflet(title, list(tables.values()), plots=plots, notes=notes, about=about)
    written = [_write(path / "index.html", page)]
    if about:
        written.append(
            _write(path / "about.json", json.dumps(about, ensure_ascii=False, indent=1, default=str) + "\n")
        )
    for key, table in tables.items():
        written += [_write(path / f"{key}{suffix}", FORMATS[suffix](table)) for suffix in (".csv", ".md")]
    return written + [_write(path / f"{plot.key}.svg", plot.file()) for plot in plots]


def _write(path: Path, text: str) -> Path:
    write_file(path, text)
    return path
