"""The command line as a user meets it: real files, stdout apart from stderr, exit codes.

A process of its own where it matters: how it starts, what a pipe or a terminal takes, and how it is stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import SOURCE, radgauge, radgauge_process


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(
        "id,reference,candidate,system\n"
        "1,No pleural effusion.,No pleural effusion.,good\n"
        "2,Mild cardiomegaly.,The heart is mildly enlarged.,good\n"
        "1,No pleural effusion.,Large left pneumothorax.,bad\n"
        "2,Mild cardiomegaly.,,bad\n"
    )
    return path


def test_score_shows_values_intervals_direction_and_gaps(reports: Path, tmp_path: Path) -> None:
    done = radgauge("score", reports, "-m", "bleu", "-m", "rouge", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rouge_l" in done.stdout
    assert "↑" in done.stdout
    assert "1 of 2 not judged (1 empty candidate)" in done.stderr


@pytest.mark.process
def test_score_as_json(reports: Path, tmp_path: Path) -> None:
    done = radgauge_process("score", reports, "-m", "rouge", "--json", folder=tmp_path)
    answer = json.loads(done.stdout)
    line = next(x for x in answer["summary"] if x["system"] == "bad" and x["column"] == "rouge_l")
    assert (line["value"], line["judged"], line["not_judged"]) == (0.0, 1, 1)
    assert answer["input"]["sources"][0]["sha256"]


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_output_that_takes_no_unicode_has_plain_signs(reports: Path, tmp_path: Path, encoding: str) -> None:
    done = radgauge_process("score", reports, "-m", "rouge", folder=tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "rouge_l ^" in done.stdout
    (tmp_path / "odd.csv").write_text("id,reference,candidate,system\n1,Clear.,Clear.,größer→\n", encoding="utf-8")
    done = radgauge_process(
        "score", "odd.csv", "-m", "rouge", "--json", folder=tmp_path, PYTHONIOENCODING=encoding
    )
    assert json.loads(done.stdout)["summary"][0]["system"] == "größer→"


@pytest.mark.process
@pytest.mark.parametrize(
    "verb", [("metrics",), ("score", "reports.csv", "-m", "rouge", "--json"), ("models", "list")]
)
def test_a_reader_who_has_seen_enough_is_no_failure(reports: Path, tmp_path: Path, verb: tuple[str, ...]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "radgauge", *verb],
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        check=False,
    )
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("columns", ["20", "40", "80"])
def test_a_narrow_terminal_cuts_no_number(reports: Path, tmp_path: Path, columns: str) -> None:
    done = radgauge("score", reports, "-m", "rouge", folder=tmp_path, COLUMNS=columns)
    wide = radgauge("score", reports, "-m", "rouge", "--json", folder=tmp_path)
    for line in json.loads(wide.stdout)["summary"]:
        if line["column"] == "rouge_l":
            assert f"{line['value']:.3f}" in done.stdout
            assert line["low"] is None or f"[{line['low']:.3f}, {line['high']:.3f}]" in done.stdout
            assert line["system"] in done.stdout


def test_the_typical_range_of_an_unbounded_metric_is_said(reports: Path, tmp_path: Path) -> None:
    done = radgauge("score", reports, "-m", "comet", folder=tmp_path)
    assert "comet_embedded predicts errors_quality; usually it lies in -" in done.stderr
    assert "usually" not in radgauge("score", reports, "-m", "rouge", folder=tmp_path).stderr


def test_a_place_that_cannot_be_written_is_named(reports: Path, tmp_path: Path) -> None:
    done = radgauge("score", reports, "-m", "rouge", "-o", "reports.csv/scores.jsonl", folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1] == (
        "radgauge: reports.csv/scores.jsonl cannot be written: there is no folder reports.csv; make it first"
    )


@pytest.mark.smoke
def test_one_scores_file_serves_compare_and_report(reports: Path, tmp_path: Path) -> None:
    done = radgauge_process("score", reports, "-m", "rouge,errors", "-o", "scores.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "scores.jsonl").read_text().splitlines()) == 5
    done = radgauge("compare", "scores.jsonl", "--baseline", "bad", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "+1.000" in done.stdout
    done = radgauge("report", "scores.jsonl", "-o", "page.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Mild cardiomegaly" not in (tmp_path / "page.html").read_text()  # scores hold no text


def test_a_wide_file_is_read_by_naming_its_columns(tmp_path: Path) -> None:
    long = "the heart is enlarged and there is a small effusion on the left side"
    (tmp_path / "wide.csv").write_text(f"id,reference,model_a,model_b\n1,{long},{long},no {long}\n")
    done = radgauge("score", "wide.csv", "--candidate-columns", "model_a,model_b", "-m", "rouge", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "model_a" in done.stdout
    done = radgauge("score", "wide.csv", folder=tmp_path)
    assert done.returncode == 3
    assert "--candidate-columns" in done.stderr


def test_references_and_candidates_in_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("id,report\n1,clear lungs\n2,big heart\n")
    (tmp_path / "ours.csv").write_text("id,report\n2,big heart\n1,clear lungs\n")
    done = radgauge(
        "score", "--references", "truth.csv", "--candidates", "ours.csv", "-m", "rouge", "--json", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {line["value"] for line in json.loads(done.stdout)["summary"]} == {1.0}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["score"], 2, "no reports given"),
        (["score", "absent.csv"], 3, "absent.csv"),
        (["score", "reports.csv", "-m", "blue"], 2, "did you mean 'bleu'"),
        (["score", "reports.csv", "-o", "scores.txt"], 2, "must end in"),
        (["score", "reports.csv", "--columns", "nonsense"], 2, "must look like id=uid"),
        (["compare", "reports.csv"], 2, "radgauge score reports.csv -o scores.jsonl"),
        (["compare", "reports.csv", "--test", "coin"], 2, "is not one of"),
    ],
)
def test_mistakes_end_with_one_line_and_the_right_code(
    reports: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    done = radgauge(*arguments, folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_ls_names_every_metric(tmp_path: Path) -> None:
    from radgauge.core.registry import metric_names

    done = radgauge("metrics", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in metric_names())
    listed = json.loads(radgauge("metrics", "--json", folder=tmp_path).stdout)
    assert [line["name"] for line in listed] == list(metric_names())


def test_the_cache_can_be_looked_at_and_emptied(tmp_path: Path) -> None:
    done = radgauge("cache", "info", folder=tmp_path)
    assert "0 readings" in done.stdout
    done = radgauge("cache", "clear", folder=tmp_path)
    assert done.stdout == "removed 0 readings\n"


@pytest.mark.smoke
def test_the_demo_tells_its_story(tmp_path: Path) -> None:
    done = radgauge_process("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "scores.jsonl").is_file()
    assert (tmp_path / "demo" / "report.html").is_file()
    assert str(tmp_path / "demo" / "report.html") in done.stdout
    assert "not judged" in done.stdout


@pytest.mark.parametrize(
    "signal", [pytest.param(2, marks=pytest.mark.process), pytest.param(9, marks=pytest.mark.smoke)]
)
def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, signal: int) -> None:
    """Ctrl-C and kill -9 lose the batch under way at most; what was read is not read again."""
    (tmp_path / "slow_metric.py").write_text(SLOW_METRIC)
    rows = "".join(f"{n},text {n},text {n}\n" for n in range(40))
    (tmp_path / "reports.csv").write_text("id,reference,candidate\n" + rows)
    command = [sys.executable, "-c", f"{LISTEN}import slow_metric, radgauge.cli; radgauge.cli.main()"]
    command += ["score", "reports.csv", "-m", "slow", "--json"]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}:{tmp_path}"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        log = tmp_path / "read.log"
        for _ in range(12000):
            if log.exists() and len(log.read_text().splitlines()) >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal)
        _, err = process.communicate(timeout=300)
    assert process.returncode == (130 if signal == 2 else -9)
    if signal == 2:
        assert "the same command goes on from there" in err
    before = log.read_text().split()
    assert 0 < len(before) < 40
    done = subprocess.run(command, cwd=tmp_path, env={**environment, "FAST": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = log.read_text().split()[len(before) :]
    assert len(again) <= 40 - len(before) + 1  # the batch under way is read again, nothing else
    assert json.loads(done.stdout)["summary"][0]["judged"] == 40


# A process that is started in the background of a shell ignores Ctrl-C, and so do those that it starts.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
# The file that it writes is no data of its code, or each run would have another hash.
SLOW_METRIC = """
import os, time
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import radgauge.core.registry
from radgauge.core.metric import Metric

