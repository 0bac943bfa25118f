"""A page with a few tables and plots, and the files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from radgauge.core.errors import UsageError
from radgauge.core.files import write_file
from radgauge.render.page import page_style
from radgauge.render.svg import Plot
from radgauge.render.tables import FORMATS, Table, to_html


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
