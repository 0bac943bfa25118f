"""RadCliQ: the published check vectors, 590 published rows, direction, the inverse view, own composites."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import InputError, UsageError
from radgauge.metrics.radcliq import RadCliQ, composite

# [RadGraph F1, BERTScore, CheXbert similarity, BLEU-2] -> v0, v1, preprint
CHECKS = [
    ([1, 1, 1, 1], -0.24213342294409346, -1.4406902828047017, -0.15507246286793763),
    ([0, 0, 0, 0], 5.516160804054495, 2.4501430833271307, 3.4410763916304967),
    ([0.5] * 4, 2.637013690555201, 0.5047264002612145, 1.6430019643812794),
    ([0.2, 0.4, 0.6, 0.1], 2.941793062182631, 0.9438986614733147, 2.9066484667658985),
]


@pytest.mark.parametrize(("scores", "v0", "v1", "preprint"), CHECKS)
def test_check_vectors(scores: list[float], v0: float, v1: float, preprint: float) -> None:
    x = np.array([scores], dtype=float)
    assert composite("v0").predict(x)[0] == pytest.approx(v0, abs=1e-12)
    assert composite("v1").predict(x)[0] == pytest.approx(v1, abs=1e-12)
    assert composite("preprint").predict(x[:, [0, 3]])[0] == pytest.approx(preprint, abs=1e-12)


def test_the_590_published_rows(shared_data: Path) -> None:
    path = shared_data / "iu_xray_systems" / "moerad_report_scores.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("radgraph_combined", "bertscore", "semb_score", "bleu_score")
    x = np.array([[float(row[name]) for name in names] for row in rows])
    assert len(x) == 590
    for version in ("v0", "v1"):
        published = np.array([float(row[f"RadCliQ-{version}"]) for row in rows])
        assert np.abs(composite(version).predict(x) - published).max() < 1e-6


def cases(*candidates: str) -> list[dict[str, str]]:
    reference = "Small left pleural effusion. No pneumothorax."
    return [{"id": str(i), "candidate": text, "reference": reference} for i, text in enumerate(candidates)]


def test_a_copy_is_lowest_and_errors_raise_it() -> None:
    texts = ("Small left pleural effusion. No pneumothorax.", "No effusion.", "Right pneumothorax.")
    for version in ("preprint", "v0", "v1"):
        values = rg.score(cases(*texts), [f"radcliq:version={version}"])["radcliq"].headline
        assert values[0] == min(values)
        perfect = composite(version).predict(np.ones((1, len(composite(version).terms))))[0]
        assert values[0] == pytest.approx(perfect, abs=1e-5)


def test_inverse_is_one_over_the_mean_of_a_set() -> None:
    metric = RadCliQ(version="v0", inverse=True)
    scores = rg.score(cases("No effusion.", "Right pneumothorax."), [metric])["radcliq"]
    assert scores.columns == ("radcliq_v0_embedded", "radcliq_v0_inverse_of_mean_embedded")
    assert scores.directions == (False, True)
    assert np.isnan(scores.values[:, 1]).all()
    value = metric.corpus_scores(scores.rows.sum(axis=0), np.array([2.0]))
    assert value[1] == pytest.approx(1 / scores.headline.mean())


def test_the_reason_names_the_part() -> None:
    scores = rg.score(cases("xyz"), ["radcliq"])["radcliq"]
    assert scores.reasons["0", "system"] == "radgraph: no entities found in the candidate"


def test_the_published_rules_for_empty_texts() -> None:
    scores = rg.score(cases(""), ["radcliq:empty=published"])["radcliq"]
    assert scores.headline[0] > composite("v1").predict(np.zeros((1, 4)))[0]  # raw BERTScore 0 rescales below 0


def test_several_references_take_the_best() -> None:
    case = rg.Case("1", "Small pleural effusion.", ("No pneumothorax.", "Small pleural effusion."))
    scores = rg.score([case], ["radcliq"])["radcliq"]
    assert scores.headline[0] == pytest.approx(-1.4406902828, abs=1e-5)  # 32-bit sums


def test_explanation_adds_up() -> None:
    case = rg.Case("1", "Small right effusion.", ("Small left effusion.",))
    metric = RadCliQ()
    explained = metric.explain(case, reading=rg.Readings())
    shares = [note.data["share"] for note in explained.notes[1:]]
    assert sum(shares) == pytest.approx(explained.values["radcliq_v1_embedded"])
    assert len(shares) == 4


def test_own_composite(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    terms = [{"part": "rouge", "mean": 0.5, "scale": 0.25, "coefficient": -1.0}]
    path.write_text(json.dumps({"intercept": 2.0, "terms": terms}))
    scores = rg.score(cases("Small left pleural effusion. No pneumothorax."), [RadCliQ(version=str(path))])[
        "radcliq"
    ]
    assert scores.columns == ("radcliq_mine",)  # no part of it is embedded
    assert scores.headline[0] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "must be JSON"),
        ("{}", "must have an 'intercept' and 'terms'.*wrong or missing: 'terms'"),
        ('{"intercept": 0, "terms": []}', "at least one term"),
        ('{"intercept": 0, "terms": [{"part": "bleu", "mean": 0, "scale": 0, "coefficient": 1}]}', "above 0"),
        ('{"intercept": 0, "terms": [{"part": "bleu", "mean": 0, "scale": 1, "coefficient": NaN}]}', "finite"),
        (
            '{"intercept": Infinity, "terms": [{"part": "bleu", "mean": 0, "scale": 1, "coefficient": 1}]}',
            "finite",
        ),
    ],
)
def test_bad_composites(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        RadCliQ(version=str(path))


def test_unknown_version() -> None:
    with pytest.raises(UsageError, match=r"version must be one of .*got 'v2'"):
        RadCliQ(version="v2")
