"""What the site computes when it is built: every verb's help, the table of measured agreement, the lists of cards.

mkdocs calls these functions; `make docs` builds the site with warnings as errors.
"""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
REPOSITORY = (
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "reproduce/README.md",
    "benchmarks/held_out/README.md",
)
"""Files of the repository that become pages of the site."""

_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add pages that stand elsewhere in the repository."""
    from mkdocs.structure.files import File

    for name in REPOSITORY:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"repository/{name}", content=text))
    return files


def on_config(config: Any) -> Any:
    """Every page that exists is in the navigation: cards, and pages that a newer feature brought."""
    cards = {name: sorted(path.name for path in (DOCS / folder).glob("*.md")) for name, folder in CARDS.items()}
    config["nav"] = _filled(config["nav"], cards)
    named = set(_pages(config["nav"]))
    more = [path.name for path in sorted(DOCS.glob("*.md")) if path.name not in named]
    if more:
        config["nav"].append({"More": more})
    config["nav"].append({"Project": [f"repository/{name}" for name in REPOSITORY]})
    return config


CARDS = {"METRICS": "metrics", "MODELS": "models"}


def _filled(nav: list[Any], cards: dict[str, list[str]]) -> list[Any]:
    filled: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            if isinstance(inside, str) and inside in cards:
                inside = [f"{CARDS[inside]}/{name}" for name in cards[inside]]
            elif isinstance(inside, list):
                inside = _filled(inside, cards)
            filled.append({title: inside})
        else:
            filled.append(entry)
    return filled


def _pages(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in nav:
        inside = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += _pages(inside) if isinstance(inside, list) else [inside]
    return found


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Fill in what is computed, and let links to files of the repository lead to their pages."""
    if "{{ commands }}" in markdown:
        markdown = markdown.replace("{{ commands }}", commands())
    if "{{ agreement }}" in markdown:
        markdown = markdown.replace("{{ agreement }}", agreement())
    return _LINK.sub(lambda found: _linked(found, page.file.src_uri), markdown)


def _linked(found: re.Match[str], page: str) -> str:
    """A link as the site needs it: to a page, or without its target where the target is no page."""
    target, _, anchor = found[1].partition("#")
    at = (
        PurePosixPath("docs", page)
        if not page.startswith("repository/")
        else PurePosixPath(page[len("repository/") :])
    )
    full = posixpath.normpath(str(at.parent / target))
    if full.startswith("docs/"):
        there = full[len("docs/") :]
        if not (DOCS / there).exists():
            return found[0]  # a broken link: mkdocs says so
    elif full in REPOSITORY:
        there = f"repository/{full}"
    else:
        return "]"  # code: the name stays, in brackets
    where = posixpath.relpath(there, posixpath.dirname(page) or ".")
    return f"]({where}{'#' + anchor if anchor else ''})"


def commands() -> str:
    """The help of every verb, as the program prints it."""
    sections = []
    for words in verbs():
        said = _help(words)
        sections.append(f"## radgauge {' '.join(words)}\n\n```text\n{said.strip()}\n```\n")
    return "\n".join(sections)


def verbs() -> list[tuple[str, ...]]:
    """Every verb, with the verbs inside groups behind their group."""
    import typer.main

    import radgauge.cli  # noqa: F401  # the verbs register themselves
    from radgauge.cli.options import app

    root = typer.main.get_command(app)
    return sorted(_walk(root, ()))


def _walk(command: Any, words: tuple[str, ...]) -> list[tuple[str, ...]]:
    inside = getattr(command, "commands", None)
    if not inside:
        return [words]
    return [found for name, each in inside.items() if not each.hidden for found in _walk(each, (*words, name))]


def _help(words: tuple[str, ...]) -> str:
    import os

    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "radgauge", *words, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def agreement() -> str:
    """The measured agreement of the metrics as a table, as `benchmarks/agreement_by_metric.py --write` left it."""
    from radgauge.render.metric_names import metric_name

    kept = json.loads((ROOT / "src/radgauge/render/data/agreement.json").read_text(encoding="utf-8"))
    lines = ["| metric | column | follows | Kendall τ-b | 95 % interval |", "|---|---|---|---:|---:|"]
    for column, line in sorted(kept.items(), key=lambda each: -each[1]["tau"]):
        known = metric_name(column)
        lines.append(
            f"| {known.name} | `{column}` | {known.follows} | {line['tau']:.2f} | "
            f"[{line['low']:.2f}, {line['high']:.2f}] |"
        )
    return "\n".join(lines) + "\n"
