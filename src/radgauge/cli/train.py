"""`radgauge train`: train models of your own. One file per subject: cli/train_<subject>.py."""

from __future__ import annotations

import importlib

import typer

SUBJECTS = ("ner", "estimator", "tables", "image_text")


def register(app: typer.Typer) -> None:
    """Add the verb with its subjects."""
    train = typer.Typer(
        help="Train models of your own.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for subject in SUBJECTS:
        importlib.import_module(f"radgauge.cli.train_{subject}").register(train)
    app.add_typer(train, name="train")
