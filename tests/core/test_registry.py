"""Metrics by name and by specification."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
import pytest

import radgauge.core.registry as registry
from radgauge.core.errors import UsageError
from radgauge.core.metric import Metric


@dataclass(frozen=True)
class Toy(Metric):
    """A metric with a setting of every kind."""

    name: ClassVar[str] = "toy"
    higher_is_better: ClassVar[bool] = True
    flag: bool = False
    count: int = 1
    share: float | None = None
    orders: tuple[int, ...] = (1, 2)
    models: str = "embedded"

    def measure(self, cases, *, reading):  # type: ignore[no-untyped-def]
        return np.zeros((len(cases), 1))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="toy", value=f"{__name__}:Toy", group=registry.GROUP)
    monkeypatch.setattr(registry, "_third_party", lambda: {"toy": point})


@pytest.mark.usefixtures("toy")
def test_settings_are_parsed_by_their_type() -> None:
    toy = registry.load("toy:flag=yes,count=3,share=0.5,orders=1+3", models="published")
    assert (toy.flag, toy.count, toy.share, toy.orders, toy.models) == (True, 3, 0.5, (1, 3), "published")
    assert registry.load("toy:share=none").share is None


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("toi", r"there is no metric 'toi'; did you mean 'toy'\?"),
        ("toy:colour=red", "'toy' has no setting 'colour'; its settings: flag, count, share, orders, models"),
        ("toy:flag", "must be key=value pairs, got 'flag'"),
        ("toy:flag=maybe", "toy:flag must be yes or no, got 'maybe'"),
        ("toy:count=many", "toy:count must be a number, got 'many'"),
    ],
)
def test_mistakes_are_named(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        registry.load(spec)


def test_a_third_party_name_must_be_a_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="json", value="json:loads", group=registry.GROUP)
    monkeypatch.setattr(registry, "_third_party", lambda: {"json": point})
    with pytest.raises(UsageError, match="entry point 'json'"):
        registry.load("json")


def test_every_metric_describes_itself() -> None:
    for line in registry.describe_metrics():
        assert line.summary, f"{line.name} has no summary"
        assert line.range[0] < line.range[1]
        assert line.columns


@pytest.mark.parametrize("name", tuple(registry.METRICS))
def test_a_setting_with_named_values_refuses_another(name: str) -> None:
    kind = registry.metric_class(name)
    hints = typing.get_type_hints(kind)
    named = [
        each.name for each in dataclasses.fields(kind) if typing.get_origin(hints[each.name]) is typing.Literal
    ]
    for setting in named:
        with pytest.raises(UsageError, match=f"{setting} must be one of"):
            kind(**{setting: "no such value"})
