"""Build a release and check it: `make release`. Nothing is uploaded; the last lines say how.

Builds the wheel and the source archive, checks what the wheel holds and how large it is, installs it into an empty
environment and scores the bundled reports with it, and writes a bill of materials (CycloneDX) of the core.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 8_000_000
"""Bytes of the largest wheel that is published."""

FOREIGN = re.compile(r"(^|/)(tests|benchmarks|docs|\.git|__pycache__)(/|$)|\.(csv\.gz|dcm|pt|ckpt|ipynb)$")
"""What has no place in the wheel."""


def main() -> None:
    """Build, check, say."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    out = ROOT / "dist"
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder, "env")
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "build", "twine")
        run(python, "-m", "build", "--outdir", out, ROOT)
        run(python, "-m", "build", "--outdir", out, ROOT / "packages" / "radgauge-image-weights")
        name = f"radgauge-{project['version']}"
        (wheel,) = out.glob(f"{name}-*.whl")
        archive = out / f"{name}.tar.gz"
        run(python, "-m", "twine", "check", "--strict", wheel, archive)
        problems = wheel_problems(wheel)
        clean = Path(folder, "clean")
        venv.create(clean, with_pip=True)
        run(clean / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
        run(clean / "bin" / "radgauge", "demo", "--folder", Path(folder, "demo"), quiet=True)
        frozen = run(clean / "bin" / "python", "-m", "pip", "list", "--format", "json")
    materials = bill_of_materials(json.loads(frozen), project)
    (out / f"{name}.cdx.json").write_text(json.dumps(materials, indent=1) + "\n", encoding="utf-8")
    if f"## {project['version']}" not in changes:
        problems.append(f"CHANGELOG.md has no section {project['version']}")
    for path in (wheel, archive, *out.glob("radgauge_image_weights-*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"{path.name}  {path.stat().st_size / 1e6:.2f} MB  sha256 {digest}")
    if problems:
        sys.exit("not ready:\n" + "\n".join(f"- {problem}" for problem in problems))
    print(f"ready: tag v{project['version']}, then upload dist/ with twine")


def wheel_problems(wheel: Path) -> list[str]:
    """What is wrong with a wheel."""
    found = []
    if wheel.stat().st_size > LARGEST:
        found.append(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    found += [f"{name} has no place in a wheel" for name in names if FOREIGN.search(name)]
    found += [f"there is no {need}" for need in ("radgauge/py.typed", "radgauge/__main__.py") if need not in names]
    if not any(name.endswith("LICENSE") for name in names):
        found.append("there is no LICENSE")
    return found


def bill_of_materials(packages: list[dict[str, str]], project: dict[str, str]) -> dict[str, object]:
    """The core and what it brings, in the form of CycloneDX 1.5."""
    own = project["name"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(own, project["version"])},
        "components": [
            component(each["name"], each["version"])
            for each in packages
            if each["name"] not in (own, "pip", "setuptools")
        ],
    }


def component(name: str, version: str) -> dict[str, str]:
    """One library."""
    return {"type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower()}@{version}"}


def run(*command: object, quiet: bool = False) -> str:
    """Run a program; its failure ends the release."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return "" if quiet else done.stdout


if __name__ == "__main__":
    main()
