"""The program and its verbs: how a function becomes a command, and how groups of options are spelt out for it.

An option is a parameter with its help, `top: Annotated[int, "How many."] = 1`, which is `--top`; further names
stand before the help, and what needs more is a `typer.Option`. A group is a frozen dataclass whose fields are
options. A verb takes it as one parameter; `command` spells it out for typer as single options and puts it together
again before the verb runs. An instance as the default of the parameter gives the verb defaults of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from radgauge.cli.copies import copies
from radgauge.cli.exit_codes import EPILOG

Verb = TypeVar("Verb", bound=Callable[..., None])
HELP_NAMES = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="radgauge",
    help="Measure machine-written radiology reports, offline by default.",
    no_args_is_help=True,
    epilog=EPILOG,
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
        place.command(name, epilog=EPILOG)(run)
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


def subjects(name: str, about: str) -> typer.Typer:
    """A verb that has subjects: `radgauge fit radcliq`."""
    verb = typer.Typer(help=about, no_args_is_help=True, context_settings=HELP_NAMES)
    app.add_typer(verb, name=name)
    return verb
