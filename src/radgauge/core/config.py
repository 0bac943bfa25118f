"""`radgauge.toml`: defaults of a project and of a person, which options override.

Two files count: `radgauge.toml` in the working folder (else `[tool.radgauge]` in its `pyproject.toml`), and below
it `radgauge/radgauge.toml` in the user's configuration folder. `RADGAUGE_CONFIG` names one file instead of both;
empty, it means none. A project file comes with data that others may have sent, so it must not send reports
anywhere: a language-model server that is not on this machine counts only from the user's own file, an option or
the environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from radgauge.core.errors import InputError, UsageError

VARIABLE = "RADGAUGE_CONFIG"
FILE = "radgauge.toml"
LOCAL = ("localhost", "127.0.0.1", "::1")
TABLES = ("reports", "judge", "llm", "sampling")
"""Tables that every verb with such options reads; any other table belongs to the verb of its name."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of the configuration files."""

    tables: Mapping[str, Mapping[str, Any]]  # Table -> key -> value
    origins: Mapping[tuple[str, str], Path]  # The file that each (table, key) comes from

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table; empty if no file has it."""
        return self.tables.get(name, {})


def read_config() -> Config:
    """Return the configuration of the working folder and the user."""
    named = os.environ.get(VARIABLE)
    return _read(Path.cwd(), _user_folder(), named)


@cache
def _read(folder: Path, user_folder: Path, named: str | None) -> Config:
    tables: dict[str, dict[str, Any]] = {}
    origins: dict[tuple[str, str], Path] = {}
    if named is not None:
        files = [(Path(named), True)] if named else []
    else:
        project = next((path for name in (FILE, "pyproject.toml") if (path := folder / name).is_file()), None)
        files = [(user_folder / FILE, True)] + ([(project, False)] if project else [])
    for path, own in files:
        if not path.is_file():
            if named:
                raise InputError(f"{VARIABLE} names no file: {path}")
            continue
        for table, values in _tables(path).items():
            if not isinstance(values, dict):
                raise InputError(f"{path}: {table!r} must stand in a table, such as [reports] or [judge]")
            if table == "llm" and not own:
                _check_local(path, values)
            for key, value in values.items():
                name = key.replace("-", "_")
                tables.setdefault(table, {})[name] = value
                origins[table, name] = path
    return Config(tables, origins)


def _tables(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from error
    if path.name == "pyproject.toml":
        content = content.get("tool", {}).get("radgauge", {})
    return content


def _check_local(path: Path, values: Mapping[str, Any]) -> None:
    if "key" in values:
        raise UsageError(f"{path}: a key does not belong into a file; put it into RADGAUGE_LLM_KEY")
    url = values.get("url")
    if url is not None and urlsplit(str(url)).hostname not in LOCAL:
        raise UsageError(
            f"{path} names a server outside this machine, to which reports would go; if that is meant, "
            f"set RADGAUGE_LLM_URL, or put it into [llm] of {_user_folder() / FILE}"
        )


def _user_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "radgauge"
