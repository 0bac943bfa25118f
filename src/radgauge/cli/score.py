"""`radgauge score`: judge reports with metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("score")(score_cli)


def score_cli(
    reports: o.Reports = None,
    metric: o.MetricNames = None,
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    encoding: o.Encoding = None,
    missing: o.Missing = "error",
    split: o.Split = None,
    images: o.Images = None,
    images_outside: o.ImagesOutside = False,
    models: o.Models = "embedded",
    longest: o.Longest = o.LONGEST,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a value per case and metric to this .jsonl or .parquet."),
    ] = None,
    explain: Annotated[
        Path | None,
        typer.Option("--explain", help="Write why each case got its scores to this .jsonl."),
    ] = None,
    interval: o.IntervalMethod = "auto",
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    signatures: Annotated[bool, typer.Option("--signatures", help="Show the settings behind each value.")] = False,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="Show every output of a metric.")] = False,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Judge reports with metrics: values, intervals, and how many cases could not be judged.

    Examples:

      radgauge score reports.csv

      radgauge score reports.csv -m bleu -m rouge --output scores.jsonl

      radgauge score reports.csv -m ratescore --explain why.jsonl

      radgauge score wide.csv --candidate-columns model_a,model_b

      radgauge score --references truth.csv --candidates model_a.csv --candidates model_b.csv
    """
    from radgauge.cli.render import console, main_outputs, not_judged_notes, print_summary
    from radgauge.io.explanations import write_explanations
    from radgauge.io.scores_file import check_scores_path, write_scores
    from radgauge.scores import score
    from radgauge.studies.summary import summarise

    if output is not None:
        check_scores_path(output)
    case_file = o.read_case_file(
        reports,
        references=references,
        candidates=candidates,
        candidate_columns=candidate_columns,
        columns=columns,
        section=section,
        encoding=encoding,
        missing=missing,
        split=split,
        images=images,
        images_outside=images_outside,
    )
    reading = o.open_readings(no_cache=no_cache, quiet=quiet)
    results = score(case_file.cases, metric or None, reading=reading, models=models, longest=longest)
    about = {"seed": seed, "input": case_file.provenance.as_dict()}
    if output is not None:
        write_scores(output, results, about=about)
    lines = summarise(
        results,
        level=level,
        resamples=resamples,
        method=interval,  # type: ignore[arg-type]  # checked there
        seed=seed,
    )
    if explain is not None:
        write_explanations(explain, case_file.cases, results=results, reading=reading)
    if as_json:
        typer.echo(o.to_json({"summary": lines, **about}))
        return
    out, err = console(), console(stderr=True)
    shown = lines if all_columns else main_outputs(lines)
    print_summary(out, shown)
    if signatures:
        for scores in results.values():
            out.print(scores.signature, soft_wrap=True)
    if quiet:
        return
    hidden = len({line.column for line in lines}) - len({line.column for line in shown})
    if hidden:
        err.print(f"note: {hidden} more outputs with --all-columns", soft_wrap=True)
    headlines = {scores.columns[0] for scores in results.values()}
    fewest = min((line.judged for line in lines if line.judged and line.column in headlines), default=0)
    notes = (
        *case_file.provenance.warnings,
        *not_judged_notes(lines),
        *o.confidence_notes(results),
        *o.typical_notes(results),
        *(o.few_cases_note(fewest) if resamples else ()),
    )
    for note in (*notes, *o.profile_note(results)):
        err.print(f"note: {note}", soft_wrap=True)
    if output is not None:
        err.print(f"wrote {output}: {len(results.keys_of_cases)} cases", soft_wrap=True)
    if explain is not None:
        err.print(f"wrote {explain}: why each case got its scores", soft_wrap=True)
