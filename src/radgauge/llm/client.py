"""Ask a language model: with patience, within a rate and a budget, counting every token."""

from __future__ import annotations

import email.utils
import logging
import random
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

from radgauge.errors import RadgaugeError, require
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
_SHOWN = 300  # characters of a server's message


class LlmError(RadgaugeError):
    """The server refuses, is not there, or fails again and again; what was answered before is kept."""


class TooLong(RadgaugeError):
    """The question does not fit the model; fewer sentences at a time may."""


class Answer(NamedTuple):
    """What the model said.

    Attributes:
        text: The answer, as it came.
        cut: Why it ended early: "" if it did not.
        cost: For the journal, to be written together with what the answer is worth.
    """

    text: str
    cut: str
    cost: Record


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
        self._settings: dict[str, Any] = {"temperature": 0.0}
        self._length = "max_tokens"
        self._client_made: Any = None

    @property
    def usage(self) -> Usage:
        """What was asked so far, earlier runs included."""
        return self._account.usage

    def ask(self, system: str, user: str, *, max_tokens: int) -> Answer:
        """Put one question.

        Args:
            system: What the model is to do.
            user: With what.
            max_tokens: Longest answer.

        Raises:
            LlmError: The server refuses or keeps failing.
            BudgetReached: The answer could cost more than is left; nothing was asked.
            TooLong: The question does not fit the model.
            Stopped: `stop` was called.
        """
        most_in = len(system.encode()) + len(user.encode()) + _OVERHEAD  # no token is shorter than a byte
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
            try:
                found = self._send_in_time(system, user, max_tokens)
            except _Failed as failed:
                self._account.failed(number, may_be_charged=failed.may_be_charged)
                why = failed.why
                pause = self._pause(attempt, failed.wait)
                continue
            except BaseException as error:
                self._account.failed(number, may_be_charged=isinstance(error, Stopped))
                raise
            tokens = _tokens(found)
            if tokens is not None:
                entry[1] = float(sum(tokens))
            cost = self._account.answered(number, tokens)
            choice = found.choices[0]
            reason = str(getattr(choice, "finish_reason", "") or "")
            text = getattr(choice.message, "content", None)
            return Answer(text if isinstance(text, str) else "", "" if reason == "stop" else reason, cost)
        raise LlmError(
            f"{self.server.host} did not answer after {self.limits.attempts} attempts ({why}); "
            "what was answered before is kept, the same command goes on from there"
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

    def _pause(self, attempt: int, wanted: float | None) -> float:
        if wanted is not None and wanted > self.limits.longest_wait:
            raise LlmError(
                f"{self.server.host} asks to wait {wanted:.0f} s; what was answered before is kept, "
                "the same command goes on from there later"
            )
        pause: float = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) * self._rng.uniform(0.5, 1.0)
        return pause if wanted is None else max(pause, wanted)

    def _client(self) -> Any:
        with self._lock:
            if self._client_made is None:
                openai = require("openai", extra="llm")
                http = http_client(
                    timeout=self.limits.timeout,
                    most=self.limits.longest_answer,
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

    def _send_in_time(self, system: str, user: str, max_tokens: int) -> Any:
        limit = self.limits.timeout
        try:
            return self._errand.run(lambda: self._send(system, user, max_tokens), seconds=limit)
        except TimeoutError:
            raise _Failed(f"no answer in {limit:g} s", may_be_charged=True) from None

    def _send(self, system: str, user: str, max_tokens: int) -> Any:
        openai = require("openai", extra="llm")
        client = self._client()
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        while True:
            length, settings = self._length, dict(self._settings)
            try:
                found = client.chat.completions.create(
                    model=self.server.model, messages=messages, **{length: max_tokens}, **settings
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
                if self._adapts(error, length, settings):
                    continue
                self._refused(error)
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                raise _Failed(f"an answer that is no JSON: {type(error).__name__}", may_be_charged=True) from None
            choices = getattr(found, "choices", None)
            if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
                raise _Failed("an answer without a message", may_be_charged=True)
            return found

    def _adapts(self, error: Any, length: str, settings: dict[str, Any]) -> bool:
        """Whether the server only dislikes a setting that we can do without; newer models do."""
        if error.status_code != 400:
            return False
        said = str(error)
        if length == "max_tokens" and "max_completion_tokens" in said:
            self._length = "max_completion_tokens"
            return True
        if "temperature" in settings and getattr(error, "param", None) == "temperature":
            self._settings = {}
            return True
        return False

    def _refused(self, error: Any) -> NoReturn:
        status = int(error.status_code)
        said = " ".join(self.server.key.hide_in(str(error)).split())[:_SHOWN]
        code = str(getattr(error, "code", "") or "")
        if status == 413 or (status in (400, 422) and "context" in f"{code} {said}".lower()):
            raise TooLong(f"the question does not fit the model ({said})") from None
        if status in _BUSY and code != "insufficient_quota":
            raise _Failed(f"status {status}", wait=_wanted_wait(error.response.headers)) from None
        hint = {
            401: "check RADGAUGE_LLM_KEY",
            403: "check RADGAUGE_LLM_KEY",
            404: "check RADGAUGE_LLM_URL and _MODEL",
        }
        more = f"; {hint[status]}" if status in hint else ""
        raise LlmError(f"{self.server.host} refused with status {status}{more}: {said}") from None


class _Failed(Exception):
    """One attempt came to nothing; another may not."""

    def __init__(self, why: str, *, wait: float | None = None, may_be_charged: bool = False) -> None:
        super().__init__(why)
        self.why, self.wait, self.may_be_charged = why, wait, may_be_charged


def _tokens(found: Any) -> tuple[int, int] | None:
    """Tokens of question and answer as the server counts them; None if it does not say."""
    usage = getattr(found, "usage", None)
    counts = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if all(isinstance(each, int) and each >= 0 for each in counts):
        return counts  # type: ignore[return-value]
    return None


def _wanted_wait(headers: Any) -> float | None:
    """Seconds that the server asks to wait: Retry-After in seconds or as a date."""
    said = headers.get("retry-after")
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
