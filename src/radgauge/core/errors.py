"""The exceptions radgauge raises, and the one guard for optional packages."""

from __future__ import annotations

import importlib
import re
from types import ModuleType


class RadgaugeError(Exception):
    """Base of everything radgauge raises on purpose; the message is meant for people."""


class InputError(RadgaugeError, ValueError):
    """The data given cannot be used as it is; the message names the first offender and the remedy."""


class ImageError(InputError):
    """An image file is missing, damaged, or of a kind that cannot be read; the message names the file."""


class UsageError(RadgaugeError, ValueError):
    """The call itself is wrong: an unknown name, an impossible setting."""


class BrokenLimit(RadgaugeError):
    """A limit that the user set is broken: everything worked, and the answer is no."""


class ModelError(RadgaugeError):
    """A checkpoint is missing, incomplete, of another shape, or must not be fetched."""


class MissingModel(ModelError):
    """A checkpoint is not where it was looked for, and must not be fetched."""


class MissingExtra(RadgaugeError, ImportError):
    """An optional package is needed and not installed."""


def shown(value: object) -> str:
    """A value of the input for a message: a number or a short word as it is; of a text only its length.

    Messages end up in logs, and whatever stands in the wrong column may be a report.

    >>> shown(0.3), shown("yes"), shown("No pleural effusion."), shown(["No effusion."])
    ('0.3', "'yes'", 'a text of 20 characters', 'a list')
    """
    if value is None or isinstance(value, bool | int | float):
        text = repr(value)
        return text if len(text) <= 24 else "a long number"
    if isinstance(value, str):
        return repr(value) if re.fullmatch(r"[\w.,:;+/%-]{0,20}", value) else f"a text of {len(value)} characters"
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    return f"a value of type {type(value).__name__}"


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional package, or say which extra brings it.

    >>> require("json", extra="models").__name__
    'json'
    >>> require("no_such_package", extra="models")
    Traceback (most recent call last):
        ...
    radgauge.core.errors.MissingExtra: no_such_package is not installed; run: pip install 'radgauge[models]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name != module.partition(".")[0] and error.name != module:
            raise  # the package is there and something inside it is broken: that is another story
        name = module.partition(".")[0]
        raise MissingExtra(f"{name} is not installed; run: pip install 'radgauge[{extra}]'") from None
