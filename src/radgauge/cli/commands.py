"""Commands made from functions, with groups of options spelt out.

An option is a parameter with its help, `top: Annotated[int, "Number of matches."] = 1`, which is `--top`; further
names stand before the help, and what needs more is a `typer.Option`. A record of settings with a help text is one
option, `sampling: Annotated[Sampling, "Intervals."] = Sampling()`: `--sampling KEY=VALUE,...`, with the fields of
the record as keys. A group is a frozen dataclass without a help text: each of its fields is an option.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from radgauge.cli.copies import copies
from radgauge.cli.exit_codes import EPILOG
from radgauge.cli.verbs import MOVED, RENAMED, VERBS, first_screen
from radgauge.core.config import TABLES, read_config
from radgauge.core.errors import UsageError
from radgauge.core.settings import make_record, pairs, setting_lines, setting_types

Verb = TypeVar("Verb", bound=Callable[..., None])
HELP_NAMES = {"help_option_names": ["-h", "--help"]}
Format = Literal["table", "json", "csv", "md", "tex"]
FOOT = f"{EPILOG} With every verb: --format, --quiet, --no-cache, --yes, --trust (radgauge --help)."
KEYED_TABLES = {"input": ("reports", "judge")}
"""Tables of radgauge.toml for options that take KEY=VALUE, where the name differs."""
RENAMED_OPTIONS = {
    "--all-columns": "--all",
    "--appendix": "--worst",
    "--out": "--output",
    "--picture-size": "--image-size",
    "--pictures": "--cache-folder",
    "--scores": "--join",
    "--table": "--output",
    "--plots": "--output",
    "--html": "--output",
}
"""Names of options of the release before, which answer with the new one."""
RENAMED_KEYS = {
    "interval": "method",
    "format": "form",
    "rater_columns": "raters",
    "large_print": "large",
    "timeout": "seconds",
    "queue": "waiting",
    "most_cases": "cases",
    "most_references": "references",
    "most_characters": "case_characters",
    "table_systems": "systems",
    "table_name": "names",
    "table_scale": "scale",
    "table_decimals": "decimals",
    "table_wide": "wide",
    "pictures": "cache",
}
"""Options of the release before that are keys of a record under another name."""
SCORE_OPTIONS = ("--references", "--candidates", "--candidate-columns", "--columns", "--metric", "--models", "-m")
"""Options that other verbs had too before scores knew their reports."""


@dataclass(frozen=True, slots=True)
class Program:
    """The options of the program, which hold for whatever verb runs."""

    format: Format = "table"
    quiet: bool = False
    no_cache: bool = False
    yes: bool = False


_running = [Program()]


def program() -> Program:
    """Return the options of the running program."""
    return _running[-1]


@contextmanager
def _run_with(options: Program) -> Iterator[None]:
    _running.append(options)
    try:
        yield
    finally:
        _running.remove(options)


FLAGS = ("--json", "-q", "--quiet", "--no-cache", "-y", "--yes", "--trust")


def _program_first(args: Sequence[str]) -> list[str]:
    """Return the words with the options of the program at the front, wherever they stood."""
    front, rest = [], []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in FLAGS or word.startswith("--format="):
            front.append(word)
        elif word == "--format":
            front += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            rest.append(word)
    return front + rest


class ProgramGroup(TyperGroup):
    """A program whose own options may stand anywhere on the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the program, and find the verb."""
        return super().parse_args(ctx, _program_first(args))


class Verbs(ProgramGroup):
    """The verbs of the program; the modules of a verb are imported when it is called or asked for its help."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb with its defaults; names of the release before answer with the new one."""
        if cmd_name in MOVED:
            raise UsageError(f"`radgauge {cmd_name}` is now `radgauge {MOVED[cmd_name]}`")
        if cmd_name in RENAMED:
            typer.echo(f"note: `radgauge {cmd_name}` is now `radgauge {RENAMED[cmd_name]}`", err=True)
            cmd_name = RENAMED[cmd_name]
        if cmd_name not in VERBS:
            return None
        for module in VERBS[cmd_name].modules:
            importlib.import_module(f"radgauge.{module}")
        built = _BUILT[cmd_name]
        verb: Any = (
            typer.main.get_group(built) if built.info.no_args_is_help is True else typer.main.get_command(built)
        )
        verb.name = cmd_name
        _set_defaults(verb, cmd_name)
        return verb

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the first screen."""
        typer.echo(first_screen())


app = typer.Typer(
    name="radgauge",
    cls=Verbs,
    help="Measure machine-written radiology reports, offline by default.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)
_BUILT: dict[str, typer.Typer] = {}
"""By verb, the program that holds its command or subcommands; filled when its modules are imported."""


def _version(requested: bool) -> None:
    if requested:
        from radgauge import __version__

        typer.echo(f"radgauge {__version__}")
        raise typer.Exit


@app.callback()
def radgauge_cli(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
    form: Annotated[Format, typer.Option("--format")] = "table",
    as_json: Annotated[bool, typer.Option("--json")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    trust: Annotated[bool, typer.Option("--trust")] = False,
) -> None:
    """Measure machine-written radiology reports, offline by default."""
    context.with_resource(_run_with(Program("json" if as_json else form, quiet, no_cache, yes)))
    if trust:
        from radgauge.io.checksums import trusting

        context.with_resource(trusting())


def _note(text: str) -> None:
    if not program().quiet:
        typer.echo(f"note: {text}", err=True)


class Command(TyperCommand):
    """A command whose settings may also be given by the names of single options that they once had."""

    configured: Sequence[str] = ()
    """Options from radgauge.toml, which those of the command line override."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: what it does, examples, arguments and options, as wide as the terminal."""
        typer.echo("\n".join(_help_lines(self, ctx.command_path, shutil.get_terminal_size().columns)))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options."""
        return super().parse_args(ctx, [*self.configured, *self._by_new_names(args)])

    def _by_new_names(self, args: Sequence[str]) -> Iterator[str]:
        options = {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
        keyed: Mapping[str, Any] = getattr(self.callback, "keyed", {})
        replacements = {
            f"--{name.replace('_', '-')}": (option, key, kind)
            for option, default in reversed(list(keyed.items()))
            for key, kind in setting_types(type(default)).items()
            for name in (key, *(old for old, new in RENAMED_KEYS.items() if new == key))
        }
        tail: list[str] = []
        words = iter("--judgments" if word == "-j" and "-j" not in options else word for word in args)
        for word in words:
            name, sign, value = word.partition("=")
            if word == "--":
                yield from (word, *words)
            elif not name.startswith("-") or name in options:
                yield word
            elif name in replacements:
                option, key, kind = replacements[name]
                value = value if sign else "yes" if kind is bool else next(words, "")
                _note(f"{name} is now --{option} {key}={value}")
                yield from (f"--{option}", f"{key}={value}")
            elif name == "--judgments" and any(param.name in ("judgments", "files") for param in self.params):
                tail.append(value if sign else next(words, ""))
                _note("judgments are an argument now, without --judgments")
            elif RENAMED_OPTIONS.get(name, "") in options:
                _note(f"{name} is now {RENAMED_OPTIONS[name]}")
                yield RENAMED_OPTIONS[name] + (f"={value}" if sign else "")
            elif name in SCORE_OPTIONS:
                raise UsageError(
                    f"{name} belongs to `radgauge score`: score with it into a file, and give that file here, "
                    "which knows how its reports are read"
                )
            else:
                yield word
        yield from tail


def _help_lines(verb: TyperCommand, path: str, width: int) -> list[str]:
    about, _, examples = inspect.cleandoc(verb.help or "").partition("\n\nExample")
    rows = {
        "Arguments": [_help_row(p) for p in verb.params if p.param_type_name == "argument"],
        "Options": [_help_row(p) for p in verb.params if p.param_type_name == "option"],
    }
    rows["Options"].append(("-h, --help", "Show this message and exit."))
    lines = [f"Usage: {path} [OPTIONS] {' '.join(name for name, _ in rows['Arguments'])}".rstrip(), ""]
    for part in about.split("\n\n"):
        lines += [*textwrap.wrap(part, width), ""]
    if examples:
        lines += ["Examples:", *(f"  {line.strip()}" for line in examples.splitlines()[1:] if line.strip()), ""]
    for head, entries in rows.items():
        indent = min(26, max((len(name) for name, _ in entries), default=0) + 4)
        lines += [f"{head}:"] if entries else []
        for name, meaning in entries:
            wrapped = textwrap.wrap(meaning, max(30, width - indent)) or [""]
            if len(name) + 3 > indent:
                lines.append(f"  {name}")
                name = ""
            lines += [f"  {name}".ljust(indent) + wrapped[0], *(" " * indent + line for line in wrapped[1:])]
        lines += [""] if entries else []
    return [*lines, *textwrap.wrap(verb.epilog or "", width)]


def _help_row(parameter: Any) -> tuple[str, str]:
    """Return the names of an option or an argument, and its meaning."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper() + "..." * (parameter.nargs == -1)
        return name if parameter.required or parameter.metavar else f"[{name}]", parameter.help or ""
    kind = parameter.type_descriptor.annotation
    choices = "|".join(map(str, get_args(kind))) if get_origin(kind) is Literal else ""
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    notes = "; ".join([*([choices] if choices else []), *([f"default: {default}"] if plain else [])])
    names = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    return names, (parameter.help or "") + (f" ({notes})" if notes else "")


