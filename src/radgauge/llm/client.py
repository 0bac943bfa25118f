"""Ask a language model: with patience, within a rate and a budget, counting every token."""

from __future__ import annotations

import email.utils
import json
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from radgauge.core.errors import RadgaugeError, require
from radgauge.llm.account import Account
from radgauge.llm.bounded import Errand, TooLarge, http_client
from radgauge.llm.journal import Record
from radgauge.llm.limits import Clock, Limits, Stopped, SystemClock, Usage, Window
from radgauge.llm.server import OPENAI, Server

log = logging.getLogger(__name__)

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = (
    1.0,
    60.0,
)  # seconds between attempts: doubled each time, at random up to a half less
_OVERHEAD = 64  # tokens that a server may add around two messages
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,40}")  # an error code that a server gives; never its message
_LONGEST_NAME = 200
_COMPLETE = ("stop", "tool_calls", "function_call")  # how an answer ends that is whole
_FORM_REFUSED = re.compile(r"response_format|json_schema|json_object|\bgrammar\b|\bschema\b", re.IGNORECASE)


class LlmError(RadgaugeError):
    """The server refuses, is not there, or fails again and again; what was answered before is kept."""


class NoAnswer(LlmError):
    """The server is busy, silent or broken for one question, however often it is put."""

    def __init__(self, message: str, *, why: str) -> None:
        super().__init__(message)
        self.why = why


class TooLong(RadgaugeError):
    """The question does not fit the model; fewer sentences at a time may."""


class Answer(NamedTuple):
    """Answer of the model."""

    text: str  # The answer, as it came; the arguments of a tool call if that is what came
    cut: str  # Why it ended early: "" if it did not
    cost: Record  # For the journal, to be written together with what the answer is worth
    refusal: bool = False  # True if the model says that it will not answer
    source: tuple[str, str] = ("", "")  # The model and its fingerprint, as the server names them
    form: str = "free"  # How the server was held to the form of the answer: one of FORMS


FORMS = ("json_schema", "json_object", "free")
"""How a server is held to the form of an answer, the strictest first: by a grammar made of the schema, to any JSON
object, by the question alone. What a server refuses is not asked of it again."""


class Wish(NamedTuple):
    """Options of a request beside its words."""

    schema: Mapping[str, Any] | None = None  # JSON schema of the answer; None = any text
    temperature: float = 0.0
    seed: int | None = None  # Of the sampling; None = the server's


