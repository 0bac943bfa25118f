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
from radgauge.cli.scale_options import Workers
from radgauge.core.files import write_file
from radgauge.lay.cli.options import EncoderName, layman

if TYPE_CHECKING:
    from radgauge.lay.build import Built
    from radgauge.lay.prompts import Unit
    from radgauge.lay.whole_reports import BuiltReports
    from radgauge.llm.prompts import Prompt

SENTENCES_OF_A_REPORT = 10
"""The setting batch counts sentences; of whole reports, this part of it goes into a request."""

Folder = Annotated[Path, typer.Argument(help="Folder that `radgauge lay build` wrote.")]


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Which words a language model is asked in."""

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


@o.command(layman, "build")
def build_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    say: o.Output,
    workers: Workers,
    out: Annotated[Path, "-o", "Folder for the sets; a stopped run goes on there."],
    translator: Annotated[
        Literal["embedded", "llm"],
        "embedded works offline, llm asks the server of RADGAUGE_LLM_URL.",
    ] = "embedded",
    checks: Annotated[
        str | None,
        "Of fidelity, llm, similarity, comma-separated; by default fidelity, and llm with an llm.",
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="Greatest cosine of two kept sentences.")
    ] = 0.8,
    theta: Annotated[
        float | None, "Threshold of the check similarity; by default calibrated for the encoder that you name."
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of refinement, at most.")] = 3,
    encoder: EncoderName = "",
    report_level: Annotated[
        bool, typer.Option("--report-level/--no-report-level", help="Also build the report-level set.")
    ] = True,
    unit: Annotated[
        Literal["sentence", "report"],
        "sentence: both sets, reports out of lay sentences; report: whole reports, as algorithm 1.",
    ] = "sentence",
    words: Prompts = Prompts(),
    split: o.Split = None,
    replace: Annotated[bool, "Replace a set of other reports in that folder."] = False,
    server: o.ReportServer = o.ReportServer(),
) -> None:
    """Build a sentence-level and a report-level lay data set from reports.

    Near-copies are left out, the rest is translated, checked and, where it fails, translated again. Every answer
    of a language model is on disk before the next is asked for: a stopped run goes on and never pays twice.

    Examples:

      radgauge lay build reports.csv --out sets

      radgauge lay build reports.csv --out sets --translator llm --llm max_cost=20

      radgauge lay build reports.csv --out whole --translator llm --unit report --prompt examples

      radgauge score reports.csv -m layman:sentences=sets/sentences.tsv
    """
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.core.errors import UsageError
    from radgauge.lay.build import build_sets
    from radgauge.lay.checks import FIDELITY, LLM, SIMILARITY, calibrate_theta
    from radgauge.lay.cli.options import encoder_called
    from radgauge.lay.refine import Refinement
    from radgauge.lay.translators import EmbeddedTranslator, LlmTranslator, Translator
    from radgauge.lay.whole_reports import BuiltReports, build_reports
    from radgauge.llm import BudgetReached

    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must be a folder, but {out} is a file")
    asks = translator == "llm"
    wanted: tuple[str, ...] = (FIDELITY, LLM) if asks else (FIDELITY,)
    if checks is not None:
        wanted = tuple(dict.fromkeys(o.names(checks) or ()))
    originals = form.originals(reports, split=split)
    texts = {study: case.references[0] for study, case in originals.items()}
    if SIMILARITY in wanted and not encoder:
        raise UsageError("the check similarity needs an encoder that you name (--encoder)")
    vectors = encoder_called(encoder or "findings")
    if SIMILARITY in wanted and theta is None:
        found = calibrate_theta(vectors)
        theta = found.theta
        say.tell(
            f"similarity above {theta:g}, calibrated: {found.right:.0%} of right and {found.wrong:.0%} of wrong "
            "lay texts of the embedded sentence set pass"
        )
    about: dict[str, object] = {"source": reports.name, "section": form.section or "whole"}
    with ExitStack() as stack:
        asked = None
        if asks or LLM in wanted:
            batch = server.settings.batch
            model, journal = stack.enter_context(open_model(out / "journal.jsonl", server.settings))
            asked = LlmTranslator(
                model,
                journal,
                vectors,
                words.of(unit),
                batch=batch if unit == "sentence" else max(1, batch // SENTENCES_OF_A_REPORT),
                parallel=server.settings.parallel,
                retry_failed=server.settings.retry_failed,
                progress=None if say.quiet else CostLine(model),
            )
        writer: Translator = asked if asks and asked is not None else EmbeddedTranslator()
        how = Refinement(writer, wanted, vectors, theta, rounds, asked)
        stopped = ""
        keeps(lambda: out.is_dir() and any(out.iterdir()))
        built: Built | BuiltReports
        try:
            if unit == "report":
                built = build_reports(
                    texts, out, how=how, about=about, replace_set=replace, progress=say.progress()
                )
            else:
                built = build_sets(
                    texts,
                    out,
                    how=how,
                    encoder=vectors,
                    threshold=threshold,
                    report_level=report_level,
                    about=about,
                    replace_set=replace,
                    progress=say.progress(),
                    engine=workers.engine(),
                )
        except BudgetReached as error:
            stopped = str(error)
        finally:
            if asked is not None:
                echo(f"note: {usage_text(model.usage)}", err=True)
            _draw(out)
        if stopped:
            echo(f"note: {stopped}; what is finished is in {out}; a larger max_cost goes on there", err=True)
            return
    if say.as_json:
        o.print_json(built)
    else:
        print_built(built)
    made, where = (
        (built.lay_reports, "reports.jsonl")
        if isinstance(built, BuiltReports)
        else (built.pairs, "sentences.jsonl")
    )
    if not made:
        echo(f"note: no lay text passed the checks; {out / where} says why for each", err=True)
    elif unit == "report":
        say.tell(f"wrote {out}; see how a report was refined: radgauge lay trace {out} ID")
    else:
        say.tell(f"wrote {out}; use it: radgauge score ... -m layman:sentences={out / 'sentences.tsv'}")


@o.command(layman, "export-check")
def export_check_cli(
    folder: Folder,
    output: Annotated[Path, "-o", "CSV file for people to fill in."] = Path("check.csv"),
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Pairs to draw.")] = 500,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
) -> None:
    """Draw pairs of a built set for people to check: fill in the column `matches` with yes or no.

    Example:

      radgauge lay export-check sets -n 500 -o check.csv
    """
    from radgauge.lay.human_check import export_check

    drawn = export_check(folder, output, count=count, seed=seed)
    echo(f"wrote {drawn} pairs to {output}: fill in the column matches with yes or no", err=True)
    echo(f"then run: radgauge lay import-check {folder} {output}", err=True)


@o.command(layman, "import-check")
def import_check_cli(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="The file of `export-check`, filled in.")],
    by: Annotated[str, "Whose verdicts these are; the file's name by default."] = "",
    level: o.Level = 0.95,
    as_json: o.AsJson = False,
) -> None:
    """Read people's verdicts: the share that they accept, and take what they reject out of the sets.

    Example:

      radgauge lay import-check sets check.csv --by anna
    """
    from radgauge.core.wording import interval
    from radgauge.lay.human_check import import_check

    found = import_check(folder, file, by=by, level=level)
    if as_json:
        o.print_json(found)
        return
    echo(
        f"{found.by}: {found.accepted} of {found.judged} pairs match, {found.share:.1%} "
        f"{interval(found.low, found.high)}; {found.blank} without a verdict"
    )
    echo(
        f"drawn from all {found.drawn_from} pairs that enter the sentence set or a lay report, "
        f"{found.copies} of them near-copies with another sentence's lay text"
    )
    echo(
        f"{found.rejected} rejected pairs are left out; the sentence set now holds {found.pairs} pairs, "
        f"{found.lay_reports} reports have a lay version",
        err=True,
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


def print_built(built: Built | BuiltReports) -> None:
    """What a run made, and how many texts each round accepted."""
    from radgauge.lay.build import Built
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

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
    out = console()
    out.show(table("", Column("", right=True), rows=[(name, f"{value:,}") for name, value in counts]))
    if isinstance(built, Built):
        out.print(
            f"{share} of the sentences are lay; reports that mix registers are marked and are no training text"
        )
    checks = ("no_answer", "copied", "language", "sides", "similarity", "fidelity", "llm")
    rounds = [
        (
            *(str(each.round), each.texts, each.accepted, each.accepted_in_all, f"{each.accepted_share:.1%}"),
            *(getattr(each, name) for name in checks),
        )
        for each in built.rounds
    ]
    heads = ("round", "texts", "accepted", "in all", Column("share", right=True))
    out.show(table(*heads, *(name.replace("_", " ") for name in checks), rows=rounds))
    for why, count in built.reasons.items():
        out.print(f"not accepted: {count} because {why}")
