"""Options that several verbs share: settings records of the library, groups, and what a verb says.

`commands` says how a record becomes one option and a group becomes several.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from radgauge.cli.commands import app as app
from radgauge.cli.commands import command as command
from radgauge.cli.commands import configured as configured
from radgauge.cli.commands import program as program
from radgauge.cli.commands import subjects as subjects
from radgauge.cli.exit_codes import USAGE
from radgauge.cli.language_model import LlmSettings as LlmSettings
from radgauge.cli.language_model import judge_session as judge_session
from radgauge.cli.lines import echo
from radgauge.cli.result_notes import account_notes as account_notes
from radgauge.cli.result_notes import few_cases_note as few_cases_note
from radgauge.cli.result_notes import profile_note as profile_note
from radgauge.core.choices import Correction, Duplicates, EngineName, Missing, NoRow, Section
from radgauge.core.errors import InputError, UsageError
from radgauge.stats.resampling import Resampling as Resampling

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.core.metric import Metric
    from radgauge.core.readings import Progress, Readings
    from radgauge.core.scores import Results
    from radgauge.io.case_files import CaseFile, InputSpec
    from radgauge.io.judgments import Judgments
    from radgauge.render.tables import Table
    from radgauge.run.executors import Engine

Block: TypeAlias = "Table | tuple[Table, ...] | str"
"""A part of a result for display: a table (of several, the first that fits the terminal) or a sentence."""
MAX_LENGTH = 200_000


# Results, in every format, on stdout or in files.


def to_json(value: object) -> str:
    """Return JSON for machines: dataclasses as objects, NaN as null; escapes where stdout takes no Unicode."""
    escaped = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return json.dumps(_jsonable(value), ensure_ascii=escaped, indent=1, allow_nan=False)


def _jsonable(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)


# Ask before downloading: which checkpoints a run with published models needs and does not find.


def confirm_downloads(metrics: Sequence[str] | None, *, models: str, yes: bool = False) -> None:
    """Ask before anything is downloaded: the checkpoints that the metrics need with their settings.

    Args:
        metrics: Specifications; None = the defaults.
        models: Profile of metrics that name none.
        yes: The user has agreed already.
    """
    from radgauge.core.errors import MissingModel
    from radgauge.core.registry import DEFAULTS, load, specs
    from radgauge.encoders.checkpoints.catalogue import find, hub_cache, models_dir, needed_by, offline

    listed_metrics = [spec for entry in metrics or DEFAULTS for spec in specs(entry)]
    if models == "embedded" and not any(":" in spec for spec in listed_metrics):
        return
    shipped = [spec for spec in listed_metrics if ".py:" not in spec]  # loading a file would run it
    needed = {
        checkpoint.name: checkpoint for spec in shipped for checkpoint in needed_by(load(spec, models=models))
    }
    missing = [checkpoint for checkpoint in needed.values() if find(checkpoint) is None]
    if not missing:
        return
    listed = ", ".join(f"{checkpoint.name} ({checkpoint.megabytes or '?'} MB)" for checkpoint in missing)
    if offline():
        raise MissingModel(
            f"{len(missing)} checkpoints are not on this machine and RADGAUGE_OFFLINE forbids fetching them: "
            f"{listed}; looked for in {models_dir()} ($RADGAUGE_MODELS), in the hub's cache {hub_cache()}, in the "
            "caches of the authors' packages (`radgauge models list --places` shows every place)"
        )
    megabytes = f"{sum(checkpoint.megabytes for checkpoint in missing)} MB"
    if not all(checkpoint.megabytes for checkpoint in missing):
        megabytes += " and more"
    plan = f"{len(missing)} checkpoints will be fetched into {models_dir()}, {megabytes}: {listed}"
    if yes or program().yes:
        echo(f"radgauge: {plan}", err=True)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{plan}; to agree, add --yes (or `radgauge models fetch` them first)")
    elif not typer.confirm(f"{plan}. Go on?", err=True):
        raise typer.Exit(USAGE)


M = TypeVar("M", bound="Metric")

Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
Level = Annotated[float, typer.Option("--level", min=0.5, max=0.999, help="Coverage of the intervals.")]
Models = Annotated[str, "'embedded' (offline), 'published', or a folder with checkpoints."]
AllColumns = Annotated[bool, typer.Option("--all", help="Every output, not only headlines.")]
Device = Annotated[str, "auto, cpu or cuda."]
Folds = Annotated[int | None, "Parts for cross-validation; without it, leave one study out."]
Lexicon = Annotated[Path | None, "Concepts of your own (TOML), merged over the built-in ones."]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=0, help="Processes that share the work; 0 = one per core.")
]
OneReport = Annotated[
    Path | None, typer.Argument(help="A text file with one report; '-' or nothing reads standard input.")
]
ScoresFile = Annotated[
    Path, typer.Argument(help="Scores of `radgauge score -o`: a file, a folder of parts, or a URL.")
]
ReportTable = Annotated[Path, typer.Argument(help="Reports with id and reference (or report), as for `score`.")]
JudgmentFile = Annotated[
    Path, typer.Argument(help="Judgments: ReXVal or RadEvalX folder, RadPref JSON, a study, or a table.")
]
Join = Annotated[list[str] | None, "Values of another judge: FILE:higher, FILE:lower:COLUMN. Repeatable."]
Outputs = Annotated[list[Path] | None, "-o", "Also write the result: .json, .csv, .md or .tex. Repeatable."]
ImageFolder = Annotated[Path | None, "Folder that the image paths of the input are relative to."]
Columns = Annotated[str | None, "Name columns yourself: id=uid,reference=gt_report,candidate=output."]
SectionName = Annotated[Section | None, "Judge one part of the reports."]
Sampling = Annotated[Resampling, "Intervals"]
"""The parameter of a verb that has it is called `sampling`."""
NO_LLM = LlmSettings()
Llm = Annotated[LlmSettings, "Language-model server"]
"""The parameter of a verb that has it is called `llm`."""


@dataclass(frozen=True, slots=True)
class Testing(Resampling):
    """Bootstrap settings and those of paired tests."""

    permutations: Annotated[int, "Number of permutations per test."] = 10_000
    correction: Annotated[Correction, "Multiple-testing correction."] = "holm"


Tests = Annotated[Testing, "Intervals and tests"]


@dataclass(frozen=True, slots=True)
class TableSettings:
    """Options for reading a table of reports, beyond its columns."""

    split: Annotated[str | None, "Only these splits of the references: train, val or test; train,val."] = None
    encoding: Annotated[str | None, "Encoding of the files, if not UTF-8 (for instance latin-1)."] = None
    images_outside: Annotated[bool, "Let the input name images outside --images (absolute paths, or ..)."] = False


@dataclass(frozen=True, slots=True)
class CaseSettings(TableSettings):
    """Options for reading cases and choosing those to judge."""

    missing: Annotated[
        Missing,
        "Studies without a candidate: error; nan keeps them unjudged; subset leaves out those that no system has.",
    ] = "error"
    one_view: Annotated[
        bool,
        "Several reports or images of a study: take that of the AP or PA view, at random if there are several "
        "(column ViewPosition, or MIMIC's metadata table next to the file).",
    ] = False
    view_seed: Annotated[int, "Decides among several views."] = 0
    sheet: Annotated[str, "Sheet of a workbook: its name or number; else the one that holds reports."] = ""
    header_row: Annotated[int, "Row of the header, where it is not found by itself."] = 0
    duplicates: Annotated[Duplicates, "Rows that repeat an id: keep the first or the last of each."] = "error"
    keep_columns: Annotated[
        tuple[str, ...],
        "Further columns to keep (a+b+c, or all); age, modality, section, ... are kept anyway.",
    ] = ()
    drop_columns: Annotated[tuple[str, ...], "Known columns to leave out: a+b."] = ()
    any_language: Annotated[bool, "Judge texts in other languages, or hardly understood, as well."] = False
    longest: Annotated[int, "Characters of the longest text that is judged; longer: not judged."] = MAX_LENGTH


@dataclass(frozen=True, slots=True)
class RatingSettings:
    """Options for reading judgments."""

    form: Annotated[str | None, "Form of the judgments, if the path does not tell."] = None
    raters: Annotated[tuple[str, ...], "Columns of a table that hold one rater's values each: a+b+c."] = ()
    no_row: Annotated[NoRow, "In a table of error counts, a case without a row: no errors, or unjudged."] = (
        "refuse"
    )


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Engine that scores the parts of a large run."""

    engine: Annotated[EngineName | None, "For output to a folder; ray needs the extra scale."] = None
    address: Annotated[str, "A Ray cluster (auto, HOST:6379); without it Ray is started here."] = ""
    gpus: Annotated[float, "GPUs of each Ray worker."] = 0.0
    parts: Annotated[int, "Parts of an output folder; 0 = one per 4 MB of input."] = 0


