"""Learning RaTEScore's weights: split by study, seeded, resumable, and honest about what is gained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ratescore_fit_page import fit_page, weights_plot
from typer.testing import CliRunner

from radgauge.analysis.fit_ratescore import RateFit, fit_ratescore
from radgauge.cli import app
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.judgments import rating_scores
from radgauge.metrics.ratescore import RateScore
from radgauge.metrics.ratescore.weights import read_affinity
from radgauge.stats.resampling import Resampling

optuna = pytest.importorskip("optuna", reason="the extra 'fit' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")

FINDINGS = ["effusion", "edema", "pneumothorax", "rib fracture", "consolidation", "cardiomegaly"]


def judged(studies: int = 12) -> Judgments:
    """The first candidate of each study says the opposite, the second half of it, the third all of it."""
    cases, ratings = [], {}
    for number in range(studies):
        a, b = FINDINGS[number % 6], FINDINGS[(number * 5 + 1) % 6]
        texts = (f"No {a}. No {b}.", f"{a}. No {b}.", f"{a}. {b}.")
        for rating, text in enumerate(texts):
            case = Case(f"study {number}", text, (f"Mild {a}. Severe {b}.",), f"system {rating}")
            cases.append(case)
            ratings[case.key] = float(rating)
    keys = tuple(case.key for case in cases)
    return Judgments("made up", tuple(cases), {}, rating_scores({"r": ratings}, keys=keys, signature="made up"))


def fit(**settings: object) -> RateFit:
    return fit_ratescore(
        judged(), **{"trials": 12, "resampling": Resampling(resamples=50), "test_share": 0.25, **settings}
    )  # type: ignore


def test_it_learns_and_compares_on_studies_not_seen() -> None:
    found = fit(trials=60)
    assert [line.name for line in found.lines] == ["long", "short", "learned"]
    assert (found.train_cases, found.test_cases) == (27, 9)
    long, _, learned = found.lines
    assert learned.train >= long.train
    assert learned.gain == pytest.approx(0.0)
    assert long.gain == pytest.approx(learned.test - long.test)
    assert long.gain_low <= long.gain_high


def test_p_is_scipys_on_the_studies_kept_apart() -> None:
    from scipy.stats import kendalltau

    from radgauge.analysis.fit_ratescore import _held_out
    from radgauge.run.score import score

    people = judged()
    long = fit(trials=3).lines[0]
    apart = _held_out([case.id for case in people.cases], 0.25, 0, "made up")
    values = score(people.cases, RateScore(weights="long"))["ratescore"].headline[apart]
    expected = kendalltau(values, people.mean_ratings().headline[apart], method="asymptotic")
    assert (long.test, long.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


def test_the_seed_decides() -> None:
    one, same, other = fit(), fit(), fit(resampling=Resampling(resamples=50, seed=1))
    assert np.array_equal(one.affinity.weights, same.affinity.weights)
    assert one.lines == same.lines
    assert one.lines != other.lines


@pytest.mark.long
def test_a_stopped_search_goes_on(tmp_path: Path) -> None:
    storage = tmp_path / "study.sqlite"
    assert fit(storage=storage, trials=5).trials == 5
    seen = []
    again = fit(storage=storage, trials=8, progress=lambda what, done, total: seen.append((done, total)))
    assert again.trials == 8
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert (
        fit(storage=storage, trials=8, resampling=Resampling(resamples=50, seed=1)).trials == 8
    )  # another question is another study


@pytest.mark.long
def test_an_interrupted_search_keeps_what_was_tried(tmp_path: Path) -> None:
    storage = tmp_path / "study.sqlite"

    def interrupt(what: str, done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(storage=storage, trials=9, progress=interrupt)
    seen = []
    assert fit(storage=storage, trials=9, progress=lambda what, done, total: seen.append(total)).trials == 9
    assert seen == [5] * 5


def test_the_file_of_weights_gives_what_was_learned(tmp_path: Path) -> None:
    found = fit(trials=30)
    weights = tmp_path / "mine.json"
    weights.write_text(found.affinity.to_json())
    used = RateScore(weights=str(weights)).affinity
    assert used.penalty == found.affinity.penalty
    assert np.array_equal(used.weights, found.affinity.weights)
    assert RateScore(weights=str(weights), preset="2024").affinity.penalty == 0.3612


def test_what_is_no_search(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("not a data base at all")
    with pytest.raises(UsageError, match=r"notes.txt"):
        fit(storage=notes)


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match=r"objective must be one of .*got 'spearman'"):
        fit(objective="spearman")
    with pytest.raises(UsageError, match="test_share must be between 0 and 1"):
        fit(test_share=1.5)
    with pytest.raises(UsageError, match="total or significant, got 'x'"):
        fit(target="x")
    with pytest.raises(InputError, match="made up has nothing for the target 'total'"):
        fit(target="total")
    with pytest.raises(InputError, match="needs judged reports of 3"):
        fit_ratescore(judged(3), trials=1)


def test_page_and_heat_map() -> None:
    found = fit(objective="pearson")
    page = fit_page(found)
    assert page.count("<rect") == 25
    assert "gain of the learned ones" in page
    assert "neg_weight" in page
    assert weights_plot(found.affinity).file().count(f"{found.affinity.weights[1, 2]:.2f}</text>") >= 1


def test_command_line(tmp_path: Path, shared_data: Path) -> None:
    weights = tmp_path / "new folder" / "w.json"
    source = str(shared_data / "radpref_dev" / "radpref_dev.json")
    command = ["fit", "ratescore", "-j", source, "--trials", "3", "-o", str(weights)]
    done = CliRunner().invoke(app, [*command, "--resamples", "20"])
    assert done.exit_code == 0, done.output
    assert "learned" in done.stdout
    assert read_affinity(weights).weights.shape == (5, 5)
    done = CliRunner().invoke(app, [*command, "-m", "bleu"])
    assert "--metric must be ratescore with settings, got 'bleu'" in str(done.exception)
