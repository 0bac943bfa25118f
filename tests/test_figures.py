"""Figures of the documentation are written by a script, and a page that has drifted is found."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.plain_language.studies import Size, training_runs
from radgauge.stats.resampling import Resampling

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


SAVED = ("systems", "systems-layman", "systems-lay", "consensus", "planned", "growth")


@pytest.mark.parametrize("name", [f"generator-{each}" for each in SAVED])
def test_pages_say_what_scripts_have_kept(name: str) -> None:
    pages = [figures.blocks(page.read_text(encoding="utf-8")) for page in DOCS.rglob("*.md")]
    said = next(page[name] for page in pages if name in page)
    assert said == figures.FIGURES[name](DOCS)  # saved numbers: no data and no rounding in between


def test_the_picture_of_growth_shows_what_the_script_has_kept() -> None:
    assert figures.GROWTH_IMAGE.read_text(encoding="utf-8") == figures.generator_growth_image()


def test_saved_generator_figures_become_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "GENERATORS", tmp_path / "none.json")
    monkeypatch.setattr(figures, "GENERATORS_LAYMAN", tmp_path / "none.json")
    assert figures.generator_planned(DOCS) == figures.generator_systems(DOCS) == figures.NOT_MEASURED
    columns = ("errors_quality", "layman_semantics_embedded", "layman_f1_embedded")
    systems = [{"system": "a", "column": name, "value": 0.5, "low": 0.4, "high": 0.61} for name in columns]
    apart = {"value": 0.1, "low": -0.02, "high": 0.22}
    plan = {"system": "a", "baseline": "b", "column": columns[1], "value": 0.5, "baseline_value": 0.4}
    found = {"systems": systems, "planned": [{**plan, "difference": apart, "p": 0.02, "p_holm": 0.04}]}
    (tmp_path / "some.json").write_text(json.dumps({"professional": found}), encoding="utf-8")
    monkeypatch.setattr(figures, "GENERATORS", tmp_path / "some.json")
    assert figures.generator_systems(DOCS).splitlines()[2] == f"| a | {' | '.join(['0.500 [0.400, 0.610]'] * 3)} |"
    line = "| a | b | `layman_semantics` | 0.500 and 0.400 | +0.100 [-0.020, +0.220] | 0.040 |"
    assert figures.generator_planned(DOCS).splitlines()[2:] == [line]
    assert figures.generator_systems_lay(DOCS) == figures.NOT_MEASURED
    lay = {
        "systems": [{**each, "column": name} for each, name in zip(systems, figures.COLUMNS["lay"], strict=True)]
    }
    both = {"professional": found, "lay": {**lay, "planned": found["planned"]}}
    (tmp_path / "both.json").write_text(json.dumps(both), encoding="utf-8")
    monkeypatch.setattr(figures, "GENERATORS_LAYMAN", tmp_path / "both.json")
    assert figures.generator_systems_layman(DOCS) == figures.generator_systems(DOCS)
    assert figures.generator_systems_lay(DOCS).startswith(
        "| system | `layman_semantics` | `layman_f1` | `readability_flesch_"
    )
    assert figures.generator_planned(DOCS).splitlines()[2:] == [line] * 3


def test_saved_consensus_becomes_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "GENERATORS_CONSENSUS", tmp_path / "none.json")
    assert figures.generator_consensus(DOCS) == figures.NOT_MEASURED
    value = {"value": 0.5, "low": 0.4, "high": 0.61}
    apart = {"difference": {"value": 0.1, "low": -0.02, "high": 0.22}, "p_adjusted": 0.04}
    none = {"difference": None, "p_adjusted": None}
    systems = [
        {"system": system, "column": column, **value, **more}
        for system, more in (("a", apart), ("template", none))
        for column in figures.COLUMNS["professional"]
    ]
    (tmp_path / "some.json").write_text(json.dumps({"professional": {"systems": systems}}), encoding="utf-8")
    monkeypatch.setattr(figures, "GENERATORS_CONSENSUS", tmp_path / "some.json")
    assert figures.generator_consensus(DOCS).splitlines()[2:] == [
        "| a | " + " | ".join(["0.500 [0.400, 0.610] | +0.100 [-0.020, +0.220] | 0.040"] * 2) + " |",
        "| template | " + " | ".join(["0.500 [0.400, 0.610] |  | "] * 2) + " |",
    ]


def test_saved_growth_becomes_a_table_and_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "GROWTH", tmp_path / "none.json")
    assert figures.generator_growth(DOCS) == figures.NOT_MEASURED
    assert figures.generator_growth_image() == ""
    texts = ("There is a left effusion.", "The lungs are clear.", "The heart is large.")
    names = list(itertools.product(figures.WAYS, ("professional", "lay"), (8, 12)))
    cases = [
        rg.Case(str(at), text if way != "first" else texts[0], (text,), f"{way}, {register} {size}")
        for way, register, size in names
        for at, text in enumerate(texts)
    ]
    sizes = {f"{way}, {register} {size}": Size(size, f"{way}, {register}") for way, register, size in names}
    runs = training_runs(cases, sizes=sizes, resampling=Resampling(resamples=50))
    pairs = [(f"{way}, {register} 12", f"{way}, {register} 8") for way, register, size in names if size == 8]
    pairs += [(f"{way}, lay {size}", f"{way}, professional {size}") for way in figures.WAYS for size in (8, 12)]
    differences = [
        {"system": one, "baseline": other, "value": 0.0, "low": -0.1, "high": 0.1} for one, other in pairs
    ]
    kept = {"runs": [asdict(run) for run in runs], "differences": differences}
    (tmp_path / "growth.json").write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.setattr(figures, "GROWTH", tmp_path / "growth.json")
    rows = figures.generator_growth(DOCS).splitlines()[2:]
    full, none = "1.000 [1.000, 1.000]", "+0.000 [-0.100, +0.100]"
    assert rows[0] == f"| network, drawn | 8 | {full} | {full} | {none} |"
    assert rows[2] == f"| network, drawn | 12 less 8 | {none} | {none} | |"
    assert "(collapsed)" in rows[3]  # the likeliest report says the same to everyone
    assert len(rows) == 9
    picture = figures.generator_growth_image()
    assert "network, drawn, lay" in picture
    assert "likeliest" not in picture


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
