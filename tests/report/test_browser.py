"""The report in a real browser: keys and filters work, nothing is loaded, hostile text stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium

from radgauge.core.cases import Case
from radgauge.report import Report, build_report, write_report
from radgauge.run.score import score

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def file(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, report)
    return path


@pytest.fixture(scope="module")
def judged_file(cases: tuple[Case, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same cases judged by `errors`."""
    report = build_report(score(cases, ["errors", "rouge"]), cases=cases, resamples=50, permutations=500)
    path = tmp_path_factory.mktemp("judged") / "report.html"
    write_report(path, report)
    return path


class Watched:
    """A page, what it asked for, and what it complained about."""

    def __init__(self, browser: Any, file: Path, **settings: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("http*://**", lambda route: route.abort())
        self.address = file.as_uri()
        self.page.goto(self.address)
        self.page.wait_for_selector("body[data-ready=yes]")

    def title(self) -> str:
        return self.page.inner_text("#detail h3")

    def system(self) -> str:
        return self.page.inner_text("#detail [aria-pressed=true]").strip()

    def count(self) -> str:
        return self.page.inner_text("#count")


@pytest.fixture
def shown(browser: Any, file: Path) -> Iterator[Watched]:
    watched = Watched(browser, file)
    yield watched
    assert watched.complaints == []
    assert watched.requests == [watched.address]
    watched.context.close()


def press(shown: Watched, *keys: str) -> None:
    for key in keys:
        shown.page.keyboard.press(key)


def test_keys_walk_through_cases_and_systems(shown: Watched) -> None:
    shown.page.select_option("#order", "file")
    assert (shown.title(), shown.system()) == ("s00", "ours")
    press(shown, "l")
    assert (shown.title(), shown.system()) == ("s00", "<b>theirs</b>")
    assert "empty" in shown.page.inner_text("#detail .texts")
    assert "not judged: empty candidate" in shown.page.inner_text("#detail .scores")
    press(shown, "j")
    assert (shown.title(), shown.system()) == ("s01", "ours")
    press(shown, "k", "k", "k")
    assert (shown.title(), shown.system()) == ("s00", "ours")
    shown.page.evaluate("document.getElementById('cases').scrollIntoView({behavior: 'instant'})")
    press(shown, "ArrowDown", "ArrowRight")
    assert shown.title() == "s00"
    current = shown.page.locator("#list li[aria-current=true]")
    assert current.count() == 1


def test_search_filter_and_order(shown: Watched) -> None:
    assert shown.count() == "30 cases"
    press(shown, "/")
    shown.page.keyboard.type("cardiomegaly")
    assert shown.count() == "6 of 30 cases"
    assert "ardiomegaly" in shown.page.inner_text("#detail .texts")
    press(shown, "Escape")
    assert shown.count() == "30 cases"
    shown.page.select_option("#system", label="<b>theirs</b>")
    assert shown.count() == "15 of 30 cases"
    shown.page.select_option("#shows", "unjudged")
    assert shown.count() == "1 of 30 cases"
    shown.page.select_option("#system", "")
    shown.page.select_option("#shows", label="contradicted")
    assert shown.count() == "2 of 30 cases"
    assert shown.page.locator("#detail mark.k4").count() >= 2
    shown.page.select_option("#shows", "")
    shown.page.select_option("#order", label="ROUGE-L, worst first")
    values = [float(v) for v in shown.page.locator("#list li > span:nth-of-type(2)").all_inner_texts() if v != "–"]
    assert values == sorted(values)
    assert len(values) == 29
    shown.page.fill("#search", "no such words")
    assert shown.count() == "0 of 30 cases"
    assert "No case fits." in shown.page.inner_text("#list")


def test_worst_first_is_by_value_and_those_without_one_come_last(shown: Watched) -> None:
    for label, turn in (("BLEU-4, worst first", 1), ("BLEU-4, best first", -1)):
        shown.page.select_option("#order", label=label)
        shown_values = shown.page.locator("#list li > span:nth-of-type(2)").all_inner_texts()
        values = [float(value) for value in shown_values if value != "–"]
        assert values == sorted(values, key=lambda value: turn * value)
        assert shown_values[-1] == "–"
        assert shown_values.count("–") == 1


def test_the_address_names_the_case_and_a_link_opens_it(browser: Any, file: Path, shown: Watched) -> None:
    shown.page.select_option("#order", "file")
    press(shown, "j", "j", "l")
    study, system = shown.title(), shown.system()
    address = shown.page.evaluate("location.href")
    assert f"#case={study}&system=" in address
    other = Watched(browser, file)
    other.page.goto(address)
    other.page.reload()
    other.page.wait_for_selector("body[data-ready=yes]")
    assert (other.title(), other.system()) == (study, system)
    other.page.evaluate("location.hash = '#case=s02&system=ours'")
    other.page.wait_for_selector("#detail h3:text-is('s02')")
    other.context.close()


def test_choosing_a_case_on_a_phone_shows_it(browser: Any, file: Path) -> None:
    phone = Watched(browser, file, viewport={"width": 390, "height": 844})
    phone.page.locator("#list li").nth(3).click()
    top = "document.getElementById('detail').getBoundingClientRect().top"
    for _ in range(100):  # it scrolls smoothly
        if 0 <= phone.page.evaluate(top) < 422:
            break
        phone.page.wait_for_timeout(50)
    assert 0 <= phone.page.evaluate(top) < 422
    phone.context.close()


def test_errors_are_filtered_by_kind_weight_finding_and_side(browser: Any, judged_file: Path) -> None:
    shown = Watched(browser, judged_file)
    everything = shown.count()
    shown.page.select_option("#kind", "location")
    tags = shown.page.locator("#detail .notes li span:nth-of-type(2)").all_inner_texts()
    assert any("side is left in the reference, right in the candidate" in text for text in tags)
    assert shown.count() == "2 of 30 cases"
    shown.page.select_option("#side", "left")
    assert shown.count() == "2 of 30 cases"
    shown.page.select_option("#weight", "0")
    assert shown.count() == "0 of 30 cases"
    for name in ("kind", "side", "weight"):
        shown.page.select_option(f"#{name}", "")
    shown.page.fill("#finding", "pneumothorax")
    assert shown.count() != everything
    assert "neumothorax" in shown.page.inner_text("#detail .texts")
    assert shown.complaints == []
    shown.context.close()


def test_the_wrong_word_is_marked_and_not_the_whole_finding(browser: Any, judged_file: Path) -> None:
    shown = Watched(browser, judged_file)
    shown.page.select_option("#kind", "location")
    marks = shown.page.locator("#detail .text mark.k3").all_inner_texts()
    assert marks == ["left", "right"]
    shown.context.close()


def test_the_first_screen_answers_in_words(browser: Any, judged_file: Path) -> None:
    shown = Watched(browser, judged_file)
    answers = shown.page.locator(".answered, .answer").all_inner_texts()
    assert answers == [
        "ours answered 15 of 15 studies. <b>theirs</b> answered 14 of 15 studies, first without an answer: s00.",
        "ours and <b>theirs</b> cannot be told apart: the difference in F1 of significant findings could be "
        "chance. Based on answered studies alone: ours 15 of 15, <b>theirs</b> 14 of 15.",
    ]
    first = shown.page.locator(".fact").first
    assert "of these 12 have a clinically significant error" in first.inner_text()
    example = shown.page.locator(".common a[data-case]").first
    study = example.inner_text()
    example.click()
    assert shown.title() == study
    shown.context.close()


def test_a_system_has_one_mark_everywhere(browser: Any, judged_file: Path) -> None:
    shown = Watched(browser, judged_file)
    marks = (
        "(place) => [...document.querySelectorAll(place)]"
        ".map((node) => [node.innerText.trim(), node.querySelector('svg').innerHTML])"
    )
    first = dict(shown.page.evaluate(marks, ".fact h3"))
    tabs = dict(shown.page.evaluate(marks, "#detail .tabs button"))
    assert first == tabs
    assert len(set(first.values())) == 2
    shown.context.close()


def test_highlights_can_be_chosen(shown: Watched) -> None:
    assert shown.page.input_value("#marks") == "findings"
    press(shown, "m")
    assert shown.page.input_value("#marks") == "bleu"
    shown.page.select_option("#marks", "")
    assert shown.page.locator("#detail .text mark").count() == 0


def test_hostile_text_is_shown_as_text(shown: Watched, hostile: str) -> None:
    shown.page.fill("#search", "window.hacked")
    assert shown.page.evaluate("window.hacked === undefined")
    assert shown.page.locator("#detail img, #detail script").count() == 0
    script, rest = hostile.split("<img src=x onerror='window.hacked = 2'>")  # markup is removed on input
    text = shown.page.evaluate("document.querySelector('#detail .text p').textContent")
    assert text.endswith(f"{script}{rest}")


def test_a_disputed_case_opens_in_the_browser(shown: Watched) -> None:
    link = shown.page.locator("#disagreement a[data-case]").first
    study = link.inner_text()
    link.click()
    assert shown.title() == study
    point = shown.page.locator("#radiologists svg [data-case]").first
    point.dispatch_event("click")
    assert shown.page.locator("#detail .human").count() == 1


def test_help_theme_and_copy(shown: Watched) -> None:
    press(shown, "?")
    assert shown.page.evaluate("document.getElementById('keys').open")
    press(shown, "Escape")
    assert not shown.page.evaluate("document.getElementById('keys').open")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = shown.page.evaluate(ground)
    press(shown, "t")
    assert shown.page.evaluate(ground) != light
    for _ in range(50):  # Chromium hands what a page keeps to the next one when it finds time
        shown.page.reload()
        shown.page.wait_for_selector("body[data-ready=yes]")
        shown.requests.pop()
        if shown.page.evaluate(ground) != light:
            break
    assert shown.page.evaluate(ground) != light
    shown.page.click("#summary [data-form=tex]")
    shown.page.wait_for_selector("#toast.on")


def test_dark_when_the_reader_s_system_is(browser: Any, file: Path) -> None:
    dark = Watched(browser, file, color_scheme="dark")
    assert dark.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 27)"
    dark.context.close()


