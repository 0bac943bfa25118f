"""Images for judged cases: from folders named after studies, from MIMIC's layout, from a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.images import study_images, with_images

CASES = tuple(Case(study, "a", ("b",), system) for study in ("s501", "502", "503") for system in ("x", "y"))
JUDGMENTS = Judgments("judged", CASES)


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def _shown(found: Judgments) -> dict[str, list[str]]:
    return {case.id: [path.name for path in case.images] for case in found.cases}


def test_folders_and_files_named_after_the_studies(tmp_path: Path) -> None:
    files = tmp_path / "files"
    _touch(files / "p10" / "p7" / "s501" / "b.jpg", files / "p10" / "p7" / "s501" / "a.jpg")
    _touch(
        files / "502.dcm", files / "notes.txt", files / "p10" / "p7" / "s501" / "index.html", files / "s900.png"
    )
    found = with_images(JUDGMENTS, files)
    assert _shown(found) == {"s501": ["a.jpg", "b.jpg"], "502": ["502.dcm"], "503": []}
    assert found.notes == ("no image for 1 of 3 studies, first '503'",)
    assert [case.key for case in found.cases] == [case.key for case in CASES]


def test_the_metadata_of_mimic_puts_frontal_pictures_first(tmp_path: Path) -> None:
    _touch(*(tmp_path / "files" / "s501" / f"{name}.jpg" for name in ("a", "b", "c")))
    lines = ["dicom_id,subject_id,study_id,ViewPosition", "a,7,501,LATERAL", "b,7,501,AP", "c,7,501,PA"]
    (tmp_path / "mimic-cxr-2.0.0-metadata.csv").write_text("\n".join(lines) + "\n")
    assert _shown(with_images(JUDGMENTS, tmp_path / "files"))["s501"] == ["c.jpg", "b.jpg", "a.jpg"]


def test_a_table_names_them(tmp_path: Path) -> None:
    _touch(tmp_path / "one.png", tmp_path / "two.png", tmp_path / "three.png")
    table = tmp_path / "images.csv"
    table.write_text("study_id,image\n501,one.png\ns501,two.png\n502,three.png; one.png\n")
    assert _shown(with_images(JUDGMENTS, table)) == {
        "s501": ["one.png", "two.png"],
        "502": ["three.png", "one.png"],
        "503": [],
    }
    assert {study: len(paths) for study, paths in study_images(table).items()} == {"501": 2, "502": 2}
    table.write_text("study_id,image\n501,../elsewhere.png\n")
    with pytest.raises(InputError, match="lies outside"):
        with_images(JUDGMENTS, table)
    table.write_text("study_id,picture\n501,one.png\n")
    with pytest.raises(InputError, match=r"images\.csv: a table of images must have a study"):
        with_images(JUDGMENTS, table)


def test_no_image_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no image of the 3 studies, first 's501'"):
        with_images(JUDGMENTS, tmp_path)
    with pytest.raises(InputError, match="no such folder or table of images"):
        with_images(JUDGMENTS, tmp_path / "none")
