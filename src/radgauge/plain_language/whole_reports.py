"""A report-level lay set from whole reports: algorithm 1 of Layman's RRG (Zhao et al., 2024), item by item.

`build` makes lay reports out of lay sentences, so that a sentence is translated once; here a translator sees the
report as a whole, as the paper's report-level set was made, and the checks see report and lay version as a whole.
Files: reports.jsonl, rounds.csv, trace.jsonl, build.json, and journal.jsonl of a language model.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from radgauge import __version__
from radgauge.errors import InputError, RadgaugeError
from radgauge.files import make_folder, write_file
from radgauge.plain_language.build import (
    ABOUT,
    ROUNDS,
    TRACE,
    digest,
    refuse_other_reports,
    rounds_table,
    trace_lines,
)
from radgauge.plain_language.refine import Refinement, Round, Step, Verdict, add_rounds, refine
from radgauge.plain_language.replacement import sentences_of
from radgauge.plain_language.sets import rejected_pairs, write_report_set
from radgauge.reading import Progress


@dataclass(frozen=True)
class BuiltReports:
    """What was built.

    Attributes:
        reports: Reports given.
        distinct: Different ones.
        lay_reports: Reports with an accepted lay version that nobody rejected.
        rounds: The acceptance curve of the distinct reports.
        reasons: Why distinct reports have none -> how many.
        stopped: Why the run ended early; "" if it did not.
    """

    reports: int
    distinct: int
    lay_reports: int
    rounds: tuple[Round, ...]
    reasons: Mapping[str, int]
    stopped: str


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
    parts: list[Sequence[Round]] = []
    steps: list[Step] = []

    def done(found: Sequence[Verdict], rounds: Sequence[Round]) -> None:
        verdicts.update({each.sentence: each for each in found})
        parts.append(rounds)
        if progress is not None:
            progress("reports", len(verdicts), len(items))

    trouble: BaseException | None = None
    try:
        refine(items, how, done=done, trace=steps.extend)
    except (RadgaugeError, KeyboardInterrupt) as error:
        trouble = error
    rows = [_row(study, reports[study], verdicts.get(text)) for study, text in texts.items()]
    _, lay_reports = write_report_set(folder, rows, rejected_pairs(folder))
    rounds = add_rounds(parts)
    write_file(folder / ROUNDS, rounds_table(rounds))
    write_file(folder / TRACE, trace_lines(steps))
    reasons = Counter(each.why.partition(" (")[0] for each in verdicts.values() if not each.accepted)
    built = BuiltReports(
        reports=len(reports),
        distinct=len(items),
        lay_reports=lay_reports,
        rounds=tuple(rounds),
        reasons=dict(reasons.most_common()),
        stopped="" if trouble is None else str(trouble) or "interrupted",
    )
    facts = {
        "signature": f"{how.signature}|unit:report|v:{__version__}",
        "reports_sha256": digest(reports),
        **(about or {}),
        **asdict(built),
    }
    write_file(folder / ABOUT, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
    if trouble is not None:
        raise trouble
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
