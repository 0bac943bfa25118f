"""`radgauge compare`: is one system better than another, and could it be chance?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.show.wording import p_value as p_value
from radgauge.show.wording import signed as signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from radgauge.cases import Case
    from radgauge.reading import Readings
    from radgauge.scores import Results
    from radgauge.studies.baselines import ModelLine
    from radgauge.studies.compare import SystemComparison


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("compare")(compare_cli)


def compare_cli(
    source: Annotated[
        Path | None,
        typer.Argument(help="A scores file of `radgauge score`, or reports as `score` reads them."),
    ] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", "-b", help="Compare the others with it.")] = None,
    systems: Annotated[str | None, typer.Option("--systems", help="Only these, comma-separated.")] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Every pair of systems.")] = False,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="Every output, not only headlines.")] = False,
    test: Annotated[str, typer.Option("--test", help="'permutation' or 'bootstrap'.")] = "permutation",
    correction: Annotated[str, typer.Option("--correction", help="'holm', 'bh' or 'none'.")] = "holm",
    permutations: Annotated[int, typer.Option("--permutations", min=1)] = 10_000,
    percent: Annotated[
        bool, typer.Option("--percent", help="Also the improvement in percent of the baseline's value.")
    ] = False,
    random_baseline: Annotated[
        bool,
        typer.Option("--random-baseline", help="Compare with reports drawn at random, in percent and by rank."),
    ] = False,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Add the corpus reports that each metric likes best, as a system.")
    ] = False,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Reports to draw and choose from; else the other studies.")
    ] = None,
    corpus_split: Annotated[str | None, typer.Option("--corpus-split", help="Only this split of it.")] = None,
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
    interval: o.IntervalMethod = "auto",
    resamples: o.Resamples = 2000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare systems on the studies they share: difference, interval, paired test, effect size.

    Examples:

      radgauge compare scores.jsonl --baseline template

      radgauge compare wide.csv --candidate-columns model_a,model_b -m bleu

      radgauge compare reports.csv --random-baseline --corpus train.csv -m bleu:variant=cxr
    """
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.io.scores_file import is_scores_file, read_scores
    from radgauge.studies.compare import compare

    if random_baseline and (baseline is not None or all_pairs):
        raise UsageError("--random-baseline is the baseline; leave --baseline and --all-pairs out")
    if oracle and corpus is None:
        raise UsageError("--oracle needs --corpus: reports to choose from")
    if source is not None and source.exists() and is_scores_file(source):
        if random_baseline or oracle:
            raise UsageError(f"{source.name} holds scores; baselines and oracles need the reports themselves")
        results, _ = read_scores(source)
    else:
        case_file = o.read_case_file(
            [source] if source is not None else None,
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
        drawn_from = None
        if corpus is not None:
            from radgauge.io.case_files import read_references

            drawn_from = read_references(corpus, section=section, encoding=encoding, split=corpus_split).cases
        results = _score(
            case_file.cases, metric, drawn_from, reading, models, random_baseline, oracle=oracle, seed=seed
        )
        if random_baseline:
            from radgauge.studies.baselines import RANDOM

            baseline = RANDOM
    lines = compare(
        results,
        baseline=baseline,
        systems=[name.strip() for name in systems.split(",")] if systems else None,
        all_pairs=all_pairs,
        all_columns=all_columns,
        test=test,  # type: ignore[arg-type]
        correction=correction,  # type: ignore[arg-type]
        permutations=permutations,
        resamples=resamples or 1,
        level=level,
        method=interval,  # type: ignore[arg-type]
        percent=percent or random_baseline,
        seed=seed,
    )
    models_lines: list[ModelLine] = []
    if random_baseline:
        from radgauge.studies.baselines import model_table
        from radgauge.studies.summary import summarise

        summaries = summarise(results, level=level, resamples=resamples, method=interval, seed=seed)  # type: ignore[arg-type]
        models_lines = model_table(summaries, lines)
    if as_json:
        found = {"models": models_lines} if random_baseline else {"comparisons": lines}
        typer.echo(o.to_json({**found, "seed": seed, "correction": correction}))
        return
    if random_baseline:
        from radgauge.cli.model_table import print_models

        print_models(console(), models_lines)
    else:
        print_comparisons(console(), lines)
    if not quiet:
        err = console(stderr=True)
        tests = "paired permutation tests" if test == "permutation" else "paired bootstrap tests"
        err.print(
            f"{len(lines)} {tests}, p values corrected by {correction}; "
            "* marks p < 0.05 after correction; "
            + (
                "better by: in percent of the random baseline's value, negative = worse, whatever the direction"
                if random_baseline
                else "better/equal/worse counts studies"
            ),
            soft_wrap=True,
        )
        undefined = [line.column for line in lines if line.improvement and math.isnan(line.improvement.value)]
        for column in dict.fromkeys(undefined):
            err.print(f"note: {column}: no percentage of a baseline that is 0 or below", soft_wrap=True)
        for column in dict.fromkeys(line.column for line in lines if line.improvement):
            if column.startswith(("radcliq_v1", "radcliq_radeval")):
                err.print(
                    f"note: {column} is in standardised units with an arbitrary zero: its percentages say little; "
                    "radcliq:version=v0 and preprint count errors",
                    soft_wrap=True,
                )
        few = o.few_cases_note(min((line.result.n for line in lines), default=0)) if lines else []
        for note in (*few, *o.profile_note(results)):
            err.print(f"note: {note}", soft_wrap=True)


def _score(
    cases: Sequence[Case],
    metrics: list[str] | None,
    corpus: Sequence[Case] | None,
    reading: Readings,
    models: str,
    random_baseline: bool,
    *,
    oracle: bool,
    seed: int,
) -> Results:
    """Scores of the systems, of the baseline and of the oracle, as far as they are wanted."""
    from radgauge.scores import score

    everything = list(cases)
    if random_baseline:
        import numpy as np

        from radgauge.studies.baselines import random_retrieval

        everything += random_retrieval(cases, rng=np.random.default_rng(seed), corpus=corpus)
    if oracle and corpus is not None:
        from radgauge.studies.oracle.as_system import score_with_oracles

        return score_with_oracles(everything, metrics or None, corpus=corpus, reading=reading, models=models)
    return score(everything, metrics or None, reading=reading, models=models)


def print_comparisons(out: Console, lines: Sequence[SystemComparison]) -> None:
    """A table per pair of systems; the columns that a narrow terminal has no room for are left out."""
    from radgauge.cli.render import print_fitting

    for system, baseline in dict.fromkeys((line.system, line.baseline) for line in lines):
        chosen = [line for line in lines if (line.system, line.baseline) == (system, baseline)]
        out.print(f"{system} against {baseline}")
        print_fitting(out, comparison_table(chosen), comparison_table(chosen, short=True))
        out.print()


def comparison_table(lines: Sequence[SystemComparison], *, short: bool = False) -> Table:
    """One pair of systems, one row per output."""
    from radgauge.cli.render import arrow, interval, number, plain_table

    level = f"{100 * lines[0].result.difference.level:.3g} %"
    headers = ["metric", "", "value", "other", "difference", f"{level} interval", "p"]
    table = plain_table(
        *headers, *([] if short else ["d", "better/equal/worse", "n"]), right=(2, 3, 4, 6, 7, 8, 9)
    )
    for line in lines:
        found, effect = line.result, line.result.effect
        p = found.p_adjusted if found.p_adjusted is not None else found.p
        counts = [round(share * found.n) for share in (effect.wins, effect.ties, effect.losses)] if found.n else []
        row = [
            line.column,
            arrow(found.higher_is_better),
            number(found.value_a),
            number(found.value_b),
            signed(found.difference.value),
            interval(found.difference.low, found.difference.high),
            f"{p_value(p)}{'*' if p < 0.05 else ' '}",
        ]
        if not short:
            row += [number(effect.d_z, 2), "/".join(map(str, counts)) or "–", str(found.n)]
        table.add_row(*row)
    return table
