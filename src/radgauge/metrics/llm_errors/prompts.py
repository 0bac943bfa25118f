"""The judge's prompts: data files of our own, or one file of the user's."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError
from radgauge.metrics.llm_errors.fences import RULE, fenced

FILES = {
    "findings": "findings.txt",
    "green": "findings.txt",
    "crimson": "findings.txt",
    "rating": "rating.txt",
    "preference": "preference.txt",
    "entailment": "entailment.txt",
}
_DATA = Path(__file__).parent / "data"
_MARK = "\n===\n"
_PLACEHOLDER = re.compile(r"\{(context|reference|candidate|first|second|form)\}")
_MAX_BYTES = 100_000  # bytes of a prompt


class JudgePrompt(NamedTuple):
    """Instructions to the model."""

    system: str  # What it is to do
    # The frame of the question, with {context}, {reference}, {candidate} and {form} in it (for preferences {first}
    # and {second} in place of {candidate})
    user: str
    form: str  # The form of the answer in words; it stands for {form}

    @property
    def version(self) -> str:
        """A hash of every word of it."""
        return hashlib.sha256(_MARK.join(self).encode()).hexdigest()[:8]

    def fill(self, parts: Mapping[str, str]) -> str:
        """The question: each place is filled once, whatever the reports say, and they are fenced as data."""
        values = {**fenced(parts), "form": self.form}
        return _PLACEHOLDER.sub(lambda match: values.get(match[1], ""), self.user)


@lru_cache(maxsize=16)
def judge_prompt(variant: str, path: str = "") -> JudgePrompt:
    """The prompt of a variant.

    Args:
        variant: findings, rating, preference or entailment.
        path: A file of the user's: instructions, a line with ===, and the frame of the question. What the form of
            the answer is stays ours, since the answer is checked against it, and so does the rule that reports are
            data.
    """
    system, user, form = (part.strip() for part in (_DATA / FILES[variant]).read_text("utf-8").split(_MARK))
    own = JudgePrompt(f"{system}\n\n{RULE}", user, form)
    if not path:
        return own
    try:
        text = Path(path).read_bytes()[: _MAX_BYTES + 1].decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InputError(f"llm_errors: prompt must be a text file, there is no {path}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a prompt must be UTF-8 text") from None
    if len(text) > _MAX_BYTES:
        raise InputError(f"{path}: a prompt must have at most {_MAX_BYTES:,} characters")
    system, mark, user = text.partition(_MARK)
    if not mark:
        raise InputError(f"{path}: a prompt must have a line with === between instructions and question")
    placeholders = (
        ("reference", "first", "second", "form") if variant == "preference" else ("reference", "candidate", "form")
    )
    if missing := [f"{{{name}}}" for name in placeholders if f"{{{name}}}" not in user]:
        raise InputError(f"{path}: the question of a prompt must contain {', '.join(missing)}")
    return JudgePrompt(f"{system.strip()}\n\n{RULE}", user.strip(), own.form)
