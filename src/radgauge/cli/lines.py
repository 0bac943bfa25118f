"""Lines on the terminal outside of tables, with control characters in texts of others made harmless."""

from __future__ import annotations

import typer

from radgauge.core.wording import visible


def echo(text: object, *, err: bool = False) -> None:
    """Print a line as it is, but for signs that would steer the terminal."""
    typer.echo(visible(str(text)), err=err)
