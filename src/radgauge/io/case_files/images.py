"""Paths of the images that a table names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from radgauge.core.cases import Case
from radgauge.core.errors import InputError

ENDINGS = (".png", ".jpg", ".jpeg", ".dcm", ".dicom", ".tif", ".tiff", ".bmp", ".webp")


def place_images(cases: Sequence[Case], folder: Path, *, outside: bool = False) -> tuple[list[Case], list[str]]:
    """The cases with images in a folder, and what a person should know of them.

    A copy of a data set often holds its images in another format than its list says (`0.png` as `0.jpg`): where
    the file named is not there, one of the same name with another ending is taken, if there is just one.

    Args:
        cases: With images as their table names them.
        folder: Where the images are.
        outside: Whether a table may name files outside the folder: absolute paths, or `..`.

    Raises:
        InputError: There is no such folder, or an image would lie outside it.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder of images")
    if not outside:
        for case in cases:
            for image in case.images:
                if image.is_absolute() or os.path.normpath(image).split(os.sep)[0] == os.pardir:
                    raise InputError(
                        f"the image {image.name} of id {case.id!r} lies outside {folder}: its path is absolute or "
                        "leads upwards; if that is meant, add images_outside=True"
                    )
    paths: dict[Path, Path] = {}
    for image in dict.fromkeys(image for case in cases for image in case.images):
        paths[image] = folder / image if (folder / image).is_file() else _other_ending(folder / image)
    placed = [replace(case, images=tuple(paths[image] for image in case.images)) for case in cases]
    total = sum(len(case.images) for case in placed)
    named = [(case, image) for case in cases for image in case.images]
    absent = [(case, image) for case, image in named if not paths[image].is_file()]
    other = [(case, image) for case, image in named if paths[image].is_file() and paths[image] != folder / image]
    notes = []
    for what, pairs in (
        (f"are not in {folder.name or folder.resolve().name or folder}", absent),
        ("were found with another ending", other),
    ):
        if pairs:
            case, image = pairs[0]
            notes.append(f"{len(pairs)} of {total} images {what}; first: {image.name} (id {case.id!r})")
    return placed, notes


def near_table(cases: Sequence[Case], table: Path) -> tuple[list[Case], list[str]]:
    """The cases with images as their table names them, and what a person should know of them.

    Relative paths are taken from the table's folder where the current one has no such file. Without a folder of
    images a table may name any file, since people make such tables for their own machine; that it names files
    elsewhere is said, since they may have the table from others.
    """
    beside = (table if table.is_dir() else table.parent).resolve()

    def locate(image: Path) -> Path:
        return beside / image if not image.is_file() and (beside / image).is_file() else image

    placed = [replace(case, images=tuple(map(locate, case.images))) if case.images else case for case in cases]
    homes = [beside, Path.cwd()]
    elsewhere = [
        (case, image)
        for case in cases
        for image in case.images
        if not any(Path(os.path.normpath(home / image)).is_relative_to(home) for home in homes)
    ]
    if not elsewhere:
        return placed, []
    case, image = elsewhere[0]
    named = f"first: {image.name} (id {case.id!r})"
    return placed, [f"the table names {len(elsewhere)} images outside its folder; {named}"]


def _other_ending(path: Path) -> Path:
    if not path.name or "\0" in path.name:
        return path
    others = [variant for ending in ENDINGS if (variant := path.with_suffix(ending)).is_file()]
    return others[0] if len(others) == 1 else path
