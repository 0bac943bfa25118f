"""Fitting a RadCliQ: known coefficients come back, the published form is met, and every message."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from radgauge.analysis.fit_radcliq import _order_unseen, fit_radcliq, write_radcliq
from radgauge.cli import app
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.judgments import error_scores
from radgauge.metrics.bleu import Bleu
from radgauge.metrics.radcliq import RadCliQ, composite
from radgauge.metrics.radgraph import RadGraph
from radgauge.metrics.rouge import Rouge
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling

METRICS = (RadGraph(), Rouge(), Bleu(variant="cxr"))


def judged(table: np.ndarray, errors: np.ndarray, *, groups: int = 2) -> tuple[Results, Judgments]:
    """Scores and one rater's counts for cases of `groups` candidates per study."""
    keys = tuple((f"s{n // groups}", f"g{n % groups}") for n in range(len(table)))
    scores = {
        metric.name: Scores(
            *(metric.name, metric.signature(), keys, column[:, None], column[:, None]),
            *((metric.columns[0],), True),
            metric=metric,
        )
        for metric, column in zip(METRICS, table.T, strict=False)
    }
    counts = [(key, "r", 1, True, float(value)) for key, value in zip(keys, errors, strict=True)]
    cases = tuple(Case(study, "", system=group) for study, group in keys)
    return Results(scores), Judgments("study", cases, error_scores(counts, keys=keys, signature="study"))


