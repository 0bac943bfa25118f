"""Pages that are made from the code are those that the code makes, and none has a hole."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]


@pytest.mark.process
def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "scripts/pages.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make pages`: {done.stdout}{done.stderr}"


def test_no_page_has_a_hole_that_only_the_site_fills() -> None:
    holes = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.search(r"\{\{ \w+ \}\}|^::: ", line)
    ]
    assert holes == []


def test_every_card_says_what_its_number_does_not_see() -> None:
    for card in sorted((ROOT / "docs/metrics").glob("*.md")):
        text = card.read_text(encoding="utf-8")
        block = text.partition("## What this number does not see\n")[2].partition("\n## ")[0]
        assert block, f"{card.name} has no block"
        assert ">>>" in block, f"{card.name}: the block has no example that runs"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120
