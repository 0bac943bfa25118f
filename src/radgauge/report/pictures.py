"""The pictures of the case browser: small copies inside the page, as many as there is room for."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from radgauge.core.cases import Case
from radgauge.core.errors import ImageError
from radgauge.report.browser_data import script_safe

LONGEST = 384
"""Pixels of the longer side of a picture in the page."""
ROOM = 6_000_000
"""Bytes for all pictures."""


@dataclass(frozen=True, slots=True)
class PagePictures:
    """Pictures as the page's script reads them.

    Attributes:
        packed: JSON: study -> records of its pictures, safe inside a script element.
        studies: Studies whose pictures are in the page.
        no_room: Studies whose pictures did not fit.
        unreadable: Files that could not be shown.
    """

    packed: str = "{}"
    studies: int = 0
    no_room: int = 0
    unreadable: int = 0

    def notes(self) -> list[str]:
        """What the page says of pictures that are not there."""
        said = []
        if self.no_room:
            said.append(
                f"Pictures of {self.no_room:,} of {self.no_room + self.studies:,} studies are left out to keep "
                "this file small."
            )
        if self.unreadable:
            said.append(f"{self.unreadable:,} pictures could not be read.")
        return said


def page_pictures(
    cases: Sequence[Case],
    *,
    shown: Collection[str],
    first: Sequence[str] = (),
    longest: int = LONGEST,
    room: int = ROOM,
) -> PagePictures:
    """Pack the pictures of the studies in the browser.

    Args:
        cases: With their images.
        shown: Studies that the browser holds.
        first: Studies whose pictures come first when there is no room for all.
        longest: Pixels of a picture's longer side at most; 0: no pictures.
        room: Bytes at most.
    """
    from radgauge.images import web_picture  # most reports have no pictures
    from radgauge.render.viewer import picture_record

    images = {case.id: case.images for case in reversed(cases) if case.images and case.id in shown}
    order = [*dict.fromkeys(study for study in (*first, *(case.id for case in cases)) if study in images)]
    packed: dict[str, list[dict[str, Any]]] = {}
    used, no_room, unreadable = 0, 0, 0
    for study in order if longest else ():
        if used >= room:
            no_room += 1
            continue
        records = []
        for path in images[study]:
            try:
                records.append(picture_record(web_picture(path, longest=longest), name=path.name))
            except ImageError:
                unreadable += 1
        size = sum(len(record["data"]) for record in records)
        if used + size > room:
            no_room += 1
            used = room  # what follows is less telling than what did not fit
        elif records:
            packed[study] = records
            used += size
    return PagePictures(script_safe(json.dumps(packed)), len(packed), no_room, unreadable)
