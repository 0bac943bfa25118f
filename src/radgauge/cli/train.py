"""`radgauge train`: train models of your own: an entity recogniser, an image-text encoder, an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.cli.train_estimator import train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.show.terminal import Terminal
    from radgauge.training.image_text import TrainedImageText
    from radgauge.training.ner import TypeResult


@o.command(train, "ner")
def train_ner_cli(
    say: o.Output,
    train: Annotated[
        Path, typer.Argument(help="RaTE-NER file to learn from; with --annotate a table of reports.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the checkpoint, or annotated file.")],
    model: Annotated[str, typer.Option("--model", help="Starting checkpoint: folder or hub id.")] = "",
    scheme: Annotated[Literal["iob", "span"], typer.Option("--scheme", help="How entities are marked.")] = "iob",
    dev: Annotated[Path | None, typer.Option("--dev", help="Sentences to choose the epoch by.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Sentences to report on at the end.")] = None,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes over the sentences.")] = 10,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Sentences per step.")] = 96,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="Default: 1e-5 (iob), 6e-6 (span).")
    ] = None,
    device: o.Device = "auto",
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
) -> None:
    """Train an entity recogniser; the same command goes on with a run that was stopped.

    Examples:

      radgauge train ner train_IOB.json --dev dev_IOB.json --model microsoft/deberta-v3-base -o my-ner

      radgauge score reports.csv -m ratescore:ner=my-ner

      radgauge train ner reports.csv --annotate -o annotated.json
    """
    if annotate:
        _annotate(train, output, proposals, library, encoder, similarity, density, say=say)
        return
    from radgauge.errors import UsageError
    from radgauge.show.terminal import console
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
        progress=say.progress(""),
    )
    if test is not None:
        sentences = read_ner(test)
        results = evaluate(predict_ner(str(output), [each.words for each in sentences], device=device), sentences)
    if say.as_json:
        o.print_json({"results": results, "checkpoint": str(output), "seed": seed})
        return
    print_ner(console(), results)
    say.notes(f"checkpoint in {output}; use it with -m ratescore:ner={output}")


def print_ner(out: Terminal, results: Sequence[TypeResult]) -> None:
    """Precision, recall and F1 by entity type."""
    from radgauge.show.tables import table

    rows = [
        (each.type.lower(), each.precision, each.recall, each.f1, each.accuracy, each.entities) for each in results
    ]
    if rows:
        out.show(table("type", "precision", "recall", "F1", "accuracy", "entities", rows=rows))


def _annotate(
    reports: Path,
    output: Path,
    proposals: Path | None,
    library: Path | None,
    encoder: str,
    similarity: float,
    density: float,
    *,
    say: o.Output,
) -> None:
    from radgauge.errors import InputError
    from radgauge.io.tables import read_table
    from radgauge.models.text.encoders import encoder_named
    from radgauge.training.annotate_ner import annotate, read_proposals
    from radgauge.training.ner_files import write_ner

    table = read_table(reports)
    column = next((name for name in ("report", "text", "findings", "reference") if name in table.columns), None)
    if column is None:
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
    if say.as_json:
        o.print_json({"counts": counts, "output": str(output)})
        return
    say.notes(
        f"{counts.kept_sentences} of {counts.sentences} sentences with {counts.kept_entities} entities "
        f"written to {output}; {counts.close} of {counts.proposed} proposals are close to a known term"
    )


@o.command(train, "image-text")
def image_text_cli(
    say: o.Output,
    reports: Annotated[Path, typer.Argument(help="Table of reports with id and images; or a published corpus.")],
    images: Annotated[Path, typer.Option("--images", help="Folder that the image names are relative to.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the encoder and the log.")],
    validation: Annotated[
        str,
        typer.Option("--validation", help="Share of the studies to watch, or a split (then 'train' is learned)."),
    ] = "0.1",
    start: Annotated[
        str, typer.Option("--start", help="Starting weights: imagenet, scratch, or a .pth file.")
    ] = "imagenet",
    frozen: Annotated[
        int | None, typer.Option("--frozen", min=0, max=17, help="Stages that stay as they start; 0 for scratch.")
    ] = None,
    size: Annotated[int | None, typer.Option("--size", help="Pixels of a side; a multiple of 32.")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1)] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=2, help="Studies per step.")] = None,
    copies: Annotated[
        int | None, typer.Option("--copies", min=1, help="Changed copies of every picture, drawn once.")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Of the image network.")] = None,
    device: o.Device = "auto",
    seed: o.Seed = 0,
) -> None:
    """Train an image-text encoder; the same command goes on with a run that was stopped.

    Examples:

      radgauge train image-text studies.jsonl --images pictures/ --output encoder/

      radgauge score reports.csv --images pictures/ -m vlscore:encoder=encoder/image_text.npz
    """
    from radgauge.training.image_text import train_image_text
    from radgauge.training.image_text_data import read_material
    from radgauge.training.image_text_settings import ImageTextSettings

    given: dict[str, Any] = {
        "frozen": 0 if start == "scratch" and frozen is None else frozen,
        "size": size,
        "epochs": epochs,
        "batch_size": batch_size,
        "copies": copies,
        "learning_rate": learning_rate,
    }
    settings = ImageTextSettings(
        start=start, device=device, seed=seed, **{name: each for name, each in given.items() if each is not None}
    )
    material = read_material(reports, images, validation=_share(validation), seed=seed)
    left_out = ", ".join(f"{number} with {why}" for why, number in material.left_out.items() if number)
    say.tell(
        f"{len(material.train)} studies to learn from, {len(material.validation)} to watch"
        + (f"; left out: {left_out}" if left_out else "")
    )
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    trained = train_image_text(
        material,
        output,
        settings=settings,
        about={"reports": reports.name},
        progress=say.progress(""),
        tell=say.tell,
    )
    if say.as_json:
        o.print_json(
            {
                "file": str(trained.file),
                "constant": trained.constant,
                "validation": trained.shipped,
                "epochs": list(trained.passes),
                "seed": seed,
            }
        )
        return
    print_image_text(trained)
    say.notes(f"use it with -m vlscore:encoder={trained.file}")


def _share(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def print_image_text(trained: TrainedImageText) -> None:
    """How well pictures find their reports, and reports their pictures."""
    from radgauge.show.tables import Column, table
    from radgauge.show.terminal import console
    from radgauge.show.wording import number

    found = trained.shipped
    out = console()
    out.print(
        f"{found.studies} validation studies: own report against another study's, AUROC {number(found.auroc)}; "
        f"VLScore's constant {number(trained.constant)}"
    )
    ours = (found.recall_1, found.recall_5, found.recall_10)
    theirs = (found.text_recall_1, found.text_recall_5, found.text_recall_10)
    rows = [
        ("pictures", "reports", *ours, f"{found.median_rank:g}"),
        ("reports", "pictures", *theirs, f"{found.text_median_rank:g}"),
    ]
    out.show(table("from", "to", "R@1", "R@5", "R@10", Column("median rank", right=True), rows=rows))
