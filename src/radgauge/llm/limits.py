"""Limits on requests (rates, money, patience), and usage so far."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from radgauge.core.errors import RadgaugeError, UsageError

MINUTE = 60.0


class Stopped(RadgaugeError):
    """The run was called off while something waited."""


class Clock(Protocol):
    """Time, so that tests need not wait."""

    def now(self) -> float:
        """Seconds; only differences mean something."""

    def sleep(self, seconds: float) -> None:
        """Wait; raises `Stopped` if the run is called off."""


class SystemClock:
    """The real time; `stop` wakes every sleeper."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; raises `Stopped` once `stop` was called."""
        if self.stopped.wait(seconds):
            raise Stopped("stopped")

    def stop(self) -> None:
        """Wake every sleeper, now and later."""
        self.stopped.set()


@dataclass(frozen=True)
class Limits:
    """Limits set by the user."""

    requests_per_minute: int = 0  # In any 60 seconds; 0 = no limit
    tokens_per_minute: int = 0  # Of questions and answers, in any 60 seconds; 0 = no limit
    price_in: float = 0.0  # Price of a million tokens of question, in any currency
    price_out: float = 0.0  # Price of a million tokens of answer
    max_cost: float | None = None  # Nothing is asked that could bring the cost above this; None = no limit
    timeout: float = 120.0  # Seconds from the question to the end of the answer, however slowly it comes
    attempts: int = 6  # Times that a question is put to a server that fails, is busy or does not answer
    longest_wait: float = 600.0  # Seconds; a server that wants a longer pause ends the run
    longest_answer: int = 4_000_000  # Bytes of an answer, unpacked; a longer one counts as a failure of the server

    def __post_init__(self) -> None:
        if min(self.requests_per_minute, self.tokens_per_minute, self.price_in, self.price_out) < 0:
            raise UsageError("rates and prices must not be negative")
        if self.timeout <= 0 or self.attempts < 1:
            raise UsageError("the time-out must be above 0 and the attempts at least 1")
        if self.max_cost is not None and not (self.price_in or self.price_out):
            raise UsageError("max_cost needs prices: give price_in and price_out too")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Cost of so many tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class Usage(NamedTuple):
    """Usage so far."""

    requests: int = 0  # Questions that were answered
    retries: int = 0  # Questions that had to be put again
    tokens_in: int = 0  # Tokens of the answered questions, as the server counts them
    tokens_out: int = 0  # Tokens of the answers
    cost: float = 0.0  # What these cost
    unsure: float = 0.0  # The most that questions without answer or without a count may have cost on top


class Window:
    """Keeps a rate: in no 60 seconds more than the limits. Callable from several threads."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits, self._clock = limits, clock
        self._lock = threading.Lock()
        self._past: deque[list[float]] = deque()  # [time, tokens]

    def enter(self, tokens: int) -> list[float]:
        """Wait for room for one request of about so many tokens; returns its entry, to be put right later."""
        if not (self._limits.requests_per_minute or self._limits.tokens_per_minute):
            return [self._clock.now(), float(tokens)]
        while True:
            with self._lock:
                now = self._clock.now()
                while self._past and self._past[0][0] <= now - MINUTE:
                    self._past.popleft()
                if self._has_room(tokens):
                    entry = [now, float(tokens)]
                    self._past.append(entry)
                    return entry
                wait = self._past[0][0] + MINUTE - now
            self._clock.sleep(max(wait, 0.001))

    def _has_room(self, tokens: int) -> bool:
        limits = self._limits
        if not self._past:
            return True  # a request above the limit goes alone
        if limits.requests_per_minute and len(self._past) >= limits.requests_per_minute:
            return False
        spent = sum(entry[1] for entry in self._past)
        return not limits.tokens_per_minute or spent + tokens <= limits.tokens_per_minute
