"""A hash of the code and data that decide a number, for signatures and cache keys.

It covers a module, what it imports from the rooms below that hold rules, and the data files that these modules
name. Code counts as its syntax tree without comments, docstrings, imports and positions, data as parsed values,
and files count without their names: a comment, a new line break or a moved file changes nothing, a threshold does.
Parsing sixty modules takes a third of a second, so what was found in a file is kept in the cache folder until the
file changes.
"""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.cache import default_cache_dir
from radgauge.files import write_file

log = logging.getLogger(__name__)

ROOMS = ("text", "report_reader", "findings", "models", "plain_language", "metrics", "images", "error_categories")
"""Where rules and networks live. What only reads files, shows results or finds checkpoints decides no number."""
_LEFT_OUT = ("models.checkpoints",)
_DATA = (".toml", ".json", ".tsv", ".csv", ".txt", ".npz")
_ROOT = Path(__file__).parent
_KEPT = "code-hashes.json"


class _Facts(NamedTuple):
    """What a file adds: its hash, the modules it imports, the data files it names."""

    hash: str
    imports: list[str]
    names: list[str]


@cache
def code_hash(module: str) -> str:
    """Ten hexadecimal digits for everything behind a module, by its dotted name.

    >>> code_hash("radgauge.metrics.bleu") != code_hash("radgauge.metrics.rouge")
    True
    """
    kept = _read_kept()
    before = len(kept)
    found: dict[Path, str] = {}
    wanted = [module]
    while wanted:
        path = _source(wanted.pop())
        if path is None or path in found:
            continue
        facts = _facts(path, kept)
        found[path] = facts.hash
        wanted += [name for name in facts.imports if _decides(name)]
        for name in facts.names:
            for data in (path.parent / name, path.parent / "data" / name):
                if data.is_file():
                    found[data] = _facts(data, kept).hash
    if len(kept) != before:
        _write_kept(kept)
    return hashlib.sha256("".join(sorted(found.values())).encode()).hexdigest()[:10]


def _decides(module: str) -> bool:
    name = module.removeprefix("radgauge.")
    return module != name and name.startswith(ROOMS) and not name.startswith(_LEFT_OUT)


def _source(module: str) -> Path | None:
    """The file of a module; None for what has no source of its own."""
    if module.startswith("radgauge."):
        place = _ROOT.joinpath(*module.split(".")[1:])
        return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)
    known = getattr(sys.modules.get(module), "__file__", None)
    return Path(known) if known and known.endswith(".py") else None


def _facts(path: Path, kept: dict[str, Any]) -> _Facts:
    about = path.stat()
    key = f"{path}|{about.st_mtime_ns}|{about.st_size}"
    if key not in kept:
        facts = _of_code(path) if path.suffix == ".py" else _Facts(_of_data(path), [], [])
        for old in [name for name in kept if name.startswith(f"{path}|")]:
            del kept[old]
        kept[key] = facts
    return _Facts(*kept[key])


def _of_code(path: Path) -> _Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: list[str] = []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(_DATA):
            names.append(node.value.rpartition("/")[2])
    return _Facts(hashlib.sha256("".join(_canonical(tree)).encode()).hexdigest(), imports, names)


def _canonical(node: object) -> Iterator[str]:
    """A syntax tree as text that is the same whatever Python parsed it: without what is empty."""
    if isinstance(node, ast.AST):
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(value, list):
                value = [each for each in value if not _says_nothing(each)]
            if value is not None and value != []:
                yield f"{name}="
                yield from _canonical(value)
        yield ")"
    elif isinstance(node, list):
        for each in node:
            yield from _canonical(each)
            yield ","
    else:
        yield repr(node)


def _says_nothing(node: object) -> bool:
    """Docstrings and other strings that stand alone, and imports."""
    alone = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return alone or isinstance(node, ast.Import | ast.ImportFrom)


def _of_data(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix in (".toml", ".json"):
        parsed = tomllib.loads(content.decode()) if path.suffix == ".toml" else json.loads(content)
        content = json.dumps(parsed, sort_keys=True, default=str).encode()
    return hashlib.sha256(content).hexdigest()


def _read_kept() -> dict[str, Any]:
    try:
        kept = json.loads((default_cache_dir() / _KEPT).read_bytes())
    except (OSError, ValueError):
        return {}
    whole = isinstance(kept, dict) and all(isinstance(each, list) and len(each) == 3 for each in kept.values())
    return kept if whole else {}


def _write_kept(kept: dict[str, Any]) -> None:
    try:
        write_file(default_cache_dir() / _KEPT, json.dumps(kept))
    except OSError as error:  # costs the next start a third of a second
        log.debug("hashes of the code are not kept: %s", error)
