"""Ask before downloading: which checkpoints a run with published models needs and does not find."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from radgauge.cli.exit_codes import USAGE
from radgauge.cli.lines import echo


def agree(metrics: Sequence[str] | None, *, yes: bool) -> None:
    """Ask before anything is downloaded.

    Args:
        metrics: Specifications; None = the defaults.
        yes: The user has agreed already.
    """
    from radgauge.core.errors import MissingModel, UsageError
    from radgauge.core.registry import DEFAULTS, specs
    from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, find, hub_cache, models_dir, offline

    names = {spec.partition(":")[0].partition(" ")[0] for each in metrics or DEFAULTS for spec in specs(each)}
    missing = [each for each in CHECKPOINTS if names & set(each.metrics) and find(each) is None]
    if not missing:
        return
    listed = ", ".join(f"{each.name} ({each.megabytes or '?'} MB)" for each in missing)
    if offline():
        raise MissingModel(
            f"{len(missing)} checkpoints are not on this machine and RADGAUGE_OFFLINE forbids fetching them: "
            f"{listed}; looked for in {models_dir()} ($RADGAUGE_MODELS), in the hub's cache {hub_cache()}, in the "
            "caches of the authors' packages (`radgauge models list --places` shows every place)"
        )
    known = sum(each.megabytes for each in missing)
    plan = f"{len(missing)} checkpoints will be fetched into {models_dir()}, {known} MB and more: {listed}"
    if yes:
        echo(f"radgauge: {plan}", err=True)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{plan}; to agree, add --yes (or `radgauge models fetch` them first)")
    elif not typer.confirm(f"{plan}. Go on?", err=True):
        raise typer.Exit(USAGE)
