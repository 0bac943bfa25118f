"""A function of candidate and reference as a metric: no class, no package.

`radgauge score -m my_metric.py:overlap` runs the function `overlap` of a file; in Python a function can stand
wherever a metric can. Of several references the best value counts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Metric, Rows
from radgauge.core.readings import Readings

Judge = Callable[[str, str], float]


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """The value that a function gives a candidate and a reference.

    >>> def shared(candidate: str, reference: str) -> float:
    ...     return len({*candidate.split()} & {*reference.split()})
    >>> case = Case("1", "no effusion", ("small effusion", "no effusion"))
    >>> FunctionMetric(shared).measure([case], reading=Readings())
    array([[2.]])
    """

    name: ClassVar[str] = "function"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    summary: ClassVar[str] = "a function of candidate and reference"

    # Takes candidate and reference, returns a number; NaN where it cannot judge. Give it an attribute
    # `higher_is_better = False` if lower values are better.
    function: Judge

    def __post_init__(self) -> None:
        super().__post_init__()
        name = getattr(self.function, "__name__", type(self.function).__name__)
        if not (name.isidentifier() and name.isascii()):
            raise UsageError(f"a function as a metric needs a name, got {name!r}: write it with def")
        try:
            inspect.signature(self.function).bind("candidate", "reference")
        except TypeError as error:
            raise UsageError(
                f"a function as a metric takes a candidate and a reference; {name}: {error}"
            ) from None
        except ValueError:  # written in C, without a signature
            pass
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "higher_is_better", bool(getattr(self.function, "higher_is_better", True)))
        if about := (inspect.getdoc(self.function) or "").partition("\n")[0]:
            object.__setattr__(self, "summary", about)

    def settings(self) -> dict[str, Any]:
        """None: the function is named by its source."""
        return {}

    def parts(self) -> Mapping[str, str]:
        """A digest of the source of the function's file or, where there is none, of the function."""
        return {"source": hashlib.sha256(_source(self.function)).hexdigest()[:8]}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Best value over the references of each case."""
        best = max if self.higher_is_better else min
        rows = np.full((len(cases), 1), np.nan)
        for index, case in enumerate(cases):
            values = [float(self.function(case.candidate, reference)) for reference in case.references]
            rows[index] = best((value for value in values if not np.isnan(value)), default=np.nan)
        return rows

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """The function returned NaN for every reference."""
        return f"{self.name} returned no number"


def metric_of_file(path: Path, name: str) -> object:
    """Return the function or the metric class of this name from a Python file, which is run for it.

    Raises:
        UsageError: There is no such file or name.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path} to take the metric {name!r} from")
    source = path.resolve()
    module_name = f"radgauge_file_{source.stem}_{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, source)
        if spec is None or spec.loader is None:
            raise UsageError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # so that its dataclasses and functions can be pickled by name
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
    member = getattr(module, name, None)
    if not callable(member):
        names = ", ".join(
            key for key, value in vars(module).items() if callable(value) and value.__module__ == module_name
        )
        raise UsageError(f"{path} has no function or metric {name!r}; it has: {names or 'none'}")
    return member


def _source(function: Judge) -> bytes:
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        file = None
    if file is not None and Path(file).is_file():
        return Path(file).read_bytes()
    code = getattr(function, "__code__", None)
    return repr(function).encode() if code is None else code.co_code + repr(code.co_consts).encode()
