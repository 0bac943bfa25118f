"""The report as one HTML file: template, style and script from this package, nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING

import radgauge
from radgauge.report.browser_data import script_safe
from radgauge.report.build import Report
from radgauge.show.svg import DARK, FONT, LIGHT, SERIES, shape, style_sheet
from radgauge.show.tables import to_csv, to_latex, to_markdown

if TYPE_CHECKING:
    from jinja2 import Environment

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
}
NAV = (
    ("summary", "Summary"),
    ("systems", "Systems"),
    ("radiologists", "Radiologists"),
    ("errors", "Errors"),
    ("metrics", "Metrics"),
    ("distributions", "Distributions"),
    ("disagreement", "Disagreement"),
    ("cases", "Cases"),
    ("methods", "Methods"),
)


def render_page(report: Report) -> str:
    """The whole page. Everything that comes from data is escaped by the template or is JSON made safe."""
    script = (files("radgauge.report") / "templates" / "report.js").read_text(encoding="utf-8")
    forms = {
        key: {"md": to_markdown(table), "tex": to_latex(table), "csv": to_csv(table)}
        for key, table in report.tables.items()
    }
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            r=report,
            version=radgauge.__version__,
            nav=[(anchor, name) for anchor, name in NAV if _there(report, anchor)],
            css=page_style(),
            js=script,
            script_hash=f"'sha256-{digest}'",
            marks=[series_mark(place) for place in range(len(report.systems))],
            data=report.browser.packed,
            table_texts=script_safe(json.dumps(forms, ensure_ascii=False)),
            missing=_missing(report),
            sampled=_sampled(report),
        )
    )


def templates() -> Environment:
    """The templates of this package; everything that they insert is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("radgauge.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["breakable"] = Markup("_<wbr>")  # long names of metrics may break there
    return environment


def _there(report: Report, anchor: str) -> bool:
    needs = {
        "systems": "comparison" in report.tables,
        "radiologists": "radiologists" in report.tables,
        "errors": bool(report.shown.get("errors")),
        "metrics": bool(report.shown.get("correlations")),
        "disagreement": "disagreement" in report.tables,
    }
    return needs.get(anchor, True)


def page_style() -> str:
    """The style sheet of a page, in light and dark."""
    sheet = (files("radgauge.report") / "templates" / "report.css").read_text(encoding="utf-8")

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


def _missing(report: Report) -> str:
    count = sum(n for *_, n in report.not_judged)
    if not count:
        return ""
    return (
        f"{count:,} of {report.cases * len(report.metrics):,} judgments are missing: a metric could not judge the "
        "case. They are left out of the values, never counted as bad."
    )


def _sampled(report: Report) -> str:
    browser = report.browser
    said = []
    if browser.studies_shown < browser.studies:
        said.append(
            f"The browser holds {len(browser.places):,} of {browser.cases:,} cases ({browser.studies_shown:,} of "
            f"{browser.studies:,} studies: the most disputed and a random sample, seed {report.about['seed']}) to "
            "keep this file small. Every number above is of all cases."
        )
    if not browser.all_notes:
        said.append("For the same reason only the findings are explained, not every metric.")
    return " ".join(said)
