"""A study in a real browser: keyboard only, reloads, kills, two windows, and people who should not be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import chromium
from dicom_file import write_dicom
from study_server import StudyServer
from study_support import Rater, two_systems

from radgauge.core.cases import Case
from radgauge.study import NewStudy, Store, new_study
from radgauge.study.design_file import design_text
from radgauge.study.state import counts_of

pytestmark = pytest.mark.browser
Make = Callable[..., NewStudy]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


class Window:
    """One window of a person: what it asked for, and what it complained about."""

    def __init__(self, context: Any, server: StudyServer) -> None:
        self.page = context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.server = server

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def ready(self) -> None:
        self.page.wait_for_selector("body[data-ready=yes]")

    def open(self, token: str) -> None:
        self.page.goto(self.server.link(token))
        self.page.wait_for_url("**/start")
        self.ready()

    def begin(self) -> None:
        """From the instructions to the first open case."""
        self.press("Enter")
        self.page.wait_for_url("**/case/*")
        self.ready()

    def saved(self) -> None:
        self.page.wait_for_selector("#status:text-is('Saved')")

    def at(self, where: str) -> None:
        """Wait until a case is on the screen and everything is saved."""
        self.page.wait_for_selector(f"#where:text-is('{where}')")
        self.saved()

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def key(self) -> str:
        return str(self.page.url.rpartition("/")[2])


@contextmanager
def window(browser: Any, server: StudyServer, **settings: Any) -> Iterator[Window]:
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
    opened = Window(context, server)
    yield opened
    assert opened.complaints == []
    assert {url for url in opened.requests if not url.startswith(f"{server.address}/")} <= {"data:,"}
    context.close()


@pytest.fixture
def served(make: Make) -> Iterator[Callable[..., tuple[NewStudy, StudyServer]]]:
    running: list[StudyServer] = []

    def of(study: NewStudy | None = None, **settings: Any) -> tuple[NewStudy, StudyServer]:
        made = study or make(**settings)
        running.append(StudyServer(made.path).start())
        return made, running[-1]

    yield of
    for server in running:
        server.__exit__()


def practise(rater: Window) -> None:
    """Through the two practice cases of rexval by keys, up to the first real case."""
    rater.at("Practice case 1 of 2")
    rater.press("Enter", "Enter", "Enter", "Enter")  # nothing was answered, so nothing is submitted
    assert "press 0: no errors" in rater.text("#toast")
    assert rater.page.locator("#feedback:not([hidden])").count() == 0
    rater.press("0", "Enter", "0", "Enter")
    rater.page.wait_for_selector("#feedback:not([hidden])")
    assert "answers as expected" in rater.text("#feedback")
    rater.press("Enter")
    rater.at("Practice case 2 of 2")
    assert rater.page.locator(".tabs button").all_inner_texts() == ["Candidate A", "Candidate B = C"]
    rater.press("0", "Enter", "0", "Enter")
    rater.page.wait_for_selector("#feedback:not([hidden])")
    rater.press("Enter")
    rater.page.wait_for_selector("#where:has-text('Case 1 of')")


def candidate_shown(rater: Window) -> str:
    return str(rater.page.inner_text(".text.candidate .words"))


def to_candidate(rater: Window, text: str) -> None:
    """Bring the candidate with this text on the screen."""
    rater.press("h", "h")
    if candidate_shown(rater) != text:
        rater.press("l")
    assert candidate_shown(rater) == text


def judge(rater: Window, extra: bool) -> None:
    """Judge the case on the screen as its texts deserve, by keys alone."""
    reference = rater.text("#texts section:first-child .words")
    rater.press("l", "h")  # look at both
    if "left pleural effusion" in reference:
        to_candidate(rater, "Large right effusion.")
        rater.press("c", "4", "1")  # the word Large: wrong severity, significant
        rater.press("c", "ArrowRight", "3", "1")  # right: wrong side, significant
        rater.press("r", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "2", "2")
        if extra:
            rater.press("m")  # a missing finding in words of one's own
            rater.type("prior study")
            rater.press("Enter", "2", "2")  # omitted comparison, insignificant
    elif "pneumonia" in reference:
        to_candidate(rater, "The lungs are clear.")
        rater.press("2", "1")  # a count without a mark
        rater.press("1", "1", "u")  # one too many, taken back
        rater.saved()
    elif "Fracture" in reference:
        to_candidate(rater, "Rib fracture.")
        rater.press("x", "2", "Enter")  # cannot judge, for the second reason offered
    rater.press("h", "0", "l", "0")  # the others have no errors
    rater.saved()


def whole_study(rater: Window, token: str, *, extra: bool) -> None:
    rater.open(token)
    assert "6 cases" not in rater.text("main")
    rater.begin()
    practise(rater)
    for number in range(1, 5):
        rater.at(f"Case {number} of 4")
        judge(rater, extra)
        rater.press("Enter")
    rater.page.wait_for_url("**/done")
    assert "All cases are submitted" in rater.text("h1")


def answers(store: Store, person: str, study: str, system: str) -> tuple[dict[str, int], dict[str, Any]]:
    """Counts above 0 and all answers of a person on a candidate."""
    (key,) = store._connection.execute("SELECT key FROM cases WHERE id = ?", (study,)).fetchone()
    label = next(label for label, name in store.key(person, key).items() if name == system)
    state = store.state(person, key)
    counts = counts_of(store.design, state, label=label, field=store.design.field("errors"))
    return {part: n for part, n in counts.items() if n}, dict(state.answers.get(label, {}))


def test_two_raters_do_a_whole_study_with_the_keyboard_alone(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as one, window(browser, server) as two:
        whole_study(one, study.tokens["rater-1"], extra=False)
        whole_study(two, study.tokens["rater-2"], extra=True)
    with Store(study.path) as store:
        for person, extra in (("rater-1", {}), ("rater-2", {"omitted_comparison/insignificant": 1})):
            assert all(place.submitted for place in store.places(person))
            counts, said = answers(store, person, "s1", "beta")
            wanted = {"severity/significant": 1, "location/significant": 1, "omission/insignificant": 1}
            assert counts == {**wanted, **extra}
            assert [(each["start"], each["end"]) for each in said["marks"]] == [(0, 5), (6, 11)]
            missing = said["missing"][0]
            assert (missing["start"], missing["end"]) == (29, 50)  # "The heart is enlarged", without the full stop
            assert answers(store, person, "s3", "beta")[0] == {"omission/significant": 1}
            assert answers(store, person, "s2", "beta")[0] == {}
            (key,) = store._connection.execute("SELECT key FROM cases WHERE id = 's4'").fetchone()
            assert list(store.state(person, key).cannot_judge.values()) == ["The text cannot be understood"]
            assert sum(place.seconds for place in store.places(person)) > 0
        assert answers(store, "rater-2", "s1", "beta")[1]["missing"][1]["text"] == "prior study"


def test_a_reload_and_a_new_browser_show_what_was_done(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Practice case 1 of 2")
        rater.press("c", "Shift+ArrowRight", "3", "1", "2", "1")
        rater.saved()
        before = rater.text("#questions")
        assert "Remove" in before
        rater.page.reload()
        rater.ready()
        rater.at("Practice case 1 of 2")
        assert rater.text("#questions") == before
        rater.page.context.close()  # the browser dies
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Practice case 1 of 2")
        assert rater.text("#questions") == before
        rater.press("u")
        rater.saved()
        assert rater.text("#questions") != before
        rater.press("?")
        assert "undo" in rater.text("#dialog-keys")


def test_a_killed_server_loses_nothing_and_the_page_goes_on_by_itself(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Practice case 1 of 2")
        rater.press("1", "1")
        rater.saved()
        server.kill()
        rater.press("2", "2", "4", "1")
        rater.page.wait_for_selector("#status:has-text('Not saved')")
        assert "2 changes wait" in rater.text("#status")
        with Store(study.path) as store:
            kept = store.state("rater-1", rater.key())
        assert list(kept.answers.values()) == [{"errors": {"false_finding/significant": 1}}]
        server.start()
        rater.saved()
        rater.complaints = [each for each in rater.complaints if "ERR_CONNECTION_REFUSED" not in each]
        with Store(study.path) as store:
            (said,) = store.state("rater-1", rater.key()).answers.values()
        assert said["errors"] == {
            "false_finding/significant": 1,
            "omission/insignificant": 1,
            "severity/significant": 1,
        }


def test_what_waits_survives_a_reload_while_the_server_is_down(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Practice case 1 of 2")
        key = rater.key()
        rater.page.route("**/actions", lambda route: route.abort())
        rater.press("2", "1")
        rater.page.wait_for_selector("#status:has-text('Not saved')")
        rater.page.unroute("**/actions")
        rater.page.route("**/actions", lambda route: route.abort(), times=1)
        rater.page.on("dialog", lambda dialog: dialog.accept())  # the page warns that something is not saved
        rater.page.reload()
        rater.ready()
        rater.saved()
        rater.complaints = [each for each in rater.complaints if "ERR_FAILED" not in each]
    with Store(study.path) as store:
        (said,) = store.state("rater-1", key).answers.values()
    assert said == {"errors": {"omission/significant": 1}}


def test_two_windows_of_a_rater_do_not_overwrite_each_other(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as first:
        first.open(study.tokens["rater-1"])
        first.begin()
        first.at("Practice case 1 of 2")
        second = Window(first.page.context, server)
        second.page.goto(first.page.url)
        second.ready()
        second.at("Practice case 1 of 2")
        first.press("2", "1")
        first.saved()
        second.press("4", "2")
        second.page.wait_for_selector("#notice:not([hidden])")
        assert "changed in another window" in second.text("#notice")
        second.saved()
        with Store(study.path) as store:
            (said,) = store.state("rater-1", first.key()).answers.values()
        assert said == {"errors": {"omission/significant": 1}}
        second.press("4", "2")  # now it knows, and the change is made on top
        second.saved()
        with Store(study.path) as store:
            (said,) = store.state("rater-1", first.key()).answers.values()
        assert said == {"errors": {"omission/significant": 1, "severity/insignificant": 1}}
        assert [each for each in second.complaints if "409" not in each] == []


def test_a_change_survives_that_the_rater_signs_in_again_elsewhere(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as first:
        first.open(study.tokens["rater-1"])
        first.begin()
        first.at("Practice case 1 of 2")
        second = Window(first.page.context, server)
        second.open(study.tokens["rater-1"])  # a new cookie: the first window's proof is no longer good
        first.press("2", "1")
        first.page.wait_for_load_state()
        first.at("Practice case 1 of 2")
        with Store(study.path) as store:
            (said,) = store.state("rater-1", first.key()).answers.values()
        assert said == {"errors": {"omission/significant": 1}}
        first.complaints = [each for each in first.complaints if "403" not in each]


def test_a_wrong_token_ends_at_the_door(browser: Any, served: Any) -> None:
    _, server = served()
    with window(browser, server) as stranger:
        stranger.page.goto(server.link("x" * 43))
        stranger.page.wait_for_selector("#said:has-text('Please')")
        assert "#" not in stranger.page.url
        stranger.page.goto(f"{server.address}/case/c0001")
        assert "Please open the link" in stranger.text("main")
        stranger.page.goto(f"{server.address}/organiser")
        assert "Please open the link" in stranger.text("main")
        stranger.complaints = [each for each in stranger.complaints if "401" not in each]
    assert all("x" * 43 not in url for url in stranger.requests[1:])


def test_a_rater_who_tries_the_address_of_another_sees_nothing(browser: Any, served: Any) -> None:
    study, server = served(raters=2, shared=0)
    with Store(study.path) as store:
        theirs = [place.key for place in store.places("rater-2") if not place.training]
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        for key in theirs:
            answer = rater.page.goto(f"{server.address}/case/{key}")
            assert answer.status == 404
            assert "It is not one of yours" in rater.text("main")
            assert rater.page.goto(f"{server.address}/api/cases/{key}").status == 404
        rater.page.goto(f"{server.address}/organiser")
        assert rater.page.url == f"{server.address}/start"
        rater.complaints = [each for each in rater.complaints if "404" not in each]


HOSTILE = (
    "<script>document.title='owned'</script> <img src=x onerror=alert(1)> 🫁 lung "
    "<a href='javascript:alert(1)'>x</a> </p></main> {{ 7 * 7 }}"
)


def test_a_script_in_a_report_stays_text_and_marks_count_characters(
    browser: Any, served: Any, tmp_path: Path
) -> None:
    cases = [
        Case("h1", HOSTILE, (HOSTILE,), "sys<b>tem", meta={"indication": HOSTILE}),
        Case("h1", "Other.", (HOSTILE,), "other", meta={"indication": HOSTILE}),
    ]
    text = cases[0].candidate  # a case takes layout tags out; scripts, and all of the indication, stay
    assert "<script>" in text
    study = new_study(tmp_path / "hostile.sqlite", cases, raters=["<i>Eve</i>"], title="<b>T</b>")
    study, server = served(study)
    with window(browser, server) as rater:
        rater.page.on("dialog", lambda dialog: pytest.fail("a script ran"))
        rater.open(study.tokens["rater-1"])
        rater.begin()
        practise(rater)
        rater.at("Case 1 of 1")
        if candidate_shown(rater) == "Other.":
            rater.press("l")
        assert candidate_shown(rater) == text
        assert rater.page.title() == "Case 1 · <b>T</b>"
        assert rater.page.locator("#texts script, #texts img, #texts a, #context img").count() == 0
        words = text.split()
        at = words.index("lung")
        rater.press("c", *["ArrowRight"] * at, "1", "1")
        rater.saved()
        key = rater.key()
    with Store(study.path) as store:
        label = next(name for name, system in store.key("rater-1", key).items() if system == "sys<b>tem")
        (mark,) = store.state("rater-1", key).answers[label]["marks"]
    assert text[mark["start"] : mark["end"]] == "lung"  # although the lungs before it are two UTF-16 units
    with window(browser, server) as organiser:
        organiser.page.goto(server.link(study.tokens["organiser-1"]))
        organiser.page.wait_for_url("**/organiser")
        assert "<i>Eve</i>" in organiser.text("main")
        organiser.page.goto(f"{server.address}/organiser/case/{key}")
        assert text in organiser.text("main")
        assert organiser.page.locator("main script, main img, main i").count() == 0


DESIGN_KEYS: dict[str, tuple[tuple[str, ...], str, Any]] = {
    # design: keys on the first real case, field, what is then answered for a candidate or the case
    "radevalx": (("c", "8", "1", "l", "7", "2"), "errors", {"false_uncertainty/insignificant": 1}),
    "radpref": (("c", "1", "1", "q", "3", "l", "c", "2", "1", "3", "q", "4"), "rating", 4),
    "preference": (("3",), "preference", {"choice": "equal", "reason": "same"}),
    "rate_eval": (("2", "3", "q"), "potential", {"0": 2}),
    "lay": (("1",), "sentence_match", {"0": {"choice": "yes"}}),
}


@pytest.mark.parametrize("design", sorted(DESIGN_KEYS))
def test_number_keys_answer_every_shipped_design(browser: Any, served: Any, design: str) -> None:
    study, server = served(design=design, raters=1)
    with Store(study.path) as store:
        Rater(store, "rater-1").train()
    keys, field, wanted = DESIGN_KEYS[design]
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Case 1 of 4")
        rater.press(*keys)
        if design == "preference":
            rater.type("same")
            rater.press("Enter")
        rater.saved()
        key = rater.key()
    with Store(study.path) as store:
        found = [said[field] for said in store.state("rater-1", key).answers.values() if field in said]
    assert wanted in found


OWN = """
title = "Mine"
instructions = "Look."
training_required = false

