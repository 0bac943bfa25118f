"""`radgauge perturb`: change reports in known ways, and see what metrics make of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import llm_options as lo
from radgauge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from radgauge.studies.perturb import Sensitivity, SensitivityStudy, Value

_METRICS_ABREAST = 4


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("perturb")(perturb_cli)


def perturb_cli(
    reports: Annotated[Path, typer.Argument(help="Reports with id and reference (or report), as for `score`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write originals and changed reports as cases (.jsonl, .csv, .parquet)."
        ),
    ] = None,
    kinds: Annotated[
        str | None, typer.Option("--kinds", help="Kinds of change, comma-separated; all by default.")
    ] = None,
    evaluate: Annotated[bool, typer.Option("--evaluate", help="Judge the changed reports with metrics.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="With --evaluate: the study as a page with figures.")
    ] = None,
    triples: Annotated[
        bool,
        typer.Option("--triples", help="Make rewrites and opposites (RaTE-Eval task 3) in place of the kinds."),
    ] = False,
    writer: Annotated[
        str,
        typer.Option("--writer", help="Who writes triples: rules, or llm (the server of RADGAUGE_LLM_URL)."),
    ] = "rules",
    metric: o.MetricNames = None,
    columns: o.Columns = None,
    section: o.Section = None,
    encoding: o.Encoding = None,
    split: o.Split = None,
    images: o.Images = None,
    images_outside: o.ImagesOutside = False,
    models: o.Models = "embedded",
    resamples: Annotated[
        int, typer.Option("--resamples", min=1, help="Bootstrap resamples for the intervals.")
    ] = 1000,
    permutations: Annotated[int, typer.Option("--permutations", min=1, help="Behind each p value.")] = 5000,
    level: o.Level = 0.95,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the changes and of all resampling.")] = 0,
    batch: lo.Batch = 20,
    parallel: lo.Parallel = 4,
    requests_per_minute: lo.RequestsPerMinute = 0,
    tokens_per_minute: lo.TokensPerMinute = 0,
    price_in: lo.PriceIn = 0.0,
    price_out: lo.PriceOut = 0.0,
    max_cost: lo.MaxCost = None,
    timeout: lo.Timeout = 120.0,
    retry_failed: lo.RetryFailed = False,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Change reports in known ways: remove findings, swap sides, turn negations, paraphrase, and more.

    Examples:

      radgauge perturb reports.csv -o perturbed.jsonl --kinds change_location,flip_negation

      radgauge perturb reports.csv --evaluate -m bleu -m ratescore --html sensitivity.html

      radgauge perturb reports.csv --triples -o triples.jsonl && radgauge triples triples.jsonl

      radgauge perturb reports.csv --triples --writer llm -o triples.jsonl --max-cost 2 --price-in 1 --price-out 4
    """
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.io.case_files import write_cases
    from radgauge.studies.perturb import evaluate as study_of
    from radgauge.studies.perturb import make_triples, perturb_reports, perturbed_cases, write_triples

    if writer not in ("rules", "llm"):
        raise UsageError(f"--writer must be rules or llm, got {writer!r}")
    if writer == "llm" and (not triples or output is None):
        raise UsageError("--writer llm makes triples in a file: add --triples and -o triples.jsonl")
    if output is None and not evaluate and not as_json:
        raise UsageError("nothing to do: name a file with -o, or add --evaluate or --json")
    if triples and (evaluate or kinds):
        raise UsageError(
            "--triples goes with neither --evaluate nor --kinds; give the file it writes to `radgauge triples`"
        )
    if html is not None and not evaluate:
        raise UsageError("--html shows what metrics make of the changes: add --evaluate")
    originals = o.read_originals(
        reports,
        columns=columns,
        section=section,
        encoding=encoding,
        split=split,
        images=images,
        images_outside=images_outside,
    )
    texts = {study: case.references[0] for study, case in originals.items()}
    out, err = console(), console(stderr=True)
    if writer == "llm" and output is not None:
        from radgauge.cli.llm_triples import write_llm_triples
        from radgauge.llm import Limits

        limits = Limits(
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            price_in=price_in,
            price_out=price_out,
            max_cost=max_cost,
            timeout=timeout,
        )
        write_llm_triples(
            texts, output, limits=limits, batch=batch, parallel=parallel, retry_failed=retry_failed, quiet=quiet
        )
        return
    if triples:
        made = make_triples(texts, seed=seed)
        if output is not None:
            write_triples(output, made)
        if as_json:
            typer.echo(
                o.to_json({"triples": [triple._asdict() for triple in made], "reports": len(texts), "seed": seed})
            )
        if not quiet:
            err.print(f"{len(made)} triples from {len(texts)} reports", soft_wrap=True)
        return
    asked = [name.strip() for name in kinds.split(",") if name.strip()] if kinds else None
    laboratory = perturb_reports(texts, asked, seed=seed)
    if output is not None:
        write_cases(output, perturbed_cases(laboratory, cases=originals))
    about = {"seed": seed, "reports": len(texts), "none_possible": laboratory.none_possible}
    if evaluate:
        study = study_of(
            laboratory,
            metric or None,
            cases=originals,
            reading=o.open_readings(no_cache=no_cache, quiet=quiet),
            models=models,
            resamples=resamples,
            permutations=permutations,
            level=level,
            seed=seed,
        )
        if html is not None:
            from radgauge.report import write_sensitivity

            how = {"seed": seed, "level": level, "resamples": resamples, "permutations": permutations}
            title = "What metrics make of known changes"
            write_sensitivity(html, study, about={"title": title, "source": reports.name, **how})
        if as_json:
            typer.echo(
                o.to_json({"metrics": list(study.metrics), "possible": study.possible, "level": level, **about})
            )
        else:
            _print_study(out, study)
    elif as_json:
        typer.echo(o.to_json({"perturbed": list(laboratory.perturbed.values()), **about}))
    if quiet:
        return
    missing = ", ".join(f"{kind} {count}" for kind, count in laboratory.none_possible.items() if count)
    err.print(f"note: {len(laboratory.perturbed)} changed reports from {len(texts)}", soft_wrap=True)
    if missing:
        err.print(f"note: none possible (reports): {missing}", soft_wrap=True)
    for written in (output, html):
        if written is not None:
            err.print(f"wrote {written}", soft_wrap=True)


