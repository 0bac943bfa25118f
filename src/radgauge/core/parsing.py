"""Parse JSON and TOML: texts of others with one kind of error, and the data files that ship.

The standard library's parsers have two ways out that their callers rarely think of: numbers of more than 4,300
digits (a plain ValueError) and nesting beyond the interpreter's stack (RecursionError). Here both are the parser's
own error.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_NESTED, _DIGITS = "nested too deeply", "a number with too many digits"
_LIMIT = "Exceeds the limit"  # how the interpreter's message about such numbers begins


def parse_json(text: str | bytes, *, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value of a JSON text.

    Args:
        text: The text.
        pairs: Told the members of each object, in order; what it returns stands for the object.

    Raises:
        json.JSONDecodeError: The text is no JSON, or none that can be held.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
        ...
    json.decoder.JSONDecodeError: nested too deeply: line 1 column 1 (char 0)
    """
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise json.JSONDecodeError(_NESTED, "", 0) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:
        if not str(error).startswith(_LIMIT):  # what `pairs` raised
            raise
        raise json.JSONDecodeError(_DIGITS, "", 0) from None


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: The text is no TOML, or none that can be held.

    >>> parse_toml("a = " + "[" * 100_000)
    Traceback (most recent call last):
        ...
    tomllib.TOMLDecodeError: nested too deeply
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError(_NESTED) from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        if not str(error).startswith(_LIMIT):
            raise
        raise tomllib.TOMLDecodeError(_DIGITS) from None


@cache
def shipped_toml(module: str, name: str) -> dict[str, Any]:
    """The table of a TOML file that ships beside a module or in its folder `data`; read once, not to be changed.

    Args:
        module: The module's `__file__`.
        name: The file.
    """
    folder = Path(module).parent
    path = folder / "data" / name
    return tomllib.loads((path if path.is_file() else folder / name).read_text(encoding="utf-8"))
