"""Edit effort: the sentences that a radiologist would have to change, and how long that would take.

Typing speed: 52 words per minute, the mean of 168,000 volunteers (Dhakal et al. 2018, Observations on typing from
136 million keystrokes, CHI). The time to find and judge a sentence is an assumption, not a measurement.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Explanation, Metric, Note, Rows, Span
from radgauge.core.readings import Readings
from radgauge.findings.advice import ChangedAdvice
from radgauge.findings.error import FALSE, OMITTED, Error
from radgauge.findings.findings import Findings
from radgauge.findings.numbers import numbers
from radgauge.findings.profile import Profile
from radgauge.metrics.errors import Errors
from radgauge.reader import ReportReader

COLUMNS = (
    *("edits", "edits_significant", "edits_changed", "edits_deleted", "edits_inserted"),
    *("edits_words", "edits_seconds", "edits_reworded", "edits_unchanged"),
)
_ALONE = Errors(soft="off")
_WORD = re.compile(r"\w+(?:[.,'/-]\w+)*")


class Edit(NamedTuple):
    """One sentence that has to be changed, deleted or inserted."""

    kind: Literal["changed", "deleted", "inserted"]
    old: str  # The sentence of the candidate; "" for an insertion
    new: str  # The sentence of the reference that it becomes; "" for a deletion
    significant: bool  # True if a clinically significant error asks for it
    old_spans: tuple[Span, ...] = ()  # Where the old sentence stands in the candidate
    new_spans: tuple[Span, ...] = ()  # Where the new one stands in the reference

    @property
    def words(self) -> tuple[int, int]:
        """Number of words to type and to delete."""
        old, new = (_WORD.findall(text.lower()) for text in (self.old, self.new))
        same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
        return len(new) - same, len(old) - same


@dataclass(frozen=True)
class Edits(Metric):
    """Number of sentences that have to be edited so that a report means what the reference means.

    Each error of `errors` that is more likely an error than another wording asks for an edit of its sentence, and
    so does a recommendation that was left out, added or changed: a sentence is changed, deleted if nothing in it
    is right, or inserted. Sentences in other words of the same meaning are counted apart (`edits_reworded`), as
    nobody has to change them. `edits_words` is the number of words to type or to delete; `edits_seconds`:
    typed words at the typing speed and a fixed time per edit.

    >>> case = Case("1", "Small right effusion. Old fracture.", ("Small left effusion. Heart is enlarged.",))
    >>> metric = Edits()
    >>> row = dict(zip(metric.columns, metric.measure([case], reading=Readings())[0].tolist(), strict=True))
    >>> [row[f"edits_{kind}"] for kind in ("changed", "deleted", "inserted", "words", "reworded")]
    [1.0, 1.0, 1.0, 7.0, 0.0]
    """

    name: ClassVar[str] = "edits"
    higher_is_better: ClassVar[bool] = False
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    one_range: ClassVar[bool] = True
    summary: ClassVar[str] = "sentences a radiologist would have to edit, words, and an estimate of time"

    words_per_minute: float = 52.0  # Typing speed; 52 is the mean of Dhakal et al. (2018).
    seconds_per_edit: float = 5.0  # Time to find and judge what has to be edited. An assumption: set your own.

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.words_per_minute < math.inf and 0 <= self.seconds_per_edit < math.inf):
            raise UsageError(
                "edits: words_per_minute must be greater than 0 and seconds_per_edit 0 or more, "
                f"got {self.words_per_minute:g} and {self.seconds_per_edit:g}"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Edits by kind, words, time, and the sentences that need none."""
        return COLUMNS

    @property
    def directions(self) -> tuple[bool, ...]:
        """Fewer edits; more sentences that need none."""
        return tuple(column in ("edits_reworded", "edits_unchanged") for column in COLUMNS)

    def parts(self) -> Mapping[str, str]:
        """The metric that finds the errors, without soft evidence, which changes no error."""
        return {**_ALONE.parts()}

    def report_reader(self) -> ReportReader:
        """Return the reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Return the outputs of each case, against the reference with the best quality by errors."""
        rows = np.full((len(cases), len(COLUMNS)), np.nan)
        _ALONE.findings([text for case in cases for text in (case.candidate, *case.references)], reading)
        for row, case in zip(rows, cases, strict=True):
            edited = self._edited(case, reading)
            if edited is not None:
                row[:] = self._row(*edited[:2])
        return rows

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Return a sentence per edit, in the order of the texts."""
        edited = self._edited(case, reading)
        if edited is None:
            return Explanation(self.name, dict.fromkeys(COLUMNS, math.nan))
        edits, others, index = edited
        notes = []
        for edit in edits:
            typed, deleted = edit.words
            what = {
                "changed": f'Change "{edit.old}" to "{edit.new}"',
                "deleted": f'Delete "{edit.old}"',
                "inserted": f'Insert "{edit.new}"',
            }[edit.kind]
            kind = {"changed": "changed", "deleted": "added", "inserted": "missing"}[edit.kind]
            text = f"{what} (words to type {typed}, to delete {deleted})."
            data = {"significant": edit.significant, "typed": typed, "deleted": deleted, "reference": index}
            notes.append(Note(kind, text, edit.new_spans, edit.old_spans, data))
        row = self._row(edits, others)
        speed = f"{self.words_per_minute:g} typed words per minute and {self.seconds_per_edit:g} seconds per edit"
        notes.append(Note("info", f"The time is an estimate, not a measurement: {speed}."))
        return Explanation(self.name, dict(zip(COLUMNS, row, strict=True)), tuple(notes))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Return the reason of `errors`."""
        return _ALONE.why_not(case, reading=reading)

    def _row(self, edits: Sequence[Edit], others: tuple[int, int]) -> list[float]:
        kinds = [sum(edit.kind == kind for edit in edits) for kind in ("changed", "deleted", "inserted")]
        typed, deleted = (sum(edit.words[part] for edit in edits) for part in (0, 1))
        seconds = 60.0 * typed / self.words_per_minute + self.seconds_per_edit * len(edits)
        significant = sum(edit.significant for edit in edits)
        return [*map(float, (len(edits), significant, *kinds, typed + deleted)), seconds, *map(float, others)]

    def _edited(self, case: Case, reading: Readings) -> tuple[list[Edit], tuple[int, int], int] | None:
        """Return the edits, the numbers of reworded and unchanged sentences, and which reference it is."""
        judged = _ALONE.profile(case, reading=reading)
        if judged is None:
            return None
        profile, index = judged
        read = _ALONE.findings([case.references[index], case.candidate], reading)
        reference, candidate = read[case.references[index]], read[case.candidate]
        edits, touched = edits_of(profile, reference, candidate)
        same = set(map(_plain, reference.sentences.texts))
        rest = [text for at, text in enumerate(candidate.sentences.texts) if at not in touched and _plain(text)]
        unchanged = sum(_plain(text) in same for text in rest)
        return edits, (len(rest) - unchanged, unchanged), index


