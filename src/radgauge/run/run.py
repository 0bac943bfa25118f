"""The driver of a run: split, score what is missing, check, write the manifest."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from radgauge.core.cache import default_cache_dir
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError, UsageError, require
from radgauge.core.files import make_folder, tighten
from radgauge.core.log import event
from radgauge.core.metric import Metric, unaliased
from radgauge.core.progress import working
from radgauge.core.storage import Store, local_copy, plain, url_of
from radgauge.io.case_files.spec import InputSpec, system_name
from radgauge.io.score_folder import Manifest, fingerprint_of, part_name
from radgauge.io.tables.column_names import shown_names
from radgauge.run.buckets import WORK, Split, read_split, remove_buckets, write_buckets
from radgauge.run.executors import HERE, Engine, run, run_in_order, session
from radgauge.run.explained import check_explain, claim, finish, is_complete, is_explained
from radgauge.run.frequencies import survey
from radgauge.run.manifests import (
    Sums,
    begun_manifest,
    check_same,
    complete_manifest,
    older_manifest,
    write_manifest,
)
from radgauge.run.run_frequencies import surveyed
from radgauge.run.score import MAX_LENGTH, judges_of
from radgauge.run.streams import Table, expected_bytes, open_table, sources_of
from radgauge.run.work import Plan, cases_of, check_part, is_done, joins, score_part

try:
    import fcntl
except ImportError:  # Windows: no advisory locks
    fcntl = None  # type: ignore[assignment]

PART_BYTES = 4 << 20
"""Bytes of input per part: about 6,000 pairs of chest reports, seconds of work and some 300 MB of readings."""

MOST_PARTS = 16_384
LOOKED_AT = 4000
"""Cases that are looked at for signs of collapse, at least; parts are taken whole."""

Notify = Callable[[str, int, int], None]
Look = Callable[[Sequence[Case]], list[str]]


@dataclass(frozen=True)
class Ran:
    """Result of a run."""

    manifest: Manifest  # Of the folder, which is complete
    scored: int  # Parts that this call scored; the others were there
    seconds: Mapping[str, float]  # Of all workers, by what they did
    peak: int = 0  # Bytes of the largest worker


def score_to_folder(
    reports: Path | str | InputSpec,
    folder: Path | str,
    *,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    models: str = "embedded",
    longest: int = MAX_LENGTH,
    any_language: bool = False,
    kind: str = "",
    parts: int = 0,
    engine: Engine = HERE,
    cache: Path | None = None,
    progress: Notify | None = None,
    look: Look | None = None,
    explain: Path | str | None = None,
) -> Ran:
    """Score any number of reports into a folder of parts; the same call goes on where one was stopped.

    Args:
        reports: A table of cases or a folder of such tables, or how several files are read. Here and below also
            URLs (see `storage`).
        folder: Where the parts and their manifest go; a URL gets scores, and report texts stay on this machine.
        metrics: As in `score`.
        models: Profile of metrics given by name.
        longest: Characters of the longest text that is judged.
        any_language: Judge texts that are not English, or hardly understood, as well.
        kind: "parquet" or "jsonl"; "" takes Parquet where pyarrow is installed.
        parts: Into how many parts; 0 takes one per 4 MB of input.
        engine: Where parts are scored.
        cache: Folder of the reading cache of every machine; None uses none.
        progress: Told (what, done, total).
        look: Asked once for notes on some thousand cases, whole studies in the order of the input, or on all cases
            if there are no more; what it says is kept in the manifest.
        explain: Folder for why each case got its scores, a file per part; None writes none.

    Raises:
        InputError: The input cannot be used, or the folder holds another run.
        UsageError: The arguments do not fit together.
    """
    spec = reports if isinstance(reports, InputSpec) else InputSpec(reports=Path(reports))
    if spec.one_view:
        raise UsageError(
            "one_view must see all reports of a study and writes to a file, not to a folder; choose the views "
            "first, in the table"
        )
    if spec.duplicates != "error":
        raise UsageError("duplicates= must see all reports and writes to a file, not to a folder")
    judges = tuple(judges_of(metrics, models=models))
    url = url_of(folder)
    store = Store(url) if url is not None else None
    directory = plain(folder) if url is None else _work_folder(url)
    with working("scoring in parts") as tell, ExitStack() as copies:
        notify = progress or tell
        notify("opening the input", 0, 1)

        def local(path: Path | None) -> Path | None:
            return None if path is None else copies.enter_context(local_copy(path))

        here = replace(
            spec,
            reports=local(spec.reports),
            references=local(spec.references),
            candidates={name: copies.enter_context(local_copy(file)) for name, file in spec.candidates.items()},
        )
        tables = tables_of(here)
        sends = store is not None and bool(engine.address)
        explained = None if explain is None else check_explain(explain, folder, sent=sends)
        _check_metrics(judges, tables, engine)
        if sends and surveyed(judges):
            raise UsageError(
                f"{judges[min(surveyed(judges))].name} counts the words of all reports on a disk that all "
                f"machines see: on a cluster, write to such a folder instead of {url}"
            )
        if not kind:
            kind = _usual_kind()
        if kind not in ("parquet", "jsonl"):
            raise UsageError(f"the kind of the parts must be parquet or jsonl, got {kind!r}")
        if kind == "parquet":
            require("pyarrow", extra="parquet")
        divided = parts or min(MOST_PARTS, max(1, -(-sum(map(expected_bytes, tables)) // PART_BYTES)))
        settings = _settings(here, longest, any_language)
        signatures = {metric.columns[0]: metric.signature() for metric in judges}
        fingerprint = fingerprint_of(
            {
                "input": [(source.sha256, source.format, source.encoding) for source in sources_of(tables)],
                "judges": signatures,
                "settings": settings,
                "divided": divided,
                "kind": kind,
            }
        )
        plan = Plan(
            directory,
            fingerprint,
            kind,
            tables,
            judges,
            spec,
            longest,
            cache,
            store,
            sends,
            explained,
            any_language,
        )
        older = older_manifest(directory, store)
        if older is not None:
            check_same(url or str(directory), older, plan, settings, divided)
            if older.complete and is_complete(explained, fingerprint):
                return Ran(older, 0, {})
        if explained is not None:
            claim(explained, fingerprint)
        make_folder(directory)
        with _alone(directory):
            if older is None:
                write_manifest(plan, begun_manifest(plan, settings, signatures, divided))
            with session(engine):
                ran = _finish(plan, settings, divided, engine=engine, notify=notify, look=look)
            if store is not None:
                shutil.rmtree(directory)
            return ran


def tables_of(spec: InputSpec) -> tuple[Table, ...]:
    """The tables of an input: one of cases, or references and candidates."""
    if spec.references is None:
        return tuple(open_table(file, "cases", spec, system=system_name(file)) for file in (spec.reports,) if file)
    tables = [open_table(spec.references, "references", spec)]
    tables += [open_table(file, "candidates", spec, system=name) for name, file in spec.candidates.items()]
    for role, names in spec.columns.items():
        if not any(set(names) <= set(table.columns) for table in tables):
            seen = "; ".join(f"{table.name}: {shown_names(table.columns)}" for table in tables)
            raise InputError(f"no file has the column {', '.join(names)} named for {role!r}; columns: {seen}")
    return tuple(tables)


def _finish(
    plan: Plan, settings: Mapping[str, Any], divided: int, *, engine: Engine, notify: Notify, look: Look | None
) -> Ran:
    split = read_split(plan.folder, plan.fingerprint)
    if split is None:
        notify("dividing the input", 0, divided)
        split = write_buckets(plan.folder, plan.tables, divided=divided, fingerprint=plan.fingerprint)
    expected = _expected(plan, split, engine)
    left = _left(plan, expected, engine)
    there = len(expected) - len(left)
    if left:
        survey(plan, sorted(expected), engine=engine, progress=notify)
    seconds: dict[str, float] = {}
    peak = 0
    notify("scoring", there, len(expected))
    for at, (_, done) in enumerate(run(score_part, map(plan.job, left), engine=engine)):
        peak = max(peak, done.peak)
        for name, spent in done.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + spent
        notify("scoring", there + at + 1, len(expected))
        event(
            "part scored", part=there + at + 1, parts=len(expected), seconds=round(sum(done.seconds.values()), 3)
        )
    summed = Sums()
    checks = ((plan, number, cases, keys) for number, (cases, keys) in sorted(expected.items()))
    for at, checked in enumerate(run_in_order(check_part, checks, engine=engine)):
        if checked.wrong:
            where = plan.store.url if plan.store is not None else plan.folder
            raise RadgaugeError(f"{where}: {checked.wrong}; remove that part and run the same command again")
        summed.add(checked)
        notify("checking", at + 1, len(expected))
    summed.looked = _looked(plan, sorted(expected), look) if look is not None else []
    manifest = complete_manifest(plan, settings, split, expected, summed)
    if plan.explained is not None:
        finish(plan.explained, plan.fingerprint, expected)
    write_manifest(plan, manifest)
    remove_buckets(plan.folder)
    return Ran(manifest, len(left), seconds, peak)


def _expected(plan: Plan, split: Split, engine: Engine) -> dict[int, tuple[int, str]]:
    """Number of each part -> how many cases it must hold, and the digest of their keys."""
    if len(plan.tables) == 1:
        return {number: (split.cases[0][number], split.keys[0][number]) for number in split.filled}
    joined = run(joins, map(plan.job, split.filled), engine=engine)
    return {number: (cases, keys) for _, (number, cases, keys) in joined if cases}


def _looked(plan: Plan, numbers: Sequence[int], look: Look) -> list[str]:
    """Notes on the cases of the first parts: a sample of studies, as parts hold them by a hash of their id."""
    sampled: list[tuple[int, Case]] = []
    read = 0
    for number in numbers:
        if len(sampled) >= LOOKED_AT:
            break
        bucket = cases_of(plan.job(number))
        sampled += zip(bucket.rows, bucket.cases, strict=True)
        read += 1
    sampled.sort(key=lambda row: row[0])
    notes = look([case for _, case in sampled])
    return notes if read == len(numbers) else [f"in a sample of {len(sampled)} cases: {note}" for note in notes]


def _left(plan: Plan, expected: Mapping[int, tuple[int, str]], engine: Engine) -> list[int]:
    """Parts that are still to be scored.

    In a folder a name proves that a part is whole. What a store promises is its own matter, so every part that it
    has is read, and counts only if it holds the cases that it must hold.
    """
    if plan.store is None:
        return [
            at
            for at, (cases, keys) in sorted(expected.items())
            if not (is_explained(plan.explained, at) and is_done(plan, at, cases, keys))
        ]
    names = set(plan.store.names())
    there = [number for number in sorted(expected) if part_name(number, plan.kind) in names]
    checked = run_in_order(check_part, ((plan, number, *expected[number]) for number in there), engine=engine)
    valid = {
        number
        for number, check in zip(there, checked, strict=True)
        if not check.wrong and is_explained(plan.explained, number)
    }
    return [number for number in sorted(expected) if number not in valid]


def _settings(spec: InputSpec, longest: int, any_language: bool) -> dict[str, Any]:
    return {
        "section": spec.section,
        "split": spec.split,
        "missing": spec.missing,
        "encoding": spec.encoding,
        "columns": {role: list(names) for role, names in spec.columns.items()},
        "candidate_columns": list(spec.candidate_columns) or None,
        "systems": list(spec.candidates),
        "images": spec.images is not None,
        "longest": longest,
        "any_language": any_language,
    }


def _check_metrics(metrics: Sequence[Metric], tables: Sequence[Table], engine: Engine) -> None:
    asking = [metric.name for metric in metrics if unaliased(metric).extra == "llm"]
    if asking and engine.name != "process":
        raise UsageError(f"{asking[0]} asks a server, with one budget and one journal: score it in one process")
    twice = surveyed(metrics)
    dependent = [metric.name for at, metric in enumerate(metrics) if not metric.independent and at not in twice]
    if dependent:
        raise UsageError(
            f"{', '.join(dependent)} must see all cases of a run at once; write to a file instead of a folder"
        )
    needing = [metric.name for metric in metrics if "reference" in metric.needs]
    if len(tables) == 1 and needing and not tables[0].roles.references:
        raise InputError(
            f"{', '.join(needing)} cannot judge without references: {tables[0].name} has no reference column; its "
            f"columns: {shown_names(tables[0].columns)}; name it with columns={{'reference': NAME}}"
        )


def _usual_kind() -> str:
    from importlib.util import find_spec

    return "parquet" if find_spec("pyarrow") is not None else "jsonl"


def _work_folder(url: str) -> Path:
    """Folder of the buckets of a run into a store: on this machine, the same path for the same URL."""
    return default_cache_dir() / "runs" / hashlib.sha256(url.encode()).hexdigest()[:24]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One run at a time in a folder; the lock of a run that was killed goes with it."""
    make_folder(folder / WORK)
    path = folder / ".lock"
    file: IO[bytes]
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        tighten(path)
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"{folder} is in use by another run; wait for it or name another folder"
                ) from None
        yield
