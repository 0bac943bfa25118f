"""Access to the subjects (lay, study, lab), which the core does not import and which do not import each other.

Each could be a distribution of its own; what one needs of another it asks for by name, and hears which is missing.
"""

from __future__ import annotations

import importlib
from typing import Any

from radgauge.core.errors import UsageError

SUBJECTS = ("lay", "study", "lab")


def from_subject(subject: str, item: str) -> Any:
    """Return a function or class of a subject.

    Args:
        subject: lay, study or lab.
        item: Module inside the subject and name, as "plain_sentences:write_plain".
    """
    module, _, name = item.partition(":")
    try:
        return getattr(importlib.import_module(f"radgauge.{subject}.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name not in {"radgauge." + subject, f"radgauge.{subject}.{module}"}:
            raise
        raise UsageError(f"this needs the part `{subject}` of radgauge, which is not installed") from error
