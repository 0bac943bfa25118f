"""`radgauge train image-text`: train an image-text encoder of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import radgauge.cli.train_ner  # noqa: F401  (its verb stands beside those of this file)
from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.cli.train_estimator import train

if TYPE_CHECKING:
    from radgauge.training.image_text import TrainedImageText


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
