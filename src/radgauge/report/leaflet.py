"""A page with a few tables and plots, for verbs whose result is not a whole report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from radgauge.errors import UsageError
from radgauge.files import write_file
from radgauge.show.svg import FONT, LIGHT, Plot, style_sheet
from radgauge.show.tables import FORMATS, Cell, Table

_STYLE = f"""
body{{margin:0;background:#f7f8fa;color:{LIGHT["ink"]};font:16px/1.5 {FONT};font-variant-numeric:tabular-nums}}
main{{max-width:1240px;margin:auto;padding:32px 24px}}
h1{{font-size:28px;margin:0 0 6px}}p{{color:{LIGHT["soft"]};max-width:80ch;margin:0 0 18px}}
figure{{margin:0 0 22px;background:#fff;border:1px solid {LIGHT["line"]};border-radius:10px;overflow-x:auto}}
figcaption{{padding:10px 14px;font-size:14px;color:{LIGHT["soft"]};border-bottom:1px solid {LIGHT["line"]}}}
table{{border-collapse:collapse;width:100%;font-size:14.5px}}th,td{{padding:7px 12px;text-align:left}}
thead th{{font-size:13px;color:{LIGHT["soft"]}}}tbody tr{{border-top:1px solid {LIGHT["line"]}}}
tbody th{{font-weight:560}}.num{{text-align:right;white-space:nowrap}}
small{{display:block;color:{LIGHT["soft"]};font-size:12.5px}}
summary{{cursor:pointer}}pre{{white-space:pre-wrap;overflow-wrap:anywhere;font-size:12.5px}}
figure svg{{display:block;margin:14px;max-width:none}}
"""


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
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(note)}</p>" for note in notes)]
    parts += [f"<figure>{plot.inline()}</figure>" for plot in plots]
    parts += [_table(table) for table in tables]
    if about:
        made = json.dumps(about, ensure_ascii=False, indent=1, default=str)
        parts.append(f"<details><summary>How these numbers were made</summary><pre>{escape(made)}</pre></details>")
    head = f"<title>{escape(title)}</title><style>{_STYLE}{style_sheet(LIGHT)}</style>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{head}</head>'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
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


def _table(table: Table) -> str:
    def cell(place: int, one: Cell) -> str:
        name = "th" if not place else "td"
        cls = ' class="num"' if place in table.right else ""
        small = f"<small>{escape(one.small)}</small>" if one.small else ""
        return f"<{name}{cls}>{escape(one.text)}{small}</{name}>"

    head = "".join(
        f'<th class="num">{escape(text)}</th>' if place in table.right else f"<th>{escape(text)}</th>"
        for place, text in enumerate(table.headers)
    )
    body = "".join(f"<tr>{''.join(cell(place, one) for place, one in enumerate(row))}</tr>" for row in table.rows)
    return (
        f"<figure><figcaption>{escape(table.title)}</figcaption><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></figure>"
    )
