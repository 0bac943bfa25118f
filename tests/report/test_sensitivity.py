"""The sensitivity study as a page: every kind and metric, the study's numbers, nothing from elsewhere."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from radgauge import Case, register_encoder
from radgauge.analysis.perturb import SensitivityStudy, evaluate, perturb_reports
from radgauge.render.tables import to_csv
from radgauge.report.sensitivity import sensitivity_page, write_sensitivity
from radgauge.stats.resampling import Resampling

ABOUT = {"title": "Study", "source": "a<b>.csv", "seed": 0, "level": 0.95, "resamples": 50, "permutations": 99}


@pytest.fixture(scope="module")
def study() -> SensitivityStudy:
    texts = {
        str(i): f"There is a small {side} pleural effusion. The heart is normal. No pneumothorax."
        for i, side in enumerate(["left", "right"] * 5)
    }
    return evaluate(
        perturb_reports(texts), ["rouge", "errors"], resampling=Resampling(resamples=50), permutations=99
    )


def test_the_tables_hold_the_study_s_numbers(study: SensitivityStudy) -> None:
    page = sensitivity_page(study, about=ABOUT)
    rows = list(csv.DictReader(io.StringIO(to_csv(page.tables["deltas"]))))
    rouge = next(metric for metric in study.metrics if metric.judge == "rouge")
    mine = next(row for row in rows if (row["change"], row["metric"]) == ("severity", rouge.column))
    assert float(mine["delta"]) == pytest.approx(rouge.deltas["severity"].value)
    assert float(mine["p_holm"]) == rouge.deltas["severity"].p_holm
    assert {row["change"] for row in rows} == {
        name for name, delta in rouge.deltas.items() if not np.isnan(delta.value)
    }
    means = list(csv.DictReader(io.StringIO(to_csv(page.tables["means"]))))
    assert [row["kind"] for row in means] == list(study.possible)
    assert float(means[0][rouge.column]) == pytest.approx(rouge.means[means[0]["kind"]].value)


def test_a_figure_has_a_mark_for_every_kind_that_was_made(study: SensitivityStudy) -> None:
    page = sensitivity_page(study, about=ABOUT)
    assert list(page.figures) == [metric.column for metric in study.metrics]
    for metric in study.metrics:
        drawn = page.figures[metric.column].file()
        for kind, value in metric.means.items():
            assert (f">{kind} ({value.n})<" in drawn) is bool(value.n)


def test_sensitivity_stands_beside_robustness(study: SensitivityStudy) -> None:
    [rouge, errors] = csv.DictReader(io.StringIO(to_csv(sensitivity_page(study, about=ABOUT).tables["balance"])))
    assert float(errors["robustness"]) == float(errors["bullets"]) == 1 > float(rouge["robustness"])
    assert float(errors["sensitivity"]) == study.metrics[1].sensitivity.value > 0


def test_other_metrics_against_vlscore_on_normal_reports(tmp_path: Path) -> None:
    image = tmp_path / "drawn.png"
    pytest.importorskip("PIL.Image").fromarray(np.tile(np.arange(0, 240, 2, dtype=np.uint8), (100, 1))).save(image)
    register_encoder(
        "letters",
        version="1",
        constant=500.0,
        images=lambda pictures: [[0.0, 0.0] for _ in pictures],
        texts=lambda reports: [[float(text.count("e")), float(len(text))] for text in reports],
    )
    texts = {"1": "The heart is normal. The lungs are clear.", "2": "No effusion. The heart is normal."}
    cases = {study: Case(study, "", (text,), images=(image,)) for study, text in texts.items()}
    made = perturb_reports(texts, ["normal_report", "reorder"])
    how = Resampling(resamples=20)
    found = evaluate(made, ["rouge", "vlscore:encoder=letters"], cases=cases, resampling=how, permutations=9)
    [plot] = sensitivity_page(found, about=ABOUT).against
    assert plot.file().count(" dot") == 2
    without = evaluate(made, ["rouge"], cases=cases, resampling=how, permutations=9)
    assert sensitivity_page(without, about=ABOUT).against == ()


def test_the_page_is_one_file_and_says_what_is_missing(study: SensitivityStudy, tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    size = write_sensitivity(path, study, about=ABOUT)
    text = path.read_text(encoding="utf-8")
    assert size == len(text.encode())
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "<script" not in text
    assert "a&lt;b&gt;.csv" in text
    assert "Not measured: pathology removal (no report allows remove_insignificant)" in text
    for metric in study.metrics:
        assert metric.signature.replace("&", "&amp;") in text
