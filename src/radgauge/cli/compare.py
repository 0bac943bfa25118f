"""`radgauge compare`: is one system better than another, and could it be chance?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.choices import Correction, TestName
from radgauge.core.wording import interval, percent_change, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.baselines import ModelLine
    from radgauge.analysis.compare import SystemComparison
    from radgauge.analysis.releases import Releases
    from radgauge.core.cases import Case
    from radgauge.core.scores import Results
    from radgauge.render.tables import Row, Table, Value
    from radgauge.render.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """Systems that take their reports from a corpus: at random, or the best for a metric."""

    random_baseline: Annotated[
        bool,
        "Compare with reports drawn at random, in percent and by rank.",
    ] = False
    oracle: Annotated[bool, "Add the highest-scoring corpus reports of each metric, as a system."] = False
    corpus: Annotated[Path | None, "Reports to draw and choose from; else the other studies."] = None
    corpus_split: Annotated[str | None, "Only this split of it, or these: train,val."] = None

    def reports(self, form: o.CaseForm) -> tuple[Case, ...] | None:
        """The corpus; None = the other studies of the input."""
        from radgauge.io.case_files import read_references

        if self.corpus is None:
            return None
        return read_references(
            self.corpus, section=form.section, encoding=form.encoding, split=self.corpus_split
        ).cases


@o.command(o.app, "compare")
def compare_cli(
    form: o.CaseForm,
    judged: o.Judging,
    constant: o.Baselines,
    retrieved: Retrieved,
    others: o.Foreign,
    say: o.ReadingOutput,
    source: Annotated[
        Path | None,
        typer.Argument(help="A scores file of `radgauge score`, or reports as `score` reads them."),
    ] = None,
    baseline: o.Baseline = None,
    systems: Annotated[str | None, "Only these, comma-separated."] = None,
    all_pairs: Annotated[bool, "Every pair of systems."] = False,
    all_columns: o.AllColumns = False,
    test: Annotated[TestName, "Which paired test."] = "permutation",
    correction: Annotated[Correction, "For many tests."] = "holm",
    permutations: o.Permutations = 10_000,
    percent: Annotated[bool, "Also the improvement in percent of the baseline's value."] = False,
    fail_if: Annotated[
        list[str] | None,
        'Exit 1 if "errors_significant > +0.05" (a difference) or "errors_recall < 0.9" (a value) holds.',
    ] = None,
    allow_missing: Annotated[
        int | None,
        typer.Option(
            "--allow-missing",
            min=0,
            help="Exit 1 if more studies lack an answer of either system; 0 with --fail-if.",
        ),
    ] = None,
    sampling: o.Intervals = o.Intervals(),
) -> None:
    """Compare systems on the studies they share: difference, interval, paired test, effect size.

    Examples:

      radgauge compare scores.jsonl --baseline template

      radgauge compare wide.csv --candidate-columns model_a,model_b -m bleu

      radgauge compare reports.csv --random-baseline --corpus train.csv -m bleu:variant=cxr

      radgauge compare new.jsonl --baseline old.jsonl --fail-if "errors_significant > +0.05"
    """
    from radgauge.analysis.answers import answers
    from radgauge.analysis.baselines import RANDOM, model_table
    from radgauge.analysis.collapse import collapse_notes
    from radgauge.analysis.compare import NEGLIGIBLE_NOTE, compare
    from radgauge.analysis.releases import Limit, broken_limits, compare_releases, unanswered_limits
    from radgauge.analysis.summary import summarise
    from radgauge.cli.copies import here_or_name, local
    from radgauge.core.errors import UsageError
    from radgauge.io.scores_file import is_scores_file, read_scores
    from radgauge.render.terminal import console

    source, baseline = local(source), here_or_name(baseline)
    limits = [Limit.parse(text) for text in fail_if or []]
    if retrieved.random_baseline and (baseline is not None or all_pairs):
        raise UsageError("--random-baseline is the baseline; leave --baseline and --all-pairs out")
    if retrieved.oracle and retrieved.corpus is None:
        raise UsageError("--oracle needs --corpus: reports to choose from")
    if source is not None and source.exists() and is_scores_file(source):
        if retrieved.random_baseline or retrieved.oracle or constant.baselines:
            raise UsageError(f"{source.name} holds scores; baselines and oracles need the reports themselves")
        results = read_scores(source)
        alike = []
    else:
        file = form.read([source] if source is not None else None)
        judged.check_references(file)
        cases = list(file.cases)
        alike = collapse_notes(cases)
        cases = list(constant.added(cases))
        drawn_from = retrieved.reports(form)
        if retrieved.random_baseline:
            cases += _random(cases, drawn_from, seed=sampling.seed)
            baseline = RANDOM
        results = _score(cases, judged, say, drawn_from if retrieved.oracle else None)
    results = others.joined(results)
    how = sampling.record(method=sampling.interval)
    older: list[str] = []
    asked = [limit.column for limit in limits]
    if (before := older_scores(baseline)) is not None:
        if all_pairs or retrieved.random_baseline or systems is not None:
            raise UsageError(
                "--baseline is a scores file: each system is compared with itself in it, nothing else"
            )
        found = compare_releases(
            results,
            before,
            correction=correction,
            permutations=permutations,
            resampling=how.at_least(1),
            all_columns=all_columns,
            columns=asked,
        )
        lines, older = found.comparisons, [*found.notes, *_flipped(found)]
        results, replies = found.scores, found.answers
    else:
        lines = compare(
            results,
            baseline=baseline,
            systems=o.names(systems),
            all_pairs=all_pairs,
            all_columns=all_columns,
            columns=asked,
            test=test,
            correction=correction,
            permutations=permutations,
            percent=percent or retrieved.random_baseline,
            resampling=how.at_least(1),
        )
        compared_systems = dict.fromkeys(name for line in lines for name in (line.baseline, line.system))
        replies = answers(results, list(compared_systems))
    broken = broken_limits(lines, limits)
    if limits or allow_missing is not None:
        broken = [
            *unanswered_limits(results, lines, limits, allowed=allow_missing or 0),
            *broken,
        ]
    models = model_table(summarise(results, resampling=how), lines) if retrieved.random_baseline else None
    if say.as_json:
        shown = ("comparisons", lines) if models is None else ("models", models)
        told: dict[str, object] = {shown[0]: shown[1], "answers": replies, "collapse": alike}
        told |= {"seed": sampling.seed, "correction": correction}
        o.print_json({**told, "broken_limits": broken} if limits or allow_missing is not None else told)
        _stop(broken)
        return
    if any(each.missing for each in replies):
        console().say(*(each.sentence() for each in replies))
    if models is None:
        print_comparisons(console(), lines)
    else:
        print_models(console(), models)
    tests = f"paired {test} test{'s' if len(lines) != 1 else ''}"
    say.tell(
        f"{len(lines)} {tests}, p values corrected by {correction} over pairs of systems, output by output; "
        "* marks p < 0.05 after correction, ≤ that no permutation was as extreme; "
        + (
            "better by: in percent of the random baseline's value, negative = worse, whatever the direction"
            if retrieved.random_baseline
            else "d: Cohen's d of the paired differences, positive = better; better/equal/worse counts studies"
        )
    )
    few = o.few_cases_note(min(line.result.n for line in lines)) if lines else []
    if how.method == "yu2022":
        say.notes("yu2022 is the interval of a simulated mean, far too narrow; differences have theirs by auto")
    if any(line.p_text.endswith("~") for line in lines):
        say.notes(NEGLIGIBLE_NOTE)
    say.notes(*older, *alike, *_percent_notes(lines), *few, *o.profile_note(results))
    _stop(broken)
    if limits or allow_missing is not None:
        checked = [*(limit.text for limit in limits), f"no more than {allow_missing or 0} studies missing"]
        say.tell(f"no limit is broken: {'; '.join(checked)}")


def older_is_there(baseline: str | None) -> bool:
    """Whether `--baseline` names scores and no system."""
    from radgauge.io.scores_file import is_scores_file

    return baseline is not None and Path(baseline).exists() and is_scores_file(Path(baseline))


def older_scores(baseline: str | None) -> Results | None:
    """The scores that `--baseline` names, if it names a file and no system."""
    from radgauge.io.scores_file import read_scores

    return read_scores(Path(baseline)) if baseline is not None and older_is_there(baseline) else None


def _flipped(found: Releases) -> list[str]:
    """How many cases changed sides, and which first."""
    if not found.column:
        return []
    told = []
    for flips, what in (
        (found.worse, "have a significant error that they had not before"),
        (found.better, "have lost their significant errors"),
    ):
        first = f", first {flips[0].key[0]} ({flips[0].key[1]})" if flips else ""
        told.append(f"{len(flips)} of {found.cases} cases {what}{first}")
    return told


def _stop(broken: Sequence[str]) -> None:
    """End with code 1 and the reasons if a limit of `--fail-if` is broken."""
    from radgauge.core.errors import BrokenLimit

    if broken:
        raise BrokenLimit("; ".join(broken))


def _random(cases: Sequence[Case], corpus: Sequence[Case] | None, *, seed: int) -> Sequence[Case]:
    import numpy as np

    from radgauge.analysis.baselines import random_retrieval

    return random_retrieval(cases, rng=np.random.default_rng(seed), corpus=corpus)


def _score(
    cases: Sequence[Case],
    judged: o.Judging,
    say: o.ReadingOutput,
    corpus: Sequence[Case] | None,
) -> Results:
    """Scores of the systems, and of the oracle if there is a corpus for it."""
    if corpus is None:
        return judged.told(cases, say.readings(), say=say)
    from radgauge.analysis.oracle.as_system import score_with_oracles

    return score_with_oracles(
        cases, judged.metric or None, corpus=corpus, reading=say.readings(), models=judged.agreed()
    )


def _percent_notes(lines: Sequence[SystemComparison]) -> list[str]:
    """Where a percentage says nothing, or little."""
    undefined = [line.column for line in lines if line.improvement and math.isnan(line.improvement.value)]
    notes = [f"{column}: no percentage of a baseline that is 0 or below" for column in dict.fromkeys(undefined)]
    for column in dict.fromkeys(line.column for line in lines if line.improvement):
        if column.startswith(("radcliq_v1", "radcliq_radeval")):
            notes.append(
                f"{column} is in standardised units with an arbitrary zero: its percentages say little; "
                "radcliq:version=v0 and preprint count errors"
            )
    return notes


def print_comparisons(out: Terminal, lines: Sequence[SystemComparison]) -> None:
    """A table per pair of systems; the columns that a narrow terminal has no room for are left out."""
    for system, baseline in dict.fromkeys((line.system, line.baseline) for line in lines):
        chosen = [line for line in lines if (line.system, line.baseline) == (system, baseline)]
        out.print(f"{system} against {baseline}")
        out.show(comparison_table(chosen), comparison_table(chosen, short=True))
        out.print()


def comparison_table(lines: Sequence[SystemComparison], *, short: bool = False) -> Table:
    """One pair of systems, one row per output."""
    from radgauge.analysis.compare import ALPHA
    from radgauge.core.wording import arrow, number
    from radgauge.render.tables import P_COLUMN, Cell, Column, table

    rows: list[Row] = []
    for line in lines:
        found, effect = line.result, line.result.effect
        shares = (effect.wins, effect.ties, effect.losses) if effect.n else ()
        counts = [round(share * effect.n) for share in shares]
        row: list[Value] = [
            *(line.column, arrow(found.higher_is_better), found.value_a, found.value_b, found.difference.value),
            interval(found.difference.low, found.difference.high),
            Cell(line.p_text, strong=found.p_shown < ALPHA and not line.negligible, value=found.p_shown),
        ]
        rows.append(row if short else [*row, number(effect.d_z, 2), "/".join(map(str, counts)) or "–", found.n])
    level = f"{100 * lines[0].result.difference.level:.3g} %"
    return table(
        *("metric", "", "value", "other", Column("difference", format=signed), f"{level} interval"),
        P_COLUMN,
        *([] if short else [Column(name, right=True) for name in ("d", "better/equal/worse", "n")]),
        rows=rows,
    )


def print_models(out: Terminal, lines: Sequence[ModelLine]) -> None:
    """Systems against a baseline, a table per output, as in Fig. 5 and supplementary tables 4 and 5 of
    Yu et al. (2023): every system's value, and by how much it is better than the baseline.
    """
    for column in dict.fromkeys(line.summary.column for line in lines):
        out.show(_model_table([line for line in lines if line.summary.column == column]))
        out.print()


def _model_table(lines: Sequence[ModelLine]) -> Table:
    from radgauge.render.tables import P_COLUMN, Column, p_cell, table

    rows = []
    for line in sorted(lines, key=lambda line: line.comparison is not None):  # the baseline first
        against, value = line.comparison, line.summary
        change, bounds, p = None, "baseline" if against is None else "", None
        if against is not None and against.improvement is not None:
            found = against.improvement
            change = found.value
            known = not (math.isnan(found.low) or math.isnan(found.high))
            bounds = f"[{percent_change(found.low)}, {percent_change(found.high)}]" if known else ""
            p = p_cell(against.result.p_shown, bound=against.result.p_is_bound)
        rows.append(
            (value.system, value.value, interval(value.low, value.high), change, bounds, p, value.judged),
        )
    first = lines[0].summary
    level = f"{100 * first.level:.3g} % interval"
    return table(
        *(Column(first.column, first.higher_is_better), "value", level),
        *(Column("better by", format=percent_change), level, P_COLUMN, "n"),
        rows=rows,
    )
