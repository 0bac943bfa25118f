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
from pathlib import Path
from typing import Any

from radgauge.core.errors import UsageError
from radgauge.core.metric import Alias, Metric

PROFILES = ("embedded", "published")
_OF_FILE = re.compile(r"(?P<file>[^:=,]+\.py):(?P<name>[^\W\d]\w*)(?::(?P<settings>.*))?")
GROUP = "radgauge.metrics"
_ALIAS = re.compile(r"(\S+) +as +(\S+)")

METRICS: dict[str, str] = {
    "errors": "radgauge.metrics.errors:Errors",
    "llm_errors": "radgauge.metrics.llm_errors:LlmErrors",
    "green_llm": "radgauge.metrics.llm_errors.published:GreenLlm",
    "crimson_llm": "radgauge.metrics.llm_errors.published:CrimsonLlm",
    "bleu": "radgauge.metrics.bleu:Bleu",
    "rouge": "radgauge.metrics.rouge:Rouge",
    "meteor": "radgauge.metrics.meteor:Meteor",
    "cider": "radgauge.metrics.cider:Cider",
    "spice": "radgauge.metrics.spice:Spice",
    "medcon": "radgauge.metrics.medcon:Medcon",
    "ratescore": "radgauge.metrics.ratescore:RateScore",
    "bertscore": "radgauge.metrics.bertscore:BertScore",
    "chexbert": "radgauge.metrics.chexbert:Chexbert",
    "chexbert_similarity": "radgauge.metrics.chexbert_similarity:ChexbertSimilarity",
    "radgraph": "radgauge.metrics.radgraph:RadGraph",
    "radcliq": "radgauge.metrics.radcliq:RadCliQ",
    "crepe": "radgauge.metrics.crepe:Crepe",
    "edits": "radgauge.metrics.edits:Edits",
    "nodules": "radgauge.metrics.nodules:Nodules",
    "temporal": "radgauge.metrics.temporal:Temporal",
    "consistency": "radgauge.metrics.consistency:Consistency",
    "readability": "radgauge.metrics.readability:ReadabilityIndices",
    "lay_fidelity": "radgauge.lay.metrics.lay_fidelity:LayFidelity",
    "layman": "radgauge.lay.metrics.layman:Layman",
    "comet": "radgauge.metrics.comet:Comet",
    "vlscore": "radgauge.metrics.vlscore:VLScore",
}

DEFAULTS: tuple[str, ...] = (
    *("errors", "radcliq", "radgraph", "chexbert", "ratescore"),
    *("bertscore", "bleu", "rouge"),
)
"""Metrics of `score` when none is named."""


def metric_names() -> tuple[str, ...]:
    """Every name that `load` knows: ours in the order of the table, then third-party ones."""
    return (*METRICS, *sorted(name for name in _third_party() if name not in METRICS))


