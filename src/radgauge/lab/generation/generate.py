"""Reports for studies from their pictures, as candidates that `radgauge score` reads: rows in, rows out."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import radgauge
from radgauge.analysis.baselines import constant_baselines
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import check_folder, replacing, write_file
from radgauge.core.progress import working
from radgauge.core.readings import Progress, Readings
from radgauge.encoders.image.study_numbers import study_numbers
from radgauge.encoders.text.report_tokens import without_masked
from radgauge.io.case_files import CaseFile, read_references
from radgauge.io.records import SAMPLE
from radgauge.io.tables import read_table
from radgauge.io.tables.column_names import looks_like_files
from radgauge.lab.generation.consensus import Consensus, Gain, shared_consensus
from radgauge.lab.generation.decode import write_reports
from radgauge.lab.generation.expected import SINGLE, expected_of, features
from radgauge.lab.training.generator_data import lay_texts
from radgauge.lab.training.generator_files import Generator, load_network

Source = Literal["network", "retrieval", "both"]
Choice = Literal["consensus", "expected", "first", "drawn"]
ENDINGS = (".jsonl", ".csv")


@dataclass(frozen=True)
class GenerateSettings:
    """Settings of generation; part of the signature."""

    # Whose reports are candidates: the network's own, those of similar training studies, or both
    source: Source = "network"
    # consensus: the candidate that similar studies' reports agree with most; expected: the training report with
    # the greatest expected gain (retrieval only); first: the network's likeliest report, or the nearest; drawn:
    # one report that the network draws
    choose: Choice = "consensus"
    # What agreement is measured by (see `Consensus`); auto: both for professional reports, semantics for lay ones
    gain: Literal["auto", "both", "errors", "semantics", "layman", "headlines"] = "auto"
    samples: int = 8  # Reports that the network draws beside its likeliest, for consensus
    temperature: float = 1.0
    # Beginnings that are followed side by side for the network's likeliest report; 1: the likeliest token each
    # time
    beams: int = 1
    nearest: int = 25  # Similar studies whose reports are candidates
    neighbours: int = 30  # Similar studies whose reports candidates are compared with
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("beams", "nearest", "neighbours"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.choose == "drawn" and self.source != "network":
            raise UsageError(f"only a network draws reports, got source={self.source!r} with choose='drawn'")
        if self.choose == "expected" and self.source != "retrieval":
            raise UsageError(f"expected gains are those of training reports, got source={self.source!r}")
        if self.samples < 0 or not self.temperature > 0:
            raise UsageError(
                f"samples must be 0 or more and temperature above 0, got {self.samples} and {self.temperature}"
            )

    @property
    def signature(self) -> str:
        """Every setting that moves a report."""
        beams = f"|beams:{self.beams}" if self.beams > 1 and self.source != "retrieval" else ""
        if self.choose == "first":
            return f"source:{self.source}|choose:first{beams}"
        if self.choose == "drawn":
            return f"source:{self.source}|choose:drawn|temperature:{self.temperature:g}|seed:{self.seed}"
        if self.choose == "expected":
            return f"source:retrieval|choose:expected|gain:{self.gain}|seed:{self.seed}"
        drawn = f"{beams}|samples:{self.samples}|temperature:{self.temperature:g}|seed:{self.seed}"
        pool = f"|nearest:{self.nearest}" if self.source != "network" else ""
        return f"source:{self.source}|choose:consensus|gain:{self.gain}|neighbours:{self.neighbours}{pool}" + (
            drawn if self.source != "retrieval" else ""
        )


@dataclass(frozen=True, slots=True)
class Generated:
    """A report for a study."""

    id: str
    candidate: str  # The report; "" if there is none
    system: str  # Who wrote it
    reason: str = ""  # Why there is none; "" if there is


def read_wanted(
    table: Path | str,
    images: Path | str | None = None,
    *,
    split: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
) -> CaseFile:
    """Studies to write reports for; their references, if the table has any, are not taken along.

    Args:
        table: id and images; any other columns may be there.
        images: Folder that image names are relative to.
        split: Only this split.
        columns: Role -> column, where names do not speak for themselves.
    """
    roles: dict[str, str | Sequence[str]] = dict(columns or {})
    if "reference" not in roles and (named := _image_columns(Path(table))):
        roles["reference"] = named[0]  # read as text in place of the report, and dropped below
    file = read_references(table, split=split, columns=roles, images=images)
    if not any(case.images for case in file.cases):
        raise InputError(
            f"{Path(table).name}: no image column; a table of studies must have an id and the files of their "
            "pictures; name the column with columns={'image': NAME}"
        )
    return replace(file, cases=tuple(replace(case, references=(), candidate="") for case in file.cases))


@working("generating")
def generate(
    generator: Generator,
    cases: Sequence[Case],
    *,
    settings: GenerateSettings | None = None,
    system: str = "",
    baselines: bool = False,
    cache: Path | str | None = None,
    threads: int = 0,
    reading: Readings | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Generated]:
    """One report per study, in the order of the studies; a study without a usable picture gets a reason.

    Args:
        generator: From `load_generator`.
        cases: Studies with images; references are not looked at.
        settings: How.
        system: What to call the generator; by default its kind, register and choice.
        baselines: Also write the two reports that look at no picture, for every study.
        cache: Folder for what pictures became; by default that of the generator.
        threads: Pictures side by side.
        reading: Shared readings.
        progress: Told after every batch.
        tell: Called with one line when there is something to say.

    Raises:
        UsageError: The source is a network, and the generator has none.
    """
    chosen = settings or GenerateSettings(source=_usual_source(generator))
    if chosen.source != "retrieval" and generator.settings.kind != "network":
        raise UsageError(
            f"{generator.folder} was trained for retrieval and has no network; use source='retrieval'"
        )
    name = system or system_name(generator, chosen)
    numbers = study_numbers(
        [case.images for case in cases],
        cache=generator.folder / "pictures" if cache is None else cache,
        domain="off" if generator.card.get("domain") == "off" else "skip",
        threads=threads,
        progress=progress,
    )
    if numbers.ignored and tell is not None:
        tell(f"{numbers.ignored} pictures could not be used beside others of their study")
    able = [at for at, why in enumerate(numbers.reasons) if not why]
    rows = numbers.rows[able]
    limit = max(chosen.nearest, chosen.neighbours)
    near, _ = generator.words.nearest(rows, max_items=limit)
    if chosen.choose == "expected":
        expected = expected_of(
            generator, _consensus(generator, chosen, reading), seed=chosen.seed, progress=progress
        )
        words = generator.words
        picked = expected.choose(features(words, words.predicted(rows)))
        return _rows(cases, numbers.reasons, able, picked, name) + _baselines(generator, cases, baselines)
    pools: list[list[str]] = [[] for _ in able]
    if chosen.source != "retrieval":
        network, vocabulary = load_network(generator.folder)
        pools = write_reports(
            network,
            vocabulary,
            generator.words,
            rows,
            ids=[cases[at].id for at in able],
            samples={"consensus": chosen.samples, "first": 0, "drawn": 1}[chosen.choose],
            beams=chosen.beams,
            temperature=chosen.temperature,
            seed=chosen.seed,
            progress=progress,
        )
    if chosen.source != "network":
        shown = {
            at: without_masked(generator.reports[at]) for at in set(near[:, : chosen.nearest].ravel().tolist())
        }
        for pool, order in zip(pools, near, strict=True):
            pool += [shown[at] for at in order[: chosen.nearest].tolist()]
    picked = _picked(generator, pools, near[:, : chosen.neighbours], chosen, reading, progress)
    return _rows(cases, numbers.reasons, able, picked, name) + _baselines(generator, cases, baselines)


def _rows(
    cases: Sequence[Case], reasons: Sequence[str], able: Sequence[int], picked: Sequence[str], name: str
) -> list[Generated]:
    written = dict(zip((cases[at].id for at in able), picked, strict=True))
    return [
        Generated(case.id, text := written.get(case.id, ""), name, why or ("" if text else "nothing was written"))
        for case, why in zip(cases, reasons, strict=True)
    ]


def _baselines(generator: Generator, cases: Sequence[Case], requested: bool) -> list[Generated]:
    return _constants(generator, cases) if requested else []


def system_name(generator: Generator, settings: GenerateSettings) -> str:
    """Source, register and choice in words."""
    source = {"network": "network", "retrieval": "retrieval", "both": "network and retrieval"}[settings.source]
    lay = ", lay" if generator.settings.register == "lay" else ""
    if settings.choose == "first":
        return f"{source}{lay}"
    return f"{source}{lay}, {settings.choose}" + (f" {settings.gain}" if settings.choose == "expected" else "")


def best_constants(
    generator: Generator,
    cases: Sequence[Case],
    *,
    settings: GenerateSettings,
    reading: Readings | None = None,
    progress: Progress | None = None,
) -> list[Generated]:
    """Two systems that look at no picture: the training report that gains most, and the best text of the pool.

    Args:
        generator: From `load_generator`.
        cases: Studies.
        settings: Whose gain and seed count; the same as those of the generator that is to beat them.
        reading: Shared readings.
        progress: Told while reports are compared.
    """
    expected = expected_of(
        generator, _consensus(generator, settings, reading), seed=settings.seed, progress=progress
    )
    names = constant_names(settings.gain)
    texts = dict(zip(names, (expected.constant, expected.fixed), strict=True))
    return [Generated(case.id, text, name) for name, text in texts.items() for case in cases]


def constant_names(gain: str) -> tuple[str, str]:
    """Names of the two systems of `best_constants`."""
    more = "or sentence" if gain in SINGLE else "and a sentence"
    return f"best constant, {gain}", f"best constant {more}, {gain}"


def write_candidates(
    path: Path | str, rows: Sequence[Generated], *, about: Mapping[str, Any], replace: bool = False
) -> None:
    """Write id, system, candidate and reason, and beside them how they came about.

    Args:
        path: A .jsonl or .csv file.
        rows: From `generate`.
        about: For the second file.
        replace: Whether a file that is there may be replaced.
    """
    file = Path(path)
    check_candidates_path(file, replace=replace)
    records = [{"id": r.id, "system": r.system, "candidate": r.candidate, "reason": r.reason} for r in rows]
    with replacing(file) as beside, beside.open("w", encoding="utf-8", newline="") as stream:
        if file.suffix == ".jsonl":
            stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        else:
            writer = csv.DictWriter(stream, ["id", "system", "candidate", "reason"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
    header = {"radgauge": radgauge.__version__, **about}
    write_file(file.with_name(f"{file.name}.about.json"), json.dumps(header, ensure_ascii=False, indent=1) + "\n")


def check_candidates_path(path: Path, *, replace: bool) -> None:
    """Check that candidates can be written there, before the work and not after it."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"candidates are written as {' or '.join(ENDINGS)}, got {path.name!r}")
    check_folder(path)
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; choose another name, or replace it with replace=True")


