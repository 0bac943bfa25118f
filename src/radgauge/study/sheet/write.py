"""Sheets for all raters of a study: a workbook or an HTML form each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from radgauge.errors import UsageError
from radgauge.files import make_folder
from radgauge.study.sheet.excel import write_workbook
from radgauge.study.sheet.form import write_form
from radgauge.study.store import Store

Kind = Literal["html", "xlsx"]


def write_sheets(
    path: Path | str, folder: Path | str, *, kind: Kind = "html", people: Sequence[str] | None = None
) -> list[Path]:
    """Write a sheet for each rater.

    Args:
        path: The file of the study.
        folder: Where the sheets go.
        kind: html = one self-contained file that opens in any browser, offline, and saves answers to a file;
            xlsx = an Excel workbook.
        people: Ids or names of raters; None = all.
    """
    if kind not in ("html", "xlsx"):
        raise UsageError(f"a sheet is html or xlsx, got {kind!r}")
    with Store(path, readonly=True) as store:
        chosen = [store.person(each) for each in people] if people else list(store.people(role="rater"))
        odd = [each.name for each in chosen if each.role != "rater"]
        if odd:
            raise UsageError(f"sheets are for raters; {odd[0]} is none")
        place = make_folder(folder)
        written = []
        for person in chosen:
            words = re.sub(r"[^\w-]+", "-", person.name.lower()).strip("-")[:40]
            file = place / f"{person.id}{'-' + words if words and words != person.id else ''}.{kind}"
            (write_form if kind == "html" else write_workbook)(store, person.id, path=file)
            written.append(file)
    return written
