"""Pictures of the studies in the report's case browser, in the page and in a real browser."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.report import build_report, write_report
from radgauge.report.build import page_pictures
from radgauge.report.page import render_page
from radgauge.run.score import score

Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")


@pytest.fixture
def pictured(tmp_path: Path) -> list[Case]:
    """Three studies: two pictures, one picture under a hostile name, one broken file."""
    rng = np.random.default_rng(0)
    for at, name in enumerate(("a.png", "b.png", "<img src=x>.png")):
        Image.fromarray(rng.integers(0, 255, (60 + at, 90), dtype=np.uint8)).save(tmp_path / name)
    (tmp_path / "cut.png").write_bytes((tmp_path / "a.png").read_bytes()[:50])
    files = {"one": ("a.png", "b.png"), "two": ("<img src=x>.png",), "three": ("cut.png",)}
    reference = "Small left pleural effusion. The heart is large."
    return [
        Case(study, text, (reference,), system, images=tuple(tmp_path / name for name in names))
        for study, names in files.items()
        for system, text in (("x", reference), ("y", "The lungs are clear. The heart is large."))
    ]


def test_every_study_of_the_browser_has_its_pictures_once(pictured: list[Case]) -> None:
    found = page_pictures(pictured, shown={"one", "two", "three"})
    records = json.loads(found.packed)
    assert {study: [each["name"] for each in them] for study, them in records.items()} == {
        "one": ["a.png", "b.png"],
        "two": ["<img src=x>.png"],
    }
    assert [records["one"][0][key] for key in ("width", "height", "deep")] == [90, 60, False]
    assert (found.studies, found.no_room, found.unreadable) == (2, 0, 1)
    assert "<" not in found.packed
    assert found.notes() == ["1 pictures could not be read."]


def test_pictures_that_do_not_fit_are_left_out_and_counted(pictured: list[Case]) -> None:
    found = page_pictures(pictured, shown={"one", "two"}, first=["two"], room=10_000)
    assert list(json.loads(found.packed)) == ["two"]
    assert found.notes() == ["Pictures of 1 of 2 studies are left out to keep this file small."]


def test_no_pictures_on_request_and_no_viewer_then(pictured: list[Case]) -> None:
    results = score(pictured, ["bleu"])
    page = render_page(build_report(results, cases=pictured, picture_size=0, resamples=20, permutations=50))
    assert "radgaugeViewer = " not in page
    assert '<script type="application/json" id="pictures">{}</script>' in page
    assert "radgaugeViewer = " in render_page(build_report(results, cases=pictured, resamples=20, permutations=50))


@pytest.mark.browser
def test_the_viewer_enlarges_zooms_and_windows(pictured: list[Case], tmp_path: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = os.environ.get("RADGAUGE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine; install it, or name one with RADGAUGE_BROWSER")
    file = tmp_path / "report.html"
    write_report(file, build_report(score(pictured, ["bleu"]), cases=pictured, resamples=20, permutations=50))
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page()
        complaints: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        page.select_option("#order", "file")
        _until(page, "document.querySelector('.viewer-thumb canvas')?.width === 90")
        assert page.locator(".viewer-thumb").count() == 2
        page.locator(".viewer-thumb").first.click()
        _until(page, "document.querySelector('.viewer-said')?.textContent.includes('window 255')")
        before = _grey(page)
        page.keyboard.press("i")
        _until(page, f"Math.abs({_MEAN} - {255 - before}) < 1")
        page.keyboard.press("+")
        assert "125 %" in page.inner_text(".viewer-said")
        page.click("text=Contrast +")
        _until(page, "document.querySelector('.viewer-said')?.textContent.includes('window 230')")
        darker = _grey(page)
        page.click("text=Brighter")
        _until(page, f"{_MEAN} > {darker} + 1")  # though the picture is inverted
        page.keyboard.press("ArrowRight")
        _until(page, "document.querySelector('.viewer-head b')?.textContent.startsWith('b.png')")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog.viewer", state="detached")
        chromium.close()
    assert complaints == []
    assert requests == [file.as_uri()]


_MEAN = """(() => {
  const shown = document.querySelector('.viewer-stage canvas'), canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [shown.width, shown.height];
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(shown, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum += data[at];
  return sum / (data.length / 4);
})()"""


def _until(page: Any, true: str) -> None:
    """Wait by asking again: Playwright's own waiting evaluates text, which the page's policy forbids."""
    for _ in range(100):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never came true: {true}")


def _grey(page: Any) -> float:
    return float(page.evaluate(_MEAN))