def test_a_phone_needs_no_sideways_scrolling(browser: Any, file: Path) -> None:
    phone = Watched(browser, file, viewport={"width": 390, "height": 844})
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.complaints == []
    phone.context.close()


def test_nothing_moves_while_it_loads(browser: Any, file: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) window.moved += "
        "e.value; }).observe({type: 'layout-shift', buffered: true});"
    )
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    assert page.evaluate("window.moved") < 0.01
    context.close()


def test_it_prints(browser: Any, file: Path) -> None:
    shown = Watched(browser, file)
    shown.page.emulate_media(media="print")
    assert not shown.page.is_visible("#search")
    assert not shown.page.is_visible("#cases")
    assert shown.page.is_visible("#appendix .worst >> nth=0")
    assert shown.page.locator("#appendix .worst").count() == 3
    assert shown.page.pdf(format="A4").startswith(b"%PDF")
    shown.context.close()


def test_colours_can_be_read(browser: Any, file: Path) -> None:
    """WCAG AA: every text that is shown has at least 4.5 to 1, in both colour schemes."""
    script = """() => {
      const lin = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      const lum = (rgb) => {
        const [r, g, b] = rgb.map((v) => lin(v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
      const ground = (node) => {
        for (; node; node = node.parentElement) {
          const c = parse(getComputedStyle(node).backgroundColor);
          if (c.length === 3 || c[3] === 1) return c.slice(0, 3);
        }
        return [255, 255, 255];
      };
      const bad = new Set();
      const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || node.closest("svg,script,style,.again,noscript")) continue;
        if (!node.getClientRects().length) continue;
        const a = lum(parse(getComputedStyle(node).color).slice(0, 3)), b = lum(ground(node));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) bad.add(`${node.tagName}.${node.className}: ${ratio.toFixed(2)}`);
      }
      return [...bad];
    }"""
    for scheme in ("light", "dark"):
        shown = Watched(browser, file, color_scheme=scheme)
        assert shown.page.evaluate(script) == [], scheme
        shown.context.close()
