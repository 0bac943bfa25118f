"""The notebooks of examples/ run from the first cell to the last, and the tutorials do what they say."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
FENCE = re.compile(r"(<!-- not run: [^>]+ -->\n+)?```(bash|python|sh|console)\n(.*?)```", re.DOTALL)
EXECUTED = {"python.md", "rewards.md", "integrations.md", "serve.md", "coming_from.md"}
"""Pages whose Python other tests run."""


@pytest.mark.nightly
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    last = None
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")  # what a notebook shows is made by running it
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, notebook.name, "exec"), names)  # noqa: S102  # the notebook is ours
            if isinstance(shown, ast.Expr):
                last = eval(compile(ast.Expression(shown.value), notebook.name, "eval"), names)  # noqa: S307
    if notebook.stem == "metrics_against_raters":
        reworded, side = last
        assert reworded > side
    else:
        assert last["careful"] < last["template"]


@pytest.mark.nightly
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_the_commands_of_a_tutorial_run(page: Path, tmp_path: Path) -> None:
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    assert blocks
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "RADGAUGE_OFFLINE": "1", "COLUMNS": "140"}
    commands = [line for _, kind, text in blocks if kind == "bash" for line in text.splitlines() if line.strip()]
    for command in commands:
        run = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, f"{command}\n{run.stdout[-1500:]}\n{run.stderr[-1500:]}"
    python = "".join(text for _, kind, text in blocks if kind == "python")
    test = doctest.DocTestParser().get_doctest(python, {}, page.name, page.name, 0)
    said: list[str] = []
    assert (
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append).failed == 0
    ), said
    if page.stem == "student":
        assert "Ours" in (tmp_path / "tables" / "paper.tex").read_text()
    if page.stem == "hospital":
        assert (tmp_path / "vendors.html").is_file()


def test_every_block_of_code_is_run_or_says_why_not() -> None:
    idle = []
    for page in sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]):
        if page in TUTORIALS or page.name in EXECUTED:
            continue
        for why, kind, text in FENCE.findall(page.read_text(encoding="utf-8")):
            if not why:
                idle.append(f"{page.relative_to(ROOT)}: {kind} {text.strip().splitlines()[0]}")
    assert idle == []
