"""The encoder of lay sentences: what counts as the same statement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radgauge.cache import Cache
from radgauge.layman.encoder import FindingEncoder
from radgauge.reading import Readings


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
    assert _cosine(one, other) < 0.7


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
    assert _cosine("The mediastinum is stable.", "The mediastinum is widened.") < 0.5


def test_reach_is_less_where_nothing_is_stated() -> None:
    encoder = FindingEncoder()
    vectors = encoder.encode(["Pleural effusion.", "The patient was seen by the team."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
    stated, bare = encoder.reach(vectors)
    assert stated == 1
    assert 0 < bare < 0.5
    entries = encoder.encode(["Pleural effusion.", "Cardiomegaly.", "The heart is normal."])
    assert (vectors[1] @ entries.T).max() <= bare + 1e-6
