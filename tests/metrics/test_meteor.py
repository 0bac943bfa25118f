"""METEOR: the Java program itself, its arithmetic, its end, and what happens without it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import MissingExtra, ModelError, UsageError
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.metrics import _meteor_java
from radgauge.metrics.meteor import Meteor, MeteorReader, _meteor
from radgauge.run.score import score

COPY = [6, 6, 2, 2, 4, 4, 2, 2, *[0] * 12, 1, 6, 6]
"""Six words, two of them function words, all matched as they are, in one piece."""


@pytest.fixture(scope="module")
def program() -> None:
    pytest.importorskip("pycocoevalcap.meteor", reason="the extra 'meteor' is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine")


def rows_of(*statistics: Sequence[float]) -> np.ndarray:
    return np.array(statistics, dtype=np.float64)


def test_a_copy_has_no_penalty() -> None:
    assert _meteor(rows_of(COPY)) == pytest.approx(1.0)


def test_by_hand() -> None:
    # 4 candidate words (1 function), 5 reference words (1 function); exact: 2 content words;
    # synonym: 1 function word; 2 pieces
    statistics = [4, 5, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 2, 3, 3]
    precision = (0.75 * 2 + 0.25 * 0.8) / (0.75 * 3 + 0.25 * 1)
    recall = (0.75 * 2 + 0.25 * 0.8) / (0.75 * 4 + 0.25 * 1)
    mean = 1 / (0.15 / precision + 0.85 / recall)
    assert _meteor(rows_of(statistics)) == pytest.approx(mean * (1 - 0.6 * (2 / 3) ** 0.2))


def test_nothing_in_common_is_0_and_no_statistics_are_nan() -> None:
    nothing = [4, 5, 1, 1, *[0] * 19]
    np.testing.assert_array_equal(_meteor(rows_of(nothing, [np.nan] * 23)), [[0.0], [np.nan]])


def test_sums_are_scored_over_any_leading_axes() -> None:
    many = np.tile(rows_of(COPY), (2, 3, 1))
    assert _meteor(many).shape == (2, 3, 1)


@pytest.fixture(scope="module")
def real_cases(mrg_rl: dict[str, list[Case]]) -> list[Case]:
    return [*mrg_rl["oracle_top20"][:40], *mrg_rl["qwen_dino_rag_logp"][40:80]]


def test_the_arithmetic_is_the_programs(program: None, real_cases: list[Case]) -> None:
    """SING asks the program itself for the value of given statistics, of a case or summed."""
    metric = Meteor()
    rows = metric.measure(real_cases, reading=Readings())
    totals, counts = sums(rows)
    lines = ["SING ||| " + " ".join(map(str, row)) for row in (*rows.tolist(), totals.tolist())]
    *each, corpus = map(float, _meteor_java._running[os.getpid()].ask(lines))
    np.testing.assert_allclose(metric.case_scores(rows)[:, 0], each, rtol=1e-12)
    assert metric.corpus_scores(totals, counts)[0] == pytest.approx(corpus, rel=1e-12)


@pytest.mark.nightly
def test_pycocoevalcap(program: None, real_cases: list[Case]) -> None:
    """The wrapper everyone uses asks the program for the values; ours come from its statistics."""
    meteor = pytest.importorskip("pycocoevalcap.meteor.meteor")
    wrapper = meteor.Meteor()
    child = wrapper.meteor_p
    try:
        corpus, each = wrapper.compute_score(
            {i: list(case.references) for i, case in enumerate(real_cases)},
            {i: [case.candidate] for i, case in enumerate(real_cases)},
        )
    finally:
        del wrapper
        for pipe in (child.stdout, child.stderr):
            pipe.close()
    metric = Meteor()
    rows = metric.measure(real_cases, reading=Readings())
    np.testing.assert_allclose(metric.case_scores(rows)[:, 0], each, rtol=1e-12)
    assert metric.corpus_scores(*sums(rows))[0] == pytest.approx(corpus, rel=1e-12)


def test_odd_texts(program: None) -> None:
    texts = [
        "no effusion",
        "no\neffusion\r\nseen",
        "no ||| effusion",
        "|||",
        "||||||| no",
        "naïve café ☃ effusion 胸水",
        "SCORE ||| EVAL",
        "...",
        "a" * 5000,
        "effusion " * 300,
    ]
    cases = [Case(str(i), text, ("there is no effusion",)) for i, text in enumerate(texts)]
    values = score(cases, [Meteor()])["meteor"]
    assert len(values) == len(texts)
    found = values.headline
    assert found[1] == pytest.approx(found[2], abs=0.2)
    assert np.isnan(found[3])
    assert values.reasons[("3", "system")] == "candidate has no words"
    assert found[5] > 0
    alone = score([cases[5]], [Meteor()])["meteor"].headline
    assert alone[0] == found[5]


def test_a_text_that_would_end_the_program_is_not_judged() -> None:
    case = Case("1", "effusion " * 10_001, ("no effusion",))
    judged = score([case], [Meteor()])["meteor"]
    assert judged.reasons == {("1", "system"): "too long for METEOR (over 10,000 words)"}


def test_copy_empty_and_several_references(program: None) -> None:
    cases = [
        Case("copy", "no pleural effusion", ("heart", "no pleural effusion")),
        Case("other", "big heart", ("no pleural effusion",)),
        Case("empty", "", ("no pleural effusion",)),
        Case("mute", "no effusion", (" ||| ",)),
    ]
    judged = score(cases, [Meteor()])["meteor"]
    assert judged.headline[:2].tolist() == [1.0, 0.0]
    assert np.isnan(judged.headline[2:]).all()
    assert judged.reasons[("empty", "system")] == "empty candidate"
    assert judged.reasons[("mute", "system")] == "reference has no words"
    counted = score(cases[:3], [Meteor(empty="zero")])["meteor"]
    assert counted.headline.tolist() == [1.0, 0.0, 0.0]
    assert counted.corpus_scores(*sums(counted.rows)) < judged.corpus_scores(*sums(judged.rows))


def test_readings_are_kept_and_reused(program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [Case("1", "no effusion", ("no effusion seen",))]
    first = Meteor().measure(cases, reading=Readings(cache=Cache(tmp_path)))

    def never(groups: object) -> object:
        raise AssertionError("the program was asked again")

    monkeypatch.setattr(_meteor_java, "statistics", never)
    again = Meteor().measure(cases, reading=Readings(cache=Cache(tmp_path)))
    np.testing.assert_array_equal(first, again)


def test_a_damaged_reading_is_refused() -> None:
    packed = MeteorReader().pack(rows_of(COPY)[0], "")
    np.testing.assert_array_equal(MeteorReader().unpack(packed, ""), rows_of(COPY)[0])
    with pytest.raises(ValueError, match="23 statistics must be 184 bytes, got 5"):
        MeteorReader().unpack(b"short", "")


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setattr(_meteor_java, "_running", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ModelError, match="is a Java program and there is no java on the PATH"):
        Meteor().measure([Case("1", "a", ("a",))], reading=Readings())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(MissingExtra, match=r"pip install 'radgauge\[meteor\]'"):
        _meteor_java.command()


def test_without_the_jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = pytest.importorskip("pycocoevalcap")
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    with pytest.raises(ModelError, match=r"pycocoevalcap has no meteor-1\.5\.jar"):
        _meteor_java.command()


def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A stand-in for the Java program, to misbehave on demand; the real one stays as it is."""
    monkeypatch.setattr(_meteor_java, "_running", {})
    script = tmp_path / "fake.py"
    script.write_text(code, encoding="utf-8")
    monkeypatch.setattr(_meteor_java, "command", lambda: [sys.executable, str(script)])


