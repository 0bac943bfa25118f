"""`radgauge train generator` and `train instructions`: a report generator, and data to tune larger models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_estimator import train

if TYPE_CHECKING:
    from radgauge.lab.training.generator import TrainedGenerator

_NETWORK = "Network"
Images = Annotated[Path | None, typer.Option("--images", help="Folder that image names are relative to.")]
Threads = Annotated[
    int, typer.Option("--threads", min=0, help="Pictures side by side; 0 = as many as there are cores.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a file that is there already.")]


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Sizes and pace of the network."""

    width: Annotated[int, typer.Option("--width", help="Of a token's vector.", rich_help_panel=_NETWORK)] = 128
    layers: Annotated[int, typer.Option("--layers", help="Of the decoder.", rich_help_panel=_NETWORK)] = 2
    epochs: Annotated[
        int, typer.Option("--epochs", help="Passes over the studies, at most.", rich_help_panel=_NETWORK)
    ] = 25
    patience: Annotated[
        int,
        typer.Option(
            "--patience", help="Epochs without a lower validation loss that end it.", rich_help_panel=_NETWORK
        ),
    ] = 3
    batch_size: Annotated[
        int, typer.Option("--batch-size", help="Studies per step.", rich_help_panel=_NETWORK)
    ] = 32
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="The greatest.", rich_help_panel=_NETWORK)
    ] = 1e-3
    dropout: Annotated[
        float, typer.Option("--dropout", help="Share of values set to zero.", rich_help_panel=_NETWORK)
    ] = 0.2


@dataclass(frozen=True, kw_only=True)
class GeneratorStudies:
    """Which studies are learned from."""

    images: Images = None
    section: Annotated[Literal["findings", "impression", "both", "whole"] | None, "Part of the reports."] = None
    split: Annotated[str | None, "Only this split."] = None
    validation: Annotated[str, "Share of these studies to watch, whole patients; or another split."] = "0.1"
    size: Annotated[int | None, "Learn from so many studies only; a smaller size is part of a larger."] = None
    pictures: Annotated[Path | None, "Folder for what pictures became, to share between trainings."] = None
    domain: Annotated[
        Literal["skip", "off"], "Pictures that do not look like chest radiographs: leave out, or use (off)."
    ] = "skip"
    threads: Threads = 0


@o.command(train, "generator")
def train_generator_cli(
    say: o.Output,
    which: GeneratorStudies,
    network: NetworkOptions,
    reports: Annotated[Path, typer.Argument(help="Table of reports with id and images; or a published corpus.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the generator.")],
    kind: Annotated[
        Literal["network", "retrieval"],
        "network writes reports (extra models); retrieval hands out those of similar studies (numpy only).",
    ] = "network",
    register: Annotated[
        Literal["professional", "lay"], "Reports as they are, or rewritten by the embedded plain-language writer."
    ] = "professional",
    seed: o.Seed = 0,
) -> None:
    """Train a small report generator; the same command goes on with a run that was stopped.

    Examples:

      radgauge train generator studies.csv --images pictures/ --section findings -o generator

      radgauge train generator studies.csv --images pictures/ --kind retrieval --register lay -o lay-retrieval

      radgauge generate generator new.csv --images pictures/ -o candidates.jsonl
    """
    from radgauge.lab.training.generator import train_generator
    from radgauge.lab.training.generator_data import read_generator_data
    from radgauge.lab.training.generator_settings import GeneratorSettings

    settings = GeneratorSettings(
        kind=kind,
        register=register,
        width=network.width,
        layers=network.layers,
        epochs=network.epochs,
        patience=network.patience,
        batch_size=network.batch_size,
        learning_rate=network.learning_rate,
        dropout=network.dropout,
        seed=seed,
    )
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    data = read_generator_data(
        reports,
        which.images,
        section=which.section,
        split=which.split,
        validation=share(which.validation),
        register=register,
        size=which.size,
        seed=seed,
        cache=which.pictures or output / "pictures",
        domain=which.domain,
        threads=which.threads,
        progress=say.progress(),
    )
    left_out = ", ".join(f"{number} with {why}" for why, number in data.left_out.items())
    say.tell(
        f"{len(data.train)} studies to learn from, {len(data.validation)} to watch"
        + (f"; left out: {left_out}" if left_out else "")
    )
    if register == "lay":
        lay, every = data.lay_sentences
        say.tell(f"{lay:,} of {every:,} sentences are written in plain language; the others stand as they are")
    about = {
        "reports": reports.name,
        "section": which.section,
        "split": which.split,
        "validation_split": which.validation,
    }
    trained = train_generator(data, output, settings=settings, about=about, progress=say.progress(), tell=say.tell)
    if say.as_json:
        o.print_json(
            {
                "folder": str(trained.folder),
                "epochs": trained.epochs,
                "best": trained.best,
                "left_out": dict(data.left_out),
                "seed": seed,
            }
        )
        return
    print_generator(trained)
    say.notes(f"write reports with: radgauge generate {output} STUDIES -o candidates.jsonl")


def share(text: str) -> float | str:
    """A share, or the name of a split."""
    try:
        return float(text)
    except ValueError:
        return text


def print_generator(trained: TrainedGenerator) -> None:
    """Losses by epoch; the one that was kept has a mark."""
    from radgauge.render.tables import table
    from radgauge.render.terminal import console

    out = console()
    if trained.best is None:
        out.print(f"wrote {trained.folder}: retrieval needs no epochs")
        return
    rows = [
        (f"{each.epoch}{' *' if each == trained.best else ''}", each.train_loss, each.validation_loss)
        for each in trained.epochs
    ]
    out.show(table("epoch", "training loss", "validation loss", rows=rows))
    out.print("* the epoch whose weights were kept; losses per token")


@o.command(train, "instructions")
def instructions_cli(
    say: o.Output,
    form: o.ReportForm,
    reports: Annotated[Path, typer.Argument(help="Table of reports with id and images; or a published corpus.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON lines.")],
    images: Images = None,
    format_: Annotated[
        Literal["plain", "llava"],
        typer.Option("--format", help="plain: id, images, instruction, report; llava: conversations."),
    ] = "plain",
    register: Annotated[
        Literal["professional", "lay", "both"], "Reports as they are, in plain language, or one record each."
    ] = "professional",
    split: Annotated[str | None, "Only this split."] = None,
    replace: Replace = False,
    seed: o.Seed = 0,
) -> None:
    """Write image, instruction and report of every study, to tune larger models with.

    Examples:

      radgauge train instructions studies.csv --images pictures/ --split train --register both -o tuning.jsonl

      radgauge train instructions studies.csv --images pictures/ --format llava -o llava.jsonl
    """
    from radgauge.cli.case_options import ImageFolder
    from radgauge.lab.generation.instructions import (
        check_instructions_path,
        instruction_records,
        write_instructions,
    )

    check_instructions_path(output, replace=replace)
    found = form.references(reports, split=split, pictures=ImageFolder(images=images))
    records = instruction_records(found.cases, form=format_, register=register, images=images, seed=seed)
    number = write_instructions(output, records, replace=replace)
    each = 2 if register == "both" else 1
    about = {"records": number, "studies": len(found.cases), "left_out": len(found.cases) - number // each}
    if say.as_json:
        o.print_json({**about, "output": str(output), "seed": seed})
        return
    say.notes(*found.provenance.warnings)
    say.notes(
        f"{number} records of {number // each} studies written to {output}; "
        f"{about['left_out']} studies have no report or no image"
    )
