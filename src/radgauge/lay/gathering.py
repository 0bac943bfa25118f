"""Steps of every build of a lay set while texts are refined: gather the rounds and the trace, stop without loss,
write what is common to all sets (rounds.csv, trace.jsonl, build.json)."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from radgauge import __version__
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.core.files import write_file
from radgauge.core.readings import Progress
from radgauge.lay.refine import Refinement, Round, Step, Verdict, add_rounds, refine

ABOUT, ROUNDS, TRACE = "build.json", "rounds.csv", "trace.jsonl"
Take = Callable[[int, Sequence[Verdict]], None]


@dataclass
class Gathering:
    """The course of one build."""

    how: Refinement  # Translator and checks
    progress: Progress | None = None  # Told (what, done, total)
    parts: list[Sequence[Round]] = field(default_factory=list)  # Rounds of each batch that counts
    steps: list[Step] = field(default_factory=list)  # Every text of every round
    trouble: BaseException | None = None  # What stopped the run, if anything did

    def run(self, items: Sequence[str], what: str, *, take: Take, counted: bool = True) -> None:
        """Refine texts; `take` gets the place of the first of some verdicts and the verdicts as they come."""
        finished = 0

        def done(verdicts: Sequence[Verdict], rounds: Sequence[Round]) -> None:
            nonlocal finished
            take(finished, verdicts)
            finished += len(verdicts)
            if counted:
                self.parts.append(rounds)
            if self.progress is not None:
                self.progress(what, finished, len(items))

        refine(items, self.how, done=done, trace=self.steps.extend)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Keep what stops the run until everything that was finished is written."""
        try:
            yield
        except (RadgaugeError, KeyboardInterrupt) as error:
            self.trouble = error

    @property
    def stopped(self) -> str:
        """Why the run ended early; "" if it did not."""
        return "" if self.trouble is None else str(self.trouble) or "interrupted"

    def write_rounds(self, folder: Path) -> list[Round]:
        """Write the acceptance curve and the trace; returns the curve."""
        rounds = add_rounds(self.parts)
        write_file(folder / ROUNDS, rounds_table(rounds))
        write_file(folder / TRACE, trace_lines(self.steps))
        return rounds

    def close(
        self, folder: Path, built: Mapping[str, object], *, signature: str, reports: Mapping[str, str]
    ) -> None:
        """Write build.json, then raise what stopped the run."""
        facts = {
            "signature": f"{self.how.signature}|{signature}|v:{__version__}",
            "reports_sha256": digest(reports),
            **built,
        }
        write_file(folder / ABOUT, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
        if self.trouble is not None:
            raise self.trouble


def refuse_other_reports(folder: Path, reports: Mapping[str, str]) -> None:
    """A folder holds the set of its reports; building others there would lose it without a word."""
    try:
        stored_digest = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["reports_sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # nothing finished there
    if stored_digest != digest(reports):
        raise UsageError(
            f"{folder} holds a set built from other reports; choose another folder, or replace it (--replace)"
        )


def trace_lines(steps: Iterable[Step]) -> str:
    """Every text of every round as JSON lines."""
    return "".join(json.dumps(asdict(step), ensure_ascii=False) + "\n" for step in steps)


def rounds_table(rounds: Sequence[Round]) -> str:
    """The acceptance curve as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [column.name for column in fields(Round)]
    writer.writerow([*names, "accepted_share", "changed_share"])
    for stats in rounds:
        row = [getattr(stats, name) for name in names]
        writer.writerow([*row, f"{stats.accepted_share:.4f}", f"{stats.changed_share:.4f}"])
    return out.getvalue()


def digest(texts: Mapping[str, str]) -> str:
    """SHA-256 of names and texts in their order."""
    total = hashlib.sha256()
    for name, text in texts.items():
        total.update(json.dumps([name, text]).encode())
    return total.hexdigest()