def _plain(text: str) -> str:
    """Return a sentence without case, blanks and marks at its ends."""
    return " ".join(text.lower().split()).strip(" .,;:-")


@dataclass
class _Change:
    """Errors of a sentence of the candidate."""

    right: list[int] = field(default_factory=list)  # Sentences of the reference that say it right
    false: list[Span] = field(default_factory=list)  # Spans of what is false and has no counterpart
    n_false: int = 0  # Number of such claims
    significant: bool = False  # True if any of it is clinically significant


def edits_of(profile: Profile, reference: Findings, candidate: Findings) -> tuple[list[Edit], set[int]]:
    """Return the edits that the errors of a profile ask for, and which sentences of the candidate they touch."""
    changes: dict[int, _Change] = {}
    inserted: dict[int, bool] = {}
    likely = numbers()["support"]["likely"]
    requests = [_asked_by(error, reference, candidate) for error in profile.errors if error.support < likely]
    requests += [_asked_by_advice(advice) for advice in profile.advice or ()]
    for wrong, right, false, significant in requests:
        for at in wrong:
            change = changes.setdefault(at, _Change())
            change.right += [number for number in right if number not in change.right]
            change.false += [] if right else false
            change.n_false += not right
            change.significant |= significant
        if not wrong:
            inserted.update((at, inserted.get(at, False) or significant) for at in right)
    becoming = {change.right[0] for change in changes.values() if change.right}
    for change in changes.values():
        inserted.update((at, inserted.get(at, False) or change.significant) for at in change.right[1:])
    edits = [_edit(at, changes[at], reference, candidate) for at in sorted(changes)]
    for at in sorted(set(inserted) - becoming):
        texts, spans = reference.sentences.texts, reference.sentences.spans
        edits.append(Edit("inserted", "", texts[at].strip(), inserted[at], new_spans=spans[at : at + 1]))
    return edits, set(changes)


_Request = tuple[list[int], list[int], Sequence[Span], bool]
"""Wrong sentences of the candidate, the right one of the reference, false spans, significance."""


def _asked_by(error: Error, reference: Findings, candidate: Findings) -> _Request:
    if error.category == OMITTED:  # where the candidate denies it, that sentence changes
        wrong = _sentences_at(error.spans, candidate)
    else:
        wrong = sorted(error.candidate.sentences) if error.candidate is not None else []
    if error.category == FALSE:
        right = _sentences_at(error.spans, reference)
    else:
        right = sorted(error.reference.sentences) if error.reference is not None else []
    false = error.candidate.spans if error.candidate is not None else ()
    return wrong, right[:1], false, error.significant


def _asked_by_advice(advice: ChangedAdvice) -> _Request:
    r, c = advice
    wrong, right = ([claim.sentence] if claim is not None else [] for claim in (c, r))
    return wrong, right, () if c is None else (c.span,), False


def _sentences_at(spans: Iterable[Span], findings: Findings) -> list[int]:
    return [
        at
        for at, (start, end) in enumerate(findings.sentences.spans)
        if any(start <= first < end for first, _ in spans)
    ]


def _edit(at: int, change: _Change, reference: Findings, candidate: Findings) -> Edit:
    """Return the edit of a sentence: to the right one, or to itself without what is false, or its deletion."""
    old, (start, end) = candidate.sentences.texts[at], candidate.sentences.spans[at]
    spans = ((start, end),)
    if change.right:
        right = change.right[0]
        new, new_spans = reference.sentences.texts[right], reference.sentences.spans[right : right + 1]
        return Edit("changed", old.strip(), new.strip(), change.significant, spans, new_spans)
    n_claims = sum(at in finding.sentences for finding in candidate.present)
    if n_claims <= change.n_false and not any(start <= denial.span[0] < end for denial in candidate.denied):
        return Edit("deleted", old.strip(), "", change.significant, spans)
    new = old
    for first, last in sorted(change.false, reverse=True):
        if start <= first < end:
            new = new[: first - start] + new[last - start :]
    return Edit("changed", old.strip(), " ".join(new.split()), change.significant, spans)
