"""How reports were read is part of the scores, and enough to read them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.case_files import input_spec, read_again, read_input, spec_from_dict

TRUTH = "uid,text,split\n1,FINDINGS: Clear. IMPRESSION: None.,test\n2,FINDINGS: Edema. IMPRESSION: Edema.,train\n"


@pytest.fixture
def spec(tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "truth.csv").write_text(TRUTH)
    (tmp_path / "data" / "ours.csv").write_text("uid,out\n1,Clear.\n")
    return input_spec(
        references=tmp_path / "data" / "truth.csv",
        candidates=[tmp_path / "data" / "ours.csv"],
        columns={"reference": "text", "candidate": "out"},
        section="findings",
        split="test",
    )


def test_a_specification_survives_its_dictionary_and_names_no_folder_above(  # type: ignore[no-untyped-def]
    spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = spec.as_dict()
    assert written == {
        "references": "truth.csv",
        "candidates": {"ours": "ours.csv"},
        "columns": {"reference": ["text"], "candidate": ["out"]},
        "section": "findings",
        "split": "test",
    }
    assert read_input(spec_from_dict(written, folder=tmp_path / "data")).cases == read_input(spec).cases
    monkeypatch.chdir(tmp_path)
    assert spec.as_dict()["references"] == "data/truth.csv"
    with pytest.raises(UsageError, match="'later'"):
        spec_from_dict({**written, "later": 1}, folder=tmp_path)


def test_reports_are_read_again_where_they_are_now(spec, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    first = read_input(spec)
    about = first.provenance.as_dict()
    assert read_again(about, folder=tmp_path / "data").cases == first.cases
    moved = (tmp_path / "data" / "truth.csv").rename(tmp_path / "elsewhere.csv")
    with pytest.raises(InputError, match=r"truth\.csv"):
        read_again(about, folder=tmp_path / "data")
    assert read_again(about, folder=tmp_path / "data", moved=[moved]).cases == first.cases
    (tmp_path / "data" / "ours.csv").write_text("uid,out\n1,Edema.\n")
    with pytest.raises(InputError, match=r"ours\.csv has changed"):
        read_again(about, folder=tmp_path / "data", moved=[moved])
    with pytest.raises(InputError, match="none of the files"):
        read_again(about, folder=tmp_path / "data", moved=[tmp_path / "data" / "ours.csv"])
