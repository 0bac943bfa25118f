"""`radgauge lay build` from end to end, against a server on this machine."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import layman
import pytest
from layman_rrg.cli_studies import layman as script
from scripted_llm import KEY, Reply, Request, ScriptedServer
from typer.testing import CliRunner

import radgauge
from radgauge.cli import app
from radgauge.cli.language_model import CostLine
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.lay.plain_sentences import mixed_text, write_plain
from radgauge.lay.sentences import sentence_set
from radgauge.llm import LanguageModel, Limits, server_from_environment

FINDINGS = [
    *("Cardiomegaly.", "Left pleural effusion.", "No pneumothorax.", "Right rib fracture.", "Pulmonary edema."),
    *("Hiatal hernia.", "Scoliosis.", "Calcified granuloma.", "Right upper lobe pneumonia.", "Emphysema."),
]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "report"])
        writer.writerows([number, text] for number, text in enumerate(FINDINGS))
    return path


@pytest.fixture
def server(named_server: ScriptedServer) -> ScriptedServer:
    """A server that translates well and agrees with itself."""
    named_server.behaviour = honest
    return named_server


def task_of(request: Request) -> str:
    first = next(iter(request.items.values()))
    return "translate" if isinstance(first, str) else "check" if "plain" in first else "revise"


def texts_of(request: Request) -> list[str]:
    return [
        each if isinstance(each, str) else each.get("report") or each["sentence"]
        for each in request.items.values()
    ]


def plain(text: str) -> str:
    return mixed_text(write_plain(text))


def honest(request: Request) -> Reply:
    said = {}
    for key, item in request.items.items():
        if isinstance(item, str):
            said[key] = plain(item)
        else:
            said[key] = item.get("plain") or plain(item["sentence"])
    return Reply(json.dumps(said))


def build(reports: Path, folder: Path, *more: str) -> tuple[str, str]:
    arguments = ["lay", "build", str(reports), "--out", str(folder), "--translator", "llm", *more]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def asked(server: ScriptedServer, task: str) -> Counter[str]:
    return Counter(text for each in server.requests if task_of(each) == task for text in texts_of(each))


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_set_from_a_language_model(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    out, err = build(
        reports, tmp_path / "sets", "--llm", "batch=4", "--json", "--llm", "price_in=1", "--llm", "price_out=2"
    )
    built = json.loads(out)
    assert (built["kept"], built["pairs"], built["lay_reports"], built["stopped"]) == (10, 10, 10, "")
    assert [request.body["model"] for request in server.requests] == ["scripted"] * 6
    assert asked(server, "translate") == asked(server, "check") == Counter(FINDINGS)
    assert "stays" in err or "nothing leaves it" in err
    assert "6 requests, 600 + 300 tokens, cost 0.0012" in err
    assert {path.name for path in (tmp_path / "sets").iterdir()} == {
        *("sentences.tsv", "sentences.jsonl", "reports.jsonl", "rounds.csv", "rounds.svg"),
        *("build.json", "journal.jsonl", "kept.npz", "trace.jsonl"),
    }
    assert len(sentence_set(str(tmp_path / "sets" / "sentences.tsv"))) == 10


def test_the_key_is_nowhere(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    server.script(Reply(f"wait, {KEY}", 429, {"retry-after": "0"}))
    out, err = build(reports, tmp_path / "sets", "--llm", "batch=4")
    assert {request.key for request in server.requests} == {KEY}
    assert KEY not in out + err
    assert KEY.encode() not in everything_in(tmp_path / "sets")
    server.behaviour = lambda request: Reply(f"no such key: {KEY}", 401)
    with pytest.raises(RadgaugeError, match="401") as raised:
        build(reports, tmp_path / "others", "--llm", "batch=4")
    assert KEY not in str(raised.value)
    assert KEY.encode() not in everything_in(tmp_path / "others")


def test_nothing_is_paid_for_twice(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    first, _ = build(reports, tmp_path / "sets", "--llm", "batch=3", "--json")
    before = len(server.requests)
    second, _ = build(reports, tmp_path / "sets", "--llm", "batch=5", "--json")
    assert first == second
    assert len(server.requests) == before


def test_what_fails_is_translated_again_and_the_rest_is_not(
    reports: Path, server: ScriptedServer, tmp_path: Path
) -> None:
    def poor(request: Request) -> Reply:
        if task_of(request) != "translate":
            return honest(request)
        texts = {key: plain(text) for key, text in request.items.items()}
        return Reply(json.dumps({**texts, "0": "Everything is fine.", "1": request.items["1"]}))

    server.behaviour = poor
    out, _ = build(reports, tmp_path / "sets", "--json")
    built = json.loads(out)
    assert built["pairs"] == 10
    assert [(each["texts"], each["accepted"]) for each in built["rounds"]] == [(10, 8), (2, 2)]
    assert (built["rounds"][0]["fidelity"], built["rounds"][0]["copied"]) == (1, 1)
    assert asked(server, "revise") == Counter(FINDINGS[:2])
    assert asked(server, "check") == Counter(FINDINGS)
    with (tmp_path / "sets" / "rounds.csv").open(encoding="utf-8", newline="") as file:
        assert [row["accepted_share"] for row in csv.DictReader(file)] == ["0.8000", "1.0000"]
    assert (tmp_path / "sets" / "rounds.svg").read_text(encoding="utf-8").startswith("<svg")


def test_swapped_answers_are_noticed(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    def swapping(request: Request) -> Reply:
        texts = json.loads(honest(request).content)
        if request.number == 0:
            texts["2"], texts["5"] = texts["5"], texts["2"]
        return Reply(json.dumps(texts))

    server.behaviour = swapping
    out, _ = build(reports, tmp_path / "sets", "--json", "--checks", "")
    assert json.loads(out)["pairs"] == 10
    assert {text for text, times in asked(server, "translate").items() if times == 2} == {FINDINGS[2], FINDINGS[5]}
    pairs = dict(sentence_set(str(tmp_path / "sets" / "sentences.tsv")))
    assert pairs == {text: plain(text) for text in FINDINGS}


def test_a_model_that_only_apologises(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    server.behaviour = lambda request: Reply("I am sorry, but I cannot give medical advice.")
    out, _ = build(reports, tmp_path / "sets", "--json")
    built = json.loads(out)
    assert (built["pairs"], built["lay_reports"]) == (0, 0)
    assert built["reasons"] == {"asked 3 times: there is no JSON object in it": 10}


def test_the_budget_stops_the_run_and_more_money_goes_on(
    reports: Path, server: ScriptedServer, tmp_path: Path
) -> None:
    prices = ["--llm", "batch=2", "--llm", "parallel=1", "--llm", "price_in=1000", "--llm", "price_out=1000"]
    _, err = build(reports, tmp_path / "sets", *prices, "--llm", "max_cost=2.5")
    assert "stopped before max_cost" in err
    assert "a larger max_cost goes on there" in err
    about = json.loads((tmp_path / "sets" / "build.json").read_text(encoding="utf-8"))
    assert 0 < about["pairs"] < 10
    assert 0.15 * len(server.requests) <= 2.5
    out, err = build(reports, tmp_path / "sets", *prices, "--llm", "max_cost=1000", "--json")
    assert json.loads(out)["pairs"] == 10
    assert set(asked(server, "translate").values()) == {1}
    assert set(asked(server, "check").values()) == {1}
    assert "10 requests" in err  # those of both runs
    with pytest.raises(UsageError, match="price_in"):
        build(reports, tmp_path / "other", "--llm", "max_cost=2.5")


def test_the_check_of_a_language_model_on_the_embedded_writer(
    reports: Path, server: ScriptedServer, tmp_path: Path
) -> None:
    server.behaviour = lambda request: Reply(
        json.dumps({key: item["plain"].replace("There is a", "You have a") for key, item in request.items.items()})
    )
    arguments = [
        "lay",
        "build",
        str(reports),
        "-o",
        str(tmp_path / "s"),
        "--checks",
        "fidelity,llm",
        "--json",
    ]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    built = json.loads(done.stdout)
    assert built["rounds"][0]["llm"] > 0
    assert built["pairs"] == 10
    assert asked(server, "translate") == Counter()


def test_no_server_is_asked_unless_one_is_named(
    reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RADGAUGE_LLM_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="no language model is configured"):
        build(reports, tmp_path / "sets")
    monkeypatch.setenv("RADGAUGE_LLM_URL", "https://example.org/v1")
    monkeypatch.setenv("RADGAUGE_LLM_MODEL", "m")
    with pytest.raises(UsageError, match="RADGAUGE_OFFLINE forbids asking"):
        build(reports, tmp_path / "sets")
    with pytest.raises(UsageError, match="--output must be a folder"):
        build(reports, reports)
    command = ["lay", "build", str(reports), "--out", str(tmp_path / "sets"), "--translator", "human"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert "'human' is not one of" in done.stderr


class Hanging:
    """Answers honestly until a request comes that never gets an answer."""

    def __init__(self, after: int) -> None:
        self.after, self.reached = after, threading.Event()

    def __call__(self, request: Request) -> Reply:
        if request.number < self.after:
            return honest(request)
        self.reached.set()
        return Reply(hang=600)


def _start(reports: Path, folder: Path, server: ScriptedServer, *more: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        **server.environment,
        "PYTHONPATH": str(Path(radgauge.__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "radgauge", "lay", "build", str(reports), "--out", str(folder)]
    command += ["--translator", "llm", "--llm", "batch=2", "--llm", "parallel=1", *more]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.process
@pytest.mark.parametrize("after", [1, 6])
def test_a_killed_run_goes_on(reports: Path, server: ScriptedServer, tmp_path: Path, after: int) -> None:
    server.behaviour = hanging = Hanging(after)
    process = _start(reports, tmp_path / "sets", server)
    try:
        assert hanging.reached.wait(300)
    finally:
        process.kill()
        _, err = process.communicate()
    assert "this machine" in err
    under_way = Counter({(task_of(each), text): 1 for each in server.requests[after:] for text in texts_of(each)})
    assert len(server.requests) == after + 1
    server.behaviour = honest
    out, _ = build(reports, tmp_path / "sets", "--llm", "batch=2", "--json")
    assert json.loads(out)["pairs"] == 10
    times = Counter((task_of(each), text) for each in server.requests for text in texts_of(each))
    assert {key for key, count in times.items() if count > 1} == set(under_way)
    assert set(times.values()) == {1, 2}


@pytest.mark.process
def test_ctrl_c_leaves_a_clean_state(reports: Path, server: ScriptedServer, tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(request: Request) -> Reply:
        if request.number == 5:
            reached.set()
            assert go_on.wait(300)
        return honest(request)

    server.behaviour = slow
    process = _start(reports, tmp_path / "sets", server)
    try:
        assert reached.wait(300)
        process.send_signal(signal.SIGINT)
        go_on.set()
        _, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    assert KEY not in err
    about = json.loads((tmp_path / "sets" / "build.json").read_text(encoding="utf-8"))
    assert about["stopped"] == "interrupted"
    assert about["pairs"] >= 2
    out, _ = build(reports, tmp_path / "sets", "--llm", "batch=2", "--json")
    assert json.loads(out)["pairs"] == 10
    times = [count for task in ("translate", "check") for count in asked(server, task).values()]
    assert set(times) == {1, 2}  # what was under way is asked again, nothing else
    assert times.count(2) <= 4 * 2  # parallel requests of two sentences


def test_people_check_a_set(reports: Path, tmp_path: Path) -> None:
    sets, check = str(tmp_path / "sets"), tmp_path / "check.csv"
    runner = CliRunner()
    assert runner.invoke(app, ["lay", "build", str(reports), "--out", sets, "-q"]).exit_code == 0
    done = runner.invoke(app, ["lay", "export-check", sets, "-n", "5", "-o", str(check)])
    assert "wrote 5 pairs" in done.stderr
    lines = check.read_text(encoding="utf-8").splitlines()
    filled = [lines[0], lines[1][:-1] + "no,", *(line[:-1] + "yes," for line in lines[2:])]
    check.write_text("\n".join(filled) + "\n", encoding="utf-8")
    done = runner.invoke(app, ["lay", "import-check", sets, str(check)], catch_exceptions=False)
    assert done.stdout.startswith("check: 4 of 5 pairs match, 80.0%")
    assert "1 rejected pairs are left out; the sentence set now holds 9 pairs" in done.stderr
    done = runner.invoke(app, ["lay", "import-check", sets, str(check), "--json"])
    assert json.loads(done.stdout)["accepted"] == 4


def test_a_log_gets_a_line_now_and_then(
    reports: Path, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("radgauge.core.progress.LOG_EVERY", 0.0)
    _, err = build(reports, tmp_path / "sets")
    assert re.search("translate +1 requests, 100 . 50 tokens.* 10/10", err)
    assert re.search("check +2 requests, 200 . 100 tokens.* 10/10", err)


def test_the_line_shows_tokens_cost_and_rate(server: ScriptedServer) -> None:
    limits = Limits(price_in=10.0, price_out=20.0)
    model = LanguageModel(
        server_from_environment(), limits=limits, past=[{"id": 0, "in": 900, "out": 100, "cost": 0.5}]
    )
    progress = CostLine(model)
    model.ask("system", 'user {"0": "Cardiomegaly."}', max_tokens=10)
    assert progress.cost(seconds=3.0) == "2 requests, 1,000 + 150 tokens, cost 0.5020  3,000 tokens/min"
    model.close()


def test_a_set_of_other_reports_is_not_replaced_without_a_word(tmp_path: Path) -> None:
    out = tmp_path / "sets"
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("id,reference\n1,There is a small left pleural effusion.\n")
    second.write_text("id,reference\n1,The heart is enlarged.\n")
    runner = CliRunner()
    assert runner.invoke(app, ["lay", "build", str(first), "--out", str(out)]).exit_code == 0
    kept = (out / "sentences.tsv").read_bytes()
    again = runner.invoke(app, ["lay", "build", str(second), "--out", str(out)])
    assert again.exit_code != 0
    assert "holds a set built from other reports" in str(again.exception)
    assert (out / "sentences.tsv").read_bytes() == kept
    assert runner.invoke(app, ["lay", "build", str(second), "--out", str(out), "--replace"]).exit_code == 0
    assert (out / "sentences.tsv").read_bytes() != kept
    assert runner.invoke(app, ["lay", "build", str(second), "--out", str(out)]).exit_code == 0  # goes on


assert layman.__all__  # every verb of the script is registered


def test_whole_reports_with_examples_and_their_trace(server: ScriptedServer, tmp_path: Path) -> None:
    reports, folder = tmp_path / "two.csv", tmp_path / "whole"
    reports.write_text("id,report\n7,Left pleural effusion. Cardiomegaly.\n8,No pneumothorax.\n", encoding="utf-8")
    shown, _ = build(reports, folder, "--unit", "report", "--prompt", "examples", "--llm", "batch=50")
    first = next(each for each in server.requests if task_of(each) == "translate")
    assert texts_of(first) == ["Left pleural effusion. Cardiomegaly.", "No pneumothorax."]
    assert "about science for the general public" in str(first.body)
    assert "reports with a lay version" in " ".join(shown.split())
    before = len(server.requests)
    build(reports, folder, "--unit", "report", "--prompt", "examples")
    assert len(server.requests) == before  # nothing is paid for twice
    build(reports, folder, "--unit", "report")
    assert len(server.requests) > before  # another prompt is another question
    done = CliRunner().invoke(script, ["trace", str(folder), "7"], catch_exceptions=False)
    assert done.stdout.startswith("0  Left pleural effusion. Cardiomegaly.\n1  ")
    assert "by sentence" in done.stdout
    assert "accepted" in done.stdout
    done = CliRunner().invoke(script, ["statistics", str(folder), "--json"], catch_exceptions=False)
    assert [each["samples"] for each in json.loads(done.stdout)] == [2, 2]
    out = tmp_path / "tuning.jsonl"
    done = CliRunner().invoke(
        script, ["tuning", str(folder), "-o", str(out), "--for-patients", "Simply."], catch_exceptions=False
    )
    assert "wrote 4 rows" in done.stderr
    assert out.read_text(encoding="utf-8").count('"instruction": "Simply."') == 2
