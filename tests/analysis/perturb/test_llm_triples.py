"""Triples from a language model: only what the reader confirms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_llm import KEY, Reply, Request, ScriptedServer
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments.rate_eval import read_triples
from radgauge.lay.llm_triples import findings_sentences, not_the_opposite, not_the_same, triple_prompts


@pytest.mark.parametrize(
    ("sentence", "text", "why"),
    [
        ("Small left pleural effusion.", "There is a small pleural effusion on the left.", ""),
        ("Small left pleural effusion.", "small left pleural effusion", "it repeats the sentence"),
        ("Small left pleural effusion.", "Small right pleural effusion is seen.", "it does not say the same"),
        ("Small left pleural effusion.", "There is a large left pleural effusion.", "it does not say the same"),
        ("Small left pleural effusion.", "No left pleural effusion.", "it does not say the same"),
        ("Cardiomegaly.", "The weather is cold.", "it does not say the same"),
    ],
)
def test_rewrites(sentence: str, text: str, why: str) -> None:
    assert not_the_same(sentence, text) == why


@pytest.mark.parametrize(
    ("sentence", "text", "why"),
    [
        ("No pneumothorax.", "There is a pneumothorax.", ""),
        ("There is cardiomegaly.", "There is no cardiomegaly.", ""),
        ("The heart is normal in size.", "The heart is enlarged.", ""),
        ("No pneumothorax.", "Pneumothorax is not seen.", "it contradicts nothing"),
        ("No pneumothorax.", "There is a pneumothorax and a rib fracture.", "it changes something else"),
        ("Cardiomegaly.", "The weather is cold.", "it contradicts nothing"),
    ],
)
def test_opposites(sentence: str, text: str, why: str) -> None:
    assert not_the_opposite(sentence, text) == why


def test_sentences_with_findings() -> None:
    reports = {"a": "Two views. No pneumothorax. Cardiomegaly.", "b": "no  pneumothorax. Scoliosis."}
    assert findings_sentences(reports) == {"a#2": "No pneumothorax.", "a#3": "Cardiomegaly.", "b#2": "Scoliosis."}


ANSWERS = {
    "No pneumothorax.": ("Pneumothorax is not seen.", "There is a pneumothorax."),
    "Cardiomegaly.": ("There is cardiomegaly.", "There is no cardiomegaly."),
    "Scoliosis.": ("There is scoliosis.", "There is a spinal curve."),  # no opposite
}


@pytest.mark.long
def test_from_the_command_line(named_server: ScriptedServer, tmp_path: Path) -> None:

    def behave(request: Request) -> Reply:
        which = 0 if '"rewrite" of every' in request.body["messages"][1]["content"] else 1
        return Reply(json.dumps({key: ANSWERS[text][which] for key, text in request.items.items()}))

    named_server.behaviour = behave
    reports, output = tmp_path / "reports.csv", tmp_path / "triples.jsonl"
    reports.write_text("id,report\n1,No pneumothorax. Cardiomegaly.\n2,Scoliosis.\n", encoding="utf-8")
    arguments = ["perturb", str(reports), "--triples", "--writer", "llm", "-o", str(output), "--llm", "batch=3"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "2 triples from 3 sentences with findings" in done.stderr
    assert "1 because opposite: asked 3 times: it contradicts nothing" in done.stderr
    assert [triple[1:] for triple in read_triples(output)] == [
        (text, *ANSWERS[text]) for text in ("No pneumothorax.", "Cardiomegaly.")
    ]
    before = len(named_server.requests)
    assert before == 4  # rewrites, opposites, and the one without an opposite twice more
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert len(named_server.requests) == before
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert KEY not in done.output
    assert KEY.encode() not in stored


def test_usage(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("id,report\n1,Clear.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="add --triples and -o"):
        CliRunner().invoke(app, ["perturb", str(file), "--writer", "llm", "--json"], catch_exceptions=False)
    done = CliRunner().invoke(app, ["perturb", str(file), "--writer", "me", "--json"], catch_exceptions=False)
    assert done.exit_code == 2
    assert "'me'" in done.output


@pytest.mark.parametrize("unchecked", [False, True])
def test_prompts_of_ones_own_and_answers_as_they_come(
    named_server: ScriptedServer, tmp_path: Path, unchecked: bool
) -> None:

    def behave(request: Request) -> Reply:
        which = 0 if request.body["messages"][0]["content"] == "Put it differently." else 1
        return Reply(json.dumps({key: ANSWERS[text][which] for key, text in request.items.items()}))

    named_server.behaviour = behave
    reports, output, prompts = tmp_path / "r.csv", tmp_path / "triples.jsonl", tmp_path / "mine.toml"
    reports.write_text("id,report\n2,Scoliosis.\n", encoding="utf-8")
    prompts.write_text('rewrite = "Put it differently."\nopposite = "Turn it round."\n', encoding="utf-8")
    arguments = ["perturb", str(reports), "--triples", "--writer", "llm", "-o", str(output)]
    more = ["--prompts", str(prompts), *(["--unchecked"] if unchecked else [])]
    done = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    systems = {request.body["messages"][0]["content"] for request in named_server.requests}
    assert systems == {"Put it differently.", "Turn it round."}
    # the "opposite" that says the same is caught by the reader, and kept where nobody looks
    assert len(output.read_text().splitlines()) == (1 if unchecked else 0)
    assert ("note: not checked" in done.stderr) is unchecked


def test_the_papers_two_prompts_are_offered_in_our_words(tmp_path: Path) -> None:
    paper = triple_prompts("paper")
    assert "synonyms" in paper["rewrite"].system
    assert "opposite" in paper["opposite"].system
    assert '"0": "clear"' in paper["opposite"].fill(["clear"])
    assert {name: each.system for name, each in triple_prompts().items()}["rewrite"] != paper["rewrite"].system
    file = tmp_path / "half.toml"
    file.write_text('rewrite = "x"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"half.toml"):
        triple_prompts(str(file))
    reports = tmp_path / "r.csv"
    reports.write_text("id,report\n1,Clear.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="add --writer llm"):
        CliRunner().invoke(app, ["perturb", str(reports), "--json", "--unchecked"], catch_exceptions=False)
