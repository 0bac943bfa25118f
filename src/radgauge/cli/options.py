"""Options in groups: each group is defined once here and attached to the verbs that have it.

A group is a frozen dataclass whose fields are options. A verb takes it as one parameter; `command` spells it out
for typer as single options and puts it together again before the verb runs. An instance as the default of the
parameter gives the verb defaults of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from radgauge.choices import CorrelationMethod, Missing, Section, ValueMethod

if TYPE_CHECKING:
    from radgauge.cases import Case
    from radgauge.io.case_files import CaseFile
    from radgauge.io.judgments import Judgments
    from radgauge.llm import Limits
    from radgauge.metric import Metric
    from radgauge.reading import Progress, Readings
    from radgauge.scores import Results
    from radgauge.stats.resampling import Resampling

M = TypeVar("M", bound="Metric")
Verb = TypeVar("Verb", bound=Callable[..., None])
HELP_NAMES = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="radgauge",
    help="Measure machine-written radiology reports, offline by default.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


def command(place: typer.Typer, name: str) -> Callable[[Verb], Verb]:
    """Add a function to an app as a command; parameters that are groups become their options."""

    def add(function: Verb) -> Verb:
        hints = get_type_hints(function, include_extras=True)
        flat: list[inspect.Parameter] = []
        groups: dict[str, type[Any]] = {}
        for parameter in inspect.signature(function).parameters.values():
            kind = hints[parameter.name]
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                groups[parameter.name] = kind
                flat += _options(kind, None if parameter.default is parameter.empty else parameter.default)
            else:
                flat.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind))

        @functools.wraps(function)
        def run(**values: Any) -> None:
            from radgauge.show.progress import silence

            made = {
                group: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
                for group, kind in groups.items()
            }
            with silence(any(getattr(group, "quiet", False) for group in made.values())):
                function(**values, **made)

        del run.__wrapped__  # or inspect would look through to the groups
        run.__dict__["__signature__"] = inspect.Signature(flat)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        place.command(name)(run)
        return function

    return add


def _options(group: Any, given: object | None) -> Iterator[inspect.Parameter]:
    hints = _hints(group)
    for field in dataclasses.fields(group):
        default = field.default if given is None else getattr(given, field.name)
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is dataclasses.MISSING else default,
            annotation=hints[field.name],
        )


@functools.cache
def _hints(group: Any) -> Mapping[str, Any]:
    return get_type_hints(group, include_extras=True)


def subjects(name: str, about: str) -> typer.Typer:
    """A verb that has subjects: `radgauge fit radcliq`."""
    verb = typer.Typer(help=about, no_args_is_help=True, context_settings=HELP_NAMES)
    app.add_typer(verb, name=name)
    return verb


AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes; only the result.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all resampling.")]
LONGEST = 200_000  # as radgauge.scores.LONGEST, which would cost the start of every verb; a test holds them equal
Level = Annotated[float, typer.Option("--level", min=0.5, max=0.999, help="Coverage of the intervals.")]
Models = Annotated[
    str, typer.Option("--models", help="'embedded' (offline), 'published', or a folder with checkpoints.")
]
AllColumns = Annotated[bool, typer.Option("--all-columns", help="Every output, not only headlines.")]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", "-b", help="System to compare the others with, or older scores (a file)."),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Folds = Annotated[
    int | None, typer.Option("--folds", help="Parts for cross-validation; without it, leave one study out.")
]
Lexicon = Annotated[
    Path | None, typer.Option("--lexicon", help="Concepts of your own (TOML), merged over the built-in ones.")
]
OneReport = Annotated[
    Path | None, typer.Argument(help="A text file with one report; '-' or nothing reads standard input.")
]
Permutations = Annotated[int, typer.Option("--permutations", min=1, help="Behind each p value.")]
ReportTable = Annotated[Path, typer.Argument(help="Reports with id and reference (or report), as for `score`.")]
CandidateColumns = Annotated[
    str | None,
    typer.Option(
        "--candidate-columns", help="Wide files: the columns that hold one system each, comma-separated."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Name columns yourself: id=uid,reference=gt_report,candidate=output."),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the files, if not UTF-8 (for instance latin-1).")
]
Split = Annotated[
    str | None, typer.Option("--split", help="Only these splits of the references: train, val or test; train,val.")
]


@dataclass(frozen=True, kw_only=True)
class ImageFolder:
    """Where the images of the reports are."""

    images: Annotated[
        Path | None, typer.Option("--images", help="Folder that the image paths of the input are relative to.")
    ] = None
    images_outside: Annotated[
        bool,
        typer.Option(
            "--images-outside", help="Let the input name images outside that folder (absolute paths, or ..)."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ReportForm:
    """How a table of reports is read."""

    columns: Columns = None
    section: Annotated[Section | None, typer.Option("--section", help="Judge one part of the reports.")] = None
    encoding: Encoding = None

    @property
    def roles(self) -> Mapping[str, Sequence[str]] | None:
        """Role -> column."""
        return roles(self.columns)

    def references(self, path: Path, *, split: str | None = None, pictures: ImageFolder | None = None) -> CaseFile:
        """The references of a file."""
        from radgauge.io.case_files import read_references

        return read_references(
            path,
            section=self.section,
            columns=self.roles,
            encoding=self.encoding,
            split=split,
            images=pictures.images if pictures else None,
            images_outside=pictures is not None and pictures.images_outside,
        )

    def originals(
        self, path: Path, *, split: str | None = None, pictures: ImageFolder | None = None
    ) -> dict[str, Case]:
        """One case per study: files with several systems repeat their references."""
        from radgauge.errors import InputError

        found: dict[str, Case] = {}
        for case in self.references(path, split=split, pictures=pictures).cases:
            if not case.references or not case.references[0].strip():
                continue
            known = found.setdefault(case.id, case)
            if known.references[0] != case.references[0]:
                raise InputError(
                    f"{path.name}: a study must have one reference, but those of id {case.id!r} differ"
                )
        if not found:
            raise InputError(f"{path.name}: no report with text")
        return found


@dataclass(frozen=True, kw_only=True)
class CaseForm(ImageFolder, ReportForm):
    """Where cases come from, but for the first file."""

    reference_file: Annotated[
        Path | None, typer.Option("--references", "-r", help="References in a file of their own, joined on id.")
    ] = None
    candidates: Annotated[
        list[Path] | None,
        typer.Option(
            "--candidates", "-c", help="A file of candidates, named after its system; or SYSTEM=FILE. Repeatable."
        ),
    ] = None
    candidate_columns: CandidateColumns = None
    missing: Annotated[
        Missing,
        typer.Option(
            "--missing",
            help="Studies without a candidate: 'error'; 'nan' keeps them unjudged; "
            "'subset' leaves out those that no system has reported.",
        ),
    ] = "error"
    split: Split = None
    one_view: Annotated[
        bool,
        typer.Option(
            "--one-view",
            help="Several reports or images of a study: take that of the AP or PA view, at random if there are "
            "several (column ViewPosition, or MIMIC's metadata table beside the file).",
        ),
    ] = False
    view_seed: Annotated[int, typer.Option("--view-seed", help="Decides among several views.")] = 0

    def read(self, reports: Sequence[Path] | None) -> CaseFile:
        """The cases that the options describe."""
        from radgauge.cli.stdin import standing_in
        from radgauge.errors import UsageError
        from radgauge.io.case_files import read_cases

        candidates = self.candidates
        if self.reference_file is not None:  # then files without an option are candidates too
            candidates, reports = [*(candidates or []), *(reports or [])], None
        if len(reports or []) > 1:
            raise UsageError(
                "one file of reports at a time; for one file per system use --references R --candidates A ..."
            )
        if not reports and self.reference_file is None:
            raise UsageError(
                "no reports given: name a file, or use --references R --candidates A [--candidates B]"
            )
        if self.reference_file is not None and not candidates:
            raise UsageError("--references needs at least one --candidates file")
        with standing_in(reports[0] if reports else None) as file, standing_in(self.reference_file) as references:
            return read_cases(
                file,
                references=references,
                candidates=_systems(candidates),
                candidate_columns=names(self.candidate_columns),
                columns=self.roles,
                section=self.section,
                encoding=self.encoding,
                missing=self.missing,
                split=self.split,
                images=self.images,
                images_outside=self.images_outside,
                one_view=self.one_view,
                view_seed=self.view_seed,
            )


@dataclass(frozen=True, kw_only=True)
class CaseSource(CaseForm):
    """Where cases come from."""

    reports: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports with id, reference and candidate (CSV, TSV, JSON, Parquet, Excel, .gz; - = stdin); "
            "with --references, files of candidates."
        ),
    ] = None

    def cases(self) -> CaseFile:
        """The cases."""
        return self.read(self.reports)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What cases are judged with."""

    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="A metric of `radgauge ls`, with settings: bleu:variant=cxr; or bleu,rouge. Repeatable.",
        ),
    ] = None
    models: Models = "embedded"
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Fetch what --models published needs without asking.")
    ] = False

    def score(self, cases: Sequence[Case], reading: Readings, *, longest: int | None = None) -> Results:
        """Scores of the cases."""
        from radgauge.scores import LONGEST, score

        if self.models == "published":
            from radgauge.cli.downloads import agree

            agree(self.metric, yes=self.yes)
        most = LONGEST if longest is None else longest
        return score(cases, self.metric or None, reading=reading, models=self.models, longest=most)


