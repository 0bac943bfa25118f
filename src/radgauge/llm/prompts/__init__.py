"""Prompts, as data, all in our words.

Those for lay language follow the structure of Layman's RRG (appendix A); `rewrite` and `opposite` ask what the two
prompts of RaTE-Eval's third task ask (Zhao et al., RaTEScore, section 3). Who wants a published wording to the
letter brings it in a file (`read_prompts`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError

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


@lru_cache(maxsize=16)
def prompt(name: str) -> Prompt:
    """The prompt of a task: translate, revise, check, triples, rewrite, opposite, entities.

    The lay tasks also for whole reports: translate_report, translate_report_examples, revise_report, check_report.
    """
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    system, _, user = text.partition(_MARK)
    return Prompt(system.strip(), user.strip())


def read_prompts(path: Path | str, *, names: Sequence[str], some: bool = False) -> Mapping[str, Prompt]:
    """Prompts of the user's own: a TOML file with one text per name. Numbers and form of the answer are added.

    Args:
        path: The file, such as `rewrite = "..."` and `opposite = "..."`.
        names: What it must name, and nothing else.
        some: Whether it may name some of them only.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file.name} cannot be read as TOML: {type(error).__name__}") from None
    complete = bool(given) and set(given) <= set(names) if some else set(given) == set(names)
    if not complete or not all(isinstance(text, str) and text.strip() for text in given.values()):
        which = "one or more" if some else "each"
        raise InputError(f"{file.name} must give a text for {which} of {', '.join(names)} and nothing else")
    return {name: Prompt(given[name].strip(), prompt(name).user) for name in names if name in given}
