"""`radgauge cache`: what the reading cache holds, and how to empty it."""

from __future__ import annotations

import typer

from radgauge.cli import options as o

cache_app = typer.Typer(help="The cache of readings on this machine.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(cache_app, name="cache")


@cache_app.command("info")
def info_cli(as_json: o.AsJson = False) -> None:
    """Where the cache is, how large, and which readers filled it."""
    from radgauge.cache import Cache
    from radgauge.cli.render import console, plain_table

    info = Cache().info()
    if as_json:
        typer.echo(o.to_json(info))
        return
    out = console()
    out.print(f"{info.path}: {info.entries:,} readings, {info.bytes / 1e6:.1f} MB", soft_wrap=True)
    if info.damaged:
        out.print("The file is damaged or of another version; the next run starts it anew.")
    if info.readers:
        table = plain_table("reader", "readings", right=(1,))
        for signature, entries in info.readers.items():
            table.add_row(signature, f"{entries:,}")
        out.print(table)


@cache_app.command("clear")
def clear_cli() -> None:
    """Remove every cached reading."""
    from radgauge.cache import Cache

    typer.echo(f"removed {Cache().clear():,} readings")
