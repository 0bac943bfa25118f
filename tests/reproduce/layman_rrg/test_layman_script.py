"""`reproduce/layman.py`: the tables and figures of Layman's RRG."""

from __future__ import annotations

import json
from pathlib import Path

import layman
import pytest
from lay_reports import REPORTS, lay_set, write_file
from layman_rrg.cli_studies import layman as app
from scripted_llm import Reply, Request, ScriptedServer
from typer.testing import CliRunner

from radgauge.core.errors import UsageError
from radgauge.lay.plain_sentences import mixed_text, write_plain

pytestmark = pytest.mark.long
assert layman.__all__  # every verb is registered


def _run(*arguments: str) -> tuple[str, str]:
    done = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_agree(tmp_path: Path) -> None:
    ratings = ["id,system,rater,rating"]
    ratings += [
        f"{study},{system},{rater},{value}"
        for rater in "AB"
        for system in ("small", "large")
        for study, value in (("1", 1), ("2", 0.5), ("3", 0), ("4", 1))
    ]
    files = (
        write_file(tmp_path, "ratings.csv", "\n".join(ratings) + "\n"),
        write_file(tmp_path, "reports.csv", REPORTS),
    )
    arguments = ["agree", files[0], "--reports", files[1], "-m", "rouge", "--resamples", "50"]
    arguments += ["--sentences", lay_set(tmp_path)]
    out, err = _run(*arguments, "-o", str(tmp_path / "table3.md"))
    assert "pearson lay" in out
    assert "8 reports, 2 annotators" in err
    assert "| rouge_l |" in (tmp_path / "table3.md").read_text(encoding="utf-8")
    assert "| A, B | 1.000" in (tmp_path / "table3_annotators.md").read_text(encoding="utf-8")
    found = json.loads(_run(*arguments, "--json", "--quiet")[0])
    assert {line["kind"] for line in found["correlations"]} == {"pearson", "spearman"}
    assert found["signatures"][0].startswith("layman|")
    assert len(found["ratings"]["sha256"]) == 64
    found = json.loads(_run(*arguments, "--paper", "--json", "--quiet")[0])
    assert {line["column"] for line in found["correlations"]} >= {
        *("bleu_4", "rouge_2", "chexbert_similarity_embedded", "radgraph_yu_embedded"),
        *("radcliq_v1_embedded", "older_radcliq_v0_embedded", "layman_semantics_embedded"),
    }


def test_training(tmp_path: Path) -> None:
    file = write_file(tmp_path, "outputs.csv", REPORTS)
    out, _ = _run("training", file, "-o", str(tmp_path / "figure2"), "--resamples", "50")
    assert "sentences ≥ 0.8" in out
    written = {path.name for path in (tmp_path / "figure2").iterdir()}
    assert written == {"index.html", "about.json", "training.csv", "training.md", "ranges.svg", "growth.svg"}
    sized = _run(
        "training", file, "--size", "small=a:10", "--size", "large=20", "--json", "-q", "--resamples", "50"
    )
    found = {line["system"]: line for line in json.loads(sized[0])["training"]}
    assert (found["small"]["training_size"], found["small"]["series"]) == (10, "a")
    done = CliRunner().invoke(app, ["training", file, "--size", "small"])
    assert "--size must be SYSTEM=NUMBER or SYSTEM=SERIES:NUMBER, got 'small'" in str(done.exception)
    wrong = write_file(tmp_path, "wrong.csv", REPORTS.replace(",5000,", ",many,"))
    done = CliRunner().invoke(app, ["training", wrong])
    assert "training_size of id '1' must be a number, got 'many'" in str(done.exception)


def test_readability_beside_the_original(tmp_path: Path) -> None:
    file = write_file(tmp_path, "reports.csv", REPORTS)
    values = tmp_path / "values.csv"
    out, err = _run("readability", file, "--write", "--per-report", str(values), "--resamples", "50")
    assert "flesch_kincaid_grade" in out
    assert "lay_fidelity" in err
    assert len(values.read_text(encoding="utf-8").splitlines()) == 5
    done = CliRunner().invoke(app, ["readability", file, "-o", str(tmp_path / "page.pdf")])
    assert "must go to .html, .csv, .md, .tex or a folder, got 'page.pdf'" in str(done.exception)


def test_grid_of_writers_and_corpora(
    tmp_path: Path, named_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyphen", reason="the extra lay is not installed")
    monkeypatch.chdir(tmp_path)

    def behave(request: Request) -> Reply:
        return Reply(json.dumps({key: mixed_text(write_plain(text)) for key, text in request.items.items()}))

    named_server.behaviour = behave
    lines = [
        f"{study},{text}" for study, text in enumerate(("Left pleural effusion.", "Cardiomegaly.", "Scoliosis."))
    ]
    file = write_file(tmp_path, "chest.csv", "\n".join(["id,report", *lines]) + "\n")
    own = tmp_path / "mine.toml"
    own.write_text('translate = "Say it simply."', encoding="utf-8")
    arguments = ["grid", f"one={file}", f"two={file}", "--model", "embedded", "--model", "small"]
    arguments += ["--prompt", "examples", "--prompt", str(own), "--resamples", "20", "--json", "--quiet"]
    found = json.loads(_run(*arguments)[0])
    writers = ["embedded", "small + examples", "small + mine"]
    assert list(dict.fromkeys((row["corpus"], row["writer"]) for row in found["right"])) == [
        (corpus, writer) for corpus in ("one", "two") for writer in writers
    ]
    assert {request.body["model"] for request in named_server.requests} == {"small"}
    assert len(named_server.requests) == 2  # the second corpus asks nothing anew
    values = {(row["writer"], row["output"]): row["value"] for row in found["right"] if row["corpus"] == "one"}
    assert values["embedded", "bleu_4"] == values["small + examples", "bleu_4"]  # the server copies the writer
    assert [row["writer"] for row in found["easy"]][:2] == ["(original)", "embedded"]
    again = json.loads(_run("grid", "lay_grid/one.jsonl", "--resamples", "20", "--json", "--quiet")[0])
    assert len(again["easy"]) == 4  # versions that are there are measured as they are
    with pytest.raises(UsageError, match="holds no lay versions; name a writer"):
        _run("grid", file)
    with pytest.raises(UsageError, match="corpora must have different names"):
        _run("grid", file, file, "--model", "embedded")
    with pytest.raises(UsageError, match="--prompt must be plain, examples or a TOML"):
        _run("grid", file, "--model", "small", "--prompt", "short")
