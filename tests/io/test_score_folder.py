"""Folders of scores: parts that are scores files, a manifest that knows them, nothing mixed and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from score_folders import write_score_folder

from radgauge.analysis.summary import summarise
from radgauge.core.errors import InputError
from radgauge.core.scores import Results
from radgauge.io.checksums import checksum_of
from radgauge.io.score_folder import (
    MANIFEST,
    digest_of,
    is_score_folder,
    iter_parts,
    iter_score_folder,
    part_of,
    read_manifest,
)
from radgauge.io.scores_file import is_scores_file, read_scores
from radgauge.run.score import score

TEXTS = ("no pleural effusion", "small effusion on the left", "", "the heart is large")
CASES = [
    {
        "id": f"s{study}",
        "candidate": TEXTS[(study + at) % 4],
        "reference": TEXTS[3],
        "system": system,
        "age": str(study),
    }
    for study in range(12)
    for at, system in enumerate("ab")
]


@pytest.fixture
def results() -> Results:
    return score(CASES, ["bleu", "rouge"])


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_folder_is_read_as_the_file_would_be(tmp_path: Path, results: Results, kind: str) -> None:
    manifest = write_score_folder(tmp_path / "scores", results, divided=5, kind=kind)
    assert is_scores_file(tmp_path / "scores")
    back = read_scores(tmp_path / "scores")
    assert back.keys_of_cases == results.keys_of_cases  # in the order of the input
    assert back.meta["age"] == results.meta["age"]
    for name, scores in results.judges.items():
        np.testing.assert_array_equal(back[name].rows, scores.rows)
        np.testing.assert_array_equal(back[name].values, scores.values)
        assert dict(back[name].reasons) == dict(scores.reasons)
        assert back[name].metric == scores.metric
    assert summarise(back, resamples=50) == summarise(results, resamples=50)
    assert manifest.cases == 24
    assert manifest.judges["bleu"]["judged"] == 18


def test_parts_are_scores_files_that_keep_a_study_together(tmp_path: Path, results: Results) -> None:
    manifest = write_score_folder(tmp_path / "scores", results, divided=5)
    seen: dict[str, int] = {}
    for number, (part, rows) in enumerate(iter_parts(tmp_path / "scores")):
        alone = read_scores(tmp_path / "scores" / manifest.parts[number].file)
        assert alone.keys_of_cases == part.keys_of_cases
        assert [results.keys_of_cases[row] for row in rows] == list(part.keys_of_cases)
        for study, _ in part.keys_of_cases:
            assert seen.setdefault(study, number) == number
    assert len(seen) == 12
    assert len(manifest.parts) > 2
    keys = [key for part in iter_score_folder(tmp_path / "scores") for key in part.keys_of_cases]
    assert digest_of(keys) == digest_of(results.keys_of_cases)
    assert digest_of(keys[1:]) != digest_of(results.keys_of_cases)
    assert digest_of([*keys, keys[0], keys[0]]) != digest_of(keys)


def test_the_part_of_a_study_is_the_same_everywhere() -> None:
    assert [part_of(study, 7) for study in ("1", "2", "CXR1_1_IM-0001", "ü")] == [2, 1, 6, 3]


def test_what_does_not_belong_together_is_refused(tmp_path: Path, results: Results) -> None:
    folder = tmp_path / "scores"
    manifest = write_score_folder(folder, results, divided=5)
    other = write_score_folder(tmp_path / "other", score(CASES, ["bleu:variant=cxr", "rouge"]), divided=5)
    first = folder / manifest.parts[0].file
    kept = first.read_bytes()

    first.write_bytes((tmp_path / "other" / other.parts[0].file).read_bytes())
    with pytest.raises(InputError, match=r"part-0000\d.jsonl"):
        read_scores(folder)
    first.unlink()
    with pytest.raises(InputError, match=r"part-0000\d.jsonl"):
        read_scores(folder)
    header, row, *rest = kept.decode().splitlines()
    first.write_text("\n".join([header, row.replace('"id": "s', '"id": "t'), *rest]) + "\n")
    with pytest.raises(InputError, match=r"holds other cases than manifest.json says"):
        read_scores(folder, trust=True)
    first.write_text("\n".join([header, row.replace('"_row": ', '"_row": null, "x": '), *rest]) + "\n")
    with pytest.raises(InputError, match=r"every record must have the same columns"):
        read_scores(folder)


def test_a_manifest_that_is_none(tmp_path: Path, results: Results) -> None:
    folder = tmp_path / "scores"
    write_score_folder(folder, results, divided=3)
    with pytest.raises(InputError, match=r"scores is there already; name a new folder"):
        write_score_folder(folder, results)
    good = json.loads((folder / MANIFEST).read_text())

    def put(changes: dict[str, object]) -> None:
        facts = {**good, **changes}
        (folder / MANIFEST).write_text(json.dumps({**facts, "checksum": checksum_of(facts)}))

    put({"complete": False})
    with pytest.raises(InputError, match="the same `radgauge score` command"):
        read_scores(folder)
    assert read_manifest(folder, finished=False).cases == 24
    put({"parts": [{"file": "../part-00000.jsonl", "cases": 1, "keys": ""}]})
    with pytest.raises(InputError, match=r"names a part outside its folder"):
        read_scores(folder)
    put({"parts": [3]})
    with pytest.raises(InputError, match=r"manifest.json is damaged: it must have what radgauge writes there"):
        read_scores(folder)
    put({"parts": []})
    with pytest.raises(InputError, match=r"manifest.json states 24 cases"):
        read_scores(folder)
    put({"parts": [], "cases": 0})
    with pytest.raises(InputError, match=r"scores holds no scores"):
        read_scores(folder)
    put({"format": "other"})
    with pytest.raises(InputError, match=r"is not of the format radgauge-score-folder-1"):
        read_scores(folder)
    (folder / MANIFEST).write_text("[]")
    with pytest.raises(InputError, match=r"manifest.json is damaged: it must be an object"):
        read_scores(folder)
    (folder / MANIFEST).write_text("{")
    with pytest.raises(InputError, match=r"manifest.json is damaged: it is no JSON"):
        read_scores(folder)
    (folder / MANIFEST).unlink()
    assert not is_score_folder(folder)
    with pytest.raises(InputError, match=r"scores is no folder of scores: it has no manifest.json"):
        read_scores(folder)
