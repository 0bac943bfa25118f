"""One report of a study where a system wrote one per image: that of a frontal view.

Yu et al. (2022), "Implementation of prior report generation methods": the report of the AP or PA image if there is
one, at random if there are both, and at random among the other views if there is neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError
from radgauge.io.case_files.join import Side

FRONTAL = frozenset({"AP", "PA"})
COLUMNS = ("viewposition", "view_position", "view", "projection")
"""Columns that say how an image was taken, whatever their case."""


def one_view(side: Side, *, views: Mapping[str, str], seed: int = 0) -> tuple[Side, list[str]]:
    """A file with one row per study and system, and one image per row; what was left out is counted in a note.

    Args:
        side: The file.
        views: Image (MIMIC's dicom_id) -> view, where the rows do not say it themselves.
        seed: Decides among several frontal views; the choice depends on the study alone, so that systems which
            wrote about the same images are judged on the same one.
    """
    rows: dict[Key, list[int]] = {}
    for row, case in enumerate(side.cases):
        rows.setdefault(case.key, []).append(row)
    selected: list[int] = []
    for key, study_rows in rows.items():
        shown = [_view(side.cases[row], views) for row in study_rows]
        if len(study_rows) > 1 and not any(shown):
            raise InputError(
                f"{side.locations[study_rows[0]]}: the study {key[0]!r} has {len(study_rows)} reports, "
                "and nothing says of which view each is: "
                "add a column ViewPosition, or dicom_id with MIMIC's metadata table beside it"
            )
        named = [_image(side.cases[row]) or str(at) for at, row in enumerate(study_rows)]
        selected.append(study_rows[choose_view(shown, named=named, study=key[0], seed=seed)])
    cases = tuple(_one_image(side.cases[row], seed) for row in sorted(selected))
    left_out = len(side.cases) - len(selected)
    notes = [f"{side.table.source.name}: {left_out} reports of other views were left out"] if left_out else []
    return replace(side, cases=cases, locations=tuple(side.locations[row] for row in sorted(selected))), notes


def choose_view(views: Sequence[str], *, named: Sequence[str], study: str, seed: int = 0) -> int:
    """Choose one of several images: a frontal one if there is any.

    Args:
        views: How each was taken.
        named: Their names, so that the choice does not depend on their order.
        study: Of which study they are.
        seed: Decides among several.

    >>> choose_view(["LATERAL", "PA"], named=["a", "b"], study="1")
    1
    """
    frontal = [index for index, view in enumerate(views) if view.strip().upper() in FRONTAL]
    among = sorted(frontal or range(len(views)), key=lambda index: named[index])
    drawn = hashlib.sha256(f"{seed}\0{study}".encode()).digest()
    return among[int.from_bytes(drawn[:8], "big") % len(among)]


def _view(case: Case, views: Mapping[str, str]) -> str:
    stated = next((value for name, value in case.meta.items() if name.lower() in COLUMNS and value.strip()), "")
    return stated or views.get(_image(case), "")


def _image(case: Case) -> str:
    """The image of a row as MIMIC names it: its dicom_id, or the name of its file."""
    return case.meta.get("dicom_id", "").strip() or (case.images[0].stem if len(case.images) == 1 else "")


def _one_image(case: Case, seed: int) -> Case:
    """A case of a corpus that knows the views of its images, with one of them."""
    shown = case.meta.get("views", "").split("; ")
    if len(case.images) < 2 or len(shown) != len(case.images):
        return case
    chosen = choose_view(shown, named=[image.stem for image in case.images], study=case.id, seed=seed)
    return replace(
        case, images=(case.images[chosen],), meta=MappingProxyType({**case.meta, "views": shown[chosen]})
    )