[show]
reference = false

[[field]]
key = "quality"
kind = "rating"
title = "Quality"
min = 0
max = 2
step = 0.5

[[field]]
key = "wrong"
kind = "marks"
title = "What is wrong"
on = "passage"

[[field.category]]
key = "style"
title = "Style"

[[field]]
key = "lacks"
kind = "missing"
title = "What it lacks"
significance = { big = "big", small = "small" }

[[field]]
key = "edits"
kind = "number"
title = "Edits needed"
max = 9

[[field]]
key = "sign"
kind = "choice"
title = "Would you sign it?"
per = "case"
options = { yes = "yes", no = "no" }
reason = "optional"
"""


def test_a_design_of_ones_own_is_answered_by_keys(browser: Any, served: Any, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    study, server = served(design=tmp_path / "own.toml", raters=1)
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Case 1 of 4")
        assert rater.page.locator("#texts section").count() == 1  # no reference
        rater.press("4")  # the fourth step: 1.5; then the marks are next
        rater.press("c", "1")
        rater.press("m")
        rater.type("a comparison")
        rater.press("Enter", "2")
        rater.press("q", "7", "1")
        rater.press("Enter")  # to the second candidate
        rater.press("1", "q", "0")
        rater.press("Enter")
        rater.at("Case 2 of 4")
    with Store(study.path) as store:
        key = store.places("rater-1")[0].key
        said = store.state("rater-1", key).answers
    assert said[""] == {"sign": {"choice": "yes"}}
    assert (said["A"]["quality"], said["A"]["edits"]) == (1.5, 7)
    assert [each["category"] for each in said["A"]["wrong"]] == ["style"]
    assert [(each["text"], each["significance"]) for each in said["A"]["lacks"]] == [("a comparison", "small")]
    assert said["B"] == {"quality": 0, "edits": 0}


def test_images_are_enlarged_zoomed_and_windowed(browser: Any, served: Any, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="extra `image` is not installed")
    pytest.importorskip("pydicom", reason="extra `image` is not installed")
    image.linear_gradient("L").save(tmp_path / "p.png")
    image.linear_gradient("L").save(tmp_path / "p.jpg")
    deep = np.tile(np.linspace(0, 4095, 64).round().astype(np.uint16), (48, 1))
    write_dicom(tmp_path / "p.dcm", deep, WindowCenter=1000, WindowWidth=400, PatientName="Smith^John")
    files = tuple(tmp_path / f"p.{kind}" for kind in ("png", "jpg", "dcm"))
    cases = [replace(case, images=files) for case in two_systems()]
    study, server = served(new_study(tmp_path / "pictures.sqlite", cases, design="preference", raters=1))
    with Store(study.path) as store:
        Rater(store, "rater-1").train()
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Case 1 of 4")
        rater.page.wait_for_selector("#pictures canvas >> nth=2")
        assert "Smith" not in rater.page.content()
        rater.press("i")
        rater.page.wait_for_selector("dialog.viewer")
        rater.page.wait_for_selector(".viewer-said:has-text('100 %')")
        rater.press("+")
        rater.page.wait_for_selector(".viewer-said:has-text('125 %')")
        rater.page.wait_for_selector(".viewer-said:has-text('level 128')")
        rater.page.click("text=Brighter")
        rater.page.wait_for_selector(".viewer-said:has-text('level 115')")
        rater.press("ArrowLeft")  # from the first to the last: the DICOM file, with its own window
        rater.page.wait_for_selector(
            ".viewer-said:has-text('level 1000, window 399')"
        )  # 400 less 1, by the standard
        rater.press("Escape")
        rater.page.wait_for_selector("dialog.viewer", state="detached")
        rater.press("3")
        rater.saved()


def test_by_touch_on_a_tablet_words_are_tapped_and_everything_fits(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server, viewport={"width": 1024, "height": 768}, has_touch=True) as rater:
        rater.open(study.tokens["rater-1"])
        rater.page.tap("[data-enter]")
        rater.page.wait_for_url("**/case/*")
        rater.ready()
        rater.at("Practice case 1 of 2")
        rater.page.tap(".candidate .word >> nth=0")
        rater.page.tap(".candidate .word >> nth=2")
        rater.page.tap("[data-key=category-location]")
        rater.page.tap("[data-key=ask-significant]")
        rater.saved()
        assert rater.text(".entries q") == " ".join(candidate_shown(rater).split()[:3])
        width = rater.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1024
        rater.page.tap("#undo")
        rater.saved()
        assert rater.page.locator(".entries").count() == 0


def test_every_control_can_be_reached_and_seen_with_the_tab_key(browser: Any, served: Any) -> None:
    study, server = served()
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        rater.at("Practice case 1 of 2")
        wanted = rater.page.evaluate(
            "[...document.querySelectorAll('button, a[href], .words')]"
            ".filter((each) => !each.disabled && each.offsetParent && !each.closest('dialog')).length"
        )
        seen, outlined = set(), 0
        for _ in range(wanted + 5):
            rater.press("Tab")
            name, outline = rater.page.evaluate(
                "[document.activeElement.dataset.key ?? document.activeElement.outerHTML,"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            seen.add(name)
            outlined += outline != "none"
        assert len(seen) >= wanted
        assert outlined >= wanted


def test_an_adjudicator_sees_the_answers_beside_the_case(browser: Any, served: Any) -> None:
    study, server = served(adjudicators=["Dr. Third"])
    with Store(study.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        for key in [place.key for place in store.places("rater-1") if not place.training]:
            rater.act(key, "cannot_judge", candidate="", reason="no priors at hand")
    with window(browser, server) as third:
        third.open(study.tokens["adjudicator-1"])
        assert "you see what the raters answered" in third.text("main")
        third.begin()
        third.page.wait_for_selector(".others")
        assert "cannot judge: no priors at hand" in third.text(".others")


def test_suggestions_are_shown_where_the_study_offers_them_and_can_be_taken_over(
    browser: Any, served: Any
) -> None:
    study, server = served(assistance="all", raters=1)
    with Store(study.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        (key,) = store._connection.execute("SELECT key FROM cases WHERE id = 's1'").fetchone()
        label = rater.label(key, "beta")
    with window(browser, server) as assisted:
        assisted.open(study.tokens["rater-1"])
        assisted.begin()
        assisted.page.goto(f"{server.address}/case/{key}")
        assisted.ready()
        to_candidate(assisted, "Large right effusion.")
        assert assisted.page.locator(".word.hint").count() > 0
        assisted.press("a")
        assert assisted.page.locator(".word.hint").count() == 0
        assisted.press("a")
        assisted.page.click("text=Take over >> nth=0")
        assisted.saved()
    with Store(study.path) as store:
        assert store.state("rater-1", key).answers[label]


def test_buttons_of_fifty_cases_fit(browser: Any, served: Any, tmp_path: Path) -> None:
    cases = [replace(two_systems()[0], id=f"s{number}") for number in range(50)]
    study, server = served(new_study(tmp_path / "fifty.sqlite", cases, raters=1))
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        rater.begin()
        boxes = [each.bounding_box() for each in rater.page.locator("#cases button").all()]
        assert len(boxes) == 52
        assert len({box["y"] for box in boxes}) == 1
        assert max(box["x"] + box["width"] for box in boxes) <= 1280
        colours = (
            "[...document.querySelectorAll('.category')].map((each) => getComputedStyle(each).borderLeftColor)"
        )
        assert len(set(rater.page.evaluate(colours))) == 6


def test_the_page_speaks_the_language_of_the_design(browser: Any, served: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f'language = "de"\n{design_text("errors")}')
    study, server = served(design=own, raters=1)
    with window(browser, server) as rater:
        rater.open(study.tokens["rater-1"])
        assert "4 Fälle, nach 2 Übungsfällen mit Rückmeldung" in rater.text("main")
        rater.begin()
        rater.page.wait_for_selector("#status:text-is('Gespeichert')")
        assert rater.text("#where") == "Übungsfall 1 von 2"
        rater.press("Enter")
        assert rater.text("#toast") == "Zählen Sie einen Fehler, oder drücken Sie 0: keine Fehler."
        rater.press("0", "Enter", "0", "Enter")
        rater.page.wait_for_selector("#feedback:not([hidden])")
        assert "0 von 2 Antworten wie erwartet" in rater.text("#feedback")
        assert "Kandidat A, Errors: erwartet: " in rater.text("#feedback")
        assert "Ihre Antwort: keine" in rater.text("#feedback")
        shown = rater.text("body")
    for english in ("Undo", "Candidate", "Cannot judge", "No errors", "Next case", "submitted"):
        assert english not in shown
