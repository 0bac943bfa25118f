"""Prompts, as data, all in our words.

Those for lay language follow the structure of Layman's RRG (appendix A); `rewrite` and `opposite` ask what the two
prompts of RaTE-Eval's third task ask (Zhao et al., RaTEScore, section 3). Who wants a published wording to the
letter brings it in a file (`read_prompts`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError

_MARK = "\n===\n"
_PART = re.compile(r"\{items\.(\w+)\}")


class Prompt(NamedTuple):
    """Instructions to the model, and the frame of the question with {items} and {form} in it.

    Items of several parts may stand apart: {items.report} and {items.plain} are numbered objects of one part each.
    """

    system: str
    user: str

    def fill(self, items: Sequence[object]) -> str:
        """The question about these items: numbered from 0, with the form of the answer.

        >>> Prompt("", "{items} {form}").fill(["a", "b", "c", "d"])
        '{\\n "0": "a",\\n "1": "b",\\n "2": "c",\\n "3": "d"\\n} {"0": "...", "1": "...", ..., "3": "..."}'
        """
        shown = json.dumps(dict(enumerate(items)), ensure_ascii=False, indent=1)
        entries = [f'"{number}": "..."' for number in range(len(items))]
        if len(entries) > 3:
            entries[2:-1] = ["..."]
        filled = self.user.replace("{form}", f"{{{', '.join(entries)}}}")
        parts = dict.fromkeys(_PART.findall(filled))
        for part in parts:
            column = {number: item[part] for number, item in enumerate(items) if isinstance(item, Mapping)}
            filled = filled.replace(f"{{items.{part}}}", json.dumps(column, ensure_ascii=False, indent=1))
        return filled.replace("{items}", shown)


@lru_cache(maxsize=16)
def prompt(name: str) -> Prompt:
    """The prompt of a task: translate, revise, check, triples, rewrite, opposite, entities.

    The lay tasks also for whole reports: translate_report, translate_report_examples, revise_report, check_report.
    """
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    system, _, user = text.partition(_MARK)
    return Prompt(system.strip(), user.strip())


def read_prompts(
    path: Path | str, *, names: Sequence[str], some: bool = False, users: Mapping[str, str] | None = None
) -> Mapping[str, Prompt]:
    """Prompts of the user's own: a TOML file with a text, or a table of system and user, per name.

    A text takes the place of what the model is to do; numbers and form of the answer are added. A table is the
    prompt to the letter: `user` must hold {items} (or its parts), `system` may be left out.

    Args:
        path: The file, such as `rewrite = "..."`, or `[translate]` with `system = "..."` and `user = "..."`.
        names: What it must name, and nothing else.
        some: Whether it may name some of them only.
        users: Frames of the question for texts, in place of the shipped ones.
    """
    file = Path(path)
    try:
        sections = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file.name} cannot be read as TOML: {type(error).__name__}") from None
    complete = bool(sections) and set(sections) <= set(names) if some else set(sections) == set(names)
    prompts: dict[str, Prompt] = {}
    for name, content in sections.items() if complete else ():
        if isinstance(content, str) and content.strip():
            prompts[name] = Prompt(content.strip(), (users or {}).get(name) or prompt(name).user)
        elif (
            isinstance(content, dict) and set(content) <= {"system", "user"} and _holds_items(content.get("user"))
        ):
            prompts[name] = Prompt(str(content.get("system", "")).strip(), content["user"].strip())
    if not complete or len(prompts) < len(sections):
        which = "one or more" if some else "each"
        raise InputError(
            f"{file.name} must give a text for {which} of {', '.join(names)} and nothing else, or a table with "
            "user, which holds {items}, and system"
        )
    return {name: prompts[name] for name in names if name in prompts}


def _holds_items(user: object) -> bool:
    return isinstance(user, str) and ("{items}" in user or _PART.search(user) is not None)
