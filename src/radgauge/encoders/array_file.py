"""Arrays and some facts about them in one file: numpy's archive without pickles, the facts as JSON."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.files import replacing

DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile)
"""What reading a file that is not there, damaged or of something else may raise."""
_FACTS = "meta"


def save_arrays(path: Path | str, facts: Mapping[str, Any], **arrays: NDArray[Any]) -> None:
    """Write arrays by name, and facts that JSON can hold.

    Args:
        path: The file; it is there whole or not at all.
        facts: Anything but arrays.
        **arrays: By name; `meta` is taken.
    """
    packed = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with replacing(path) as file, file.open("wb") as stream:
        content: dict[str, Any] = {_FACTS: packed, **arrays}
        np.savez(stream, **content)


def load_arrays(path: Path | str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and arrays that `save_arrays` wrote; raises one of `DAMAGED` where there are none."""
    with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        facts: dict[str, Any] = json.loads(stored[_FACTS].tobytes())
        return facts, {name: stored[name] for name in stored.files if name != _FACTS}
