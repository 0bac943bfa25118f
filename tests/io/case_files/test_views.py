"""One report per study where a system wrote one per image."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError
from radgauge.io.case_files import read_cases
from radgauge.io.case_files.views import choose_view

METADATA = "dicom_id,study_id,subject_id,ViewPosition\nd1,1,10000001,LATERAL\nd2,1,10000001,PA\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_frontal_report_counts_and_the_others_are_counted(tmp_path: Path) -> None:
    references = write(tmp_path / "r.csv", "id,report\n1,Clear.\n2,Edema.\n")
    rows = "id,report,ViewPosition\n1,from the side,LATERAL\n1,from the front,pa\n2,only,LL\n"
    found = read_cases(write(tmp_path / "a.csv", rows), references=references, one_view=True)
    assert {case.id: case.candidate for case in found} == {"1": "from the front", "2": "only"}
    assert "a.csv: 1 reports of other views were left out" in found.provenance.warnings
    with pytest.raises(InputError, match="repeat an id"):
        read_cases(tmp_path / "a.csv", references=references)


def test_the_view_comes_from_mimics_table(tmp_path: Path) -> None:
    write(tmp_path / "mimic-cxr-2.0.0-metadata.csv", METADATA)
    references = write(tmp_path / "r.csv", "id,report\n1,Clear.\n")
    for header, name in (("dicom_id", "{}"), ("image", "files/{}.jpg")):
        rows = f"id,report,{header}\n1,side,{name.format('d1')}\n1,front,{name.format('d2')}\n"
        found = read_cases(write(tmp_path / "a.csv", rows), references=references, one_view=True)
        assert [case.candidate for case in found] == ["front"], header


def test_among_two_frontal_views_the_seed_decides_alike_for_all_systems() -> None:
    named = ["d1", "d2", "d3"]
    views = ["AP", "LATERAL", "PA"]
    chosen = {choose_view(views, named=named, study=str(n)) for n in range(40)}
    assert chosen == {0, 2}
    seeds = {choose_view(views, named=named, study="1", seed=seed) for seed in range(40)}
    assert seeds == {0, 2}
    turned = choose_view(views[::-1], named=named[::-1], study="1")
    assert named[::-1][turned] == named[choose_view(views, named=named, study="1")]
    others = {choose_view(["LL", "", "LATERAL"], named=named, study=str(n)) for n in range(60)}
    assert others == {0, 1, 2}


def test_of_several_images_of_a_study_one_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "mimic-cxr-2.0.0-metadata.csv", METADATA)
    sectioned = "study,impression,findings,last_paragraph,comparison\ns1,Clear.,Clear.,,\n"
    references = write(tmp_path / "mimic_cxr_sectioned.csv", sectioned)
    candidates = write(tmp_path / "a.csv", "id,report\n1,Clear.\n")
    both = read_cases(candidates, references=references, section="impression")
    assert [image.stem for image in both.cases[0].images] == ["d2", "d1"]
    one = read_cases(candidates, references=references, section="impression", one_view=True)
    assert [image.stem for image in one.cases[0].images] == ["d2"]
    assert one.cases[0].meta["views"] == "PA"


def test_without_views_nothing_is_chosen(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.csv", "id,reference,candidate\n1,Clear.,a\n1,Clear.,b\n")
    with pytest.raises(InputError, match="study '1' has 2"):
        read_cases(rows, one_view=True)


def test_from_the_command_line(tmp_path: Path) -> None:
    rows = "id,reference,candidate,view\n1,Clear.,Edema.,LATERAL\n1,Clear.,Clear.,AP\n"
    file = write(tmp_path / "a.csv", rows)
    done = CliRunner().invoke(
        app, ["score", str(file), "--one-view", "-m", "bleu", "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    assert '"not_judged": 1' not in done.stdout
    assert "1 reports of other views were left out" in done.output