def test_a_program_that_dies_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(
        tmp_path,
        monkeypatch,
        "import sys; sys.stdin.readline(); sys.exit('java.lang.OutOfMemoryError\\n  at Meteor')",
    )
    with pytest.raises(ModelError, match=r"ended before it answered: java\.lang\.OutOfMemoryError"):
        _meteor_java.statistics([["a", "b"]])
    assert not _meteor_java._running


def test_a_program_that_complains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, monkeypatch, "print('Error: specify', flush=True); input()")
    with pytest.raises(ModelError, match="METEOR answered a text of 14"):
        _meteor_java.statistics([["a", "b"]])
    _meteor_java.stop()


def test_too_few_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, monkeypatch, "print('1.0 2.0', flush=True); input()")
    with pytest.raises(ModelError, match="METEOR gave 2 statistics where 23 were expected"):
        MeteorReader().read(['["a", "b"]'])
    _meteor_java.stop()


def test_a_program_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_meteor_java, "_running", {})
    monkeypatch.setattr(_meteor_java, "command", lambda: ["/nonexistent/java"])
    with pytest.raises(ModelError, match="METEOR cannot be started: /nonexistent/java"):
        _meteor_java.statistics([["a", "b"]])


def test_an_interrupted_exchange_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, monkeypatch, "import time; time.sleep(60)")
    started: list[_meteor_java.MeteorProcess] = []

    def interrupted(self: _meteor_java.MeteorProcess, lines: Sequence[str]) -> list[str]:
        started.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(_meteor_java.MeteorProcess, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _meteor_java.statistics([["a", "b"]])
    assert started[0]._child.returncode is not None
    assert not _meteor_java._running


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_the_program_ends_when_we_are_killed(tmp_path: Path) -> None:
    """kill -9 leaves no orphan: the child sees its input end."""
    child = tmp_path / "child.py"
    mark = tmp_path / "ended"
    child.write_text(
        f"import sys\nprint('1', flush=True)\nsys.stdin.read()\nopen({str(mark)!r}, 'w').close()\n",
        encoding="utf-8",
    )
    source = Path(_meteor_java.__file__).parents[2]
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from radgauge.metrics import _meteor_java as m\n"
            f"m.command = lambda: [sys.executable, {str(child)!r}]\n"
            "m.statistics([['a', 'b']]); print('ready', flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 300
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert mark.exists()


def test_an_impossible_setting() -> None:
    with pytest.raises(UsageError, match=r"meteor: empty must be one of .*got 'drop'"):
        Meteor(empty="drop")
