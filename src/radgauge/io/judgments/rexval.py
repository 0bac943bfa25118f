"""ReXVal 1.0.0: 50 studies, four candidates each, six radiologists counting errors in six categories.

Two CSV files (PhysioNet, credentialed): the texts, and one row per rater, category and significance.
Yu et al., Evaluating progress in automatic chest X-ray radiology report generation (2022).
"""

from __future__ import annotations

from pathlib import Path

from radgauge.cases import Case
from radgauge.errors import InputError
from radgauge.io.judgments.fields import judgment_table, number, truth, word
from radgauge.io.judgments.judgments import Count, Judgments, error_scores
from radgauge.io.tables.cells import cell

TEXTS = "50_samples_gt_and_candidates.csv"
COUNTS = "6_valid_raters_per_rater_error_categories.csv"
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
                f"{table.place(record)}: study_number must be 0 to {len(studies) - 1}, got {study_number:g}"
            )
        system = word(table, record, "candidate_type")
        if system not in CANDIDATES:
            raise InputError(
                f"{table.place(record)}: candidate_type must be one of {', '.join(CANDIDATES)}, got {system!r}"
            )
        count: Count = (
            (studies[int(study_number)], system),
            f"{number(table, record, 'rater_index'):g}",
            int(number(table, record, "error_category")),
            truth(table, record, "clinically_significant"),
            number(table, record, "num_errors"),
        )
        if count[:4] in seen:
            raise InputError(f"{table.place(record)}: this count was already given in {seen[count[:4]]}")
        seen[count[:4]] = table.place(record)
        counts.append(count)
    _check_complete(seen, table.source.name)
    keys = tuple(case.key for case in cases)
    return Judgments("ReXVal", cases, error_scores(counts, keys=keys, signature="ReXVal 1.0.0"))


def _check_complete(seen: dict[tuple[object, ...], str], name: str) -> None:
    raters = sorted({str(rater) for _, rater, _, _ in seen})
    judged = {key for key, _, _, _ in seen}
    for rater in raters:
        missing = [key for key in judged if not any((key, rater, 1, s) in seen for s in (True, False))]
        if missing:
            raise InputError(f"{name}: rater {rater} has no count for {len(missing)} cases, first {missing[0]}")


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(f"{folder} must hold {name} (ReXVal 1.0.0 from PhysioNet); it is not there")
    return path
