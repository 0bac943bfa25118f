"""`radgauge probe`: does a metric notice what it must?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.errors import UsageError
from radgauge.core.registry import DEFAULTS, specs
from radgauge.core.wording import interval, share
from radgauge.render.tables import Column, Row, table

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.io.judgments import Judgments

probe = o.subjects("probe")


@o.command(probe, "behaviour")
def behaviour_cli(judged: o.Judging, say: o.Output, output: o.Outputs = None) -> None:
    """Run metrics through invented cases whose order nobody doubts: pass rates by group.

    Examples:

      radgauge probe behaviour -m errors -m bleu
    """
    from radgauge.analysis.behaviour import behaviour

    with judged.session():
        runs = behaviour(judged.metric or None, reading=say.readings(), models=judged.confirmed())
    rates = [run.by_group() for run in runs]
    rows: list[Row | None] = []
    for group, (_, cases) in rates[0].items():
        rows.append((group, cases, *(share(rate[group][0] / cases, 0) for rate in rates)))
    every = len(runs[0].verdicts)
    rows += [None, ("all", every, *(share(run.passed / every) for run in runs))]
    heads = [Column(run.column, right=True) for run in runs]
    say.show({"behaviour": runs}, table("group", "cases", *heads, rows=rows), files=output)
    say.notes(*o.account_notes({run.judge: run.account for run in runs if run.account}))
    say.tell(*(f"warning: {run.warning}" for run in runs if run.account and run.warning))


@o.command(probe, "triples")
def triples_cli(
    judged: o.Judging,
    say: o.Output,
    path: Annotated[
        Path | None,
        typer.Argument(help="Table with original, rewrite, opposite, or RaTE-Eval; without it, the bundled set."),
    ] = None,
    output: o.Outputs = None,
) -> None:
    """Measure how often a rewording scores above the opposite (RaTE-Eval's third task).

    Examples:

      radgauge probe triples

      radgauge probe triples RaTE-Eval/ -m ratescore -m rouge --models published
    """
    from radgauge.analysis.triple_accuracy import triple_accuracy
    from radgauge.io.judgments.rate_eval import read_triples
    from radgauge.samples import sample_rewrites_path

    triples = read_triples(sample_rewrites_path() if path is None else path)
    metrics = judged.metric or list(DEFAULTS)
    with judged.session():
        lines = triple_accuracy(triples, metrics, reading=say.readings(), models=judged.confirmed(metrics))
    lines.sort(key=lambda line: -line.accuracy)
    rows = [
        (
            *(line.column, line.accuracy, interval(line.low, line.high), line.same, line.other),
            *(line.ties, line.not_judged),
        )
        for line in lines
    ]
    heads = ("metric", "accuracy", "interval", "same meaning", "other meaning", "ties", "not judged")
    say.show(lines, table(*heads, rows=rows), files=output)
    say.notes(f"{len(triples)} triples; ties and what cannot be judged count as wrong")


@o.command(probe, "rewards")
def rewards_cli(
    source: o.JudgedReports,
    say: o.Output,
    metric: Annotated[list[str] | None, "-m", "A metric to audit as a reward; or bleu,errors. Repeatable."] = None,
    system: Annotated[str | None, "Whose reports are the real ones; default: each system's in turn."] = None,
    seed: o.Seed = 0,
    output: o.Outputs = None,
) -> None:
    """Test rewards on texts that nobody wants: templates, negations, salads, orders to the judge, inventions.

    Word order and length of reports are measured on the references of the file if thirty or more differ.

    Examples:

      radgauge probe rewards reports.csv -m bleu,errors

      radgauge probe rewards scores.jsonl -m errors --system ours --json
    """
    from radgauge.analysis.rewards.audit import audit
    from radgauge.analysis.rewards.norms import MIN_REFERENCES
    from radgauge.analysis.rewards.reward import reward

    cases = source.cases().cases
    systems = list(dict.fromkeys(case.system for case in cases))
    if system is not None and system not in systems:
        raise UsageError(f"there is no system {system!r}; there are: {', '.join(systems)}")
    audited = systems if system is None else [system]
    reading = say.readings()
    names = [spec for entry in metric or ["bleu", "errors"] for spec in specs(entry)]
    references = [text for case in cases for text in case.references if text.strip()]
    norms = references if len(set(references)) >= MIN_REFERENCES else None
    rewards = [reward(name, references=norms, reading=reading, name=name) for name in names]
    audits = [audit([case for case in cases if case.system == name], rewards, seed=seed) for name in audited]
    grids = [report.grid() for report in audits]
    several = len(audited) > 1
    heads = [Column(name, right=index > 0) for index, name in enumerate(grids[0].headers)]
    rows = [
        (*([name] if several else []), *row)
        for name, grid in zip(audited, grids, strict=True)
        for row in grid.rows
    ]
    made = table(*(["system"] if several else []), *heads, rows=rows)
    lines = [line for report in audits for line in report]
    say.show({"audit": lines, "seed": seed}, made, files=output)
    say.notes(
        *dict.fromkeys(note for grid in grids for note in grid.notes),
        *(() if norms else (f"no limits from references: fewer than {MIN_REFERENCES} differ",)),
    )


@o.command(probe, "image")
def image_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    say: o.Output,
    images: o.ImageFolder = None,
    judgments: Annotated[Path | None, "-j", "Ratings of the reports, to correlate with."] = None,
    ratings: Annotated[o.RatingSettings, "How judgments are read"] = o.RatingSettings(),
    metric: Annotated[str, "-m", "VLScore with its encoder: vlscore:encoder=my-clip."] = "vlscore",
    models: o.Models = "embedded",
    deals: Annotated[int, typer.Option("--deals", min=1, help="How often images are dealt at random.")] = 20,
    sampling: o.Sampling = o.Resampling(),
    output: o.Outputs = None,
) -> None:
    """Measure what an image-aware score owes to the image: right images, images dealt at random, one mean image.

    Examples:

      radgauge probe image reports.csv --images files

      radgauge probe image reports.csv --images files -j ratings.csv -m vlscore:encoder=my-clip,calibration=c.json
    """
    from radgauge.analysis.image_ablation import ablation_table, image_ablation
    from radgauge.metrics.vlscore import VLScore

    chosen = o.chosen_metric(metric, VLScore, models=o.confirmed(models, [metric]))
    cases = form.originals(reports, images=images)
    ablation = image_ablation(
        list(cases.values()),
        chosen,
        judgments=None if judgments is None else _judged(judgments, ratings, cases, images),
        reading=say.readings(),
        deals=deals,
        resampling=sampling.at_least(1),
    )
    data = {"ablation": ablation, "image_matters": ablation.image_matters, "sentence": ablation.sentence}
    say.show(data, ablation_table(ablation), "", ablation.sentence, files=output)
    if n_left_out := ablation.left_out:
        say.notes(f"{n_left_out} of {n_left_out + ablation.studies} studies have no usable image or no words")


def _judged(path: Path, form: o.RatingSettings, cases: Mapping[str, Case], images: Path | None) -> Judgments:
    """Return judgments with the images of the reports' table, or those of the folder for studies that it lacks."""
    judgments = o.judgments_of(path, form)
    if any(case.id not in cases for case in judgments.cases) and images is not None:
        return o.judgments_of(path, form, images=images)
    placed = tuple(replace(case, images=cases[case.id].images) for case in judgments.cases if case.id in cases)
    return replace(judgments, cases=placed)
