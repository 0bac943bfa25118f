"""score: every case judged by every metric, rows in = rows out."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from radgauge.core.cases import Case, Key, reference_digest
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.metric import Metric, Rows
from radgauge.core.notebook import with_hints
from radgauge.core.progress import silence, working
from radgauge.core.readings import Progress, Readings, pair_text
from radgauge.core.registry import check_profile, load, specs
from radgauge.core.scores import Results as Results
from radgauge.core.scores import Scores as Scores
from radgauge.io.records import as_cases
from radgauge.run.screening import MAX_LENGTH as MAX_LENGTH
from radgauge.run.screening import Screen

log = logging.getLogger(__name__)

BLOCK = 2000
"""Cases whose readings are in memory at once; see `score`."""

Judge = Callable[[str, str], float]
"""A function of candidate and reference, as a metric."""


@with_hints({"refs": "references", "ground_truths": "references", "gts": "references", "targets": "references"})
@with_hints({"hyps": "candidates", "preds": "candidates", "predictions": "candidates", "res": "candidates"})
def score(
    cases: object = None,
    metrics: Sequence[str | Metric | Judge] | str | Metric | Judge | None = None,
    *,
    references: Sequence[str | Sequence[str]] | None = None,
    candidates: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    reading: Readings | None = None,
    models: str = "embedded",
    longest: int = MAX_LENGTH,
    any_language: bool = False,
    progress: Progress | bool | None = None,
) -> Results:
    """Judge every case with every metric. Rows in = rows out.

    Args:
        cases: A file of reports (its path), what `read_cases` returned, a sequence of Case or of dicts (id,
            candidate, reference, ...), a dict of columns, a pandas or polars frame, or a Hugging Face dataset.
        metrics: Names ("bleu"), specifications ("bleu:variant=cxr", "file.py:function"), Metric objects or
            functions of candidate and reference; None = the defaults.
        references: Instead of cases: one reference per case, or a list of alternatives; ids are row numbers.
        candidates: The candidates of these references, in the same order; of several systems a dict by name.
        reading: Shared readings, so that several calls read each text once. Of more than 2,000 cases the readings
            are kept block by block, so that memory does not grow with the cases; the cache has them all.
        models: Profile for metrics given by name: "embedded", "published" or a folder of checkpoints.
        longest: Characters of the longest text that is judged; a case with a longer one is not, with this reason.
            It bounds the memory of metrics that compare every word of one text with every word of another.
        any_language: Judge texts that are not English, or of which hardly a word is understood, as well. By
            default metrics that work without a network leave such cases out, with the reason.
        progress: Called with (what, done, total); None shows a line in terminals and notebooks if it takes longer
            than two seconds, False shows none.

    >>> results = score([{"id": "1", "candidate": "no effusion", "reference": "no effusion"}], ["bleu"])
    >>> results.records()[0]["bleu_1"]
    1.0
    >>> score(references=["no effusion"], candidates=["no effusion"], metrics="rouge")
    Results: 1 metric, 1 case, 1 system
    metric     system  not judged
    rouge_l ↑   1.000           0
    """
    listed, header = _input_cases(cases, references, candidates)
    check_profile(models)
    judges = judges_of(metrics, models=models)
    notify = progress if callable(progress) else None
    shared = reading if reading is not None else Readings(progress=notify)
    names = [metric.name for metric in judges]
    labels = [metric.name if names.count(metric.name) == 1 else metric.columns[0] for metric in judges]
    labelled = dict(zip(labels, judges, strict=True))
    tables = {label: _Judged(metric, label, listed) for label, metric in labelled.items()}
    screen = Screen(longest, any_language)
    blocks = _blocks(listed)
    with silence(progress is not None and progress is not True), working("scoring") as tell:
        steps = 0
        for part in (blocks, [range(len(listed))]):
            # Metrics that weigh a case by the others measure all cases at once; the others take a block after the
            # other, whose readings go with it.
            chosen = {k: m for k, m in labelled.items() if (m.independent or len(blocks) == 1) == (part is blocks)}
            for block in part if chosen else ():
                readings = shared if len(block) == len(listed) else shared.fork()
                for label, metric in chosen.items():
                    tell(label, steps, len(judges) * len(blocks))
                    tables[label].fill(metric, block, readings, screen)
                    steps += 1 if part is blocks else len(blocks)
                    if notify is not None:
                        notify("scoring", steps, len(judges) * len(blocks))
    results = {label: table.scores() for label, table in tables.items()}
    accounts = {label: dict(usage) for label, m in labelled.items() if (usage := m.account(reading=shared))}
    if accounts:
        header = {**header, "accounts": accounts}
    header = {**header, "references": reference_digest(listed)}
    meta_names = dict.fromkeys(name for case in listed for name in case.meta)
    return Results(results, {name: [case.meta.get(name, "") for case in listed] for name in meta_names}, header)


def _input_cases(
    cases: object,
    references: Sequence[str | Sequence[str]] | None,
    candidates: Sequence[str] | Mapping[str, Sequence[str]] | None,
) -> tuple[list[Case], dict[str, Any]]:
    """The cases, and what is known of the file they come from."""
    if references is not None or candidates is not None:
        if cases is not None:
            raise UsageError("give cases, or references and candidates, not both")
        return _paired(references, candidates), {}
    if cases is None:
        raise UsageError("nothing to score: give cases, or references=[...] and candidates=[...]")
    if isinstance(cases, str | os.PathLike) or hasattr(cases, "provenance"):
        from radgauge.io.case_files import CaseFile, read_cases

        file = read_cases(os.fspath(cases)) if isinstance(cases, str | os.PathLike) else cases
        if isinstance(file, CaseFile):
            for note in file.provenance.warnings:
                log.warning("%s", note)
            return list(file.cases), {"input": file.provenance.as_dict()}
    return as_cases(cases), {}


def _paired(
    references: Sequence[str | Sequence[str]] | None,
    candidates: Sequence[str] | Mapping[str, Sequence[str]] | None,
) -> list[Case]:
    if references is None or candidates is None:
        absent = "references" if references is None else "candidates"
        raise UsageError(f"references and candidates belong together; {absent} is missing")
    if isinstance(candidates, Mapping):
        if not candidates:
            raise UsageError(
                "candidates must be a list of texts, or a dict of such lists by system; got an empty dict"
            )
        return [
            replace(case, system=str(system))
            for system, own in candidates.items()
            for case in _paired(references, own)
        ]
    for name, texts in (("references", references), ("candidates", candidates)):
        if isinstance(texts, str):
            raise UsageError(f"{name} must be a list of texts, got one text; to judge one case pass [text]")
    if len(references) != len(candidates):
        raise InputError(
            f"references and candidates must be equally many, got {len(references)} and {len(candidates)}"
        )
    return as_cases(
        [
            {"id": str(number), "references": reference, "candidate": candidate}
            for number, (reference, candidate) in enumerate(zip(references, candidates, strict=True), start=1)
        ]
    )


def judges_of(
    metrics: Sequence[str | Metric | Judge] | str | Metric | Judge | None, *, models: str = "embedded"
) -> list[Metric]:
    """The metrics that names, specifications or objects stand for; no two may write the same column."""
    if metrics is None:
        from radgauge.core.registry import DEFAULTS

        metrics = DEFAULTS
    listed = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    requested = [part for item in listed for part in (specs(item) if isinstance(item, str) else [item])]
    judges = [load(item, models=models) if isinstance(item, str) else as_metric(item) for item in requested]
    seen: dict[str, str] = {}
    for metric in judges:
        for column in metric.columns:
            if column in seen:
                raise UsageError(
                    f"two metrics would both write the column {column!r} ({seen[column]} and {metric.name}); "
                    f"give one a name of its own: '{metric.name}:... as NAME'"
                )
            seen[column] = metric.name
    return judges


def as_metric(item: Metric | Judge) -> Metric:
    """Return a metric as it is, and a function as a metric."""
    if isinstance(item, Metric):
        return item
    if not callable(item):
        raise UsageError(f"a metric must be a name, a Metric or a function, got {type(item).__name__}")
    from radgauge.core.function_metric import FunctionMetric

    return FunctionMetric(item)


def _texts_of(case: Case) -> Iterator[str]:
    """Return everything that a reader may have read of a case: each report, and each pair of them."""
    yield case.candidate
    for reference in case.references:
        yield reference
        yield pair_text(reference, case.candidate)


def _blocks(cases: Sequence[Case]) -> list[Sequence[int]]:
    """Positions of the cases in blocks of about `BLOCK`, a study with all its systems in one."""
    if len(cases) <= BLOCK:
        return [range(len(cases))]
    studies: dict[str, list[int]] = {}
    for index, case in enumerate(cases):
        studies.setdefault(case.id, []).append(index)
    blocks: list[list[int]] = [[]]
    for indices in studies.values():
        if len(blocks[-1]) >= BLOCK:
            blocks.append([])
        blocks[-1] += indices
    return list(blocks)


class _Judged:
    """The scores of one metric, filled block by block."""

    def __init__(self, metric: Metric, label: str, cases: Sequence[Case]) -> None:
        self.metric, self.label, self.cases = metric, label, cases
        self.rows: Rows = np.empty((len(cases), 0))
        self.values = np.full((len(cases), len(metric.columns)), np.nan)
        self.reasons: dict[int, str] = {}
        self.truncated: set[Key] = set()
        self.cut_pieces = 0

    def fill(self, metric: Metric, block: Sequence[int], reading: Readings, screen: Screen) -> None:
        """Judge the cases at these positions."""
        able, judged, unfit = screen.usable(metric, [self.cases[index] for index in block], reading=reading)
        self.reasons.update((index, why) for index, why in zip(block, unfit, strict=True) if why)
        with reading.truncation() as cut:
            measured, failed = _measure(metric, judged, reading)
        for index in np.flatnonzero(np.isinf(measured).any(axis=1)):
            measured[index] = np.nan
            failed[judged[index].key] = f"{metric.name} returned an infinite value"
        truncated = {case.key for case in judged if not cut.isdisjoint(_texts_of(case))} if cut else set()
        self.truncated |= truncated
        self.cut_pieces += 0 if truncated else len(cut)
        if not self.rows.shape[1]:
            self.rows = np.full((len(self.cases), measured.shape[1]), np.nan)
        positions = np.asarray(block, dtype=np.intp)[np.asarray(able, dtype=np.intp)]
        self.rows[positions] = measured
        self.values[positions] = metric.case_scores(measured)
        for index, case in zip(positions.tolist(), judged, strict=True):
            if case.key in failed:
                self.reasons[index] = failed[case.key]
            elif np.isnan(self.values[index, 0]):
                self.reasons[index] = _why_not(metric, case, reading)

    def scores(self) -> Scores:
        """Return the scores of all cases, once every block is filled."""
        if self.truncated:
            log.warning("%s", truncation_text(self.label, len(self.truncated), len(self.cases)))
        elif self.cut_pieces:
            log.warning(
                "%s: %d texts taken from reports are longer than the encoder reads", self.label, self.cut_pieces
            )
        metric = self.metric
        if np.array_equal(self.rows, self.values, equal_nan=True):
            self.rows = self.values  # one table in memory where statistics are the values
        return Scores(
            judge=self.label,
            signature=metric.signature(),
            keys=tuple(case.key for case in self.cases),
            rows=self.rows,
            values=self.values,
            columns=metric.columns,
            higher_is_better=metric.higher_is_better,
            reasons={self.cases[index].key: why for index, why in sorted(self.reasons.items())},
            metric=metric,
            directions=metric.directions,
            truncated=frozenset(self.truncated),
        )


def truncation_text(judge: str, cut: int, cases: int) -> str:
    """Return what a person should know of reports that an encoder does not read to their end.

    >>> truncation_text("vlscore", 3, 12)
    'vlscore: in 3 of 12 cases (25 %) a report is longer than the encoder reads; what follows is not judged'
    """
    share = f"{cut} of {cases} cases ({100 * cut / cases:.0f} %)"
    return f"{judge}: in {share} a report is longer than the encoder reads; what follows is not judged"


def _measure(
    metric: Metric, cases: Sequence[Case], reading: Readings, level: int = logging.WARNING
) -> tuple[Rows, dict[Key, str]]:
    """Rows of the cases, and why some of them have none: a case that makes the metric fail fails alone.

    What radgauge itself refuses (a missing model, a wrong setting) still ends the run: it concerns every case.
    """
    if not cases:
        return np.empty((0, _width(metric, reading))), {}
    try:
        return _measured(metric, cases, reading), {}
    except RadgaugeError:
        raise
    except Exception as error:
        why = f"{metric.name} failed on this case ({_kind(error)})"
        log.log(level, "%s failed on %d cases (%s); they are tried in smaller parts", metric.name, len(cases), why)
    if len(cases) == 1:
        return np.full((1, _width(metric, reading)), np.nan), {cases[0].key: why}
    middle = len(cases) // 2
    halves = [_measure(metric, part, reading, logging.DEBUG) for part in (cases[:middle], cases[middle:])]
    failed = {**halves[0][1], **halves[1][1]}
    rows: Rows = np.vstack([half for half, _ in halves])
    if failed and not metric.independent:  # what is left is measured together, as its definition wants
        remaining = [index for index, case in enumerate(cases) if case.key not in failed]
        rows = np.full_like(rows, np.nan)
        if remaining:
            again, more = _measure(metric, [cases[index] for index in remaining], reading, level)
            rows[remaining] = again
            failed.update(more)
    return rows, failed


def _width(metric: Metric, reading: Readings) -> int:
    """Return the number of statistics that a metric keeps of a case."""
    try:
        return int(_measured(metric, (), reading).shape[1])
    except RadgaugeError:
        raise
    except Exception as error:
        raise RadgaugeError(
            f"metric {metric.name!r} must return a table of shape (0, columns) for no cases, "
            f"got {type(error).__name__}: {error}"
        ) from error


def _measured(metric: Metric, cases: Sequence[Case], reading: Readings) -> Rows:
    measured = metric.measure(cases, reading=reading)
    if measured.ndim != 2 or len(measured) != len(cases):
        raise RadgaugeError(
            f"metric {metric.name!r} must return one row per case, "
            f"got shape {measured.shape} for {len(cases)} cases"
        )
    return measured


def _why_not(metric: Metric, case: Case, reading: Readings) -> str:
    try:
        return metric.why_not(case, reading=reading)
    except RadgaugeError:
        raise
    except Exception as error:
        return f"cannot be judged ({_kind(error)})"


def _kind(error: Exception) -> str:
    """Kind of an error and the line that raised it; its message may hold report text and is not repeated."""
    kind = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return kind
    frame, line = frames[-1]
    return f"{kind} in {os.path.basename(frame.f_code.co_filename)}, line {line}"
