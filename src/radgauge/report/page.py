"""The report as one HTML file: template, style and script from this package, nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import TYPE_CHECKING

import radgauge
from radgauge.core.wording import number, share
from radgauge.render.page import page_style, series_mark
from radgauge.render.tables import to_csv, to_html, to_latex, to_markdown
from radgauge.report.browser_data import script_safe
from radgauge.report.build import Report

if TYPE_CHECKING:
    from jinja2 import Environment

NAV = (
    ("changes", "Changes"),
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
    style = page_style()
    if report.pictures.studies:
        from radgauge.render.viewer import viewer_script, viewer_style

        script, style = f"{viewer_script()}{script}", f"{style}{viewer_style()}"
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
            css=style,
            js=script,
            script_hash=f"'sha256-{digest}'",
            marks=[series_mark(index) for index in range(len(report.systems))],
            data=report.browser.packed,
            pictures=report.pictures.packed,
            table_texts=script_safe(json.dumps(forms, ensure_ascii=False)),
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
    environment.globals.update(share=share, number=number, percent=_percent)
    environment.globals["table_html"] = lambda table: Markup(to_html(table))
    return environment


def _percent(value: float) -> str:
    """A share as the width of a bar."""
    return "0" if math.isnan(value) else f"{100 * value:.1f}"


def _there(report: Report, anchor: str) -> bool:
    needs = {
        "changes": "changes" in report.tables,
        "systems": "comparison" in report.tables,
        "radiologists": "radiologists" in report.tables,
        "errors": bool(report.shown.get("errors")),
        "metrics": bool(report.shown.get("correlations")),
        "disagreement": "disagreement" in report.tables,
    }
    return needs.get(anchor, True)


def _sampled(report: Report) -> str:
    browser = report.browser
    sentences = []
    if browser.studies_shown < browser.studies:
        sentences.append(
            f"The browser holds {len(browser.case_numbers):,} of {browser.cases:,} cases "
            f"({browser.studies_shown:,} of "
            f"{browser.studies:,} studies: the most disputed and a random sample, seed {report.about['seed']}) to "
            "keep this file small. Every number above is of all cases."
        )
    if not browser.all_notes:
        sentences.append("For the same reason only the findings are explained, not every metric.")
    return " ".join([*sentences, *report.pictures.notes()])
