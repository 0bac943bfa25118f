"""The encoder of lay sentences: what counts as the same statement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cache import Cache
from radgauge.core.readings import Readings
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.lay_reader import lay_lexicon
from radgauge.lay.rules import lay_rules


def _cosine(one: str, other: str) -> float:
    first, second = FindingEncoder().encode([one, other])
    return float(first @ second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The heart is not enlarged.", "Heart size is within normal limits."),
        ("Right upper lobe consolidation.", "Consolidation in the upper lobe on the right."),
        ("Lungs are clear without infiltrate.", "The lungs are clear."),
        ("There is no abnormality of the right lung.", "The right lung is clear."),
        ("No bony abnormality.", "The osseous structures are intact."),
        ("A small amount of fluid is present in the left pleural space.", "Small left pleural effusion."),
        ("The pleural spaces contain no fluid.", "No pleural effusion."),
        ("Several ribs on the left are broken.", "Left rib fractures."),
        ("The lungs are poorly inflated.", "Low lung volumes."),
        ("Aortic atherosclerosis.", "Aortic calcification."),
    ],
)
def test_one_statement_in_other_words(one: str, other: str) -> None:
    assert _cosine(one, other) >= 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Right lower lobe pneumonia.", "Left lower lobe pneumonia."),
        ("The pneumonia has improved.", "The pneumonia has worsened."),
        ("Small left pleural effusion.", "Large left pleural effusion."),
        ("Clear left lung with right effusion.", "Clear right lung with left effusion."),
        ("The right lung is clear.", "The left lung is clear."),
        ("Possible pneumonia.", "No pneumonia."),
        ("The lungs are well inflated.", "The lungs are poorly inflated."),
        ("Left effusion and right pneumothorax.", "Right effusion and left pneumothorax."),
    ],
)
def test_another_statement_in_like_words(one: str, other: str) -> None:
    assert _cosine(one, other) < 0.8


def test_another_side_is_worse_than_none() -> None:
    said = "Left pleural effusion."
    assert _cosine(said, "Right pleural effusion.") < _cosine(said, "Pleural effusion.") < _cosine(said, said)


def test_vectors_come_back_from_the_cache(tmp_path: Path) -> None:
    texts = ["Pleural effusion.", "The heart is normal."]
    fresh = Readings(cache=Cache(tmp_path / "cache.sqlite")).of(FindingEncoder(), texts)

    def never(self: FindingEncoder, texts: list[str]) -> None:
        raise AssertionError("read again")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FindingEncoder, "read", never)
        cached = Readings(cache=Cache(tmp_path / "cache.sqlite")).of(FindingEncoder(), texts)
    np.testing.assert_array_equal(fresh, cached)


def test_parts_that_have_not_changed() -> None:
    assert _cosine("The mediastinum is stable.", "Unchanged mediastinum.") > 0.8
    assert _cosine("The mediastinum is stable.", "The mediastinum is widened.") < 0.7


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Small left upper lobe opacity is unchanged.", "Small left upper lobe opacity is worse."),
        ("Acute fracture of the left clavicle.", "Old fracture of the left clavicle."),
        ("Displaced fracture of the distal radius.", "Nondisplaced fracture of the distal radius."),
        ("6 mm nodule in the left lower lobe.", "16 mm nodule in the left lower lobe."),
        ("A left-sided port ends in the right atrium.", "A left-sided port ends in the axillary vein."),
        ("Infiltrates in both lungs.", "Infiltrate in the right lung."),
    ],
)
def test_one_part_told_otherwise_makes_another_statement(one: str, other: str) -> None:
    assert _cosine(one, other) < 0.8


def test_a_part_that_is_left_out_takes_little_away() -> None:
    assert _cosine("Mild cardiomegaly.", "Cardiomegaly.") >= 0.8
    assert _cosine("Left lower lobe pneumonia.", "Left pneumonia.") >= 0.8


def test_rules_name_concepts_of_the_lexicon() -> None:
    rules, lexicon = lay_rules(), lay_lexicon()
    named = {
        *rules.terms,
        *rules.synonyms,
        *rules.alike,
        *rules.denied_alike,
        *rules.senses,
        *(rule["concept"] for rule in rules.compositions),
        *(place for rule in rules.compositions for place in rule["anatomy"]),
    }
    assert not [name for name in sorted(named) if name not in lexicon]


@pytest.mark.parametrize(
    "text", ["Paramediastinal silhouette is stable.", "The paramediastinal silhouette is normal."]
)
def test_a_structure_without_features_gives_no_vector_of_nan(text: str) -> None:
    assert np.isfinite(FindingEncoder().encode([text])).all()
