"""`radgauge serve`: metrics behind HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.study.server.requests import Limits


@dataclass(frozen=True, slots=True)
class RewardSettings:
    """Settings of /get_reward."""

    reward: Annotated[str, "The metric behind it; '' = no such address."] = "errors"
    floor: Annotated[float, "The reward of what cannot be judged."] = -1.0
    references: Annotated[
        Path | None, "Reports of the training set; the reward measures word order and length on them."
    ] = None


@o.command(o.app, "serve")
def serve_cli(
    metric: Annotated[
        list[str] | None,
        "-m",
        "A metric to serve; or bleu,errors. Repeatable. Default: errors.",
    ] = None,
    models: o.Models = "embedded",
    host: Annotated[str, "Address to listen on; others than this machine need --url."] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 = any that is free.")] = 8000,
    url: Annotated[str | None, "The address under which other machines come: https://name."] = None,
    proxy: Annotated[str | None, "The proxy's address; its X-Forwarded-For is believed."] = None,
    token_file: Annotated[
        Path | None,
        "Tokens that are let in, one per line; else $RADGAUGE_TOKEN, or a fresh one.",
    ] = None,
    no_token: Annotated[bool, "Let everybody on this machine in; not with other hosts."] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes that judge.")] = 1,
    rewards: Annotated[RewardSettings, "/get_reward"] = RewardSettings(),
    limits: Annotated[Limits, "Limits of one request"] = Limits(),
) -> None:
    """Judge reports over HTTP (extra web).

    Examples:

      radgauge serve -m errors -m bleu

      radgauge serve --port 9000 --token-file tokens.txt --workers 2

      radgauge serve --host 0.0.0.0 --url https://judge.example --proxy 127.0.0.1
    """
    import os

    from radgauge.cli.lines import echo
    from radgauge.core.errors import UsageError, require

    for package in ("starlette", "uvicorn"):
        require(package, extra="web")
    from radgauge.study.http.server import Place, is_loopback
    from radgauge.study.http.tokens import new_token, token_hash
    from radgauge.study.server.app import run
    from radgauge.study.server.judge import Settings

    place = Place(host, port, url, proxy)
    if place.warning:
        echo(f"note: {place.warning}", err=True)
    wanted = tuple(metric or ["errors"])
    o.confirmed(models, [*wanted, *([rewards.reward] if rewards.reward else [])])
    fresh = None
    if no_token:
        if token_file is not None or not is_loopback(host):
            raise UsageError("--no-token is for this machine alone, and not with --token-file")
        tokens = []
    elif token_file is not None:
        tokens = [line.strip() for line in token_file.read_text(encoding="utf-8").splitlines() if line.strip()]
        if not tokens or min(map(len, tokens)) < 16:
            raise UsageError(f"{token_file} must hold tokens of 16 characters and more, one per line")
    elif given := os.environ.get("RADGAUGE_TOKEN", ""):
        if len(given) < 16:
            raise UsageError("RADGAUGE_TOKEN must have 16 characters and more")
        tokens = [given]
    else:
        fresh = new_token()
        tokens = [fresh]
    settings = Settings(
        metrics=wanted,
        models=models,
        reward=rewards.reward,
        floor=rewards.floor,
        references=training_references(rewards.references),
        cache=not o.program().no_cache,
        tokens=tuple(map(token_hash, tokens)),
        workers=workers,
        limits=limits,
    )

    def ready(address: str) -> None:
        if fresh is not None:
            echo(f"token: {fresh}", err=True)
        if not o.program().quiet or fresh is not None:
            echo(f"radgauge serves {', '.join(wanted)} at {address} (Ctrl-C ends it)", err=True)

    run(settings, place, ready=ready)


def training_references(path: Path | None) -> tuple[str, ...]:
    """Return the reports of a training set from a table of them; none without a file."""
    from radgauge.io.case_files import read_references

    return () if path is None else tuple(text for case in read_references(path).cases for text in case.references)
