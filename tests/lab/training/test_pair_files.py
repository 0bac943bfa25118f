"""Pair files: written, read back, and refused with the row that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.lab.training.pair_files import read_pairs, write_pairs
from radgauge.lab.training.pairs import SPLITS, build_pairs


@pytest.fixture(scope="module")
def folder(chosen, clusters, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pairs")
    corpus = build_pairs(chosen.reports, clusters, share=0.3)
    write_pairs(place, corpus, chosen=chosen, clusters=clusters, about={"seed": 0}, comet_target="radgraph_f1")
    return place


def test_what_is_written_is_read(folder: Path, chosen, clusters) -> None:
    corpus = build_pairs(chosen.reports, clusters, share=0.3)
    for name in SPLITS:
        table, pairs = read_pairs(folder / f"{name}.csv"), corpus.splits[name]
        assert [table.texts[at] for at in table.reference] == [chosen.reports[at].text for at in pairs.reference]
        np.testing.assert_allclose(table.target, pairs.radcliq, atol=1e-6)
        comet = read_pairs(folder / f"{name}.comet.csv")
        assert [comet.texts[at] for at in comet.candidate] == [chosen.reports[at].text for at in pairs.candidate]
        np.testing.assert_allclose(comet.target, pairs.radgraph_f1, atol=1e-6)


def test_the_summary_describes_the_pairs(folder: Path) -> None:
    summary = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))
    assert summary["seed"] == 0
    assert summary["clusters"][0]["terms"][0]["reports"] > 0
    assert set(summary["term_overlap"]["all"]) == {"none", "one", "more"}
    assert {"k_curves.svg", "clusters.svg", "reports.csv"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("clear,clear,nan", r"p\.csv, line 3: the target must be a finite number, got 'nan'; nothing was trained"),
        ("clear,clear,", r"p\.csv, line 3: the target must be a finite number, got ''"),
        ("clear,clear,much", r"line 3: the target must be a finite number, got 'much'"),
        (" ,clear,1", r"p\.csv, line 3: the text of 'line 3 src' is empty; nothing was trained on"),
        ("clear,,1", r"line 3: the text of 'line 3 mt' is empty"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "p.csv").write_text(f"src,mt,score\na,b,1\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_pairs(tmp_path / "p.csv")


def test_other_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"must have the columns src and mt .* with radcliq or score, or .* and radcliq; got a, b"
    ):
        read_pairs(tmp_path / "p.csv")
    (tmp_path / "p.csv").write_text("reference_id,candidate_id,radcliq\n1,2,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"reports\.csv must lie beside the pairs"):
        read_pairs(tmp_path / "p.csv")
    (tmp_path / "reports.csv").write_text("id,text\n1,clear\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: the report '2' is not in reports\.csv"):
        read_pairs(tmp_path / "p.csv")
    (tmp_path / "p.csv").write_text("src,mt,score\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"p\.csv holds no pairs"):
        read_pairs(tmp_path / "p.csv")


def test_an_unknown_target_is_refused(folder: Path, chosen, clusters, tmp_path: Path) -> None:
    corpus = build_pairs(chosen.reports, clusters)
    with pytest.raises(UsageError, match=r"target must be one of .*got 'rouge'"):
        write_pairs(tmp_path, corpus, chosen=chosen, clusters=clusters, about={}, comet_target="rouge")
