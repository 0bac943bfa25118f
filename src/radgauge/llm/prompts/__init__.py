"""Prompts, as data. Those for lay language follow the structure of Layman's RRG (appendix A), in our words."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_MARK = "\n===\n"


class Prompt(NamedTuple):
    """What the model is to do, and the frame of the question with {items} in it."""

    system: str
    user: str


@lru_cache(maxsize=8)
def prompt(name: str) -> Prompt:
    """The prompt of a task: translate, revise, check, triples."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    system, _, user = text.partition(_MARK)
    return Prompt(system.strip(), user.strip())
