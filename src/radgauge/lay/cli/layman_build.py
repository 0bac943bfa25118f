"""`radgauge lay build`, `export-check` and `import-check`: lay data sets from reports."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.core.files import write_file
from radgauge.lay.cli.options import layman

if TYPE_CHECKING:
    from radgauge.lay.build import Built, BuiltReports
    from radgauge.lay.prompts import Unit
    from radgauge.llm.prompts import Prompt

SENTENCES_OF_A_REPORT = 10
"""The setting batch counts sentences; of whole reports, this part of it goes into a request."""

Folder = Annotated[Path, typer.Argument(help="Folder that `radgauge lay build` wrote.")]


@dataclass(frozen=True, slots=True)
class Prompts:
    """Wording of the prompts."""

    prompt: Annotated[
        Literal["plain", "examples"],
        "Instructions alone, or with examples to follow (the paper's P1 and P2, in our words).",
    ] = "plain"
    prompts: Annotated[
        Path | None, "A TOML file with prompts of your own: translate, revise, check, or some of them."
    ] = None
    examples: Annotated[
        Path | None, "A table with examples of your own: the columns professional and lay, 20 rows at most."
    ] = None

    def of(self, unit: Unit) -> dict[str, Prompt]:
        """The prompts for sentences or for reports."""
        from radgauge.lay.prompts import lay_prompts

        return lay_prompts(unit, self.prompt, own=self.prompts, examples=self.examples)


@dataclass(frozen=True, slots=True)
class RefineSettings:
    """Checks of a translation, and number of attempts."""

    checks: Annotated[
        str | None, "Of fidelity, llm, similarity, joined by +; by default fidelity, and llm with an llm."
    ] = None
    threshold: Annotated[float, "Greatest cosine of two kept sentences."] = 0.8
    theta: Annotated[
        float | None, "Threshold of the check similarity; by default calibrated for the encoder that you name."
    ] = None
    rounds: Annotated[int, "Maximum rounds of refinement."] = 3
    report_level: Annotated[bool, "Also build the report-level set."] = True
    encoder: Annotated[
        str, "findings, static, folder or id of a transformer, or settings of a decoder (.toml)."
    ] = ""


@o.command(layman, "build")
def build_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    say: o.Output,
    output: Annotated[Path, "-o", "Folder for the sets; an interrupted run resumes there."],
    translator: Annotated[
        Literal["embedded", "llm"],
        "embedded works offline, llm asks the server of RADGAUGE_LLM_URL.",
    ] = "embedded",
    refine: Annotated[RefineSettings, "Refinement"] = RefineSettings(),
    unit: Annotated[
        Literal["sentence", "report"],
        "sentence: both sets, reports output of lay sentences; report: whole reports, as algorithm 1.",
    ] = "sentence",
    words: Annotated[Prompts, "Prompts"] = Prompts(),
    replace: Annotated[bool, "Replace a set of other reports in that folder."] = False,
    llm: o.Llm = o.LlmSettings(batch=50),
    jobs: o.Jobs = None,
) -> None:
    """Build a sentence-level and a report-level lay data set from reports.

    Near-copies are left out, the rest is translated, checked and, where it fails, translated again. Every answer
    of a language model is on disk before the next is asked for: a stopped run goes on and never pays twice.

    Examples:

      radgauge lay build reports.csv -o sets

      radgauge lay build reports.csv -o sets --translator llm --llm max_cost=20

      radgauge lay build reports.csv -o whole --translator llm --unit report --words prompt=examples

      radgauge score reports.csv -m layman:sentences=sets/sentences.tsv
    """
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.core.errors import UsageError
    from radgauge.lay.build import BuiltReports, build_reports, build_sets
    from radgauge.lay.checks import FIDELITY, LLM, SIMILARITY, calibrate_theta
    from radgauge.lay.cli.options import encoder_called
    from radgauge.lay.refine import Refinement
    from radgauge.lay.translators import EmbeddedTranslator, LlmTranslator, Translator
    from radgauge.llm import BudgetReached

    if output.exists() and not output.is_dir():
        raise UsageError(f"--output must be a folder, but {output} is a file")
    asks = translator == "llm"
    check_names: tuple[str, ...] = (FIDELITY, LLM) if asks else (FIDELITY,)
    if refine.checks is not None:
        check_names = tuple(dict.fromkeys(refine.checks.replace("+", ",").split(",")))
    originals = form.originals(reports)
    texts = {study: case.references[0] for study, case in originals.items()}
    if SIMILARITY in check_names and not refine.encoder:
        raise UsageError("the check similarity needs an encoder that you name (--refine encoder=)")
    vectors = encoder_called(refine.encoder or "findings")
    theta = refine.theta
    if SIMILARITY in check_names and theta is None:
        calibration = calibrate_theta(vectors)
        theta = calibration.theta
        say.tell(
            f"similarity above {theta:g}, calibrated: {calibration.right:.0%} of right and "
            f"{calibration.wrong:.0%} of wrong lay texts of the embedded sentence set pass"
        )
    about: dict[str, object] = {"source": reports.name, "section": form.section or "whole"}
    with ExitStack() as stack:
        llm_translator = None
        if asks or LLM in check_names:
            batch = llm.batch
            model, journal = stack.enter_context(open_model(output / "journal.jsonl", llm))
            llm_translator = LlmTranslator(
                model,
                journal,
                vectors,
                words.of(unit),
                batch=batch if unit == "sentence" else max(1, batch // SENTENCES_OF_A_REPORT),
                parallel=llm.parallel,
                retry_failed=llm.retry_failed,
                progress=None if say.quiet else CostLine(model),
            )
        writer: Translator = llm_translator if asks and llm_translator is not None else EmbeddedTranslator()
        how = Refinement(writer, check_names, vectors, theta, refine.rounds, llm_translator)
        stopped = ""
        keeps(lambda: output.is_dir() and any(output.iterdir()))
        built: Built | BuiltReports
        try:
            if unit == "report":
                built = build_reports(
                    texts, output, how=how, about=about, replace_set=replace, progress=say.progress()
                )
            else:
                built = build_sets(
                    texts,
                    output,
                    how=how,
                    encoder=vectors,
                    threshold=refine.threshold,
                    report_level=refine.report_level,
                    about=about,
                    replace_set=replace,
                    progress=say.progress(),
                    engine=o.engine(jobs),
                )
        except BudgetReached as error:
            stopped = str(error)
        finally:
            if llm_translator is not None:
                echo(f"note: {usage_text(model.usage)}", err=True)
            _draw(output)
        if stopped:
            echo(f"note: {stopped}; what is finished is in {output}; a larger max_cost goes on there", err=True)
            return
    say.show(built, *_built_blocks(built))
    made, where = (
        (built.lay_reports, "reports.jsonl")
        if isinstance(built, BuiltReports)
        else (built.pairs, "sentences.jsonl")
    )
    if not made:
        echo(f"note: no lay text passed the checks; {output / where} says why for each", err=True)
    elif unit == "report":
        say.tell(f"wrote {output}; see how a report was refined: radgauge lay trace {output} ID")
    else:
        say.tell(f"wrote {output}; use it: radgauge score ... -m layman:sentences={output / 'sentences.tsv'}")


@o.command(layman, "export-check")
def export_check_cli(
    folder: Folder,
    output: Annotated[Path, "-o", "CSV file for people to fill in."] = Path("check.csv"),
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Pairs to draw.")] = 500,
) -> None:
    """Draw pairs of a built set for people to check: fill in the column `matches` with yes or no.

    Example:

      radgauge lay export-check sets -n 500 -o check.csv
    """
    from radgauge.lay.human_check import export_check

    drawn = export_check(folder, output, count=count)
    echo(f"wrote {drawn} pairs to {output}: fill in the column matches with yes or no", err=True)
    echo(f"then run: radgauge lay import-check {folder} {output}", err=True)


@o.command(layman, "import-check")
def import_check_cli(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="The file of `export-check`, filled in.")],
    by: Annotated[str, "Whose verdicts these are; the file's name by default."] = "",
    say: o.Output = o.Output(),
) -> None:
    """Read people's verdicts: the share that they accept, and take what they reject out of the sets.

    Example:

      radgauge lay import-check sets check.csv --by anna
    """
    from radgauge.core.wording import interval
    from radgauge.lay.human_check import import_check

    checked = import_check(folder, file, by=by)
    text = (
        f"{checked.by}: {checked.accepted} of {checked.judged} pairs match, {checked.share:.1%} "
        f"{interval(checked.low, checked.high)}; {checked.blank} without a verdict"
    )
    drawn = (
        f"drawn from all {checked.drawn_from} pairs that enter the sentence set or a lay report, "
        f"{checked.copies} of them near-copies with another sentence's lay text"
    )
    say.show(checked, text, drawn)
    say.tell(
        f"{checked.rejected} rejected pairs are left out; the sentence set now holds {checked.pairs} pairs, "
        f"{checked.lay_reports} reports have a lay version"
    )


def _draw(folder: Path) -> None:
    """The acceptance curve of rounds.csv as a picture (the paper's figure 3)."""
    import csv

    from radgauge.lay.gathering import ROUNDS
    from radgauge.render.curves import share_curves

    path = folder / ROUNDS
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    series = [
        (name, [float(row[column]) for row in rows])
        for name, column in (("accepted so far", "accepted_share"), ("sent back", "changed_share"))
    ]
    plot = share_curves(
        [float(row["round"]) for row in rows],
        series,
        key="rounds",
        title="Lay sentences accepted by round",
        x_label="round",
        y_label="share of the kept sentences",
    )
    write_file(path.with_suffix(".svg"), plot.file())


def _built_blocks(built: Built | BuiltReports) -> list[o.Block]:
    """Summarize a run, with the texts accepted per round."""
    from radgauge.lay.build import Built
    from radgauge.render.tables import Column, table

    counts = [("reports", built.reports)]
    if isinstance(built, Built):
        counts += [
            ("sentences", built.sentences),
            ("distinct", built.distinct),
            ("kept", built.kept),
            ("pairs in the sentence set", built.pairs),
            ("rejected by people", built.rejected),
            ("near-copies with the kept one's text", built.reused),
            ("near-copies translated too", built.translated_too),
        ]
    else:
        counts.append(("distinct", built.distinct))
    counts.append(("reports with a lay version", built.lay_reports))
    if isinstance(built, Built):
        share = f"{built.translated / built.said:.1%}" if built.said else "none"
        counts += [("sentences of the reports", built.said), ("of these with a lay text", built.translated)]
    blocks: list[o.Block] = [
        table("", Column("", right=True), rows=[(name, f"{value:,}") for name, value in counts])
    ]
    if isinstance(built, Built):
        blocks.append(
            f"{share} of the sentences are lay; reports that mix registers are marked and are no training text"
        )
    checks = ("no_answer", "copied", "language", "sides", "similarity", "fidelity", "llm")
    rounds = [
        (
            *(
                str(stats.round),
                stats.texts,
                stats.accepted,
                stats.accepted_in_all,
                f"{stats.accepted_share:.1%}",
            ),
            *(getattr(stats, name) for name in checks),
        )
        for stats in built.rounds
    ]
    heads = ("round", "texts", "accepted", "in all", Column("share", right=True))
    by_round = table(*heads, *(name.replace("_", " ") for name in checks), rows=rounds)
    reasons = (f"not accepted: {count} because {why}" for why, count in built.reasons.items())
    return [*blocks, by_round, *reasons]
