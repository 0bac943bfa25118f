"""Requests to a study: who gets in, who sees what, and what is kept."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_support import two_systems

from radgauge.core.errors import InputError
from radgauge.study import NewStudy, Store, new_study, shipped_designs
from radgauge.study.http.server import Place
from radgauge.study.web.access import CSRF_HEADER
from radgauge.study.web.app import Limits

Make = Callable[..., NewStudy]
Opened = Callable[..., tuple[Store, Callable[[str], Any]]]
SHARE = {"raters": 2, "shared": 0}


def test_only_a_valid_token_opens_the_door(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    stranger = enter("")
    for wrong in ("", "x" * 43, None, 5, ["a"], {"a": 1}, True, "é" * 43):
        answer = stranger.join(wrong)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
    assert "Please open the link that you were sent" in answer.json()["error"]
    for path in ("/api/study", "/api/cases/c0001", "/api/cases/c0001/images/0"):
        assert stranger.http.get(path).status_code == 401
    assert stranger.http.get("/").status_code == 401
    for path in ("/start", "/case/c0001", "/done", "/organiser", "/organiser/case/c0001"):
        assert stranger.http.get(path).headers["location"] == "/"
    assert stranger.http.post("/api/cases/c0001/actions", json={}).status_code == 401
    assert stranger.http.post("/organiser/backup", json={}).status_code == 401
    assert store.events() == ()


def test_a_token_can_be_withdrawn_and_expires_while_its_browser_is_signed_in(make: Make, opened: Opened) -> None:
    study = make()
    store, enter = opened(study)
    first, second = enter("rater-1"), enter("rater-2")
    assert first.http.get("/api/study").status_code == 200
    store.revoke_tokens("rater-1")
    assert first.http.get("/api/study").status_code == 401
    assert second.http.get("/api/study").status_code == 200
    assert enter("").join(study.tokens["rater-1"]).status_code == 401
    old = store.new_token("rater-1", days=1, now=datetime.now(UTC) - timedelta(days=2))
    assert enter("").join(old).status_code == 401


def test_a_session_is_not_the_token_and_ends_for_good(make: Make, opened: Opened) -> None:
    study = make()
    store, enter = opened(study)
    browser = enter("rater-1")
    (cookie,) = browser.http.cookies.jar
    token = study.tokens["rater-1"]
    assert token not in str(cookie.value)
    assert base64.b64encode(token.encode()).rstrip(b"=").decode()[:40] not in str(cookie.value)
    assert str(cookie.value).encode() not in study.path.read_bytes()  # the study keeps a hash
    stolen = enter("")
    stolen.http.cookies.set(cookie.name, str(cookie.value))
    assert stolen.http.get("/api/study").status_code == 200
    assert browser.post("/leave").status_code == 200
    for each in (browser, stolen):
        assert each.http.get("/api/study").status_code == 401
    assert browser.join(token).status_code == 200  # the link still lets its person in
    assert browser.http.get("/api/study").status_code == 200
    assert stolen.http.get("/api/study").status_code == 401
    assert browser.join(token).status_code == 200
    rows = store._connection.execute("SELECT count(*) FROM sessions").fetchone()
    assert rows == (1,)  # signing in again ended the session before


def test_a_session_changes_its_secret_every_hour_and_ends_after_twelve(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    browser = enter("rater-1")
    access = browser.http.app.state.access
    began = datetime.now(UTC)

    def at(hours: float, path: str, cookie: str | None = None) -> Any:
        access._clock = lambda: began + timedelta(hours=hours)
        if cookie is None:
            return browser.http.get(path)
        return enter("").http.get(path, headers={"Cookie": f"{name}={cookie}"})

    ((name, first),) = browser.http.cookies.items()
    csrf = browser.csrf()
    assert "set-cookie" not in at(0.5, "/start").headers
    assert "set-cookie" not in at(1.1, "/api/study").headers  # only with a page
    assert "set-cookie" in at(1.1, "/start").headers
    second = browser.http.cookies[name]
    assert second != first
    assert browser.csrf() == csrf  # pages that are open go on
    assert at(1.11, "/api/study", first).status_code == 200  # the new secret may not have arrived everywhere
    assert "set-cookie" not in at(1.11, "/start", first).headers
    assert at(1.2, "/api/study").status_code == 200
    assert at(1.2, "/api/study", first).status_code == 401  # and now it has
    assert at(1.2, "/api/study", second).status_code == 200
    assert at(12.1, "/api/study").status_code == 401


def test_a_token_stands_in_no_address_and_the_cookie_is_out_of_reach_of_scripts(
    make: Make, opened: Opened
) -> None:
    study = make()
    _, enter = opened(study)
    answer = enter("").join(study.tokens["rater-1"])
    cookie = answer.headers["set-cookie"]
    assert re.search(r"HttpOnly", cookie)
    assert "samesite=lax" in cookie.lower()
    assert answer.json() == {"to": "/start"}
    assert enter("organiser-1").http.get("/organiser").status_code == 200


def test_over_https_cookies_are_secure_and_other_hosts_are_refused(make: Make, opened: Opened) -> None:
    study = make()
    _, enter = opened(study, address=Place(host="0.0.0.0", url="https://study.example"))
    browser = enter("")
    assert "__Host-radgauge-rater" in browser.join(study.tokens["rater-1"]).headers["set-cookie"]
    assert "strict-transport-security" in browser.http.get("/join").headers
    assert browser.http.get("/join", headers={"Host": "study.example"}).status_code == 200
    assert browser.http.get("/join", headers={"Host": "evil.example"}).status_code == 421


def test_raters_see_their_own_cases_and_nothing_else(make: Make, opened: Opened) -> None:
    study = make(**SHARE)
    store, enter = opened(study)
    one, two = enter("rater-1"), enter("rater-2")
    one.train()
    two.train()
    mine, theirs = one.case_keys(), two.case_keys()
    assert set(mine) & set(theirs) == set()
    for key in (*theirs, "c9999", "organiser"):
        assert one.case(key).status_code == 404
        assert one.http.get(f"/case/{key}").status_code == 404
        assert one.http.get(f"/api/cases/{key}/images/0").status_code == 404
        said = {
            "kind": "cannot_judge",
            "payload": {"candidate": "", "reason": "x"},
            "client_id": "a",
            "based_on": 0,
        }
        assert one.post(f"/api/cases/{key}/actions", said).status_code == 404
    assert one.http.get("/organiser").headers["location"] == "/"
    assert one.http.get(f"/organiser/case/{mine[0]}").headers["location"] == "/"
    assert one.post("/organiser/backup").status_code == 401
    assert {event.person for event in store.events(case=theirs[0])} == set()


def test_nothing_that_a_rater_gets_tells_the_key_or_the_answers_of_others(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    one, two = enter("rater-1"), enter("rater-2")
    one.train()
    two.train()
    key = one.case_keys()[0]
    two.act(key, "cannot_judge", candidate="A", reason="secretly unreadable")
    told = [one.http.get("/api/study").text, one.case(key).text, one.http.get(f"/case/{key}").text]
    for text in told:
        assert "alpha" not in text
        assert "beta" not in text
        assert "secretly" not in text
        assert "Rater 2" not in text
    design = one.http.get("/api/study").json()["design"]
    assert "training" not in design  # it holds the expected answers
    assert "others" not in one.case(key).json()


def test_an_adjudicator_sees_what_the_raters_said_in_labels_of_their_own(make: Make, opened: Opened) -> None:
    store, enter = opened(make(adjudicators=["Dr. Third"]))
    one, third = enter("rater-1"), enter("adjudicator-1")
    one.train()
    third.post("/ready")
    key = one.case_keys()[0]
    label = {system: label for label, system in store.key("rater-1", key).items()}["beta"]
    entry = {"category": "severity", "significance": "significant", "start": 0, "end": 5}
    assert one.act(key, "add", candidate=label, field="marks", entry=entry).status_code == 200
    own = {system: label for label, system in store.key("adjudicator-1", key).items()}["beta"]
    text = {each["label"]: each["text"] for each in third.case(key).json()["candidates"]}[own]
    (other,) = third.case(key).json()["others"]
    assert other["name"] == "Rater 1"
    assert other["submitted"] is False
    assert other["said"][own] == [
        "Errors: Wrong severity of a finding, clinically significant: 1",
        f"Wrong severity of a finding, clinically significant: “{text[:5]}”",
    ]


def test_requests_of_other_pages_change_nothing(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    one = enter("rater-1")
    before = len(store.events())
    said = {"kind": "cannot_judge", "payload": {"reason": "x"}, "client_id": "a", "based_on": 0}
    address = f"/api/cases/{one.case_keys(training=True)[0]}/actions"
    assert one.http.post(address, json=said).status_code == 403
    assert one.http.post(address, json=said, headers={CSRF_HEADER: "0" * 64}).status_code == 403
    assert one.post(address, said, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    form = {**one.csrf(), "Content-Type": "application/x-www-form-urlencoded"}
    assert one.http.post(address, content=b"kind=submit", headers=form).status_code == 400
    assert one.http.post("/ready", json={}).status_code == 403
    assert one.http.post("/leave", json={}).status_code == 401
    assert len(store.events()) == before
    assert one.post(address, said).status_code == 200
    assert len(store.events()) == before + 1


def test_an_action_sent_twice_is_made_once(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    one = enter("rater-1")
    one.train()
    key = one.case_keys()[0]
    part = {"candidate": "A", "field": "errors", "part": "omission/significant", "value": 1}
    first = one.act(key, "set", **part, client_id="same", based_on=0)
    again = one.act(key, "set", **part, client_id="same", based_on=0)
    assert first.json()["seq"] == again.json()["seq"]
    assert again.json()["state"]["version"] == 1
    assert [event.client_id for event in store.events(case=key)] == ["same"]


def test_a_window_that_is_behind_is_told_and_overwrites_nothing(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    window, other = enter("rater-1"), enter("rater-1")
    window.train()
    key = window.case_keys()[0]
    part = {"candidate": "A", "field": "errors", "part": "omission/significant"}
    assert window.act(key, "set", **part, value=1).status_code == 200
    refused = other.act(key, "set", **part, value=5, based_on=0)
    assert refused.status_code == 409
    assert refused.json()["state"]["answers"]["A"]["errors"] == {"omission/significant": 1}
    assert store.state("rater-1", key).answers["A"]["errors"] == {"omission/significant": 1}


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "set", "payload": {"candidate": "A", "field": "nothing", "value": 1}, "client_id": "1"},
        {"kind": "set", "payload": [], "client_id": "1", "based_on": 0},
        {"kind": "conquer", "payload": {}, "client_id": "1", "based_on": 0},
        {"kind": ["set"], "payload": {}, "client_id": "1", "based_on": 0},
        {"kind": "submit", "payload": {}, "client_id": 5, "based_on": 0},
        {"kind": "submit", "payload": {}, "client_id": "1", "based_on": "0"},
        {"kind": "ready", "payload": {}, "client_id": "1", "based_on": 0},
        {"kind": "time", "payload": {"seconds": -1}, "client_id": "1"},
    ],
)
def test_actions_that_do_not_fit_are_refused_and_leave_nothing(
    make: Make, opened: Opened, said: dict[str, Any]
) -> None:
    store, enter = opened(make(design="preference"))
    one = enter("rater-1")
    one.train()
    before = store.events()
    answer = one.post(f"/api/cases/{one.case_keys()[0]}/actions", said)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert store.events() == before


def test_bodies_that_are_no_action_and_too_many_requests_are_refused(make: Make, opened: Opened) -> None:
    _, enter = opened(make(), limits=Limits(burst=25, per_second=0.001, joins=3, joins_per_second=0.001))
    one = enter("rater-1")
    address = f"/api/cases/{one.case_keys(training=True)[0]}/actions"
    sent = one.csrf()
    json_headers = {**sent, "Content-Type": "application/json"}
    for body in (b"", b"[]", b"{", b"5", b"[" * 50_000, b'{"kind": "set"}'):
        assert one.http.post(address, content=body, headers=json_headers).status_code == 400
    assert one.http.post(address, content=b" " * 70_000, headers=json_headers).status_code == 413
    codes = [one.http.get("/api/study").status_code for _ in range(30)]
    assert codes[0] == 200
    assert codes[-1] == 429
    stranger = enter("")
    assert [stranger.join("x" * 43).status_code for _ in range(4)] == [401, 401, 401, 429]
    enter("rater-2")  # from the same address, with a right one


def test_real_cases_wait_for_the_practice_and_feedback_follows_it(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    one = enter("rater-1")
    assert one.http.get(f"/case/{one.case_keys(training=True)[0]}").headers["location"] == "/start"
    assert one.post("/ready").json() == {"to": f"/case/{one.case_keys(training=True)[0]}"}
    real = one.case_keys()[0]
    assert one.case(real).status_code == 404
    assert one.http.get(f"/case/{real}").headers["location"] == "/start"
    first, second = one.case_keys(training=True)
    assert one.case(first).json()["feedback"] is None
    assert one.act(first, "set", candidate="A", field="errors", part="severity/significant", value=1).is_success
    refused = one.act(first, "submit")
    assert refused.status_code == 422
    assert "count the errors, or say that there are none" in refused.text
    feedback = one.submit(first).json()["feedback"]
    assert (feedback["right"], feedback["of"]) == (0, 2)
    assert "other side" in feedback["text"]
    assert feedback["lines"][0].startswith("Candidate A, Errors: expected ")
    assert "you answered Wrong severity of a finding, clinically significant: 1" in feedback["lines"][0]
    one.submit(second)
    assert one.case(real).status_code == 200


def test_pages_hold_no_code_of_their_own_and_carry_the_strict_policy(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    one, organiser = enter("rater-1"), enter("organiser-1")
    one.train()
    pages = [
        one.http.get(path) for path in ("/start", f"/case/{one.case_keys()[0]}", "/done", "/join", "/nothing")
    ]
    pages += [organiser.http.get(path) for path in ("/organiser", f"/organiser/case/{one.case_keys()[0]}")]
    for page in pages:
        assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert page.headers["cache-control"] == "no-store"
        assert not re.findall(r"<script(?![^>]*\bsrc=\"/static/)", page.text)
        assert not re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:|https?://", page.text)


def test_scripts_and_styles_are_served_and_asked_for_again_cheaply(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    http = enter("").http
    for name in ("study.js", "page.js", "join.js", "viewer.js", "study.css", "page.css", "viewer.css"):
        answer = http.get(f"/static/{name}")
        assert answer.status_code == 200
        assert len(answer.content) > 500
        assert http.get(f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert http.get("/static/app.py").status_code == 404
    assert http.get("/static/..%2fapp.py").status_code == 404


@pytest.mark.parametrize("design", shipped_designs())
def test_every_shipped_design_can_be_opened(make: Make, opened: Opened, design: str) -> None:
    store, enter = opened(make(design=design))
    one = enter("rater-1")
    one.train()
    found = one.case(one.case_keys()[0]).json()
    assert len(found["candidates"]) == 2
    assert found["problems"] == [] or found["problems"][0]["message"]
    assert one.http.get(f"/case/{one.case_keys()[0]}").status_code == 200
    assert {each["key"] for each in one.http.get("/api/study").json()["design"]["fields"]} == set(
        store.design.keys
    )


def _with_images(tmp_path: Path, *images: Path) -> NewStudy:
    cases = [replace(case, images=images) for case in two_systems()]
    return new_study(tmp_path / "images.sqlite", cases, design="preference", raters=1)


def test_images_come_without_file_names_and_a_missing_one_is_said(tmp_path: Path, opened: Opened) -> None:
    image = pytest.importorskip("PIL.Image", reason="extra `image` is not installed")
    pixels = np.tile(np.arange(64, dtype=np.uint8), (48, 1))
    image.fromarray(pixels).save(tmp_path / "Smith_John.png")
    image.fromarray(pixels).save(tmp_path / "Smith_John.jpg")
    missing = tmp_path / "Smith_gone.png"
    image.fromarray(pixels).save(missing)
    study = _with_images(tmp_path, tmp_path / "Smith_John.png", tmp_path / "Smith_John.jpg", missing)
    missing.unlink()
    _, enter = opened(study)
    one = enter("rater-1")
    one.train()
    key = one.case_keys()[0]
    found = one.case(key)
    assert "Smith" not in found.text
    first, second, third = found.json()["images"]
    assert (first["name"], first["width"], first["height"]) == ("Image 1", 64, 48)
    assert third == {"name": "Image 3", "problem": "the image cannot be read"}
    for record in (first, second):
        answer = one.http.get(record["url"])
        assert answer.headers["content-type"] == record["type"]
        assert len(answer.content) > 100
    assert one.http.get(f"/api/cases/{key}/images/2").status_code == 404
    assert one.http.get(f"/api/cases/{key}/images/3").status_code == 404


def test_a_file_that_cannot_be_written_asks_the_page_to_try_again(
    make: Make, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, enter = opened(make())
    one = enter("rater-1")
    key = one.case_keys(training=True)[0]

    def full(*_: object, **__: object) -> None:
        raise InputError("study.sqlite cannot be written: disk I/O error")

    monkeypatch.setattr(store, "record", full)
    answer = one.act(key, "cannot_judge", candidate="", reason="x")
    assert answer.status_code == 503
    assert "cannot be written" in answer.json()["error"]


def test_the_organiser_sees_progress_agreement_and_where_raters_differ(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    organiser = enter("organiser-1")
    assert "There is nothing to compare yet" in organiser.http.get("/organiser").text
    for person, extra in (("rater-1", 0), ("rater-2", 3)):
        rater = enter(person)
        rater.train()
        for place, key in enumerate(rater.case_keys()):
            labels = {system: label for label, system in store.key(person, key).items()}
            if place_of(store, key) != "s2":  # its candidates are identical
                value = 1 + (extra if place_of(store, key) == "s3" else 0)
                part = {"candidate": labels["beta"], "field": "errors", "part": "omission/significant"}
                assert rater.act(key, "set", **part, value=value).is_success
            if place:
                rater.act(key, "time", seconds=60)
                assert rater.submit(key).is_success
    page = organiser.http.get("/organiser").text
    assert "<b>6</b> of 8 assigned cases submitted" in page
    assert "3 of 4" in page
    assert "1 min 0 s" in page
    assert "errors: total" in page
    assert "Krippendorff" in page
    assert organiser.http.get("/api/study").status_code == 401  # the organiser is no rater


def place_of(store: Store, key: str) -> str:
    """The study behind the key of a case."""
    (found,) = store._connection.execute("SELECT id FROM cases WHERE key = ?", (key,)).fetchone()
    return str(found)


def test_the_organiser_sees_the_texts_and_all_answers_of_a_case_with_systems(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    for person, value in (("rater-1", 0), ("rater-2", 4)):
        rater = enter(person)
        rater.train()
        for key in rater.case_keys():
            labels = {system: label for label, system in store.key(person, key).items()}
            if value and place_of(store, key) == "s3":
                part = {"candidate": labels["beta"], "field": "errors", "part": "omission/significant"}
                rater.act(key, "set", **part, value=value)
            rater.submit(key)
    organiser = enter("organiser-1")
    page = organiser.http.get("/organiser").text
    row = re.search(r"<tr><th scope=\"row\">s3</th><td>beta</td>.*?</tr>", page, re.DOTALL)
    assert row is not None
    assert "Rater 1: <b>0</b>" in row[0]
    assert "Rater 2: <b>4</b>" in row[0]
    address = re.search(r"/organiser/case/\w+", row[0])
    assert address is not None
    shown = organiser.http.get(address[0]).text
    assert "= beta" in shown
    assert "Finding of the reference left out, clinically significant: 4" in shown
    assert organiser.http.get("/organiser/case/c9999").status_code == 404


def test_choices_are_shown_by_name_where_raters_differ(make: Make, opened: Opened) -> None:
    store, enter = opened(make(design="preference"))
    for person in ("rater-1", "rater-2"):
        rater = enter(person)
        rater.train()
        for key in rater.case_keys():
            labels = {system: label for label, system in store.key(person, key).items()}
            other = "equal" if person == "rater-1" else labels["beta"]
            chosen = other if place_of(store, key) == "s3" else labels["alpha"]
            value = {"choice": chosen, "reason": "because"}
            assert rater.act(key, "set", candidate="", field="preference", value=value).is_success
            assert rater.submit(key).is_success
    page = enter("organiser-1").http.get("/organiser").text
    row = re.search(r"<tr><th scope=\"row\">s3</th>.*?</tr>", page, re.DOTALL)
    assert row is not None
    assert "Rater 1: <b>equal</b>, Rater 2: <b>beta</b>" in row[0]
    assert page.count("All answers") == 1


def test_the_backup_of_a_running_study_holds_every_event(make: Make, opened: Opened) -> None:
    store, enter = opened(make())
    one = enter("rater-1")
    one.train()
    said = enter("organiser-1").post("/organiser/backup").json()["said"]
    (copy,) = store.path.parent.glob("*-backup-*.sqlite")
    assert copy.name in said
    with Store(copy) as restored:
        assert restored.events() == store.events()


def test_signing_out_ends_the_session_of_this_browser(make: Make, opened: Opened) -> None:
    _, enter = opened(make())
    one = enter("rater-1")
    assert one.post("/leave").json() == {"to": "/"}
    assert one.http.get("/api/study").status_code == 401