def engine(jobs: int | None, cluster: ClusterSettings = ClusterSettings()) -> Engine:
    """Return the engine that the options describe."""
    from radgauge.run.executors import engine_of

    chosen = engine_of(jobs, name=cluster.engine, address=cluster.address)
    if cluster.gpus and chosen.name != "ray":
        raise UsageError("gpus= belongs to engine=ray")
    return replace(chosen, gpus=cluster.gpus)


def joined(results: Results, others: Sequence[str] | None) -> Results:
    """Return the results with the values of other judges."""
    from radgauge.io.foreign_scores import join_scores, parse_scores

    for text in others or ():
        path, higher, column = parse_scores(text)
        results = join_scores(results, path, higher_is_better=higher, column=column)
    return results


def judgments_of(path: Path, form: RatingSettings, *, images: Path | None = None) -> Judgments:
    """Return the judgments, with images from a folder or a table where there is one."""
    from radgauge.io.judgments import read_judgments
    from radgauge.io.judgments.images import with_images

    judgments = read_judgments(path, format=form.form, raters=list(form.raters) or None, no_row=form.no_row)
    return judgments if images is None else with_images(judgments, images)


def with_baselines(cases: Sequence[Case], *, added: bool) -> Sequence[Case]:
    """Return the cases, and those of systems that look at no image if they are requested."""
    if not added:
        return cases
    from radgauge.analysis.baselines import constant_baselines

    return [*cases, *constant_baselines(cases)]


