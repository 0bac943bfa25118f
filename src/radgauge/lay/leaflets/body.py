"""Where it is in the body: own drawings (body.toml) with a place marked, as SVG that stands inside a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from radgauge.core.parsing import shipped_toml
from radgauge.reader import load_lexicon

LEFT, RIGHT, BOTH = "left", "right", "both"


@dataclass(frozen=True, slots=True)
class BodyPlace:
    """A place that the drawings can mark.

    Attributes:
        name: Key in body.toml.
        side: left, right or both; "both" also for what has no sides.
    """

    name: str
    side: str = BOTH


def place_of(concept: str, *, locations: Iterable[str] = (), side: str = "") -> BodyPlace | None:
    """Where a concept of the lexicon is: the nearest of its own anatomy and what lies above that is drawn.

    Args:
        concept: Anatomy, or a finding or device with a place of its own.
        locations: Anatomy that the report names for it, which counts first.
        side: left, right, bilateral, or "" if not said; what always lies on one side knows it.

    >>> place_of("pleural_effusion", side="left")
    BodyPlace(name='pleura', side='left')
    >>> place_of("right_upper_lobe"), place_of("bones")
    (BodyPlace(name='upper_lung', side='right'), None)
    """
    lexicon = load_lexicon()
    known = lexicon.concepts.get(concept)
    starts = [*locations, *((concept, *known.location) if known is not None else ())]
    for start in starts:
        for name in _upwards(start):
            place = _places_by_anatomy().get(name)
            if place is not None:
                return BodyPlace(place, _side(start, side))
    if known is not None:
        for parent in known.parents:
            if (found := place_of(parent, side=side)) is not None:
                return found
    return None


def _side(anatomy: str, side: str) -> str:
    if side in (LEFT, RIGHT):
        return side
    concept = load_lexicon().concepts.get(anatomy)
    own = concept.side if concept is not None else ""
    named = next((each for each in (LEFT, RIGHT) if anatomy.startswith(f"{each}_")), "")
    return own if own in (LEFT, RIGHT) else named or BOTH


def _upwards(anatomy: str) -> Iterator[str]:
    """An anatomy and what lies above it, nearest first."""
    lexicon, seen, queue = load_lexicon(), set[str](), [anatomy]
    while queue:
        name = queue.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        if (concept := lexicon.concepts.get(name)) is not None and concept.kind == "anatomy":
            queue += concept.parents


@cache
def _places_by_anatomy() -> Mapping[str, str]:
    return {anatomy: name for name, place in _drawings()["place"].items() for anatomy in place["anatomy"]}


@cache
def _drawings() -> Mapping[str, Any]:
    return shipped_toml(__file__, "body.toml")


def picture(places: Iterable[BodyPlace], *, title: str, right: str, left: str) -> str:
    """An SVG drawing with the places marked; "" if nothing can be drawn.

    Args:
        places: What to mark; all in the drawing of the first.
        title: What the drawing shows, for those who cannot see it.
        right: The word at the side of the picture where the right side of the body is.
        left: The word at the other side.
    """
    table = _drawings()
    wanted = [each for each in dict.fromkeys(places) if each.name in table["place"]]
    if not wanted:
        return ""
    view = str(table["place"][wanted[0].name]["view"])
    frame = table["view"][view]
    width, height = frame["width"], frame["height"]
    grey = [BodyPlace(name) for name in table["landmarks"].get(view, ())]
    parts = [f'<path class="skin" d="{shape}"/>' for shape in frame["outline"]]
    parts += [shape for place in grey for shape in _shapes(place, view, "mark", width)]
    parts += [shape for place in wanted for shape in _shapes(place, view, "here", width)]
    words = (
        f'<text x="2" y="{height + 13}">{escape(right)}</text>'
        f'<text x="{width - 2}" y="{height + 13}" text-anchor="end">{escape(left)}</text>'
    )
    return (
        f'<svg class="body" viewBox="0 0 {width} {height + 18}" role="img" '
        f'aria-label="{escape(title, quote=True)}">'
        f"{''.join(parts)}{words}</svg>"
    )


def _shapes(place: BodyPlace, view: str, role: str, width: int) -> Iterator[str]:
    drawn = _drawings()["place"][place.name]
    if drawn["view"] != view:
        return
    kind = f"{role} line" if drawn.get("line") else role
    for shape in drawn.get("middle", ()):
        yield f'<path class="{kind}" d="{shape}"/>'
    for shape in drawn.get("right", ()):
        if place.side in (RIGHT, BOTH):
            yield f'<path class="{kind}" d="{shape}"/>'
        if place.side in (LEFT, BOTH):
            yield f'<path class="{kind}" transform="translate({width} 0) scale(-1 1)" d="{shape}"/>'
