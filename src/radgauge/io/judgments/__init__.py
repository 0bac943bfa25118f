"""Human judgments: files of the published studies, and a generic table, as Scores per rater."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from radgauge.core.cases import Case, Key
from radgauge.core.choices import NoRow
from radgauge.core.errors import InputError, UsageError
from radgauge.core.subjects import from_subject
from radgauge.io.judgments.fields import judgment_table, number, word
from radgauge.io.judgments.generic import read_long_table
from radgauge.io.judgments.judgments import Count, Judgments, error_scores, mean_rater
from radgauge.io.judgments.radpref import read_radpref
from radgauge.io.judgments.rate_eval import TASKS, read_rate_eval
from radgauge.io.judgments.rexval import COUNTS, TEXTS, read_rexval
from radgauge.io.judgments.study_file import looks_like_study
from radgauge.io.tables.cells import cell

# RadEvalX 1.0.0: 100 studies of one system, two radiologists in consensus, eight categories.
#
# Two CSV files with the same rows: significant and insignificant errors, one column per category 1 to 8.
# Calamida et al., Radiology-aware model-based evaluation metric for report generation (2023).

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
                raise InputError(f"{table.location(record)}: report_id {key[0]!r} occurs twice")
            seen.add(key)
            case = Case(key[0], cell(record.values[CANDIDATE]), (cell(record.values["ground_truth"]),), "M2Tr")
            first = cases.setdefault(key, case)
            if (first.candidate, first.references) != (case.candidate, case.references):
                raise InputError(f"{table.location(record)}: the two files give different texts for {key[0]!r}")
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


__all__ = ["FORMATS", "Judgments", "mean_rater", "read_judgments"]


def _read_study(path: Path) -> Judgments:
    """A study of `radgauge study new`, as far as it has come."""
    judgments: Judgments = from_subject("study", "judgments:study_judgments")(path)
    return judgments


FORMATS: dict[str, Callable[[Path], Judgments]] = {
    "rexval": read_rexval,
    "radpref": read_radpref,
    "radevalx": read_radevalx,
    "rate_eval": read_rate_eval,
    "rate_eval_sentence": partial(read_rate_eval, task="sentence"),
    "rate_eval_train": partial(read_rate_eval, split="train"),
    "rate_eval_sentence_train": partial(read_rate_eval, task="sentence", split="train"),
    "table": read_long_table,
    "study": _read_study,
}


def read_judgments(
    path: Path | str,
    *,
    format: str | None = None,
    raters: Sequence[str] | None = None,
    no_row: NoRow = "refuse",
) -> Judgments:
    """Judgments from a file or folder.

    Args:
        path: A folder for ReXVal and RadEvalX, a JSON file for RadPref, a study, a table otherwise.
        format: rexval, radpref, radevalx, rate_eval (paragraphs), rate_eval_sentence, the train parts of these
            two with _train behind, table, or study (a file of `radgauge study`); None = what the path looks like.
        raters: Columns of a table that hold one rater's values each, where their names do not tell.
        no_row: What it means that a table of error counts has no row for a case: "zero" (no errors), "unjudged";
            "refuse" refuses a table in which that is unclear.
    """
    location = Path(path)
    if not location.exists():
        raise InputError(f"no such file or folder: {location}")
    chosen = format or _looks_like(location)
    if chosen not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}; got {chosen!r}")
    if not chosen.startswith("rate_eval") and location.is_dir() is (chosen in ("radpref", "table", "study")):
        kind = "a folder" if location.is_dir() else "a file"
        raise InputError(f"{location} is {kind}; judgments in the form {chosen!r} come as the other")
    if raters is not None and chosen != "table":
        raise UsageError(f"columns of raters can be named for tables only, not for the form {chosen!r}")
    if chosen == "table":
        return read_long_table(location, raters=raters, no_row=no_row)
    return FORMATS[chosen](location)


def _looks_like(path: Path) -> str:
    if path.is_dir():
        if (path / TEXTS).exists() or (path / COUNTS).exists():
            return "rexval"
        if (path / SIGNIFICANT).exists():
            return "radevalx"
        if path.name == TASKS["sentence"]:
            return "rate_eval_sentence"
        if (path / TASKS["paragraph"]).exists() or path.name == TASKS["paragraph"]:
            return "rate_eval"
        raise InputError(
            f"{path} holds neither ReXVal ({TEXTS}) nor RadEvalX ({SIGNIFICANT}); name the file of a table"
        )
    if looks_like_study(path):
        return "study"
    return "radpref" if path.suffix == ".json" else "table"
