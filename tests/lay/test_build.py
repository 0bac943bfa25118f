"""Building the sets: files that serve, reports that say what they said, runs that go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.core.errors import InputError
from radgauge.io.case_files import read_references
from radgauge.lay.build import Built, build_sets
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.refine import Refinement
from radgauge.lay.sentences import keeps_meaning, sentence_set
from radgauge.lay.translators import EmbeddedTranslator
from radgauge.samples import sample_reports_path

REPORTS = {
    "1": "Small left pleural effusion. No pneumothorax. XXXX.",
    "2": "no  pneumothorax. There is no evidence of pneumothorax. Cardiomegaly.",
    "3": "Small right pleural effusion.\n\nIMPRESSION:\n\nCardiomegaly.",
}
ENCODER = FindingEncoder()
HOW = Refinement(EmbeddedTranslator(), ("fidelity",), ENCODER)


def _build(folder: Path, reports: dict[str, str] | None = None, **more: object) -> Built:
    return build_sets(reports or REPORTS, folder, how=HOW, encoder=ENCODER, **more)  # type: ignore[arg-type]


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_set_serves_the_metric(tmp_path: Path) -> None:
    built = _build(tmp_path)
    pairs = sentence_set(str(tmp_path / "sentences.tsv"))
    assert len(pairs) == built.pairs == built.kept
    assert [pair.professional for pair in pairs][:2] == ["Small left pleural effusion.", "No pneumothorax."]
    results = rg.score(
        [{"id": "1", "candidate": "No pneumothorax.", "reference": "There is no pneumothorax."}],
        [f"layman:sentences={tmp_path / 'sentences.tsv'}"],
    )
    assert results["layman"].headline[0] == 1


def test_reports_keep_what_they_say(tmp_path: Path) -> None:
    built = _build(tmp_path)
    rows = {row["id"]: row for row in _rows(tmp_path / "reports.jsonl")}
    assert list(rows) == list(REPORTS)
    assert built.lay_reports == 3
    assert rows["1"]["lay"] == (
        "There is a small amount of fluid around your left lung. There is no air leak around your lungs. XXXX."
    )
    assert "your right lung" in str(rows["3"]["lay"])
    assert " IMPRESSION: " in str(rows["3"]["lay"])
    for row in rows.values():
        assert keeps_meaning((row["report"], row["lay"]))  # type: ignore[arg-type]


def test_counts(tmp_path: Path) -> None:
    built = _build(tmp_path)
    assert (built.reports, built.sentences, built.distinct) == (3, 8, 6)
    entries = _rows(tmp_path / "sentences.jsonl")
    assert len(entries) == 6
    assert {entry["sentence"]: entry["times"] for entry in entries}["No pneumothorax."] == 2
    assert not [entry for entry in entries if entry["same_as"]]  # a free translator writes every sentence itself
    assert built.reused == 0
    about = json.loads((tmp_path / "build.json").read_text(encoding="utf-8"))
    assert about["signature"].startswith("translator:writer-")
    assert about["pairs"] == built.pairs


def test_where_a_translation_costs_only_the_same_statement_shares_a_text(tmp_path: Path) -> None:
    class Paid(EmbeddedTranslator):
        is_free = False  # type: ignore[misc]

    reports = {
        "1": "The lungs are clear. There is no pneumothorax.",
        "2": "The right lung is clear. No pneumothorax. No large pneumothorax.",
    }
    build_sets(reports, tmp_path, how=Refinement(Paid(), ("fidelity",), ENCODER), encoder=ENCODER)
    entries = {str(row["sentence"]): row for row in _rows(tmp_path / "sentences.jsonl")}
    assert entries["No pneumothorax."]["same_as"] == "There is no pneumothorax."
    assert not entries["The right lung is clear."]["same_as"]
    assert "right lung" in str(entries["The right lung is clear."]["lay"])
    assert not entries["No large pneumothorax."]["same_as"]
    assert {row["id"]: row["registers"] for row in _rows(tmp_path / "reports.jsonl")}["1"] == "lay"


def test_a_near_copy_of_another_meaning_is_translated_itself(tmp_path: Path) -> None:
    """At a low threshold the right effusion is a near-copy of the left one: its report must still say right."""
    built = _build(tmp_path, threshold=0.3)
    assert built.translated_too >= 1
    rows = {row["id"]: row for row in _rows(tmp_path / "reports.jsonl")}
    assert "your right lung" in str(rows["3"]["lay"])
    assert len(sentence_set(str(tmp_path / "sentences.tsv"))) == built.kept


def test_a_report_with_a_sentence_that_failed_has_no_lay_text(tmp_path: Path) -> None:
    how = Refinement(EmbeddedTranslator(), ("similarity",), ENCODER, theta=0.9999)
    build_sets(REPORTS, tmp_path, how=how, encoder=ENCODER)
    rows = _rows(tmp_path / "reports.jsonl")
    assert len(rows) == 3
    assert all(row["lay"] is None for row in rows)
    assert str(rows[0]["why"]).startswith("a sentence has no accepted lay text")


def test_sample_reports_come_out_the_same_every_time(tmp_path: Path) -> None:
    reports = {case.id: case.references[0] for case in read_references(sample_reports_path()).cases[:40]}
    first = _build(tmp_path / "a", reports)
    second = _build(tmp_path / "b", reports)
    assert first == second
    for name in ("sentences.tsv", "reports.jsonl", "rounds.csv", "build.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert 0 < first.translated < first.said  # the writer keeps what it is not sure of
    assert first.pairs == first.rounds[0].accepted > 0


def test_near_copies_are_looked_for_once(tmp_path: Path) -> None:
    class Counted(FindingEncoder):
        calls = 0

        def encode(self, texts: Sequence[str]):
            Counted.calls += 1
            return super().encode(texts)

    built = build_sets(REPORTS, tmp_path, how=HOW, encoder=Counted())
    calls = Counted.calls
    assert calls
    assert build_sets(REPORTS, tmp_path, how=HOW, encoder=Counted()) == built
    assert Counted.calls == calls
    build_sets({**REPORTS, "4": "Clear lungs."}, tmp_path, how=HOW, encoder=Counted(), replace_set=True)
    assert Counted.calls > calls
    (tmp_path / "kept.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match="remove it"):
        build_sets(REPORTS, tmp_path, how=HOW, encoder=Counted(), replace_set=True)


def test_without_reports(tmp_path: Path) -> None:
    built = _build(tmp_path, report_level=False)
    assert not (tmp_path / "reports.jsonl").exists()
    assert (built.lay_reports, built.reused, built.translated_too) == (0, 0, 0)


def test_nothing_to_build_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence with a word"):
        build_sets({"1": "..."}, tmp_path, how=HOW, encoder=ENCODER)


def test_what_is_finished_is_kept_when_the_translator_fails(tmp_path: Path) -> None:
    class Failing(EmbeddedTranslator):
        chunk = 2  # type: ignore[assignment]
        calls = 0

        def translate(self, sentences: Sequence[str]):
            Failing.calls += 1
            if Failing.calls == 2:
                raise KeyboardInterrupt
            return super().translate(sentences)

    how = Refinement(Failing(), ("fidelity",), ENCODER)
    with pytest.raises(KeyboardInterrupt):
        build_sets(REPORTS, tmp_path, how=how, encoder=ENCODER)
    assert len(sentence_set(str(tmp_path / "sentences.tsv"))) == 2
    assert json.loads((tmp_path / "build.json").read_text(encoding="utf-8"))["stopped"] == "interrupted"
    rows = _rows(tmp_path / "reports.jsonl")
    assert [row["why"] for row in rows].count("a sentence is not translated yet") >= 2
