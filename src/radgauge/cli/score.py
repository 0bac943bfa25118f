"""`radgauge score`: judge reports with metrics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.cli.scale_options import Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.summary import Summaries
    from radgauge.io.case_files.spec import InputSpec


@dataclass(frozen=True)
class _Scored:
    """What both kinds of output have in common: values by system, and what to know beside them."""

    lines: Summaries
    judges: list[tuple[Sequence[str], str]]  # columns and signature of each judge
    about: dict[str, Any]  # of the input, for machines
    warnings: Sequence[str]  # of the input
    collapse: Sequence[str] = ()
    done: str = ""


def is_folder(output: Path | None) -> bool:
    """True if `--output` names a folder: one that is there, or a name without an ending."""
    if output is None:
        return False
    from radgauge.core.storage import plain

    path = plain(output)
    return path.is_dir() or (not path.suffix and not path.exists())


def _to_folder(
    spec: InputSpec,
    judged: o.Judging,
    sampling: o.Intervals,
    say: o.ReadingOutput,
    cluster: Cluster,
    output: Path,
    *,
    explain: Path | None,
    longest: int,
) -> _Scored:
    """Score in parts (see `radgauge.run`)."""
    from radgauge.analysis.collapse import collapse_notes
    from radgauge.analysis.summary import summarise
    from radgauge.analysis.sums import exceeds_memory, summarise_parts
    from radgauge.cli.resume import keeps
    from radgauge.cli.summary import truncation_notes
    from radgauge.core.cache import default_cache_dir
    from radgauge.core.errors import UsageError
    from radgauge.core.storage import local_copy, shown_path
    from radgauge.io.scores_file import read_scores
    from radgauge.run.run import score_to_folder

    keeps()
    if "-" in map(str, (spec.reports, spec.references, *spec.candidates.values())):
        raise UsageError("standard input cannot be read a second time; a run into a folder needs files")
    with judged.session(say):
        judged.agreed()
        ran = score_to_folder(
            spec,
            output,
            metrics=judged.metric or None,
            models=judged.models,
            longest=longest,
            any_language=judged.any_language,
            parts=cluster.parts,
            engine=cluster.engine(),
            cache=None if say.no_cache else default_cache_dir(),
            look=lambda cases: collapse_notes(cases, reading=say.readings()),
            explain=explain,
        )
    how = sampling.record(method=sampling.interval)
    with local_copy(output) as here:
        lines = (
            summarise_parts(here, resampling=how)
            if exceeds_memory(here)
            else summarise(read_scores(here), resampling=how)
        )
    manifest = ran.manifest
    parts = len(manifest.parts)
    was = f", {parts - ran.scored} of them were there" if ran.scored < parts else ""
    return _Scored(
        lines,
        [(about["columns"], str(about["signature"])) for about in manifest.judges.values()],
        {"input": dict(manifest.input), "parts": parts},
        [*manifest.input.get("warnings", ()), *truncation_notes(lines)],
        done=f"{shown_path(output)}: {manifest.cases} cases in {parts} {'part' if parts == 1 else 'parts'}{was}; "
        "every id that went in came out",
    )


def _to_file(
    source: o.CaseSource,
    judged: o.Judging,
    constant: o.Baselines,
    sampling: o.Intervals,
    say: o.ReadingOutput,
    output: Path | None,
    *,
    explain: Path | None,
    longest: int,
) -> _Scored:
    """Score into a file, or for the screen alone."""
    from radgauge.analysis.collapse import collapse_notes
    from radgauge.analysis.summary import summarise
    from radgauge.core.files import check_folder
    from radgauge.core.storage import shown_path
    from radgauge.io.explanations import write_explanations
    from radgauge.io.scores_file import check_scores_path, write_scores

    if output is not None:
        check_scores_path(output)
    if explain is not None:
        check_folder(explain)
    file = source.cases()
    judged.check_references(file)
    reading = say.readings()
    cases = constant.added(file.cases)
    results = judged.told(cases, reading, say=say, longest=longest)
    about = {"input": file.provenance.as_dict()}
    if accounts := results.header.get("accounts"):
        about["accounts"] = accounts
    if output is not None:
        write_scores(output, results, about={"seed": sampling.seed, **about})
    if explain is not None:
        write_explanations(explain, cases, results=results, reading=reading)
    return _Scored(
        summarise(results, resampling=sampling.record(method=sampling.interval)),
        [(scores.columns, scores.signature) for scores in results.values()],
        about,
        file.provenance.warnings,
        collapse_notes(file.cases, reading=reading),
        "" if output is None else f"wrote {shown_path(output)}: {len(results.keys_of_cases)} cases",
    )


def _fail_if_nothing_was_judged(lines: Summaries) -> None:
    """A metric without a single value is no result: exit code 3, with the reason."""
    from radgauge.core.errors import InputError

    for judge in dict.fromkeys(line.judge for line in lines):
        own = [line for line in lines if line.judge == judge]
        if not any(line.judged for line in own):
            cases = sum({line.system: line.not_judged for line in own}.values())
            why = ", ".join(f"{reason} ({count})" for reason, count in own[0].reasons[:3])
            raise InputError(f"{judge} judged none of the {cases} cases: {why}")


@o.command(o.app, "score")
def score_cli(
    source: o.CaseSource,
    judged: o.Judging,
    constant: o.Baselines,
    sampling: o.Intervals,
    say: o.ReadingOutput,
    cluster: Cluster,
    output: Annotated[
        Path | None,
        "-o",
        (
            "Write a value per case and metric to this .jsonl, .parquet, .csv or .xlsx; a name without ending is "
            "a folder of parts, for runs of any size, which go on where they were stopped."
        ),
    ] = None,
    explain: Annotated[
        Path | None,
        "Write why each case got its scores to this .jsonl; for scores in a folder, to this folder.",
    ] = None,
    longest: Annotated[
        int,
        typer.Option(
            "--longest", min=1, help="Characters of the longest text that is judged; longer: not judged."
        ),
    ] = o.LONGEST,
    signatures: Annotated[bool, "Show the settings behind each value."] = False,
    all_columns: Annotated[bool, "Show every output of a metric."] = False,
) -> None:
    """Judge reports with metrics: values, intervals, and how many cases could not be judged.

    Examples:

      radgauge score reports.csv

      radgauge score reports.csv -m bleu -m rouge --output scores.jsonl

      radgauge score reports.csv -m ratescore --explain why.jsonl

      radgauge score wide.csv --candidate-columns model_a,model_b

      radgauge score --references truth.csv --candidates model_a.csv --candidates model_b.csv

      radgauge score million.parquet --output scores/ --jobs 8
    """
    from radgauge.cli.result_notes import result_notes
    from radgauge.cli.summary import main_outputs, not_judged_notes, print_summary
    from radgauge.core.errors import UsageError
    from radgauge.render.terminal import console

    if output is not None and is_folder(output):
        if constant.baselines:
            raise UsageError(
                "--baselines needs all reports at once; write to a file, not to a folder: a sample of the reports "
                "will do"
            )
        spec = source.spec(source.reports)
        scored = _to_folder(spec, judged, sampling, say, cluster, output, explain=explain, longest=longest)
    elif cluster.asked:
        raise UsageError("--jobs, --engine and --parts are for output to a folder: --output scores/")
    else:
        scored = _to_file(source, judged, constant, sampling, say, output, explain=explain, longest=longest)
    lines = scored.lines
    if say.as_json:
        o.print_json({"summary": lines, "collapse": scored.collapse, "seed": sampling.seed, **scored.about})
    else:
        out = console()
        shown = lines if all_columns else main_outputs(lines)
        print_summary(out, shown)
        if signatures:
            out.say(*(signature for _, signature in scored.judges))
        hidden = len({line.column for line in lines}) - len({line.column for line in shown})
        if hidden:
            say.notes(f"{hidden} more outputs with --all-columns")
    say.notes(*scored.warnings, *not_judged_notes(lines), *scored.collapse)
    if sampling.interval == "yu2022":
        say.notes("yu2022 is the interval of a simulated mean, far too narrow: only to compare with that paper")
    if sampling.resamples:
        heads = {columns[0] for columns, _ in scored.judges}
        judged_cases = [line.judged for line in lines if line.judged and line.column in heads]
        say.notes(*o.few_cases_note(min(judged_cases, default=0)))
    say.notes(*result_notes(scored.judges, lines))
    say.tell(*filter(None, [scored.done]))
    if explain is not None:
        say.tell(f"wrote {explain}: why each case got its scores")
    _fail_if_nothing_was_judged(lines)
