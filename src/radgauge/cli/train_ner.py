"""`radgauge train ner`: an entity recogniser from RaTE-NER files, or the annotation of such files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from radgauge.training.ner import TypeResult


def register(app: typer.Typer) -> None:
    """Add the subject."""
    app.command("ner")(train_ner_cli)


def train_ner_cli(
    train: Annotated[
        Path, typer.Argument(help="RaTE-NER file to learn from; with --annotate a table of reports.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the checkpoint, or annotated file.")],
    model: Annotated[str, typer.Option("--model", help="Starting checkpoint: folder or hub id.")] = "",
    scheme: Annotated[str, typer.Option("--scheme", help="iob or span.")] = "iob",
    dev: Annotated[Path | None, typer.Option("--dev", help="Sentences to choose the epoch by.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Sentences to report on at the end.")] = None,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes over the sentences.")] = 10,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Sentences per step.")] = 96,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="Default: 1e-5 (iob), 6e-6 (span).")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    annotate: Annotated[
        bool, typer.Option("--annotate", help="Annotate reports instead of training (appendix A.2).")
    ] = False,
    proposals: Annotated[
        Path | None,
        typer.Option("--proposals", help="With --annotate: entities of a language model (JSON lines)."),
    ] = None,
    library: Annotated[
        Path | None, typer.Option("--library", help="With --annotate: file of terms, one per line.")
    ] = None,
    encoder: Annotated[
        str, typer.Option("--encoder", help="With --annotate: embedded or a checkpoint.")
    ] = "embedded",
    similarity: Annotated[float, typer.Option("--similarity", help="Smallest cosine with a known term.")] = 0.83,
    density: Annotated[float, typer.Option("--density", help="Smallest share of words in entities.")] = 0.7,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Train an entity recogniser; the same command goes on with a run that was stopped.

    Examples:

      radgauge train ner train_IOB.json --dev dev_IOB.json --model microsoft/deberta-v3-base -o my-ner

      radgauge score reports.csv -m ratescore:ner=my-ner

      radgauge train ner reports.csv --annotate -o annotated.json
    """
    if annotate:
        _annotate(train, output, proposals, library, encoder, similarity, density, as_json=as_json, quiet=quiet)
        return
    from radgauge.cli.progress import bars
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.training.ner import NerSettings, evaluate, predict_ner, train_ner
    from radgauge.training.ner_files import read_ner

    if not model:
        raise UsageError("--model is needed: the checkpoint to start from, such as microsoft/deberta-v3-base")
    settings = NerSettings(
        model, scheme=scheme, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, seed=seed
    )
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    results = train_ner(
        read_ner(train),
        output,
        settings=settings,
        dev=read_ner(dev) if dev is not None else (),
        device=device,
        progress=None if quiet else bars(""),
    )
    if test is not None:
        sentences = read_ner(test)
        results = evaluate(predict_ner(str(output), [each.words for each in sentences], device=device), sentences)
    if as_json:
        typer.echo(o.to_json({"results": results, "checkpoint": str(output), "seed": seed}))
        return
    _print(console(), results)
    if not quiet:
        console(stderr=True).print(f"note: checkpoint in {output}; use it with -m ratescore:ner={output}")


def _print(out: Console, results: Sequence[TypeResult]) -> None:
    from radgauge.cli.render import number, plain_table

    table = plain_table("type", "precision", "recall", "F1", "accuracy", "entities", right=(1, 2, 3, 4, 5))
    for each in results:
        values = (each.precision, each.recall, each.f1, each.accuracy)
        table.add_row(each.type.lower(), *map(number, values), str(each.entities))
    if results:
        out.print(table)


def _annotate(
    reports: Path,
    output: Path,
    proposals: Path | None,
    library: Path | None,
    encoder: str,
    similarity: float,
    density: float,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from radgauge.cli.render import console
    from radgauge.io.tables import read_table
    from radgauge.models.text.encoders import encoder_named
    from radgauge.training.annotate_ner import annotate, read_proposals
    from radgauge.training.ner_files import write_ner

    table = read_table(reports)
    column = next((name for name in ("report", "text", "findings", "reference") if name in table.columns), None)
    if column is None:
        from radgauge.errors import InputError

        raise InputError(
            f"{reports}: a table of reports must have the column report, text, findings or reference; it has "
            f"{', '.join(table.columns)}"
        )
    sentences, counts = annotate(
        [str(record.values.get(column) or "") for record in table.records],
        proposals=read_proposals(proposals) if proposals is not None else None,
        library=library.read_text(encoding="utf-8").split("\n") if library is not None else None,
        encoder=encoder_named(encoder),
        similarity=similarity,
        density=density,
    )
    write_ner(output, sentences)
    if as_json:
        typer.echo(o.to_json({"counts": counts, "output": str(output)}))
    elif not quiet:
        console(stderr=True).print(
            f"note: {counts.kept_sentences} of {counts.sentences} sentences with {counts.kept_entities} entities "
            f"written to {output}; {counts.close} of {counts.proposed} proposals are close to a known term",
            soft_wrap=True,
        )
