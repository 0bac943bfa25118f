"""Two versions over time: what got better, what got worse, which cases flipped; and limits that stop a release."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from radgauge.cases import Key
from radgauge.choices import Correction
from radgauge.errors import InputError, UsageError
from radgauge.results import Results, Scores
from radgauge.show.wording import interval, number, signed
from radgauge.stats.compare import adjust_comparisons
from radgauge.stats.resampling import Resampling
from radgauge.studies.compare import Comparisons, SystemComparison, compare

BEFORE = " (before)"
"""What the systems of the older scores are called."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that became right or wrong.

    Attributes:
        key: (study id, system).
        before: Clinically significant errors before, or the headline where nobody counted errors.
        after: The same now.
    """

    key: Key
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Releases:
    """Newer scores beside older ones.

    Attributes:
        comparisons: Each system now against itself before, per output.
        worse: Cases that were free of significant errors and are not now, the worst first.
        better: Cases that had significant errors and have none now.
        column: The output that the flips speak of.
        cases: Cases that both scores have.
        notes: What could not be compared, and why.
    """

    comparisons: Comparisons
    worse: tuple[Flip, ...]
    better: tuple[Flip, ...]
    column: str
    cases: int
    notes: tuple[str, ...]


def compare_releases(
    now: Results,
    before: Results,
    *,
    correction: Correction = "holm",
    permutations: int = 10_000,
    resampling: Resampling | None = None,
    all_columns: bool = False,
    columns: Sequence[str] = (),
) -> Releases:
    """Compare each system with itself in older scores, on the cases that both have.

    Judges whose signature changed are left out, with a note: their numbers mean different things.

    Args:
        now: Newer scores.
        before: Older scores.
        correction: Over all tests.
        permutations: Of the paired tests.
        resampling: Of the intervals.
        all_columns: Every output, not the headlines alone.
        columns: Outputs besides the headlines.

    Raises:
        InputError: There is no judge, or no case, that both have.
    """
    notes = []
    judges: dict[str, Scores] = {}
    where = {key: place for place, key in enumerate(before.keys_of_cases)}
    shared = [(place, where[key]) for place, key in enumerate(now.keys_of_cases) if key in where]
    if not shared:
        raise InputError(
            "the older scores share no (id, system) with the newer ones, so there is nothing to compare"
        )
    lost = len(now.keys_of_cases) + len(where) - 2 * len(shared)
    if lost:
        notes.append(f"{lost} cases are in one of the two only and are left out; {len(shared)} are in both")
    for name, scores in now.items():
        if name not in before:
            notes.append(f"{name} is not in the older scores")
            continue
        older = before[name]
        if differing := differing_parts(older.signature, scores.signature):
            changes = "; ".join(f"{part} was {old}, is {new}" for part, (old, new) in differing.items())
            notes.append(
                f"{name} is left out, its signature differs: {changes}; score both again with one version"
            )
            continue
        judges[name] = _side_by_side(scores.take([i for i, _ in shared]), older.take([j for _, j in shared]))
    if not judges:
        raise InputError(f"no metric can be compared with the older scores: {'; '.join(notes)}")
    systems = list(dict.fromkeys(now.keys_of_cases[i][1] for i, _ in shared))
    lines: list[SystemComparison] = []
    for system in systems:
        lines += compare(
            Results(judges),
            baseline=system + BEFORE,
            systems=[system, system + BEFORE],
            correction="none",
            permutations=permutations,
            resampling=resampling or Resampling(),
            all_columns=all_columns,
            columns=columns,
        )
    adjusted = adjust_comparisons([line.result for line in lines], method=correction)
    tested = Comparisons(replace(line, result=result) for line, result in zip(lines, adjusted, strict=True))
    column, worse, better = _flips(judges)
    return Releases(tested, worse, better, column, len(shared), tuple(notes))


def differing_parts(before: str, now: str) -> dict[str, tuple[str, str]]:
    """Return the parts of two signatures that make their numbers incomparable, each with both values.

    Versions of radgauge may differ where the values on the probe pairs are the same.

    >>> differing_parts("bleu|empty:nan|probes:1b2c|v:0.1.0", "bleu|empty:zero|probes:1b2c|v:0.2.0")
    {'empty': ('nan', 'zero')}
    >>> differing_parts("bleu|empty:nan|code:77d0|v:0.1.0", "bleu|empty:nan|probes:1b2c|v:0.1.0")
    {'code (hash of source text)': ('77d0', 'none'), 'probes (values on the probe pairs)': ('none', '1b2c')}
    """
    if _PROBED.search(before) and _PROBED.search(now):
        before, now = _VERSION.sub("", before), _VERSION.sub("", now)
    old, new = (dict(part.partition(":")[::2] for part in each.split("|")) for each in (before, now))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return {_PARTS.get(name, name): (old.get(name, "none"), new.get(name, "none")) for name in names}


_PROBED = re.compile(r"\|probes:")
_VERSION = re.compile(r"[|;]v:[^|;)]*")
_PARTS = {
    "code": "code (hash of source text)",
    "probes": "probes (values on the probe pairs)",
    "v": "version of radgauge",
}


def _side_by_side(now: Scores, before: Scores) -> Scores:
    import numpy as np

    renamed = tuple((study, system + BEFORE) for study, system in before.keys)
    reasons = {(study, system + BEFORE): why for (study, system), why in before.reasons.items()}
    return replace(
        now,
        keys=(*now.keys, *renamed),
        rows=np.concatenate([now.rows, before.rows]),
        values=np.concatenate([now.values, before.values]),
        reasons={**now.reasons, **reasons},
    )


def _flips(judges: dict[str, Scores]) -> tuple[str, tuple[Flip, ...], tuple[Flip, ...]]:
    """Cases that gained their first significant error, and cases that lost their last one."""
    counting = [scores for scores in judges.values() if "errors_significant" in scores.columns]
    if not counting:
        return "", (), ()
    scores = counting[0]
    values = scores.column("errors_significant")
    half = len(scores) // 2
    worse, better = [], []
    for place, key in enumerate(scores.keys[:half]):
        after, before = float(values[place]), float(values[half + place])
        if before == 0 and after > 0:
            worse.append(Flip(key, before, after))
        elif before > 0 and after == 0:
            better.append(Flip(key, before, after))
    worse.sort(key=lambda flip: (-flip.after, flip.key))
    better.sort(key=lambda flip: (-flip.before, flip.key))
    return "errors_significant", tuple(worse), tuple(better)


_LIMIT = re.compile(r"\s*(?P<column>[\w.:-]+)\s*(?P<sign>[<>])\s*(?P<value>[+-]?(?:\d+\.?\d*|\.\d+))\s*")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit such as "errors_significant > +0.05": what must not happen.

    Attributes:
        text: As it was given.
        column: The output.
        above: Whether values above it are refused; otherwise values below.
        value: The limit.
        difference: Whether it is on the difference to the baseline (a sign in front of the number says so) or on
            the value itself.
    """

    text: str
    column: str
    above: bool
    value: float
    difference: bool

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read one.

        >>> Limit.parse("errors_significant > +0.05").difference, Limit.parse("errors_recall<0.9").difference
        (True, False)
        """
        found = _LIMIT.fullmatch(text)
        if found is None:
            raise UsageError(
                f"cannot read the limit {text!r}: write COLUMN > +0.05 for a difference to the baseline, or "
                "COLUMN > 0.3 for a value; < works too"
            )
        value = found["value"]
        return cls(text.strip(), found["column"], found["sign"] == ">", float(value), value[0] in "+-")

    def broken_by(self, line: SystemComparison) -> str:
        """Why a comparison breaks it, "" if it does not; what could not be judged breaks it too."""
        result = line.result
        value = result.difference.value if self.difference else result.value_a
        what = f"{line.column} of {line.system}"
        if math.isnan(value):
            return f"{what} could not be judged, so the limit {self.text!r} is not met"
        if not (value > self.value if self.above else value < self.value):
            return ""
        if self.difference:
            gap = result.difference
            return (
                f"{what} differs by {signed(value)} {interval(gap.low, gap.high)} from {line.baseline}, "
                f"which breaks {self.text!r}"
            )
        return f"{what} is {number(value)}, which breaks {self.text!r}"


def broken_limits(lines: Sequence[SystemComparison], limits: Sequence[Limit]) -> list[str]:
    """Why a release must stop, one sentence per broken limit.

    Raises:
        UsageError: A limit names an output that was not compared.
    """
    there = {line.column for line in lines}
    for limit in limits:
        if limit.column not in there:
            raise UsageError(f"no output {limit.column!r} was compared; there are: {', '.join(sorted(there))}")
    return [
        why for limit in limits for line in lines if line.column == limit.column and (why := limit.broken_by(line))
    ]
