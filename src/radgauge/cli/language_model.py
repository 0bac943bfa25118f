"""Access of verbs to a language model, and display of its cost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from radgauge.cli.commands import program
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.core.errors import UsageError
from radgauge.core.progress import tell

if TYPE_CHECKING:
    from radgauge.llm import Journal, LanguageModel, Limits, Session, Usage
    from radgauge.llm.server import Server


@dataclass(frozen=True, kw_only=True)
class LlmSettings:
    """Settings of a language-model server: `[llm]` in radgauge.toml, overridden by `--llm KEY=VALUE`."""

    url: Annotated[str | None, "Server that is asked: http://127.0.0.1:8080/v1; else RADGAUGE_LLM_URL."] = None
    model: Annotated[str | None, "Its model; else RADGAUGE_LLM_MODEL."] = None
    parallel: Annotated[int, "Requests at the same time."] = 4
    requests_per_minute: Annotated[int, "0 = no limit."] = 0
    tokens_per_minute: Annotated[int, "0 = no limit."] = 0
    price_in: Annotated[float, "Price of a million tokens of question."] = 0.0
    price_out: Annotated[float, "Price of a million tokens of answer."] = 0.0
    max_cost: Annotated[
        float | None, "Nothing is asked that could cost more than this in all; earlier runs on the journal count."
    ] = None
    timeout: Annotated[float, "Seconds from a question to the end of its answer."] = 120.0
    journal: Annotated[
        Path | None, "File of the answers, which are paid for once; else one in the cache folder."
    ] = None
    batch: Annotated[int, "Sentences per request."] = 20
    retry_failed: Annotated[bool, "Ask again for sentences that an earlier run gave up."] = False

    def __post_init__(self) -> None:
        for name in ("parallel", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"--llm {name}= must be a whole number of at least 1, got {getattr(self, name)}")
        for name in ("requests_per_minute", "tokens_per_minute", "price_in", "price_out", "max_cost", "timeout"):
            if not (getattr(self, name) or 0) >= 0:
                raise UsageError(f"--llm {name}= must be a number of at least 0, got {getattr(self, name)}")

    def limits(self) -> Limits:
        """Return what a run must stay within."""
        from radgauge.llm import Limits

        return Limits(
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            price_in=self.price_in,
            price_out=self.price_out,
            max_cost=self.max_cost,
            timeout=self.timeout,
        )


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
def judge_session(settings: LlmSettings) -> Iterator[None]:
    """A block in which metrics ask the server that the settings or the environment name."""
    from radgauge.llm import session

    lines: list[CostLine] = []

    def show(model: LanguageModel, task: str, done: int, total: int) -> None:
        if not lines:
            lines.append(CostLine(model))
        lines[0](task, done, total)

    def announce(opened: Session) -> None:
        echo(f"note: {opened.model.server.notice}", err=True)
        if settings.journal is not None or not program().no_cache:
            keeps(lambda: len(opened.journal) > 0)

    with session(
        partial(name_server, settings),
        limits=settings.limits(),
        journal=settings.journal,
        keep=not program().no_cache,
        parallel=settings.parallel,
        progress=None if program().quiet else show,
        announce=announce,
    ):
        yield


class CostLine:
    """Progress of a task with what it has cost, in the line of `core.progress`."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._began = time.monotonic()
        self._before = model.usage

    def __call__(self, task: str, done: int, total: int) -> None:
        """Show a task's progress."""
        tell(f"{task}  {self.cost(seconds=time.monotonic() - self._began)}", done, total)

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
