"""How a language-model server is asked, and what that may cost: options of the verbs that ask one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from radgauge.cli.options import ReadingOutput
    from radgauge.llm import Limits

_PANEL = "Language model"


@dataclass(frozen=True, kw_only=True)
class ServerLimits:
    """How fast a language-model server is asked, and what that may cost."""

    parallel: Annotated[
        int, typer.Option("--parallel", min=1, max=1000, help="Requests at the same time.", rich_help_panel=_PANEL)
    ] = 4
    requests_per_minute: Annotated[
        int, typer.Option("--requests-per-minute", min=0, help="0 = no limit.", rich_help_panel=_PANEL)
    ] = 0
    tokens_per_minute: Annotated[
        int, typer.Option("--tokens-per-minute", min=0, help="0 = no limit.", rich_help_panel=_PANEL)
    ] = 0
    price_in: Annotated[
        float,
        typer.Option("--price-in", min=0, help="Price of a million tokens of question.", rich_help_panel=_PANEL),
    ] = 0.0
    price_out: Annotated[
        float,
        typer.Option("--price-out", min=0, help="Price of a million tokens of answer.", rich_help_panel=_PANEL),
    ] = 0.0
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0,
            help="Ask nothing that could cost more than this in all; earlier runs on the same journal count.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", help="Seconds from a question to the end of its answer.", rich_help_panel=_PANEL
        ),
    ] = 120.0

    def limits(self) -> Limits:
        """What a run must stay within."""
        from radgauge.llm import Limits

        return Limits(
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            price_in=self.price_in,
            price_out=self.price_out,
            max_cost=self.max_cost,
            timeout=self.timeout,
        )


@dataclass(frozen=True, kw_only=True)
class Server(ServerLimits):
    """How a language-model server is asked about sentences."""

    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Sentences per request.", rich_help_panel=_PANEL)
    ] = 20
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Ask again for sentences that an earlier run gave up.", rich_help_panel=_PANEL
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class JudgeServer(ServerLimits):
    """Which language-model server judges, for the metric `llm_errors`."""

    llm_url: Annotated[
        str | None,
        typer.Option(
            "--llm-url",
            help="Server that judges for llm_errors: http://127.0.0.1:8080/v1; else RADGAUGE_LLM_URL.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    llm_model: Annotated[
        str | None,
        typer.Option("--llm-model", help="Its model; else RADGAUGE_LLM_MODEL.", rich_help_panel=_PANEL),
    ] = None
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            help="File of its answers, which are paid for once; else one in the cache folder.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def session(self, say: ReadingOutput) -> AbstractContextManager[None]:
        """A block in which the server is asked; nothing happens unless a metric asks."""
        from radgauge.cli.language_model import judge_session

        return judge_session(self, say)
