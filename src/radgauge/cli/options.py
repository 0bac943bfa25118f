"""Options in groups: each group is defined once and attached to the verbs that have it (see `commands`).

Here are the groups of what is judged, with what, how intervals are drawn and what is said; verbs reach everything
that a command line needs from here.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from radgauge.cli.case_options import CandidateColumns as CandidateColumns
from radgauge.cli.case_options import CaseForm as CaseForm
from radgauge.cli.case_options import CaseSource as CaseSource
from radgauge.cli.case_options import Columns as Columns
from radgauge.cli.case_options import Encoding as Encoding
from radgauge.cli.case_options import ImageFolder as ImageFolder
from radgauge.cli.case_options import ReportForm as ReportForm
from radgauge.cli.case_options import Split as Split
from radgauge.cli.case_options import names as names
from radgauge.cli.case_options import roles as roles
from radgauge.cli.commands import app as app
from radgauge.cli.commands import command as command
from radgauge.cli.commands import subjects as subjects
from radgauge.cli.exit_codes import USAGE
from radgauge.cli.lines import echo
from radgauge.cli.result_notes import account_notes as account_notes
from radgauge.cli.result_notes import few_cases_note as few_cases_note
from radgauge.cli.result_notes import profile_note as profile_note
from radgauge.cli.server_options import JudgeServer as JudgeServer
from radgauge.cli.server_options import ReportServer as ReportServer
from radgauge.cli.server_options import Server as Server
from radgauge.core.choices import RESAMPLES, Correction, CorrelationMethod, NoRow, ValueMethod

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.core.metric import Metric
    from radgauge.core.readings import Progress, Readings
    from radgauge.core.scores import Results
    from radgauge.io.case_files import CaseFile
    from radgauge.io.judgments import Judgments
    from radgauge.stats.resampling import Resampling


# Results as JSON for machines, on standard output.


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


# Ask before downloading: which checkpoints a run with published models needs and does not find.


def confirm_downloads(metrics: Sequence[str] | None, *, models: str, yes: bool) -> None:
    """Ask before anything is downloaded: the checkpoints that the metrics need with their settings.

    Args:
        metrics: Specifications; None = the defaults.
        models: Profile of metrics that name none.
        yes: The user has agreed already.
    """
    from radgauge.core.errors import MissingModel, UsageError
    from radgauge.core.registry import DEFAULTS, load, specs
    from radgauge.encoders.checkpoints.catalogue import find, hub_cache, models_dir, needed_by, offline

    listed_metrics = [spec for each in metrics or DEFAULTS for spec in specs(each)]
    if models == "embedded" and not any(":" in spec for spec in listed_metrics):
        return
    shipped = [spec for spec in listed_metrics if ".py:" not in spec]  # loading a file would run it
    needed = {each.name: each for spec in shipped for each in needed_by(load(spec, models=models))}
    missing = [each for each in needed.values() if find(each) is None]
    if not missing:
        return
    listed = ", ".join(f"{each.name} ({each.megabytes or '?'} MB)" for each in missing)
    if offline():
        raise MissingModel(
            f"{len(missing)} checkpoints are not on this machine and RADGAUGE_OFFLINE forbids fetching them: "
            f"{listed}; looked for in {models_dir()} ($RADGAUGE_MODELS), in the hub's cache {hub_cache()}, in the "
            "caches of the authors' packages (`radgauge models list --places` shows every place)"
        )
    megabytes = f"{sum(each.megabytes for each in missing)} MB"
    if not all(each.megabytes for each in missing):
        megabytes += " and more"
    plan = f"{len(missing)} checkpoints will be fetched into {models_dir()}, {megabytes}: {listed}"
    if yes:
        echo(f"radgauge: {plan}", err=True)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{plan}; to agree, add --yes (or `radgauge models fetch` them first)")
    elif not typer.confirm(f"{plan}. Go on?", err=True):
        raise typer.Exit(USAGE)


M = TypeVar("M", bound="Metric")


AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes; only the result.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all resampling.")]
LONGEST = (
    200_000  # as radgauge.run.score.LONGEST, which would cost the start of every verb; a test holds them equal
)
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
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Fetch what --models published needs without asking.")]
Permutations = Annotated[int, typer.Option("--permutations", min=1, help="Number of permutations per test.")]
Corrected = Annotated[Correction, typer.Option("--correction", help="Multiple-testing correction.")]
ScoresFile = Annotated[
    Path, typer.Argument(help="Scores of `radgauge score -o`: a file, a folder of parts, or a URL.")
]
ReportTable = Annotated[Path, typer.Argument(help="Reports with id and reference (or report), as for `score`.")]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What cases are judged with."""

    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="A metric of `radgauge metrics`, with settings: bleu:variant=cxr; or bleu,rouge. Repeatable.",
        ),
    ] = None
    models: Models = "embedded"
    any_language: Annotated[
        bool, typer.Option("--any-language", help="Judge texts in other languages, or hardly understood, as well.")
    ] = False
    yes: Yes = False

    def agreed(self, defaults: Sequence[str] | None = None) -> str:
        """The profile, once the user has agreed to what it fetches for the metrics, or for these defaults."""
        return agreed(self.models, self.metric or defaults, yes=self.yes)

    def check_references(self, file: CaseFile) -> None:
        """Refuse metrics that need a reference before anything is computed, if no case has one."""
        from radgauge.core.errors import InputError
        from radgauge.core.registry import DEFAULTS, load, specs

        if not file.cases or any(case.references for case in file.cases):
            return
        wanted = [spec for each in self.metric or DEFAULTS for spec in specs(each)]
        needing = [m.name for m in (load(spec, models=self.models) for spec in wanted) if "reference" in m.needs]
        if needing:
            notes = file.provenance.warnings
            why = next((note for note in notes if "no reference column" in note), "no case has a reference")
            raise InputError(f"{', '.join(needing)} cannot judge without references: {why}")

    def score(self, cases: Sequence[Case], reading: Readings, *, longest: int | None = None) -> Results:
        """Scores of the cases."""
        from radgauge.run.score import LONGEST, score

        self.agreed()
        most = LONGEST if longest is None else longest
        return score(
            cases,
            self.metric or None,
            reading=reading,
            models=self.models,
            longest=most,
            any_language=self.any_language,
        )


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
        from radgauge.analysis.baselines import constant_baselines

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

    no_row: Annotated[
        NoRow,
        typer.Option("--no-row", help="In a table of error counts, a case without a row: no errors, or unjudged."),
    ] = "refuse"

    def read(self, *, images: Path | None = None) -> Judgments:
        """The judgments, with images from a folder or a table where there is one."""
        from radgauge.core.errors import UsageError
        from radgauge.io.judgments import read_judgments
        from radgauge.io.judgments.images import with_images

        if self.judgments is None:
            raise UsageError("no judgments given: use --judgments with a ReXVal or RadEvalX folder, or a file")
        found = read_judgments(
            self.judgments, format=self.format, raters=names(self.rater_columns), no_row=self.no_row
        )
        return found if images is None else with_images(found, images)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How intervals and tests draw."""

    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 = no intervals.")
    ] = RESAMPLES
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

    def progress(self) -> Progress | None:
        """Return the callback of the line that `radgauge.core.progress` draws."""
        from radgauge.core.progress import tell

        return None if self.quiet else tell

    def notes(self, *notes: str) -> None:
        """What a reader should know, on stderr."""
        self.tell(*(f"note: {note}" for note in notes))

    def tell(self, *sentences: str) -> None:
        """Messages on stderr."""
        from radgauge.cli.flags import in_flags
        from radgauge.render.terminal import console

        if not self.quiet and sentences:
            console(stderr=True).say(*map(in_flags, sentences))


@dataclass(frozen=True, kw_only=True)
class ReadingOutput(Output):
    """What a verb that reads reports says, and whether it keeps what it read."""

    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor write the reading cache.")] = False

    def readings(self) -> Readings:
        """Readings with the user's cache."""
        from radgauge.cli.resume import keeps
        from radgauge.core.cache import Cache
        from radgauge.core.readings import Readings

        cache = None if self.no_cache else Cache()
        if cache is not None:
            keeps(lambda: cache.used > 0)
        return Readings(cache=cache)


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


def agreed(models: str, metrics: Sequence[str] | None, *, yes: bool) -> str:
    """Return the profile, once the user has agreed to what it fetches for these metrics."""
    confirm_downloads(metrics, models=models, yes=yes)
    return models


def is_scores(path: Path | str | None) -> bool:
    """True if a path, not a name, leads to a scores file or a folder of scores."""
    from radgauge.io.scores_file import is_scores_file

    return path is not None and Path(path).exists() and is_scores_file(Path(path))


def read_scores_of(path: Path, verb: str) -> Results:
    """The scores of a file or URL; for a file of reports, the command that makes scores of it."""
    from radgauge.cli.copies import local
    from radgauge.core.errors import UsageError
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
    from radgauge.core.errors import UsageError
    from radgauge.core.registry import load

    metric = load(spec, models=models)
    if not isinstance(metric, kind):
        raise UsageError(f"--metric must be {kind.name} with settings, got {spec!r}")
    return metric


def report_text(path: Path | None, text: str | None = None) -> str:
    """One report: a text that was given, a file, or standard input."""
    import sys

    from radgauge.core.errors import InputError, UsageError
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
