"""`radgauge train generator` and `train instructions`: a report generator, and data to tune larger models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_estimator import train
from radgauge.lab.training.generator_settings import GeneratorSettings
from radgauge.render.tables import table

if TYPE_CHECKING:
    from radgauge.lab.training.generator import TrainedGenerator

Images = Annotated[Path | None, "Folder that image names are relative to."]
Replace = Annotated[bool, "Replace a file that is there already."]


@dataclass(frozen=True, slots=True)
class StudySettings:
    """Choice of training studies."""

    section: Annotated[Literal["findings", "impression", "both", "whole"] | None, "Part of the reports."] = None
    split: Annotated[str | None, "Only this split."] = None
    validation: Annotated[str, "Share of these studies to watch, complete patients; or another split."] = "0.1"
    size: Annotated[int | None, "Learn from so many studies only; a smaller size is part of a larger."] = None
    cache: Annotated[Path | None, "Folder for image features, to share between trainings."] = None
    domain: Annotated[
        Literal["skip", "off"], "Images that do not look like chest radiographs: leave out, or use (off)."
    ] = "skip"
    threads: Annotated[int, "Images at the same time; 0 = one per core."] = 0


@o.command(train, "generator")
def train_generator_cli(
    say: o.Output,
    reports: Annotated[Path, typer.Argument(help="Table of reports with id and images; or a published corpus.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the generator.")],
    images: Images = None,
    studies: Annotated[StudySettings, "Which studies are learned from"] = StudySettings(),
    settings: Annotated[GeneratorSettings, "Training"] = GeneratorSettings(),
) -> None:
    """Train a small report generator; the same command goes on with a run that was stopped.

    Examples:

      radgauge train generator studies.csv --images pictures/ --studies section=findings -o generator

      radgauge train generator studies.csv --images pictures/ --settings kind=retrieval,register=lay -o lay

      radgauge generate generator new.csv --images pictures/ -o candidates.jsonl
    """
    from radgauge.lab.training.generator import train_generator
    from radgauge.lab.training.generator_data import read_generator_data

    keeps(lambda: output.is_dir() and any(output.iterdir()))
    data = read_generator_data(
        reports,
        images,
        section=studies.section,
        split=studies.split,
        validation=share(studies.validation),
        register=settings.register,
        size=studies.size,
        seed=settings.seed,
        cache=studies.cache or output / "pictures",
        domain=studies.domain,
        threads=studies.threads,
        progress=say.progress(),
    )
    left_out = ", ".join(f"{number} with {why}" for why, number in data.left_out.items())
    say.tell(
        f"{len(data.train)} studies to learn from, {len(data.validation)} to watch"
        + (f"; left out: {left_out}" if left_out else "")
    )
    if settings.register == "lay":
        lay, every = data.lay_sentences
        say.tell(f"{lay:,} of {every:,} sentences are written in plain language; the others stand as they are")
    about = {
        "reports": reports.name,
        "section": studies.section,
        "split": studies.split,
        "validation_split": studies.validation,
    }
    trained = train_generator(data, output, settings=settings, about=about, progress=say.progress(), tell=say.tell)
    result = {"folder": str(trained.folder), "epochs": trained.epochs, "best": trained.best}
    say.show({**result, "left_out": dict(data.left_out), "seed": settings.seed}, *_epoch_blocks(trained))
    say.notes(f"write reports with: radgauge generate {output} STUDIES -o candidates.jsonl")


def share(text: str) -> float | str:
    """A share, or the name of a split."""
    try:
        return float(text)
    except ValueError:
        return text


def _epoch_blocks(trained: TrainedGenerator) -> list[o.Block]:
    """Return losses by epoch; the one whose weights were saved has a mark."""
    if trained.best is None:
        return [f"wrote {trained.folder}: retrieval needs no epochs"]
    rows = [
        (f"{row.epoch}{' *' if row == trained.best else ''}", row.train_loss, row.validation_loss)
        for row in trained.epochs
    ]
    losses = table("epoch", "training loss", "validation loss", rows=rows)
    return [losses, "* the epoch whose weights were saved; losses per token"]


@o.command(train, "instructions")
def instructions_cli(
    say: o.Output,
    form: o.ReportForm,
    reports: Annotated[Path, typer.Argument(help="Table of reports with id and images; or a published corpus.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON lines.")],
    images: Images = None,
    form_of_records: Annotated[
        Literal["plain", "llava"],
        typer.Option("--form", help="plain: id, images, instruction, report; llava: conversations."),
    ] = "plain",
    register: Annotated[
        Literal["professional", "lay", "both"], "Reports as they are, in plain language, or one record each."
    ] = "professional",
    replace: Replace = False,
) -> None:
    """Write image, instruction and report of every study, to tune larger models with.

    Examples:

      radgauge train instructions studies.csv --images pictures/ --input split=train -o tuning.jsonl

      radgauge train instructions studies.csv --images pictures/ --form llava -o llava.jsonl
    """
    from radgauge.lab.generation.instructions import (
        check_instructions_path,
        instruction_records,
        write_instructions,
    )

    check_instructions_path(output, replace=replace)
    table = form.references(reports, images=images)
    records = instruction_records(table.cases, form=form_of_records, register=register, images=images)
    number = write_instructions(output, records, replace=replace)
    per_report = 2 if register == "both" else 1
    about = {"records": number, "studies": len(table.cases), "left_out": len(table.cases) - number // per_report}
    say.show({**about, "output": str(output)})
    say.notes(*table.provenance.warnings)
    say.notes(
        f"{number} records of {number // per_report} studies written to {output}; "
        f"{about['left_out']} studies have no report or no image"
    )
