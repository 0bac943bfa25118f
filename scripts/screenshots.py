"""Pictures of the report for README and documentation: `python scripts/screenshots.py` writes docs/images.

Needs Playwright and Chromium. The report is that of the bundled reports, so the pictures hold no patient's text.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import radgauge as rg
from radgauge.report import build_report, write_report
from radgauge.samples import sample_reports_path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SHOTS = {
    "report-summary": (1280, 900, "light", "top"),
    "report-cases": (1280, 900, "light", "cases"),
    "report-cases-dark": (1280, 900, "dark", "cases"),
    "report-errors": (1280, 760, "light", "errors"),
    "report-phone": (420, 860, "light", "top"),
}


def main() -> None:
    """Write them."""
    cases = rg.read_cases(sample_reports_path()).cases
    report = build_report(rg.score(cases), cases=cases, title="Four systems on 72 studies")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder, "report.html")
        write_report(page_file, report)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, scheme, section) in SHOTS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(page_file.as_uri())
            page.wait_for_selector("body[data-ready=yes]")
            if section != "top":
                if section == "cases":
                    page.select_option("#kind", "location")
                page.evaluate("(id) => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section)
            page.screenshot(path=IMAGES / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
