"""`radgauge fit`: learn the weights of metrics from judgments of people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.core.files import make_folder, write_file
from radgauge.core.wording import interval, p_value

if TYPE_CHECKING:
    from radgauge.analysis.fit_radcliq import RadcliqFit

Target = Annotated[str | None, typer.Option("--target", "-t", help="rating, total or significant errors.")]

fit = o.subjects("fit")


@dataclass(frozen=True, slots=True)
class RadcliqSettings:
    """Settings for fitting a composite."""

    ridge: Annotated[float, "Penalty on squared coefficients; 0 = none."] = 0.0
    folds: Annotated[int | None, "Parts for cross-validation; without it, leave one study out."] = None


@dataclass(frozen=True, slots=True)
class ErrorsFit:
    """Settings for fitting weights of findings and errors."""

    start: Annotated[str, "Weights to stay near: default, prior, or a JSON file."] = "default"
    strength: Annotated[float, "Pull towards the start; large = no learning."] = 0.2
    folds: Annotated[int | None, "Parts for cross-validation; without it, leave one study out."] = None


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of the search for weights of RaTEScore."""

    objective: Annotated[Literal["pearson", "kendall_b"], "The coefficient to raise."] = "kendall_b"
    trials: Annotated[int, "Matrices tried in all."] = 500
    test_share: Annotated[float, "Share of studies held out."] = 0.2
    study: Annotated[Path | None, "SQLite file of the search; the same command resumes it."] = None


@o.command(fit, "errors")
def fit_errors_cli(
    judgments: o.JudgmentFile,
    say: o.Output,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the weights.")] = Path(
        "errors_weights.json"
    ),
    target: Target = None,
    settings: Annotated[ErrorsFit, "The fit"] = ErrorsFit(),
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    llm: o.Llm = o.LlmSettings(),
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="Whose findings: errors, or llm_errors with settings.")
    ] = "errors",
) -> None:
    """Learn how much findings and errors count, and say how well that holds on studies not seen.

    Example:

      radgauge fit errors radpref.json -o mine.json

      radgauge score reports.csv -m errors:weights=mine.json
    """
    from radgauge.analysis.fit_errors import fit_errors
    from radgauge.core.errors import UsageError
    from radgauge.core.registry import load
    from radgauge.findings.weights import load_weights
    from radgauge.metrics.errors import Errors
    from radgauge.metrics.llm_errors import LlmErrors
    from radgauge.render.tables import Column, table

    judge = load(metric)
    if not isinstance(judge, Errors | LlmErrors):
        raise UsageError(f"--metric must be errors or llm_errors, with settings, got {metric!r}")
    reading = say.readings()
    with o.judge_session(llm):
        learned = fit_errors(
            o.judgments_of(judgments, ratings),
            target=target,
            start=load_weights(settings.start),
            strength=settings.strength,
            folds=settings.folds,
            metric=judge,
            reading=reading,
        )
        account = judge.account(reading=reading)
    write_file(output, learned.weights.as_json())
    rows = [
        ("starting weights", learned.start, learned.start_p),
        ("learned, studies not seen", learned.cross_validated, learned.cross_validated_p),
        ("learned, same reports (flattering)", learned.fitted, learned.fitted_p),
    ]
    heads = ("agreement with the mean rater", f"tau-b, {learned.target}", Column("p", format=p_value))
    say.show(learned, table(*heads, rows=rows))
    say.notes(f"{learned.cases} reports of {learned.studies} studies; weights written to {output}")
    say.notes(f"use them with -m {metric}{',' if ':' in metric else ':'}weights={output}")
    say.notes(*o.account_notes({judge.name: account} if account else {}))