def command(parent: typer.Typer, name: str) -> Callable[[Verb], Verb]:
    """Add a function to an app as a command; parameters that are groups become their options."""

    def add(function: Verb) -> Verb:
        hints = get_type_hints(function, include_extras=True)
        flat: list[inspect.Parameter] = []
        groups: dict[str, type[Any]] = {}
        keyed: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            kind = hints[parameter.name]
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                groups[parameter.name] = kind
                preset = None if parameter.default is parameter.empty else parameter.default
                flat += [_spelt_out(option, keyed) for option in _fields(kind, preset)]
            else:
                flat.append(_spelt_out(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind), keyed))

        @functools.wraps(function)
        def run(**values: Any) -> None:
            from radgauge.core.progress import logged, silence

            for option, default in keyed.items():
                values[option] = _keyed_value(option, default, values[option] or ())
            made = {
                group: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
                for group, kind in groups.items()
            }
            with copies(), logged(), silence(program().quiet):
                function(**values, **made)

        del run.__wrapped__  # or inspect would look through to the groups
        run.__dict__["__signature__"] = inspect.Signature(flat)
        run.__dict__["keyed"] = keyed
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        holder = parent
        if parent is app:
            holder = _BUILT[name] = typer.Typer(
                add_completion=False, pretty_exceptions_enable=False, context_settings=HELP_NAMES
            )
        holder.command(name, epilog=FOOT, cls=Command)(run)
        return function

    return add


