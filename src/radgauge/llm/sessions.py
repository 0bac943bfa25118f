"""A session: which server is asked within a block of code, and what that may cost.

Metrics are settings and hold neither a connection nor a budget; they ask the session that is open. If none is, one
is opened for the server that the environment names. A session names its server, opens its journal and says where
texts go when the first question is put, so a block that asks nothing needs no server.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from radgauge.core.storage import default_cache_dir, passing_folder
from radgauge.llm.client import LanguageModel
from radgauge.llm.journal import Journal, key_of
from radgauge.llm.limits import Clock, Limits
from radgauge.llm.server import Server, server_from_environment

log = logging.getLogger(__name__)

FOLDER = "language-model"
"""Where journals lie in the cache folder."""


@dataclass(frozen=True, eq=False)
class Session:
    """One server, one budget, one journal."""

    model: LanguageModel
    journal: Journal  # What was answered before; takes what is answered now
    parallel: int  # Requests at the same time
    # Told of the model, the task, how many questions are done and of how many, after each answer
    progress: Callable[[LanguageModel, str, int, int], None] | None
    announce: Callable[[Session], None]  # Told before the first text is sent
    _announced: threading.Event = field(default_factory=threading.Event)

    def say_where_texts_go(self) -> None:
        """Once in a session, by the thread that puts the questions."""
        if not self._announced.is_set():
            self._announced.set()
            self.announce(self)


class _Planned:
    """Plan of a session, and the session once it is needed."""

    def __init__(self, name_server: Callable[[], Server], open_it: Callable[[Server], Session]) -> None:
        self._name_server, self._open = name_server, open_it
        self._opened: Session | None = None

    @property
    def server(self) -> Server:
        return self._name_server() if self._opened is None else self._opened.model.server

    def open(self) -> Session:
        if self._opened is None:
            self._opened = self._open(self._name_server())
        return self._opened


_PLANNED: ContextVar[_Planned | None] = ContextVar("radgauge_llm_session", default=None)


@contextmanager
def session(
    server: Server | Callable[[], Server] = server_from_environment,
    *,
    limits: Limits | None = None,
    journal: Path | None = None,
    keep: bool = True,
    parallel: int = 4,
    progress: Callable[[LanguageModel, str, int, int], None] | None = None,
    announce: Callable[[Session], None] | None = None,
    clock: Clock | None = None,
) -> Iterator[None]:
    """Within the block, metrics that ask a language model ask this one.

    Args:
        server: Whom to ask, or a function that says so when the first question is put; by default the server that
            the environment names.
        limits: Rates, prices, patience, the greatest cost.
        journal: File of the answers; what earlier runs on it cost counts. None = one for this server and model in
            the cache folder, shared by all runs, where each run has a budget of its own.
        keep: False keeps no answer after the block, unless a journal is named.
        parallel: Requests at the same time.
        progress: Told of the model, the task, how many questions are done and of how many, after each answer.
        announce: Told before the first text is sent; None = a warning in the log says where texts go.
        clock: Time.
    """
    with ExitStack() as stack:

        def open_it(named: Server) -> Session:
            folder = default_cache_dir()
            if not keep:
                folder = stack.enter_context(passing_folder())
            answers = stack.enter_context(Journal(journal or _default_journal(named, folder)))
            model = LanguageModel(
                named,
                limits=limits,
                clock=clock,
                past=answers.costs() if journal is not None else (),
                ledger=lambda record: answers.add({}, costs=[record]),
            )
            stack.callback(model.close)
            return Session(model, answers, max(1, parallel), progress, announce or _warn)

        name_server = (lambda: server) if isinstance(server, Server) else server
        held = _PLANNED.set(_Planned(name_server, open_it))
        try:
            yield
        finally:
            _PLANNED.reset(held)


@contextmanager
def open_session() -> Iterator[Session]:
    """The session of the block that this runs in, or one for the server of the environment.

    Raises:
        UsageError: No server is named, or it is not allowed.
    """
    planned = _PLANNED.get()
    if planned is not None:
        yield planned.open()
        return
    with session():
        yield _planned().open()


def named_server() -> Server:
    """The server of the block that this runs in, or of the environment.

    Raises:
        UsageError: None is named, or it is not allowed.
    """
    planned = _PLANNED.get()
    return server_from_environment() if planned is None else planned.server


def _planned() -> _Planned:
    planned = _PLANNED.get()
    if planned is None:
        raise RuntimeError("a session must have been planned")
    return planned


def _warn(opened: Session) -> None:
    log.warning("%s", opened.model.server.notice)


def kept_journals() -> list[Path]:
    """The journals in the cache folder, one for each server and model that was asked."""
    return sorted((default_cache_dir() / FOLDER).glob("*.jsonl"))


def _default_journal(server: Server, folder: Path) -> Path:
    return folder / FOLDER / f"{key_of(server.url, server.model)}.jsonl"