def _print_study(out: Console, study: SensitivityStudy) -> None:
    # Values with intervals are wide: more metrics than fit go below, rather than being cut.
    for start in range(0, len(study.metrics), _METRICS_ABREAST):
        if start:
            out.print()
        _print_metrics(out, study, study.metrics[start : start + _METRICS_ABREAST])


def _print_metrics(out: Console, study: SensitivityStudy, metrics: Sequence[Sensitivity]) -> None:
    from radgauge.cli.render import arrow, interval, number, plain_table
    from radgauge.show.wording import p_value
    from radgauge.studies.perturb import KINDS

    def shown(value: Value) -> str:
        return f"{number(value.value)} {interval(value.low, value.high)}"

    heads = [f"{metric.column} {arrow(metric.higher_is_better)}" for metric in metrics]
    table = plain_table("mean score by kind", "", "n", *heads, right=(2,))
    for kind, count in study.possible.items():
        mark = "significant" if KINDS[kind].significant else ""
        table.add_row(kind, mark, str(count), *(shown(metric.means[kind]) for metric in metrics))
    out.print(table)
    out.print()
    table = plain_table(
        "insignificant minus significant\n(positive is right)", *(metric.column for metric in metrics)
    )
    for name in metrics[0].deltas:
        table.add_row(name, *(shown(metric.deltas[name]) for metric in metrics))
        found = [metric.deltas[name] for metric in metrics]
        table.add_row("  p, corrected over metrics", *(p_value(delta.p_holm) for delta in found))
        table.add_row(
            "  on the same report, p", *(f"{number(each.paired)} {p_value(each.paired_p_holm)}" for each in found)
        )
    table.add_section()
    table.add_row("pairs ranked right", *(shown(metric.ranked_right) for metric in metrics))
    table.add_row("pairs tied", *(number(metric.ties) for metric in metrics))
    table.add_row("pairs", *(str(metric.pairs) for metric in metrics))
    out.print(table)
