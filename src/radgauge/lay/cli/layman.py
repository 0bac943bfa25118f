"""`radgauge layman`: plain language: write it, score reports through it, test metrics with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.lay.cli import layman_build as layman_build  # adds its subjects
from radgauge.lay.cli import layman_grid as layman_grid
from radgauge.lay.cli import layman_leaflets as layman_leaflets
from radgauge.lay.cli import layman_sets as layman_sets
from radgauge.lay.cli.layman_studies import LayText, OtherMetrics, layman, print_captioned, why_no_meteor


@o.command(layman, "score")
def score_cli(
    source: o.CaseSource,
    sampling: o.Sampling,
    say: o.ReadingOutput,
    lay: LayText,
    threshold: Annotated[float, "Cosine from which two sentences agree."] = 0.8,
    outside: Annotated[
        Literal["auto", "write", "nearest"],
        "Sentences unlike any of the set: written, or the nearest, as published.",
    ] = "auto",
    meteor: Annotated[
        bool | None,
        typer.Option("--meteor/--no-meteor", help="METEOR too; by default if Java and the extra are there."),
    ] = None,
    readability: Annotated[bool, "Also how easy the reports are to read, before and after."] = False,
) -> None:
    """Score reports through lay replacement: semantics, and BLEU, ROUGE and METEOR before and after.

    Example:

      radgauge layman score reports.csv
    """
    from dataclasses import replace

    from radgauge.analysis.summary import summarise
    from radgauge.cli.summary import not_judged_notes, print_summary
    from radgauge.core.errors import ModelError
    from radgauge.lay.report.tables import ease_table
    from radgauge.lay.studies import compare_ease
    from radgauge.render.terminal import console
    from radgauge.run.score import score

    file = source.cases()
    missing = "" if meteor is False else why_no_meteor()
    if meteor and missing:
        raise ModelError(missing)
    metric = lay.metric(threshold=threshold, outside=outside, meteor=meteor is not False and not missing)
    reading = say.readings()
    results = score(file.cases, [metric], reading=reading)
    lines = summarise(results, resampling=sampling.record())
    ease = None
    if readability:
        lay_text = metric.replaced(file.cases, reading=reading).lay_text
        replaced = [replace(case, candidate=lay_text(case.candidate)) for case in file.cases]
        before = {case.key: case.candidate for case in file.cases}
        ease = compare_ease(replaced, before, reading=reading, resampling=sampling.record(least=1))
    if say.as_json:
        found = {"summary": lines, **({"readability": ease.lines} if ease else {})}
        o.print_json({**found, "seed": sampling.seed, "input": file.provenance.as_dict()})
        return
    out = console()
    print_summary(out, lines)
    if ease is not None:
        print_captioned(out, ease_table(ease))
    say.notes(*file.provenance.warnings, *not_judged_notes(lines), *o.profile_note(results))
    if missing:
        say.notes(f"METEOR is left out: {missing} (--no-meteor silences this)")


@o.command(layman, "robustness")
def robustness_cli(
    form: o.CaseForm,
    lay: LayText,
    metric: OtherMetrics = None,
    models: o.Models = "embedded",
    yes: o.Yes = False,
    unseen: Annotated[bool, "The smaller test beds that nothing was adjusted to."] = False,
    same: Annotated[Path | None, "Pairs of your own that mean the same: id, reference, candidate."] = None,
    other: Annotated[Path | None, "Pairs of your own that mean something else in similar words."] = None,
    as_json: o.AsJson = False,
) -> None:
    """Metrics on raw and lay text: same meaning in other words, other meaning in similar words (table 2).

    Example:

      radgauge layman robustness

      radgauge layman robustness --same same.csv --other other.csv --encoder grit.toml
    """
    from radgauge.lay.robustness import robustness
    from radgauge.render.tables import table
    from radgauge.render.terminal import console

    judges = metric or ["bleu", "rouge"]
    found = robustness(
        judges,
        models=o.agreed(models, judges, yes=yes),
        unseen=unseen,
        same=form.read([same]).cases if same is not None else None,
        other=form.read([other]).cases if other is not None else None,
        layman=lay.metric(),
    )
    if as_json:
        o.print_json({"ranking": found.ranking, "rows": [row._asdict() for row in found.rows]})
        return
    out = console()
    out.show(table("", "same raw", "same lay", "other raw", "other lay", rows=found.rows))
    out.print(f"{found.same} pairs of the same meaning in other words, {found.other} of another in similar words")
    for name, above in found.ranking.items():
        out.print(f"{name}: same above other in {above:.1%}")
