"""Behaviour of this release, for signatures and cache keys: generated from values on bundled probe pairs.

`behaviour.tsv` holds one line per metric and setting (a digest of its values on `probes.tsv`, rounded to 1e-9)
and one per component (a version, which counts up when the component's output on the probes moves, and the digest
of that output). It is written by `python -m radgauge.behaviour --update` and read here, so a signature costs
nothing and renaming or moving code changes none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

BEHAVIOUR = Path(__file__).with_name("behaviour.tsv")
PROBES = Path(__file__).with_name("probes.tsv")
LENGTH = 8


@cache
def read_behaviour(path: Path = BEHAVIOUR) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of a line: digest (and sums of values) of a metric, version and digest of a component."""
    rows = [
        line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")
    ]
    return {name: tuple(columns) for name, *columns in rows}


def metric_key(name: str, changed: Mapping[str, str]) -> str:
    """Return the name of a metric's line: the metric and its settings that are not the default.

    >>> metric_key("bleu", {"variant": "cxr", "empty": "zero"})
    'bleu:empty=zero,variant=cxr'
    """
    settings = ",".join(f"{setting}={value}" for setting, value in sorted(changed.items()))
    return f"{name}:{settings}" if settings else name


def probe_digest(name: str, changed: Mapping[str, str]) -> str | None:
    """Return the digest of a metric's values on the probes.

    Settings that have no line of their own (a number, a file, a checkpoint) get the digest of all lines of the
    metric: the setting is in the signature itself, and whatever moves the metric anywhere moves this digest.

    Args:
        name: Registry name of the metric.
        changed: Its settings that are not the default, as they appear in the signature.

    Returns:
        Hexadecimal digits; None for a metric without any line.
    """
    behaviour = read_behaviour()
    if exact := behaviour.get(metric_key(name, changed)):
        return exact[0]
    family = [row[0] for key, row in sorted(behaviour.items()) if key == name or key.startswith(f"{name}:")]
    return digest("\n".join(family)) if family else None


def component(name: str) -> str:
    """Return name and version of a reader or writer, for its own signature.

    >>> component("report-reader").rpartition("-")[0]
    'report-reader'
    """
    return f"{name}-{read_behaviour()[name][0]}"


def digest(content: str) -> str:
    """Return the first hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(content.encode()).hexdigest()[:LENGTH]


@cache
def unreleased_state() -> str:
    """Return when the newest source file of a checkout was changed; "" in an installed package.

    In a checkout the rules may have changed since the versions were last updated, and what they read before must
    not come from a cache: local cache keys carry this, signatures do not.
    """
    source = Path(__file__).parents[2]
    if not (source.parents[1] / "pyproject.toml").is_file():
        return ""
    files = (path for suffix in ("*.py", "*.toml") for path in source.rglob(suffix))
    return f"|unreleased:{max(path.stat().st_mtime_ns for path in files)}"