def _fields(group: Any, preset: object | None) -> Iterator[inspect.Parameter]:
    hints = _hints(group)
    for field in dataclasses.fields(group):
        default = field.default if preset is None else getattr(preset, field.name)
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is dataclasses.MISSING else default,
            annotation=hints[field.name],
        )


def _spelt_out(parameter: inspect.Parameter, keyed: dict[str, Any]) -> inspect.Parameter:
    """Return an option as typer takes it; a record of settings is noted, to be made of its KEY=VALUE pairs."""
    kind = parameter.annotation
    metadata = getattr(kind, "__metadata__", ())
    if not metadata or not isinstance(metadata[-1], str):
        return parameter
    *further, about = metadata
    names = (f"--{parameter.name.replace('_', '-')}", *further)
    if dataclasses.is_dataclass(kind.__origin__):
        keyed[parameter.name] = parameter.default
        keys = ", ".join(
            name if value in ("", "false", "0", "0.0", "()") else f"{name}={value}"
            for name, value, _ in setting_lines(parameter.default)
        )
        about = f"{about}: {keys} ('help' explains them)."
        option = typer.Option(*names, metavar="KEY=VALUE", help=about)
        return parameter.replace(annotation=Annotated[list[str] | None, option], default=None)
    return parameter.replace(annotation=Annotated[kind.__origin__, typer.Option(*names, help=about)])


