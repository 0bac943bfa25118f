"""The lock of the development environment: every package that the project names, no address of a registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_LOCKED = {"torchmetrics", "inspect-ai", "gcsfs", "radgauge-image-weights"}
"""What `make test` does not install, what the locked platform lacks, and what is built from `packages/`."""


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def test_the_lock_names_every_package_once_with_a_version_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lines = [line for line in (ROOT / "dev.lock").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!_-]+", line)] == []
    locked = [_name(line) for line in lines]
    assert len(set(locked)) == len(locked)
    extras = project["project"]["optional-dependencies"].values()
    named = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *(r for e in extras for r in e),
    ]
    assert {_name(requirement) for requirement in named} - set(locked) - NOT_LOCKED == set()