@dataclass(frozen=True)
class Output:
    """Output of a verb: its result on stdout and in files, everything else on stderr."""

    @property
    def as_json(self) -> bool:
        """True if the result is read by a program."""
        return program().format == "json"

    @property
    def quiet(self) -> bool:
        """True if the result alone is shown."""
        return program().quiet

    def show(self, data: object, *blocks: Block, files: Sequence[Path] | None = None) -> None:
        """Print a result in the format that was asked for, and write it to files.

        Args:
            data: The result for machines.
            blocks: The result for display.
            files: Files that it is also written to, each in the format of its suffix.
        """
        from radgauge.core.files import write_file

        for file in files or ():
            write_file(file, self._text(file.suffix.lower().removeprefix("."), data, blocks))
        form = program().format
        if form == "table":
            from radgauge.render.terminal import console

            out = console()
            for block in blocks:
                if isinstance(block, str):
                    out.say(block)
                else:
                    out.show(*block) if isinstance(block, tuple) else out.show(block)
        else:
            typer.echo(self._text(form, data, blocks).rstrip("\n"))
        self.tell(*(f"wrote {file}" for file in files or ()))

    def _text(self, form: str, data: object, blocks: Sequence[Block]) -> str:
        from radgauge.render.tables import FORMATS

        if form == "json":
            return to_json(data) + "\n"
        if (write := FORMATS.get(f".{form}")) is None:
            raise UsageError(f"a result is written as .json, .csv, .md or .tex, got .{form}")
        tables = [
            block[0] if isinstance(block, tuple) else block for block in blocks if not isinstance(block, str)
        ]
        if not tables:
            raise UsageError(f"this result has no table, so none as {form}; use --format json")
        return "\n".join(map(write, tables))

    def progress(self) -> Progress | None:
        """Return the callback of the line that `radgauge.core.progress` draws."""
        from radgauge.core.progress import tell

        return None if self.quiet else tell

    def notes(self, *notes: str) -> None:
        """Show on stderr what a reader should know."""
        self.tell(*(f"note: {note}" for note in notes))

    def tell(self, *sentences: str) -> None:
        """Show messages on stderr."""
        from radgauge.cli.flags import in_flags
        from radgauge.render.terminal import console

        if not self.quiet and sentences:
            console(stderr=True).say(*map(in_flags, sentences))

    def readings(self, *, no_cache: bool = False) -> Readings:
        """Return readings with the user's cache."""
        from radgauge.cli.resume import keeps
        from radgauge.core.cache import Cache
        from radgauge.core.readings import Readings

        cache = None if no_cache or program().no_cache else Cache()
        if cache is not None:
            keeps(lambda: cache.used > 0)
        return Readings(cache=cache)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Metrics that judge the cases, and a language-model server."""

    metric: Annotated[
        list[str] | None,
        "-m",
        "A metric of `radgauge metrics`, with settings: bleu:variant=cxr; or bleu,rouge. Repeatable.",
    ] = None
    models: Models = "embedded"
    llm: Llm = NO_LLM

    def confirmed(self, defaults: Sequence[str] | None = None) -> str:
        """Return the profile, once the user has agreed to what it fetches for these metrics."""
        return confirmed(self.models, self.metric or defaults)

    def check_references(self, file: CaseFile) -> None:
        """Refuse metrics that need a reference before anything is computed, if no case has one."""
        from radgauge.core.registry import DEFAULTS, load, specs

        if not file.cases or any(case.references for case in file.cases):
            return
        chosen = [spec for entry in self.metric or DEFAULTS for spec in specs(entry)]
        needing = [m.name for m in (load(spec, models=self.models) for spec in chosen) if "reference" in m.needs]
        if needing:
            notes = file.provenance.warnings
            why = next((note for note in notes if "no reference column" in note), "no case has a reference")
            raise InputError(f"{', '.join(needing)} cannot judge without references: {why}")

    @contextmanager
    def session(self) -> Iterator[None]:
        """Let metrics ask the server inside this block; nothing happens unless one asks."""
        with judge_session(self.llm):
            yield

    def scores(
        self, cases: Sequence[Case], reading: Readings, *, say: Output, settings: CaseSettings = CaseSettings()
    ) -> Results:
        """Return scores of the cases, and say what a language model took for them."""
        from radgauge.run.score import score

        self.confirmed()
        with self.session():
            results = score(
                cases,
                self.metric or None,
                reading=reading,
                models=self.models,
                longest=settings.longest,
                any_language=settings.any_language,
            )
        say.notes(*account_notes(results.header.get("accounts", {})))
        return results


def confirmed(models: str, metrics: Sequence[str] | None) -> str:
    """Return the profile, once the user has agreed to what it fetches for these metrics."""
    confirm_downloads(metrics, models=models)
    return models


# Where reports and cases come from.


@dataclass(frozen=True, kw_only=True)
class ReportForm:
    """Options for reading a table of reports."""

    columns: Columns = None
    section: SectionName = None
    input: Annotated[TableSettings, "How the table is read"] = TableSettings()

    @property
    def roles(self) -> Mapping[str, Sequence[str]] | None:
        """Role -> column."""
        from radgauge.io.tables.columns import parse_columns

        return parse_columns(self.columns) if self.columns else None

    def references(self, path: Path, *, split: str | None = None, images: Path | None = None) -> CaseFile:
        """Return the references of a file."""
        from radgauge.io.case_files import read_references

        return read_references(
            path,
            section=self.section,
            columns=self.roles,
            encoding=self.input.encoding,
            split=split or self.input.split,
            images=images,
            images_outside=self.input.images_outside,
        )

    def versions(self, path: Path) -> tuple[Case, ...]:
        """Return the cases of a file whose candidates are versions of its references; none without candidates."""
        from radgauge.io.case_files import read_cases

        try:
            table = read_cases(
                path, columns=self.roles, section=self.section, encoding=self.input.encoding, missing="nan"
            )
        except InputError as error:
            if "no candidate column" not in str(error):
                raise
            return ()
        return tuple(case for case in table.cases if case.candidate.strip())

    def originals(self, path: Path, *, images: Path | None = None) -> dict[str, Case]:
        """Return one case per study: files with several systems repeat their references."""
        originals: dict[str, Case] = {}
        for case in self.references(path, images=images).cases:
            if not case.references or not case.references[0].strip():
                continue
            first = originals.setdefault(case.id, case)
            if first.references[0] != case.references[0]:
                raise InputError(
                    f"{path.name}: a study must have one reference, but those of id {case.id!r} differ"
                )
        if not originals:
            raise InputError(f"{path.name}: no report with text")
        return originals


@dataclass(frozen=True, kw_only=True)
class JudgedReports(ReportForm):
    """Reports with candidates: a table, or scores, which know the reports that they judge and how to read them."""

    reports: Annotated[
        Path, typer.Argument(help="Reports with id, reference and candidate; or scores, which know their reports.")
    ]
    images: ImageFolder = None
    input: Annotated[CaseSettings, "How the table is read"] = CaseSettings()

    def cases(self) -> CaseFile:
        """Return the cases."""
        from radgauge.io.case_files import read_cases

        if is_scores(self.reports):
            return reports_behind(read_scores_of(self.reports, "score"), self.reports)
        settings = {field.name: getattr(self.input, field.name) for field in dataclasses.fields(TableSettings)}
        return read_cases(
            self.reports,
            columns=self.roles,
            section=self.section,
            images=self.images,
            missing=self.input.missing,
            one_view=self.input.one_view,
            view_seed=self.input.view_seed,
            **settings,
        )


@dataclass(frozen=True, kw_only=True)
class CaseForm(ReportForm):
    """Source of the cases, but for the first file."""

    candidate_columns: Annotated[
        str | None, "Wide files: the columns that hold one system each, comma-separated."
    ] = None
    references_file: Annotated[
        Path | None, typer.Option("--references", "-r", help="References in a file of their own, joined on id.")
    ] = None
    candidates: Annotated[
        list[Path] | None, "-c", "A file of candidates, named after its system; or SYSTEM=FILE. Repeatable."
    ] = None
    images: ImageFolder = None
    input: Annotated[CaseSettings, "How files are read"] = CaseSettings()

    def spec_of(self, reports: Sequence[Path] | None) -> InputSpec:
        """Return how the files that the options name are read."""
        from radgauge.io.case_files import input_spec

        candidates = self.candidates
        if self.references_file is not None:  # then files without an option are candidates too
            candidates, reports = [*(candidates or []), *(reports or [])], None
        if len(reports or []) > 1:
            raise UsageError(
                "one file of reports at a time; for one file per system use --references R --candidates A ..."
            )
        if not reports and self.references_file is None:
            raise UsageError(
                "no reports given: name a file, or use --references R --candidates A [--candidates B]"
            )
        if self.references_file is not None and not candidates:
            raise UsageError("--references needs at least one --candidates file")
        return input_spec(
            reports[0] if reports else None,
            references=self.references_file,
            candidates=_systems(candidates),
            candidate_columns=names(self.candidate_columns),
            columns=self.roles,
            images=self.images,
            section=self.section,
            encoding=self.input.encoding,
            missing=self.input.missing,
            split=self.input.split,
            images_outside=self.input.images_outside,
            one_view=self.input.one_view,
            view_seed=self.input.view_seed,
            sheet=self.input.sheet,
            header_row=self.input.header_row,
            duplicates=self.input.duplicates,
            keep_columns=self.input.keep_columns,
            drop_columns=self.input.drop_columns,
        )

    def read(self, reports: Sequence[Path] | None) -> CaseFile:
        """Return the cases that the options describe."""
        from radgauge.cli.stdin import standing_in
        from radgauge.io.case_files import read_input

        spec = self.spec_of(reports)
        files = (spec.reports, spec.references, *spec.candidates.values())
        if [str(file) for file in files].count("-") > 1:
            raise UsageError("standard input (-) can be one file only")
        if Path("-") not in files:
            return read_input(spec)
        with standing_in(Path("-")) as piped:

            def here(file: Path | None) -> Path | None:
                return piped if file == Path("-") else file

            candidates = {system: here(file) or file for system, file in spec.candidates.items()}
            file = read_input(
                replace(spec, reports=here(spec.reports), references=here(spec.references), candidates=candidates)
            )
        return replace(file, provenance=replace(file.provenance, spec=None))  # nobody can read it again


@dataclass(frozen=True, kw_only=True)
class CaseSource(CaseForm):
    """Source of the cases: one file, or references and candidates in files of their own."""

    reports: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports with id, reference and candidate (CSV, TSV, JSON, Parquet, Excel, .gz; - = stdin); "
            "with --references, files of candidates."
        ),
    ] = None

    def spec(self) -> InputSpec:
        """Return how the files are read."""
        return self.spec_of(self.reports)

    def cases(self) -> CaseFile:
        """Return the cases."""
        return self.read(self.reports)


def _systems(files: Sequence[Path] | None) -> dict[str, Path] | None:
    """Return system -> file, from FILE and SYSTEM=FILE."""
    from radgauge.core.storage import url_of
    from radgauge.io.case_files import system_files

    if files is None:
        return None
    files = [Path("stdin=-") if str(file) == "-" else file for file in files]
    complete = [file.exists() or url_of(file) is not None for file in files]
    named = [
        ("", "", str(file)) if one else str(file).partition("=") for file, one in zip(files, complete, strict=True)
    ]
    return system_files([(name, Path(file)) if sign else Path(name or file) for name, sign, file in named])


def names(text: str | None) -> list[str] | None:
    """Return names separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def reports_behind(results: Results, scores: Path, *, moved: Sequence[Path] = ()) -> CaseFile:
    """Return the reports that scores judge, read as they were when they were scored."""
    from radgauge.io.case_files import read_again

    return read_again(
        results.header.get("input") or {}, folder=scores if scores.is_dir() else scores.parent, moved=moved
    )


