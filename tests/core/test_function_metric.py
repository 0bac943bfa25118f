"""Functions as metrics: in Python, from a file, and as the contributor's guide shows them."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import UsageError
from radgauge.core.function_metric import FunctionMetric
from radgauge.core.registry import load
from radgauge.io.scores_file import read_scores, write_scores
from radgauge.run.contract import ContractBroken, check_metric

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"
CASE = {"id": "1", "candidate": "no effusion", "references": ["no small effusion", "no effusion at all today"]}


def shared(candidate: str, reference: str) -> float:
    """shared words, of those of the reference"""
    words = set(reference.split())
    return len(words & set(candidate.split())) / len(words)


def missing(candidate: str, reference: str) -> float:
    return math.nan if "today" in reference else 1 - shared(candidate, reference)


missing.higher_is_better = False  # type: ignore[attr-defined]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    path = tmp_path / "guide.py"
    path.write_text("\n".join(block for block in blocks if "check_metric" not in block), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["shared_words", "LengthRatio"])
def test_the_metrics_of_the_guide_keep_the_contract(file: Path, name: str) -> None:
    metric = load(f"{file}:{name}")
    check_metric(metric)
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301 (our own bytes)


def test_a_function_is_a_metric_with_the_best_reference() -> None:
    results = rg.score([CASE], [shared, missing])
    assert results["shared"].headline.tolist() == [pytest.approx(2 / 3)]
    assert results["missing"].headline.tolist() == [pytest.approx(1 / 3)]  # NaN of one reference is left out
    assert (results["shared"].higher_is_better, results["missing"].higher_is_better) == (True, False)
    assert rg.score([CASE], shared)["shared"].metric == FunctionMetric(shared)
    assert FunctionMetric(shared).summary == "shared words, of those of the reference"


def test_a_function_without_a_number_has_a_reason() -> None:
    scores = rg.score([{"id": "1", "candidate": "x", "reference": "today"}], missing)["missing"]
    assert np.isnan(scores.headline[0])
    assert scores.reasons == {("1", "system"): "missing returned no number"}


def test_a_function_of_other_arguments_is_refused_before_the_run() -> None:
    def with_images(candidate: str, reference: str, images: object) -> float:
        return 1.0

    with pytest.raises(UsageError, match="with_images: missing a required argument: 'images'"):
        FunctionMetric(with_images)


def test_the_signature_follows_the_source(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(file.read_text().replace("len(a | b)", "len(a)"))
    first, second = (load(f"{path}:shared_words").signature() for path in (file, other))
    assert first.split("|")[0] == second.split("|")[0] == "shared_words"
    assert first != second


def test_settings_and_aliases_of_a_class_in_a_file(file: Path) -> None:
    assert load(f"{file}:shared_words as mine").columns == ("mine_shared_words",)
    with pytest.raises(UsageError, match="has no setting 'power'"):
        load(f"{file}:LengthRatio:power=2")
    with pytest.raises(UsageError, match="a function, which has no settings"):
        load(f"{file}:shared_words:power=2")


def test_messages(file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        load(f"{tmp_path / 'nowhere.py'}:score")
    with pytest.raises(UsageError, match=r"my_metric\.py:NAME"):
        load("my_metric.py")
    with pytest.raises(UsageError, match=r"'score'; it has: .*shared_words"):
        load(f"{file}:score")
    with pytest.raises(UsageError, match="needs a name"):
        FunctionMetric(lambda candidate, reference: 1.0)
    with pytest.raises(UsageError, match="got int"):
        rg.score([CASE], [3])  # type: ignore[list-item]


def test_a_scores_file_runs_no_python_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ran = tmp_path / "scores.jsonl", tmp_path / "ran"
    write_scores(path, rg.score([CASE], [shared]))
    evil = tmp_path / "evil.py"
    evil.write_text(f"import pathlib\npathlib.Path({str(ran)!r}).touch()\ndef shared(c, r): return 1.0\n")
    path.write_text(path.read_text().replace('"metric": "shared"', f'"metric": "{evil}:shared"'))
    assert read_scores(path, trust=True)["shared"].metric is None
    assert not ran.exists()


def test_a_function_is_held_against_the_contract() -> None:
    def length(candidate: str, reference: str) -> float:
        return float(len(candidate))

    with pytest.raises(ContractBroken, match="metric 'length' must survive pickling"):
        check_metric(length)
