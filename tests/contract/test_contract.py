"""The contract itself: a good metric of another package passes, each kind of bad one is caught."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import radgauge.core.registry as registry
from radgauge.core.errors import RadgaugeError
from radgauge.core.metric import Explanation, Metric, Note
from radgauge.run.contract import ContractBroken, check_metric
from radgauge.run.score import score


@dataclass(frozen=True)
class LengthRatio(Metric):
    """Shorter text over longer text."""

    name: ClassVar[str] = "length_ratio"
    higher_is_better: ClassVar[bool] = True
    summary: ClassVar[str] = "shorter text over longer text, in words"
    power: float = 1.0

    def measure(self, cases, *, reading):
        sizes = [
            (len(case.candidate.split()), max((len(text.split()) for text in case.references), default=0))
            for case in cases
        ]
        rows = np.array([[min(pair) / max(pair)] for pair in sizes], dtype=float).reshape(len(cases), 1)
        return rows**self.power


@dataclass(frozen=True)
class NeverEmpty(LengthRatio):
    name: ClassVar[str] = "never_empty"

    def measure(self, cases, *, reading):
        return np.vstack([super(NeverEmpty, self).measure([case], reading=reading) for case in cases])


@dataclass(frozen=True)
class Broken(LengthRatio):
    name: ClassVar[str] = "broken"

    def measure(self, cases, *, reading):
        return {}["weights"]


def test_a_good_metric_passes() -> None:
    check_metric(LengthRatio())


class Unfrozen(Metric):
    name = "unfrozen"
    higher_is_better = True
    summary = "not a dataclass"

    def measure(self, cases, *, reading):
        return np.ones((len(cases), 1))


@dataclass(frozen=True)
class NoSummary(LengthRatio):
    summary: ClassVar[str] = ""


@dataclass(frozen=True)
class WrongDirection(LengthRatio):
    higher_is_better: ClassVar[bool] = False


@dataclass(frozen=True)
class OutOfRange(LengthRatio):
    range: ClassVar[tuple[float, float]] = (0.0, 0.5)


@dataclass(frozen=True)
class SecretSetting(LengthRatio):
    def signature(self) -> str:
        return "length_ratio|v:0.1.0"


@dataclass(frozen=True)
class StuckSignature(LengthRatio):
    def signature(self) -> str:
        return "length_ratio|power:1|v:0.1.0"


@dataclass(frozen=True)
class LooksAtNeighbours(LengthRatio):
    def measure(self, cases, *, reading):
        return super().measure(cases, reading=reading) / max(len(cases), 1)


@dataclass(frozen=True)
class LooksAtPosition(LengthRatio):
    def measure(self, cases, *, reading):
        return super().measure(cases, reading=reading) * np.linspace(1, 0.9, len(cases))[:, None]


@dataclass(frozen=True)
class LooksAtId(LengthRatio):
    def measure(self, cases, *, reading):
        shorter = [[0.5 if case.id.startswith("again") else 1.0] for case in cases]
        return super().measure(cases, reading=reading) * np.array(shorter).reshape(len(cases), 1)


@dataclass(frozen=True)
class FirstReferenceOnly(LengthRatio):
    def measure(self, cases, *, reading):
        firsts = [case.references[0] for case in cases]
        ratios = [len(case.candidate) / len(text) for case, text in zip(cases, firsts, strict=True)]
        return np.array([[min(r, 1 / r)] for r in ratios]).reshape(len(cases), 1)


@dataclass(frozen=True)
class Forgetful(LengthRatio):
    """Loses cases."""

    def measure(self, cases, *, reading):
        return super().measure(cases, reading=reading)[:-1]


@dataclass(frozen=True)
class NoReason(LengthRatio):
    def measure(self, cases, *, reading):
        return np.where(super().measure(cases, reading=reading) < 0.05, np.nan, 1.0)

    def why_not(self, case, *, reading):
        return ""


@dataclass(frozen=True)
class NoStacks(LengthRatio):
    def corpus_scores(self, totals, counts):
        return np.array([totals.sum() / counts.sum() if counts.sum() else np.nan])


@dataclass(frozen=True)
class ZeroForNothing(LengthRatio):
    def corpus_scores(self, totals, counts):
        return totals / np.maximum(counts, 1)


@dataclass(frozen=True)
class Random(LengthRatio):
    def measure(self, cases, *, reading):
        noise = np.random.default_rng().normal(size=(len(cases), 1)) * 1e-9
        return super().measure(cases, reading=reading) * (1 - np.abs(noise))


@dataclass(frozen=True)
class WildSpans(LengthRatio):
    def explain(self, case, *, reading):
        note = Note("matched", "somewhere", candidate_spans=((0, len(case.candidate) + 1),))
        return Explanation(self.name, {}, (note,))


@dataclass(frozen=True)
class OtherValue(LengthRatio):
    def explain(self, case, *, reading):
        return Explanation(self.name, {"length_ratio": 2.0})


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Unfrozen(), "must be a frozen dataclass"),
        (NoSummary(), "needs a one-line summary"),
        (WrongDirection(), r"copies of the references score 1\.0, unrelated texts 0\..*, and lower is better"),
        (OutOfRange(), r"values must lie within \(0\.0, 0\.5\)"),
        (SecretSetting(), "setting 'power' is not in the signature"),
        (StuckSignature(), "changing 'power' must change the signature"),
        (LooksAtNeighbours(), r"must not depend on the other cases \(or set independent = False\)"),
        (LooksAtPosition(), "must not depend on the order of the cases"),
        (LooksAtId(), "equal cases must get equal values"),
        (FirstReferenceOnly(), "must not depend on the order of the references"),
        (Forgetful(), "must return a table with one row per case"),
        (NeverEmpty(), "for 0 cases it raised ValueError: need at least one array to concatenate"),
        (Broken(), "it raised KeyError: 'weights'"),
        (NoReason(), "a reason must be given exactly where there is no value"),
        (NoStacks(), "corpus_scores must work over leading axes"),
        (ZeroForNothing(), "the value of no cases must be NaN"),
        (Random(), "measuring must be repeatable"),
        (WildSpans(), "of the note 'somewhere' must lie in"),
        (OtherValue(), r"explain says length_ratio = 2\.0, score says"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Metric) else "",
)
def test_a_bad_metric_is_caught(metric: Metric, message: str) -> None:
    with pytest.raises(ContractBroken, match=message):
        check_metric(metric)


def test_the_exception_of_a_metric_is_the_cause(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ContractBroken) as caught:
        check_metric(Broken())
    assert isinstance(caught.value.__cause__, KeyError)
    assert not caplog.records


def test_a_metric_that_fails_for_no_cases_is_named_where_its_width_is_needed() -> None:
    with pytest.raises(RadgaugeError, match=r"never_empty.*for no cases.*ValueError"):
        score([], [NeverEmpty()])


@pytest.fixture
def installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package with an entry point, as pip would leave it."""
    source = Path(__file__).read_text(encoding="utf-8")
    end = source.index("def test_a_good_metric_passes")
    (tmp_path / "other_package_metrics.py").write_text(source[:end], encoding="utf-8")
    info = tmp_path / "other_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[radgauge.metrics]\nlength_ratio = other_package_metrics:LengthRatio\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry._third_party.cache_clear()
    yield
    registry._third_party.cache_clear()
    sys.modules.pop("other_package_metrics", None)


@pytest.mark.usefixtures("installed_package")
def test_a_metric_of_another_package_is_found_and_checked() -> None:
    assert "length_ratio" in registry.metric_names()
    metric = registry.load("length_ratio:power=2")
    assert type(metric).__module__ == "other_package_metrics"
    check_metric(metric)
