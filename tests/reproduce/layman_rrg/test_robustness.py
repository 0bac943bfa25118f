"""The robustness experiment on our two test beds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from layman_rrg.cli_sets import layman as app
from layman_rrg.robustness import BEDS, UNSEEN, pairs_of, robustness
from typer.testing import CliRunner

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError


@pytest.mark.parametrize("name", BEDS)
def test_beds_hold_a_hundred_distinct_pairs(name: str) -> None:
    pairs = {(case.candidate, case.references) for case in pairs_of(name)}
    assert len(pairs) == len(pairs_of(name)) >= 100
    assert all(case.candidate != case.references[0] for case in pairs_of(name))


def test_unseen_pairs_are_new() -> None:
    known = {frozenset((case.candidate, *case.references)) for name in BEDS for case in pairs_of(name)}
    for name in UNSEEN:
        assert len(pairs_of(name)) >= 30
        assert known.isdisjoint(frozenset((case.candidate, *case.references)) for case in pairs_of(name))


def test_an_unknown_bed_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a test bed must be one of .*got 'third'"):
        pairs_of("third")


@pytest.mark.long
def test_lay_text_mends_what_words_get_wrong() -> None:
    found = robustness(["bleu"])
    bleu = next(row for row in found.rows if row.name == "bleu_1")
    assert bleu.same_raw < bleu.other_raw  # the mirage of the paper's table 2
    assert bleu.same_lay > bleu.other_lay
    semantics = found.rows[-1]
    assert semantics.same_lay > 0.9
    assert semantics.other_lay < 0.02
    assert found.ranking["layman_semantics_embedded lay"] >= 0.95
    assert found.ranking["layman_semantics_embedded lay, by similarity"] >= 0.97


@pytest.mark.long
def test_the_verb_prints_table_2() -> None:
    done = CliRunner().invoke(app, ["robustness", "-m", "rouge"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "layman_semantics_embedded" in done.stdout
    assert "same above other in" in done.stdout


def test_own_pairs_set_and_encoder(tmp_path: Path) -> None:
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    same.write_text("id,reference,candidate\n1,Cardiomegaly.,The heart is enlarged.\n", encoding="utf-8")
    other.write_text("id,reference,candidate\n1,Left effusion.,Right effusion.\n", encoding="utf-8")
    own = tmp_path / "set.tsv"
    own.write_text("professional\tlay\nCardiomegaly.\tA big heart.\nLeft effusion.\tWater.\n", encoding="utf-8")
    arguments = ["robustness", "--same", str(same), "--other", str(other), "-m", "bleu", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--sentences", str(own)], catch_exceptions=False)
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["bleu_1"]["same_lay"] == 1.0  # both sentences become the one text of the set
    assert rows["bleu_1"]["other_lay"] == 1.0
    assert rows["bleu_1"]["same_raw"] < 0.3
    done = CliRunner().invoke(app, [*arguments, "--encoder", "static"], catch_exceptions=False)
    assert {row["name"] for row in json.loads(done.stdout)["rows"]} >= {"layman_semantics_embedded"}
    assert rows["layman_semantics_embedded"] != json.loads(done.stdout)["rows"][-1]
    with pytest.raises(UsageError, match="own pairs must be given of both kinds"):
        robustness(["bleu"], same=[Case("1", "a", ("b",))])
    with pytest.raises(InputError, match="each kind of pairs must have one pair or more"):
        robustness(["bleu"], same=[], other=[Case("1", "a", ("b",))])
