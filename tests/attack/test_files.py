"""Mutated files: every reader either reads them or refuses them with a message; nothing else happens."""

from __future__ import annotations

import gzip
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import RadgaugeError
from radgauge.io.case_files import read_cases, write_cases
from radgauge.io.corpora import read_studies
from radgauge.io.judgments import read_judgments
from radgauge.io.scores_file import is_scores_file, read_scores, write_scores
from radgauge.lay.sentences import sentence_set
from radgauge.llm.journal import Journal
from radgauge.reader.graph_json import read_graphs, write_graphs
from radgauge.run.score import score

pytestmark = pytest.mark.long

CASES = [
    Case("s1", "No pleural effusion.", ('There is no effusion, "clear".',), "a", meta={"age": "61"}),
    Case("s2", "Small left effusion,\nheart normal.", ("Größere Verschattung links.",), "a", meta={"age": ""}),
    Case("s3", "", ("Cardiomegaly; stable.",), "a", meta={"age": "9"}),
    Case("s1", "Right lung clear", ('There is no effusion, "clear".',), "b", meta={"age": "61"}),
]
PIECES = [
    *(b'"', b"'", b",", b";", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xf0\x9f"),
    *(b"{", b"}", b"[", b"]", b":", b"null", b"true", b"NaN", b"Infinity", b"-1e999", b"9" * 5000, b"\\ud83d"),
    *(
        b'{"_header": {}}',
        b"id",
        b"reference",
        b"candidate",
        b"_age",
        b"\\",
        b"[" * 3000,
        b'{"a":' * 3000,
        b"\x1f\x8b",
    ),
    *(b'""', b"=1+1", b"__proto__", b"\x1b[2J", b" ", b"PAR1", b"1" * 400),
]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One to five changes of the kinds that disks, editors and enemies make."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(found) + 1)
        to = min(len(found), at + rng.choice([1, 1, 4, 30]))
        kind = rng.randrange(7)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            found[at:to] = rng.randbytes(rng.randint(0, 8))
        elif kind == 2:
            del found[at:to]
        elif kind == 3:
            found[at:at] = rng.choice(PIECES)
        elif kind == 4:
            found[at:to] = rng.choice(PIECES)
        elif kind == 5:
            copied = rng.randrange(len(found) + 1)
            found[at:at] = found[copied : copied + rng.randint(1, 60)]
        elif rng.random() < 0.3:
            del found[at:]
    return bytes(found)


def read_journal(path: Path) -> None:
    Journal(path).close()


def read_sentences(path: Path) -> None:
    sentence_set.cache_clear()
    sentence_set(str(path))


def read_back(path: Path) -> None:
    if is_scores_file(path):
        results = read_scores(path)
        for scores in results.judges.values():
            assert not np.isinf(scores.values).any()
            assert len(scores.keys) == len(set(scores.keys)) == len(scores.values)


def read_rows(path: Path) -> None:
    cases = read_cases(path).cases
    assert len({case.key for case in cases}) == len(cases)
    for case in cases:
        "".join((case.id, case.system, case.candidate, *case.references, *case.meta, *case.meta.values())).encode()


READERS: dict[str, list[Callable[[Path], object]]] = {
    **{f"cases.{end}": [read_rows, read_studies] for end in ("csv", "tsv", "jsonl", "json", "parquet", "csv.gz")},
    "scores.jsonl": [read_back],
    "scores.parquet": [read_back],
    "ratings.csv": [read_judgments],
    "radpref.json": [read_judgments],
    "journal.jsonl": [read_journal],
    "sentences.tsv": [read_sentences],
    "graphs.json": [read_graphs],
}

Attempts = Callable[[int], Iterator[tuple[str, random.Random]]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A good file of every kind."""
    folder = tmp_path_factory.mktemp("whole")
    for end in ("csv", "tsv", "jsonl", "parquet"):
        write_cases(folder / f"cases.{end}", CASES)
    records = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    (folder / "cases.json").write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    (folder / "cases.csv.gz").write_bytes(gzip.compress((folder / "cases.csv").read_bytes(), mtime=0))
    results = score(CASES, ["bleu", "rouge"])
    for end in ("jsonl", "parquet"):
        write_scores(folder / f"scores.{end}", results)
    (folder / "ratings.csv").write_text(
        "id,system,rater,category,count,significant\ns1,a,r1,1,2,yes\ns1,b,r1,2,0,no\ns1,a,r2,1,1,yes\n"
    )
    error = {"error_type": "false", "finding": "effusion", "location": "left", "severity": "minor"}
    (folder / "radpref.json").write_text(json.dumps([{"id": "s1", "errors": [error]}]))
    with Journal(folder / "journal.jsonl") as journal:
        journal.add({"k1": {"answer": "clear"}, "k2": {"answer": "fluid"}}, costs=[{"tokens": 3}])
    (folder / "sentences.tsv").write_text(
        "professional\tlay\nNo effusion.\tThere is no fluid.\n", encoding="utf-8"
    )
    entity = {"tokens": "effusion", "label": "OBS-DP", "start_ix": 0, "end_ix": 0, "relations": []}
    write_graphs(folder / "graphs.json", {"s1": {"text": "effusion", "entities": {"1": entity}}})
    return {name: (folder / name).read_bytes() for name in READERS}


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_read_or_refused(
    whole: dict[str, bytes], tmp_path: Path, name: str, attempts: Attempts
) -> None:
    path = tmp_path / name
    read = refused = 0
    for where, rng in attempts(150):
        path.write_bytes(mutated(whole[name], rng))
        for reader in READERS[name]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    reader(path)
                read += 1
            except RadgaugeError:
                refused += 1
            except Exception as error:
                raise AssertionError(f"{name}, {where}, {reader.__name__}: {type(error).__name__}") from error
    assert refused
    assert read + refused > 0
