"""`radgauge score`: judge reports with metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.scale_options import Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.summary import Summaries
    from radgauge.cli.scale_options import Cluster
    from radgauge.core.cases import Case
    from radgauge.core.scores import Results
    from radgauge.io.score_folder import Manifest
    from radgauge.run.run import Ran


# `radgauge score -o FOLDER`: any number of reports, in parts (see `radgauge.run`).


def is_folder(output: Path | None) -> bool:
    """Whether `--output` names a folder: one that is there, or a name without an ending."""
    if output is None:
        return False
    from radgauge.core.storage import plain

    place = plain(output)
    return place.is_dir() or (not place.suffix and not place.exists())


def score_in_parts(
    source: o.CaseSource,
    judged: o.Judging,
    sampling: o.Intervals,
    say: o.ReadingOutput,
    cluster: Cluster,
    output: Path,
    *,
    explain: Path | None,
    longest: int,
    all_columns: bool,
    signatures: bool,
) -> None:
    """Score into a folder, then print values and intervals of the whole."""
    from radgauge.cli.result_notes import folder_notes
    from radgauge.cli.resume import keeps
    from radgauge.cli.summary import main_outputs, not_judged_notes, print_summary, truncation_notes
    from radgauge.core.storage import shown_path
    from radgauge.render.terminal import console

    keeps()
    ran = _ran(source, judged, say, cluster, output, explain=explain, longest=longest)
    lines = folder_lines(output, sampling)
    if say.as_json:
        about = {"seed": sampling.seed, "input": dict(ran.manifest.input), "parts": len(ran.manifest.parts)}
        o.print_json({"summary": lines, **about})
    else:
        out = console()
        shown = lines if all_columns else main_outputs(lines)
        print_summary(out, shown)
        if signatures:
            out.say(*dict.fromkeys(line.signature for line in lines))
        hidden = len({line.column for line in lines}) - len({line.column for line in shown})
        if hidden:
            say.notes(f"{hidden} more outputs with --all-columns")
    say.notes(*ran.manifest.input.get("warnings", ()), *not_judged_notes(lines), *truncation_notes(lines))
    say.notes(*folder_notes(ran.manifest, lines), *_interval_notes(ran.manifest, lines, sampling))
    parts = len(ran.manifest.parts)
    was = f", {parts - ran.scored} of them were there" if ran.scored < parts else ""
    say.tell(
        f"{shown_path(output)}: {ran.manifest.cases} cases in {parts} {'part' if parts == 1 else 'parts'}{was}; "
        "every id that went in came out"
    )
    if explain is not None:
        say.tell(f"wrote {explain}: why each case got its scores, a file per part")
    fail_if_nothing_was_judged(lines)


def _interval_notes(manifest: Manifest, lines: Summaries, sampling: o.Intervals) -> list[str]:
    """What a person should know of the intervals."""
    notes = []
    if sampling.interval == "yu2022":
        notes.append("yu2022 is the interval of a simulated mean, far too narrow: only to compare with that paper")
    if sampling.resamples:
        heads = {about["columns"][0] for about in manifest.judges.values()}
        notes += o.few_cases_note(min((x.judged for x in lines if x.judged and x.column in heads), default=0))
    return notes


def folder_lines(folder: Path, sampling: o.Intervals) -> Summaries:
    """Compute values and intervals of a folder of any size."""
    from radgauge.analysis.summary import summarise
    from radgauge.analysis.sums import exceeds_memory, summarise_parts
    from radgauge.core.storage import local_copy
    from radgauge.io.scores_file import read_scores

    how = sampling.record(method=sampling.interval)
    with local_copy(folder) as here:
        if exceeds_memory(here):
            return summarise_parts(here, resampling=how)
        return summarise(read_scores(here), resampling=how)


def fail_if_nothing_was_judged(lines: Summaries) -> None:
    """A metric without a single value is no result: exit code 3, with the reason."""
    from radgauge.core.errors import InputError

    for judge in dict.fromkeys(line.judge for line in lines):
        mine = [line for line in lines if line.judge == judge]
        if not any(line.judged for line in mine):
            cases = sum({line.system: line.not_judged for line in mine}.values())
            why = ", ".join(f"{reason} ({count})" for reason, count in mine[0].reasons[:3])
            raise InputError(f"{judge} judged none of the {cases} cases: {why}")


def _ran(
    source: o.CaseSource,
    judged: o.Judging,
    say: o.ReadingOutput,
    cluster: Cluster,
    output: Path,
    *,
    explain: Path | None,
    longest: int,
) -> Ran:
    from radgauge.analysis.collapse import collapse_notes
    from radgauge.core.cache import default_cache_dir
    from radgauge.core.errors import UsageError
    from radgauge.run.run import score_to_folder

    def look(cases: Sequence[Case]) -> list[str]:
        return collapse_notes(cases, reading=say.readings())

    spec = source.spec(source.reports)
    if "-" in map(str, (spec.reports, spec.references, *spec.candidates.values())):
        raise UsageError("standard input cannot be read a second time; a run into a folder needs files")
    with judged.session(say):
        judged.agreed()
        return score_to_folder(
            spec,
            output,
            metrics=judged.metric or None,
            models=judged.models,
            longest=longest,
            any_language=judged.any_language,
            parts=cluster.parts,
            engine=cluster.engine(),
            cache=None if say.no_cache else default_cache_dir(),
            look=look,
            explain=explain,
        )


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
    from radgauge.analysis.collapse import collapse_notes
    from radgauge.analysis.summary import summarise
    from radgauge.cli.summary import main_outputs, not_judged_notes, print_summary
    from radgauge.core.errors import UsageError
    from radgauge.core.files import check_folder
    from radgauge.core.storage import shown_path
    from radgauge.io.explanations import write_explanations
    from radgauge.io.scores_file import check_scores_path, write_scores
    from radgauge.render.terminal import console

    if output is not None and is_folder(output):
        if constant.baselines:
            raise UsageError(
                "--baselines needs all reports at once; write to a file, not to a folder: a sample of the reports "
                "will do"
            )
        score_in_parts(
            source,
            judged,
            sampling,
            say,
            cluster,
            output,
            explain=explain,
            longest=longest,
            all_columns=all_columns,
            signatures=signatures,
        )
        return
    if cluster.asked:
        raise UsageError("--jobs, --engine and --parts are for output to a folder: --output scores/")
    if output is not None:
        check_scores_path(output)
    if explain is not None:
        check_folder(explain)
    file = source.cases()
    judged.check_references(file)
    reading = say.readings()
    cases = constant.added(file.cases)
    results = judged.told(cases, reading, say=say, longest=longest)
    alike = collapse_notes(file.cases, reading=reading)
    about = {"seed": sampling.seed, "input": file.provenance.as_dict()}
    if accounts := results.header.get("accounts"):
        about["accounts"] = accounts
    if output is not None:
        write_scores(output, results, about=about)
    lines = summarise(results, resampling=sampling.record(method=sampling.interval))
    if explain is not None:
        write_explanations(explain, cases, results=results, reading=reading)
    if say.as_json:
        o.print_json({"summary": lines, "collapse": alike, **about})
        _fail_if_nothing_was_judged(results)
        return
    out = console()
    shown = lines if all_columns else main_outputs(lines)
    print_summary(out, shown)
    if signatures:
        out.say(*(scores.signature for scores in results.values()))
    hidden = len({line.column for line in lines}) - len({line.column for line in shown})
    if hidden:
        say.notes(f"{hidden} more outputs with --all-columns")
    say.notes(*file.provenance.warnings, *not_judged_notes(lines), *o.confidence_notes(results))
    say.notes(*alike, *o.typical_notes(results))
    if sampling.interval == "yu2022":
        say.notes("yu2022 is the interval of a simulated mean, far too narrow: only to compare with that paper")
    if sampling.resamples:
        headlines = {scores.columns[0] for scores in results.values()}
        say.notes(
            *o.few_cases_note(min((x.judged for x in lines if x.judged and x.column in headlines), default=0))
        )
    say.notes(*o.profile_note(results))
    if output is not None:
        say.tell(f"wrote {shown_path(output)}: {len(results.keys_of_cases)} cases")
    if explain is not None:
        say.tell(f"wrote {explain}: why each case got its scores")
    _fail_if_nothing_was_judged(results)


def _fail_if_nothing_was_judged(results: Results) -> None:
    """A metric without a single value is no result: exit code 3, with the reason."""
    from collections import Counter

    from radgauge.core.errors import InputError

    for scores in results.values():
        if len(scores) and len(scores.reasons) == len(scores):
            why = ", ".join(
                f"{reason} ({count})" for reason, count in Counter(scores.reasons.values()).most_common(3)
            )
            raise InputError(f"{scores.judge} judged none of the {len(scores)} cases: {why}")
