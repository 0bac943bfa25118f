"""The names the field gives its columns, and what cells look like when names do not tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from radgauge.core.parsing import shipped_toml

_TABLE = shipped_toml(__file__, "column_names.toml")
REPORT: tuple[str, ...] = tuple(_TABLE["report"])
FINDINGS: tuple[str, ...] = tuple(_TABLE["findings"])
IMPRESSION: tuple[str, ...] = tuple(_TABLE["impression"])

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    field: tuple(map(tuple, ranked)) for field, ranked in _TABLE["names"].items()
}
CONTEXT: tuple[str, ...] = tuple(_TABLE["context"])
"""Text columns that are never a candidate."""


MAX_SHOWN = 100
"""Columns that a message names."""


@lru_cache(maxsize=1 << 12)
def plain(name: str) -> str:
    """A column name for comparison.

    >>> plain(" Study-ID "), plain("Ground Truth")
    ('study_id', 'ground_truth')
    """
    return re.sub(r"[\s.\-()\[\]/:]+", "_", str(name)).strip("_").lower()


ALIASES = frozenset(
    name
    for names in (*sum(NAMES.values(), ()), REPORT, FINDINGS, IMPRESSION, CONTEXT, tuple(_TABLE["about"]))
    for name in names
)
"""Every name that means something, as `plain` writes it."""
ABOUT = frozenset([*_TABLE["about"], *CONTEXT])
"""Columns about a study that are kept without being asked for."""


def shown_names(names: Iterable[str]) -> str:
    """Column names for a message.

    The first line of a file without a header is data: where one of its cells can be no name, only names that the
    field uses are shown.

    >>> shown_names(["id", "Befund (Radiologe)", "Alter"])
    "id, 'Befund (Radiologe)', Alter"
    >>> shown_names(["id", "Miller, Ann", "No pleural effusion."])
    'id, (column 2), (column 3)'
    """
    names = list(names)
    header = not any(map(looks_like_data, names))
    listed = [
        (name if _WORD.fullmatch(name) else repr(name))
        if plain(name) in ALIASES or header
        else f"(column {number})"
        for number, name in enumerate(names[:MAX_SHOWN], start=1)
    ]
    return ", ".join([*listed, *([f"and {len(names) - MAX_SHOWN} more"] if len(names) > MAX_SHOWN else [])])


_WORD = re.compile(r"[\w.:#-]+")


def looks_like_data(name: str) -> bool:
    """True for a cell that can be no column name: a sentence, a long text, or a number.

    >>> [looks_like_data(name) for name in ("Befund (Radiologe)", "Fall-Nr.", "No effusion.", "117")]
    [False, False, True, True]
    """
    words = name.split()
    sentence = len(words) > 1 and name.rstrip().endswith((".", "!"))
    return len(words) > 6 or len(name) > 60 or "\n" in name.strip() or sentence or name.strip().isdigit()


def looks_like_report(name: str, values: Sequence[object]) -> bool:
    """Could this column hold candidates? Its cells are mostly sentences, and its name is no context."""
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    key = plain(name)
    role_names = {*CONTEXT, *REPORT, *FINDINGS, *IMPRESSION, *sum(NAMES["reference"] + NAMES["image"], ())}
    if not texts or key in role_names or re.match(r"(reference|ref|gt|ground_truth)_", key):
        return False
    return sum(text.count(" ") >= 3 for text in texts) > len(texts) / 2


def looks_like_files(values: Sequence[object]) -> bool:
    """Do these cells name files? Indiana's `image` column describes the study in words."""
    texts = [str(item) for value in values for item in (value if isinstance(value, list) else [value]) if item]
    return not texts or any(re.search(r"\.\w{2,5}\W*$", text) for text in texts)
