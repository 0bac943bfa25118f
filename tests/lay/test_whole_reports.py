"""Whole reports as the items of algorithm 1, the trace of their rounds, statistics and tuning data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from layman_rrg.set_reports import Instructions, set_statistics, trace_of, write_tuning

from radgauge.core.errors import InputError, UsageError
from radgauge.lay.build import build_reports, build_sets
from radgauge.lay.checks import in_step, sides_differ
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.prompts import lay_prompts, prompts_hash, read_examples
from radgauge.lay.refine import Refinement
from radgauge.lay.translators import EmbeddedTranslator
from radgauge.llm.numbered import Outcome

ENCODER = FindingEncoder()
REPORT = "Small left pleural effusion. No pneumothorax."
GOOD = "There is a little fluid around the left lung. There is no air leak around the lung."
WRONG = "There is a little fluid around the right lung. There is no air leak around the lung."


class Journalist:
    """Writes the wrong side first and mends it when told."""

    has_more = True
    chunk = 2
    signature = "journalist"

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        return [Outcome(WRONG if each == REPORT else "The heart is too big.") for each in sentences]

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        assert all("other sides" in why for _, _, why in items)
        return [Outcome(GOOD) for _ in items]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reports = {"7": f"  {REPORT}\n", "8": REPORT, "9": "Cardiomegaly.", "10": "..."}
    build_reports(reports, tmp_path / "whole", how=Refinement(Journalist(), ("similarity",), ENCODER, theta=0.5))
    return tmp_path / "whole"


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_report_goes_through_the_rounds_as_a_whole(folder: Path) -> None:
    rows = rows_of(folder / "reports.jsonl")
    assert [(row["id"], row["lay"], row["round"]) for row in rows] == [
        *(("7", GOOD, 2), ("8", GOOD, 2), ("9", "The heart is too big.", 1), ("10", None, 0)),
    ]
    assert rows[-1]["why"] == "the report holds no sentence"
    about = json.loads((folder / "build.json").read_text(encoding="utf-8"))
    assert (about["reports"], about["distinct"], about["lay_reports"]) == (4, 2, 3)
    assert "unit:report" in about["signature"]


def test_the_trace_shows_every_round(folder: Path) -> None:
    original, steps = trace_of(folder, "7")
    assert original == REPORT
    assert [(step.round, step.text, step.accepted) for step in steps] == [(1, WRONG, False), (2, GOOD, True)]
    assert "other sides" in steps[0].why
    assert [len(step.sentences) for step in steps] == [2, 2]
    assert steps[1].sentences[0] > steps[0].sentences[0]  # the side was mended
    assert steps[1].sentences[1] == steps[0].sentences[1]  # this sentence stayed
    assert trace_of(folder, "cardio")[0] == "Cardiomegaly."
    with pytest.raises(InputError, match=r"holds no rounds of 'something else'"):
        trace_of(folder, "something else")
    with pytest.raises(InputError, match=r"holds no trace\.jsonl"):
        trace_of(folder.parent, "7")


def test_other_reports_are_not_written_over(folder: Path) -> None:
    how = Refinement(EmbeddedTranslator(), ("fidelity",), ENCODER)
    with pytest.raises(UsageError, match="holds a set built from other reports"):
        build_reports({"1": "Scoliosis."}, folder, how=how)
    assert build_reports({"1": "Scoliosis."}, folder, how=how, replace_set=True).reports == 1
    with pytest.raises(InputError, match="hold no sentence"):
        build_reports({"1": "..."}, folder, how=how)


def test_statistics_by_hand(folder: Path, tmp_path: Path) -> None:
    found = {(each.level, each.side): each for each in set_statistics(folder)}
    assert set(found) == {("report", "professional"), ("report", "lay")}
    before = found["report", "professional"]
    assert (before.samples, before.distinct) == (3, 2)
    assert before.words == pytest.approx((6 + 6 + 1) / 3)
    assert before.sentences == pytest.approx(5 / 3)
    build_sets(
        {"1": REPORT}, tmp_path / "sets", how=Refinement(EmbeddedTranslator(), (), ENCODER), encoder=ENCODER
    )
    levels = [(each.level, each.side, each.samples, each.sentences) for each in set_statistics(tmp_path / "sets")]
    assert levels[:3] == [
        ("sentence", "professional", 2, 1.0),
        ("sentence", "lay", 2, 1.0),
        ("report", "professional", 1, 2.0),
    ]
    with pytest.raises(InputError, match="holds no pair"):
        set_statistics(tmp_path)


def test_tuning_data_holds_both_kinds(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tuning.jsonl"
    assert write_tuning(folder, path, instructions=Instructions("For doctors.", "For patients.")) == 6
    rows = rows_of(path)
    assert sorted(row["id"] for row in rows) == sorted(
        f"{study}-{kind}" for study in "789" for kind in ("professional", "lay")
    )
    by_id = {row["id"]: row for row in rows}
    assert by_id["7-lay"] == {
        "id": "7-lay",
        "study": "7",
        "kind": "lay",
        "images": [],
        "instruction": "For patients.",
        "report": GOOD,
    }
    assert by_id["7-professional"]["report"] == REPORT
    assert write_tuning(folder, path, kinds=("lay",)) == 3
    images = {"7": ["a.png"], "8": ["b.png", "c.png"], "9": ["d.png"]}
    write_tuning(folder, path, images=images, form="conversations")
    by_id = {row["id"]: row for row in rows_of(path)}
    assert by_id["7-lay"]["image"] == "a.png"
    assert by_id["8-lay"]["image"] == ["b.png", "c.png"]
    first, second = by_id["8-lay"]["conversations"]  # type: ignore[misc]
    assert first["value"].startswith("<image>\n<image>\nLook at")
    assert second == {"from": "gpt", "value": GOOD}
    with pytest.raises(InputError, match=r"1 of 3 reports have no image, first: '9'"):
        write_tuning(folder, path, images={"7": ["a.png"], "8": ["b.png"]})


def test_prompts_with_examples_and_own_ones(tmp_path: Path) -> None:
    plain, shown = lay_prompts("report"), lay_prompts("report", "examples")
    assert "{examples}" not in shown["translate"].system
    assert shown["translate"].system.count("In everyday words:") == 3
    assert plain["check"] == shown["check"]
    assert prompts_hash(plain) != prompts_hash(shown)
    assert lay_prompts("sentence", "examples")["translate"].system.count("In everyday words:") == 4
    table = tmp_path / "mine.tsv"
    table.write_text("professional\tlay\nNo effusion.\tNo fluid.\n", encoding="utf-8")
    ours = lay_prompts("report", "examples", examples=table)["translate"].system
    assert "Report: No effusion.\nIn everyday words: No fluid." in ours
    assert ours.count("In everyday words:") == 1
    own = tmp_path / "own.toml"
    own.write_text('translate = "Say it simply. {examples}"\n', encoding="utf-8")
    mine = lay_prompts("sentence", own=own, examples=table)
    assert mine["translate"].system == "Say it simply. Report: No effusion.\nIn everyday words: No fluid."
    assert mine["revise"] == lay_prompts("sentence")["revise"]
    assert "{form}" in mine["translate"].user


def test_prompts_that_cannot_be_used(tmp_path: Path) -> None:
    own, table = tmp_path / "own.toml", tmp_path / "mine.csv"
    own.write_text('translate = ""\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"a text for one or more of translate, revise, check and nothing else"):
        lay_prompts(own=own)
    table.write_text("professional,lay\nNo effusion.,\n", encoding="utf-8")
    with pytest.raises(InputError, match="must have a text on both sides"):
        read_examples(table)
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="must have the columns professional and lay"):
        read_examples(table)
    table.write_text("professional,lay\n" + "a,b\n" * 21, encoding="utf-8")
    with pytest.raises(InputError, match="must hold 1 to 20 examples, got 21"):
        read_examples(table)
    with pytest.raises(UsageError, match="examples need a prompt with a place for them"):
        lay_prompts(examples=table)


LONG = (
    "Although the left lower lobe atelectasis has improved, there is a new moderate right pleural effusion, and "
    "the left pneumothorax is unchanged."
)


@pytest.mark.parametrize(
    ("sentence", "text", "swapped"),
    [
        (
            "Left pleural effusion and right lung nodule.",
            "A spot in the left lung and fluid around the right.",
            True,
        ),
        (
            "Right upper lobe nodule with a small left pleural effusion.",
            "There is a little fluid around the left lung and a spot in the upper part of the right lung.",
            False,
        ),
        (
            LONG,
            "Although the collapsed part at the bottom of the left lung is better, there is a new medium amount "
            "of fluid around the left lung, and the air leak on the right has not changed.",
            True,
        ),
        (
            LONG,
            "Although the collapsed part at the bottom of the left lung is better, there is a new medium amount "
            "of fluid around the right lung, and the air leak on the left has not changed.",
            False,
        ),
        ("Left rib fracture, right chest tube.", "A rib on the right is broken; a chest tube on the left.", True),
    ],
)
def test_sides_across_clauses(sentence: str, text: str, swapped: bool) -> None:
    assert sides_differ(sentence, text) is swapped


def test_reports_are_compared_sentence_by_sentence_where_they_match() -> None:
    assert len(in_step(REPORT, GOOD)) == 2
    assert in_step(REPORT, "There is a little fluid on the left.") == [
        (REPORT, "There is a little fluid on the left.")
    ]