def is_scores(path: Path | str | None) -> bool:
    """True if a path, not a name, leads to a scores file or a folder of scores."""
    from radgauge.io.scores_file import is_scores_file

    return path is not None and Path(path).exists() and is_scores_file(Path(path))


def read_scores_of(path: Path, verb: str) -> Results:
    """The scores of a file or URL; for a file of reports, the command that makes scores of it."""
    from radgauge.cli.copies import local
    from radgauge.io.scores_file import read_scores

    here = local(path)
    if here.is_file() and not is_scores(here):
        raise UsageError(
            f"{path.name} holds no scores; score it first:\n  radgauge score {path} -o scores.jsonl\n"
            f"  radgauge {verb} scores.jsonl"
        )
    return read_scores(here)


def chosen_metric(spec: str, kind: type[M], *, models: str) -> M:
    """The metric that `--metric` describes, which must be of one kind."""
    from radgauge.core.registry import load

    metric = load(spec, models=models)
    if not isinstance(metric, kind):
        raise UsageError(f"--metric must be {kind.name} with settings, got {spec!r}")
    return metric


def report_text(path: Path | None) -> str:
    """One report: a text that was given, a file, or standard input."""
    from radgauge.io.tables.sources import FORMATS

    if path is None or str(path) == "-":
        return sys.stdin.read()
    if len(str(path).split()) > 2 and not path.exists():  # a report, which messages do not repeat
        raise UsageError("a report itself was given where its file belongs; write it to standard input")
    if FORMATS.get(path.suffix.lower(), "txt") != "txt" and path.is_file():
        raise InputError(f"{path} is a table; give one report, as text in a file or on standard input")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); convert it first"
        ) from None
