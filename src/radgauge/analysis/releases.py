"""Two versions over time: what got better, what got worse, which cases flipped; and limits that stop a release."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from radgauge.analysis.answers import Answers, answers, unpaired
from radgauge.analysis.compare import (
    Comparisons,
    SystemComparison,
    adjusted_by_output,
    compare,
    enough_permutations,
)
from radgauge.core.cases import Key
from radgauge.core.choices import Correction
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import interval, number, signed
from radgauge.stats.resampling import Resampling

BEFORE = " (before)"
"""Suffix of the names of systems in the older scores."""
OTHER_REFERENCES = (
    "the two were scored against other references (other reports, or another --section), so differences say "
    "nothing about the candidates; score both against the same"
)


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that became right or wrong."""

    key: Key  # (study id, system)
    before: float  # Clinically significant errors before, or the headline where nobody counted errors
    after: float


@dataclass(frozen=True, slots=True)
class Releases:
    """Newer scores beside older ones."""

    comparisons: Comparisons  # Each system now against itself before, per output
    worse: tuple[Flip, ...]  # Cases that were free of significant errors and are not now, the worst first
    better: tuple[Flip, ...]  # Cases that had significant errors and have none now
    column: str  # The output that the flips speak of
    cases: int  # Cases that both scores have
    notes: tuple[str, ...]  # What could not be compared, and why
    answers: tuple[Answers, ...]  # Answered studies of each system, now and before
    scores: Results  # Both scores side by side, the older ones under the names of the baselines
    dropped: Mapping[str, int]  # System of the older scores that the newer ones lack -> number of its studies
    same_references: bool  # False if the references of the same studies differ between the two


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
    if not (same_references := _same_references(now, before)):
        notes.append(OTHER_REFERENCES)
    judges: dict[str, Scores] = {}
    pairs = _paired_systems(now, before)
    if not any((study, pairs.get(system)) in set(now.keys_of_cases) for study, system in before.keys_of_cases):
        raise InputError(
            "the older scores share no (id, system) with the newer ones, so there is nothing to compare"
        )
    for name, scores in now.judges.items():
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
        judges[name] = _side_by_side(scores, older, pairs)
    if not judges:
        raise InputError(f"no metric can be compared with the older scores: {'; '.join(notes)}")
    both = Results(judges)
    shared = [(now_name, _name_before(name, now_name)) for name, now_name in pairs.items()]
    lines: list[SystemComparison] = []
    for system, baseline in shared:
        lines += compare(
            both,
            baseline=baseline,
            systems=[system, baseline],
            correction="none",
            permutations=enough_permutations(permutations, 1 if correction == "none" else len(shared)),
            resampling=resampling or Resampling(),
            all_columns=all_columns,
            columns=columns,
        )
    tested = adjusted_by_output(lines, correction)
    replies = tuple(reply for pair in shared for reply in answers(both, pair))
    only = (
        len(now.keys_of_cases)
        + len(before.keys_of_cases)
        - sum(sum(name in pair for _, name in both.keys_of_cases) for pair in shared)
    )
    if only:
        notes.append(f"{only} cases are of systems that only one of the two has, and are left out")
    column, worse, better, cases = _flips(judges, shared)
    dropped = Counter(system for _, system in before.keys_of_cases if system not in pairs)
    return Releases(tested, worse, better, column, cases, tuple(notes), replies, both, dropped, same_references)


def _same_references(now: Results, before: Results) -> bool:
    """False if both are of the same studies and were scored against other references."""
    digests = [results.header.get("references") for results in (now, before)]
    studies = [{study for study, _ in results.keys_of_cases} for results in (now, before)]
    return None in digests or studies[0] != studies[1] or digests[0] == digests[1]


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
    old, new = (dict(part.partition(":")[::2] for part in signature.split("|")) for signature in (before, now))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return {_PARTS.get(name, name): (old.get(name, "none"), new.get(name, "none")) for name in names}


_PROBED = re.compile(r"\|probes:")
_VERSION = re.compile(r"[|;]v:[^|;)]*")
_PARTS = {
    "code": "code (hash of source text)",
    "probes": "probes (values on the probe pairs)",
    "v": "version of radgauge",
}


def _paired_systems(now: Results, before: Results) -> dict[str, str]:
    """Name before -> name now; one system on either side is the same system, whatever the files are called."""
    names = [list(dict.fromkeys(system for _, system in results.keys_of_cases)) for results in (before, now)]
    if len(names[0]) == len(names[1]) == 1:
        return {names[0][0]: names[1][0]}
    return {name: name for name in names[0] if name in names[1]}