@o.command(fit, "radcliq")
def fit_radcliq_cli(
    judgments: o.JudgmentFile,
    judged: o.Judging,
    say: o.Output,
    scores: Annotated[Path | None, "A scores file of the judged reports; without it they are scored now."] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the composite.")] = Path(
        "radcliq.json"
    ),
    columns: Annotated[
        str | None, typer.Option("--columns", help="Outputs to combine, comma-separated; else every headline.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="total, significant or an error category.")
    ] = "total",
    settings: Annotated[RadcliqSettings, "The fit"] = RadcliqSettings(),
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """Learn a RadCliQ of your own, and say how well it holds on studies not seen.

    Example:

      radgauge fit radcliq rexval-dataset/ -m radgraph -m bleu:variant=cxr -o mine.json

      radgauge score reports.csv -m mine.json
    """
    from dataclasses import replace

    from radgauge.analysis.fit_radcliq import check_radcliq_path, fit_radcliq, write_radcliq
    from radgauge.core.errors import UsageError
    from radgauge.io.scores_file import read_scores

    if scores is not None and judged.metric:
        raise UsageError("--scores are scores already; choose among them with --columns instead of --metric")
    check_radcliq_path(output)
    judged_cases = o.judgments_of(judgments, ratings)
    if scores is not None:
        results = read_scores(scores)
    else:
        parts = judged.metric or ["radgraph", "bertscore", "chexbert_similarity", "bleu:variant=cxr"]
        results = replace(judged, metric=parts).scores(judged_cases.cases, say.readings(), say=say)
    fitted = fit_radcliq(
        results,
        judged_cases,
        columns=o.names(columns),
        target=target,
        ridge=settings.ridge,
        folds=settings.folds,
        resampling=sampling.at_least(1),
    )
    write_radcliq(output, fitted)
    say.show(fitted, *_radcliq_tables(fitted))
    left = f"; {fitted.left_out} judged reports lack a score or a count" if fitted.left_out else ""
    say.notes(f"{fitted.cases} reports of {fitted.studies} studies{left}")
    say.notes(f"written to {output}; use it with -m {output}", *o.profile_note(results))


def _radcliq_tables(fitted: RadcliqFit) -> list[o.Block]:
    """Return coefficients with intervals, then how well the model holds."""
    from radgauge.render.tables import Column, table

    level = f"{100 * fitted.intercept.level:.3g} % interval"
    terms = [
        (
            *(term.column, term.coefficient.value, interval(term.coefficient.low, term.coefficient.high)),
            *(term.mean, term.scale),
        )
        for term in fitted.terms
    ]
    bounds = interval(fitted.intercept.low, fitted.intercept.high)
    rows = [*terms, ("intercept", fitted.intercept.value, bounds, None, None)]
    terms_table = table(f"errors ({fitted.target})", "coefficient", level, "mean", "deviation", rows=rows)
    ways = (
        ("studies not seen", fitted.r2_cross_validated, fitted.tau_cross_validated, None),
        ("same reports (flattering)", fitted.r2, fitted.tau, fitted.tau_p),
    )
    heads = ("agreement with the mean rater", "R²", "tau-b", level, Column("p", format=p_value))
    fits = [(name, r2, tau.value, interval(tau.low, tau.high), p) for name, r2, tau, p in ways]
    return [terms_table, "", table(*heads, rows=fits)]


@o.command(fit, "ratescore")
def fit_ratescore_cli(
    judgments: o.JudgmentFile,
    say: o.Output,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the weights.")] = Path(
        "ratescore_weights.json"
    ),
    target: Target = None,
    settings: Annotated[SearchSettings, "The search"] = SearchSettings(),
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="Settings to learn for: ratescore:penalty=paper.")
    ] = "ratescore",
    models: o.Models = "embedded",
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """Learn type weights and penalty by TPE, and say what they gain on studies not seen.

    Example:

      radgauge fit ratescore radpref.json -o mine.json --settings study=search.sqlite

      radgauge score reports.csv -m ratescore:weights=mine.json
    """
    from radgauge.analysis.fit_ratescore import fit_ratescore
    from radgauge.metrics.ratescore import RateScore
    from radgauge.render.tables import Column, table

    chosen = o.chosen_metric(metric, RateScore, models=o.confirmed(models, [metric]))
    make_folder(output.parent)  # before the search, not behind it
    keeps(lambda: settings.study is not None and settings.study.exists())
    fitted = fit_ratescore(
        o.judgments_of(judgments, ratings),
        metric=chosen,
        target=target,
        objective=settings.objective,
        trials=settings.trials,
        test_share=settings.test_share,
        storage=settings.study,
        resampling=sampling.at_least(1),
        reading=say.readings(),
        progress=say.progress(),
    )
    write_file(output, fitted.affinity.to_json() + "\n")
    data = {"fit": fitted.lines, "trials": fitted.trials, "weights": str(output), "seed": sampling.seed}
    rows = [
        (
            *(line.name, line.train, line.test, interval(line.low, line.high), line.p),
            *((None, "") if line.name == "learned" else (line.gain, interval(line.gain_low, line.gain_high))),
        )
        for line in fitted.lines
    ]
    heads = ("weights", "searched on", "kept apart", "interval", Column("p", format=p_value), "gain", "interval")
    say.show(data, table(*heads, rows=rows))
    counts = f"{fitted.train_cases} reports searched on, {fitted.test_cases} kept apart, {fitted.trials} trials"
    say.notes(f"{fitted.objective} with the mean rater's {fitted.target}; {counts}")
    say.notes(f"use them with -m ratescore:weights={output}")


@o.command(fit, "vlscore")
def fit_vlscore_cli(
    source: o.JudgedReports,
    say: o.Output,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the constant.")] = Path(
        "vlscore_calibration.json"
    ),
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="Encoder and views to learn for: vlscore:encoder=FOLDER.")
    ] = "vlscore",
    models: o.Models = "embedded",
) -> None:
    """Learn the triangle area that scores 0: the largest on a set of images, candidates and references.

    Take candidates of every quality; the paper used ReXVal.

    Example:

      radgauge fit vlscore reports.csv --images files -m vlscore:encoder=my-clip -o mine.json

      radgauge score reports.csv --images files -m vlscore:encoder=my-clip,calibration=mine.json
    """
    from radgauge.analysis.fit_vlscore import fit_vlscore
    from radgauge.metrics.vlscore import VLScore
    from radgauge.render.tables import Column, table

    chosen = o.chosen_metric(metric, VLScore, models=o.confirmed(models, [metric]))
    file = source.cases()
    fitted = fit_vlscore(file.cases, metric=chosen, reading=say.readings())
    write_file(output, fitted.as_json())
    rows = [(f"{100 * float(below):g} %", area) for below, area in fitted.quantiles.items()]
    heads = Column("share of triplets below", right=True), Column("area", format=lambda area: f"{area:.4g}")
    largest = [
        (f"all ({fitted.triplets[views]} triplets, views {views}): C", area)
        for views, area in fitted.constants.items()
    ]
    say.show(fitted, table(*heads, rows=[*rows, *largest]))
    say.notes(*file.provenance.warnings)
    if fitted.left_out:
        say.notes(f"{fitted.left_out} cases could not be judged and are left out")
    say.notes(f"{sum(fitted.triplets.values())} triplets of {fitted.encoder}, views={fitted.views}")
    say.notes(f"use it with -m {metric}{',' if ':' in metric else ':'}calibration={output}")
