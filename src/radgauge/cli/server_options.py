"""How a language-model server is asked, and what that may cost: one option, `--llm KEY=VALUE`, for every verb."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from radgauge.core.config import read_config
from radgauge.core.errors import UsageError

if TYPE_CHECKING:
    from radgauge.cli.options import ReadingOutput
    from radgauge.llm import Limits


@dataclass(frozen=True, kw_only=True)
class LlmSettings:
    """Settings of a language-model server: `[llm]` in radgauge.toml, overridden by `--llm KEY=VALUE`."""

    url: str | None = None  # Server that is asked: http://127.0.0.1:8080/v1; else RADGAUGE_LLM_URL
    model: str | None = None  # Its model; else RADGAUGE_LLM_MODEL
    parallel: int = 4  # Requests at the same time
    requests_per_minute: int = 0  # 0 = no limit
    tokens_per_minute: int = 0  # 0 = no limit
    price_in: float = 0.0  # Price of a million tokens of question
    price_out: float = 0.0  # Price of a million tokens of answer
    # Nothing is asked that could cost more than this in all; earlier runs on the same journal count
    max_cost: float | None = None
    timeout: float = 120.0  # Seconds from a question to the end of its answer
    journal: Path | None = None  # File of the answers, which are paid for once; else one in the cache folder
    batch: int = 20  # Sentences per request
    retry_failed: bool = False  # Ask again for sentences that an earlier run gave up

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


NAMES = tuple(field.name for field in fields(LlmSettings))
_NUMBERS = {"parallel": int, "requests_per_minute": int, "tokens_per_minute": int, "batch": int}
_REALS = ("price_in", "price_out", "max_cost", "timeout")


def parse_settings(values: Mapping[str, Any], *, batch: int) -> LlmSettings:
    """Return the settings that a table or options name, each checked.

    >>> parse_settings({"max_cost": "2.5", "parallel": 8}, batch=20).max_cost
    2.5
    """
    checked: dict[str, Any] = {"batch": batch}
    for name, value in values.items():
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--llm: no setting {name!r}{hint} There are: {', '.join(NAMES)}")
        try:
            if name in _NUMBERS or name in _REALS:
                number = _NUMBERS.get(name, float)(value)
                if number < (1 if name in ("parallel", "batch") else 0):
                    raise ValueError
                checked[name] = number
            elif name == "retry_failed":
                checked[name] = {"true": True, "false": False}[str(value).lower()]
            else:
                checked[name] = Path(value) if name == "journal" else str(value)
        except (ValueError, KeyError, TypeError):
            kind = "true or false" if name == "retry_failed" else "a number of at least 0"
            kind = "a whole number of at least 1" if name in ("parallel", "batch") else kind
            raise UsageError(f"--llm {name}= must be {kind}, got {value!r}") from None
    return LlmSettings(**checked)


@dataclass(frozen=True, kw_only=True)
class Server:
    """How a language-model server is asked about sentences."""

    sentences_per_request: ClassVar[int] = 20

    llm: Annotated[
        list[str] | None,
        typer.Option(
            "--llm",
            metavar="KEY=VALUE",
            help="Language-model server: url, model, price_in, price_out, max_cost, parallel, timeout, journal, "
            "batch, retry_failed, requests_per_minute, tokens_per_minute; else [llm] of radgauge.toml. Repeat it.",
        ),
    ] = None

    @property
    def settings(self) -> LlmSettings:
        """The settings of the configuration file, overridden by those of the command line."""
        values = dict(read_config().table("llm"))
        for text in self.llm or ():
            name, sign, value = text.partition("=")
            if not sign:
                raise UsageError(f"--llm must be KEY=VALUE, got {text!r}; keys: {', '.join(NAMES)}")
            values[name.strip().replace("-", "_")] = value.strip()
        return parse_settings(values, batch=self.sentences_per_request)


@dataclass(frozen=True, kw_only=True)
class ReportServer(Server):
    """How a language-model server is asked about the sentences of plain texts."""

    sentences_per_request: ClassVar[int] = 50


@dataclass(frozen=True, kw_only=True)
class JudgeServer(Server):
    """Which language-model server judges, for the metrics that ask one."""

    def session(self, say: ReadingOutput) -> AbstractContextManager[None]:
        """A block in which the server is asked; nothing happens unless a metric asks."""
        from radgauge.cli.language_model import judge_session

        return judge_session(self.settings, say)
