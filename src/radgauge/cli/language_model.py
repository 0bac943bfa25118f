"""How verbs ask a language model and show what it costs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.core.progress import tell

if TYPE_CHECKING:
    from pathlib import Path

    from radgauge.cli.options import JudgeServer, ReadingOutput
    from radgauge.llm import Journal, LanguageModel, Limits, Session, Usage

_LOG_EVERY = 60.0  # seconds


@contextmanager
def open_model(
    journal_path: Path, limits: Limits, *, name: str | None = None
) -> Iterator[tuple[LanguageModel, Journal]]:
    """The language model of the environment, or another one of its server, with its journal; says on stderr where
    texts will go.
    """
    from radgauge.llm import Journal, LanguageModel, server_from_environment
    from radgauge.llm.server import MODEL

    server = server_from_environment({**os.environ, MODEL: name} if name is not None else None)
    echo(f"note: {server.notice}", err=True)
    with Journal(journal_path) as journal:
        keeps(lambda: len(journal) > 0)
        model = LanguageModel(
            server,
            limits=limits,
            past=journal.costs(),
            ledger=lambda record: journal.add({}, costs=[record]),
        )
        try:
            yield model, journal
        finally:
            model.close()


@contextmanager
def judge_session(options: JudgeServer, say: ReadingOutput) -> Iterator[None]:
    """A block in which metrics ask the server that the options or the environment name.

    The key of the environment goes to the host that the environment names and, if it names none, to that of the
    options: never to a host that it was not meant for.
    """
    from radgauge.llm import session
    from radgauge.llm.server import KEY, MODEL, URL, Server, server_from_environment

    def name_server() -> Server:
        found = dict(os.environ)
        if options.llm_url is not None:
            meant = urlsplit(found.get(URL, "")).hostname
            if meant is not None and meant != urlsplit(options.llm_url).hostname:
                found.pop(KEY, None)
            found[URL] = options.llm_url
        if options.llm_model is not None:
            found[MODEL] = options.llm_model
        return server_from_environment(found)

    lines: list[CostLine] = []

    def show(model: LanguageModel, task: str, done: int, total: int) -> None:
        if not lines:
            lines.append(CostLine(model))
        lines[0](task, done, total)

    def announce(opened: Session) -> None:
        echo(f"note: {opened.model.server.notice}", err=True)
        if options.journal is not None or not say.no_cache:
            keeps(lambda: len(opened.journal) > 0)

    with session(
        name_server,
        limits=options.limits(),
        journal=options.journal,
        keep=not say.no_cache,
        parallel=options.parallel,
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
