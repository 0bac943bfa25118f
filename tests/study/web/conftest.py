"""The web application of a study, in this process for requests and in one of its own for browsers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="extra `web` is not installed")

from starlette.testclient import TestClient

from radgauge.study import NewStudy, Store
from radgauge.study.web.access import CSRF_HEADER
from radgauge.study.web.app import Limits, create_app


class Browser:
    """Requests of one browser, as the scripts of the page send them."""

    def __init__(self, app: Any) -> None:
        self.http = TestClient(app, base_url="http://localhost", follow_redirects=False)
        self._number = itertools.count()

    def join(self, token: str) -> Any:
        return self.http.post("/join", json={"token": token})

    def csrf(self) -> dict[str, str]:
        page = self.http.get("/start").text if self.http.get("/start").status_code == 200 else ""
        page = page or self.http.get("/organiser").text
        return {CSRF_HEADER: page.split('data-csrf="')[1].split('"')[0]}

    def post(self, path: str, said: Any = None, **headers: str) -> Any:
        return self.http.post(path, json=said if said is not None else {}, headers={**self.csrf(), **headers})

    def case(self, key: str) -> Any:
        return self.http.get(f"/api/cases/{key}")

    def act(self, key: str, kind: str, **payload: Any) -> Any:
        """An action on the present version of a case."""
        said = {
            "kind": kind,
            "payload": payload,
            "client_id": payload.pop("client_id", f"{id(self)}-{next(self._number)}"),
            "based_on": payload.pop("based_on", self.case(key).json()["state"]["version"]),
        }
        return self.post(f"/api/cases/{key}/actions", said)

    def submit(self, key: str) -> Any:
        """Submit; of candidates without an answer it says that they have no errors."""
        for problem in self.case(key).json()["problems"]:
            if problem["message"].endswith("say that there are none"):
                none = {"candidate": problem["candidate"], "field": problem["field"], "value": 0}
                self.act(key, "set", **none, part="omission/significant")
        return self.act(key, "submit")

    def case_keys(self, *, training: bool = False) -> list[str]:
        listed = self.http.get("/api/study").json()["cases"]
        return [each["key"] for each in listed if each["training"] is training]

    def train(self) -> None:
        """Read the instructions and get through the practice cases."""
        self.post("/ready")
        for key in self.case_keys(training=True):
            self.act(key, "cannot_judge", candidate="", reason="practised before")
            assert self.act(key, "submit").status_code == 200


@pytest.fixture
def opened() -> Iterator[Callable[..., tuple[Store, Callable[[str], Browser]]]]:
    """Open a study: its store, and a function that lets a person in."""
    stores: list[Store] = []

    def of(study: NewStudy, **settings: Any) -> tuple[Store, Callable[[str], Browser]]:
        store = Store(study.path)
        stores.append(store)
        app = create_app(store, limits=settings.pop("limits", Limits(burst=10_000)), **settings)

        def enter(person: str) -> Browser:
            browser = Browser(app)
            if person:
                assert browser.join(study.tokens[person]).status_code == 200
            return browser

        return store, enter

    yield of
    for store in stores:
        store.close()
