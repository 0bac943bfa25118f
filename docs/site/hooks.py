"""Pages and lists of the site that are not in docs/ itself; `scripts/pages.py` writes generated pages.

mkdocs calls these functions; `make docs` builds the site with warnings as errors.
"""

from __future__ import annotations

import posixpath
import re
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


CARDS = {"METRICS": "metrics", "MODELS": "models", "COMMANDS": "commands"}


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
    """Let links to files of the repository lead to their pages."""
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