class LanguageModel:
    """One model on one server; usable from several threads.

    Args:
        server: Whom to ask.
        limits: Rates, prices, patience.
        clock: Time.
        rng: For the jitter of pauses.
        past: Cost records of earlier runs.
        ledger: Told of every request before it is sent and if it came to nothing.
    """

    def __init__(
        self,
        server: Server,
        *,
        limits: Limits | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        past: Iterable[Record] = (),
        ledger: Callable[[Record], None] | None = None,
    ) -> None:
        self.server = server
        self.limits = limits or Limits()
        self.clock = clock or SystemClock()
        self._rng = rng or random.Random()
        self._account = Account(self.limits, past, ledger or (lambda record: None))
        self._window = Window(self.limits, self.clock)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._errand = Errand()
        self._refuses: frozenset[str] = frozenset()  # settings that the server does without
        self._form = 0  # position in FORMS
        self._length = "max_tokens"
        self._client_made: Any = None

    @property
    def usage(self) -> Usage:
        """Usage so far, earlier runs included."""
        return self._account.usage

    @property
    def refuses(self) -> frozenset[str]:
        """Settings that the server does not take: temperature, seed."""
        return self._refuses

    def ask(
        self,
        system: str,
        user: str,
        *,
        max_tokens: int,
        wish: Wish = Wish(),  # noqa: B008 (a tuple)
        turns: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """Put one question.

        Args:
            system: What the model is to do.
            user: With what.
            max_tokens: Longest answer.
            wish: Form and sampling of the answer.
            turns: What was said since, as (role, text).

        Raises:
            LlmError: The server refuses or keeps failing.
            BudgetReached: The answer could cost more than is left; nothing was asked.
            TooLong: The question does not fit the model.
            Stopped: `stop` was called.
        """
        messages = [*([("system", system)] if system else []), ("user", user), *turns]
        most_in = _most_tokens(messages, wish)
        pause = 0.0
        why = ""
        for attempt in range(self.limits.attempts):
            if attempt:
                self.clock.sleep(pause)
                self._account.retried()
            entry = self._window.enter(most_in // 3 + max_tokens)
            if self._stop.is_set():
                raise Stopped("stopped")
            number = self._account.reserve(most_in, max_tokens)
            if self._stop.is_set():  # while it waited for the answers under way
                self._account.failed(number, may_be_charged=False)
                raise Stopped("stopped")
            try:
                response, form = self._send_in_time(messages, wish, max_tokens)
            except _Failed as failed:
                self._account.failed(number, may_be_charged=failed.may_be_charged)
                why = failed.why
                pause = self._pause(attempt, failed.wait)
                continue
            except BaseException as error:
                self._account.failed(number, may_be_charged=isinstance(error, Stopped))
                raise
            tokens = _tokens(response)
            if tokens is not None:
                entry[1] = float(sum(tokens))
            cost = self._account.answered(number, tokens)
            choice = response.choices[0]
            reason = str(getattr(choice, "finish_reason", "") or "")
            return Answer(
                _text_of(choice.message),
                "" if reason in _COMPLETE else reason,
                cost,
                bool(getattr(choice.message, "refusal", None)),
                (_name(response, "model"), _name(response, "system_fingerprint")),
                form,
            )
        raise NoAnswer(
            f"{self.server.host} did not answer after {self.limits.attempts} attempts ({why}); "
            "what was answered before is kept, the same command goes on from there",
            why=why,
        )

    def stop(self, *, at_once: bool = False) -> None:
        """Send no further question, and wake whoever waits for a pause to end.

        Args:
            at_once: Give up the requests under way too; otherwise their answers, which are paid for, are kept.
        """
        self._stop.set()
        if self._account.under_way:
            done = "are given up, and may be charged" if at_once else "are waited for; their answers are kept"
            log.warning("%d requests under way %s", self._account.under_way, done)
        if at_once:
            self._errand.stop()
        if isinstance(self.clock, SystemClock):
            self.clock.stop()

    def close(self) -> None:
        """Close the connections."""
        if self._client_made is not None:
            self._client_made.close()

    def _pause(self, attempt: int, requested: float | None) -> float:
        if requested is not None and requested > self.limits.longest_wait:
            raise LlmError(
                f"{self.server.host} asks to wait {requested:.0f} s; what was answered before is kept, "
                "the same command goes on from there later"
            )
        pause: float = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) * self._rng.uniform(0.5, 1.0)
        return pause if requested is None else max(pause, requested)

    def _client(self) -> Any:
        with self._lock:
            if self._client_made is None:
                openai = require("openai", extra="llm")
                http = http_client(
                    timeout=self.limits.timeout,
                    max_bytes=self.limits.longest_answer,
                    trust_env=not self.server.is_local,  # no proxy for this machine
                )
                self._client_made = openai.OpenAI(
                    api_key=self.server.key.reveal() or "none",
                    base_url=self.server.url,
                    timeout=self.limits.timeout,
                    max_retries=0,
                    http_client=http,
                )
                if self.server.host != OPENAI:  # the client adds what the environment says of an account there
                    made = self._client_made
                    made.organization = made.project = made.admin_api_key = None
                    made._custom_headers = {}
            return self._client_made

    def _send_in_time(self, messages: Sequence[tuple[str, str]], wish: Wish, max_tokens: int) -> tuple[Any, str]:
        limit = self.limits.timeout
        try:
            return self._errand.run(lambda: self._send(messages, wish, max_tokens), seconds=limit)
        except TimeoutError:
            raise _Failed(f"no answer in {limit:g} s", may_be_charged=True) from None

    def _send(self, messages: Sequence[tuple[str, str]], wish: Wish, max_tokens: int) -> tuple[Any, str]:
        openai = require("openai", extra="llm")
        client = self._client()
        spoken = [{"role": role, "content": text} for role, text in messages]
        while True:
            form = FORMS[self._form] if wish.schema is not None else "free"
            length, settings = self._length, self._settings(wish, form)
            try:
                response = client.chat.completions.create(
                    model=self.server.model, messages=spoken, **{length: max_tokens}, **settings
                )
            except openai.APITimeoutError:
                raise _Failed(f"no answer in {self.limits.timeout:g} s", may_be_charged=True) from None
            except TooLarge as error:
                raise _Failed(str(error), may_be_charged=True) from None
            except openai.APIConnectionError as error:
                if isinstance(error.__cause__, TooLarge):  # older releases wrap it
                    raise _Failed(str(error.__cause__), may_be_charged=True) from None
                cause = type(error.__cause__).__name__ if error.__cause__ else "no connection"
                raise _Failed(f"connection failed: {cause}", may_be_charged=cause != "ConnectError") from None
            except openai.APIStatusError as error:
                if self._adapts(error, length, settings, form):
                    continue
                self._refused(error)
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                raise _Failed(f"an answer that is no JSON: {type(error).__name__}", may_be_charged=True) from None
            choices = getattr(response, "choices", None)
            if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
                raise _Failed("an answer without a message", may_be_charged=True)
            return response, form

    def _settings(self, wish: Wish, form: str) -> dict[str, Any]:
        """Settings sent beside the messages, as far as the server takes them."""
        settings: dict[str, Any] = {"temperature": wish.temperature}
        if wish.seed is not None:
            settings["seed"] = wish.seed
        settings = {name: value for name, value in settings.items() if name not in self._refuses}
        if form == "json_schema":
            made = {"name": "answer", "schema": wish.schema, "strict": True}
            settings["response_format"] = {"type": form, "json_schema": made}
        elif form == "json_object":
            settings["response_format"] = {"type": form}
        return settings

    def _adapts(self, error: Any, length: str, settings: dict[str, Any], form: str) -> bool:
        """True if the server only rejects a setting that we can do without; newer models do."""
        if error.status_code not in (400, 422):
            return False
        message, param = str(error), str(getattr(error, "param", None) or "")
        if length == "max_tokens" and "max_completion_tokens" in message:
            self._length = "max_completion_tokens"
            return True
        for name in ("temperature", "seed"):
            if name in settings and (param == name or (not param and f"'{name}'" in message)):
                self._refuses |= {name}
                return True
        if form != "free" and (param.startswith("response_format") or _FORM_REFUSED.search(message)):
            self._form = max(self._form, FORMS.index(form) + 1)
            return True
        return False

    def _refused(self, error: Any) -> NoReturn:
        status = int(error.status_code)
        code = str(getattr(error, "code", "") or "")
        if status == 413 or (status in (400, 422) and "context" in f"{code} {error}".lower()):
            raise TooLong("the question does not fit the model") from None
        if status in _BUSY and code != "insufficient_quota":
            raise _Failed(f"status {status}", wait=_requested_wait(error.response.headers)) from None
        hint = {
            401: "check RADGAUGE_LLM_KEY",
            403: "check RADGAUGE_LLM_KEY",
            404: "check RADGAUGE_LLM_URL and _MODEL",
        }
        more = f"; {hint[status]}" if status in hint else ""
        named = f" ({code})" if _CODE.fullmatch(code) else ""
        raise LlmError(
            f"{self.server.host} refused with status {status}{named}{more}; its message is not shown, as it may "
            "repeat the question"
        ) from None


class _Failed(Exception):
    """One attempt came to nothing; another may not."""

    def __init__(self, why: str, *, wait: float | None = None, may_be_charged: bool = False) -> None:
        super().__init__(why)
        self.why, self.wait, self.may_be_charged = why, wait, may_be_charged


def _most_tokens(messages: Iterable[tuple[str, str]], wish: Wish) -> int:
    """No token is shorter than a byte; a server may show the model the schema too."""
    schema = len(json.dumps(wish.schema)) if wish.schema is not None else 0
    return sum(len(text.encode("utf-8", "replace")) for _, text in messages) + schema + _OVERHEAD


def _text_of(message: Any) -> str:
    """The text of an answer; that of a tool call if the model took the form for a tool."""
    text = getattr(message, "content", None)
    if isinstance(text, str) and text.strip():
        return text
    calls = getattr(message, "tool_calls", None)
    if isinstance(calls, list) and len(calls) == 1:
        arguments = getattr(getattr(calls[0], "function", None), "arguments", None)
        return arguments if isinstance(arguments, str) else ""
    return ""


def _name(response: Any, what: str) -> str:
    """A short name that the server gives; nothing else that it may have put there."""
    name = getattr(response, what, None)
    return name if isinstance(name, str) and len(name) <= _LONGEST_NAME and name.isprintable() else ""


def _tokens(response: Any) -> tuple[int, int] | None:
    """Tokens of question and answer as the server counts them; None if it does not say."""
    usage = getattr(response, "usage", None)
    counts = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if all(isinstance(count, int) and count >= 0 for count in counts):
        return counts  # type: ignore[return-value]
    return None


def _requested_wait(headers: Any) -> float | None:
    """Seconds that the server asks to wait: Retry-After in seconds or as a date."""
    header = headers.get("retry-after")
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