@dataclass(frozen=True, kw_only=True)
class Baselines:
    """Systems that look at no image, beside the real ones."""

    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Add a constant normal template and the most frequent report."),
    ] = False

    def added(self, cases: Sequence[Case]) -> Sequence[Case]:
        """The cases, and those of the baselines if they are wanted."""
        if not self.baselines:
            return cases
        from radgauge.studies.baselines import constant_baselines

        return [*cases, *constant_baselines(cases)]


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """Scores that others made of the same cases."""

    foreign: Annotated[
        list[str] | None,
        typer.Option("--scores", help="Values of another judge: FILE:higher, FILE:lower:COLUMN. Repeatable."),
    ] = None

    def joined(self, results: Results) -> Results:
        """The results with these judges."""
        from radgauge.io.foreign_scores import join_scores, parse_scores

        for text in self.foreign or ():
            path, higher, column = parse_scores(text)
            results = join_scores(results, path, higher_is_better=higher, column=column)
        return results


@dataclass(frozen=True, kw_only=True)
class JudgmentSource:
    """Where judgments of people come from."""

    judgments: Annotated[
        Path | None,
        typer.Option("--judgments", "-j", help="ReXVal or RadEvalX folder, RadPref JSON, a study, or a table."),
    ] = None
    format: Annotated[
        str | None, typer.Option("--format", help="Form of the judgments, if the path does not tell.")
    ] = None
    rater_columns: Annotated[
        str | None,
        typer.Option("--rater-columns", help="Columns of a table that hold one rater's values each: a,b,c."),
    ] = None

    def read(self) -> Judgments:
        """The judgments."""
        from radgauge.errors import UsageError
        from radgauge.io.judgments import read_judgments

        if self.judgments is None:
            raise UsageError("no judgments given: use --judgments with a ReXVal or RadEvalX folder, or a file")
        return read_judgments(self.judgments, format=self.format, raters=names(self.rater_columns))


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How intervals and tests draw."""

    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 = no intervals.")
    ] = 1000
    level: Level = 0.95
    seed: Seed = 0

    def record(self, *, method: ValueMethod | CorrelationMethod = "auto", least: int = 0) -> Resampling:
        """The same for the library, with some resamples where there must be some."""
        from radgauge.stats.resampling import Resampling

        return Resampling(self.level, max(self.resamples, least), method, self.seed)


@dataclass(frozen=True, kw_only=True)
class Intervals(Sampling):
    """How intervals and tests draw, with the choice of the interval."""

    interval: Annotated[
        ValueMethod,
        typer.Option(
            "--interval",
            help="auto: wilson, t or percentile, by what holds; yu2022: as that paper, far too narrow.",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a verb says."""

    as_json: AsJson = False
    quiet: Quiet = False

    def progress(self, doing: str = "reading") -> Progress | None:
        """A progress bar on stderr, where someone looks."""
        from radgauge.cli.progress import bars

        return None if self.quiet else bars(doing)

    def notes(self, *notes: str) -> None:
        """What a reader should know, on stderr."""
        self.tell(*(f"note: {note}" for note in notes))

    def tell(self, *sentences: str) -> None:
        """Messages on stderr."""
        from radgauge.cli.flags import in_flags
        from radgauge.show.terminal import console

        if not self.quiet and sentences:
            console(stderr=True).say(*map(in_flags, sentences))


