"""Ten thousand malformed actions at the page of a case: each is refused, and none is an error of ours."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from study_support import two_systems

pytest.importorskip("starlette", reason="extra `web` is not installed")

from starlette.testclient import TestClient

from radgauge.study import Action, Store, new_study, shipped_designs
from radgauge.study.check import check_study
from radgauge.study.state import KINDS
from radgauge.study.web.access import CSRF_HEADER
from radgauge.study.web.app import Limits, create_app

pytestmark = pytest.mark.process

ACTIONS = 10_000
CODES = {200, 400, 404, 409, 413, 422}
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**63,
        2**64,
        -(2**63) - 1,
        10**400,
        1e308,
        -0.0,
        0.5,
        float("nan"),
        float("inf"),
    ),
    *(
        "",
        "A",
        "B",
        "x" * 5000,
        "\0",
        "\ud800",
        "é\u202e",
        "=1+1",
        "0",
        "c" * 64,
        "omission/significant",
        "errors",
    ),
    *([], {}, [[]], [1, "A"], {"choice": "A"}, {"choice": []}, {"choice": {}}, {"category": []}, {"category": {}}),
    *(
        {"category": "omission", "significance": []},
        {"start": 0, "end": 10**30},
        {"unit": 10**30},
        {"text": ["a"]},
    ),
)


def odd_action(rng: random.Random, example: dict[str, Any]) -> Any:
    """An action that was good, with one to three values replaced anywhere in it, or none of an action's shape."""
    if rng.random() < 0.03:
        return rng.choice(ODD)
    said = json.loads(json.dumps(example))
    said["client_id"] = f"{rng.random()}"
    for _ in range(rng.randint(1, 3)):
        holder: Any = said
        while True:
            key = rng.choice(list(holder))
            if isinstance(holder[key], dict) and holder[key] and rng.random() < 0.75:
                holder = holder[key]
                continue
            break
        if rng.random() < 0.15:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        if not said:
            break
    return said


def examples(design: Any) -> list[dict[str, Any]]:
    """Well-formed actions of every kind, on every field of a design."""
    listed: list[dict[str, Any]] = [{"kind": kind, "payload": {}, "based_on": 0} for kind in KINDS]
    listed.append({"kind": "time", "payload": {"seconds": 3.0}, "based_on": 0})
    listed.append({"kind": "cannot_judge", "payload": {"candidate": "A", "reason": "cut off"}, "based_on": 0})
    for field in design.fields:
        base = {"candidate": "" if field.per == "case" else "A", "field": field.key}
        if field.kind in ("marks", "missing"):
            category = field.categories[0] if field.categories else None
            entry: dict[str, Any] = {"start": 0, "end": 4, "unit": 0, "text": "effusion", "note": "n"}
            if category is not None:
                entry["category"] = category.key
                if levels := field.levels(category.key):
                    entry["significance"] = levels[0].key
                if category.attributes:
                    entry["attribute"] = category.attributes[0].key
            listed += [
                {"kind": kind, "payload": {**base, "id": "1", "entry": entry}, "based_on": 0}
                for kind in ("add", "change", "remove")
            ]
        else:
            value: Any = {"choice": "A", "reason": "r"} if field.kind == "choice" else 1
            payload = {**base, "value": value, "unit": 0 if field.per == "sentence" else None}
            if field.kind == "counts":
                payload["part"] = field.parts()[0]
            listed.append({"kind": "set", "payload": payload, "based_on": 0})
    return listed


@pytest.mark.parametrize("design", shipped_designs())
def test_a_malformed_action_is_refused_and_never_an_error_of_ours(
    design: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    made = new_study(tmp_path / "s.sqlite", two_systems(), design=design, raters=1)
    rng = random.Random(design)
    count = -(-ACTIONS // len(shipped_designs()))
    with closing(Store(made.path)) as store:
        store._connection.execute("PRAGMA synchronous=OFF")
        app = create_app(store, limits=Limits(burst=10**6, joins=10**6))
        # the test client raises what would be a traceback
        http = TestClient(app, base_url="http://localhost", follow_redirects=False)
        assert http.post("/join", json={"token": made.tokens["rater-1"]}).status_code == 200
        headers = {
            CSRF_HEADER: http.get("/start").text.split('data-csrf="')[1].split('"')[0],
            "Content-Type": "application/json",
        }
        store.record("rater-1", Action("", "ready", client_id="ready"))
        keys = [place.key for place in store.places("rater-1")]
        good = examples(store.design)
        codes = []
        for _ in range(count):
            key = rng.choice(keys) if rng.random() < 0.97 else rng.choice(("c", "%00", "%ff", "..", "é" * 40))
            said = odd_action(rng, rng.choice(good))
            if isinstance(said, dict) and "based_on" in said and key in keys and said["based_on"] == 0:
                said["based_on"] = store.state("rater-1", key).version
            body = json.dumps(said).encode()
            if rng.random() < 0.03:
                body = body[: rng.randrange(len(body))] + rng.choice((b"", b"\xff", b"[" * 5000))
            codes.append(http.post(f"/api/cases/{key}/actions", content=body, headers=headers).status_code)
        errors = sum(code not in CODES for code in codes)
        record_property("malformed actions that ended in an error of ours", f"{errors} of {len(codes)}")
        assert errors == 0
        assert codes.count(422) > count / 4  # most get as far as the checks
        for token in ODD:
            answer = http.post("/join", content=json.dumps({"token": token}).encode(), headers=headers)
            assert answer.status_code in (400, 401)
    assert check_study(made.path).problems == ()
