"""readability: textstat's own numbers, and counts one can check with a pencil."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyphen", reason="the extra lay is not installed")

from radgauge.metrics.readability import COLUMNS
from radgauge.run.score import score
from radgauge.text.readability import readability

FIXTURE = Path(__file__).parents[1] / "data" / "parity" / "readability.json"
NAMES = {"dale_chall_readability_score": "dale_chall_score", "spache_readability": "spache_score"}


def test_the_same_numbers_as_textstat() -> None:
    records = json.loads(FIXTURE.read_text())["records"]
    assert len(records) > 70
    for record in records:
        found = readability(record.pop("text"))
        for name, value in record.items():
            assert getattr(found, NAMES.get(name, name)) == pytest.approx(value, abs=1e-9)


def test_by_hand() -> None:
    # 6 words, 1 sentence, 6 syllables, every word easy
    found = readability("The cat sat on the mat.")
    assert found.flesch_kincaid_grade == pytest.approx(0.39 * 6 + 11.8 - 15.59)
    assert found.smog_index == pytest.approx(3.1291)
    assert found.gunning_fog == pytest.approx(0.4 * 6)
    assert found.mcalpine_eflaw == 12


def test_lay_words_read_more_easily() -> None:
    cases = [
        {"id": "1", "system": "lay", "candidate": "Your heart is a bit big. There is no fluid by the lung."},
        {"id": "1", "system": "pro", "candidate": "Mild cardiomegaly. No pleural effusion is identified."},
        {"id": "2", "system": "lay", "candidate": "..."},
    ]
    scores = score(cases, ["readability"])["readability"]
    lay, pro, nothing = scores.headline
    assert lay < pro
    assert math.isnan(nothing)
    assert scores.reasons == {("2", "lay"): "candidate has no words"}
    ease = scores.column("readability_flesch_reading_ease")
    assert ease[0] > ease[1]
    assert scores.directions[scores.columns.index("readability_flesch_reading_ease")]
    assert not scores.higher_is_better
    assert np.isfinite(scores.values[0]).all()
    assert len(COLUMNS) == 10
    assert "textstat-0.7.13" in scores.signature


def test_a_very_long_text_uses_the_first_hundred_words_for_linsear() -> None:
    short, long = "The cat sat on the mat. " * 16, "The cat sat on the mat. " * 100
    assert readability(short).linsear_write_formula == pytest.approx(
        readability(long).linsear_write_formula, abs=0.3
    )
