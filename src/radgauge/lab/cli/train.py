"""`radgauge train image-text`: train an image-text encoder of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import radgauge.lab.cli.train_ner  # noqa: F401  (its verb stands beside those of this file)
from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_estimator import train
from radgauge.lab.cli.train_generator import share
from radgauge.lab.training.image_text_settings import ImageTextSettings

if TYPE_CHECKING:
    from radgauge.lab.training.image_text import TrainedImageText
    from radgauge.render.tables import Table


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
    settings: Annotated[ImageTextSettings, "Training"] = ImageTextSettings(),
) -> None:
    """Train an image-text encoder; the same command goes on with a run that was stopped.

    Examples:

      radgauge train image-text studies.jsonl --images pictures/ --output encoder/

      radgauge score reports.csv --images pictures/ -m vlscore:encoder=encoder/image_text.npz
    """
    from radgauge.lab.training.image_text import train_image_text
    from radgauge.lab.training.image_text_data import read_material

    material = read_material(reports, images, validation=share(validation), seed=settings.seed)
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
        progress=say.progress(),
        tell=say.tell,
    )
    data = {"file": str(trained.file), "constants": dict(trained.constants), "validation": dict(trained.matching)}
    about = "validation studies: own report against another study's, and reports found by images"
    say.show({**data, "seed": settings.seed}, about, _matching_table(trained))
    say.notes(f"use it with -m vlscore:encoder={trained.file}")


def _matching_table(trained: TrainedImageText) -> Table:
    """Tabulate the retrieval of reports by images, and vice versa."""
    from radgauge.core.wording import number
    from radgauge.render.tables import Column, table

    rows: list[tuple[str, ...]] = []
    for name, figures in trained.matching.items():
        shares = (f"{share:.3f}" for share in (figures.recall_1, figures.recall_5, figures.recall_10))
        constant = number(trained.constants[name]) if name in trained.constants else "–"
        rows.append(
            (name, str(figures.studies), number(figures.auroc), *shares, f"{figures.median_rank:g}", constant)
        )
    right = [Column(name, right=True) for name in ("studies", "AUROC", "R@1", "R@5", "R@10", "median rank", "C")]
    return table("views", *right, rows=rows)
