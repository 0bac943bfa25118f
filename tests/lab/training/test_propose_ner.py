"""Entities from a language model on a scripted server, close to the terms of a vocabulary; counts of a set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_llm import KEY, Reply, ScriptedServer
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import UsageError
from radgauge.lab.training.ner_files import NerSentence, read_ner, write_ner
from radgauge.lab.training.ner_statistics import describe_ner
from radgauge.lab.training.propose_ner import not_marked

ANSWERS = {
    "Small pleural effusion.": "pleural effusion | abnormality",
    "No pneumothorax.": "pneumothorax | disease",
    "Blorptic frumious.": "Blorptic frumious | disease",
    "Scoliosis.": "curved spine | abnormality",
}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-", ""),
        ("effusion | abnormality", ""),
        ("Effusion | ABNORMALITY; left | anatomy", ""),
        ("effusion", "it is not in the agreed form"),
        ("effusion | shape", "a type is unknown"),
        ("fluid | abnormality", "a marked name is not in the sentence"),
    ],
)
def test_answers_are_not_trusted(text: str, why: str) -> None:
    assert not_marked("Left effusion.", text) == why


@pytest.mark.long
def test_reports_are_annotated_by_a_live_model_and_a_vocabulary(
    named_server: ScriptedServer, tmp_path: Path
) -> None:
    named_server.behaviour = lambda request: Reply(
        json.dumps({k: ANSWERS[text] for k, text in request.items.items()})
    )
    reports, output = tmp_path / "reports.csv", tmp_path / "annotated.json"
    reports.write_text(
        "id,report\n1,Small pleural effusion. No pneumothorax.\n2,Blorptic frumious. Scoliosis.\n",
        encoding="utf-8",
    )
    vocabulary, examples = tmp_path / "MRCONSO.RRF", tmp_path / "examples.json"
    vocabulary.write_text(
        "".join(
            f"C{n}|ENG|P|L|PF|S|Y|A||||X|PT|1|{term}|0|N||\n"
            for n, term in enumerate(("Pleural effusion", "Pneumothorax"))
        ),
        encoding="utf-8",
    )
    write_ner(examples, [NerSentence(("No", "rib", "fracture"), ((1, 2, "NON-ABNORMALITY"),))])
    arguments = ["train", "ner", str(reports), "--annotate", "--proposer", "llm", "--vocabulary", str(vocabulary)]
    arguments += ["--examples", str(examples), "--density", "0.5", "--llm", "batch=4", "-o", str(output)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert read_ner(output) == [
        NerSentence(("Small", "pleural", "effusion", "."), ((1, 2, "ABNORMALITY"),)),
        NerSentence(("No", "pneumothorax", "."), ((1, 1, "NON-DISEASE"),)),  # denied by rule, not by the model
    ]
    assert "given up: 1 sentences because asked 3 times: a marked name is not in the sentence" in done.stderr
    asked = named_server.requests[0].body["messages"][0]["content"]
    assert '"No rib fracture" becomes "rib fracture | abnormality"' in asked
    before = len(named_server.requests)
    CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert len(named_server.requests) == before  # the journal knows
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert KEY.encode() not in stored


def test_usage(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("id,report\n1,Clear.\n", encoding="utf-8")
    both = ["train", "ner", str(file), "--annotate", "--proposer", "llm", "--proposals", "p.jsonl", "-o", "x.json"]
    with pytest.raises(UsageError, match="leave them or --proposer llm out"):
        CliRunner().invoke(app, both, catch_exceptions=False)
    with pytest.raises(UsageError, match="--evaluate needs --model"):
        CliRunner().invoke(app, ["train", "ner", "--evaluate", str(file)], catch_exceptions=False)
    with pytest.raises(UsageError, match="a file to learn from and -o are needed"):
        CliRunner().invoke(app, ["train", "ner"], catch_exceptions=False)


def test_a_set_is_counted_by_modality_and_anatomy(tmp_path: Path) -> None:
    records = [
        {
            "tokens": ["Pleural", "effusion"],
            "ner_tags": [0, 1],
            "modality": "X-Ray",
            "anatomy": "CHEST",
            "note_id": "1",
        },
        {
            "tokens": ["pleural", "effusion"],
            "ner_tags": [0, 1],
            "modality": "CT",
            "anatomy": "CHEST",
            "note_id": "2",
        },
        {"tokens": ["no", "stroke"], "ner_tags": [10, 6], "modality": "CT", "anatomy": "BRAIN", "note_id": "2"},
    ]
    file = tmp_path / "train_IOB.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    whole, *parts = describe_ner(file, by="modality")
    assert (whole.part, whole.sentences, whole.reports, whole.entities) == ("all", 3, 2, (3, 2))
    assert whole.types["ABNORMALITY"] == (2, 1)
    assert {part.part: (part.sentences, part.entities) for part in parts} == {
        "X-Ray": (1, (1, 1)),
        "CT": (2, (2, 2)),
    }
    assert [part.part for part in describe_ner(file, by="anatomy")] == ["all", "CHEST", "BRAIN"]
    done = CliRunner().invoke(
        app, ["train", "ner", "--describe", str(file), "--by", "modality"], catch_exceptions=False
    )
    assert "3 (2)" in done.stdout
    with pytest.raises(UsageError, match="record 1 has no field 'region'"):
        describe_ner(file, by="region")
