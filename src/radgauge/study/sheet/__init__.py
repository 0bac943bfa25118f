"""A study without a server: sheets for raters to fill offline, and the way back."""

import base64
import hashlib
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import escape

from radgauge.core.errors import UsageError, require
from radgauge.core.files import make_folder, write_file
from radgauge.images import grey, web_picture
from radgauge.study.sheet.collect import Collected, collect
from radgauge.study.sheet.content import cases_of_sheet, examples, sealed
from radgauge.study.store import Store
from radgauge.study.views import CaseView

# Sheets for all raters of a study: an HTML form each, to be filled offline.

# A rater's sheet as one HTML file: no server, no outside resource, answers saved to a file.
#
# All texts are data: they go into the page as JSON with every sign that HTML could take for its own escaped, and
# from there through textContent. The page forbids itself everything but its own script and style, by their
# hashes, and pictures that are part of the file.

FOLDER = Path(__file__).parent
LONGEST_SIDE = 1600
"""Pixels of the longer side of a picture in a form."""


def write_form(store: Store, person_id: str, *, path: Path) -> None:
    """Write the form of a rater, with what is answered already."""
    person = store.person(person_id)
    content = {
        "head": sealed(store, person_id),
        "title": store.about["title"],
        "name": person.name,
        "design": store.design.as_dict(),
        "examples": examples(store),
        "cases": [_case(store, person_id, number, view) for number, view in cases_of_sheet(store, person_id)],
    }
    for training in content["design"]["training"]:
        training.clear()  # shown as examples
    style = (FOLDER / "form.css").read_text(encoding="utf-8")
    script = (FOLDER / "form.js").read_text(encoding="utf-8")
    data = _for_html(content)
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    write_file(
        path,
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(store.about['title'])}</title>\n<style>{style}</style></head>\n"
        f'<body><main id="page"></main>\n<script type="application/json" id="content">{data}</script>\n'
        f"<script>{script}</script></body></html>\n",
    )


def _for_html(content: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, ensure_ascii=False)
    for sign in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _case(store: Store, person_id: str, number: int, view: CaseView) -> dict[str, Any]:
    return {
        "key": view.key,
        "number": number,
        "reference": view.reference,
        "reference_sentences": view.reference_sentences,
        "context": dict(view.context),
        "images": [picture(store.image_path(person_id, view.key, number=at)) for at in range(view.images)],
        "candidates": [
            {
                "label": at.label,
                "text": at.text,
                "sentences": at.sentences,
                "system": at.system,
                "suggestions": [dict(hint) for hint in at.suggestions],
            }
            for at in view.candidates
        ],
        "state": view.state.as_dict(),
    }


def picture(path: Path) -> str:
    """An image as a data URI of its pixels alone, windowed as a viewer shows it first."""
    made = web_picture(path, max_size=LONGEST_SIDE)
    content = made.data
    if made.deep:
        images = require("PIL.Image", extra="image")
        drawn = images.fromarray(grey(path))
        drawn.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        file = io.BytesIO()
        drawn.save(file, "JPEG", quality=90)
        content = file.getvalue()
    return f"data:image/jpeg;base64,{base64.b64encode(content).decode('ascii')}"


def write_sheets(path: Path | str, folder: Path | str, *, people: Sequence[str] | None = None) -> list[Path]:
    """Write a sheet for each rater: a self-contained form that opens in any browser and saves answers to a file.

    Args:
        path: The file of the study.
        folder: Where the sheets go.
        people: Ids or names of raters; None = all.
    """
    with Store(path, readonly=True) as store:
        chosen = [store.person(rater) for rater in people] if people else list(store.people(role="rater"))
        odd = [rater.name for rater in chosen if rater.role != "rater"]
        if odd:
            raise UsageError(f"sheets are for raters; {odd[0]} is none")
        target = make_folder(folder)
        written = []
        for person in chosen:
            words = re.sub(r"[^\w-]+", "-", person.name.lower()).strip("-")[:40]
            file = target / f"{person.id}{'-' + words if words and words != person.id else ''}.html"
            write_form(store, person.id, path=file)
            written.append(file)
    return written


__all__ = ["Collected", "collect", "write_sheets"]
