"""The report's files: the page, and its plots as SVG and, where a rasteriser is installed, PNG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from radgauge.core.errors import MissingExtra, require
from radgauge.core.files import make_folder, write_file
from radgauge.report.build import Report
from radgauge.report.page import render_page

PNG_SCALE = 3
"""PNG pixels per SVG pixel: sharp in print at a column's width."""


def write_report(path: Path | str, report: Report) -> int:
    """Write the page; returns its size in bytes."""
    return write_page(Path(path), render_page(report))


def write_page(path: Path, page: str) -> int:
    """Write a page, whole or not at all; returns its size in bytes."""
    text = page.encode("utf-8")
    write_file(path, text)
    return len(text)


def write_pdf(path: Path | str, report: Report) -> int:
    """Print the page into a PDF with the browser of this machine; returns its size in bytes.

    Raises:
        UsageError: There is no browser, or it did not print.
    """
    from radgauge.render.printing import print_pdf

    text = print_pdf(render_page(report), of="report")
    write_file(Path(path), text)
    return len(text)


def write_words(report: Report, folders: Sequence[Path]) -> list[Path]:
    """Write the methods paragraphs and the BibTeX into every folder."""
    written = []
    for folder in folders:
        for name, text in (("methods.txt", "\n\n".join(report.methods)), ("references.bib", report.bibliography)):
            write_file(folder / name, text + "\n")
            written.append(folder / name)
    return written


def write_plots(folder: Path | str, report: Report) -> tuple[list[Path], str]:
    """Write every plot as SVG, and as PNG too if that is possible.

    Returns:
        The files, and a sentence on why there is no PNG ("" if there is).
    """
    folder = make_folder(folder)
    try:
        resvg = require("resvg_py", extra="plots")
    except MissingExtra as error:
        resvg, why = None, f"no PNG files: {error}"
    else:
        why = ""
    written = []
    for key, plot in report.plots.items():
        name = re.sub(r"[^\w.-]+", "_", key)
        text = plot.file()
        path = folder / f"{name}.svg"
        write_file(path, text)
        written.append(path)
        if resvg is not None:
            picture = path.with_suffix(".png")
            write_file(picture, bytes(resvg.svg_to_bytes(svg_string=text, zoom=PNG_SCALE)))
            written.append(picture)
    return written, why
