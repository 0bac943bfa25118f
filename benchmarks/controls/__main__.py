"""Run the controls of docs/controls.md: inputs for which a believable number would be a mistake.

    python benchmarks/controls [AREA ...] [--write]

An area is a module of this folder: its docstring is the heading, its functions named `control_*` are the rows. A
control takes nothing and returns an `Outcome`. Exit code 1 if a control does not hold. `--write` writes the page.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from outcome import Outcome

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "controls.md"
AREAS = tuple(sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("__main__", "outcome")))
INTRODUCTION = """# Controls

A number is believed when a simple control could have refuted it and did not. Each row is such a control: an input
for which a good-looking answer would be wrong, what radgauge must do with it, and what it did. The page is written
by `python benchmarks/controls --write`, which the nightly tests run; a control that does not hold fails them.
To try the same on a metric of your own, copy a function from the module named under each heading.
"""


def controls_of(area: str) -> list[Callable[[], Outcome]]:
    """Controls of an area, in the order of its file."""
    module = importlib.import_module(area)
    functions = [item for name, item in vars(module).items() if name.startswith("control_")]
    return sorted(functions, key=lambda function: inspect.getsourcelines(function)[1])


def run_control(control: Callable[[], Outcome]) -> Outcome:
    """Outcome of a control; one that raises does not hold, and the others still run."""
    try:
        return control()
    except Exception as error:
        name = control.__name__.removeprefix("control_").replace("_", " ")
        return Outcome(name, "end without an error", f"{type(error).__name__}: {error}", False)


def section(area: str, outcomes: Sequence[Outcome]) -> str:
    """Heading and table of an area, as Markdown."""
    title = (importlib.import_module(area).__doc__ or area).strip().splitlines()[0].rstrip(".")
    rows = [
        f"| {' | '.join(text.replace('|', chr(92) + '|') for text in (row.tried, row.must, row.did))} "
        f"| {'yes' if row.ok else '**no**'} |"
        for row in outcomes
    ]
    head = ["| tried | must | did | holds |", "|---|---|---|---|"]
    return "\n".join([f"## {title}", "", f"`benchmarks/controls/{area}.py`", "", *head, *rows, ""])


def main(arguments: Sequence[str]) -> int:
    """Run the controls; 1 if one does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"any of {', '.join(AREAS)}; default all")
    parser.add_argument("--write", action="store_true", help="write docs/controls.md")
    options = parser.parse_args(arguments)
    if unknown := set(options.areas) - set(AREAS):
        parser.error(f"unknown area {min(unknown)!r}; there are: {', '.join(AREAS)}")
    if options.write and options.areas:
        parser.error("--write takes all areas")
    sections, failed = [], 0
    for area in options.areas or AREAS:
        outcomes = [run_control(control) for control in controls_of(area)]
        failed += sum(not outcome.ok for outcome in outcomes)
        sections.append(section(area, outcomes))
    page = "\n".join([INTRODUCTION, *sections])
    print(page)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
    print(f"{failed} controls do not hold" if failed else "every control holds", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
