"""The examples in the docstrings run, and the public names are those of the package."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import radgauge.stats


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(radgauge.stats.__path__)])
def test_examples(name: str) -> None:
    module = importlib.import_module(f"radgauge.stats.{name}")
    assert doctest.testmod(module).failed == 0


def test_public_names_hide_no_module() -> None:
    modules = {m.name for m in pkgutil.iter_modules(radgauge.stats.__path__)}
    assert not modules & set(radgauge.stats.__all__)
    assert sorted(radgauge.stats.__all__) == list(radgauge.stats.__all__)
    assert all(hasattr(radgauge.stats, name) for name in radgauge.stats.__all__)
