"""Figures of the documentation are written by a script, and a page that has drifted is found."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
_SPEC = importlib.util.spec_from_file_location("docs_figures", DOCS / "figures.py")
assert _SPEC is not None
assert _SPEC.loader is not None
figures = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(figures)

NUMBER = re.compile(r"-?\d+\.\d+")


def test_every_block_has_a_function_and_every_function_a_block() -> None:
    found = [name for page in sorted(DOCS.rglob("*.md")) for name in figures.blocks(page.read_text())]
    assert sorted(found) == sorted(figures.FIGURES)


def test_only_what_is_marked_is_written() -> None:
    marked = "<!-- figures:{} -->\n{}\n<!-- /figures -->\n"
    page = f"before 1.0\n{marked.format('a', 'old')}after\n{marked.format('b', 'kept')}"
    assert figures.written(page, {"a": "new\n"}) == page.replace("old", "new")
    assert figures.blocks(page) == {"a": "old\n", "b": "kept\n"}


def rounding(shown: str) -> float:
    """How far a number may be off: one in its last digit, and what another platform's bootstrap may make."""
    return max(0.006, 1.01 * 10.0 ** -len(shown.partition(".")[2]))


def test_a_page_that_drifted_by_more_than_rounding_is_found() -> None:
    assert abs(0.751 - 0.756) <= rounding("0.751")
    assert abs(0.36 - 0.45) > rounding("0.36")
    assert abs(91.6 - 91.7) <= rounding("91.6")
    assert abs(91.6 - 91.9) > rounding("91.6")


@pytest.mark.nightly
@pytest.mark.parametrize("name", figures.FIGURES)
def test_pages_say_what_comes_out(name: str, shared_data: Path) -> None:
    said = next(
        text
        for page in DOCS.rglob("*.md")
        for key, text in figures.blocks(page.read_text()).items()
        if key == name
    )
    now = figures.FIGURES[name](shared_data)
    assert NUMBER.sub("#", said).split() == NUMBER.sub("#", now).split()
    for one, other in zip(NUMBER.findall(said), NUMBER.findall(now), strict=True):
        assert abs(float(one) - float(other)) <= rounding(one), (one, other)
