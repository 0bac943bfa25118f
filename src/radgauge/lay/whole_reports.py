"""A report-level lay set from whole reports: algorithm 1 of Layman's RRG (Zhao et al., 2024), item by item.

`build` makes lay reports out of lay sentences, so that a sentence is translated once; here a translator sees the
report as a whole, as the paper's report-level set was made, and the checks see report and lay version as a whole.
Files: reports.jsonl, rounds.csv, trace.jsonl, build.json, and journal.jsonl of a language model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from radgauge.core.errors import InputError
from radgauge.core.files import make_folder
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.lay.gathering import Gathering, refuse_other_reports
from radgauge.lay.refine import Refinement, Round, Verdict
from radgauge.lay.sets import rejected_pairs, write_report_set
from radgauge.text.sentences import sentences_of


@dataclass(frozen=True)
class BuiltReports:
    """What was built."""

    reports: int
    distinct: int
    lay_reports: int  # Reports with an accepted lay version that nobody rejected
    rounds: tuple[Round, ...]  # The acceptance curve of the distinct reports
    reasons: Mapping[str, int]  # Why distinct reports have none -> how many
    stopped: str  # Why the run ended early; "" if it did not


@working("building")
def build_reports(
    reports: Mapping[str, str],
    folder: Path,
    *,
    how: Refinement,
    about: Mapping[str, object] | None = None,
    replace_set: bool = False,
    progress: Progress | None = None,
) -> BuiltReports:
    """Translate and refine whole reports, or go on with a folder where a run was stopped.

    Args:
        reports: Id -> text.
        folder: Where everything goes.
        how: Translator and checks; of a language model, with prompts for reports (`lay_prompts("report")`).
        about: More for build.json.
        replace_set: Whether a set of other reports in that folder may be replaced.
        progress: Told (what, done, total).

    Raises:
        RadgaugeError, KeyboardInterrupt: The run was stopped; the files hold what was finished, and the same call
            goes on from there.
    """
    texts = {study: " ".join(text.split()) for study, text in reports.items()}
    items = [text for text in dict.fromkeys(texts.values()) if sentences_of(text)]
    if not items:
        raise InputError("the reports hold no sentence with a word in it")
    make_folder(folder)
    if not replace_set:
        refuse_other_reports(folder, reports)
    verdicts: dict[str, Verdict] = {}
    course = Gathering(how, progress)

    def take(start: int, found: Sequence[Verdict]) -> None:
        verdicts.update({each.sentence: each for each in found})

    with course.until_stopped():
        course.run(items, "reports", take=take)
    rows = [_row(study, reports[study], verdicts.get(text)) for study, text in texts.items()]
    _, lay_reports = write_report_set(folder, rows, rejected_pairs(folder))
    rounds = course.write_rounds(folder)
    reasons = Counter(each.why.partition(" (")[0] for each in verdicts.values() if not each.accepted)
    built = BuiltReports(
        reports=len(reports),
        distinct=len(items),
        lay_reports=lay_reports,
        rounds=tuple(rounds),
        reasons=dict(reasons.most_common()),
        stopped=course.stopped,
    )
    course.close(folder, {**(about or {}), **asdict(built)}, signature="unit:report", reports=reports)
    return built


def _row(study: str, text: str, verdict: Verdict | None) -> dict[str, object]:
    if verdict is None:
        why = "the report is not translated yet" if sentences_of(text) else "the report holds no sentence"
        return {"id": study, "report": text, "lay": None, "why": why, "round": 0, "similarity": None}
    return {
        "id": study,
        "report": text,
        "lay": verdict.lay if verdict.accepted else None,
        "why": verdict.why,
        "round": verdict.round,
        "similarity": verdict.similarity,
    }
