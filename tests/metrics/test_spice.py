"""SPICE: how its program is started and read, and what is said without it. Its values are not proved here."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.metrics.spice import JARS, Spice, SpiceReader, spice_command
from radgauge.run.score import score

STAND_IN = """#!{python}
import json, sys
given, out = sys.argv[5], sys.argv[sys.argv.index("-out") + 1]
items = json.load(open(given))
if any("crash" in item["test"] for item in items):
    sys.exit("Exception in thread main: no parser")
def share(item):
    mine, theirs = set(item["test"].split()), set(" ".join(item["refs"]).split())
    both = len(mine & theirs)
    none = {{"f": None, "pr": None, "re": None}}
    return none if not both else {{"f": both / 10, "pr": both / len(mine), "re": both / len(theirs)}}
made = [{{"image_id": item["image_id"], "scores": {{"All": share(item)}}}} for item in reversed(items)]
json.dump(made, open(out, "w"))
"""


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with files of the jars' names, and a stand-in for Java that answers in the program's form."""
    pytest.importorskip("pycocoevalcap", reason="the extra 'meteor' is not installed")
    folder = tmp_path / "jars"
    folder.mkdir()
    for name in JARS:
        (folder / name).write_bytes(name.encode())
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    return str(folder)


def test_answers_are_joined_by_number_and_nothing_found_is_not_zero(jars: str) -> None:
    cases = [
        Case("1", "small effusion here", ("small effusion", "left effusion")),
        Case("2", "clear", ("edema",)),
        Case("3", "", ("edema",)),
        Case("4", "edema", ("...",)),
    ]
    found = score(cases, Spice(jars=jars))["spice"]
    np.testing.assert_allclose(found.values[0], [0.2, 2 / 3, 2 / 3])
    assert np.isnan(found.headline[1:]).all()
    assert [found.reasons[case.key] for case in cases[1:]] == [
        "SPICE found no objects, attributes or relations",
        "empty candidate",
        "reference has no words",
    ]
    assert found.columns == ("spice", "spice_precision", "spice_recall")


def test_the_command_has_the_program_and_both_jars(jars: str) -> None:
    command = spice_command(jars)
    assert command[-1] == "edu.anu.spice.SpiceScorer"
    path = command[command.index("-cp") + 1].split(os.pathsep)
    assert path[0].endswith("spice-1.0.jar")
    assert [Path(each).name for each in path[-2:]] == list(JARS)


def test_a_program_that_fails_is_named_with_its_reason(jars: str) -> None:
    with pytest.raises(ModelError, match="ended before it answered: Exception in thread main: no parser"):
        SpiceReader(jars).read(['["crash", "edema"]'])


def test_readings_survive_the_cache(jars: str) -> None:
    reader = SpiceReader(jars)
    [values] = reader.read(['["small effusion", "small effusion"]'])
    np.testing.assert_array_equal(reader.unpack(reader.pack(values, ""), ""), values)


def test_without_jars_or_java_it_says_what_to_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("1", "a", ("a",))
    with pytest.raises(ModelError, match=r"spice:jars=FOLDER"):
        score([case], load("spice"))
    with pytest.raises(ModelError, match=r"must hold stanford-corenlp-3\.6\.0\.jar"):
        Spice(jars=str(tmp_path)).measure([case], reading=Readings())
    pytest.importorskip("pycocoevalcap", reason="the extra 'meteor' is not installed")
    for name in JARS:
        (tmp_path / name).touch()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(ModelError, match=r"SPICE 1\.0 is a Java program and there is no java"):
        Spice(jars=str(tmp_path)).measure([case], reading=Readings())
