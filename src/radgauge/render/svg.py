"""Small SVG: elements, axes, and the colours of a plot in a page or in a file of its own.

A plot is drawn once, with classes instead of colours. In the page the style sheet gives the colours, light or
dark; a file of its own gets them as a style element. Written here because a plotting library would weigh more
than everything else that the report needs, and could not follow the reader's colour scheme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

SERIES = 6
"""Colours there are for systems; the seventh starts again, told apart by its label."""

FONT = "system-ui,'Segoe UI',Roboto,'Helvetica Neue','Liberation Sans','DejaVu Sans',sans-serif"

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d2433",
    "soft": "#5a6478",
    "line": "#d5dae3",
    "positive": "#0b62a4",
    "negative": "#b3430a",
    "c0": "#0b62a4",
    "c1": "#b8500a",
    "c2": "#0a7a5c",
    "c3": "#8a3f9c",
    "c4": "#876000",
    "c5": "#4a5568",
}
"""Colours of a plot on white: at least 4.5 to 1 against paper, told apart with the usual colour blindnesses."""

DARK = {
    "paper": "#12161f",
    "ink": "#e8ebf2",
    "soft": "#a3adbf",
    "line": "#343c4d",
    "positive": "#6cb2f5",
    "negative": "#ff9a5c",
    "c0": "#6cb2f5",
    "c1": "#ff9a5c",
    "c2": "#4ccfa6",
    "c3": "#d69ae6",
    "c4": "#e3bc4d",
    "c5": "#a8b3c4",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing."""

    key: str  # Its name in file names and anchors
    title: str  # What it shows, for people and screen readers
    width: float
    height: float
    body: str  # SVG elements

    def inline(self) -> str:
        """For the page: colours come from the page's style sheet."""
        return _open(self, "") + self.body + "</svg>"

    def file(self) -> str:
        """A file of its own, with its colours."""
        head = _open(self, ' xmlns="http://www.w3.org/2000/svg"')
        paper = f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>'
        return f"{head}<style>{style_sheet(LIGHT)}</style>{paper}{self.body}</svg>\n"


def style_sheet(colours: dict[str, str] | None = None) -> str:
    """Styles for the classes of a plot: these colours, or the page's variables."""

    def of(name: str) -> str:
        return colours[name] if colours else f"var(--{name})"

    rules = [
        f".t{{font:11px {FONT};fill:{of('soft')}}}",
        f".h{{font-weight:600;fill:{of('ink')}}}",
        f".i{{fill:{of('ink')}}}",
        ".e{text-anchor:end}.m{text-anchor:middle}",
        f".ax{{stroke:{of('line')};stroke-width:1;fill:none}}",
        f".zero{{stroke:{of('soft')};stroke-width:1;fill:none}}",
        f".pos{{fill:{of('positive')}}}.neg{{fill:{of('negative')}}}",
        f".gap{{stroke:{of('paper')};stroke-width:1.5}}",
        ".area{fill-opacity:.32}.faint{fill-opacity:.38}.dot{fill-opacity:.62}",
        ".w2{stroke-width:2}.w4{stroke-width:4}",
    ]
    rules += [f".c{n}{{fill:{of(f'c{n}')}}}.l{n}{{stroke:{of(f'c{n}')};fill:none}}" for n in range(SERIES)]
    return "".join(rules)


def _open(plot: Plot, more: str) -> str:
    w, h = number(plot.width), number(plot.height)
    return (
        f'<svg{more} viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img"><title>{escape(plot.title)}</title>'
    )


def number(value: float) -> str:
    """A coordinate, short.

    >>> number(3.0), number(2.345)
    ('3', '2.3')
    """
    return f"{value:.1f}".removesuffix(".0")


def line(x1: float, y1: float, x2: float, y2: float, cls: str = "ax") -> str:
    """A straight line."""
    return f'<path class="{cls}" d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"/>'


def label(x: float, y: float, words: object, cls: str = "") -> str:
    """Text, escaped."""
    return f'<text class="{f"t {cls}".strip()}" x="{number(x)}" y="{number(y)}">{escape(str(words))}</text>'


def turned(x: float, y: float, words: object, degrees: int, cls: str) -> str:
    """Text at an angle."""
    transform = f"translate({number(x)} {number(y)}) rotate({degrees})"
    return f'<text class="t {cls}" transform="{transform}">{escape(str(words))}</text>'


def box(x: float, y: float, width: float, height: float, cls: str) -> str:
    """A rectangle; nothing if it has no width."""
    if not width > 0 or not height > 0:
        return ""
    return (
        f'<rect class="{cls}" x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"/>'
    )


def shape(kind: int, x: float, y: float, cls: str, *, size: float = 3.2, more: str = "") -> str:
    """A mark; every series has its own shape, so that colour never speaks alone."""
    outlines: dict[int, list[tuple[float, float]]] = {
        1: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        2: [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)],
        3: [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
        4: [(0, 1.3), (1.2, -0.9), (-1.2, -0.9)],
        5: [(-1.5, -0.6), (1.5, -0.6), (1.5, 0.6), (-1.5, 0.6)],
    }
    corners = outlines.get(kind % SERIES)
    if corners is None:
        return f'<circle class="{cls}" cx="{number(x)}" cy="{number(y)}" r="{number(size)}"{more}/>'
    path = "L".join(f"{number(x + size * dx)} {number(y + size * dy)}" for dx, dy in corners)
    return f'<path class="{cls}" d="M{path}Z"{more}/>'


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two values.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * min((1, 2, 2.5, 5, 10), key=lambda m: abs(m * power - rough))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def shown(value: float) -> str:
    """A tick's label.

    >>> shown(0.25), shown(2.0), shown(1500.0)
    ('0.25', '2', '1500')
    """
    return f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def scale(values: Iterable[float], start: float, end: float, *, pad: float = 0.03) -> Scale:
    """A scale that shows all these values with a little room; NaN is not a value."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(low)):
        low, high = low - 0.5, high + 0.5
    room = pad * (high - low)
    return Scale(low - room, high + room, start, end)
