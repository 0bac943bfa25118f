"""`radgauge fit vlscore`: the constant C of VLScore for an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.files import write_file


def register(app: typer.Typer) -> None:
    """Add the subject."""
    app.command("vlscore")(fit_vlscore_cli)


def fit_vlscore_cli(
    reports: o.Reports = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file for the constant.")] = Path(
        "vlscore_calibration.json"
    ),
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="Encoder and views to learn for: vlscore:encoder=FOLDER.")
    ] = "vlscore",
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    encoding: o.Encoding = None,
    missing: o.Missing = "error",
    split: o.Split = None,
    images: o.Images = None,
    images_outside: o.ImagesOutside = False,
    models: o.Models = "embedded",
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn the triangle area that scores 0: the largest on a set of images, candidates and references.

    Take candidates of every quality; the paper used ReXVal.

    Example:

      radgauge fit vlscore reports.csv --images files -m vlscore:encoder=my-clip -o mine.json

      radgauge score reports.csv --images files -m vlscore:encoder=my-clip,calibration=mine.json
    """
    from radgauge.cli.render import console, plain_table
    from radgauge.errors import UsageError
    from radgauge.metrics.vlscore import VLScore
    from radgauge.registry import load
    from radgauge.training.fit_vlscore import fit_vlscore

    chosen = load(metric, models=models)
    if not isinstance(chosen, VLScore):
        raise UsageError(f"--metric must be vlscore with settings, got {metric!r}")
    case_file = o.read_case_file(
        reports,
        references=references,
        candidates=candidates,
        candidate_columns=candidate_columns,
        columns=columns,
        section=section,
        encoding=encoding,
        missing=missing,
        split=split,
        images=images,
        images_outside=images_outside,
    )
    found = fit_vlscore(case_file.cases, metric=chosen, reading=o.open_readings(no_cache=no_cache, quiet=quiet))
    write_file(output, found.as_json())
    if as_json:
        typer.echo(o.to_json(found))
        return
    out = console()
    table = plain_table("share of triplets below", "area", right=(0, 1))
    for share, area in found.quantiles.items():
        table.add_row(f"{100 * float(share):g} %", f"{area:.4g}")
    table.add_row("all: C", f"{found.constant:.4g}")
    out.print(table)
    if quiet:
        return
    err = console(stderr=True)
    for note in case_file.provenance.warnings:
        err.print(f"note: {note}", soft_wrap=True)
    if found.left_out:
        err.print(f"note: {found.left_out} cases could not be judged and are left out", soft_wrap=True)
    err.print(f"note: {found.triplets} triplets of {found.encoder}, views={found.views}", soft_wrap=True)
    settings = f"{metric}{',' if ':' in metric else ':'}calibration={output}"
    err.print(f"note: use it with -m {settings}", soft_wrap=True)
