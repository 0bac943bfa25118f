"""`radgauge layman build`, `export-check` and `import-check`: lay data sets from reports."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import llm_options as lo
from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.files import write_file

if TYPE_CHECKING:
    from radgauge.models.text.encoders import Encoder
    from radgauge.plain_language.build import Built

Folder = Annotated[Path, typer.Argument(help="Folder that `radgauge layman build` wrote.")]


def register(layman: typer.Typer) -> None:
    """Add the subjects to `radgauge layman`."""
    layman.command("build")(build_cli)
    layman.command("export-check")(export_check_cli)
    layman.command("import-check")(import_check_cli)


def build_cli(
    reports: Annotated[Path, typer.Argument(help="Reports with id and reference (or report), as for `score`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the sets; a stopped run goes on there.")],
    translator: Annotated[
        str, typer.Option("--translator", help="embedded (offline) or llm (the server of RADGAUGE_LLM_URL).")
    ] = "embedded",
    checks: Annotated[
        str | None,
        typer.Option(
            "--checks",
            help="Of similarity, llm, reader, comma-separated; by default similarity, and llm with an llm.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="Greatest cosine of two kept sentences.")
    ] = 0.8,
    theta: Annotated[
        float, typer.Option("--theta", help="The cosine of a sentence and its lay text must be above this.")
    ] = 0.8,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of refinement, at most.")] = 3,
    encoder: Annotated[
        str, typer.Option("--encoder", help="findings, static, or folder or id of a transformer.")
    ] = "findings",
    report_level: Annotated[
        bool, typer.Option("--report-level/--no-report-level", help="Also build the report-level set.")
    ] = True,
    columns: o.Columns = None,
    section: o.Section = None,
    encoding: o.Encoding = None,
    split: o.Split = None,
    batch: lo.Batch = 50,
    parallel: lo.Parallel = 4,
    requests_per_minute: lo.RequestsPerMinute = 0,
    tokens_per_minute: lo.TokensPerMinute = 0,
    price_in: lo.PriceIn = 0.0,
    price_out: lo.PriceOut = 0.0,
    max_cost: lo.MaxCost = None,
    timeout: lo.Timeout = 120.0,
    retry_failed: lo.RetryFailed = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Build a sentence-level and a report-level lay data set from reports.

    Near-copies are left out, the rest is translated, checked and, where it fails, translated again. Every answer
    of a language model is on disk before the next is asked for: a stopped run goes on and never pays twice.

    Examples:

      radgauge layman build reports.csv --out sets

      radgauge layman build reports.csv --out sets --translator llm --price-in 2.5 --price-out 10 --max-cost 20

      radgauge score reports.csv -m layman:sentences=sets/sentences.tsv
    """
    from radgauge.cli.progress import bars
    from radgauge.errors import UsageError
    from radgauge.llm import BudgetReached, Limits
    from radgauge.plain_language.build import build_sets
    from radgauge.plain_language.checks import LLM, SIMILARITY
    from radgauge.plain_language.refine import Refinement
    from radgauge.plain_language.translators import EmbeddedTranslator, LlmTranslator, Translator

    if translator not in ("embedded", "llm"):
        raise UsageError(f"--translator must be embedded or llm, got {translator!r}")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must be a folder, but {out} is a file")
    asks = translator == "llm"
    wanted = _names(checks) if checks is not None else (SIMILARITY, LLM) if asks else (SIMILARITY,)
    originals = o.read_originals(reports, columns=columns, section=section, encoding=encoding, split=split)
    texts = {study: case.references[0] for study, case in originals.items()}
    vectors = _encoder(encoder)
    limits = Limits(
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        price_in=price_in,
        price_out=price_out,
        max_cost=max_cost,
        timeout=timeout,
    )
    about: dict[str, object] = {"source": reports.name, "section": section or "whole"}
    with ExitStack() as stack:
        asked, line = None, None
        if asks or LLM in wanted:
            model, journal = stack.enter_context(lo.open_model(out / "journal.jsonl", limits))
            line = lo.CostLine(model)
            asked = LlmTranslator(
                model,
                journal,
                vectors,
                batch=batch,
                parallel=parallel,
                retry_failed=retry_failed,
                progress=None if quiet else line,
            )
        writer: Translator = asked if asks and asked is not None else EmbeddedTranslator()
        how = Refinement(writer, wanted, vectors, theta, rounds, asked)
        stopped = ""
        keeps(lambda: out.is_dir() and any(out.iterdir()))
        try:
            built = build_sets(
                texts,
                out,
                how=how,
                encoder=vectors,
                threshold=threshold,
                report_level=report_level,
                about=about,
                progress=None if quiet else bars(),
            )
        except BudgetReached as error:
            stopped = str(error)
        finally:
            if line is not None:
                line.clear()
                typer.echo(f"note: {lo.usage_text(model.usage)}", err=True)
            _draw(out)
        if stopped:
            typer.echo(
                f"note: {stopped}; what is finished is in {out}; a larger --max-cost goes on there", err=True
            )
            return
    if as_json:
        typer.echo(o.to_json(built))
    else:
        _print(built)
    if not built.pairs:
        typer.echo(f"note: no lay text passed the checks; {out / 'sentences.jsonl'} says why for each", err=True)
    elif not quiet:
        use = f"radgauge score ... -m layman:sentences={out / 'sentences.tsv'}"
        typer.echo(f"wrote {out}; use it: {use}", err=True)


