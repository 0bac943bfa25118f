"""Prompts that ask a language model for lay texts: shipped prompts, few-shot examples, or the user's own.

Zhao et al., Layman's RRG (2024), appendix A.1 and A.2 (translate, check) and A.12 with figure 5 (instructions with
examples, there P2). All wording and all examples here are ours; who wants the paper's to the letter brings a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from radgauge.core.errors import InputError, UsageError
from radgauge.core.parsing import shipped_toml
from radgauge.io.tables import read_table
from radgauge.io.tables.column_names import shown_names
from radgauge.lay.sentences import Pair
from radgauge.llm.prompts import Prompt, prompt, read_prompts

Unit = Literal["sentence", "report"]
Style = Literal["plain", "examples"]
TASKS = ("translate", "revise", "check")
MOST_EXAMPLES = 20
"""Examples that a prompt takes; each request carries all of them."""


def lay_prompts(
    unit: Unit = "sentence",
    style: Style = "plain",
    *,
    own: Path | None = None,
    examples: Path | None = None,
) -> dict[str, Prompt]:
    """The prompts of the tasks translate, revise and check.

    Args:
        unit: What is translated at a time.
        style: "plain" is the paper's first prompt (A.1), "examples" its second (figure 5), both in our words.
        own: A TOML file of the user's with texts, or tables of system and user, under these names
            (`read_prompts`); `{examples}` in a text is filled.
        examples: A table of the user's with the columns professional and lay, in place of the shipped examples.
    """
    end = "" if unit == "sentence" else "_report"
    prompts = {task: prompt(f"{task}{end}") for task in TASKS}
    if style == "examples":
        prompts["translate"] = (
            prompt("translate_report_examples")
            if unit == "report"
            else Prompt(f"{prompts['translate'].system}\n\n{{examples}}", prompts["translate"].user)
        )
    if own is not None:
        prompts |= read_prompts(own, names=TASKS, some=True, users={task: prompts[task].user for task in TASKS})
    if examples is not None and not any("{examples}" in task_prompt.system for task_prompt in prompts.values()):
        raise UsageError("examples need a prompt with a place for them: the style 'examples', or {examples} in it")
    shown = "\n\n".join(map(_example, read_examples(examples) if examples is not None else _shipped(unit)))
    return {
        task: Prompt(task_prompt.system.replace("{examples}", shown), task_prompt.user)
        for task, task_prompt in prompts.items()
    }


def prompts_hash(prompts: Mapping[str, Prompt]) -> str:
    """Eight characters that change with any word of the prompts."""
    words = "\0".join(
        f"{task}\0{task_prompt.system}\0{task_prompt.user}" for task, task_prompt in sorted(prompts.items())
    )
    return hashlib.sha256(words.encode()).hexdigest()[:8]


def read_examples(path: Path) -> tuple[Pair, ...]:
    """Examples out of a table with the columns professional and lay."""
    table = read_table(path)
    if not {"professional", "lay"} <= set(table.columns):
        raise InputError(
            f"{path.name} must have the columns professional and lay, got {shown_names(table.columns)}"
        )
    pairs = []
    for record in table.records:
        pair = Pair(*(" ".join(str(record.values[name] or "").split()) for name in ("professional", "lay")))
        if not all(pair):
            raise InputError(f"{table.location(record)}: an example must have a text on both sides")
        pairs.append(pair)
    if not 1 <= len(pairs) <= MOST_EXAMPLES:
        raise InputError(f"{path.name} must hold 1 to {MOST_EXAMPLES} examples, got {len(pairs)}")
    return tuple(pairs)


def _shipped(unit: Unit) -> Sequence[Pair]:
    table = shipped_toml(__file__, "examples.toml")
    return [Pair(row["professional"], row["lay"]) for row in table[unit]]


def _example(pair: Pair) -> str:
    return f"Report: {pair.professional}\nIn everyday words: {pair.lay}"
