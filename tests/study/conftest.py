"""Studies of the invented cases."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from study_support import two_systems

from radgauge.core.cases import Case
from radgauge.study import NewStudy, new_study


@pytest.fixture
def cases() -> list[Case]:
    return two_systems()


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., NewStudy]:
    numbers = itertools.count()

    def made(**settings: Any) -> NewStudy:
        # One order of cases: the candidates of one are equal, and what is answered first must not be that one.
        settings = {"seed": 0, "blinding": f"{0:064x}", **settings}
        return new_study(tmp_path / f"study{next(numbers)}.sqlite", two_systems(), **settings)

    return made
