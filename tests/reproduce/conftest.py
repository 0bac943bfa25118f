"""Invented files in the form of ReXVal, RadEvalX and a table of generators: no text here is anybody's report."""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

import pytest

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
