"""Prompts, as data. Those for lay language follow the structure of Layman's RRG (appendix A), in our words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_MARK = "\n===\n"


class Prompt(NamedTuple):
    """What the model is to do, and the frame of the question with {items} and {form} in it."""

    system: str
    user: str

    def fill(self, items: Sequence[object]) -> str:
        """The question about these items: numbered from 0, with the form of the answer.

        >>> Prompt("", "{items} {form}").fill(["a", "b", "c", "d"])
        '{\\n "0": "a",\\n "1": "b",\\n "2": "c",\\n "3": "d"\\n} {"0": "...", "1": "...", ..., "3": "..."}'
        """
        shown = json.dumps(dict(enumerate(items)), ensure_ascii=False, indent=1)
        places = [f'"{number}": "..."' for number in range(len(items))]
        if len(places) > 3:
            places[2:-1] = ["..."]
        return self.user.replace("{form}", f"{{{', '.join(places)}}}").replace("{items}", shown)


@lru_cache(maxsize=8)
def prompt(name: str) -> Prompt:
    """The prompt of a task: translate, revise, check, triples."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    system, _, user = text.partition(_MARK)
    return Prompt(system.strip(), user.strip())
