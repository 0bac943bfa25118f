"""Sheets: filled without a server, read back with the checks of the page, and the numbers are those entered."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_support import Rater, study_ids, two_systems

from radgauge.analysis.agreement import agree
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import read_judgments
from radgauge.study import NewStudy, Store, new_study
from radgauge.study.check import check_study
from radgauge.study.export import export_study
from radgauge.study.judgments import study_judgments
from radgauge.study.sheet import collect, write_sheets
from radgauge.study.sheet.content import sealed

Make = Callable[..., NewStudy]
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2> \u2028 & \"'"


def _filled(store: Store, person: str, cases: dict[str, Any]) -> dict[str, Any]:
    return {**sealed(store, person), "cases": cases}


def _saved(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(content))
    return path


def test_a_saved_form_becomes_events_once(make: Make, tmp_path: Path) -> None:
    made = make(raters=1)
    with Store(made.path) as store:
        case = study_ids(store)["s1"]
        alpha, beta = (Rater(store, "rater-1").label(case, system) for system in ("alpha", "beta"))
        said = {
            "version": 0,
            "answers": {
                beta: {
                    "errors": {"omission/significant": 2},
                    "marks": [{"category": "location", "significance": "significant", "start": 6, "end": 11}],
                },
                alpha: {"errors": {"omission/significant": 0}},
            },
            "cannot_judge": {},
            "submitted": True,
            "seconds": 33.5,
        }
        file = _saved(tmp_path, _filled(store, "rater-1", {case: said}))
    (found,) = collect(made.path, [file])
    assert (found.changed, found.submitted, found.open, found.problems) == (1, 1, 3, ())
    (again,) = collect(made.path, [file])
    assert (again.changed, again.problems) == (0, ())
    with Store(made.path) as store:
        state = store.state("rater-1", case)
        assert state.seconds == 33.5
        assert state.submitted
    assert check_study(made.path).problems == ()
    scores = study_judgments(made.path).errors["Rater 1"]
    totals = dict(zip(scores.keys, scores.column("errors_total"), strict=True))
    assert totals["s1", "beta"] == 3  # two omissions entered, one passage marked
    assert totals["s1", "alpha"] == 0


def test_what_the_page_would_refuse_a_sheet_is_refused_too(make: Make, tmp_path: Path) -> None:
    made = make(raters=2, shared=0)
    with Store(made.path) as store:
        one, two = Rater(store, "rater-1"), Rater(store, "rater-2")
        mine, other = one.keys(), two.keys()
        bad = {"version": 0, "answers": {"A": {"errors": {"omission/significant": -3}}}, "submitted": True}
        fine = {"version": 0, "answers": {"A": {"errors": {"severity/insignificant": 1}}}, "submitted": True}
        shape = {"version": "0"}
        file = _saved(tmp_path, _filled(store, "rater-1", {mine[0]: bad, mine[1]: shape, other[0]: fine}))
    (found,) = collect(made.path, [file])
    assert found.changed == 0
    text = " ".join(found.problems)
    assert "must be a whole number from 0 to 99" in text
    assert "another form" in text
    assert "not a case of rater-1" in text
    with Store(made.path) as store:
        assert store.events() == ()  # nothing in part


def test_an_incomplete_case_is_kept_and_not_submitted(make: Make, tmp_path: Path) -> None:
    made = make(raters=1, design="radpref")
    with Store(made.path) as store:
        case = study_ids(store)["s1"]
        said = {"version": 0, "answers": {"A": {"rating": 4}}, "submitted": True}
        file = _saved(tmp_path, _filled(store, "rater-1", {case: said}))
    (found,) = collect(made.path, [file])
    assert "candidate B: Overall rating: not answered yet" in found.problems[0]
    with Store(made.path) as store:
        assert store.state("rater-1", case).answers == {"A": {"rating": 4}}
        assert not store.state("rater-1", case).submitted


def test_a_case_that_changed_meanwhile_stays_as_it_is(make: Make, tmp_path: Path) -> None:
    made = make(raters=1, design="radpref")
    with Store(made.path) as store:
        case = study_ids(store)["s1"]
        rater = Rater(store, "rater-1")
        rater.train()
        rater.act(case, "set", candidate="A", field="rating", value=1)
        said = {"version": 0, "answers": {"A": {"rating": 4}}}
        file = _saved(tmp_path, _filled(store, "rater-1", {case: said}))
    (found,) = collect(made.path, [file])
    assert "changed in the study after the sheet was made" in found.problems[0]
    with Store(made.path) as store:
        assert store.state("rater-1", case).answers == {"A": {"rating": 1}}


def test_a_later_save_of_a_sheet_is_taken_and_an_earlier_one_is_not(make: Make, tmp_path: Path) -> None:
    made = make(raters=1, design="radpref")

    def handed_in(rating: int, saved: str) -> tuple[str, ...]:
        with Store(made.path) as store:
            case = study_ids(store)["s1"]
            said = {"version": 0, "answers": {"A": {"rating": rating}}}
            content = {**_filled(store, "rater-1", {case: said}), "saved": saved}
        (found,) = collect(made.path, [_saved(tmp_path, content)])
        return found.problems

    assert handed_in(2, "2026-03-01T10:00:00.000Z") == ()
    assert handed_in(3, "2026-03-02T10:00:00.000Z") == ()
    assert "a later save of this sheet was collected" in handed_in(2, "2026-03-01T10:00:00.000Z")[0]
    with Store(made.path) as store:
        assert store.state("rater-1", study_ids(store)["s1"]).answers == {"A": {"rating": 3}}


def test_a_sheet_cannot_be_handed_in_for_another_rater_or_study(make: Make, tmp_path: Path) -> None:
    made, other = make(raters=2), make(raters=2)
    with Store(made.path) as store:
        forged = {**_filled(store, "rater-1", {}), "person": "rater-2"}
        with pytest.raises(InputError, match="whose sheet it is was changed"):
            collect(made.path, [_saved(tmp_path, forged)])
        with pytest.raises(InputError, match="belongs to another study"):
            collect(other.path, [_saved(tmp_path, _filled(store, "rater-1", {}))])
        with pytest.raises(InputError, match="another version of the design"):
            collect(made.path, [_saved(tmp_path, {**_filled(store, "rater-1", {}), "design": "x"})])
    with pytest.raises(InputError, match="no filled sheet"):
        collect(made.path, [_saved(tmp_path, {"cases": {}})])
    with pytest.raises(InputError, match="no filled sheet"):
        collect(made.path, [_saved(tmp_path, [1])])
    with pytest.raises(InputError, match="no such file"):
        collect(made.path, [tmp_path / "absent.json"])
    with pytest.raises(UsageError, match="sheets are for raters"):
        write_sheets(made.path, tmp_path / "sheets", people=["Organiser"])


def test_texts_are_no_markup(tmp_path: Path) -> None:
    cases = [Case("=1+2", "clear", (f"{HOSTILE}\x07",), "a"), Case("=1+2", "@SUM(A1)", (f"{HOSTILE}\x07",), "b")]
    made = new_study(tmp_path / "s.sqlite", cases, raters=1, title=f"Study {HOSTILE}")
    (form,) = write_sheets(made.path, tmp_path)
    html = form.read_text(encoding="utf-8")
    assert "<img" not in html
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert form.stat().st_mode & 0o777 == 0o600


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = os.environ.get("RADGAUGE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine; install it, or name one with RADGAUGE_BROWSER")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=flags)
        yield chromium
        chromium.close()


@pytest.mark.browser
def test_two_raters_fill_their_forms_and_align_gives_what_a_pencil_gives(browser: Any, tmp_path: Path) -> None:
    cases = [*two_systems(), Case("s5", HOSTILE, (HOSTILE,), "alpha"), Case("s5", "Clear.", (HOSTILE,), "beta")]
    made = new_study(tmp_path / "s.sqlite", cases, raters=2)
    forms = write_sheets(made.path, tmp_path / "forms")
    # rater -> how many significant omissions of beta on s1, s3; everything else 0
    wanted = {"rater-1": (1, 2), "rater-2": (3, 2)}
    files = []
    with Store(made.path) as store:
        ids = study_ids(store)
        keys = {person: store.key(person, ids["s5"]) for person in wanted}
        labels = {
            (person, study): Rater(store, person).label(ids[study], "beta")
            for person in wanted
            for study in ("s1", "s3")
        }
        places = {person: Rater(store, person).keys() for person in wanted}
    for person, form in zip(wanted, forms, strict=True):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        page = context.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda error, said=complaints: said.append(str(error)))
        page.on("console", lambda message, said=complaints: said.append(message.text))
        page.on("request", lambda request, said=asked: said.append(request.url))
        page.goto(form.as_uri())
        page.get_by_role("button", name="Next").click()
        for key in places[person]:
            study = next(name for name, each in ids.items() if each == key)
            if study in ("s1", "s3"):
                label = labels[person, study]
                number = wanted[person][("s1", "s3").index(study)]
                name = f"Candidate {label}, Finding of the reference left out, clinically significant"
                page.get_by_label(name, exact=True).fill(str(number))
                page.keyboard.press("Tab")
            for none in page.get_by_label("no errors").all():
                label = (none.get_attribute("aria-label") or "")[len("Candidate ")]
                if labels.get((person, study)) != label:
                    none.check()
            if study == "s5" and person == "rater-1":
                label = next(each for each, system in keys[person].items() if system == "alpha")
                page.get_by_label(f"Why candidate {label} cannot be judged").fill("no report")
                page.keyboard.press("Tab")
            page.get_by_role("button", name="Done with this case").click()
        assert "5 of 5 cases done; not saved" in page.get_by_role("status").first.inner_text()
        assert page.evaluate("window.hacked") is None
        page.reload()  # the browser remembers what was not saved
        assert "5 of 5 cases done" in page.get_by_role("status").first.inner_text()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save to a file").click()
        files.append(tmp_path / f"{person}.json")
        download.value.save_as(files[-1])
        assert complaints == []
        assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []
        context.close()
    found = collect(made.path, files)
    assert [(each.submitted, each.open, each.problems) for each in found] == [(5, 0, ()), (5, 0, ())]
    assert check_study(made.path).problems == ()
    export_study(made.path, tmp_path / "judgments.csv")
    for judgments in (study_judgments(made.path), read_judgments(tmp_path / "judgments.csv")):
        means = judgments.mean_errors()
        values = dict(zip(means.keys, means.column("errors_total"), strict=True))
        assert (values["s1", "beta"], values["s3", "beta"], values["s1", "alpha"]) == (2.0, 2.0, 0.0)
        mine = judgments.errors["Rater 1"]
        assert np.isnan(mine.column("errors_total")[list(mine.keys).index(("s5", "alpha"))])


@pytest.mark.browser
def test_a_passage_is_marked_with_the_mouse_in_code_points(browser: Any, tmp_path: Path) -> None:
    text = "\U0001fac1 lungs: right effusion."
    made = new_study(tmp_path / "s.sqlite", [Case("s", text, ("Left effusion. Clear.",), "a")], raters=1)
    (form,) = write_sheets(made.path, tmp_path)
    page = browser.new_page()
    page.goto(form.as_uri())
    page.get_by_role("button", name="Next").click()
    page.evaluate(
        """() => { const node = document.querySelector("#text-A").firstChild; const range = document.createRange();
        const at = node.data.indexOf("right"); range.setStart(node, at); range.setEnd(node, at + 6);
        getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    marks = page.get_by_role("group", name="Passages with an error")
    marks.get_by_label("Category").select_option("location")
    marks.get_by_label("Significance").select_option("significant")
    marks.get_by_role("button", name="Add").click()
    assert page.locator("#text-A mark").inner_text() == "right"
    missing = page.get_by_role("group", name="What the candidate leaves out")
    missing.get_by_label("Category").select_option("omission")
    missing.get_by_label("Significance").select_option("insignificant")
    missing.get_by_role("button", name="Add").click()
    assert "Choose a sentence" in missing.inner_text()
    missing.get_by_label("Sentence").select_option("1")
    missing.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Done with this case").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save to a file").click()
    file = tmp_path / "answers.json"
    download.value.save_as(file)
    page.close()
    (found,) = collect(made.path, [file])
    assert (found.submitted, found.problems) == (1, ())
    with Store(made.path) as store:
        said = store.state("rater-1", study_ids(store)["s"]).answers["A"]
        entry = said["marks"][0]
        assert text[entry["start"] : entry["end"]] == "right"
        assert said["missing"][0]["unit"] == 1


