"""Values as people read them: on the terminal, in the report, in tables for papers."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Text for a terminal: signs that would steer it, or turn the direction of writing, are shown instead.

    >>> visible("a\\x1b[2Jb"), visible("two\\nlines")
    ('a␛[2Jb', 'two\\nlines')
    """
    return _HIDDEN.sub(lambda sign: chr(0x2400 + ord(sign[0])) if sign[0] < " " else "\ufffd", text)


def spreadsheet_cell(value: object) -> object:
    """A value for CSV: a text that a spreadsheet would run as a formula gets an apostrophe in front.

    Signs that would steer a terminal on which the file is shown are made visible.

    >>> spreadsheet_cell("=1+2"), spreadsheet_cell("-0.5"), spreadsheet_cell(-0.5), spreadsheet_cell("- clear")
    ("'=1+2", '-0.5', -0.5, "'- clear")
    """
    if not isinstance(value, str):
        return value
    runs = value.lstrip(" ")[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") and not _NUMBER.fullmatch(value)
    return "'" * runs + visible(value.replace("\r\n", "\n"))


def number(value: float, digits: int = 3) -> str:
    """A value for people; NaN is a dash, never a number.

    >>> number(0.12345), number(float("nan")), number(-0.0001), number(1234.5)
    ('0.123', '–', '0.000', '1234.5')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:.1f}"
    return shown[1:] if float(shown) == 0 and shown.startswith("-") else shown


def interval(low: float, high: float) -> str:
    """An interval for people."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{number(low)}, {number(high)}]"


def arrow(higher_is_better: bool) -> str:
    """Arrow to better values."""
    return "↑" if higher_is_better else "↓"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.0142), signed(-0.0), signed(float("nan"))
    ('+0.014', '0.000', '–')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:+.3f}"
    return "0.000" if float(shown) == 0 else shown


def p_value(p: float, *, bound: bool = False) -> str:
    """A p value for people: three decimals, two digits below 0.001, never 0.

    Args:
        p: The value.
        bound: True if no permutation was as extreme: then p is at most this, and more would make it smaller.

    >>> p_value(0.0312), p_value(0.00098), p_value(5.3e-5), p_value(1e-320), p_value(float("nan"))
    ('0.031', '9.8e-04', '5.3e-05', '<1e-300', '–')
    >>> p_value(0.0099, bound=True)
    '≤0.010'
    """
    if bound and not math.isnan(p):
        return f"≤{p_value(p)}"
    if math.isnan(p):
        return "–"
    if p < 1e-300:
        return "<1e-300"
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def percent_change(value: float) -> str:
    """A change in percent with its sign.

    >>> percent_change(81.25), percent_change(-0.04), percent_change(float("nan"))
    ('+81.2 %', '-0.0 %', '–')
    """
    return "–" if math.isnan(value) else f"{value:+.1f} %"


def share(value: float | None, digits: int = 1) -> str:
    """A share in percent.

    >>> share(0.1234), share(0.5, 0), share(float("nan")), share(None)
    ('12.3 %', '50 %', '–', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{100 * value:.{digits}f} %"


def shortened(text: str, most: int) -> str:
    """A text on one line, cut where it is too long.

    >>> shortened("no  pleural effusion", 11)
    'no pleural…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