def export_check_cli(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV file for people to fill in.")] = Path(
        "check.csv"
    ),
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Pairs to draw.")] = 500,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
) -> None:
    """Draw pairs of a built set for people to check: fill in the column `matches` with yes or no.

    Example:

      radgauge layman export-check sets -n 500 -o check.csv
    """
    from radgauge.plain_language.human_check import export_check

    drawn = export_check(folder, output, count=count, seed=seed)
    typer.echo(f"wrote {drawn} pairs to {output}: fill in the column matches with yes or no", err=True)
    typer.echo(f"then run: radgauge layman import-check {folder} {output}", err=True)


def import_check_cli(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="The file of `export-check`, filled in.")],
    by: Annotated[str, typer.Option("--by", help="Whose verdicts these are; the file's name by default.")] = "",
    level: o.Level = 0.95,
    as_json: o.AsJson = False,
) -> None:
    """Read people's verdicts: the share that they accept, and take what they reject out of the sets.

    Example:

      radgauge layman import-check sets check.csv --by anna
    """
    from radgauge.cli.render import interval
    from radgauge.plain_language.human_check import import_check

    found = import_check(folder, file, by=by, level=level)
    if as_json:
        typer.echo(o.to_json(found))
        return
    typer.echo(
        f"{found.by}: {found.accepted} of {found.judged} pairs match, {found.share:.1%} "
        f"{interval(found.low, found.high)}; {found.blank} without a verdict"
    )
    typer.echo(
        f"{found.rejected} rejected pairs are left out; the sentence set now holds {found.pairs} pairs, "
        f"{found.lay_reports} reports have a lay version",
        err=True,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _encoder(name: str) -> Encoder:
    from radgauge.models.text.encoders import encoder_named
    from radgauge.plain_language.encoder import FindingEncoder

    if name == "findings":
        return FindingEncoder()
    return encoder_named("embedded") if name == "static" else encoder_named(name, max_length=512)


def _draw(folder: Path) -> None:
    """The acceptance curve of rounds.csv as a picture (the paper's figure 3)."""
    import csv

    from radgauge.plain_language.build import ROUNDS
    from radgauge.show.curves import share_curves

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


def _print(built: Built) -> None:
    from radgauge.cli.render import console, plain_table

    out = console()
    table = plain_table("", "", right=(1,))
    rows = [
        ("reports", built.reports),
        ("sentences", built.sentences),
        ("distinct", built.distinct),
        ("kept", built.kept),
        ("pairs in the sentence set", built.pairs),
        ("rejected by people", built.rejected),
        ("near-copies with the kept one's text", built.reused),
        ("near-copies translated too", built.translated_too),
        ("reports with a lay version", built.lay_reports),
    ]
    for name, value in rows:
        table.add_row(name, f"{value:,}")
    out.print(table)
    table = plain_table(
        "round", "texts", "accepted", "in all", "share", "no answer", "copied", "similarity", "reader", "llm",
        right=tuple(range(1, 10)),
    )  # fmt: skip
    for each in built.rounds:
        counts = (each.no_answer, each.copied, each.similarity, each.reader, each.llm)
        cells = (each.texts, each.accepted, each.accepted_in_all, f"{each.accepted_share:.1%}", *counts)
        table.add_row(str(each.round), *map(str, cells))
    out.print(table)
    for why, count in built.reasons.items():
        out.print(f"not accepted: {count} because {why}")
