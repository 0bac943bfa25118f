"""The size of the code base against its budget; `python scripts/budget.py` ends with 1 above a limit.

Lines per subject, modules, option slots of the command line, share of import lines, names that the glossary of the
project avoids, docstrings that begin with a question word. Whoever raises a limit says for what.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src/radgauge"
SUBJECTS = ("lay", "study", "lab")
LIMITS = {
    "lines": 90_900,
    "lines, core": 66_200,
    "lines, lay": 8_550,
    "lines, study": 9_060,
    "lines, lab": 7_180,
    "modules": 530,
    "option slots": 322,
    "import lines, %": 7.2,
    "glossary names, %": 0.6,
    "question docstrings, %": 1.0,
}

GLOSSARY = {
    *("found", "each", "mine", "given", "wanted", "known", "kept", "said", "told", "asked", "place", "places"),
    *("least", "most", "longest", "farthest", "whole", "wholes"),
}
QUESTIONS = ("What", "Whether", "How", "Who", "Whom", "Whose", "Where", "Why")


def modules() -> Iterator[tuple[Path, str, ast.Module]]:
    """Every module with its text and its tree."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path, text, ast.parse(text)


def assigned_names(tree: ast.Module) -> Iterator[str]:
    """Names that are bound: variables, loop targets, parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Docstrings of modules, classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def option_slots() -> int:
    """Options of all verbs, each counted in every verb that has it."""
    import typer.main

    from radgauge.cli.commands import VERBS, app

    root = typer.main.get_command(app)

    def count(command: Any) -> int:
        inner = getattr(command, "commands", {})
        own = sum(p.param_type_name == "option" and not p.hidden for p in command.params)
        return sum(map(count, inner.values())) if inner else own

    return sum(count(root.get_command(None, name)) for name in VERBS)


def measure() -> dict[str, float]:
    """Every figure of the budget."""
    lines: Counter[str] = Counter()
    names, odd, documented, questions, imported, files = 0, 0, 0, 0, 0, 0
    for path, text, tree in modules():
        subject = path.relative_to(SOURCE).parts[0]
        lines[subject if subject in SUBJECTS else "core"] += text.count("\n")
        files += 1
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported += (node.end_lineno or node.lineno) - node.lineno + 1
        for name in assigned_names(tree):
            names += 1
            odd += name in GLOSSARY
        for text in filter(None, docstrings(tree)):
            documented += 1
            questions += re.split(r"\W", text, maxsplit=1)[0] in QUESTIONS
    total = lines.total()
    return {
        "lines": total,
        **{f"lines, {name}": lines[name] for name in ("core", *SUBJECTS)},
        "modules": files,
        "option slots": option_slots(),
        "import lines, %": round(100 * imported / total, 1),
        "glossary names, %": round(100 * odd / names, 1),
        "question docstrings, %": round(100 * questions / documented, 1),
    }


def main() -> None:
    """Print the budget; end with 1 where a figure is above its limit."""
    over = []
    for name, value in measure().items():
        mark = ""
        if value > LIMITS[name]:
            over.append(name)
            mark = "  above its limit"
        print(f"{name:24} {value:>9,g}  of {LIMITS[name]:>9,g}{mark}")
    if over:
        sys.exit(f"above the budget: {', '.join(over)}; remove something, or raise the limit and say for what")


if __name__ == "__main__":
    main()
