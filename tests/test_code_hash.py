"""A signature moves with everything that can move a number, and with nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import radgauge
from radgauge.code_hash import code_hash

SOURCE = Path(radgauge.__file__).parent
NAMES = ("radgauge.metrics.errors", "radgauge.metrics.bleu", "radgauge.metrics.ratescore")
CODE = "import json, radgauge.code_hash as h; print(json.dumps({n: h.code_hash(n) for n in %r}))" % (NAMES,)  # noqa: UP031


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    shutil.copytree(SOURCE, place / "radgauge", ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    return place


def _hashes(tree: Path, cache: Path) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(tree), "RADGAUGE_CACHE": str(cache)},
    )
    return dict(json.loads(done.stdout))


def _edited(tree: Path, copy: Path, file: str, change: Callable[[str], str]) -> Path:
    shutil.copytree(tree, copy, symlinks=True)
    path = copy / "radgauge" / file
    before = path.read_text(encoding="utf-8")
    path.write_text(change(before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    return copy


def _with_a_number_changed(text: str) -> str:
    """The first constant of the module that is a number above 0, plus one."""
    import ast

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value > 0:
            lines = text.splitlines(keepends=True)
            line = lines[node.lineno - 1]
            assert node.end_col_offset is not None
            lines[node.lineno - 1] = f"{line[: node.col_offset]}{node.value + 1}{line[node.end_col_offset :]}"
            return "".join(lines)
    raise AssertionError("the module has no number")


def test_a_threshold_in_the_comparison_moves_errors_and_not_bleu(tree: Path, tmp_path: Path) -> None:
    before = _hashes(tree, tmp_path / "cache")
    after = _hashes(_edited(tree, tmp_path / "t", "findings/match.py", _with_a_number_changed), tmp_path / "cache")
    assert after["radgauge.metrics.errors"] != before["radgauge.metrics.errors"]
    assert after["radgauge.metrics.bleu"] == before["radgauge.metrics.bleu"]


def test_a_value_in_the_rules_moves_errors(tree: Path, tmp_path: Path) -> None:
    before = _hashes(tree, tmp_path / "cache")
    changed = _edited(tree, tmp_path / "t", "findings/data/rules.toml", lambda text: text + '\n[added]\nx = "y"\n')
    assert _hashes(changed, tmp_path / "cache")["radgauge.metrics.errors"] != before["radgauge.metrics.errors"]


def test_the_reader_moves_what_rests_on_it(tree: Path, tmp_path: Path) -> None:
    before = _hashes(tree, tmp_path / "cache")
    changed = _edited(tree, tmp_path / "t", "report_reader/assertion.py", lambda text: text + "\n_ADDED = 1\n")
    after = _hashes(changed, tmp_path / "cache")
    assert after["radgauge.metrics.ratescore"] != before["radgauge.metrics.ratescore"]
    assert after["radgauge.metrics.errors"] != before["radgauge.metrics.errors"]


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("findings/match.py", lambda text: "# a comment\n\n" + text),
        ("findings/match.py", lambda text: text.replace('"""', '"""Said otherwise. ', 1)),
        ("findings/data/rules.toml", lambda text: "# a comment\n" + text),
    ],
    ids=["comment and new line", "docstring", "comment in data"],
)
def test_what_changes_no_number_changes_no_hash(
    tree: Path, tmp_path: Path, file: str, change: Callable[[str], str]
) -> None:
    before = _hashes(tree, tmp_path / "cache")
    assert _hashes(_edited(tree, tmp_path / "t", file, change), tmp_path / "cache") == before


def test_a_moved_module_changes_no_hash(tree: Path, tmp_path: Path) -> None:
    before = _hashes(tree, tmp_path / "cache")
    copy = tmp_path / "t"
    shutil.copytree(tree, copy)
    (copy / "radgauge/findings/places.py").rename(copy / "radgauge/findings/localities.py")
    for path in copy.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("radgauge.findings.places", "radgauge.findings.localities"), encoding="utf-8")
    after = _hashes(copy, tmp_path / "cache")
    assert after["radgauge.metrics.errors"] == before["radgauge.metrics.errors"]


def test_signatures_and_cache_keys_carry_the_hash(tmp_path: Path) -> None:
    from radgauge.cache import Cache
    from radgauge.reading import Readings
    from radgauge.report_reader import ReportReader

    assert f"|code:{code_hash('radgauge.metrics.errors')}|" in radgauge.load("errors").signature()
    cache = Cache(tmp_path)
    Readings(cache=cache).of(ReportReader(), ["No effusion."])
    (signature,) = cache.info().readers
    assert signature.endswith(f"|code:{code_hash('radgauge.report_reader.reader')}")


def test_kept_hashes_that_cannot_be_read_are_made_again(tmp_path: Path) -> None:
    before = _hashes(SOURCE.parent, tmp_path)
    for damage in (b"", b"[1, 2]", b'{"a": 3}', b"\xff\x00"):
        (tmp_path / "code-hashes.json").write_bytes(damage)
        assert _hashes(SOURCE.parent, tmp_path) == before
