"""Modules import downwards only, and importing radgauge costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import radgauge

SOURCE = Path(radgauge.__file__).parent

# Lowest first. A module may import from its own layer and from layers below it. The longest name counts.
LAYERS = [
    {"choices", "errors", "garbage", "parsing"},
    {"text", "stats", "error_categories", "show", "images", "files", "storage", "web"},
    {"scale.engines", "scale.ray_engine", "scale.executors"},
    {"io.tables"},
    {"cases", "cache", "packing"},
    {"io.case_files", "io.corpora"},
    {"code_hash"},
    {"reading"},
    {"metric"},
    {"report_reader"},
    {"findings", "models", "llm"},
    {"plain_language"},
    {"registry"},
    {"results"},
    {"scores"},
    {"explain"},
    {"metrics", "contract", "io", "samples", "study"},
    {"studies.summary", "studies.compare", "studies.model_checks"},
    {"scale"},
    {"studies.baselines"},
    {"training"},
    {"studies", "plain_language.studies", "plain_language.robustness"},
    {"rewards", "integrations"},
    {"report"},
    {"study.web", "service"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def _layer(module: str) -> str | None:
    """The longest name in LAYERS that the dotted name of a module (without `radgauge.`) begins with."""
    parts = module.split(".")
    return next((name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in RANK), None)


def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"radgauge.{alias.name}" for alias in node.names] if node.module == "radgauge" else [node.module]
            )
        found |= {name.removeprefix("radgauge.") for name in names if name.startswith("radgauge.")}
    return found - {"__version__"}


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_downwards(path: Path) -> None:
    module = _dotted(path)
    own = _layer(module)
    assert own is not None, f"{module} has no layer yet: add it to LAYERS"
    upwards = {name for name in _imported(path) if RANK.get(_layer(name) or "", 99) > RANK[own]}
    assert not upwards, f"{path.name} imports {sorted(upwards)}, which lie above it"


def _import_graph() -> dict[str, set[str]]:
    """Module -> modules that it imports, at its top or in functions; imports for type checking do not count."""
    paths = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = []
        named: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {name if name.removeprefix("radgauge.") in paths else node.module for name in inner}
        graph[module] = {name.removeprefix("radgauge.") for name in named} & set(paths) - {module}
    return graph


def test_no_module_imports_itself_by_way_of_others() -> None:
    left = _import_graph()
    assert left["cli.models"] >= {"models.checkpoints.fetch"}  # an import inside a function
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
    "starlette",  # radgauge.web and what is built on it: verbs ask for the extra first
    "uvicorn",
    "anyio",
    "itsdangerous",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_packages_that_an_install_brings(path: Path) -> None:
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named.add(node.module.split(".")[0])
    assert named - sys.stdlib_module_names - {"radgauge"} <= PACKAGES


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE.parent)},
    )
    return done.stdout


def test_importing_loads_nothing_heavy_and_prints_nothing() -> None:
    heavy = "numpy scipy torch transformers pandas polars pyarrow sqlite3 rich"
    out = _run(f"import sys, radgauge; print(sorted(set('{heavy}'.split()) & set(sys.modules)))")
    assert out == "[]\n"


def test_help_needs_no_numpy() -> None:
    out = _run("import sys, radgauge.cli; print('numpy' in sys.modules, 'scipy' in sys.modules)")
    assert out == "False False\n"


def test_scoring_with_the_core_needs_no_optional_package() -> None:
    out = _run(
        "import sys, radgauge as rg\n"
        "rg.score([{'id': '1', 'candidate': 'a', 'reference': 'a'}], ['bleu', 'rouge'])\n"
        "print(sorted({'torch', 'transformers', 'pandas', 'polars', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    )
    assert out == "[]\n"


def test_the_report_loads_neither_the_reader_nor_studies_that_it_does_not_show() -> None:
    out = _run(
        "import sys, radgauge.report\n"
        "own = [name for name in sys.modules if name.split('.')[0] == 'radgauge']\n"
        "kept_out = ('perturb', 'llm', 'plain_language', 'report_reader', 'sensitivity')\n"
        "print(len(own), [name for name in own if set(name.split('.')) & set(kept_out)])"
    )
    count, unwanted = out.split(" ", 1)
    assert unwanted == "[]\n"
    assert int(count) <= 81
