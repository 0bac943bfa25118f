"""Options of runs in parts: how many processes, which engine, how many parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.core.choices import EngineName

if TYPE_CHECKING:
    from radgauge.run.executors import Engine

_PANEL = "Large runs"


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where work that can be divided is done."""

    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=0, help="Processes that share the work; 0 = one per processor.", rich_help_panel=_PANEL
        ),
    ] = None

    def engine(self) -> Engine:
        """The engine that the options describe."""
        from radgauge.run.executors import engine_of

        return engine_of(self.jobs)


@dataclass(frozen=True, kw_only=True)
class Cluster(Workers):
    """Where the parts of a large run are scored."""

    engine_name: Annotated[
        EngineName | None,
        typer.Option(
            "--engine",
            help="process, pool (--jobs) or ray (extra scale); for output to a folder.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    address: Annotated[
        str,
        typer.Option(
            "--address",
            help="A Ray cluster (auto, HOST:6379); without it Ray is started here.",
            rich_help_panel=_PANEL,
        ),
    ] = ""
    gpus: Annotated[
        float, typer.Option("--gpus", min=0, help="GPUs of each Ray worker.", rich_help_panel=_PANEL)
    ] = 0.0
    parts: Annotated[
        int,
        typer.Option(
            "--parts",
            min=0,
            help="Parts of an output folder; 0 = one per 4 MB of input.",
            rich_help_panel=_PANEL,
        ),
    ] = 0

    @property
    def asked(self) -> bool:
        """Whether any of the options was given."""
        return self != Cluster()

    def engine(self) -> Engine:
        """The engine that the options describe."""
        from dataclasses import replace

        from radgauge.core.errors import UsageError
        from radgauge.run.executors import engine_of

        found = engine_of(self.jobs, name=self.engine_name, address=self.address)
        if self.gpus and found.name != "ray":
            raise UsageError("--gpus belongs to --engine ray")
        return replace(found, gpus=self.gpus)
