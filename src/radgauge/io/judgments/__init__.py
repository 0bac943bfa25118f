"""Human judgments: files of the published studies, and a generic table, as Scores per rater."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from radgauge.core.choices import NoRow
from radgauge.core.errors import InputError, UsageError
from radgauge.core.subjects import from_subject
from radgauge.io.judgments.generic import read_long_table
from radgauge.io.judgments.judgments import Judgments, mean_rater
from radgauge.io.judgments.radevalx import SIGNIFICANT, read_radevalx
from radgauge.io.judgments.radpref import read_radpref
from radgauge.io.judgments.rate_eval import TASKS, read_rate_eval
from radgauge.io.judgments.rexval import COUNTS, TEXTS, read_rexval
from radgauge.io.judgments.study_file import looks_like_study

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
    place = Path(path)
    if not place.exists():
        raise InputError(f"no such file or folder: {place}")
    chosen = format or _looks_like(place)
    if chosen not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}; got {chosen!r}")
    if not chosen.startswith("rate_eval") and place.is_dir() is (chosen in ("radpref", "table", "study")):
        kind = "a folder" if place.is_dir() else "a file"
        raise InputError(f"{place} is {kind}; judgments in the form {chosen!r} come as the other")
    if raters is not None and chosen != "table":
        raise UsageError(f"columns of raters can be named for tables only, not for the form {chosen!r}")
    if chosen == "table":
        return read_long_table(place, raters=raters, no_row=no_row)
    return FORMATS[chosen](place)


def _looks_like(place: Path) -> str:
    if place.is_dir():
        if (place / TEXTS).exists() or (place / COUNTS).exists():
            return "rexval"
        if (place / SIGNIFICANT).exists():
            return "radevalx"
        if place.name == TASKS["sentence"]:
            return "rate_eval_sentence"
        if (place / TASKS["paragraph"]).exists() or place.name == TASKS["paragraph"]:
            return "rate_eval"
        raise InputError(
            f"{place} holds neither ReXVal ({TEXTS}) nor RadEvalX ({SIGNIFICANT}); name the file of a table"
        )
    if looks_like_study(place):
        return "study"
    return "radpref" if place.suffix == ".json" else "table"
