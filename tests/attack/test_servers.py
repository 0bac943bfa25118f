"""Servers that answer anything: a text, or an error of the run; never an exception of another kind."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fuzzing import attempts
from scripted_llm import FakeClock, Reply, ScriptedServer

from radgauge.llm.client import LanguageModel, LlmError, TooLong
from radgauge.llm.limits import Limits
from radgauge.llm.server import server_from_environment

pytestmark = pytest.mark.process

pytest.importorskip("openai", reason="the extra llm is not installed")

VALUES = [None, True, -1, 1e308, "", "text", "\ud800", "\x1b[2J", [], {}, [[]], {"content": None}, "9" * 5000]
FIELDS = ("choices", "usage", "id", "model", "message", "content", "finish_reason", "prompt_tokens", "error")


def _value(rng: np.random.Generator, depth: int = 0) -> object:
    roll = rng.random()
    if depth > 3 or roll < 0.4:
        return VALUES[int(rng.integers(len(VALUES)))]
    if roll < 0.6:
        return [_value(rng, depth + 1) for _ in range(int(rng.integers(3)))]
    return {str(name): _value(rng, depth + 1) for name in rng.choice(FIELDS, int(rng.integers(1, 5)))}


def _reply(rng: np.random.Generator) -> Reply:
    body = json.dumps(_value(rng)).encode()
    if rng.random() < 0.3:
        body = body[: int(rng.integers(len(body) + 1))] + rng.bytes(3)
    return Reply(body=body, status=int(rng.choice([200, 200, 200, 400, 413, 429, 500])))


def test_any_answer(llm_server: ScriptedServer) -> None:
    limits = Limits(timeout=30, attempts=2)
    model = LanguageModel(server_from_environment(llm_server.environment), limits=limits, clock=FakeClock())
    for rng in attempts(60):
        llm_server.behaviour = lambda request, rng=rng: _reply(rng)  # type: ignore[misc]
        try:
            found = model.ask("system", "user", max_tokens=10)
        except (LlmError, TooLong):
            continue
        assert isinstance(found.text, str)
    model.close()