@dataclass(frozen=True, kw_only=True)
class ReadingOutput(Output):
    """What a verb that reads reports says, and whether it keeps what it read."""

    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor write the reading cache.")] = False

    def readings(self) -> Readings:
        """Readings with the user's cache."""
        from radgauge.cache import Cache
        from radgauge.cli.resume import keeps
        from radgauge.reading import Readings

        cache = None if self.no_cache else Cache()
        if cache is not None:
            keeps(lambda: cache.used > 0)
        return Readings(cache=cache)


_PANEL = "Language model"


@dataclass(frozen=True, kw_only=True)
class ServerLimits:
    """How fast a language-model server is asked, and what that may cost."""

    parallel: Annotated[
        int, typer.Option("--parallel", min=1, max=1000, help="Requests at the same time.", rich_help_panel=_PANEL)
    ] = 4
    requests_per_minute: Annotated[
        int, typer.Option("--requests-per-minute", min=0, help="0 = no limit.", rich_help_panel=_PANEL)
    ] = 0
    tokens_per_minute: Annotated[
        int, typer.Option("--tokens-per-minute", min=0, help="0 = no limit.", rich_help_panel=_PANEL)
    ] = 0
    price_in: Annotated[
        float,
        typer.Option("--price-in", min=0, help="Price of a million tokens of question.", rich_help_panel=_PANEL),
    ] = 0.0
    price_out: Annotated[
        float,
        typer.Option("--price-out", min=0, help="Price of a million tokens of answer.", rich_help_panel=_PANEL),
    ] = 0.0
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0,
            help="Ask nothing that could cost more than this in all; earlier runs on the same journal count.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", help="Seconds from a question to the end of its answer.", rich_help_panel=_PANEL
        ),
    ] = 120.0

    def limits(self) -> Limits:
        """What a run must stay within."""
        from radgauge.llm import Limits

        return Limits(
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            price_in=self.price_in,
            price_out=self.price_out,
            max_cost=self.max_cost,
            timeout=self.timeout,
        )