def _keyed_value(option: str, default: Any, texts: Sequence[str]) -> Any:
    """Return the record of an option from its KEY=VALUE pairs; `help` lists the keys."""
    if "help" in texts:
        for key, value, about in setting_lines(default):
            typer.echo(f"{key}={value}\n    {about}")
        raise typer.Exit
    return make_record(default, pairs(texts, option=f"--{option}"), option=f"--{option}")


@functools.cache
def _hints(group: Any) -> Mapping[str, Any]:
    return get_type_hints(group, include_extras=True)


def _set_defaults(verb: Any, name: str, *, below: str = "") -> None:
    """Let the configuration files decide what options are where the command line does not."""
    config = read_config()
    path = f"{below} {name}".strip()
    own = config.table(path.replace(" ", "-")) if below else config.table(name)
    parameters = {parameter.name: parameter for parameter in verb.params}
    keyed = getattr(verb.callback, "keyed", {})
    settings = {key for default in keyed.values() for key in setting_types(type(default))}
    values: dict[str, Any] = {}
    for table in (*(config.table(shared) for shared in TABLES), own):
        values |= {key: _as_option(parameters[key], value) for key, value in table.items() if key in parameters}
    subcommands = getattr(verb, "commands", {})
    if unknown := [key for key in own if key not in (*parameters, *subcommands, *settings)]:
        origin = config.origins[path.replace(" ", "-"), unknown[0]]
        raise UsageError(f"{origin}: `radgauge {path}` has no option {unknown[0]!r}")
    verb.context_settings = {**verb.context_settings, "default_map": values}
    if keyed:
        verb.configured = [
            word
            for option, default in keyed.items()
            for table in (*map(config.table, KEYED_TABLES.get(option, (option,))), own)
            for key, value in table.items()
            if key in setting_types(type(default)) or (option == "llm" and table is not own)
            for pair in _pairs(key, value)
            for word in (f"--{option}", pair)
        ]
    for subname, subcommand in subcommands.items():
        _set_defaults(subcommand, subname, below=path)


def _pairs(key: str, value: Any) -> list[str]:
    """Return a setting of radgauge.toml as the command line has it."""
    if isinstance(value, Mapping):
        return [f"{key}={name}={item}" for name, item in value.items()]
    return [f"{key}={'+'.join(map(str, value)) if isinstance(value, list) else value}"]


def _as_option(parameter: Any, value: Any) -> Any:
    """Return a value of TOML as the option takes it: {id = "uid"} is id=uid, a list is repeated or a,b."""
    if isinstance(value, Mapping):
        text = ",".join(f"{key}={item}" for key, item in value.items())
        return [text] if parameter.multiple else text
    if isinstance(value, list) and not (parameter.multiple or parameter.nargs == -1):
        return ",".join(map(str, value))
    return value


Group = TypeVar("Group")


def configured(group: type[Group], **values: Any) -> Group:
    """Return a group of options as radgauge.toml sets them, for verbs that do without the options."""
    config = read_config()
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):  # type: ignore[arg-type]
        kind: Any = hints[field.name].__origin__
        if dataclasses.is_dataclass(kind):
            keys = setting_types(type(field.default))
            tables = [config.table(table) for table in KEYED_TABLES.get(field.name, (field.name,))]
            pairs = [(key, value) for table in tables for key, value in table.items() if key in keys]
            values.setdefault(field.name, make_record(field.default, pairs, option=f"--{field.name}"))
            continue
        for table in (config.table(shared) for shared in TABLES):
            if field.name in table and field.name not in values:
                value = table[field.name]
                listed = isinstance(value, list) and "list" in str(kind)
                text = ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, Mapping) else value
                values[field.name] = ",".join(map(str, text)) if isinstance(text, list) and not listed else text
    return group(**values)


def subjects(name: str) -> typer.Typer:
    """Return the program of a verb that has subcommands: `radgauge fit radcliq`."""
    verb = typer.Typer(
        help=VERBS[name].about, no_args_is_help=True, add_completion=False, context_settings=HELP_NAMES
    )
    _BUILT[name] = verb
    return verb
