"""Scores that changed since they were written are an error that names the file; --trust reads them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command import radgauge
from score_folders import write_score_folder

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.scores import Results
from radgauge.io.score_folder import read_score_folder
from radgauge.io.scores_file import read_scores, write_scores
from radgauge.metrics.bleu import Bleu
from radgauge.run.score import score

FLIPS = 400


def _results() -> Results:
    words = [
        "small",
        "left",
        "effusion",
        "no",
        "pneumothorax",
        "right",
        "lobe",
        "opacity",
        "heart",
        "size",
        "normal",
    ]
    rng = random.Random(0)
    cases = [
        Case(
            f"s{n // 3}",
            " ".join(rng.sample(words, 8)),
            (" ".join(words),),
            system="abc"[n % 3],
            meta={"ward": "W7"},
        )
        for n in range(24)
    ]
    return score(cases, [Bleu()])


def _content(results: Results) -> tuple[object, ...]:
    """Everything of results that a reader may use."""
    judges = [
        (name, s.keys, s.columns, s.rows.tobytes(), s.values.tobytes(), s.higher_is_better, s.signature, s.reasons)
        for name, s in results.judges.items()
    ]
    return judges, results.meta, results.header.get("input")


def _outcome(path: Path) -> tuple[object, str]:
    """What is read, or None and the message of the error."""
    try:
        return _content(read_scores(path)), ""
    except InputError as error:
        return None, str(error)


def _flips(content: bytes, seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    changed = []
    for _ in range(count):
        flipped = bytearray(content)
        flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        changed.append(bytes(flipped))
    return changed


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_no_flipped_bit_of_a_scores_file_is_read_as_another_value(
    tmp_path: Path, suffix: str, record_property: Callable[[str, object], None]
) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"scores{suffix}"
    write_scores(path, _results())
    original, expected = path.read_bytes(), _content(read_scores(path))
    refused = other = 0
    for changed in _flips(original, 1, FLIPS // 4):
        path.write_bytes(changed)
        content, message = _outcome(path)
        other += content not in (None, expected)
        assert content is not None or path.name in message
        refused += content is None
    record_property("flipped bits of a scores file read as other values", f"{other} of {FLIPS // 4}")
    assert other == 0
    assert refused > FLIPS // 8


FLIPPED = """
import random, sys
from pathlib import Path
from radgauge.core.errors import InputError
from radgauge.io.scores_file import read_scores
path = Path(sys.argv[1])
original, rng = path.read_bytes(), random.Random(1)
for _ in range(4000):
    changed = bytearray(original)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    path.write_bytes(changed)
    try:
        read_scores(path)
    except InputError:
        continue
"""


@pytest.mark.process
def test_no_flipped_bit_ends_the_process_that_reads(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "scores.parquet"
    write_scores(path, _results())
    read = subprocess.run([sys.executable, "-c", FLIPPED, path], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr[-500:]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_no_flipped_bit_of_a_folder_is_read_as_another_value(
    tmp_path: Path, kind: str, record_property: Callable[[str, object], None]
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    folder = tmp_path / "scores"
    write_score_folder(folder, _results(), divided=2, kind=kind)
    expected = _content(read_score_folder(folder))
    other = 0
    for path in sorted(folder.iterdir()):
        original = path.read_bytes()
        for changed in _flips(original, 2, FLIPS // 12):
            path.write_bytes(changed)
            content, message = _outcome(folder)
            other += content not in (None, expected)
            assert content is not None or path.name in message or path.name == "manifest.json"
        path.write_bytes(original)
    flips = FLIPS // 12 * len(list(folder.iterdir()))
    record_property("flipped bits of parts and manifests read as other values", f"{other} of {flips}")
    assert other == 0


def _edit(path: Path) -> float:
    """Change one value of a JSON lines file by hand and return the new one."""
    lines = path.read_text("utf-8").splitlines()
    record = json.loads(lines[1])
    record["bleu_4"] = 0.875
    path.write_text("\n".join([lines[0], json.dumps(record), *lines[2:]]) + "\n", "utf-8")
    return 0.875


def test_an_edited_value_is_an_error_unless_trusted(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, _results())
    value = _edit(path)
    with pytest.raises(InputError, match=r"scores\.jsonl.*checksum"):
        read_scores(path)
    assert read_scores(path, trust=True)["bleu"].values[0, 0] == value


def test_a_part_of_another_run_with_a_checksum_of_its_own_is_refused(tmp_path: Path) -> None:
    results = _results()
    other = Results({n: s.take(range(24)) for n, s in results.judges.items()}, results.meta, results.header)
    other["bleu"].values[:] = np.clip(other["bleu"].values + 0.125, 0, 1)
    for name, made in (("a", results), ("b", other)):
        write_score_folder(tmp_path / name, made, divided=1)
    (tmp_path / "a" / "part-00000.jsonl").write_bytes((tmp_path / "b" / "part-00000.jsonl").read_bytes())
    with pytest.raises(InputError, match=r"part-00000\.jsonl.*checksum"):
        read_score_folder(tmp_path / "a")


def test_the_command_line_names_the_changed_file_and_reads_it_if_trusted(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, _results())
    _edit(path)
    refused = radgauge("compare", path, "--json", folder=tmp_path)
    assert refused.returncode != 0
    assert "scores.jsonl" in refused.stderr
    trusted = radgauge("--trust", "compare", path, "--json", folder=tmp_path)
    assert trusted.returncode == 0, trusted.stderr


def test_a_file_without_a_checksum_is_read_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, _results())
    first, *rest = path.read_text("utf-8").splitlines()
    header = json.loads(first)
    del header["_header"]["checksum"]
    path.write_text("\n".join([json.dumps(header), *rest]) + "\n", "utf-8")
    assert len(read_scores(path)["bleu"].keys) == 24
    assert "scores.jsonl has no checksum" in caplog.text
