"""Modules import downwards only, and importing radgauge costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import radgauge

SOURCE = Path(radgauge.__file__).parent

# Lowest first. A module may import from its own folder and from layers below it.
LAYERS = [
    {"core"},
    {"text", "stats", "images", "client"},
    {"render", "io", "reader", "samples"},
    {"encoders", "llm", "findings"},
    {"metrics"},
    {"run"},
    {"analysis"},
    {"report"},
    {"cli"},
    {"lay", "study", "lab"},
    {"behaviour", "__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def _layer(module: str) -> str | None:
    """The longest name in LAYERS that the dotted name of a module (without `radgauge.`) begins with."""
    parts = module.split(".")
    return next((name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in RANK), None)


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


Imports = dict[str, list[tuple[str, str, bool]]]


@pytest.fixture(scope="module")
def imports() -> Imports:
    """By module, its imports, at its top or in functions: (module, name or "", at run time)."""
    by_module = {}
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        guarded = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        lines = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                lines += [(alias.name, "", node not in guarded) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                lines += [(node.module, alias.name, node not in guarded) for alias in node.names]
        by_module[_dotted(path)] = lines
    return by_module


def _own(imports: Imports, module: str, *, run_time: bool = False) -> set[str]:
    """Modules of radgauge that a module imports, and what it takes from the package itself."""
    names = set()
    for source, name, at_run_time in imports[module]:
        if source.split(".")[0] == "radgauge" and (at_run_time or not run_time):
            inner = f"{source}.{name}".removeprefix("radgauge.")
            names.add(inner if inner in imports or source == "radgauge" else source.removeprefix("radgauge."))
    return names - {module, "__version__", ""}


def test_imports_go_downwards(imports: Imports) -> None:
    assert [module for module in imports if _layer(module) is None] == [], "add them to LAYERS"
    outwards = {
        (module, name)
        for module in imports
        for name in _own(imports, module)
        if (layer := _layer(name)) != _layer(module) and RANK.get(layer or "", 99) >= RANK[_layer(module) or ""]
    }
    assert outwards == set()


def test_no_module_imports_itself_by_way_of_others(imports: Imports) -> None:
    left = {module: _own(imports, module, run_time=True) for module in imports}
    assert left["cli.models"] >= {"encoders.checkpoints.fetch"}  # an import inside a function
    while free := {module for module, imported in left.items() if not imported & set(left)}:
        left = {module: imported for module, imported in left.items() if module not in free}
    assert not left, f"import cycles among {sorted(left)}, or below them"


# The core's dependencies (markupsafe is jinja2's own); then what is imported only where it is known to be there.
PACKAGES = {"numpy", "scipy", "typer", "rich", "jinja2", "markupsafe"} | {
    "torch",
    "medspacy",
    "IPython",
    "evaluate",
    "datasets",
    "starlette",  # radgauge.study.http and what is built on it: verbs ask for the extra first
    "uvicorn",
    "anyio",
}


def test_imports_only_packages_that_an_install_brings(imports: Imports) -> None:
    allowed = PACKAGES | set(sys.stdlib_module_names) | {"radgauge"}
    others = {(module, name) for module in imports for name, _, _ in imports[module]}
    assert {(module, name) for module, name in others if name.split(".")[0] not in allowed} == set()


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE.parent)},
    )
    return done.stdout


@pytest.mark.process
def test_importing_loads_nothing_heavy_and_prints_nothing() -> None:
    heavy = "numpy scipy torch transformers pandas polars pyarrow sqlite3 rich"
    out = _run(f"import sys, radgauge; print(sorted(set('{heavy}'.split()) & set(sys.modules)))")
    assert out == "[]\n"


@pytest.mark.process
def test_help_needs_no_numpy() -> None:
    out = _run("import sys, radgauge.cli; print('numpy' in sys.modules, 'scipy' in sys.modules)")
    assert out == "False False\n"


@pytest.mark.process
def test_scoring_with_the_core_needs_no_optional_package() -> None:
    out = _run(
        "import sys, radgauge as rg\n"
        "rg.score([{'id': '1', 'candidate': 'a', 'reference': 'a'}], ['bleu', 'rouge'])\n"
        "print(sorted({'torch', 'transformers', 'pandas', 'polars', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    )
    assert out == "[]\n"


@pytest.mark.process
def test_the_report_loads_neither_the_reader_nor_studies_that_it_does_not_show() -> None:
    out = _run(
        "import sys, radgauge.report\n"
        "own = [name for name in sys.modules if name.split('.')[0] == 'radgauge']\n"
        "unwanted = ('perturb', 'llm', 'plain_language', 'report_reader', 'sensitivity')\n"
        "print([name for name in own if set(name.split('.')) & set(unwanted)])"
    )
    assert out == "[]\n"