@dataclass(frozen=True, kw_only=True)
class Server(ServerLimits):
    """How a language-model server is asked about sentences."""

    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Sentences per request.", rich_help_panel=_PANEL)
    ] = 20
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Ask again for sentences that an earlier run gave up.", rich_help_panel=_PANEL
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class JudgeServer(ServerLimits):
    """Which language-model server judges, for the metric `llm_errors`."""

    llm_url: Annotated[
        str | None,
        typer.Option(
            "--llm-url",
            help="Server that judges for llm_errors: http://127.0.0.1:8080/v1; else RADGAUGE_LLM_URL.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    llm_model: Annotated[
        str | None,
        typer.Option("--llm-model", help="Its model; else RADGAUGE_LLM_MODEL.", rich_help_panel=_PANEL),
    ] = None
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            help="File of its answers, which are paid for once; else one in the cache folder.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def session(self, say: ReadingOutput) -> AbstractContextManager[None]:
        """A block in which the server is asked; nothing happens unless a metric asks."""
        from radgauge.cli.language_model import judge_session

        return judge_session(self, say)


@dataclass(frozen=True, kw_only=True)
class Judging(JudgeServer, Judged):
    """What cases are judged with, a language-model server among it."""

    def told(
        self, cases: Sequence[Case], reading: Readings, *, say: ReadingOutput, longest: int | None = None
    ) -> Results:
        """Scores of the cases; what a language model took for them is said."""
        with self.session(say):
            results = self.score(cases, reading, longest=longest)
        say.notes(*account_notes(results.header.get("accounts", {})))
        return results


def roles(columns: str | None) -> Mapping[str, Sequence[str]] | None:
    """Role -> column, as `--columns` spells it."""
    from radgauge.io.tables.columns import parse_columns

    return parse_columns(columns) if columns else None


def names(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _systems(files: Sequence[Path] | None) -> dict[str, Path] | None:
    """System -> file, from FILE and SYSTEM=FILE."""
    from radgauge.io.case_files import system_files

    if files is None:
        return None
    named = [str(file).partition("=") if not file.exists() else ("", "", str(file)) for file in files]
    return system_files([(name, Path(file)) if sign else Path(name or file) for name, sign, file in named])


def chosen_metric(spec: str, kind: type[M], *, models: str) -> M:
    """The metric that `--metric` describes, which must be of one kind."""
    from radgauge.errors import UsageError
    from radgauge.registry import load

    metric = load(spec, models=models)
    if not isinstance(metric, kind):
        raise UsageError(f"--metric must be {kind.name} with settings, got {spec!r}")
    return metric


def report_text(path: Path | None, text: str | None = None) -> str:
    """One report: a text that was given, a file, or standard input."""
    import sys

    from radgauge.errors import InputError, UsageError
    from radgauge.io.tables.sources import FORMATS

    if text is not None:
        if path is not None:
            raise UsageError("give a file or --text, not both")
        return text
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


def print_json(value: object) -> None:
    """JSON for machines on stdout."""
    typer.echo(to_json(value))


def to_json(value: object) -> str:
    """JSON for machines: dataclasses as objects, NaN as null; escapes where stdout takes no Unicode."""
    import json
    import sys

    escaped = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return json.dumps(_jsonable(value), ensure_ascii=escaped, indent=1, allow_nan=False)


def _jsonable(value: object) -> object:
    import math

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


def few_cases_note(number: int, unit: str = "cases") -> list[str]:
    """A warning if the intervals rest on so few units that none of the methods is sure to hold."""
    from radgauge.stats.resample import FEW, LEAST

    if number >= FEW or not number:
        return []
    if number < LEAST:
        return [f"{number} {unit}: an interval needs at least {LEAST} (docs/intervals.md)"]
    return [f"{number} {unit}: with fewer than {FEW}, intervals can cover less than they say (docs/intervals.md)"]


def confidence_notes(results: Results) -> list[str]:
    """How many cases the embedded judge hardly understood."""
    notes = []
    for scores in results.values():
        if "errors_low_confidence" in scores.columns:
            low = scores.column("errors_low_confidence")
            if count := int((low == 1).sum()):
                notes.append(
                    f"{scores.judge}: {count} of {len(low)} cases are judged with low confidence, much of their "
                    f"texts was not understood (errors:low_confidence=skip leaves them out)"
                )
    return notes


def account_notes(accounts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What a language model took, and how its judgments went, by judge."""
    if not accounts:
        return []
    from radgauge.metrics.llm_errors.accounts import account_text

    return [account_text(judge, account) for judge, account in accounts.items()]


def typical_notes(results: Results) -> list[str]:
    """Where the scores of metrics without bounds usually lie, if their signatures say so."""
    notes = []
    for scores in results.values():
        parts = dict(part.partition(":")[::2] for part in scores.signature.split("|"))
        low, sign, high = parts.get("typical", "").partition("..")
        if sign:
            notes.append(f"{scores.columns[0]} predicts {parts['predicts']}; usually it lies in {low} to {high}")
    return notes


def profile_note(results: Results) -> list[str]:
    """Said once per run: embedded parts give numbers of their own."""
    embedded = [column for scores in results.values() for column in scores.columns if column.endswith("_embedded")]
    if not embedded:
        return []
    return [
        "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
        "published numbers (--models published uses the authors' checkpoints)"
    ]