def test_pictures_are_part_of_the_form(tmp_path: Path) -> None:
    images = pytest.importorskip("PIL.Image", reason="needs the extra image")
    images.new("L", (40, 30), 128).save(tmp_path / "p.png")
    case = Case("s", "Clear.", ("Clear lungs.",), "a", images=(tmp_path / "p.png",))
    made = new_study(tmp_path / "s.sqlite", [case], raters=1)
    (form,) = write_sheets(made.path, tmp_path)
    assert "data:image/jpeg;base64," in form.read_text()


def test_from_reports_to_align_through_sheets_as_with_a_pencil(make: Make, tmp_path: Path) -> None:
    made = make(raters=2, design="radpref")
    ratings = {  # rater -> study -> (alpha, beta)
        "rater-1": {"s1": (5, 1), "s2": (4, 4), "s3": (5, 2), "s4": (3, 1)},
        "rater-2": {"s1": (4, 2), "s2": (5, 5), "s3": (3, 2), "s4": (2, 2)},
    }
    with Store(made.path) as store:
        study_of = {key: study for study, key in study_ids(store).items()}
        sheets = {
            person: {
                key: {
                    "version": 0,
                    "submitted": True,
                    "answers": {
                        label: {"rating": rated[study][system == "beta"]}
                        for label, system in store.key(person, key).items()
                    },
                }
                for key, study in study_of.items()
                if study in rated
            }
            for person, rated in ratings.items()
        }
        files = [
            _saved(tmp_path, _filled(store, person, cases)).rename(tmp_path / f"{person}.json")
            for person, cases in sheets.items()
        ]
    assert [each.problems for each in collect(made.path, files)] == [(), ()]
    export_study(made.path, tmp_path / "judgments.csv")
    judgments = read_judgments(tmp_path / "judgments.csv")
    # Mean ratings: alpha 4.5 4.5 4 2.5, beta 1.5 4.5 2 1.5. A metric that likes alpha and nothing else:
    keys_of = tuple(case.key for case in judgments.cases)
    values = np.array([[float(system == "alpha")] for _, system in keys_of])
    metric = Scores("m", "m", keys_of, values, values, ("m",), True)
    found = agree(Results({"m": metric}), judgments, targets=["rating"], resamples=10)
    # Of the 16 pairs (alpha, beta) 12 agree, 2 are tied on the rating (4.5), 2 disagree (4 and 2.5 against 4.5).
    # Rating pairs not tied: 28 - 3 (three at 4.5) - 1 (two at 1.5) = 24. tau-b = (12 - 2) / sqrt(16 * 24).
    assert found.lines[0].correlation.value == pytest.approx(10 / np.sqrt(16 * 24))
    one, two = (judgments.ratings[name].headline for name in ("Rater 1", "Rater 2"))
    assert np.abs(one - two).sum() == 1 + 1 + 1 + 1 + 2 + 0 + 1 + 1
