"""Scores for others: Every Eval Ever, Hugging Face, the leaderboard, scoring again what changed."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.core.errors import InputError
from radgauge.io.records import as_cases
from radgauge.io.scores_file import write_scores
from radgauge.report.sharing import board_page, every_eval_ever, gather, hugging_face, leaderboard, write_export
from radgauge.run.rescore import rescore
from radgauge.stats.resampling import Resampling

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOW = Resampling(resamples=50)
REFERENCES = {
    str(n): f"There is a small nodule of {n} mm in the left lung, no pleural effusion." for n in range(12)
}


def cases(system: str, *, good: bool) -> list[dict[str, str]]:
    return [
        {
            "id": study,
            "system": system,
            "candidate": text if good else "Unremarkable examination of the abdomen today.",
            "reference": text,
        }
        for study, text in REFERENCES.items()
    ]


@pytest.fixture(scope="module")
def results() -> rg.Results:
    return rg.score([*cases("ours", good=True), *cases("weak", good=False)], ["bleu"])


def test_documents_hold_direction_interval_and_no_text(results: rg.Results) -> None:
    document, rows = every_eval_ever(results, dataset="iu", now=NOW, resampling=HOW)["ours"]
    assert document["schema_version"] == "0.3.0"
    assert document["evaluation_id"] == f"iu/ours/{int(NOW.timestamp())}"
    (result,) = [each for each in document["evaluation_results"] if each["evaluation_name"] == "bleu_4"]
    assert result["score_details"]["score"] == 1  # a copy of the reference
    assert result["metric_config"]["lower_is_better"] is False
    assert set(result["score_details"]["uncertainty"]["confidence_interval"]) == {
        "lower",
        "upper",
        "confidence_level",
        "method",
    }
    assert document["detailed_evaluation_results"]["total_rows"] == len(rows) == len(REFERENCES)
    assert "nodule" not in json.dumps([document, rows])


def test_a_case_that_was_not_judged_has_no_row() -> None:
    some = cases("ours", good=True)
    some[3]["candidate"] = ""
    judged = rg.score(some, ["errors"])
    document, rows = every_eval_ever(judged, dataset="iu", now=NOW, resampling=HOW)["ours"]
    quality = [row for row in rows if row["evaluation_name"] == "errors_quality"]
    assert "3" not in {row["sample_id"] for row in quality}
    assert all(math.isfinite(row["evaluation"]["score"]) for row in rows)
    counts = {each["evaluation_name"]: each["score_details"]["details"] for each in document["evaluation_results"]}
    assert counts["errors_quality"]["not_judged"] == "1"


def test_results_for_the_hub_are_yaml(results: rg.Results, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (entry,) = yaml.safe_load(hugging_face(results, dataset="org/iu", now=NOW, resampling=HOW)["weak"])
    assert entry["dataset"] == {"id": "org/iu", "task_id": "bleu_4"}
    assert entry["value"] < 0.1
    names = [path.name for path in write_export(tmp_path, results, form="hf", dataset="org/iu")]
    assert names == ["ours.yaml", "weak.yaml"]


def test_a_leaderboard_has_clusters_and_one_signature(tmp_path: Path) -> None:
    write_scores(tmp_path / "a.jsonl", rg.score([*cases("ours", good=True), *cases("copy", good=True)], ["bleu"]))
    write_scores(tmp_path / "b.jsonl", rg.score(cases("weak", good=False), ["bleu"]))
    board = leaderboard(gather(tmp_path), resampling=HOW, permutations=999)
    assert [(row[0].text, row[1].text) for row in board.rows] == [("1", "ours"), ("1", "copy"), ("2", "weak")]
    page = board_page(gather(tmp_path))
    assert "<script" not in page
    assert "weak" in page
    write_scores(tmp_path / "c.jsonl", rg.score(cases("other", good=True), ["bleu:variant=cxr"]))
    with pytest.raises(InputError, match=r"another signature in a\.jsonl than in c\.jsonl"):
        gather(tmp_path)
    write_scores(tmp_path / "c.jsonl", rg.score(cases("other", good=True)[:5], ["bleu"]))
    with pytest.raises(InputError, match="different studies"):
        gather(tmp_path)


def test_only_what_changed_is_scored_again(tmp_path: Path) -> None:
    rg.write_cases(tmp_path / "r.csv", as_cases(cases("ours", good=True)))
    file = rg.read_cases(tmp_path / "r.csv")
    about = {"input": file.provenance.as_dict()}
    write_scores(tmp_path / "old.jsonl", rg.score(file.cases, ["bleu"]), about=about)
    same, names = rescore(tmp_path / "old.jsonl")
    assert names == []
    assert list(same) == ["bleu"]
    more, names = rescore(tmp_path / "old.jsonl", ["rouge", "bleu"])
    assert names == ["rouge"]
    assert list(more) == ["bleu", "rouge"]
    assert more["rouge"].keys == more["bleu"].keys
    (tmp_path / "r.csv").write_text("id,reference,candidate\n1,a,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed since"):
        rescore(tmp_path / "old.jsonl", ["rouge"])