def synthetic(noise: float = 0.0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    table = rng.normal([0.5, 0.6, 0.3], [0.3, 0.2, 0.1], size=(n, 3))
    errors = 6 - 2 * table[:, 0] - 3 * table[:, 1] + 1 * table[:, 2] + rng.normal(0, noise, n)
    return table, np.maximum(errors, 0.0)


def test_known_coefficients_come_back() -> None:
    table, errors = synthetic()
    fit = fit_radcliq(*judged(table, errors))
    found = [term.coefficient.value / term.scale for term in fit.terms]
    assert found == pytest.approx([-2, -3, 1])
    assert fit.intercept.value == pytest.approx(errors.mean())
    assert (fit.r2, fit.r2_cross_validated, fit.tau.value) == (pytest.approx(1),) * 3
    assert fit.predict(table) == pytest.approx(errors)
    assert (fit.cases, fit.studies, fit.left_out, fit.folds) == (200, 100, 0, 100)


def test_noise_widens_the_intervals_and_they_cover_the_truth() -> None:
    table, errors = synthetic(noise=0.4)
    fit = fit_radcliq(*judged(table, errors))
    truth = np.array([-2, -3, 1]) * table.std(axis=0)
    for term, value in zip(fit.terms, truth, strict=True):
        assert term.coefficient.low < value < term.coefficient.high
        assert term.coefficient.low < term.coefficient.value < term.coefficient.high
    assert 0.5 < fit.r2_cross_validated < fit.r2 < 1
    assert fit.tau_cross_validated.low < fit.tau_cross_validated.value < fit.tau_cross_validated.high


def test_equal_scores_are_not_ordered_by_the_model_that_judged_them() -> None:
    """Half of the reports are copies with equal scores and no errors: pooled, a hundred models order them."""
    table, errors = synthetic(noise=0.3)
    table[::2], errors[::2] = 1.0, 0.0
    errors = np.round(errors)
    results, judgments = judged(table, errors)
    fit = fit_radcliq(results, judgments, resampling=Resampling(resamples=20))
    assert fit.tau_cross_validated.value == pytest.approx(fit.tau.value, abs=0.02)
    assert fit.tau_cross_validated.low <= fit.tau_cross_validated.value <= fit.tau_cross_validated.high
    noisy = table + 1e-7 * np.random.default_rng(1).uniform(-1, 1, table.shape)
    again = fit_radcliq(*judged(noisy, errors), resampling=Resampling(resamples=20))
    assert again.tau_cross_validated.value == pytest.approx(fit.tau_cross_validated.value, abs=0.002)


def test_an_order_of_unseen_reports_is_by_models_without_their_studies() -> None:
    """With three studies each pair is ordered by the model of the third: checked against least squares by hand."""
    rng = np.random.default_rng(2)
    table, errors, fold = rng.normal(size=(12, 1)), rng.normal(size=12), np.arange(12) // 4
    order = _order_unseen(table, errors, fold, 0.0)
    for a, b, rest in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        slope = np.polyfit(table[fold == rest, 0], errors[fold == rest], 1)[0]
        i, j = np.flatnonzero(fold == a), np.flatnonzero(fold == b)
        assert (order[np.ix_(i, j)] == np.sign(slope * (table[i] - table[j].T))).all()


def test_equals_ordinary_least_squares_of_numpy() -> None:
    table, errors = synthetic(noise=1.0)
    fit = fit_radcliq(*judged(table, errors))
    expected = np.linalg.lstsq(np.column_stack([table, np.ones(len(table))]), errors, rcond=None)[0]
    assert [term.coefficient.value / term.scale for term in fit.terms] == pytest.approx(expected[:3])
    residual = errors - np.column_stack([table, np.ones(len(table))]) @ expected
    assert fit.r2 == pytest.approx(1 - residual.var() / errors.var())


def test_ridge_shrinks_and_leaves_the_intercept() -> None:
    table, errors = synthetic(noise=0.4)
    plain, ridge = (fit_radcliq(*judged(table, errors), ridge=penalty) for penalty in (0.0, 500.0))
    for a, b in zip(plain.terms, ridge.terms, strict=True):
        assert abs(b.coefficient.value) < abs(a.coefficient.value)
    assert ridge.intercept.value == pytest.approx(errors.mean())
    # by hand: (X'X + ridge) w = X'y for standardised X
    standard = (table - table.mean(axis=0)) / table.std(axis=0)
    expected = np.linalg.solve(standard.T @ standard + 500 * np.eye(3), standard.T @ (errors - errors.mean()))
    assert [term.coefficient.value for term in ridge.terms] == pytest.approx(expected)


def test_the_form_is_that_of_the_published_versions() -> None:
    published = composite("v0")
    rng = np.random.default_rng(1)
    drawn = rng.normal(size=(300, 4))
    standard = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    table = standard * [term.scale for term in published.terms] + [term.mean for term in published.terms]
    errors = published.predict(table)
    shift = -min(errors.min(), 0.0)  # counts cannot be negative; the intercept takes it up
    keys = tuple((f"s{n}", "g") for n in range(300))
    names = ("radgraph", "rouge", "bleu", "meteor")
    scores = {
        name: Scores(name, name, keys, column[:, None], column[:, None], (name,), True, metric=Rouge())
        for name, column in zip(names, table.T, strict=True)
    }
    counts = [(key, "r", 1, False, float(value + shift)) for key, value in zip(keys, errors, strict=True)]
    judgments = Judgments(
        "v0", tuple(Case(k[0], "", system="g") for k in keys), error_scores(counts, keys=keys, signature="v0")
    )
    fit = fit_radcliq(Results(scores), judgments, folds=5, resampling=Resampling(resamples=20))
    assert [term.mean for term in fit.terms] == pytest.approx([term.mean for term in published.terms])
    assert [term.scale for term in fit.terms] == pytest.approx([term.scale for term in published.terms])
    assert [term.coefficient.value for term in fit.terms] == pytest.approx(
        [term.coefficient for term in published.terms]
    )
    assert fit.intercept.value - shift == pytest.approx(published.intercept)
    check = np.array([[1, 1, 1, 1], [0.2, 0.4, 0.6, 0.1]])
    assert fit.predict(check) - shift == pytest.approx([-0.24213342294409346, 2.941793062182631])


def test_a_written_composite_is_a_metric(tmp_path: Path) -> None:
    table, errors = synthetic(noise=0.4)
    fit = fit_radcliq(*judged(table, errors), columns=["rouge_l", "radgraph_yu_embedded", "bleu2_cxr"])
    file = tmp_path / "mine.json"
    write_radcliq(file, fit)
    written = json.loads(file.read_text())
    assert [term["part"] for term in written["terms"]] == ["rouge", "radgraph", "bleu:variant=cxr"]
    metric = RadCliQ(version=str(file))
    assert metric.columns == ("radcliq_mine_embedded",)
    case = Case("1", "Small left effusion.", ("Small right effusion.",))
    row = metric.measure([case], reading=Readings())
    parts = metric.part_scores([case.candidate], list(case.references), reading=Readings())
    assert row[0, 0] == pytest.approx(fit.predict(parts)[0])


def test_a_composite_says_which_models_it_was_fitted_with(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    term = {"part": "radgraph", "column": "radgraph_yu", "mean": 0.5, "scale": 0.3, "coefficient": -1}
    file.write_text(json.dumps({"intercept": 1, "terms": [term]}))
    metric = RadCliQ(version=str(file))
    with pytest.raises(UsageError, match="'radgraph_yu' and models=embedded"):
        _ = metric.columns


def test_what_cannot_be_judged_is_left_out_and_counted() -> None:
    table, errors = synthetic()
    table[3, 1] = np.nan
    assert fit_radcliq(*judged(table, errors)).left_out == 1


def test_studies_and_not_reports_are_held_out() -> None:
    # two copies of every report: leaving one report out would leave its copy in
    table, errors = synthetic(noise=2.0, n=20)
    doubled = fit_radcliq(
        *judged(np.repeat(table, 2, axis=0), np.repeat(errors, 2)), resampling=Resampling(resamples=10)
    )
    single = fit_radcliq(*judged(table, errors, groups=1), resampling=Resampling(resamples=10))
    assert doubled.r2_cross_validated == pytest.approx(single.r2_cross_validated)


def test_columns_that_say_the_same_share_the_coefficient() -> None:
    table, errors = synthetic()
    table[:, 1] = table[:, 0]
    fit = fit_radcliq(*judged(table, errors))
    assert fit.terms[0].coefficient.value == pytest.approx(fit.terms[1].coefficient.value)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"ridge": -1}, UsageError, "ridge must be 0 or more, got -1"),
        ({"folds": 1}, UsageError, "folds must be from 2 to the number of studies, 100; got 1"),
        ({"target": "rating"}, UsageError, "a RadCliQ predicts errors: target must be total, significant or"),
        ({"columns": ["x"]}, UsageError, "no column 'x' in these scores; there are: bleu2_cxr"),
        ({"resampling": Resampling(resamples=0)}, UsageError, "resamples must be at least 1"),
    ],
)
def test_messages(settings: dict[str, object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        fit_radcliq(*judged(*synthetic()), **settings)  # type: ignore[arg-type]


def test_messages_about_data() -> None:
    table, errors = synthetic()
    results, judgments = judged(table, errors)
    with pytest.raises(InputError, match="study has no error counts to fit to"):
        fit_radcliq(results, Judgments("study", judgments.cases))
    with pytest.raises(InputError, match="there are no scores to fit"):
        fit_radcliq(Results({}), judgments)
    with pytest.raises(InputError, match=r"fitting 3 columns needs 5 studies or more .* 2"):
        fit_radcliq(*judged(table[:4], errors[:4]))
    flat = table.copy()
    flat[:, 1] = 0.5
    with pytest.raises(InputError, match=r"the column 'rouge_l' is 0\.5"):
        fit_radcliq(*judged(flat, errors))
    strangers = Scores("m", "m", (("x", "y"),), np.ones((1, 1)), np.ones((1, 1)), ("m",), True, metric=Rouge())
    with pytest.raises(InputError, match="share no"):
        fit_radcliq(Results({"m": strangers}), judgments)
    keys = results["rouge"].keys
    two = Scores("m", "m", keys, table[:, :2], table[:, :2], ("m_a", "m_b"), True)
    with pytest.raises(InputError, match="the metric behind 'm' is not installed"):
        fit_radcliq(Results({"m": two}), judgments, resampling=Resampling(resamples=5))
    with pytest.raises(UsageError, match=r"a composite is written as \.json"):
        write_radcliq(Path("x.txt"), fit_radcliq(results, judgments, resampling=Resampling(resamples=5)))


def test_outputs_that_are_no_headline(tmp_path: Path) -> None:
    """Any column can be a term, and the composite takes that column again."""
    texts = [
        "Small left effusion.",
        "Large right effusion. Edema.",
        "No effusion.",
        "Mild edema. No pneumothorax.",
    ]
    cases = [Case(f"s{n}", texts[n % 4], (texts[n * 7 % 5 % 4],)) for n in range(20)]
    results = score(cases, ["radgraph", "bleu:variant=cxr"])
    wanted = ["radgraph_simple_embedded", "bleu2_cxr"]
    table = np.column_stack([results["radgraph"].column(wanted[0]), results["bleu"].column(wanted[1])])
    errors = 3 - 2 * table[:, 0] - table[:, 1]
    keys = results["radgraph"].keys
    counts = [(key, "r", 1, True, float(value)) for key, value in zip(keys, errors, strict=True)]
    judgments = Judgments("study", tuple(cases), error_scores(counts, keys=keys, signature="study"))
    path = tmp_path / "mine.json"
    write_radcliq(path, fit_radcliq(results, judgments, columns=wanted, resampling=Resampling(resamples=5)))
    metric = load(str(path))
    assert metric == RadCliQ(version=str(path))
    assert score(cases, [metric])["radcliq"].headline == pytest.approx(errors)
    explained = metric.explain(cases[0], reading=Readings())
    assert explained is not None
    assert explained.notes[1].text.startswith("radgraph_simple_embedded")


def test_a_file_that_was_fitted_anew_is_read_anew(tmp_path: Path) -> None:
    path, table = tmp_path / "mine.json", synthetic()[0]
    for slope in (1.0, 2.0):
        write_radcliq(
            path, fit_radcliq(*judged(table, 10 - slope * table[:, 0]), resampling=Resampling(resamples=5))
        )
        assert composite(str(path)).terms[0].coefficient == pytest.approx(-slope * table[:, 0].std())


def test_the_command_line(shared_data: Path, tmp_path: Path) -> None:
    arguments = ["fit", "radcliq", "-j", str(shared_data / "radpref_dev" / "radpref_dev.json")]
    output = tmp_path / "mine.json"
    done = CliRunner().invoke(
        app,
        [
            *arguments,
            "-o",
            str(output),
            "-m",
            "bleu:variant=cxr",
            "-m",
            "rouge",
            "--folds",
            "5",
            "--resamples",
            "50",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "studies not seen" in done.stdout
    assert "bleu2_cxr" in done.stdout
    written = json.loads(output.read_text())
    assert written["folds"] == 5
    assert math.isfinite(written["r2_cross_validated"])
    with pytest.raises(UsageError, match="--scores are scores already"):
        CliRunner().invoke(app, [*arguments, "--scores", "s.jsonl", "-m", "bleu"], catch_exceptions=False)