def _name_before(name: str, name_now: str) -> str:
    return name + BEFORE if name == name_now else name


def _side_by_side(now: Scores, before: Scores, pairs: Mapping[str, str]) -> Scores:
    """Both as one: the systems of `pairs`, those of the older scores under their names before."""
    now = now.take([at for at, (_, system) in enumerate(now.keys) if system in pairs.values()])
    before = before.take([at for at, (_, system) in enumerate(before.keys) if system in pairs])

    def renamed(key: Key) -> Key:
        return key[0], _name_before(key[1], pairs[key[1]])

    return replace(
        now,
        keys=(*now.keys, *map(renamed, before.keys)),
        rows=np.concatenate([now.rows, before.rows]),
        values=np.concatenate([now.values, before.values]),
        reasons={**now.reasons, **{renamed(key): reason for key, reason in before.reasons.items()}},
    )


def _flips(
    judges: Mapping[str, Scores], pairs: Sequence[tuple[str, str]]
) -> tuple[str, tuple[Flip, ...], tuple[Flip, ...], int]:
    """Cases that gained their first significant error, those that lost their last one, and cases in both."""
    counting = next((scores for scores in judges.values() if "errors_significant" in scores.columns), None)
    keys = next(iter(judges.values())).keys
    there = set(keys)
    shared = [((study, now), (study, old)) for now, old in pairs for study, name in keys if name == now]
    shared = [pair for pair in shared if pair[1] in there]
    if counting is None:
        return "", (), (), len(shared)
    counts = dict(zip(counting.keys, counting.column("errors_significant").tolist(), strict=True))
    worse, better = [], []
    for key, older in shared:
        after, before = counts[key], counts[older]
        if before == 0 and after > 0:
            worse.append(Flip(key, before, after))
        elif before > 0 and after == 0:
            better.append(Flip(key, before, after))
    worse.sort(key=lambda flip: (-flip.after, flip.key))
    better.sort(key=lambda flip: (-flip.before, flip.key))
    return "errors_significant", tuple(worse), tuple(better), len(shared)


_LIMIT = re.compile(r"\s*(?P<column>[\w.:-]+)\s*(?P<sign>[<>])\s*(?P<value>[+-]?(?:\d+\.?\d*|\.\d+))\s*")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit such as "errors_significant > +0.05": what must not happen."""

    text: str  # As it was given
    column: str
    above: bool  # True if values above it are refused; otherwise values below
    value: float
    # True if it is on the difference to the baseline (a sign in front of the number says so) or on the value
    # itself
    difference: bool

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read one.

        >>> Limit.parse("errors_significant > +0.05").difference, Limit.parse("errors_recall<0.9").difference
        (True, False)
        """
        match = _LIMIT.fullmatch(text)
        if match is None:
            raise UsageError(
                f"cannot read the limit {text!r}: write COLUMN > +0.05 for a difference to the baseline, or "
                "COLUMN > 0.3 for a value; < works too"
            )
        value = match["value"]
        return cls(text.strip(), match["column"], match["sign"] == ">", float(value), value[0] in "+-")

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


def unanswered_limits(releases: Releases, limits: Sequence[Limit], *, allowed: int) -> list[str]:
    """Reasons why a release must stop whatever its values: other references, or studies without an answer.

    Args:
        found: The comparison with the older scores.
        limits: Limits of the gate; their judges must have judged both reports of a study.
        allowed: Number of studies that may be left out of the comparison of a system.
    """
    columns = {limit.column for limit in limits}
    reasons = [] if releases.same_references else [OTHER_REFERENCES]
    reasons += [
        f"{system} of the older scores is not in the newer ones: {number:,} studies without an answer, which "
        f"breaks allow_missing={allowed}"
        for system, number in releases.dropped.items()
        if number > allowed
    ]
    lines = releases.comparisons
    for system, baseline in dict.fromkeys((line.system, line.baseline) for line in lines):
        judges = dict.fromkeys(
            line.judge
            for line in lines
            if (line.system, line.baseline) == (system, baseline) and line.column in columns
        )
        missing = unpaired(releases.scores, system, baseline, judges)
        if len(missing) > allowed:
            counts = ", ".join(
                f"{reply.system} answered {reply.answered:,} of {reply.asked:,}"
                for reply in answers(releases.scores, (system, baseline))
            )
            reasons.append(
                f"{len(missing):,} studies have no judged answer of both {system} and {baseline} ({counts}; "
                f"first: {missing[0]}), which breaks allow_missing={allowed}"
            )
    return reasons


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
