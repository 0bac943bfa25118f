"""ReXVal 1.0.0: 50 studies, four candidates each, six radiologists counting errors in six categories.

Two CSV files (PhysioNet, credentialed): the texts, and one row per rater, category and significance.
Yu et al., Evaluating progress in automatic chest X-ray radiology report generation (2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError, shown
from radgauge.core.metric import Rows
from radgauge.core.scores import Scores
from radgauge.io.judgments.fields import judgment_table, number, truth, word
from radgauge.io.judgments.judgments import Count, Judgments, error_scores
from radgauge.io.tables import InputTable, Record
from radgauge.io.tables.cells import cell

TEXTS = "50_samples_gt_and_candidates.csv"
COUNTS = "6_valid_raters_per_rater_error_categories.csv"
RATERS = 6
SURVEYED = range(1, 7)  # the categories of the survey
CANDIDATES = ("radgraph", "bertscore", "s_emb", "bleu")


def read_rexval(folder: Path) -> Judgments:
    """The study from the folder that holds its two files.

    A case's system is the metric that chose the candidate (the metric oracle): radgraph, bertscore, s_emb
    or bleu. The first file numbers the studies by its rows; the second refers to these numbers.
    """
    texts = judgment_table(
        _file(folder, TEXTS), needs=("study_id", "gt_report", *CANDIDATES), what="the texts of ReXVal"
    )
    studies = [word(texts, record, "study_id") for record in texts.records]
    cases = tuple(
        Case(study, cell(record.values[system]), (cell(record.values["gt_report"]),), system)
        for study, record in zip(studies, texts.records, strict=True)
        for system in CANDIDATES
    )
    columns = ("study_number", "candidate_type", "rater_index", "error_category", "clinically_significant")
    table = judgment_table(
        _file(folder, COUNTS), needs=(*columns, "num_errors"), what="the error counts of ReXVal"
    )
    counts: list[Count] = []
    seen: dict[tuple[object, ...], str] = {}
    for record in table.records:
        study_number = number(table, record, "study_number")
        if not (study_number.is_integer() and 0 <= study_number < len(studies)):
            raise InputError(
                f"{table.location(record)}: study_number must be 0 to {len(studies) - 1}, got {study_number:g}"
            )
        system = word(table, record, "candidate_type")
        if system not in CANDIDATES:
            raise InputError(
                f"{table.location(record)}: candidate_type must be one of {', '.join(CANDIDATES)}, "
                f"got {shown(system)}"
            )
        category = _integer(table, record, "error_category")
        if not 1 <= category <= len(SURVEYED):
            raise InputError(
                f"{table.location(record)}: error_category must be 1 to {len(SURVEYED)} in ReXVal, got {category}"
            )
        count: Count = (
            (studies[int(study_number)], system),
            f"{_integer(table, record, 'rater_index')}",
            category,
            truth(table, record, "clinically_significant"),
            float(_integer(table, record, "num_errors")),
        )
        if count[:4] in seen:
            raise InputError(f"{table.location(record)}: this count was already given in {seen[count[:4]]}")
        seen[count[:4]] = table.location(record)
        counts.append(count)
    keys = tuple(case.key for case in cases)
    judged, notes = _judged(counts, keys, table.source.name)
    errors = error_scores(counts, keys=keys, signature="ReXVal 1.0.0", judged=judged)
    return Judgments("ReXVal", cases, errors, notes=(*notes, *_identical_candidates(cases, errors)))


def _integer(table: InputTable, record: Record, column: str) -> int:
    value = number(table, record, column)
    if not value.is_integer():
        raise InputError(f"{table.location(record)}: {column} must be a whole number, got {value:g}")
    return int(value)


def _judged(counts: Sequence[Count], keys: tuple[Key, ...], name: str) -> tuple[dict[str, set[Key]], list[str]]:
    """Rater -> the cases with all of a rater's twelve counts, and notes on what is missing.

    ReXVal writes a row for every category and significance, zeros too. A case with fewer was not judged: nobody
    knows whether a count that is not there is 0.
    """
    counted: dict[tuple[str, Key], int] = Counter((rater, key) for key, rater, *_ in counts)
    raters = sorted({rater for rater, _ in counted})
    cells = 2 * len(SURVEYED)
    judged = {rater: {key for key in keys if counted.get((rater, key), 0) == cells} for rater in raters}
    if not any(judged.values()):
        raise InputError(
            f"{name}: a case must have {cells} counts by each rater (six categories, significant or not, zeros "
            "too), and no case has"
        )
    notes = []
    if len(raters) != RATERS:
        notes.append(f"{len(raters)} raters, where ReXVal has {RATERS}")
    for rater in raters:
        none = sum((rater, key) not in counted for key in keys)
        if none:
            notes.append(f"rater {rater} has no counts for {none} of {len(keys)} cases: not judged, not 0 errors")
        some = len(keys) - len(judged[rater]) - none
        if some:
            notes.append(
                f"rater {rater} has fewer than {cells} counts for {some} of {len(keys)} cases: not judged"
            )
    nobody = sum(not any(key in cases for cases in judged.values()) for key in keys)
    if nobody:
        notes.append(f"{nobody} of {len(keys)} cases were judged by nobody")
    return judged, notes


def _identical_candidates(cases: Sequence[Case], errors: Mapping[str, Scores]) -> list[str]:
    """Raters were asked to count the same for identical candidates of a study (figure S1): where they did not."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, case in enumerate(cases):
        rows.setdefault((case.id, case.candidate), []).append(row)
    differ = {
        (rater, study)
        for (study, _), same in rows.items()
        for rater, scores in errors.items()
        if _differ(scores.values[same])
    }
    if not differ:
        return []
    rater, study = min(differ)
    return [
        f"identical candidates of a study have unequal counts in {len(differ)} judgments, first: rater {rater}, "
        f"study {study}"
    ]


def _differ(values: Rows) -> bool:
    """True if the rows that were judged are not all the same."""
    judged = values[~np.isnan(values[:, 0])]
    return len(np.unique(np.nan_to_num(judged, nan=-1.0), axis=0)) > 1


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(f"{folder} must hold {name} (ReXVal 1.0.0 from PhysioNet); it is not there")
    return path
