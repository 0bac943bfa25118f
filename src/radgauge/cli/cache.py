"""`radgauge cache`: what the reading cache holds, and how to empty it."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo

cache = o.subjects("cache")


@o.command(cache, "info")
def info_cli(as_json: o.AsJson = False) -> None:
    """Where the cache is, how large, and which readers filled it."""
    from radgauge.core.cache import Cache
    from radgauge.llm.sessions import kept_journals
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    info = Cache().info()
    journals = kept_journals()
    answers = {"files": len(journals), "bytes": sum(path.stat().st_size for path in journals)}
    if as_json:
        o.print_json({**dataclasses.asdict(info), "language_model_answers": answers})
        return
    out = console()
    out.say(f"{info.path}: {info.entries:,} readings, {info.bytes / 1e6:.1f} MB")
    if info.damaged:
        out.say("The file is damaged or of another version; the next run starts it anew.")
    if journals:
        size = f"{answers['bytes'] / 1e6:.1f} MB"
        out.say(f"{journals[0].parent}: answers of {len(journals)} language models, {size}, which were paid for")
    if info.readers:
        rows = [(signature, f"{entries:,}") for signature, entries in info.readers.items()]
        out.show(table("reader", Column("readings", right=True), rows=rows))


@o.command(cache, "clear")
def clear_cli(
    answers: Annotated[
        bool, typer.Option("--answers", help="Also what language models answered, which was paid for.")
    ] = False,
) -> None:
    """Remove every cached reading, and texts that unfinished runs into a URL left. Not while such a run works."""
    from radgauge.core.cache import Cache
    from radgauge.core.storage import remove_runs
    from radgauge.llm.sessions import kept_journals

    echo(f"removed {Cache().clear():,} readings")
    if left := remove_runs():
        echo(f"removed what {left:,} unfinished runs left")
    journals = kept_journals()
    if answers:
        for path in journals:
            path.unlink()
        echo(f"removed the answers of {len(journals):,} language models")
    elif journals:
        echo(f"kept the answers of {len(journals):,} language models; --answers removes them too")
