"""Figures of the documentation are written by a script, and a page that has drifted is found."""

from __future__ import annotations

import importlib.util
import json
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


@pytest.mark.parametrize("name", ["generator-systems", "generator-planned"])
def test_pages_say_what_scripts_have_kept(name: str) -> None:
    pages = [figures.blocks(page.read_text(encoding="utf-8")) for page in DOCS.rglob("*.md")]
    said = next(page[name] for page in pages if name in page)
    assert said == figures.FIGURES[name](DOCS)  # saved numbers: no data and no rounding in between


def test_saved_generator_figures_become_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "GENERATORS", tmp_path / "none.json")
    assert figures.generator_planned(DOCS) == figures.generator_systems(DOCS) == figures.NOT_MEASURED
    columns = ("errors_quality", "layman_semantics_embedded", "layman_f1_embedded")
    systems = [{"system": "a", "column": name, "value": 0.5, "low": 0.4, "high": 0.61} for name in columns]
    apart = {"value": 0.1, "low": -0.02, "high": 0.22}
    plan = {"system": "a", "baseline": "b", "column": columns[1], "value": 0.5, "baseline_value": 0.4}
    found = {"systems": systems, "planned": [{**plan, "difference": apart, "p": 0.02, "p_holm": 0.04}]}
    (tmp_path / "some.json").write_text(json.dumps({"professional": found}), encoding="utf-8")
    monkeypatch.setattr(figures, "GENERATORS", tmp_path / "some.json")
    assert figures.generator_systems(DOCS).splitlines()[2] == f"| a | {' | '.join(['0.500 [0.400, 0.610]'] * 3)} |"
    assert figures.generator_planned(DOCS).splitlines()[2] == (
        "| a | b | `layman_semantics` | 0.500 and 0.400 | +0.100 [-0.020, +0.220] | 0.040 |"
    )


@pytest.mark.slow
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
