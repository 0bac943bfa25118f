"""radgauge measures machine-written radiology reports.

>>> import radgauge as rg
>>> results = rg.score([{"id": "1", "candidate": "no effusion", "reference": "no effusion"}], ["rouge"])
>>> results["rouge"].headline
array([1.])
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public names and the module each lives in; loaded on first use, so that importing costs nothing.
_PUBLIC = {
    "Case": "core.cases",
    "read_cases": "io.case_files",
    "write_cases": "io.case_files",
    "read_report": "reader",
    "Reader": "core.readings",
    "Readings": "core.readings",
    "Progress": "core.readings",
    "Cache": "core.cache",
    "Metric": "core.metric",
    "Explanation": "core.metric",
    "Note": "core.metric",
    "load": "core.registry",
    "metric_names": "core.registry",
    "Scores": "core.scores",
    "Results": "core.scores",
    "score": "run.score",
    "explain": "run.explain",
    "read_scores": "io.scores_file",
    "write_scores": "io.scores_file",
    "summarise": "analysis.summary",
    "compare": "analysis.compare",
    "oracle": "analysis.oracle",
    "agree": "analysis.agreement",
    "failure_modes": "analysis.failure_modes",
    "read_judgments": "io.judgments",
    "fit_errors": "analysis.fit_errors",
    "fit_radcliq": "analysis.fit_radcliq",
    "fit_ratescore": "analysis.fit_ratescore",
    "fit_vlscore": "analysis.fit_vlscore",
    "register_encoder": "encoders.image.image_text",
    "build_report": "report",
    "write_report": "report",
    "RadgaugeError": "core.errors",
    "InputError": "core.errors",
    "UsageError": "core.errors",
    "ModelError": "core.errors",
    "MissingExtra": "core.errors",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from radgauge.analysis.agreement import agree as agree
    from radgauge.analysis.compare import compare as compare
    from radgauge.analysis.failure_modes import failure_modes as failure_modes
    from radgauge.analysis.fit_errors import fit_errors as fit_errors
    from radgauge.analysis.fit_radcliq import fit_radcliq as fit_radcliq
    from radgauge.analysis.fit_ratescore import fit_ratescore as fit_ratescore
    from radgauge.analysis.fit_vlscore import fit_vlscore as fit_vlscore
    from radgauge.analysis.oracle import oracle as oracle
    from radgauge.analysis.summary import summarise as summarise
    from radgauge.core.cache import Cache as Cache
    from radgauge.core.cases import Case as Case
    from radgauge.core.errors import InputError as InputError
    from radgauge.core.errors import MissingExtra as MissingExtra
    from radgauge.core.errors import ModelError as ModelError
    from radgauge.core.errors import RadgaugeError as RadgaugeError
    from radgauge.core.errors import UsageError as UsageError
    from radgauge.core.metric import Explanation as Explanation
    from radgauge.core.metric import Metric as Metric
    from radgauge.core.metric import Note as Note
    from radgauge.core.readings import Progress as Progress
    from radgauge.core.readings import Reader as Reader
    from radgauge.core.readings import Readings as Readings
    from radgauge.core.registry import load as load
    from radgauge.core.registry import metric_names as metric_names
    from radgauge.core.scores import Results as Results
    from radgauge.core.scores import Scores as Scores
    from radgauge.encoders.image.image_text import register_encoder as register_encoder
    from radgauge.io.case_files import read_cases as read_cases
    from radgauge.io.case_files.write import write_cases as write_cases
    from radgauge.io.judgments import read_judgments as read_judgments
    from radgauge.io.scores_file import read_scores as read_scores
    from radgauge.io.scores_file import write_scores as write_scores
    from radgauge.reader import read_report as read_report
    from radgauge.report import build_report as build_report
    from radgauge.report import write_report as write_report
    from radgauge.run.explain import explain as explain
    from radgauge.run.score import score as score


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(f"radgauge.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'radgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `radgauge.analysis.compare` the function when somebody imports the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
