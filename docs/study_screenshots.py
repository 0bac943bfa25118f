"""The pictures of docs/study.md: a demo study with drawn images, judged and looked at in a headless Chromium.

python docs/study_screenshots.py
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from radgauge.io.case_files import read_cases
from radgauge.samples import sample_reports_path
from radgauge.study import Action, NewStudy, Store, new_study

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))

DESK = {"width": 1280, "height": 800}
TABLET = {"width": 1024, "height": 768}
SHOWN = "cxr-005"


def drawn_chest(path: Path) -> Path:
    """Two dark lungs in a bright body: a picture that nobody takes for a patient's."""
    down, across = np.mgrid[-1:1:512j, -1:1:448j]
    body = 170 * np.exp(-((across / 0.85) ** 6) - (down / 1.05) ** 8)
    for side in (-0.42, 0.42):
        body -= 110 * np.exp(-(((across - side) / 0.27) ** 4) - ((down + 0.02) / 0.58) ** 4)
    body += 45 * np.exp(-(((across - 0.12) / 0.25) ** 2) - ((down - 0.32) / 0.25) ** 2)
    body += 12 * np.sin(26 * (down + 0.25 * np.abs(across))) * np.exp(-((across / 0.75) ** 6) - (down / 0.7) ** 6)
    noise = np.random.default_rng(0).normal(0, 4, body.shape)
    Image.fromarray(np.clip(body + noise + 12, 0, 255).astype(np.uint8)).save(path)
    return path


def made(folder: Path) -> NewStudy:
    """Twelve studies for three raters and an adjudicator, some of them judged."""
    picture = drawn_chest(folder / "chest.png")
    read = read_cases(sample_reports_path()).cases
    cases = [case for case in read if case.id.startswith("cxr") and case.id <= "cxr-012" and case.candidate]
    named = ["Dr. Ames", "Dr. Brandt", "Dr. Costa"]
    study = new_study(
        folder / "study.sqlite",
        [replace(case, images=(picture,)) for case in cases],
        raters=named,
        adjudicators=["Prof. Duval"],
        assistance="all",
        title="Two vendors, spring",
    )
    with Store(study.path) as store:
        for person, until in (("rater-1", 8), ("rater-2", 12), ("rater-3", 10)):
            judged(store, person, until)
    return study


def judged(store: Store, person: str, until: int) -> None:
    """Answer as many cases: what radgauge would mark, and now and then something else."""
    numbers = iter(range(10_000))

    def act(case: str, kind: str, payload: dict[str, Any] | None = None) -> None:
        version = store.state(person, case).version
        store.record(person, Action(case, kind, payload or {}, version, f"{next(numbers)}"))

    chance = np.random.default_rng(int(person[-1]))
    act("", "ready")
    for place in store.places(person):
        if place.training:
            act(place.key, "cannot_judge", {"candidate": "", "reason": "practised before"})
            act(place.key, "submit")
    places = [each for each in store.places(person) if not each.training]
    places.sort(
        key=lambda each: (each.key == key_of(store)) is (person == "rater-1")
    )  # shown open, judged by others
    for place in places[:until]:
        for shown in store.case(person, place.key).candidates:
            counts: dict[str, int] = {}
            for hint in shown.suggestions:
                if chance.random() < 0.85:
                    level = hint["significance"] if chance.random() < 0.9 else "insignificant"
                    part = f"{hint['category']}/{level}"
                    counts[part] = counts.get(part, 0) + 1
            for part, value in (counts or {"omission/significant": 0}).items():
                payload = {"candidate": shown.label, "field": "errors", "part": part, "value": value}
                act(place.key, "set", payload)
        act(place.key, "time", {"seconds": float(chance.uniform(40, 150))})
        act(place.key, "submit")


def key_of(store: Store) -> str:
    """The key of the case that the pictures show."""
    (key,) = store._connection.execute("SELECT key FROM cases WHERE id = ?", (SHOWN,)).fetchone()
    return str(key)


def window(browser: Any, server: Any, token: str, **settings: Any) -> Any:
    """A page of a person who has come in."""
    page = browser.new_context(**settings).new_page()
    page.goto(server.link(token))
    page.wait_for_selector("body[data-ready=yes]")
    return page


def rater_pages(browser: Any, server: Any, study: NewStudy) -> None:
    """The page of a case at a desk and on a tablet, with marks."""
    with Store(study.path) as store:
        key = key_of(store)
        label = next(name for name, system in store.key("rater-1", key).items() if system == "hasty")
    page = window(browser, server, study.tokens["rater-1"], viewport=DESK)
    page.screenshot(path=HERE / "images" / "study-instructions.png")
    page.goto(f"{server.address}/case/{key}")
    page.wait_for_selector("#pictures canvas")
    for _ in range("ABCD".index(label)):
        page.keyboard.press("l")
    for keys in (
        "c ArrowRight 3 1",
        "c ArrowDown ArrowRight ArrowRight ArrowRight Shift+ArrowRight Shift+ArrowRight Shift+ArrowRight 1 1",
        "r ArrowDown ArrowDown ArrowDown ArrowRight Shift+ArrowRight 2",
    ):
        for each in keys.split():
            page.keyboard.press(each)
    page.wait_for_selector("#status:text-is('Saved')")
    page.screenshot(path=HERE / "images" / "study-case.png")
    page.keyboard.press("2")
    page.wait_for_selector("#status:text-is('Saved')")
    page.keyboard.press("i")
    page.wait_for_selector(".viewer-said:has-text('100 %')")
    page.screenshot(path=HERE / "images" / "study-viewer.png")
    page.keyboard.press("Escape")
    tablet = window(browser, server, study.tokens["rater-1"], viewport=TABLET, has_touch=True, is_mobile=True)
    tablet.goto(f"{server.address}/case/{key}")
    tablet.wait_for_selector("#pictures canvas")
    for _ in range("ABCD".index(label)):
        tablet.keyboard.press("l")
    tablet.wait_for_timeout(300)
    tablet.screenshot(path=HERE / "images" / "study-tablet.png")


def main() -> None:
    """Write the pictures."""
    from chromium import chromium
    from study_server import StudyServer

    with tempfile.TemporaryDirectory() as folder:
        study = made(Path(folder))
        with StudyServer(study.path) as server, chromium() as browser:
            rater_pages(browser, server, study)
            organiser = window(
                browser, server, study.tokens["organiser-1"], viewport={"width": 1280, "height": 900}
            )
            organiser.screenshot(path=HERE / "images" / "study-organiser.png", full_page=True)
            third = window(browser, server, study.tokens["adjudicator-1"], viewport=DESK)
            third.keyboard.press("Enter")
            third.wait_for_selector("#case")
            with Store(study.path) as store:
                third.goto(f"{server.address}/case/{key_of(store)}")
            third.wait_for_selector(".others li")
            third.locator(".others").scroll_into_view_if_needed()
            third.screenshot(path=HERE / "images" / "study-adjudication.png")


if __name__ == "__main__":
    main()
