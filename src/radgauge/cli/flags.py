"""Messages of the library in terms of the command line: names of arguments become names of options."""

from __future__ import annotations

import re

KEYS = (
    *("encoding", "missing", "split", "images_outside", "sheet", "header_row", "duplicates", "keep_columns"),
    "drop_columns",
)
"""Arguments that are keys of `--input`."""
NAMES = (
    *("columns", "candidate_columns", "section", "models", "references", "candidates", "baseline", "systems"),
    *("target", "url", "allow_missing", *KEYS),
)
_VALUE = r"(\{[^{}]*\}|\[[^\[\]]*\]|'[^']*'|\"[^\"]*\"|True|[\w.]+)((?:, (?:or )?'\w+'| or '\w+')*)"
_ARGUMENT = re.compile(rf"\b({'|'.join(NAMES)})={_VALUE}")


def in_flags(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> in_flags("name it with columns={'id': NAME}")
    'name it with --columns id=NAME'
    >>> in_flags("pass candidate_columns=['model a', 'b'] or section='findings', 'both' or 'whole'")
    "pass --candidate-columns 'model a,b' or --section findings, both or whole"
    >>> in_flags("if that is meant, add images_outside=True")
    'if that is meant, add --input images_outside=yes'
    """
    return _ARGUMENT.sub(_flag, message)


def _flag(match: re.Match[str]) -> str:
    name, value, more = match.groups()
    option = f"--{name.replace('_', '-')}"
    if value == "True":
        return f"--input {name}=yes" if name in KEYS else option
    if value.startswith("{"):
        pairs = re.findall(r"'([^']*)': (?:'([^']*)'|([^',}]*))", value)
        text = ",".join(f"{role}={column or name}" for role, column, name in pairs)
    elif value.startswith("["):
        text = ("+" if name in KEYS else ",").join(re.findall(r"'([^']*)'", value))
    else:
        text = value.strip("'\"")
    if name in KEYS:
        return f"--input {_quoted(f'{name}={text}')}{more.replace(chr(39), '')}"
    return f"{option} {_quoted(text)}{more.replace(chr(39), '')}"


def _quoted(text: str) -> str:
    """A value as a shell takes it: names with blanks stand in quotes."""
    return f"'{text}'" if re.search(r"[^\w.,=/:+-]", text) else text
