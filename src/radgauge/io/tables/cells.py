"""One cell of a table: a report, an id, or anything else, whatever library it came from."""

from __future__ import annotations

import json
import numbers

from radgauge.core.errors import InputError, shown

NO_TEXT = frozenset(["nan", "NaN", "NAN", "<NA>", "NA", "N/A", "#N/A", "None", "null", "NULL"])
"""What programs write for "no value": as a whole report it is an empty one."""


_RUN = tuple("=+-@\t\r\n")


def as_text(value: object, *, where: str) -> str:
    """A report as it stands; every library's missing value, and its spelling as a word, is an empty report.

    >>> [as_text(value, where="line 2") for value in ("Clear.", float("nan"), "NaN")]
    ['Clear.', '', '']
    """
    if isinstance(value, str):
        if value.strip() in NO_TEXT:
            return ""
        return check_characters(value, where)
    if is_missing(value):
        return ""
    raise InputError(f"{where} must be text, got {shown(value)}")


def guarded(text: str) -> str:
    """The text for a table that spreadsheets may open: one that they would run gets an apostrophe in front.

    >>> guarded("=1+1"), guarded("- clear"), guarded("'- clear"), guarded("'tis clear")
    ("'=1+1", "'- clear", "''- clear", "'tis clear")
    """
    return f"'{text}" if text.lstrip("' ")[:1] in _RUN and text else text


def unguarded(text: str) -> str:
    """The text again that `guarded` changed.

    >>> [unguarded(guarded(text)) for text in ("=1+1", "'- clear", "'tis clear", "")]
    ['=1+1', "'- clear", "'tis clear", '']
    """
    return text[1:] if text[:1] == "'" and text[1:].lstrip("' ")[:1] in _RUN else text


def check_characters(text: str, where: str) -> str:
    """The text, if it can be written to a file; half a character (a lone surrogate) cannot."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} has half a character (surrogate {text[error.start]!a}) at position {error.start}; "
            "the text was cut or wrongly converted"
        ) from None
    return text


def study_id(value: object, *, where: str) -> str:
    """A study id as text, without surrounding blanks; numbers that a table turned into floats lose the ".0".

    >>> study_id(" s1 ", where="line 2"), study_id(12.0, where="line 3"), study_id("007", where="line 4")
    ('s1', '12', '007')
    """
    if isinstance(value, bool | bytes | list | tuple | dict):
        raise InputError(f"{where} must be a text or a number, got {type(value).__name__}")
    study = cell(value).strip()
    if not study or study in NO_TEXT:
        raise InputError(f"{where}: every case needs a non-empty id, got {shown(value)}")
    return check_characters(study, where)


def is_missing(value: object) -> bool:
    """None, NaN, and the missing values of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    # not math.isnan, which fails on whole numbers beyond 1e308
    return isinstance(value, numbers.Real) and bool(value != value)


def cell(value: object) -> str:
    """A table cell as text; missing values are empty, lists and objects are JSON.

    >>> cell(None), cell(float("nan")), cell(12.0), cell("a"), cell(["é"])
    ('', '', '12', 'a', '["é"]')
    """
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        if number.is_integer():  # ids that a spreadsheet or pandas turned into floats
            return str(int(number))
    return str(value)
