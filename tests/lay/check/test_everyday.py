"""The reader of everyday wording: what lay sentences say, and what differs from the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from radgauge.lay.check.compare import LayCheck, check_lay
from radgauge.lay.check.reading import read_everyday

OWN = Path(__file__).parents[2] / "data" / "lay_triples" / "own.tsv"


def _share(checked: LayCheck) -> float | None:
    kept, changed, lost, added = checked.counts
    return 2 * kept / (2 * kept + 2 * changed + lost + added) if checked.is_judged else None


def _counts(triples: list[dict[str, str]]) -> tuple[int, int, int]:
    """Right texts that pass, right above wrong, right texts that are not judged."""
    passed = above = unjudged = 0
    for each in triples:
        right, wrong = (_share(check_lay(each["professional"], each[name])) for name in ("right", "wrong"))
        passed += right == 1
        above += right is not None and wrong is not None and right > wrong
        unjudged += right is None
    return passed, above, unjudged


@pytest.mark.parametrize(
    ("text", "values", "denied"),
    [
        ("Your heart is a bit bigger than usual.", {"cardiomegaly"}, False),
        ("Your heart is not bigger than it should be.", {"cardiomegaly"}, True),
        ("A little fluid has collected around your left lung.", {"effusion"}, False),
        ("There is fluid in your lungs.", {"edema"}, False),
        ("We see no sign of pneumonia.", {"pneumonia"}, True),
        ("Nothing new or sudden is seen.", {"acute"}, True),
        ("Your spine shows wear and tear.", {"arthritis"}, False),
        ("The stone is nonobstructing.", {"blockage"}, True),
    ],
)
def test_reads_findings_in_everyday_words(text: str, values: set[str], denied: bool) -> None:
    found = [fact for fact in read_everyday(text).facts if fact.values & values]
    assert [fact.denied for fact in found] == [denied]


@pytest.mark.parametrize(
    ("professional", "lay", "what"),
    [
        ("Left pleural effusion.", "There is fluid around your right lung.", "side"),
        ("No pleural effusion.", "There is fluid around your lungs.", "negation"),
        ("Large pleural effusion.", "There is a little fluid around your lungs.", "degree"),
        ("Left upper lobe nodule.", "There is a spot in the lower part of your left lung.", "place"),
        ("Compression fracture of T12.", "A bone in your neck has been squashed.", "level"),
        ("6 mm nodule in the lung.", "There is a spot of 16 mm in the lung.", "size"),
        ("Probable pneumonia.", "You have pneumonia.", "certainty"),
        ("Pleural effusion has increased.", "The fluid around your lungs has gone down.", "change"),
        ("The chest tube has been removed.", "The chest tube is in place.", "device"),
        ("Follow-up CT in 3 months is recommended.", "You should have another CT in 3 weeks.", "recommendation"),
        ("Urgent surgical consultation is recommended.", "A surgeon should see you, there is no rush.", "urgency"),
        ("Pneumonia. Rib fracture.", "You have pneumonia.", "lost"),
        ("Pneumonia.", "You have pneumonia. You have a broken rib.", "added"),
    ],
)
def test_says_what_is_told_otherwise(professional: str, lay: str, what: str) -> None:
    assert what in {each.what for each in check_lay(professional, lay).differences}
    assert not check_lay(professional, professional).differences


def test_what_cannot_be_read_is_not_judged() -> None:
    checked = check_lay("Pneumonia in the left lung.", "Quixotic flumes abound within you today.")
    assert not checked.is_judged
    assert checked.unread[0].professional == "Pneumonia in the left lung" or checked.unread[0].what == "unread"
    assert not check_lay("Flumes abound.", "Flumes abound.").is_judged


def test_strict_counts_what_a_lay_text_may_leave_out() -> None:
    professional, lay = "Small left pleural effusion.", "There is fluid around your left lung."
    assert not check_lay(professional, lay).differences
    assert [each.what for each in check_lay(professional, lay, strict=True).differences] == ["degree or place"]


def test_own_triples() -> None:
    with OWN.open(encoding="utf-8", newline="") as file:
        triples = list(csv.DictReader(file, delimiter="\t"))
    passed, above, unjudged = _counts(triples)
    assert len(triples) == 40
    assert passed >= 37
    assert above >= 36
    assert unjudged == 0


def test_a_denial_ends_where_a_clause_begins() -> None:
    facts = read_everyday("We see no broken ribs, and your heart is bigger than usual.").facts
    assert [(sorted(fact.values), fact.denied) for fact in facts] == [
        (["fracture"], True),
        (["cardiomegaly"], False),
    ]


def test_a_denied_collapse_is_denied() -> None:
    [fact] = read_everyday("Your lungs have not collapsed.").facts
    assert fact.denied


def test_triples_of_others(shared_data: Path) -> None:
    lines = (shared_data / "judged" / "lay_triples.jsonl").read_text("utf-8").splitlines()
    passed, above, unjudged = _counts([json.loads(line) for line in lines])
    assert passed >= 50
    assert above >= 55
    assert unjudged <= 2


@pytest.mark.parametrize(
    ("report", "flipped", "right"),
    [
        (
            "There is no pneumothorax the lungs are hyperinflated.",
            "There is no air leak around your lungs. Your lungs are not filled with more air than normal.",
            "There is no air leak around your lungs. Your lungs are filled with more air than normal.",
        ),
        (
            "No pleural effusion there is mild cardiomegaly.",
            "There is no fluid around your lungs. Your heart is not larger than normal.",
            "There is no fluid around your lungs. Your heart is slightly larger than normal.",
        ),
        (
            "No effusion, the aorta is tortuous.",
            "There is no fluid around your lungs. Your main artery is not winding.",
            "There is no fluid around your lungs. Your main artery is winding.",
        ),
    ],
)
def test_a_denial_ends_where_a_new_clause_begins(report: str, flipped: str, right: str) -> None:
    assert [each.what for each in check_lay(report, flipped, strict=True).differences] == ["negation"]
    assert check_lay(report, right, strict=True).differences == ()


def test_a_denied_list_with_its_verb_is_no_new_clause() -> None:
    facts = read_everyday("No pneumothorax or pleural effusion is seen.").facts
    assert [each.denied for each in facts] == [True, True]
