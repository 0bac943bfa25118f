"""The judge by language model from the command line: options, accounts, privacy, align, fit, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import judge, quotes
from scripted_llm import KEY, Reply, Request, ScriptedServer
from typer.testing import CliRunner

from radgauge.cli import app

REPORTS = "id,system,reference,candidate\n" + "".join(
    f"{study},{system},{reference},{candidate}\n"
    for study, reference in enumerate(
        ["Small left effusion. Nodule.", "Large mass. No effusion.", "Rib fracture."]
    )
    for system, candidate in (("a", "Small left effusion. Large mass."), ("b", "Rib fracture. Nodule."))
)
RATINGS = "id,system,reference,candidate,rater,rating\n" + "".join(
    f"{line},{rater},{(3 * n + rater) % 5 + 1}\n"
    for n, line in enumerate(REPORTS.splitlines()[1:])
    for rater in (0, 1)
)


def _run(*arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(REPORTS)
    return path


def test_score_says_where_texts_go_and_what_it_took(judging: ScriptedServer, reports: Path) -> None:
    done = _run("score", str(reports), "-m", "llm_errors", "--llm", "price_in=10", "--llm", "price_out=20")
    assert done.stderr.count("texts go to the model scripted on this machine") == 1
    assert "errors_quality_llm" in done.stdout
    said = " ".join(done.stderr.split())
    assert "llm_errors: 6 of 6 questions judged; 6 requests, 600 + 300 tokens, cost 0.0120; 127.0.0.1" in said
    assert "m fp_1 (6 answers), form held by json_schema, temperature 0, seed 0" in said
    assert KEY not in done.output
    again = _run("score", str(reports), "-m", "llm_errors")
    assert "6 answered in an earlier run; 0 requests" in " ".join(again.stderr.split())
    assert "texts go" not in again.stderr


def test_accounts_are_in_the_json_and_in_the_scores_file(
    judging: ScriptedServer, reports: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.jsonl"
    done = _run("score", str(reports), "-m", "llm_errors:repeats=3", "--json", "-o", str(out))
    account = json.loads(done.stdout)["accounts"]["llm_errors"]
    assert (account["judged"], account["repeats"], account["self_agreement"]["mean"]) == (18, 3, 1.0)
    assert json.loads(out.read_text().splitlines()[0])["_header"]["accounts"]["llm_errors"] == account
    shown = _run("score", str(reports), "-m", "llm_errors:repeats=3")
    assert "errors_self_agreement_llm" in shown.stdout
    assert "self-agreement 1.000 over 3 repeats" in " ".join(shown.stderr.split())


def test_the_server_of_the_command_line_gets_no_key_of_another(
    judging: ScriptedServer, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADGAUGE_LLM_URL", "https://elsewhere.example.org/v1")
    _run("score", str(reports), "-m", "llm_errors", "--llm", f"url={judging.url}", "--llm", "model=mine")
    assert {request.key for request in judging.requests} == {"none"}
    assert {request.body["model"] for request in judging.requests} == {"mine"}
    monkeypatch.delenv("RADGAUGE_LLM_URL")
    _run("score", str(reports), "-m", "llm_errors:seed=1", "--llm", f"url={judging.url}")
    assert judging.requests[-1].key == KEY
    refused = CliRunner().invoke(
        app, ["score", str(reports), "-m", "llm_errors", "--llm", "url=https://elsewhere.example.org/v1"]
    )
    assert "RADGAUGE_OFFLINE forbids asking elsewhere.example.org" in str(refused.exception)


def test_the_key_is_in_no_file(judging: ScriptedServer, reports: Path, tmp_path: Path) -> None:
    judging.script(Reply(f"who is {KEY}?", status=500))
    page, out = tmp_path / "page.html", tmp_path / "scores.jsonl"
    _run("report", str(reports), "-m", "llm_errors", "-o", str(page), "--resamples", "20")
    _run("score", str(reports), "-m", "llm_errors", "-o", str(out), "--explain", str(tmp_path / "why.jsonl"))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def test_a_budget_leaves_cases_out_and_says_so(judging: ScriptedServer, reports: Path, tmp_path: Path) -> None:
    judging.behaviour = lambda request: Reply(judge(request).content, usage=(5000, 2000))
    limits = ["--llm", "price_in=1", "--llm", "price_out=1", "--llm", "max_cost=0.03", "--llm", "parallel=1"]
    done = _run("score", str(reports), "-m", "llm_errors", *limits, "--llm", f"journal={tmp_path / 'j.jsonl'}")
    said = " ".join(done.stderr.split())
    assert "3 of 6 questions judged, 3 not asked for want of budget" in said
    assert "not asked: the greatest cost is reached" in said


def test_explanations_and_page_are_those_of_errors(judging: ScriptedServer, reports: Path, tmp_path: Path) -> None:
    why, page = tmp_path / "why.jsonl", tmp_path / "page.html"
    _run("score", str(reports), "-m", "llm_errors", "--explain", str(why))
    lines = [json.loads(line) for line in why.read_text().splitlines()]
    assert len(lines) == 6
    assert {note["kind"] for line in lines for note in line["notes"]} == {"matched", "missing", "added"}
    done = _run("report", str(reports), "-m", "llm_errors", "-o", str(page), "--resamples", "20", "--json")
    assert "errors-llm_errors" in json.loads(done.stdout)["tables"]
    assert "Errors per report found by the metric llm_errors" in page.read_text()


def test_align_and_fit_take_it_like_any_other(judging: ScriptedServer, tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(RATINGS)
    done = _run("agree", "-j", str(ratings), "-m", "llm_errors", "-m", "errors", "--resamples", "20", "--json")
    columns = {line["column"] for line in json.loads(done.stdout)["alignment"]["lines"]}
    assert columns == {"errors_quality_llm", "errors_quality"}
    out = tmp_path / "mine.json"
    fitted = _run("fit", "errors", "-j", str(ratings), "-m", "llm_errors", "-o", str(out), "--json")
    assert json.loads(fitted.stdout)["cases"] == 6
    before = len(judging.requests)
    _run("agree", "-j", str(ratings), "-m", f"llm_errors:weights={out}", "--resamples", "20")
    assert len(judging.requests) == before  # other weights need no other answers
    composite = tmp_path / "composite.json"
    (tmp_path / "counts.csv").write_text(
        "id,system,reference,candidate,rater,category,count\n"
        + "".join(f"{line},r,omission,{n % 4}\n" for n, line in enumerate(REPORTS.splitlines()[1:]))
    )
    _run(
        *("fit", "radcliq", "-j", str(tmp_path / "counts.csv"), "-m", "llm_errors"),
        *("--folds", "3", "--resamples", "20", "-o", str(composite)),
    )
    assert "errors_quality_llm" in composite.read_text()


@pytest.mark.long
def test_behaviour_warns_of_a_judge_that_does_not_know_a_rewording(judging: ScriptedServer) -> None:
    done = _run("probe", "behaviour", "-m", "llm_errors")
    said = " ".join(done.stderr.split())
    assert "warning: llm_errors cannot tell a report from itself in other words" in said
    assert "questions judged" in said

    def wise(request: Request) -> Reply:
        return Reply(json.dumps({**quotes(request), "explanation": "all alike", "rating": 3}))

    judging.behaviour = wise
    calm = _run("probe", "behaviour", "-m", "llm_errors:variant=rating")
    assert "cannot tell" not in calm.stderr
    assert "errors" in _run("probe", "behaviour", "-m", "errors").stdout


def test_compare_tests_recall_too(judging: ScriptedServer, reports: Path, tmp_path: Path) -> None:
    scores = str(tmp_path / "scores.jsonl")
    _run("score", str(reports), "-m", "llm_errors", "-o", scores)
    done = _run("compare", scores, "--permutations", "50", "--json")
    assert {line["column"] for line in json.loads(done.stdout)["comparisons"]} == {
        "errors_f1_llm", "errors_quality_llm", "errors_recall_llm", "errors_false_alarms_llm",
    }  # fmt: skip
    _run("score", str(reports), "-m", "llm_errors:ask=cascade,share=0.5", "-o", scores)
    cascade = _run("compare", scores, "--permutations", "50", "--json")
    assert "errors_recall_cascade" in {line["column"] for line in json.loads(cascade.stdout)["comparisons"]}


def test_paid_answers_outlive_the_readings_unless_told(
    judging: ScriptedServer, reports: Path, tmp_path: Path
) -> None:
    _run("score", str(reports), "-m", "llm_errors")
    assert json.loads(_run("cache", "info", "--json").stdout)["language_model_answers"]["files"] == 1
    assert "answers of 1 language models" in " ".join(_run("cache", "info").stdout.split())
    assert "kept the answers of 1 language models" in _run("cache", "clear").stdout
    assert "removed the answers of 1 language models" in _run("cache", "clear", "--answers").stdout
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []


def test_a_judge_that_answers_nothing_is_a_failure(judging: ScriptedServer, reports: Path) -> None:
    judging.behaviour = lambda request: Reply("I would rather not.")
    done = CliRunner().invoke(app, ["score", str(reports), "-m", "llm_errors"])
    assert done.exit_code == 1
    assert "judged none of the 6 cases: after a repair: there is no JSON object in it (6)" in str(done.exception)
