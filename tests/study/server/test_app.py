"""The service: cases in, values, intervals and reasons out; what is wrong is told without a word of a report."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="extra `web` is not installed")

from starlette.testclient import TestClient

import radgauge
from radgauge.core.errors import UsageError
from radgauge.run.score import score
from radgauge.study.cli.serve import training_references
from radgauge.study.http.server import Place
from radgauge.study.http.tokens import token_hash
from radgauge.study.server import judge as judging
from radgauge.study.server import requests
from radgauge.study.server.app import build
from radgauge.study.server.judge import Settings
from radgauge.study.server.requests import Limits

PAIRS = [
    ("No effusion. The heart is normal.", "Small left pleural effusion. The heart is normal."),
    ("The lungs are clear.", "The lungs are clear."),
    ("Right pneumothorax.", "Left pneumothorax."),
    ("Cardiomegaly.", "The heart is enlarged."),
    ("Mild edema.", "Severe pulmonary edema."),
    ("No acute findings.", "Right lower lobe pneumonia."),
]
CASES = [
    {"id": str(n), "candidate": candidate, "reference": reference}
    for n, (candidate, reference) in enumerate(PAIRS)
]
SETTINGS = Settings(metrics=("errors", "bleu"), cache=False)
NAME = "Zebedee"


def _client(**changes: Any) -> TestClient:
    return TestClient(build(dataclasses.replace(SETTINGS, **changes), Place()), base_url="http://localhost")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with _client() as client:
        yield client


def _lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in records).encode()


def _stream(client: TestClient, body: bytes, query: str = "") -> Any:
    return client.post(f"/score{query}", content=body, headers={"content-type": "application/x-ndjson"})


def test_values_are_those_of_score(client: TestClient) -> None:
    answer = client.post("/score", json={"cases": CASES}).json()
    own = score(CASES, ["errors", "bleu"])
    for at, case in enumerate(answer["cases"]):
        assert case["id"] == str(at)
        wanted = {
            column: None if value != value else value
            for scores in own.judges.values()
            for column, value in zip(scores.columns, scores.values[at].tolist(), strict=True)
        }
        assert case["values"] == wanted
    assert answer["metrics"]["bleu"]["signature"] == own["bleu"].signature


def test_intervals_are_those_of_summarise(client: TestClient) -> None:
    answer = client.post("/score", json={"cases": CASES, "metrics": ["bleu"], "level": 0.9, "seed": 3}).json()
    (own, *_) = radgauge.summarise(score(CASES, "bleu"), level=0.9, seed=3)
    line = answer["summary"][0]
    assert (line["value"], line["low"], line["high"]) == (own.value, own.low, own.high)
    assert line["low"] < line["value"] < line["high"]
    assert (line["judged"], line["column"], line["method"]) == (6, "bleu_4", own.method)


def test_what_cannot_be_judged_is_null_with_its_reason(client: TestClient) -> None:
    cases = [*CASES[:1], {"id": "x", "candidate": " ", "reference": "Clear."}, {"id": "y", "candidate": None}]
    answer = client.post("/score", json={"cases": cases, "metrics": ["bleu"]}).json()
    assert answer["cases"][1]["values"]["bleu_4"] is None
    assert answer["cases"][1]["not_judged"] == {"bleu": "empty candidate"}
    assert answer["summary"][0]["not_judged"] == 2
    assert answer["notes"][0].startswith("2 of 3 candidates are empty; first: id 'x' (case 2)")


def test_explanations_say_why(client: TestClient) -> None:
    answer = client.post("/score", json={"cases": CASES[:1], "explain": True, "metrics": ["errors"]}).json()
    notes = answer["cases"][0]["explanations"][0]["notes"]
    assert notes[0]["kind"] == "contradicted"
    assert "explanations" not in client.post("/score", json={"cases": CASES[:1]}).json()["cases"][0]


def test_lines_are_answered_with_lines_and_a_summary(client: TestClient) -> None:
    many = [{**CASES[n % 6], "id": n} for n in range(150)]
    answer = _stream(client, _lines(many), "?metrics=bleu&resamples=50")
    *lines, last = map(json.loads, answer.text.splitlines())
    whole = client.post("/score", json={"cases": many, "metrics": ["bleu"], "resamples": 50}).json()
    assert [line["values"] for line in lines] == [case["values"] for case in whole["cases"]]
    assert last["summary"] == whole["summary"]


def test_a_bad_line_ends_the_stream_after_the_good_ones(client: TestClient) -> None:
    answer = _stream(client, _lines([CASES[0], {"candidate": 3}, CASES[1]]), "?metrics=bleu")
    first, last = map(json.loads, answer.text.splitlines())
    assert first["id"] == "0"
    assert last == {"error": "line 2: candidate must be text or null"}
    assert _stream(client, b"no json").status_code == 400
    assert _stream(client, b"").json() == {"error": "the request has no cases"}
    assert _stream(client, _lines([CASES[0], CASES[0]])).text.splitlines()[-1] == (
        "{\"error\": \"line 2 repeats the id '0' of system 'system'\"}"
    )


def test_a_metric_that_weighs_cases_by_the_others_takes_no_lines() -> None:
    with _client(metrics=("cider",), reward="") as client:
        assert "send all cases as one JSON request" in _stream(client, _lines(CASES)).json()["error"]
        values = [case["values"] for case in client.post("/score", json={"cases": CASES}).json()["cases"]]
    assert [each["cider"] for each in values] == score(CASES, "cider")["cider"].headline.tolist()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f'{{"cases": ["{NAME}"]}}', "case 1 must be an object with candidate and reference"),
        (f'{{"cases": [{{"candidate": ["{NAME}"]}}]}}', "case 1: candidate must be text or null"),
        (f'{{"cases": [{{"candidate": "a", "{NAME}": 1}}]}}', "case 1 has an unknown key; a case has: id, system"),
        (
            f'{{"cases": [{{"candidate": "a", "references": [1, "{NAME}"]}}]}}',
            "references must be a list of texts",
        ),
        ('{"cases": [{"candidate": "a", "id": true}]}', "id must be a text or a whole number"),
        ('{"cases": [{"candidate": "\\ud800"}]}', "case 1: candidate has half a character"),
        ('{"cases": [{"candidate": "a", "reference": "b", "references": []}]}', "both reference and references"),
        ('{"cases": []}', "cases must be a list of objects"),
        (f'{{"cases": "{NAME}"}}', "cases must be a list of objects"),
        (f'{{"{NAME}": 1}}', "the body has an unknown key"),
        ("[]", "the body must be an object"),
        (f'{{"cases": [{{"candidate": "{NAME}', "the body is not JSON"),
        ("[" * 100_000, "the body is not JSON (nested too deeply"),
        ('{"cases": [{"candidate": "a"}], "level": 2}', "level must be a number from 0.5 to 0.999"),
        ('{"cases": [{"candidate": "a"}], "resamples": NaN}', "resamples must be a number from 0 to 10000"),
        ('{"cases": [{"candidate": "a"}], "explain": 1}', "explain must be true or false"),
        ('{"cases": [{"candidate": "a"}], "metrics": ["rouge"]}', "rouge is not served here; served are: errors"),
        (f'{{"cases": [{{"candidate": "a"}}], "metrics": ["{NAME} x"]}}', "a name is not served here"),
        ('{"cases": [{"id": 1, "candidate": "a"}, {"id": "1", "candidate": "b"}]}', "1 of 2 cases repeat an id"),
    ],
)
def test_what_is_wrong_is_told_without_text(client: TestClient, body: str, message: str) -> None:
    answer = client.post("/score", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert NAME not in answer.text


@pytest.mark.parametrize(
    ("query", "message"),
    [("?level=x", "level must"), ("?explain=maybe", "explain must"), ("?x=1", "an unknown parameter")],
)
def test_the_options_of_a_stream_are_checked(client: TestClient, query: str, message: str) -> None:
    answer = _stream(client, _lines(CASES), query)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_bodies_and_cases_are_limited() -> None:
    limits = Limits(body=2000, cases=2, streamed_cases=3, line=500)
    with _client(limits=limits) as client:
        too_many = client.post("/score", json={"cases": CASES[:3]})
        assert (too_many.status_code, too_many.json()["error"][:37]) == (
            413,
            "a JSON request has at most 2 cases; s",
        )
        assert client.post("/score", json={"cases": [{"candidate": "a" * 3000}]}).status_code == 413
        assert _stream(client, _lines(CASES)).text.splitlines()[-1].startswith('{"error": "a stream has at most 3')
        long = _lines([{"candidate": "a" * 600}])
        assert _stream(client, long).json() == {"error": "line 1 has more than 500 bytes"}
        assert client.post("/score", content=b"x", headers={"content-type": "text/plain"}).status_code == 415
        zipped = {"content-type": "application/json", "content-encoding": "gzip"}
        assert client.post("/score", content=b"x", headers=zipped).status_code == 415


def test_a_text_that_is_too_long_is_not_judged_with_this_reason() -> None:
    with _client(limits=Limits(longest=30)) as client:
        case = client.post("/score", json={"cases": CASES[:1]}).json()["cases"][0]
        asked = {"query": ["Clear.", "Clear."], "labels": ["Clear.", ["Clear.", "The lungs are clear. " * 2]]}
        rewards = client.post("/get_reward", json=asked).json()
    assert case["not_judged"]["bleu"] == "candidate longer than 30 characters"
    assert (rewards["rewards"], rewards["extra_logs"]["judged"]) == ([1.0, -1.0], [1.0, 0.0])


def test_a_case_has_a_bounded_size_and_parts_too() -> None:
    limits = Limits(references=2, case_characters=60, part_characters=100)
    with _client(limits=limits) as client:
        many = {"candidate": "Clear.", "references": ["Clear."] * 3}
        refused = client.post("/score", json={"cases": [CASES[1], many]})
        assert (refused.status_code, refused.json()["error"]) == (
            400,
            "case 2 has 3 references; a case has at most 2",
        )
        large = client.post("/score", json={"cases": [{"candidate": "a" * 30, "references": ["b" * 31]}]})
        assert large.json()["error"] == "case 1 has 61 characters; a case has at most 60"
        assert "line 1 has 3 references" in _stream(client, _lines([many])).json()["error"]
        rewards = client.post("/get_reward", json={"query": ["Clear."], "labels": [["Clear."] * 3]})
        assert "query and labels 1 has 3 references" in rewards.json()["error"]
    with pytest.raises(requests.TooMany, match="at most 3 cases"):  # counted before they are looked at
        requests.cases_of([{}] * 4, limits=Limits(cases=3))
    cases = requests.cases_of([{"candidate": "a" * 40, "id": n} for n in range(5)], limits=Limits())
    assert [len(part) for part in requests.parts_of(cases, limits)] == [2, 2, 1]
    cases = requests.cases_of([{"candidate": "a", "id": n} for n in range(requests.AT_ONCE + 1)], limits=Limits())
    assert [len(part) for part in requests.parts_of(cases, limits)] == [requests.AT_ONCE, 1]
    assert list(requests.parts_of(cases[:1], Limits(part_characters=0))) == [cases[:1]]


def test_a_request_that_takes_too_long_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with _client(limits=Limits(seconds=0.2)) as client:
        while client.get("/ready").status_code != 200:
            time.sleep(0.05)
        monkeypatch.setattr(judging, "score", lambda *args, **more: time.sleep(2))
        answer = client.post("/score", json={"cases": CASES})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "took longer than it may" in answer.json()["error"]
        waited = client.post("/score", json={"cases": CASES})  # its turn does not come: the first still works
        assert waited.status_code == 503


def test_more_requests_than_may_wait_are_told_to_come_again() -> None:
    with _client(limits=Limits(waiting=0)) as client:
        answer = client.post("/score", json={"cases": CASES})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert _stream(client, _lines(CASES)).status_code == 503


def test_an_error_of_ours_is_told_by_its_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **more: Any) -> None:
        raise ValueError(NAME)

    with TestClient(
        build(SETTINGS, Place()), base_url="http://localhost", raise_server_exceptions=False
    ) as client:
        while client.get("/ready").status_code != 200:
            time.sleep(0.05)
        monkeypatch.setattr(judging, "score", broken)
        answer = client.post("/score", json={"cases": CASES})
        assert (answer.status_code, answer.json()) == (500, {"error": "internal error (ValueError)"})
        assert _stream(client, _lines(CASES)).json() == {"error": "internal error (ValueError)"}


def test_a_token_is_needed_for_reports_and_for_nothing_else() -> None:
    token = "0123456789abcdef0123"
    basic = base64.b64encode(f"any:{token}".encode()).decode()
    with _client(tokens=(token_hash(token),)) as client:
        for path in ("/score", "/get_reward"):
            for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic !"}):
                refused = client.post(path, json={"cases": CASES}, headers=header)
                assert refused.status_code == 401
                assert refused.headers["www-authenticate"] == 'Bearer realm="radgauge"'
        for right in (f"Bearer {token}", f"Basic {basic}"):
            headers = {"Authorization": right}
            assert client.post("/score", json={"cases": CASES}, headers=headers).status_code == 200
        assert {client.get(path).status_code for path in ("/", "/health", "/openapi.json", "/style.css")} == {200}


def test_a_reward_measures_its_limits_on_the_references_of_the_training(tmp_path: Path) -> None:
    texts = [f"Small {side} effusion of {size} mm. No edema." for side in ("left", "right") for size in range(20)]
    table = tmp_path / "train.csv"
    table.write_text(
        "\n".join(["id,reference", *(f"{n},{text}" for n, text in enumerate(texts))]), encoding="utf-8"
    )
    asked = {
        "query": ["mm No effusion of small left edema 3.", texts[0]],
        "prompts": ["", ""],
        "labels": texts[:1] * 2,
    }
    with _client(references=training_references(table)) as client:
        assert client.post("/get_reward", json=asked).json()["rewards"] == [-1.0, 1.0]
    assert training_references(None) == ()


def test_rewards_are_in_the_form_of_openrlhf(client: TestClient) -> None:
    asked = {
        "query": ["Report: The lungs are clear.", "Report: ", "Left pneumothorax."],
        "prompts": ["Report: ", "Report: ", "Report: "],
        "labels": ["The lungs are clear.", "Clear.", ["Right pneumothorax.", "No pneumothorax."]],
    }
    answer = client.post("/get_reward", json=asked).json()
    assert answer["rewards"][:2] == [1.0, -1.0]
    assert 0 <= answer["rewards"][2] < 1
    assert answer["scores"] == [1.0, 0.0, answer["rewards"][2]]
    assert answer["extra_logs"] == {"judged": [1.0, 0.0, 1.0]}
    wrong = client.post("/get_reward", json={**asked, "labels": ["a"]})
    assert (wrong.status_code, wrong.json()["error"][:23]) == (400, "query, prompts and labe")
    assert client.post("/get_reward", json={**asked, "labels": [1, 2, 3]}).status_code == 400
    with _client(reward="") as without:
        assert without.post("/get_reward", json=asked).status_code == 404


def test_requests_at_the_same_time_get_their_own_answers_and_share_readings(
    monkeypatch: pytest.MonkeyPatch, client: TestClient
) -> None:
    read: list[str] = []
    reader = radgauge.reader.ReportReader
    own = reader.read
    monkeypatch.setattr(reader, "read", lambda self, texts: read.extend(texts) or own(self, texts))
    reference = "Moderate right pleural effusion with atelectasis, seen once."
    answers: dict[int, Any] = {}

    def ask(number: int) -> None:
        case = {"candidate": f"Effusion of {number} cm.", "reference": reference}
        answers[number] = client.post("/score", json={"cases": [case], "metrics": ["errors"]}).json()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, answer in answers.items():
        own_value = score(candidates=[f"Effusion of {number} cm."], references=[reference], metrics="errors")
        assert answer["cases"][0]["values"]["errors_quality"] == own_value["errors"].headline[0]
    assert read.count(reference) == 1 + len(answers)  # once for the service, and once for each `score` above


def test_memory_of_texts_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "KEEP", 20)
    judge = judging.Judge(SETTINGS)
    for number in range(100):
        given = {"candidate": f"Nodule of {number} mm.", "reference": "Clear."}
        case = requests.case_of(given, "1", number=number, limits=Limits())
        judge.part([case], requests.RequestOptions(metrics=("errors",)))
        kept = max(map(len, judge._reading._known.values()))
        assert kept <= 21


def test_health_readiness_and_the_page(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    while client.get("/ready").status_code != 200:
        time.sleep(0.05)
    assert client.get("/ready").json()["metrics"]["bleu"]["higher_is_better"] is True
    page = client.get("/")
    assert "POST /get_reward" in page.text
    assert not re.search(r"https?://|<script|style=", page.text)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {"/score", "/get_reward", "/health", "/ready", "/version", "/metrics"}


def _resolved(schema: Any, document: Any) -> Any:
    return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def test_the_description_names_what_answers_have(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    answer = client.post("/score", json={"cases": CASES, "explain": True}).json()
    schema = document["paths"]["/score"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    scores = _resolved(schema, document)["properties"]
    assert set(answer) == set(scores)
    assert set(answer["summary"][0]) == set(_resolved(scores["summary"]["items"], document)["properties"])
    assert set(answer["cases"][0]) == set(_resolved(scores["cases"]["items"], document)["properties"]) - {"notes"}


def test_before_it_is_ready_it_says_so() -> None:
    started = TestClient(build(SETTINGS, Place()), base_url="http://localhost")  # not entered: nothing is warmed
    assert (started.get("/ready").status_code, started.get("/health").status_code) == (503, 200)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [(("vlscore",), "vlscore needs images"), (("bleu", "bleu:variant=cxr"), "a metric is served once")],
)
def test_what_cannot_be_served_is_refused_at_the_start(metrics: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(dataclasses.replace(SETTINGS, metrics=metrics), Place())
