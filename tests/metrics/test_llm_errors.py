"""The judge by language model against a server on this machine that misbehaves in every way that real ones do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_judge import answer_of, complaint, is_repair, judge, quotes, reports
from scripted_llm import KEY, FakeClock, Reply, Request, ScriptedServer

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.core.scores import Results
from radgauge.findings.profile import Arithmetic
from radgauge.findings.weights import load_weights
from radgauge.llm import Limits, session
from radgauge.llm.client import LlmError
from radgauge.metrics.errors import COLUMNS
from radgauge.metrics.llm_errors import LlmErrors
from radgauge.metrics.llm_errors.cascade import doubts, most_doubtful
from radgauge.metrics.llm_errors.findings import SCHEMA, judged_profile, judgment_faults, read_judgment
from radgauge.metrics.llm_errors.pairs import Pair, Text
from radgauge.metrics.llm_errors.prompts import FILES, judge_prompt
from radgauge.run.contract import check_metric
from radgauge.run.explain import explain
from radgauge.run.score import score

CASE = Case(
    "1",
    "Small left effusion. The heart is normal.",
    ("Small left effusion. Large pneumothorax. No fracture.",),
    meta={"age": "058Y", "indication": "Fall from a ladder"},
)
_WEIGHTS = load_weights()
_LOST = _WEIGHTS.categories["omission"] * (1 + _WEIGHTS.base) / (2 + _WEIGHTS.base)
HONEST = (1 - _LOST) / (1 + _LOST)
"""Quality with the shipped weights: one of two actionable findings left out."""
OTHER = Case("2", "Rib fracture.", ("Rib fracture.",))


def _score(cases: list[Case], spec: str = "llm_errors", reading: Readings | None = None, **how: Any) -> Results:
    with session(clock=FakeClock(), **how):
        return score(cases, spec, reading=reading)


def _account(results: Results) -> dict[str, Any]:
    return dict(results.header["accounts"]["llm_errors"])


def test_the_value_is_the_arithmetic_of_errors(judging: ScriptedServer) -> None:
    """One of two actionable findings is left out: x = 1 (1 + 2) / (2 + 2), quality = (1 - x) / (1 + x)."""
    scores = _score([CASE], "llm_errors:weights=prior")["llm_errors"]
    assert scores.columns[: len(COLUMNS)] == tuple(f"{column}_llm" for column in COLUMNS)
    values = dict(zip(scores.columns, scores.values[0], strict=True))
    assert values["errors_quality_llm"] == pytest.approx(0.25 / 1.75)
    assert (values["errors_total_llm"], values["errors_significant_llm"], values["errors_omission_llm"]) == (
        1,
        1,
        1,
    )
    assert values["errors_recall_llm"] == 0.5
    assert values["errors_quality_abnormal_llm"] == values["errors_quality_llm"]
    assert math.isnan(values["errors_false_alarms_llm"])
    assert (values["errors_coverage_llm"], values["errors_low_confidence_llm"]) == (1.0, 0.0)


def test_every_kind_of_error_is_counted_and_priced() -> None:
    pair = Pair(
        Text("Mild left effusion. Possible nodule. Old fracture."), Text("Severe right effusion. Nodule. Mass.")
    )

    def finding(name: str, quote: str, certainty: str, significance: str) -> dict[str, str]:
        return {
            "id": name, "quote": quote, "finding": quote, "certainty": certainty, "significance": significance,
        }  # fmt: skip

    def error(
        category: str, r: str | None, c: str | None, significance: str, denied: bool = False
    ) -> dict[str, Any]:
        return {
            "explanation": "so", "category": category, "reference": r, "candidate": c, "denied": denied,
            "significance": significance,
        }  # fmt: skip

    value = {
        "reference_findings": [
            finding("R1", "Mild left effusion", "certain", "actionable"),
            finding("R2", "Possible nodule", "uncertain", "not_actionable"),
            finding("R3", "Old fracture", "certain", "benign"),
        ],
        "reference_normal": [],
        "candidate_findings": [
            finding("C1", "severe  RIGHT effusion.", "certain", "urgent"),
            finding("C2", "Nodule", "certain", "not_actionable"),
            finding("C3", "Mass", "certain", "urgent"),
        ],
        "candidate_normal": [],
        "matches": [
            {"explanation": "so", "reference": "R1", "candidate": "C1"},
            {"explanation": "so", "reference": "R2", "candidate": "C2"},
        ],
        "errors": [
            error("location", "R1", "C1", "actionable"),
            error("severity", "R1", "C1", "benign"),
            error("descriptor", "R1", "C1", "benign"),
            error("omitted_uncertainty", "R2", "C2", "not_actionable"),
            error("omission", "R3", None, "benign", denied=True),
            error("false_finding", None, "C3", "urgent"),
        ],
    }
    assert judgment_faults(value, pair) == []
    judgment = read_judgment(value, pair)
    assert judgment.candidate["C1"].span == (0, 21)
    assert judgment.coverage == 1.0
    profile = judged_profile(judgment)
    assert profile.detection == (0, 2, 1)  # correct, false, missed: the effusion is on the wrong side
    assert profile.alarms == 1
    assert profile.tiers == ((0, False), (2, True), (3, False))  # the effusion is urgent in one of the reports
    w = load_weights("prior")
    arithmetic = Arithmetic(w)
    lost = (
        2 * 0.75  # location of an urgent finding
        + 2 * 0.6 * 0.2  # severity, negligible
        + 0.5 * 0.2 * 0.8 * 0.2  # doubt of a hedged finding, negligible
        + 0.15 * 1.0 * 1.1  # an omission that is denied in words
        + 2 * 0.7  # an urgent false finding
        + 0.5 * 2 * 0.2  # a descriptor: named differently, negligible
    )
    x = lost * 3 / (2 + 0.5 * 0.8 + 0.15 + 2)
    assert arithmetic.quality(profile) == pytest.approx((1 - x) / (1 + x))


Change = Callable[[dict[str, Any]], None]


def _changed(change: Change) -> Callable[[Request], Reply]:
    def reply(request: Request) -> Reply:
        answer = answer_of(request)
        change(answer)
        return Reply(json.dumps(answer))

    return reply


def _set(path: str, value: object) -> Change:
    def change(answer: dict[str, Any]) -> None:
        *names, last = path.split(".")
        place: Any = answer
        for name in names:
            place = place[int(name) if name.isdigit() else name]
        place[int(last) if last.isdigit() else last] = value

    return change


def _swapped(answer: dict[str, Any]) -> None:
    answer["reference_findings"], answer["candidate_findings"] = (
        [{**each, "id": each["id"].replace("C", "R")} for each in answer["candidate_findings"]],
        [{**each, "id": each["id"].replace("R", "C")} for each in answer["reference_findings"]],
    )


def _tool_call(arguments: str) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}


FAULTY: dict[str, tuple[Reply | Callable[[Request], Reply], str]] = {
    "broken JSON": (Reply('{"reference_findings": [,]}'), "the JSON is broken"),
    "truncated JSON": (lambda r: Reply(judge(r).content[:80], finish="length"), "cut off at 4096 tokens"),
    "truncated without a word": (lambda r: Reply(judge(r).content[:-3]), "the JSON breaks off"),
    "nothing": (Reply(""), "there is no JSON object in it"),
    "prose": (Reply("I think that the candidate is quite good."), "there is no JSON object in it"),
    "two answers": (lambda r: Reply(judge(r).content * 2), "there is more than one JSON object in it"),
    "a key twice": (Reply('{"errors": [], "errors": []}'), "a key occurs twice in one object"),
    "refusal": (Reply("", message={"refusal": "I cannot help with that."}), "the model refused to answer"),
    "filter": (Reply("", finish="content_filter"), "the server ended the answer (content_filter)"),
    "a list": (Reply('[{"id": "R1"}]'), 'the answer lacks "reference_findings"'),
    "wrong id": (_changed(_set("matches.0.reference", "R9")), "matches 1: reference must be an id of"),
    "id of the other side": (_changed(_set("matches.0.reference", "C1")), "matches 1: reference must be an id of"),
    "odd id": (_changed(_set("reference_findings.0.id", "finding one")), 'id must be of the form "R1"'),
    "id twice": (_changed(_set("reference_findings.1.id", "R1")), "R1 is the id of two findings"),
    "invented quote": (_changed(_set("candidate_findings.0.quote", "Cardiomegaly")), "the quote of C1 is not in"),
    "swapped reports": (_changed(_swapped), "the quote of C2 is not in the candidate report"),
    "extra finding": (
        _changed(lambda a: a["candidate_findings"].append({**a["candidate_findings"][0], "id": "C7"})),
        "C7 is neither matched nor has an error of the category false_finding",
    ),
    "forgotten finding": (_changed(_set("errors", [])), "R2 is neither matched nor has an error of the category"),
    "matched and missing": (
        _changed(lambda a: a["errors"].append({**a["errors"][0], "reference": "R1"})),
        "R1 is matched and has an error of the category omission",
    ),
    "missing twice": (_changed(lambda a: a["errors"].append(a["errors"][0])), "R2 has 2 errors of the category"),
    "unknown category": (_changed(_set("errors.0.category", "laterality")), "errors 1: category must be one of"),
    "unknown tier": (_changed(_set("errors.0.significance", "major")), "errors 1: significance must be one of"),
    "attribute of no pair": (_changed(_set("errors.0.category", "severity")), "needs a pair that is in matches"),
    "both ids": (_changed(_set("errors.0.candidate", "C1")), "errors 1: candidate must be null"),
    "no id": (_changed(_set("errors.0.reference", None)), "errors 1: reference must be an id of"),
    "a number for a text": (_changed(_set("reference_findings.0.quote", 5)), "quote must be a text"),
    "a text for a list": (_changed(_set("errors", "none")), "errors must be a list"),
    "no sentence": (_changed(_set("candidate_normal", [7])), "candidate_normal must hold numbers of sentences"),
    "nothing accounted for": (
        Reply(json.dumps({name: [] for name in SCHEMA["required"]})),
        "no sentence of the reference report is accounted for",
    ),
    "broken tool call": (
        Reply("", message={"tool_calls": [_tool_call("{")]}),
        "there is no JSON object in it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_answer_is_repaired_once_or_becomes_no_number(name: str, judging: ScriptedServer) -> None:
    faulty, why = FAULTY[name]
    reply = faulty if callable(faulty) else lambda request: faulty
    judging.behaviour = lambda request: judge(request) if is_repair(request) else reply(request)
    repaired = _score([CASE], journal=None, keep=False)
    assert repaired["llm_errors"].headline[0] == pytest.approx(HONEST)
    assert (_account(repaired)["repaired"], _account(repaired)["failed"], len(judging.requests)) == (1, 0, 2)
    said = complaint(judging.requests[1])
    assert why in said
    judging.behaviour = reply
    failed = _score([CASE], keep=False)
    assert np.isnan(failed["llm_errors"].values).all()
    assert failed["llm_errors"].reasons[CASE.key].startswith("after a repair: ")
    assert why in failed["llm_errors"].reasons[CASE.key]
    assert (_account(failed)["judged"], _account(failed)["failed"], _account(failed)["requests"]) == (0, 1, 2)
    for word in ("effusion", "pneumothorax", "Cardiomegaly"):  # of reports, or of the model
        assert word not in failed["llm_errors"].reasons[CASE.key]


WELCOME = {
    "prose around": lambda r: Reply(f"Sure! Here it is:\n```json\n{judge(r).content}\n```\nHope it helps."),
    "thoughts before": lambda r: Reply(f'<think>maybe {{"a": 1}}</think>{judge(r).content}'),
    "a tool call": lambda r: Reply(
        "",
        finish="tool_calls",
        message={
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": judge(r).content}}
            ],
        },
    ),
    "more members": _changed(lambda answer: answer.update(summary="fine")),
}


@pytest.mark.parametrize("name", WELCOME)
def test_what_is_clear_is_taken(name: str, judging: ScriptedServer) -> None:
    judging.behaviour = WELCOME[name]
    results = _score([CASE])
    assert results["llm_errors"].headline[0] == pytest.approx(HONEST)
    assert (_account(results)["repaired"], len(judging.requests)) == (0, 1)


def test_a_busy_server_is_asked_again(judging: ScriptedServer) -> None:
    judging.script(
        Reply("slow down", status=429), Reply("oh", status=500), Reply("late", hang=30), Reply(body=b"<html>")
    )
    results = _score([CASE], limits=Limits(timeout=0.5))
    assert not np.isnan(results["llm_errors"].headline[0])
    assert (_account(results)["retried"], _account(results)["requests"]) == (4, 1)


def test_a_server_that_fails_for_one_case_costs_that_case(judging: ScriptedServer) -> None:
    def behave(request: Request) -> Reply:
        return Reply("oh", status=500) if "Rib" in str(request.body) else judge(request)

    judging.behaviour = behave
    results = _score([OTHER, CASE], parallel=1)
    assert results["llm_errors"].reasons == {OTHER.key: "the server gave no answer (status 500)"}
    judging.behaviour = lambda request: Reply("down", status=503)
    many = [replace(CASE, id=str(n), candidate=f"Mass {n}.") for n in range(9)]
    with pytest.raises(LlmError, match="did not answer after 6 attempts"):
        _score(many, parallel=1)


def test_a_server_without_grammars_is_asked_in_words(judging: ScriptedServer) -> None:
    def behave(request: Request) -> Reply:
        wanted = request.body.get("response_format", {}).get("type")
        if wanted == "json_schema":
            return Reply("response_format json_schema is not supported", status=400)
        if wanted == "json_object":
            return Reply("no", status=400, error={"param": "response_format"})
        if "seed" in request.body:
            return Reply("Unsupported parameter: 'seed'", status=400)
        if "temperature" in request.body:
            return Reply("no", status=400, error={"param": "temperature"})
        return judge(request)

    judging.behaviour = behave
    results = _score([CASE, OTHER], parallel=1)
    account = _account(results)
    assert account["forms"] == {"free": 2}
    assert account["ignored"] == ("seed", "temperature")
    assert len(judging.requests) == 4 + 2  # what the server refuses is not asked of it again


def test_the_schema_goes_to_a_server_that_takes_it(judging: ScriptedServer) -> None:
    _score([CASE], "llm_errors:seed=7,temperature=0.5")
    body = judging.requests[0].body
    assert body["response_format"]["json_schema"]["schema"] == json.loads(json.dumps(SCHEMA))
    assert (body["seed"], body["temperature"], body["max_tokens"]) == (7, 0.5, 4096)


def test_accounts_are_honest(judging: ScriptedServer) -> None:
    judging.script(Reply("{", usage=(10, 1)))
    results = _score([CASE, OTHER], limits=Limits(price_in=1000.0, price_out=2000.0), parallel=1)
    account = _account(results)
    assert account["cost"] == pytest.approx((10 + 200) * 1e-3 + (1 + 100) * 2e-3)
    wanted = {"questions": 2, "judged": 2, "repaired": 1, "failed": 0, "retried": 0, "requests": 3, "reused": 0}
    assert {name: account[name] for name in wanted} == wanted
    assert account["models"] == {"m fp_1": 2}
    assert (account["host"], account["model"]) == ("127.0.0.1", "scripted")
    assert (account["temperature"], account["seed"], account["forms"]) == (0.0, 0, {"json_schema": 2})
    again = _account(_score([CASE, OTHER]))
    assert (again["reused"], again["requests"], again["cost"], again["models"]) == (2, 0, 0.0, {"m fp_1": 2})


def test_a_failure_is_never_kept(judging: ScriptedServer) -> None:
    judging.behaviour = lambda request: Reply("no")
    assert np.isnan(_score([CASE])["llm_errors"].headline[0])
    judging.behaviour = judge
    results = _score([CASE])
    assert not np.isnan(results["llm_errors"].headline[0])
    assert _account(results)["reused"] == 0


def test_answers_are_kept_by_model_prompt_schema_texts_and_sampling(
    judging: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.txt"
    own.write_text(
        "Judge kindly.\n===\n{context}Reference report:\n{reference}\n\nCandidate report:\n{candidate}\n\n{form}"
    )
    specs = ["llm_errors", "llm_errors:seed=1", "llm_errors:temperature=0.3", "llm_errors:context=no"]
    specs += ["llm_errors:variant=rating", f"llm_errors:prompt={own}", "llm_errors:max_tokens=2000"]
    for number, spec in enumerate(specs, start=1):
        for _ in range(2):
            _score([CASE], spec)
        assert len(judging.requests) == number
    _score([replace(CASE, candidate="Effusion.")])
    monkeypatch.setenv("RADGAUGE_LLM_MODEL", "another")
    _score([CASE])
    assert len(judging.requests) == len(specs) + 2


def test_the_journal_holds_no_word_of_a_report(judging: ScriptedServer, tmp_path: Path) -> None:
    judging.script(lambda request: Reply(judge(request).content[:-2]))  # a draft too
    _score([CASE])
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix == ".jsonl"]
    assert len(files) == 1
    written = files[0].read_text().lower()
    assert "draft" in written
    for word in ("effusion", "pneumothorax", "heart", "ladder", KEY.lower()):
        assert word not in written


def test_the_budget_is_kept_and_said(judging: ScriptedServer, tmp_path: Path) -> None:
    cases = [replace(CASE, id=str(n), candidate=f"Mass {n}. The heart is normal.") for n in range(6)]
    judging.behaviour = lambda request: replace(judge(request), usage=(5000, 2000))
    most = 0.03  # an answer costs 0.007; before it is asked it could cost 0.011
    limits = Limits(price_in=1.0, price_out=1.0, max_cost=most)
    results = _score(cases, limits=limits, journal=tmp_path / "journal.jsonl", parallel=1)
    account = _account(results)
    assert (account["judged"], account["not_asked"]) == (3, 3)
    assert account["cost"] <= most
    assert set(results["llm_errors"].reasons.values()) == {"not asked: the greatest cost is reached"}
    more = Limits(price_in=1.0, price_out=1.0, max_cost=10 * most)
    rest = _score(cases, limits=more, journal=tmp_path / "journal.jsonl")
    assert (_account(rest)["judged"], _account(rest)["reused"]) == (6, account["judged"])


def test_repeats_say_how_well_the_judge_agrees_with_itself(judging: ScriptedServer) -> None:
    cases = [replace(CASE, id=str(n), candidate=f"Mass {n}.") for n in range(4)]
    rating = {0: [5, 5, 5], 1: [4, 4, 3], 2: [3, 2, 3], 3: [1, 1, 1]}

    def behave(request: Request) -> Reply:
        study = int(reports(request)["candidate"][0][5])
        return Reply(
            json.dumps({**quotes(request), "explanation": "so", "rating": rating[study][request.body["seed"]]})
        )

    judging.behaviour = behave
    results = _score(cases, "llm_errors:variant=rating,repeats=3")
    scores = results["llm_errors"]
    assert scores.columns == ("rating_llm", "rating_self_agreement_llm")
    np.testing.assert_allclose(scores.values[:, 0], [5, 11 / 3, 8 / 3, 1])
    np.testing.assert_allclose(scores.values[:, 1], [1, 1 - 2 / 3 / 4, 1 - 2 / 3 / 4, 1])
    own = _account(results)["self_agreement"]
    assert own["mean"] == pytest.approx(1 - 1 / 3 / 4)
    # repeats 1 and 2 order the four cases alike, 3 ties two of them: tau-b 1, 5 / sqrt(30), 5 / sqrt(30)
    assert own["kendall_b"] == pytest.approx((1 + 2 * 5 / math.sqrt(30)) / 3)
    assert len(judging.requests) == 12


def test_context_is_told_or_not(judging: ScriptedServer) -> None:
    _score([CASE])
    _score([CASE], "llm_errors:context=no")
    told = [request.body["messages"][1]["content"] for request in judging.requests]
    assert "age 58 years; indication: fall from a ladder" in told[0]
    assert "ladder" not in told[1]


def test_preference_is_asked_in_both_orders(judging: ScriptedServer) -> None:
    texts = {"a": "Small left effusion. Large pneumothorax.", "b": "Small effusion.", "c": "Small effusion."}
    cases = [replace(CASE, system=name, candidate=text) for name, text in texts.items()]
    results = _score([*cases, OTHER], "llm_errors:variant=preference")
    scores = results["llm_errors"]
    np.testing.assert_array_equal(scores.values[:3], [[1, 0], [0.25, 0], [0.25, 0]])
    assert scores.reasons[OTHER.key] == "no other system has a report on this study that could be compared"
    assert len(judging.requests) == 2  # b and c are the same words
    assert _account(results)["position"] == {"first": 2, "second": 2, "equal": 0}


def test_position_bias_is_seen(judging: ScriptedServer) -> None:
    judging.behaviour = lambda request: Reply(
        json.dumps({**quotes(request), "explanation": "so", "better": "first"})
    )
    cases = [replace(CASE, system=name, candidate=f"Mass {name}.") for name in ("a", "b", "c")]
    results = _score(cases, "llm_errors:variant=preference")
    np.testing.assert_array_equal(results["llm_errors"].values, [[0.5, 1]] * 3)
    assert _account(results)["position"] == {"first": 6, "second": 0, "equal": 0}


def test_a_preference_without_one_of_the_orders_is_no_number(judging: ScriptedServer) -> None:
    judging.behaviour = lambda r: judge(r) if reports(r)["first"][0] == "Mass a." else Reply("no")
    cases = [replace(CASE, system=name, candidate=f"Mass {name}.") for name in ("a", "b")]
    scores = _score(cases, "llm_errors:variant=preference")["llm_errors"]
    assert np.isnan(scores.headline).all()
    assert set(scores.reasons.values()) == {"after a repair: there is no JSON object in it"}


def test_entailment_by_sentence(judging: ScriptedServer) -> None:
    scores = _score([CASE], "llm_errors:variant=entailment")["llm_errors"]
    precision, recall = 1 / 2, 1 / 3
    np.testing.assert_allclose(
        scores.values[0], [2 * precision * recall / (precision + recall), precision, recall, 0]
    )


ENTAILMENT_FAULTS: dict[str, tuple[Change, str]] = {
    "left out": (lambda a: a["reference"].pop(), "reference sentence 3 must be judged once, it is judged 0 times"),
    "twice": (
        lambda a: a["candidate"].append(a["candidate"][0]),
        "candidate sentence 1 must be judged once, it is judged 2 times",
    ),
    "no such sentence": (_set("candidate.0.sentence", 9), "candidate 1: sentence must be from 1 to 2"),
    "no such evidence": (_set("candidate.0.evidence", [4]), "evidence must be numbers from 1 to 3"),
    "without evidence": (_set("candidate.0.evidence", []), "candidate sentence 1: entailed needs evidence"),
    "unknown verdict": (_set("candidate.0.verdict", "maybe"), "candidate 1: verdict must be one of"),
}


@pytest.mark.parametrize("name", ENTAILMENT_FAULTS)
def test_entailment_that_does_not_close_is_no_number(name: str, judging: ScriptedServer) -> None:
    change, why = ENTAILMENT_FAULTS[name]
    judging.behaviour = _changed(change)
    scores = _score([CASE], "llm_errors:variant=entailment")["llm_errors"]
    assert np.isnan(scores.values).all()
    assert why in scores.reasons[CASE.key]


@pytest.mark.parametrize("rating", [0, 6, 3.2, "4", None, True])
def test_a_rating_off_the_scale_is_no_number(rating: object, judging: ScriptedServer) -> None:
    judging.behaviour = lambda request: Reply(
        json.dumps({**quotes(request), "explanation": "so", "rating": rating})
    )
    scores = _score([CASE], "llm_errors:variant=rating")["llm_errors"]
    assert np.isnan(scores.headline[0])
    assert "rating must be one of 1, 1.5, 2" in scores.reasons[CASE.key]


def test_the_best_reference_counts(judging: ScriptedServer) -> None:
    case = replace(CASE, references=("Rib fracture. Mass.", "Small left effusion."))
    scores = _score([case])["llm_errors"]
    assert scores.headline[0] == 1.0
    reading = Readings()
    with session():
        score([case], "llm_errors", reading=reading)
        found = load("llm_errors").explain(case, reading=reading)
    assert found is not None
    assert [(note.kind, note.data.get("reference")) for note in found.notes] == [("matched", 1)]


def test_explanations_are_those_of_errors(judging: ScriptedServer) -> None:
    found = explain(CASE, "llm_errors")
    omission, matched = found.notes
    assert omission.kind == "missing"
    assert omission.text == (
        "Large pneumothorax is missing from the candidate (actionable; clinically significant). It is left out."
    )
    start, end = omission.reference_spans[0]
    assert CASE.references[0][start:end] == "Large pneumothorax"
    assert (omission.data["category"], omission.data["category_key"], omission.data["tier"]) == (
        2, "omission", "actionable",
    )  # fmt: skip
    assert (matched.kind, matched.text) == ("matched", "Both reports say: small left effusion.")
    page = found._repr_html_()
    assert "Large pneumothorax" in page
    assert "<mark" in page
    assert len(judging.requests) == 1


def test_explaining_asks_nobody(judging: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("llm_errors").explain(CASE, reading=Readings()) is None
    assert judging.requests == []
    _score([CASE])
    recalled = load("llm_errors").explain(CASE, reading=Readings())  # from the journal
    assert recalled is not None
    assert len(recalled.notes) == 2
    monkeypatch.delenv("RADGAUGE_LLM_URL")
    assert load("llm_errors").explain(CASE, reading=Readings()) is None


@pytest.mark.parametrize("variant", ["findings", "rating", "entailment"])
def test_contract(variant: str, judging: ScriptedServer) -> None:
    check_metric(LlmErrors(variant=variant))  # type: ignore[arg-type]


def test_prompts_are_versioned_in_the_signature(judging: ScriptedServer, tmp_path: Path) -> None:
    versions = {judge_prompt(variant).version for variant in FILES}
    assert len(versions) == 4
    own = tmp_path / "own.txt"
    text = "Be kind.\n===\n{reference} {candidate} {form}"
    own.write_text(text)
    signature = LlmErrors(prompt=str(own)).signature()
    assert f"prompt_version:{judge_prompt('findings', str(own)).version}" in signature
    assert "model:scripted@127.0.0.1" in signature
    assert KEY not in signature
    for broken, why in (
        ("no mark", "must have a line with ==="),
        ("a\n===\n{reference}", r"must contain \{candidate\}, \{form\}"),
    ):
        other = tmp_path / f"{len(broken)}.txt"
        other.write_text(broken)
        with pytest.raises(InputError, match=why):
            LlmErrors(prompt=str(other))
    with pytest.raises(InputError, match="there is no"):
        LlmErrors(prompt=str(tmp_path / "none.txt"))


def test_no_word_of_a_report_is_left_out(judging: ScriptedServer) -> None:
    text = "1. Mass 2. The heart is normal.\n\n3) Nodule 4"
    _score([replace(CASE, candidate=text)])
    shown = judging.requests[0].body["messages"][1]["content"].partition("Candidate report")[2]
    lines = [line.partition("] ")[2] for line in shown.splitlines() if line.startswith("[")]
    assert " ".join(lines).split() == text.split()


def test_a_report_cannot_fill_the_places_of_a_prompt(judging: ScriptedServer) -> None:
    _score([replace(CASE, candidate="Effusion {reference} {form}.")])
    assert "[1] Effusion {reference} {form}." in judging.requests[0].body["messages"][1]["content"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"repeats": 0}, "repeats must be from 1 to 25"),
        ({"temperature": -1.0}, "temperature must be from 0 to 2"),
        ({"share": 0.0}, "share must be above 0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"ask": "cascade", "variant": "entailment"}, "a cascade needs the variant findings or rating"),
        ({"variant": "best"}, "variant must be one of"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        LlmErrors(**settings)


def test_doubt_is_low_coverage_and_systems_that_differ() -> None:
    quality = np.array([0.5, -0.5, 1.0, 1.0, np.nan, 0.3])
    coverage = np.array([1.0, 0.9, 1.0, 1.0, np.nan, 0.6])
    doubt = doubts(quality, coverage, ["a", "a", "b", "b", "c", "d"])
    np.testing.assert_allclose(doubt, [0.5, 0.6, 0, 0, np.inf, 0.4])
    assert most_doubtful(doubt, 1.0) == [4, 1, 0, 5]  # never those without doubt
    assert most_doubtful(doubt, 0.5) == [4, 1, 0]
    assert most_doubtful(doubt, 0.01) == [4]


def test_the_cascade_asks_where_the_embedded_judge_is_in_doubt(judging: ScriptedServer) -> None:
    same = [Case("s", "No effusion.", ("No effusion.",), name) for name in ("a", "b")]
    differ = [
        Case("d", "Small left pleural effusion.", ("Small left pleural effusion.",), "a"),
        Case("d", "No pleural effusion.", ("Small left pleural effusion.",), "b"),
    ]
    results = _score([*same, *differ], "llm_errors:ask=cascade")
    scores = results["llm_errors"]
    assert scores.columns[0] == "errors_quality_cascade"
    np.testing.assert_array_equal(scores.column("errors_by_llm_cascade"), [0, 0, 1, 1])
    embedded = score(same, "errors")["errors"].values
    np.testing.assert_array_equal(scores.values[:2, : len(COLUMNS)], embedded[:, : len(COLUMNS)])
    assert len(judging.requests) == 2
    half = _score([*same, *differ], "llm_errors:ask=cascade,share=0.25", keep=False)
    assert half["llm_errors"].column("errors_by_llm_cascade").sum() == 1
    judging.behaviour = lambda request: Reply("no")
    fallen = _score([*same, *differ], "llm_errors:ask=cascade,seed=5")["llm_errors"]
    np.testing.assert_array_equal(fallen.column("errors_by_llm_cascade"), [0, 0, 0, 0])
    assert not np.isnan(fallen.headline).any()  # the embedded judge's word stands


def test_a_cascade_of_ratings_stretches_the_quality_over_the_scale(judging: ScriptedServer) -> None:
    cases = [
        Case("s", "No effusion.", ("No effusion.",), "a"),
        Case("d", "Small left pleural effusion.", ("Small left pleural effusion.",), "a"),
        Case("d", "No pleural effusion.", ("Small left pleural effusion.",), "b"),
    ]
    scores = _score(cases, "llm_errors:ask=cascade,variant=rating,share=0.3")["llm_errors"]
    assert scores.columns == ("rating_cascade", "rating_by_llm_cascade")
    quality = score(cases, "errors")["errors"].headline
    np.testing.assert_allclose(scores.values, [[5, 0], [5, 1], [3 + 2 * quality[2], 0]])
    unasked = explain(cases[0], "llm_errors:ask=cascade,variant=rating")
    assert unasked.values == {"rating_cascade": 5.0, "rating_by_llm_cascade": 0.0}


def test_nothing_leaves_without_a_server_and_offline_means_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("RADGAUGE_LLM_URL", "RADGAUGE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="no language model is configured"):
        score([CASE], "llm_errors")
    monkeypatch.setenv("RADGAUGE_LLM_URL", "https://judge.example.org/v1")
    monkeypatch.setenv("RADGAUGE_LLM_MODEL", "m")
    with pytest.raises(UsageError, match="RADGAUGE_OFFLINE"):
        score([CASE], "llm_errors")
