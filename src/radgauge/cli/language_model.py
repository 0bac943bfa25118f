"""How verbs ask a language model and show what it costs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.core.progress import tell

if TYPE_CHECKING:
    from pathlib import Path

    from radgauge.cli.options import ReadingOutput
    from radgauge.cli.server_options import LlmSettings
    from radgauge.llm import Journal, LanguageModel, Session, Usage
    from radgauge.llm.server import Server

_LOG_EVERY = 60.0  # seconds


@contextmanager
def open_model(
    journal_path: Path, settings: LlmSettings, *, name: str | None = None
) -> Iterator[tuple[LanguageModel, Journal]]:
    """The language model of the settings or the environment, or another one of its server, with its journal.

    Says on stderr where texts will go.
    """
    from radgauge.llm import Journal, LanguageModel

    server = name_server(settings if name is None else replace(settings, model=name))
    echo(f"note: {server.notice}", err=True)
    with Journal(journal_path) as journal:
        keeps(lambda: len(journal) > 0)
        model = LanguageModel(
            server,
            limits=settings.limits(),
            past=journal.costs(),
            ledger=lambda record: journal.add({}, costs=[record]),
        )
        try:
            yield model, journal
        finally:
            model.close()


def name_server(settings: LlmSettings) -> Server:
    """Return the server that the settings or the environment name.

    The key of the environment goes to the host that the environment names and, if it names none, to that of the
    settings: never to a host that it was not meant for.
    """
    from radgauge.llm.server import KEY, MODEL, URL, server_from_environment

    variables = dict(os.environ)
    if settings.url is not None:
        meant = urlsplit(variables.get(URL, "")).hostname
        if meant is not None and meant != urlsplit(settings.url).hostname:
            variables.pop(KEY, None)
        variables[URL] = settings.url
    if settings.model is not None:
        variables[MODEL] = settings.model
    return server_from_environment(variables)


@contextmanager
def judge_session(settings: LlmSettings, say: ReadingOutput) -> Iterator[None]:
    """A block in which metrics ask the server that the settings or the environment name."""
    from radgauge.llm import session

    lines: list[CostLine] = []

    def show(model: LanguageModel, task: str, done: int, total: int) -> None:
        if not lines:
            lines.append(CostLine(model))
        lines[0](task, done, total)

    def announce(opened: Session) -> None:
        echo(f"note: {opened.model.server.notice}", err=True)
        if settings.journal is not None or not say.no_cache:
            keeps(lambda: len(opened.journal) > 0)

    with session(
        partial(name_server, settings),
        limits=settings.limits(),
        journal=settings.journal,
        keep=not say.no_cache,
        parallel=settings.parallel,
        progress=None if say.quiet else show,
        announce=announce,
    ):
        yield


class CostLine:
    """Progress of a task with what it has cost: in the line of `core.progress`; in a log, a line a minute."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._began = self._logged = time.monotonic()
        self._before = model.usage

    def __call__(self, task: str, done: int, total: int) -> None:
        """Show a task's progress."""
        now = time.monotonic()
        cost = self.cost(seconds=now - self._began)
        tell(f"{task}  {cost}", done, total)
        if not sys.stderr.isatty() and now - self._logged >= _LOG_EVERY:
            self._logged = now
            echo(f"{task} {done:,}/{total:,}  {cost}", err=True)

    def cost(self, *, seconds: float) -> str:
        """Return tokens, cost and rate after so many seconds."""
        usage, before = self._model.usage, self._before
        fresh = usage.tokens_in + usage.tokens_out - before.tokens_in - before.tokens_out
        rate = f"{fresh / seconds * 60:,.0f} tokens/min" if seconds > 0 else ""
        return f"{usage_text(usage)}  {rate}".rstrip()


def usage_text(usage: Usage) -> str:
    """Tokens and cost for people.

    >>> from radgauge.llm import Usage
    >>> usage_text(Usage(requests=2, tokens_in=1500, tokens_out=700, cost=0.0123))
    '2 requests, 1,500 + 700 tokens, cost 0.0123'
    """
    parts = [
        f"{usage.requests:,} requests, {usage.tokens_in:,} + {usage.tokens_out:,} tokens, cost {usage.cost:.4f}"
    ]
    if usage.unsure:
        parts.append(f"up to {usage.unsure:.4f} more unsure")
    if usage.retries:
        parts.append(f"{usage.retries:,} retries")
    return ", ".join(parts)