def metric_class(name: str) -> type[Metric]:
    """The class behind a name.

    >>> metric_class("blue")
    Traceback (most recent call last):
        ...
    radgauge.core.errors.UsageError: there is no metric 'blue'; did you mean 'bleu'? `radgauge metrics` shows all
    """
    if name in METRICS:
        module, _, attribute = METRICS[name].partition(":")
        member = getattr(importlib.import_module(module), attribute)
    elif name in _third_party():
        member = _third_party()[name].load()
        if not (isinstance(member, type) and issubclass(member, Metric)):
            raise UsageError(f"entry point {name!r} must be a radgauge.Metric class, got {member!r}")
    else:
        close = difflib.get_close_matches(name, metric_names(), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        if name.endswith(".py"):
            hint = f"name the function or class of a file behind a colon ({name}:NAME); "
        raise UsageError(f"there is no metric {name!r}; {hint}`radgauge metrics` shows all")
    return typing.cast("type[Metric]", member)


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a metric: its name, its default, and the values that it takes."""

    name: str
    default: str
    values: str


@dataclasses.dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric as `radgauge metrics` shows it."""

    name: str
    higher_is_better: bool
    range: tuple[float, float]
    needs: tuple[str, ...]
    extra: str
    columns: tuple[str, ...]
    settings: tuple[str, ...]
    summary: str
    directions: dict[str, bool]
    choices: tuple[Setting, ...]


def describe_metric(name: str) -> MetricInfo:
    """Describe a metric: summary, needs, outputs and settings."""
    cls = metric_class(name)
    metric = cls()  # direction and range may be facts about a checkpoint
    hints = typing.get_type_hints(cls)
    choices = tuple(Setting(f.name, _shown(f.default), _values(hints[f.name])) for f in _settings(cls))
    return MetricInfo(
        name=name,
        higher_is_better=metric.higher_is_better,
        range=metric.range,
        needs=tuple(sorted(metric.needs)),
        extra=cls.extra,
        columns=metric.columns,
        settings=tuple(f"{f.name}={f.default}" for f in _settings(cls)),
        summary=cls.summary,
        directions=dict(zip(metric.columns, metric.directions, strict=True)),
        choices=choices,
    )


def describe_metrics() -> list[MetricInfo]:
    """Every metric of the registry."""
    return [describe_metric(name) for name in metric_names()]


def _settings(cls: type[Metric]) -> list[dataclasses.Field[Any]]:
    """The fields that `load` fills; every metric is a frozen dataclass."""
    known: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(typing.cast(Any, cls))
    return [field for field in known if field.init]


def _shown(value: object) -> str:
    """A value as a setting is written.

    >>> _shown(True), _shown((1, 2)), _shown(None)
    ('yes', '1+2', 'none')
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _values(kind: Any) -> str:
    """The values that a setting of this type takes.

    >>> _values(typing.Literal["a", "b"]), _values(bool), _values(int | None), _values(tuple[int, ...])
    ('a, b', 'yes, no', 'a whole number, none', 'a whole number, several with +')
    """
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(_shown(choice) or "''" for choice in inner)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return ", ".join(map(_values, inner))
    if typing.get_origin(kind) is tuple:
        return f"{_values(inner[0])}, several with +"
    named = {bool: "yes, no", int: "a whole number", float: "a number", str: "text", type(None): "none"}
    return named.get(kind, getattr(kind, "__name__", str(kind)))


def load(spec: str, *, models: str = "embedded", **settings: Any) -> Metric:
    """A metric from its name and settings.

    Args:
        spec: A name, or a name with settings: "bleu:variant=cxr,lowercase=no"; or the path of a .json file that
            `radgauge fit radcliq` wrote; or "file.py:name", a function of candidate and reference or a metric
            class in a Python file, which is run. " as NAME" behind it puts NAME in front of its columns, so that
            two settings of one metric can stand side by side: "ratescore:weights=short as short".
        models: Model profile, passed on to metrics that rest on models.
        settings: More settings, as Python values; they win over those in `spec`.
    """
    if named := _ALIAS.fullmatch(spec):
        return Alias(load(named[1], models=models, **settings), named[2])
    if spec.endswith(".json") and "=" not in spec:
        return load("radcliq", models=models, version=spec, **settings)
    if own := _OF_FILE.fullmatch(spec):
        from radgauge.core.function_metric import FunctionMetric, metric_of_file

        member = metric_of_file(Path(own["file"]), own["name"])
        if not (isinstance(member, type) and issubclass(member, Metric)):
            if own["settings"] or settings:
                raise UsageError(f"{own['file']}:{own['name']} is a function, which has no settings")
            return FunctionMetric(typing.cast(typing.Any, member))
        name, text, cls = member.name, own["settings"] or "", member
    else:
        name, _, text = spec.partition(":")
        cls = metric_class(name)
    fields = {f.name: f for f in _settings(cls)}
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


def check_runs_no_file(spec: str) -> None:
    """Refuse a specification from a data file that would run a Python file.

    >>> check_runs_no_file("mine.py:score")
    Traceback (most recent call last):
        ...
    radgauge.core.errors.UsageError: a data file must not name a Python file as a metric, got 'mine.py:score'
    """
    if ".py:" in spec:
        raise UsageError(f"a data file must not name a Python file as a metric, got {spec!r}")


def check_profile(models: str) -> None:
    """That a profile is one: a single word that is neither a profile nor a folder is a slip of the pen.

    >>> check_profile("publishd")
    Traceback (most recent call last):
        ...
    radgauge.core.errors.UsageError: there is no profile or folder 'publishd'; did you mean 'published'?
    """
    word = models.partition(":")[0]
    if word in PROFILES or re.search(r"[/\\@.~]", models) or Path(models).exists():
        return
    close = difflib.get_close_matches(word, PROFILES, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"profiles are {' and '.join(PROFILES)}"
    raise UsageError(f"there is no profile or folder {models!r}; {hint}")


def specs(text: str) -> list[str]:
    """The specifications in a list with commas; a comma inside settings stays.

    >>> specs("bleu,rouge"), specs("bleu:variant=cxr,lowercase=no,rouge"), specs("errors")
    (['bleu', 'rouge'], ['bleu:variant=cxr,lowercase=no', 'rouge'], ['errors'])
    """
    names: list[str] = []
    for part in text.split(","):
        setting = "=" in part.partition(":")[0]
        if setting and names:
            names[-1] += f",{part}"
        else:
            names.append(part.strip())
    return [part for part in names if part] or [text]


def _known(name: str, key: str, fields: dict[str, Any]) -> None:
    if key not in fields:
        names = ", ".join(fields) or "none"
        raise UsageError(f"metric {name!r} has no setting {key!r}; its settings: {names}")


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
