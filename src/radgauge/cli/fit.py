"""`radgauge fit`: learn the weights of metrics from judgments. One file per subject: cli/fit_<subject>.py."""

from __future__ import annotations

import importlib

import typer

SUBJECTS = ("errors", "radcliq", "ratescore", "vlscore")


def register(app: typer.Typer) -> None:
    """Add the verb with its subjects."""
    fit = typer.Typer(
        help="Learn the weights of a metric from radiologists' judgments.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for subject in SUBJECTS:
        importlib.import_module(f"radgauge.cli.fit_{subject}").register(fit)
    app.add_typer(fit, name="fit")
