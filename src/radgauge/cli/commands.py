"""The program and its verbs: how a function becomes a command, and how groups of options are spelt out for it.

`--help` shows the table `VERBS` and imports none of the modules that it names; a verb imports its own.

An option is a parameter with its help, `top: Annotated[int, "How many."] = 1`, which is `--top`; further names
stand before the help, and what needs more is a `typer.Option`. A group is a frozen dataclass whose fields are
options. A verb takes it as one parameter; `command` spells it out for typer as single options and puts it together
again before the verb runs. An instance as the default of the parameter gives the verb defaults of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from radgauge.cli.copies import copies
from radgauge.cli.exit_codes import EPILOG
from radgauge.core.errors import UsageError

Verb = TypeVar("Verb", bound=Callable[..., None])
HELP_NAMES = {"help_option_names": ["-h", "--help"]}


class Entry(NamedTuple):
    """A verb: its line in `--help`, and the modules (below `radgauge`) that define it and its subcommands."""

    about: str
    modules: tuple[str, ...]


VERBS: dict[str, Entry] = {
    "score": Entry(
        "Judge reports with metrics: values, intervals, and how many cases could not be judged.",
        ("cli.score",),
    ),
    "explain": Entry(
        "Show why a report got its score: what was read in both texts, what differs, and what was not understood.",
        ("cli.explain",),
    ),
    "compare": Entry(
        "Compare systems on the studies they share: difference, interval, paired test, effect size.",
        ("cli.compare",),
    ),
    "diff": Entry(
        "Compare each system with its older scores: what changed, and whether a limit is broken.",
        ("cli.compare",),
    ),
    "agree": Entry(
        "Correlate metrics with radiologists: intervals, ceiling, preferences, which metric is better.",
        ("cli.agree",),
    ),
    "report": Entry(
        "One self-contained HTML file: summary, tests, plots, and every case with its explanation.",
        ("cli.report",),
    ),
    "board": Entry(
        "One static leaderboard page from many scores files: intervals and clusters of significance.",
        ("cli.share",),
    ),
    "export": Entry("Write scores in a form that collections of evaluations take.", ("cli.share",)),
    "rescore": Entry(
        "Score again only what changed: metrics of another signature, on the reports found by their hash.",
        ("cli.share",),
    ),
    "oracle": Entry(
        "Find the best-scoring report of a corpus for every query, exactly.",
        ("cli.oracle",),
    ),
    "probe": Entry(
        "Does a metric notice what it must?",
        tuple(f"cli.{name}" for name in ("probe", "perturb", "triples", "rewards", "agree")),
    ),
    "perturb": Entry(
        "Change reports in known ways: remove findings, swap sides, turn negations, paraphrase, and more.",
        ("cli.perturb",),
    ),
    "fit": Entry(
        "Learn the weights of a metric from radiologists' judgments.",
        ("cli.fit",),
    ),
    "train": Entry(
        "Train models of your own.",
        (
            "lab.cli.train",
            "lab.cli.train_estimator",
            "lab.cli.train_ner",
            "lab.cli.train_generator",
        ),
    ),
    "generate": Entry(
        "Write a report for every study from its pictures; a study without a usable picture gets a reason.",
        ("lab.cli.generate",),
    ),
    "lay": Entry(
        "Plain language: write it, and score reports through it.",
        ("lay.cli.layman",),
    ),
    "study": Entry(
        "Reader studies: ask radiologists about reports.",
        (
            "study.cli.study",
            "study.cli.study_estimate",
            "study.cli.study_plan",
            "study.cli.study_serve",
            "study.cli.study_status",
        ),
    ),
    "read": Entry(
        "Show what the embedded reader sees: findings, anatomy, what is denied and what is left open.",
        ("cli.read",),
    ),
    "models": Entry(
        "Published checkpoints: list, fetch, verify.",
        ("cli.models",),
    ),
    "serve": Entry(
        "Judge reports over HTTP: values, intervals and explanations as JSON; needs the extra web.",
        ("study.cli.serve",),
    ),
    "metrics": Entry(
        "List the metrics: direction, range, what each needs, one line of description; or one with its settings.",
        ("cli.metrics",),
    ),
    "config": Entry("Show the settings of radgauge.toml that are in force, with their files.", ("cli.config",)),
    "cache": Entry(
        "The cache of readings on this machine.",
        ("cli.cache",),
    ),
    "demo": Entry(
        "Judge four bundled systems, one of them careful and three not, and show what the metrics see.",
        ("cli.demo",),
    ),
}


RENAMED = {"align": "agree", "ls": "metrics", "layman": "lay"}
MOVED = {"triples": "probe triples", "rewards": "probe rewards"}
"""Names of the release before, which answer with the new one."""


class Verbs(TyperGroup):
    """The verbs of the program; the modules of a verb are imported when it is called or asked for its help."""

    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb: while `--help` is written its name and line, else the command."""
        if cmd_name in MOVED:
            raise UsageError(f"`radgauge {cmd_name}` is now `radgauge {MOVED[cmd_name]}`")
        if cmd_name in RENAMED:
            typer.echo(f"note: `radgauge {cmd_name}` is now `radgauge {RENAMED[cmd_name]}`", err=True)
            cmd_name = RENAMED[cmd_name]
        if cmd_name not in VERBS:
            return None
        entry = VERBS[cmd_name]
        if self.listing:
            return TyperCommand(cmd_name, help=entry.about, callback=lambda: None)
        for module in entry.modules:
            importlib.import_module(f"radgauge.{module}")
        program = _BUILT[cmd_name]
        verb: Any = (
            typer.main.get_group(program)
            if program.info.no_args_is_help is True
            else typer.main.get_command(program)
        )
        verb.name = cmd_name
        _set_defaults(verb, cmd_name)
        return verb

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the program."""
        self.listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False


app = typer.Typer(
    name="radgauge",
    cls=Verbs,
    help="Measure machine-written radiology reports, offline by default.",
    no_args_is_help=True,
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)
_BUILT: dict[str, typer.Typer] = {}
"""By verb, the program that holds its command or subcommands; filled when its modules are imported."""


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
                kind = _spelt_out(parameter.name, kind)
                flat.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind))

        @functools.wraps(function)
        def run(**values: Any) -> None:
            from radgauge.core.progress import silence

            made = {
                group: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
                for group, kind in groups.items()
            }
            with copies(), silence(any(getattr(group, "quiet", False) for group in made.values())):
                function(**values, **made)

        del run.__wrapped__  # or inspect would look through to the groups
        run.__dict__["__signature__"] = inspect.Signature(flat)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        program = place
        if place is app:
            program = _BUILT[name] = typer.Typer(
                add_completion=False, pretty_exceptions_enable=False, context_settings=HELP_NAMES
            )
        program.command(name, epilog=EPILOG)(run)
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
            annotation=_spelt_out(field.name, hints[field.name]),
        )


def _spelt_out(name: str, kind: Any) -> Any:
    """The annotation of an option as typer takes it."""
    metadata = getattr(kind, "__metadata__", ())
    if not metadata or not isinstance(metadata[-1], str):
        return kind
    *further, about = metadata
    return Annotated[kind.__origin__, typer.Option(f"--{name.replace('_', '-')}", *further, help=about)]


@functools.cache
def _hints(group: Any) -> Mapping[str, Any]:
    return get_type_hints(group, include_extras=True)


def _set_defaults(verb: Any, name: str, *, below: str = "") -> None:
    """Let the configuration files decide what options are where the command line does not."""
    from radgauge.core.config import TABLES, read_config

    config = read_config()
    path = f"{below} {name}".strip()
    own = config.table(path.replace(" ", "-")) if below else config.table(name)
    parameters = {parameter.name: parameter for parameter in verb.params}
    values: dict[str, Any] = {}
    for table in (*(config.table(shared) for shared in TABLES if shared != "llm"), own):
        values |= {key: _as_option(parameters[key], value) for key, value in table.items() if key in parameters}
    subcommands = getattr(verb, "commands", {})
    if unknown := [key for key in own if key not in parameters and key not in subcommands]:
        origin = config.origins[path.replace(" ", "-"), unknown[0]]
        raise UsageError(f"{origin}: `radgauge {path}` has no option {unknown[0]!r}")
    verb.context_settings = {**verb.context_settings, "default_map": values}
    for subname, command in subcommands.items():
        _set_defaults(command, subname, below=path)


def _as_option(parameter: Any, value: Any) -> Any:
    """Return a value of TOML as the option takes it: {id = "uid"} is id=uid, a list is repeated or a,b."""
    if isinstance(value, Mapping):
        return ",".join(f"{key}={each}" for key, each in value.items())
    if isinstance(value, list) and not (parameter.multiple or parameter.nargs == -1):
        return ",".join(map(str, value))
    return value


def subjects(name: str) -> typer.Typer:
    """Return the program of a verb that has subcommands: `radgauge fit radcliq`."""
    verb = typer.Typer(
        help=VERBS[name].about, no_args_is_help=True, add_completion=False, context_settings=HELP_NAMES
    )
    _BUILT[name] = verb
    return verb
