"""`radgauge score`: judge reports with metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.scale_options import Cluster

if TYPE_CHECKING:
    from radgauge.core.scores import Results


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
    from radgauge.cli.score_parts import is_folder, score_in_parts
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