def _image_columns(table: Path) -> list[str]:
    """Columns of files; none where the table is a corpus with a form of its own."""
    try:
        table_rows = read_table(table)
    except InputError:
        return []
    sample = {
        name: [record.values.get(name) for record in table_rows.records[:SAMPLE]] for name in table_rows.columns
    }
    return [name for name in table_rows.columns if looks_like_files(sample[name])]


def _usual_source(generator: Generator) -> Source:
    return "network" if generator.settings.kind == "network" else "retrieval"


def _picked(
    generator: Generator,
    pools: Sequence[Sequence[str]],
    near: Any,
    settings: GenerateSettings,
    reading: Readings | None,
    progress: Progress | None,
) -> list[str]:
    if settings.choose != "consensus":
        return [pool[1 if settings.choose == "drawn" else 0] for pool in pools]
    consensus = _consensus(generator, settings, reading)
    picked = []
    for number, (pool, order) in enumerate(zip(pools, near, strict=True), start=1):
        distinct = list(dict.fromkeys(text for text in pool if text.strip()))
        others = [generator.reports[at] for at in order]
        shown = [] if settings.source == "network" else [without_masked(text) for text in others]
        own = [shown.index(text) if text in shown else -1 for text in distinct]  # not asked about themselves
        picked.append(distinct[consensus.choose(distinct, others, own=own)] if distinct else "")
        if progress is not None:
            progress("consensus", number, len(pools))
    return picked


def _consensus(generator: Generator, settings: GenerateSettings, reading: Readings | None) -> Consensus:
    lay = generator.settings.register == "lay"
    gain: Gain = settings.gain if settings.gain != "auto" else ("semantics" if lay else "both")
    return shared_consensus(gain, reading or Readings())


def _constants(generator: Generator, cases: Sequence[Case]) -> list[Generated]:
    """The constant baselines, the most frequent report counted among the training reports."""
    corpus = [Case(name, "", (text,)) for name, text in zip(generator.ids, generator.reports, strict=True)]
    rows = constant_baselines([replace(case, references=()) for case in cases], corpus=corpus)
    texts = [row.candidate for row in rows]
    if generator.settings.register == "lay":  # the template is professional; the training reports are lay already
        training_reports = set(generator.reports)
        texts = [
            text if text in training_reports else lay for text, lay in zip(texts, lay_texts(texts), strict=True)
        ]
    return [Generated(row.id, text, row.system) for row, text in zip(rows, texts, strict=True)]
