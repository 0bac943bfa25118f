"""`radgauge score`: judge reports with metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from radgauge.analysis.collapse import collapse_notes
from radgauge.analysis.summary import Summaries, summarise
from radgauge.analysis.tables import (
    headline_outputs,
    main_outputs,
    not_judged_notes,
    summary_rows,
    summary_tables,
    truncation_notes,
)
from radgauge.cli import options as o
from radgauge.cli.result_notes import Judges, result_notes
from radgauge.cli.resume import keeps
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import check_folder
from radgauge.core.storage import local_copy, plain, shown_path
from radgauge.io.explanations import write_explanations
from radgauge.io.scores_file import check_scores_path, read_scores, write_scores

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.run.run import Ran


@o.command(o.app, "score")
def score_cli(
    source: o.CaseSource,
    judged: o.Judging,
    say: o.Output,
    baselines: Annotated[bool, "Add a constant normal template and the most frequent report."] = False,
    output: Annotated[
        list[Path] | None,
        "-o",
        "Write a value per case and metric to this .jsonl, .parquet, .csv or .xlsx; a name without ending is a "
        "folder of parts, for runs of any size, which resume. Repeatable.",
    ] = None,
    explain: Annotated[
        Path | None, "Write why each case got its scores to this .jsonl; for scores in a folder, to this folder."
    ] = None,
    sampling: o.Sampling = o.Resampling(),
    jobs: o.Jobs = None,
    cluster: Annotated[o.ClusterSettings, "Large runs"] = o.ClusterSettings(),
    every: o.AllColumns = False,
) -> None:
    """Judge reports with metrics: values and intervals.

    Examples:

      radgauge score reports.csv -o scores.jsonl

      radgauge score reports.csv -m bleu -m rouge --explain why.jsonl

      radgauge score wide.csv --candidate-columns model_a,model_b

      radgauge score --references truth.csv --candidates model_a.csv --candidates model_b.csv

      radgauge score million.parquet -o scores/ --jobs 8
    """
    folders = [path for path in output or () if _is_folder(path)]
    if folders:
        if baselines:
            raise UsageError(
                "--baselines needs all reports at once; write to a file, not to a folder: a sample of the reports "
                "will do"
            )
        if len(output or ()) > 1:
            raise UsageError("scores in a folder are written alone: give one -o")
        _score_in_parts(
            source, judged, say, folders[0], sampling, engine=o.engine(jobs, cluster), parts=cluster.parts,
            explain=explain, every=every,
        )  # fmt: skip
        return
    if jobs is not None or cluster != o.ClusterSettings():
        raise UsageError("--jobs and --cluster are for output to a folder: --output scores/")
    for path in output or ():
        check_scores_path(path)
    if explain is not None:
        check_folder(explain)
    file = source.cases()
    judged.check_references(file)
    reading = say.readings()
    cases = o.with_baselines(file.cases, added=baselines)
    results = judged.scores(cases, reading, say=say, settings=source.input)
    alike = collapse_notes(file.cases, reading=reading)
    about: dict[str, Any] = {"seed": sampling.seed, "input": file.provenance.as_dict()}
    if accounts := results.header.get("accounts"):
        about["accounts"] = accounts
    for path in output or ():
        write_scores(path, results, about=about)
    if explain is not None:
        write_explanations(explain, cases, results=results, reading=reading)
    lines = summarise(results, resampling=sampling)
    _show(lines, say, data={"summary": lines, "collapse": alike, **about}, every=every)
    judges = [(scores.columns, scores.signature) for scores in results.judges.values()]
    say.notes(*file.provenance.warnings, *not_judged_notes(lines), *alike)
    say.notes(*_interval_notes(lines, judges, sampling), *result_notes(judges, lines))
    say.tell(*(f"wrote {shown_path(path)}: {len(results.keys_of_cases)} cases" for path in output or ()))
    if explain is not None:
        say.tell(f"wrote {explain}: why each case got its scores")
    _fail_if_nothing_was_judged(lines)


def _show(lines: Summaries, say: o.Output, *, data: object, every: bool) -> None:
    """Show headlines of several systems, the main outputs of one, or everything with the settings behind it."""
    several = len({line.system for line in lines}) > 1
    shown = lines if every else headline_outputs(lines) if several else main_outputs(lines)
    if every:
        say.show(data, summary_rows(lines), *dict.fromkeys(line.signature for line in lines))
        return
    say.show(data, summary_tables(shown))
    hidden = len({line.column for line in lines}) - len({line.column for line in shown})
    if hidden or several:
        say.notes(f"--all shows {hidden} more outputs, every interval and the settings behind each value")


def _is_folder(output: Path) -> bool:
    """True if an output is a folder: one that is there, or a name without an ending."""
    path = plain(output)
    return path.is_dir() or (not path.suffix and not path.exists())


def _interval_notes(lines: Summaries, judges: Judges, sampling: o.Resampling) -> list[str]:
    notes = []
    if sampling.method == "yu2022":
        notes.append("yu2022 is the interval of a simulated mean, far too narrow: only to compare with that paper")
    if sampling.resamples:
        headlines = {columns[0] for columns, _ in judges}
        counts = [line.judged for line in lines if line.judged and line.column in headlines]
        notes += o.few_cases_note(min(counts, default=0))
    return notes


def _fail_if_nothing_was_judged(lines: Summaries) -> None:
    """Refuse a metric without a single value, with the reason."""
    for judge in dict.fromkeys(line.judge for line in lines):
        own = {line.system: line for line in lines if line.judge == judge}
        if not any(line.judged for line in lines if line.judge == judge):
            reasons: Counter[str] = Counter()
            for line in own.values():
                reasons.update(dict(line.reasons))
            cases = sum(line.not_judged for line in own.values())
            why = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
            raise InputError(f"{judge} judged none of the {cases} cases: {why}")


# `radgauge score -o FOLDER`: any number of reports, in parts (see `radgauge.run`).


def _score_in_parts(
    source: o.CaseSource,
    judged: o.Judging,
    say: o.Output,
    output: Path,
    sampling: o.Resampling,
    *,
    engine: Any,
    parts: int,
    explain: Path | None,
    every: bool,
) -> None:
    """Score into a folder, then show values and intervals of all parts."""
    keeps()
    ran = _ran(source, judged, say, output, engine=engine, parts=parts, explain=explain)
    lines = folder_lines(output, sampling)
    manifest = ran.manifest
    about = {"seed": sampling.seed, "input": dict(manifest.input), "parts": len(manifest.parts)}
    _show(lines, say, data={"summary": lines, **about}, every=every)
    say.notes(*manifest.input.get("warnings", ()), *not_judged_notes(lines), *truncation_notes(lines))
    judges = [(judge["columns"], str(judge["signature"])) for judge in manifest.judges.values()]
    say.notes(*_interval_notes(lines, judges, sampling), *result_notes(judges, lines))
    n_parts = len(manifest.parts)
    was = f", {n_parts - ran.scored} of them were there" if ran.scored < n_parts else ""
    say.tell(
        f"{shown_path(output)}: {manifest.cases} cases in {n_parts} {'part' if n_parts == 1 else 'parts'}{was}; "
        "every id that went in came out"
    )
    if explain is not None:
        say.tell(f"wrote {explain}: why each case got its scores, a file per part")
    _fail_if_nothing_was_judged(lines)


def folder_lines(folder: Path, sampling: o.Resampling) -> Summaries:
    """Compute values and intervals of a folder of any size."""
    from radgauge.analysis.sums import exceeds_memory, summarise_parts

    with local_copy(folder) as here:
        if exceeds_memory(here):
            return summarise_parts(here, resampling=sampling)
        return summarise(read_scores(here), resampling=sampling)


def _ran(
    source: o.CaseSource,
    judged: o.Judging,
    say: o.Output,
    output: Path,
    *,
    engine: Any,
    parts: int,
    explain: Path | None,
) -> Ran:
    from radgauge.core.cache import default_cache_dir
    from radgauge.run.run import score_to_folder

    def look(cases: Sequence[Case]) -> list[str]:
        return collapse_notes(cases, reading=say.readings())

    spec = source.spec()
    if "-" in map(str, (spec.reports, spec.references, *spec.candidates.values())):
        raise UsageError("standard input cannot be read a second time; a run into a folder needs files")
    with judged.session():
        judged.confirmed()
        return score_to_folder(
            spec,
            output,
            metrics=judged.metric or None,
            models=judged.models,
            longest=source.input.longest,
            any_language=source.input.any_language,
            parts=parts,
            engine=engine,
            cache=None if o.program().no_cache else default_cache_dir(),
            look=look,
            explain=explain,
        )
