"""Sheets for all raters of a study: an HTML form each, to be filled offline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from radgauge.core.errors import UsageError
from radgauge.core.files import make_folder
from radgauge.study.sheet.form import write_form
from radgauge.study.store import Store


def write_sheets(path: Path | str, folder: Path | str, *, people: Sequence[str] | None = None) -> list[Path]:
    """Write a sheet for each rater: a self-contained form that opens in any browser and saves answers to a file.

    Args:
        path: The file of the study.
        folder: Where the sheets go.
        people: Ids or names of raters; None = all.
    """
    with Store(path, readonly=True) as store:
        chosen = [store.person(each) for each in people] if people else list(store.people(role="rater"))
        odd = [each.name for each in chosen if each.role != "rater"]
        if odd:
            raise UsageError(f"sheets are for raters; {odd[0]} is none")
        place = make_folder(folder)
        written = []
        for person in chosen:
            words = re.sub(r"[^\w-]+", "-", person.name.lower()).strip("-")[:40]
            file = place / f"{person.id}{'-' + words if words and words != person.id else ''}.html"
            write_form(store, person.id, path=file)
            written.append(file)
    return written
