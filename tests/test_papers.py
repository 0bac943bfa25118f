"""The page of the five papers has every numbered item, and every script and command that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from radgauge.cli.commands import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
SHOWN = ("recomputed", "parity", "unproved here", "no number", "not recomputed")
ITEMS = {
    "RaTEScore": (7, 4, 0),
    "Radiology-aware": (6, 5, 0),
    "Evaluating": (0, 5, 0),
    "VLScore": (5, 2, 0),
    "Layman's": (11, 5, 2),
}
"""Tables, figures and algorithms in the main numbering of each paper."""


def rows(section: str) -> list[list[str]]:
    found = re.findall(r"^\| (?!item|---)(.+) \|$", section, flags=re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in found]


def numbers(names: str, kind: str) -> set[int]:
    lists = re.findall(rf"{kind}s? ((?:\d+(?:, | and )?)+)", re.sub(r"supplementary \w+ \d+", "", names))
    return {int(number) for text in lists for number in re.findall(r"\d+", text)}


@pytest.mark.parametrize("paper", ITEMS)
def test_every_numbered_item_has_a_row_that_says_how_it_is_shown(paper: str) -> None:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(paper))
    table = rows(text)
    names = "; ".join(row[0] for row in table)
    for kind, count in zip(("table", "figure", "algorithm"), ITEMS[paper], strict=True):
        assert numbers(names, kind) == set(range(1, count + 1)), kind
    for row in table:
        assert len(row) == 5, row
        assert row[3].startswith(SHOWN), row
        assert "`" in row[1] or row[1:4] == ["none", "", "no number"], row


def test_supplementary_tables_have_rows() -> None:
    assert all(f"| supplementary table {number} |" in PAGE for number in range(1, 6))


def test_scripts_tests_and_parity_folders_exist_and_scripts_are_tested() -> None:
    named = set(re.findall(r"`((?:reproduce|tests|parity|recipes|benchmarks)/[^`\s]+)`", PAGE))
    assert len(named) > 25
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    tests = "\n".join(
        path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path.name != Path(__file__).name
    )
    scripts = {Path(path).stem for path in named if path.startswith("reproduce/")}
    assert [name for name in sorted(scripts) if not re.search(rf"\b{name}\b", tests)] == []


def test_commands_and_their_options_exist() -> None:
    commands = set(re.findall(r"`radgauge ([^`]+)`", PAGE))
    assert len(commands) > 15
    for line in commands:
        command = typer.main.get_command(app)
        words = line.split()
        while words and hasattr(command, "get_command"):
            command = command.get_command(None, words.pop(0))  # type: ignore[arg-type]
            assert command is not None, line
        options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= options, line
