"""Metrics by name: a table of "module:Class", loaded when asked for, open to other packages."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import re
import types
import typing
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from radgauge.errors import UsageError
from radgauge.metric import Alias, Metric

GROUP = "radgauge.metrics"
_ALIAS = re.compile(r"(\S+) +as +(\S+)")

METRICS: dict[str, str] = {
    "errors": "radgauge.metrics.errors:Errors",
    "bleu": "radgauge.metrics.bleu:Bleu",
    "rouge": "radgauge.metrics.rouge:Rouge",
    "meteor": "radgauge.metrics.meteor:Meteor",
    "cider": "radgauge.metrics.cider:Cider",
    "ratescore": "radgauge.metrics.ratescore:RateScore",
    "bertscore": "radgauge.metrics.bertscore:BertScore",
    "chexbert": "radgauge.metrics.chexbert:Chexbert",
    "chexbert_similarity": "radgauge.metrics.chexbert_similarity:ChexbertSimilarity",
    "radgraph": "radgauge.metrics.radgraph:RadGraph",
    "radcliq": "radgauge.metrics.radcliq:RadCliQ",
    "readability": "radgauge.metrics.readability:ReadabilityIndices",
    "lay_fidelity": "radgauge.metrics.lay_fidelity:LayFidelity",
    "layman": "radgauge.metrics.layman:Layman",
    "comet": "radgauge.metrics.comet:Comet",
    "vlscore": "radgauge.metrics.vlscore:VLScore",
}

DEFAULTS: tuple[str, ...] = (
    *("errors", "radcliq", "radgraph", "chexbert", "ratescore"),
    *("bertscore", "bleu", "rouge"),
)
"""What `score` uses when no metric is named."""


def metric_names() -> tuple[str, ...]:
    """Every name that `load` knows: ours in the order of the table, then third-party ones."""
    return (*METRICS, *sorted(name for name in _third_party() if name not in METRICS))


def metric_class(name: str) -> type[Metric]:
    """The class behind a name.

    >>> metric_class("blue")
    Traceback (most recent call last):
        ...
    radgauge.errors.UsageError: there is no metric 'blue'; did you mean 'bleu'? `radgauge ls` shows all
    """
    if name in METRICS:
        module, _, attribute = METRICS[name].partition(":")
        found = getattr(importlib.import_module(module), attribute)
    elif name in _third_party():
        found = _third_party()[name].load()
        if not (isinstance(found, type) and issubclass(found, Metric)):
            raise UsageError(f"entry point {name!r} must be a radgauge.Metric class, got {found!r}")
    else:
        close = difflib.get_close_matches(name, metric_names(), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"there is no metric {name!r}; {hint}`radgauge ls` shows all")
    return typing.cast("type[Metric]", found)


@dataclasses.dataclass(frozen=True, slots=True)
class MetricInfo:
    """What `radgauge ls` shows of a metric."""

    name: str
    higher_is_better: bool
    range: tuple[float, float]
    needs: tuple[str, ...]
    extra: str
    columns: tuple[str, ...]
    settings: tuple[str, ...]
    summary: str


def describe_metrics() -> list[MetricInfo]:
    """Every metric of the registry."""
    described = []
    for name in metric_names():
        cls = metric_class(name)
        metric = cls()  # direction and range may be facts about a checkpoint
        fields = [f for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
        described.append(
            MetricInfo(
                name=name,
                higher_is_better=metric.higher_is_better,
                range=metric.range,
                needs=tuple(sorted(cls.needs)),
                extra=cls.extra,
                columns=metric.columns,
                settings=tuple(f"{f.name}={f.default}" for f in fields),
                summary=cls.summary,
            )
        )
    return described


def load(spec: str, *, models: str = "embedded", **settings: Any) -> Metric:
    """A metric from its name and settings.

    Args:
        spec: A name, or a name with settings: "bleu:variant=cxr,lowercase=no"; or the path of a .json file that
            `radgauge fit radcliq` wrote. " as NAME" behind it puts NAME in front of its columns, so that two
            settings of one metric can stand side by side: "ratescore:weights=short as short".
        models: Model profile, passed on to metrics that rest on models.
        settings: More settings, as Python values; they win over those in `spec`.
    """
    if named := _ALIAS.fullmatch(spec):
        return Alias(load(named[1], models=models, **settings), named[2])
    if spec.endswith(".json") and "=" not in spec:
        return load("radcliq", models=models, version=spec, **settings)
    name, _, text = spec.partition(":")
    cls = metric_class(name)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    chosen: dict[str, Any] = {"models": models} if "models" in fields else {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"settings of {name!r} must be key=value pairs, got {item!r}")
        _known(name, key, fields)
        chosen[key] = _parse(value, hints[key], what=f"{name}:{key}")
    for key in settings:
        _known(name, key, fields)
    return cls(**{**chosen, **settings})


def _known(name: str, key: str, fields: dict[str, Any]) -> None:
    if key not in fields:
        known = ", ".join(fields) or "none"
        raise UsageError(f"metric {name!r} has no setting {key!r}; its settings: {known}")


def _parse(value: str, kind: Any, *, what: str) -> Any:
    options = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    if type(None) in options and value.lower() in ("none", ""):
        return None
    for option in options:
        if option is bool:
            if value.lower() not in ("yes", "no", "true", "false", "1", "0"):
                raise UsageError(f"{what} must be yes or no, got {value!r}")
            return value.lower() in ("yes", "true", "1")
        if option in (int, float):
            try:
                return option(value)
            except ValueError:
                raise UsageError(f"{what} must be a number, got {value!r}") from None
        if typing.get_origin(option) is tuple:
            inner = typing.get_args(option)[0]
            return tuple(_parse(part, inner, what=what) for part in value.split("+"))
    return value


@functools.cache
def _third_party() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
