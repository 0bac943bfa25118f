"""`radgauge layman`: plain language: write it, score reports through it, test metrics with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import layman_build
from radgauge.cli import options as o
from radgauge.cli.layman_agree import agree_cli
from radgauge.cli.layman_readability import readability_cli
from radgauge.cli.layman_training import training_cli
from radgauge.show.wording import visible


def register(app: typer.Typer) -> None:
    """Add the verb with its subjects."""
    layman = typer.Typer(
        help="Plain language: write it, score reports through it, test metrics with it.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    layman.command("write")(write_cli)
    layman.command("score")(score_cli)
    layman.command("robustness")(robustness_cli)
    layman.command("agree")(agree_cli)
    layman.command("training")(training_cli)
    layman.command("readability")(readability_cli)
    layman_build.register(layman)
    app.add_typer(layman, name="layman")


def write_cli(
    report: Annotated[
        Path | None, typer.Argument(help="A text file with one report; '-' or nothing reads standard input.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Also say what the plain text loses, adds or changes, to stderr.")
    ] = False,
) -> None:
    """Write a report in plain language, offline.

    Examples:

      radgauge layman write report.txt

      echo "No pneumothorax." | radgauge layman write --check
    """
    from radgauge.cases import Case
    from radgauge.errors import InputError
    from radgauge.metrics.lay_fidelity import LayFidelity
    from radgauge.plain_language.writer import plain_language
    from radgauge.reading import Readings

    if report is None or str(report) == "-":
        text = sys.stdin.read()
    else:
        try:
            text = report.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{report} is not UTF-8 text ({error.reason} at byte {error.start}); convert it first"
            ) from None
    lay = plain_language(text)
    typer.echo(visible(lay))
    if not check:
        return
    explained = LayFidelity().explain(Case("report", lay, (text,)), reading=Readings())
    if explained is None or not explained.notes:
        typer.echo("nothing that can be checked was read", err=True)
        return
    typer.echo(f"lay_fidelity {explained.values['lay_fidelity']:.3f}", err=True)
    for note in explained.notes:
        if note.kind != "matched":
            typer.echo(visible(note.text), err=True)


def score_cli(
    reports: o.Reports = None,
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    sentences: Annotated[
        str, typer.Option("--sentences", help="A sentence set of your own: two tab-separated columns.")
    ] = "",
    encoder: Annotated[
        str, typer.Option("--encoder", help="findings, static, or folder or id of a transformer.")
    ] = "findings",
    threshold: Annotated[float, typer.Option("--threshold", help="Cosine from which two sentences agree.")] = 0.8,
    outside: Annotated[
        str,
        typer.Option("--outside", help="Sentences unlike any of the set: write, nearest (as published), auto."),
    ] = "auto",
    meteor: Annotated[
        bool | None,
        typer.Option("--meteor/--no-meteor", help="METEOR too; by default if Java and the extra are there."),
    ] = None,
    readability: Annotated[
        bool, typer.Option("--readability", help="Also how easy the reports are to read, before and after.")
    ] = False,
    resamples: o.Resamples = 1000,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Score reports through lay replacement: semantics, and BLEU, ROUGE and METEOR before and after.

    Example:

      radgauge layman score reports.csv
    """
    from dataclasses import replace

    from radgauge.cli.layman_output import lay_metric, print_table
    from radgauge.cli.render import console, not_judged_notes, print_summary
    from radgauge.errors import ModelError
    from radgauge.plain_language.studies import compare_ease
    from radgauge.report.lay_tables import ease_table
    from radgauge.scores import score
    from radgauge.studies.summary import summarise

    case_file = o.read_case_file(
        reports,
        references=references,
        candidates=candidates,
        candidate_columns=candidate_columns,
        columns=columns,
        section=section,
    )
    missing = "" if meteor is False else _why_no_meteor()
    if meteor and missing:
        raise ModelError(missing)
    metric = lay_metric(
        encoder,
        sentences=sentences,
        threshold=threshold,
        outside=outside,
        meteor=meteor is not False and not missing,
    )
    reading = o.open_readings(no_cache=False, quiet=quiet)
    results = score(case_file.cases, [metric], reading=reading)
    lines = summarise(results, resamples=resamples, seed=seed)
    ease = None
    if readability:
        lay_text = metric.replaced(case_file.cases, reading=reading).lay_text
        lay = [replace(case, candidate=lay_text(case.candidate)) for case in case_file.cases]
        before = {case.key: case.candidate for case in case_file.cases}
        ease = compare_ease(lay, before, reading=reading, resamples=max(resamples, 1), seed=seed)
    if as_json:
        found = {"summary": lines, **({"readability": ease.lines} if ease else {})}
        typer.echo(o.to_json({**found, "seed": seed, "input": case_file.provenance.as_dict()}))
        return
    out = console()
    print_summary(out, lines)
    if ease is not None:
        print_table(out, ease_table(ease))
    if not quiet:
        err = console(stderr=True)
        notes = [*case_file.provenance.warnings, *not_judged_notes(lines), *o.profile_note(results)]
        if missing:
            notes.append(f"METEOR is left out: {missing} (--no-meteor silences this)")
        for note in notes:
            err.print(f"note: {note}", soft_wrap=True)


def _why_no_meteor() -> str:
    """What METEOR lacks on this machine; "" if it can run."""
    from radgauge.errors import MissingExtra, ModelError
    from radgauge.metrics._meteor_java import command

    try:
        command()
    except (MissingExtra, ModelError) as error:
        return str(error)
    return ""


def robustness_cli(
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metrics beside lay semantics; bleu and rouge if none."),
    ] = None,
    models: o.Models = "embedded",
    unseen: Annotated[
        bool, typer.Option("--unseen", help="The smaller test beds that nothing was adjusted to.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Metrics on raw and lay text: same meaning in other words, other meaning in similar words (table 2).

    Example:

      radgauge layman robustness
    """
    from radgauge.cli.render import console, plain_table
    from radgauge.plain_language.robustness import robustness

    found = robustness(metric or ("bleu", "rouge"), models=models, unseen=unseen)
    if as_json:
        typer.echo(o.to_json({"ranking": found.ranking, "rows": [row._asdict() for row in found.rows]}))
        return
    table = plain_table("", "same raw", "same lay", "other raw", "other lay", right=(1, 2, 3, 4))
    for row in found.rows:
        table.add_row(row.name, *(f"{value:.3f}" for value in row[1:]))
    out = console()
    out.print(table)
    out.print(f"{found.same} pairs of the same meaning in other words, {found.other} of another in similar words")
    for name, share in found.ranking.items():
        out.print(f"{name}: same above other in {share:.1%}")
