"""Images of a case, as the viewer takes them: pixels without headers, under numbers instead of file names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from radgauge.core.errors import ImageError, MissingExtra
from radgauge.images.web import WebPicture, web_picture
from radgauge.render.viewer import picture_record
from radgauge.study.store import Store
from radgauge.study.views import CaseView

_LONGEST = 2048  # pixels: enough to zoom in on a radiograph
_KEPT = 24


@lru_cache(maxsize=_KEPT)
def _picture(path: Path, changed: int) -> WebPicture:
    return web_picture(path, longest=_LONGEST)


def _read(path: Path) -> WebPicture:
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        raise ImageError("the file of the image is not there") from None
    return _picture(path, changed)


def picture_records(store: Store, person_id: str, view: CaseView) -> list[dict[str, Any]]:
    """What the viewer needs to know of each image; of one that cannot be shown, its name and why."""
    records: list[dict[str, Any]] = []
    for number in range(view.images):
        name = f"Image {number + 1}"
        try:
            picture = _read(store.image_path(person_id, view.key, number=number))
        except MissingExtra as missing:
            records.append({"name": name, "problem": str(missing)})
        except ImageError:
            records.append({"name": name, "problem": "the image cannot be read"})
        else:
            records.append(picture_record(picture, name=name, url=f"/api/cases/{view.key}/images/{number}"))
    return records


def picture_response(path: Path) -> Response:
    """The bytes of an image."""
    try:
        picture = _read(path)
    except (ImageError, MissingExtra):
        return JSONResponse({"error": "the image cannot be read"}, status_code=404)
    return Response(picture.data, media_type=picture.media_type)