class SlowReader:
    signature = "slow-1"
    batch_size = 1
    def read(self, texts):
        with open("read.log", "a") as file:
            file.write(texts[0].replace(" ", "-") + chr(10))
        time.sleep(0 if os.environ.get("FAST") else 0.2)
        return [len(text) for text in texts]
    def pack(self, reading, text):
        return str(reading).encode()
    def unpack(self, packed, text):
        return int(packed)

@dataclass(frozen=True)
class Slow(Metric):
    name: ClassVar[str] = "slow"
    higher_is_better: ClassVar[bool] = True
    summary: ClassVar[str] = "slow"
    def measure(self, cases, *, reading):
        return np.array([[float(x)] for x in reading.of(SlowReader(), [c.candidate for c in cases])])

radgauge.core.registry.METRICS["slow"] = "slow_metric:Slow"
"""


@pytest.mark.smoke
def test_version(tmp_path: Path) -> None:
    assert radgauge_process("--version", folder=tmp_path).stdout == "radgauge 0.1.0\n"


def test_candidates_by_position_by_name_and_of_one_split(tmp_path: Path) -> None:
    annotation = {"train": [{"id": "0", "report": "x"}], "test": [{"id": "1", "report": "clear lungs"}]}
    (tmp_path / "annotation.json").write_text(json.dumps(annotation))
    (tmp_path / "out.csv").write_text("id,report\n1,clear lungs\n")
    common = ("-m", "rouge", "--json", "--references", "annotation.json")
    done = radgauge("score", "out.csv", *common, "--split", "test", "-c", "ours=out.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["input"]["systems"] == ["ours", "out"]
    done = radgauge("score", "out.csv", *common, folder=tmp_path)
    assert done.returncode == 3
    assert "pass --input split=test" in " ".join(done.stderr.split())
    done = radgauge("score", "out.csv", *common, "--missing", "subset", folder=tmp_path)
    assert json.loads(done.stdout)["input"]["cases"] == 1
