"""What the verbs about lay texts share: where results go, and what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.files import replacing, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from radgauge.io.case_files import CaseFile
    from radgauge.metrics.layman import Layman
    from radgauge.show.svg import Plot
    from radgauge.show.tables import Table

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also into FILE.html, .csv, .md, .tex, or a folder for all of it."),
]


def lay_metric(encoder: str, **settings: Any) -> Layman:
    """`layman` with an encoder as the verbs name it: 'findings', 'static', or a model."""
    from radgauge.metrics.layman import Layman

    named = {"findings": Layman(encoder="findings", **settings), "static": Layman(encoder="static", **settings)}
    return named.get(encoder) or Layman(models=encoder, **settings)


def about(
    signatures: Sequence[str], seed: int, file: CaseFile | None, *, ratings: Path | None = None
) -> dict[str, object]:
    """What the numbers rest on."""
    from radgauge import __version__

    found: dict[str, object] = {"radgauge": __version__, "seed": seed, "signatures": list(signatures)}
    if ratings is not None:
        found["ratings"] = {"name": ratings.name, "sha256": sha256_of(ratings)}
    return found | ({"input": file.provenance.as_dict()} if file else {})


def show(
    tables: Mapping[str, Table],
    *,
    title: str,
    notes: Sequence[str],
    output: Path | None,
    as_json: bool,
    quiet: bool,
    about: Mapping[str, object],
    plots: Sequence[Plot] = (),
) -> None:
    """Tables to stdout, notes to stderr, files where asked for."""
    from radgauge.cli.render import console
    from radgauge.report.leaflet import write_leaflet

    written = (
        write_leaflet(output, title, tables, plots=plots, notes=notes, about=about) if output is not None else []
    )
    if as_json:
        typer.echo(o.to_json({**{key: list(table.records) for key, table in tables.items()}, **about}))
    else:
        for table in tables.values():
            print_table(console(), table)
    if not quiet:
        err = console(stderr=True)
        for note in notes:
            err.print(f"note: {note}", soft_wrap=True)
        for path in written:
            err.print(f"wrote {path}", soft_wrap=True)


def print_table(out: Console, table: Table) -> None:
    """A table with its caption."""
    from radgauge.cli.render import plain_table

    shown = plain_table(*table.headers, right=table.right)
    for row in table.rows:
        shown.add_row(*(f"{cell.text} {cell.small}".strip() for cell in row))
    out.print(f"{table.title}:")
    out.print(shown)


def write_records(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    import csv

    from radgauge.show.wording import spreadsheet_cell

    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({k: "" if value != value else spreadsheet_cell(value) for k, value in record.items()})
