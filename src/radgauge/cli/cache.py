"""`radgauge cache`: what the reading cache holds, and how to empty it."""

from __future__ import annotations

from radgauge.cli import options as o
from radgauge.cli.lines import echo

cache = o.subjects("cache", "The cache of readings on this machine.")


@o.command(cache, "info")
def info_cli(as_json: o.AsJson = False) -> None:
    """Where the cache is, how large, and which readers filled it."""
    from radgauge.cache import Cache
    from radgauge.show.tables import Column, table
    from radgauge.show.terminal import console

    info = Cache().info()
    if as_json:
        o.print_json(info)
        return
    out = console()
    out.say(f"{info.path}: {info.entries:,} readings, {info.bytes / 1e6:.1f} MB")
    if info.damaged:
        out.say("The file is damaged or of another version; the next run starts it anew.")
    if info.readers:
        rows = [(signature, f"{entries:,}") for signature, entries in info.readers.items()]
        out.show(table("reader", Column("readings", right=True), rows=rows))


@o.command(cache, "clear")
def clear_cli() -> None:
    """Remove every cached reading."""
    from radgauge.cache import Cache

    echo(f"removed {Cache().clear():,} readings")
