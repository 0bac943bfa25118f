"""RadEvalX 1.0.0: 100 studies of one system, two radiologists in consensus, eight categories.

Two CSV files with the same rows: significant and insignificant errors, one column per category 1 to 8.
Calamida et al., Radiology-aware model-based evaluation metric for report generation (2023).
"""

from __future__ import annotations

from pathlib import Path

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError
from radgauge.io.judgments.fields import judgment_table, number, word
from radgauge.io.judgments.judgments import Count, Judgments, error_scores
from radgauge.io.tables.cells import cell

SIGNIFICANT = "RadEval_clinically_significant_errors.csv"
INSIGNIFICANT = "RadEval-clinically_insignificant_errors.csv"
CANDIDATE = "M2Tr-Generation"


def read_radevalx(folder: Path) -> Judgments:
    """The study from the folder that holds its two files. A blank count is read as 0 (the release is silent)."""
    cases: dict[Key, Case] = {}
    counts: list[Count] = []
    for name, significant in ((SIGNIFICANT, True), (INSIGNIFICANT, False)):
        path = folder / name
        if not path.is_file():
            raise InputError(f"{folder} must hold {name} (RadEvalX 1.0.0 from PhysioNet); it is not there")
        numbers = [str(category) for category in range(1, 9)]
        table = judgment_table(
            path, needs=("report_id", "ground_truth", CANDIDATE, *numbers), what="an error file of RadEvalX"
        )
        seen: set[Key] = set()
        for record in table.records:
            key = (word(table, record, "report_id"), "M2Tr")
            if key in seen:
                raise InputError(f"{table.place(record)}: report_id {key[0]!r} occurs twice")
            seen.add(key)
            case = Case(key[0], cell(record.values[CANDIDATE]), (cell(record.values["ground_truth"]),), "M2Tr")
            known = cases.setdefault(key, case)
            if (known.candidate, known.references) != (case.candidate, case.references):
                raise InputError(f"{table.place(record)}: the two files give different texts for {key[0]!r}")
            counts += [
                (key, "consensus", int(column), significant, number(table, record, column, blank=0.0))
                for column in numbers
            ]
        if seen != cases.keys():
            odd = sorted(cases.keys() - seen)[0][0]
            raise InputError(f"{folder}: the two files must have the same reports; {odd!r} is in one only")
    keys = tuple(cases)
    return Judgments(
        "RadEvalX",
        tuple(cases.values()),
        error_scores(counts, keys=keys, signature="RadEvalX 1.0.0", categories=range(1, 9)),
        notes=("blank counts are read as 0; the release does not say what they mean",),
    )
