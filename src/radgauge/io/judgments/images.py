"""Images for judged cases, which the published files of judgments do not name.

A table says which images belong to a study; or they are looked for in a folder: files and folders named after
the study, as MIMIC-CXR's copies are laid out (`p10/p10000032/s50414267/*.jpg`). The metadata table of MIMIC-CXR,
beside the images or one folder up, puts frontal pictures first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.case_files.images import ENDINGS, place_images
from radgauge.io.corpora.mimic import VIEWS, image_views
from radgauge.io.judgments.judgments import Judgments
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell
from radgauge.io.tables.column_names import shown_names

STUDY = ("id", "study_id", "study")
IMAGE = ("image", "images", "image_path", "Path_frontal", "path", "Path")


def with_images(judgments: Judgments, path: Path | str, *, outside: bool = False) -> Judgments:
    """The judgments with images for their cases; a note says for how many studies none was found.

    Args:
        judgments: Of any form.
        path: A folder of images; or a table with a study and an image per row, whose paths are relative to it.
        outside: Whether a table may name images outside its folder.

    Raises:
        InputError: There is no such place, or no image for any study.
    """
    path = Path(path)
    studies = tuple(dict.fromkeys(case.id for case in judgments.cases))
    notes: list[str] = []
    if path.is_dir():
        by_study = _in_folder(path, studies)
    elif path.is_file():
        named = _in_table(path)
        cases = [Case(study, "", images=named.get(_number(study), ())) for study in studies]
        placed, notes = place_images(cases, path.parent, outside=outside)
        by_study = {case.id: case.images for case in placed}
    else:
        raise InputError(f"no such folder or table of images: {path}")
    without = [study for study in studies if not by_study.get(study)]
    if len(without) == len(studies):
        raise InputError(
            f"{path} holds no image of the {len(studies)} studies, first {studies[0]!r}; name files or folders "
            "after the studies, or give a table with the columns id and image"
        )
    if without:
        notes.append(f"no image for {len(without)} of {len(studies)} studies, first {without[0]!r}")
    pictured = tuple(replace(case, images=by_study.get(case.id, ())) for case in judgments.cases)
    return replace(judgments, cases=pictured, notes=(*judgments.notes, *notes))


def study_images(path: Path | str) -> Mapping[str, tuple[Path, ...]]:
    """Images by study: all that a table names, or that a folder holds in folders named after studies.

    Raises:
        InputError: There is no such place.
    """
    path = Path(path)
    if path.is_file():
        by_study = _in_table(path)
        cases = [Case(study, "", images=images) for study, images in by_study.items()]
        return {case.id: case.images for case in place_images(cases, path.parent)[0]}
    if not path.is_dir():
        raise InputError(f"no such folder or table of images: {path}")
    return _in_folder(path, None)


def _number(study: str) -> str:
    """MIMIC's studies are written with and without the letter before the number."""
    return study[1:] if study[:1] == "s" and study[1:].isdigit() else study


def _in_table(path: Path) -> dict[str, tuple[Path, ...]]:
    table = read_table(path)
    names = [next((column for column in accepted if column in table.columns), None) for accepted in (STUDY, IMAGE)]
    if None in names:
        raise InputError(
            f"{table.source.name}: a table of images must have a study ({', '.join(STUDY)}) and an image "
            f"({', '.join(IMAGE)}) per row; it has {shown_names(table.columns)}"
        )
    study, image = (str(name) for name in names)
    by_study: dict[str, list[Path]] = {}
    for record in table.records:
        named = [part.strip() for part in cell(record.values.get(image)).split(";")]
        by_study.setdefault(_number(cell(record.values.get(study)).strip()), []).extend(
            map(Path, filter(None, named))
        )
    return {name: tuple(dict.fromkeys(paths)) for name, paths in by_study.items()}


def _in_folder(folder: Path, studies: Sequence[str] | None) -> Mapping[str, tuple[Path, ...]]:
    requested = None if studies is None else {_number(study): study for study in studies}

    def named(text: str) -> str | None:
        return _number(text) if requested is None else requested.get(_number(text))

    by_study: dict[str, list[Path]] = {}
    for directory, folders, files in os.walk(folder):
        folders.sort()
        owner = named(Path(directory).name) if Path(directory) != folder else None
        for name in sorted(files):
            path = Path(directory) / name
            study = owner or named(path.stem)
            if study is not None and path.suffix.lower() in ENDINGS:
                by_study.setdefault(study, []).append(path)
    views = image_views(folder)
    last = len(VIEWS)

    def frontal_first(path: Path) -> tuple[int, str]:
        return VIEWS.get(views.get(path.stem, "").upper(), last), str(path)

    return {study: tuple(sorted(paths, key=frontal_first)) for study, paths in by_study.items()}
