"""Invented files in the form of ReXVal, RadEvalX and a table of generators: no text here is anybody's report."""

from __future__ import annotations

import csv
import json
import random
import sys
from pathlib import Path

import pytest
from term_corpus import chosen, corpus_file, reports

__all__ = ["chosen", "corpus_file", "reports"]

FOLDER = Path(__file__).parents[2] / "reproduce"
FINDINGS = (
    "small left pleural effusion",
    "mild cardiomegaly",
    "right basal atelectasis",
    "no pneumothorax",
    "the lungs are clear",
    "moderate pulmonary edema",
    "endotracheal tube in good position",
)


@pytest.fixture(scope="session", autouse=True)
def _scripts_can_be_imported() -> None:
    sys.path.insert(0, str(FOLDER))


def _report(rng: random.Random, count: int = 4) -> str:
    return ". ".join(text.capitalize() for text in rng.sample(FINDINGS, count)) + "."


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture(scope="session")
def rexval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("rexval"), random.Random(1)
    groups = ("radgraph", "bertscore", "s_emb", "bleu")
    texts = [[f"p{n}", _report(rng), *(_report(rng, 2 + n % 4) for _ in groups)] for n in range(50)]
    _write(folder / "50_samples_gt_and_candidates.csv", ["study_id", "gt_report", *groups], texts)
    counts = [
        [n, group, rater, category, significant, rng.choice((0, 0, 0, 1, 1, 2))]
        for n in range(50)
        for group in groups
        for rater in range(6)
        for category in range(1, 7)
        for significant in (True, False)
    ]
    header = "study_number candidate_type rater_index error_category clinically_significant num_errors"
    _write(folder / "6_valid_raters_per_rater_error_categories.csv", header.split(), counts)
    return folder


@pytest.fixture(scope="session")
def radevalx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("radevalx"), random.Random(2)
    texts = [(f"CXR{n}", _report(rng), _report(rng, 2 + n % 4)) for n in range(100)]
    header = ["report_id", "ground_truth", "M2Tr-Generation", *map(str, range(1, 9))]
    for name in ("RadEval_clinically_significant_errors.csv", "RadEval-clinically_insignificant_errors.csv"):
        rows = [[*text, *(rng.choice(("", "", "", 0, 1)) for _ in range(8))] for text in texts]
        _write(folder / name, header, rows)
    return folder


@pytest.fixture(scope="session")
def generators(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("mimic") / "outputs.csv", random.Random(3)
    rows = [[n, _report(rng), _report(rng), _report(rng)] for n in range(12)]
    _write(path, ["id", "reference", "random", "r2gen"], rows)
    return path


@pytest.fixture(scope="session")
def rate_eval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three tasks in the layout of the release."""
    folder, rng = tmp_path_factory.mktemp("RaTE-Eval"), random.Random(4)
    for task, count in (("Task1_sentence_rate", 2), ("Task2_paragraph_rate", 4)):
        place = folder / task
        place.mkdir()
        pairs = {str(n): (_report(rng, count), _report(rng, count)) for n in range(20)}
        for name, side in (("gt_report", 0), ("similar_report", 1)):
            texts = {key: pair[side] for key, pair in pairs.items()}
            (place / f"{name}_test.json").write_text(json.dumps(texts), encoding="utf-8")
        rates = [[key, round(rng.random(), 2) if count == 2 else rng.randrange(6)] for key in pairs]
        _write(place / "rate_test.csv", ["id", "rate"], rates)
    place = folder / "Task3_synthetic_rate"
    place.mkdir()
    triples = [
        {
            "original": "No pleural effusion.",
            "rewrite": "Pleural effusion is absent.",
            "opposite": "Pleural effusion.",
        },
        {"original": "Mild cardiomegaly.", "rewrite": "Slight cardiomegaly.", "opposite": "No cardiomegaly."},
        {"original": "The lungs are clear.", "rewrite": "Clear lungs.", "opposite": "The lungs are not clear."},
    ]
    (place / "triples.json").write_text(json.dumps(triples), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def rate_ner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test file of RaTE-NER in the IOB form."""
    path = tmp_path_factory.mktemp("RaTE-NER") / "test_IOB.json"
    records = [
        {"tokens": ["No", "pleural", "effusion", "."], "ner_tags": [10, 2, 3, 10]},
        {"tokens": ["Mild", "cardiomegaly", "of", "the", "heart"], "ner_tags": [10, 0, 10, 10, 8]},
    ]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path
