"""Correlations with annotators on raw and lay text, and their own agreement."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from lay_entries import knowing_readings
from layman_rrg.agreement import lay_agreement
from layman_rrg.tables import agreement_tables
from scipy.stats import pearsonr, spearmanr

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments import Judgments, read_judgments
from radgauge.io.judgments.judgments import rating_scores
from radgauge.render.tables import to_csv, to_markdown
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling

READING = knowing_readings()
CASES = (
    Case("1", "No pneumothorax. Heart is normal.", ("There is no pneumothorax. The heart is normal in size.",)),
    Case("2", "Small left effusion. Lungs are clear.", ("Small left pleural effusion. No pneumothorax.",)),
    Case("3", "Cardiomegaly. Clear lungs.", ("The heart is normal. Right lower lobe pneumonia.",)),
    Case("4", "The lungs are clear.", ("Clear lungs.",)),
    Case("5", "Right pneumothorax.", ("Left pneumothorax.",)),
)
RATINGS = {"A": [1.0, 0.5, 0.0, 1.0, 0.0], "B": [1.0, 0.4, 0.1, 0.9, 0.2], "C": [0.9, 0.5, 0.0, 1.0, 0.0]}


def _file(folder: Path, *, factor: float = 1.0, ids: str = "12345") -> Judgments:
    path = folder / "ratings.csv"
    lines = ["id,rater,rating"]
    for rater, values in RATINGS.items():
        lines += [f"{study},{rater},{factor * value}" for study, value in zip(ids, values, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_judgments(path)


def test_a_metric_that_judges_nothing_gets_no_number() -> None:
    texts = ("Rib fracture.", "Scoliosis.", "Bowel gas is normal.", "Degenerative changes.")
    cases = [Case(str(n), texts[3 * n % 4], (texts[n % 4],)) for n in range(8)]
    keys = tuple(case.key for case in cases)
    ratings = {rater: {key: (n % 4) / 4 for n, key in enumerate(keys)} for rater in "ab"}
    judged = Judgments("test", tuple(cases), {}, rating_scores(ratings, keys=keys, signature="test"))
    found = lay_agreement(judged, ["chexbert"], resampling=Resampling(resamples=20), reading=READING)
    line = next(each for each in found.lines if each.column.startswith("chexbert_5_micro"))
    assert np.isnan([line.raw.value, line.gain.interval.value, line.gain.p]).all()
    assert line.not_judged == 8


def test_correlations_are_those_of_scipy(tmp_path: Path) -> None:
    found = lay_agreement(
        _file(tmp_path), ["bleu"], cases=CASES, resampling=Resampling(resamples=50), reading=READING
    )
    goal = np.mean(list(RATINGS.values()), axis=0)
    bleu = score(CASES, ["bleu"])["bleu"]
    lines = {(line.column, line.kind): line for line in found.lines}
    assert lines["bleu_1", "pearson"].raw.value == pytest.approx(pearsonr(bleu.column("bleu_1"), goal)[0])
    assert lines["bleu_1", "spearman"].raw.value == pytest.approx(spearmanr(bleu.column("bleu_1"), goal)[0])
    semantics = lines["layman_semantics_embedded", "pearson"]
    assert semantics.lay.value > 0.9  # these annotators count what means the same
    assert semantics.gain.interval.value == pytest.approx(semantics.lay.value - semantics.raw.value)
    assert found.cases == 5


def test_kappa_by_hand(tmp_path: Path) -> None:
    found = lay_agreement(_file(tmp_path), [], cases=CASES, resampling=Resampling(resamples=50), reading=READING)
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    # A in fifths: 4 2 0 4 0, C: 4 2 0 4 0; B: 4 2 0 4 1
    assert pairs["A", "C"].kappa.value == 1
    agree, chance = 4 / 5, (2 * 2 + 1 * 1 + 2 * 1) / 25
    assert pairs["A", "B"].kappa.value == pytest.approx((agree - chance) / (1 - chance))
    assert pairs["A", "B"].weighted.value > pairs["A", "B"].kappa.value
    assert found.mean_kappa() == pytest.approx(np.mean([pair.kappa.value for pair in found.pairs]))


def test_percent_and_texts_inside_the_ratings(tmp_path: Path) -> None:
    whole = lay_agreement(_file(tmp_path), [], cases=CASES, resampling=Resampling(resamples=50), reading=READING)
    percent = lay_agreement(
        _file(tmp_path, factor=100),
        [],
        cases=CASES,
        scale=100,
        resampling=Resampling(resamples=50),
        reading=READING,
    )
    assert percent.lines[0].lay.value == pytest.approx(whole.lines[0].lay.value)
    path = tmp_path / "inside.csv"
    lines = ["id,rater,rating,reference,candidate"]
    lines += [f"{c.id},A,{r},{c.references[0]},{c.candidate}" for c, r in zip(CASES, RATINGS["A"], strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    alone = lay_agreement(read_judgments(path), [], resampling=Resampling(resamples=50), reading=READING)
    assert not alone.pairs
    assert math.isnan(alone.mean_kappa())
    assert "one annotator" in alone.notes[0]


def test_what_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="first: '9'"):
        lay_agreement(_file(tmp_path, ids="12349"), [], cases=CASES)
    with pytest.raises(InputError, match="5 of 5 rated reports have no reference text"):
        lay_agreement(_file(tmp_path), [])
    with pytest.raises(InputError, match="must be a proportion from 0 to 1; rater 'A'"):
        lay_agreement(_file(tmp_path, factor=100), [], cases=CASES)
    with pytest.raises(UsageError, match="bins must be 2 or more, got 1"):
        lay_agreement(_file(tmp_path), [], cases=CASES, bins=1)
    with pytest.raises(UsageError, match="scale must be above 0, got 0"):
        lay_agreement(_file(tmp_path), [], cases=CASES, scale=0)


def test_tables(tmp_path: Path) -> None:
    found = lay_agreement(
        _file(tmp_path), ["rouge"], cases=CASES, resampling=Resampling(resamples=50), reading=READING
    )
    correlations, annotators = agreement_tables(found)
    assert to_csv(correlations).startswith("column,kind,raw,raw_low,raw_high,lay,")
    assert "| rouge_l |" in to_markdown(correlations)
    assert "| A, B |" in to_markdown(annotators)
