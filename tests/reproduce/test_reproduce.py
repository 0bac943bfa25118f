"""Every script of reproduce/ runs on an invented file of the right form and prints what the library computes."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_ind

import radgauge as rg

FOLDER = Path(__file__).parents[2] / "reproduce"
SCRIPTS = {
    "rexval_alignment": ("rexval", 12),
    "rexval_per_radiologist": ("rexval", 48),
    "rexval_errors": ("rexval", 56),
    "rexval_failure_modes": ("rexval", 48),
    "ratescore_table3": ("rexval", 5),
    "vlscore_table1": ("rexval", 9),
    "comet_table3": ("rexval", 14),
    "comet_table4": ("radevalx", 22),
    "prior_models": ("generators", 10),
}


def lines(script: str, place: Path) -> dict[str, tuple[float, float, str]]:
    common = importlib.import_module("side_by_side")
    made = importlib.import_module(script).make(common.Settings(place, resamples=10))
    return {line.name: (line.published, line.ours, line.note) for line in made}


def test_every_script_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*SCRIPTS, "side_by_side"}
    readme = (FOLDER / "README.md").read_text()
    assert all(f"reproduce/{name}.py" in readme for name in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs_and_explains_every_gap(script: str, request: pytest.FixtureRequest) -> None:
    place, count = SCRIPTS[script]
    found = lines(script, request.getfixturevalue(place))
    assert len(found) == count
    for name, (published, ours, note) in found.items():
        assert not math.isnan(published) or not math.isnan(ours), name
        assert not math.isnan(ours) or note, f"{name}: no number and no reason"


def test_a_coefficient_is_that_of_scipy(rexval: Path) -> None:
    judgments = rg.read_judgments(rexval)
    scores = rg.score(judgments.cases, ["bleu:variant=cxr"])["bleu"]
    rater = judgments.errors["3"].column("errors_significant")
    expected = kendalltau(scores.headline, -rater, nan_policy="omit").statistic
    found = lines("rexval_per_radiologist", rexval)["BLEU, significant errors, radiologist 4"]
    assert found[1] == pytest.approx(expected)
    assert found[0] == 0.433


def test_means_and_p_values_are_those_of_the_counts(rexval: Path) -> None:
    judgments = rg.read_judgments(rexval)
    own = {
        group: np.concatenate([r.of_system(group).column("errors_location") for r in judgments.errors.values()])
        for group in ("bleu", "s_emb")
    }
    means = lines("rexval_errors", rexval)
    assert means["BLEU oracle, all errors, error 3"][1] == pytest.approx(own["bleu"].mean())
    modes = lines("rexval_failure_modes", rexval)
    expected = ttest_ind(own["bleu"], own["s_emb"], alternative="less").pvalue
    assert modes["3(c) locations: BLEU < CheXbert"][1] == pytest.approx(expected)


def test_the_published_cocor_values_come_out(rexval: Path) -> None:
    found = lines("comet_table3", rexval)
    for name, (published, ours, _) in found.items():
        if "with r between" in name:
            assert ours == pytest.approx(published, abs=5e-5)


def test_every_metric_of_the_generators_is_its_headline(generators: Path) -> None:
    found = lines("prior_models", generators)
    cases = rg.read_cases(generators, candidate_columns=["random", "r2gen"]).cases
    specs = ("bleu:variant=cxr", "bertscore", "chexbert_similarity", "radgraph", "radcliq:version=preprint")
    names = ("BLEU", "BERTScore", "CheXbert", "RadGraph F1", "RadCliQ (predicted errors)")
    for name, spec in zip(names, specs, strict=True):
        (scores,) = rg.score(cases, [spec]).values()
        own = scores.of_system("r2gen")
        expected = own.metric.corpus_score(own.rows) if own.metric else math.nan
        assert found[f"r2gen, {name}"][1] == pytest.approx(expected), name


def test_table_3_tests_the_estimator_against_the_preprints_radcliq(rexval: Path) -> None:
    from scipy.stats import spearmanr

    judgments = rg.read_judgments(rexval)
    results = rg.score(judgments.cases, ["radcliq:version=preprint", "comet"])
    here = [place for place, case in enumerate(judgments.cases) if case.system == "s_emb"]
    errors = judgments.mean_errors().column("errors_total")[here]
    found = lines("comet_table3", rexval)
    for name, judge in (("RadCliQ", "radcliq"), ("embedded", "comet")):
        expected = spearmanr(results[judge].oriented(results[judge].columns[0])[here], -errors).statistic
        assert found[f"s_emb oracle, human and {name}"][1] == pytest.approx(expected), name


def test_table_4_names_estimators_as_the_paper_does(radevalx: Path) -> None:
    common = importlib.import_module("side_by_side")
    settings = common.Settings(radevalx, resamples=10, estimators={"Match XLM-R RadCliQ": "embedded"})
    made = {line.name: line for line in importlib.import_module("comet_table4").make(settings)}
    own = made["noisy reports, Match XLM-R RadCliQ, total errors"]
    assert own.published == 0.3448
    assert not math.isnan(own.ours)
    assert made["noisy reports, Top Clinic RadCliQ, total errors"].note == "no such --estimator was given"
    plain = lines("comet_table4", radevalx)
    assert plain["noisy reports, embedded, total errors"][1] == own.ours


def test_noisy_reports_are_fewer(radevalx: Path) -> None:
    found = lines("comet_table4", radevalx)
    name = "reports, BLEU, total errors"
    assert found[f"all {name}"][1] != found[f"noisy {name}"][1]


def test_the_command_line(rexval: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", str(FOLDER / "rexval_errors.py"), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(FOLDER.parent / "src")},
        )

    done = run(str(rexval), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["published"] == 0.807
    done = run(str(rexval))
    assert "supplementary table 2" in done.stdout
    done = run(str(tmp_path))
    assert done.returncode == 1
    assert "50_samples_gt_and_candidates.csv" in done.stderr
