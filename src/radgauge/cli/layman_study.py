"""`radgauge layman agree`, `training` and `readability`: lay texts against people, training data and originals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from radgauge.case_files import CaseFile
    from radgauge.cases import Case
    from radgauge.lay_study import Size
    from radgauge.metrics.layman import Layman
    from radgauge.report.svg import Plot
    from radgauge.report.tables import Table

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also into FILE.html, .csv, .md, .tex, or a folder for all of it."),
]


def register(layman: typer.Typer) -> None:
    """Add the subjects to `radgauge layman`."""
    layman.command("agree")(agree_cli)
    layman.command("training")(training_cli)
    layman.command("readability")(readability_cli)


def agree_cli(
    ratings: Annotated[
        Path,
        typer.Argument(help="A table of id, rater, rating (a proportion), and system if there are several."),
    ],
    reports: Annotated[
        list[Path] | None,
        typer.Option("--reports", help="The rated reports, unless the ratings hold reference and candidate."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metrics beside lay semantics; bleu and rouge if none."),
    ] = None,
    scale: Annotated[float, typer.Option("--scale", help="What stands for everything matched: 1 or 100.")] = 1.0,
    bins: Annotated[int, typer.Option("--bins", help="Equal bins of the proportions for Cohen's kappa.")] = 5,
    models: o.Models = "embedded",
    sentences: Annotated[
        str, typer.Option("--sentences", help="A sentence set of your own: two tab-separated columns.")
    ] = "",
    encoder: Annotated[
        str, typer.Option("--encoder", help="findings, static, or folder or id of a transformer.")
    ] = "findings",
    columns: o.Columns = None,
    section: o.Section = None,
    output: Output = None,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Do metrics agree with people, on raw and on lay text? Correlations and Cohen's kappa (table 3).

    Examples:

      radgauge layman agree ratings.csv --reports reports.csv

      radgauge layman agree ratings.csv -m bleu -m rouge -m meteor -m radgraph -o table3.md
    """
    from radgauge.judges import read_judgments
    from radgauge.lay_study import lay_agreement
    from radgauge.report.lay_tables import agreement_tables

    file = o.read_case_file(reports, columns=columns, section=section) if reports else None
    found = lay_agreement(
        read_judgments(ratings, format="table"),
        metric or ("bleu", "rouge"),
        cases=file.cases if file else None,
        layman=lay_metric(encoder, sentences=sentences),
        scale=scale,
        bins=bins,
        models=models,
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
        level=level,
        resamples=max(resamples, 1),
        seed=seed,
    )
    notes = [
        f"{found.cases} reports, {len(found.raters)} annotators; positive = agreement; gain = lay less raw; "
        "intervals resample studies",
        *found.notes,
    ]
    tables = {table.key: table for table in agreement_tables(found)}
    _show(
        tables,
        title="Agreement with annotators",
        notes=notes,
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=_about(found.signatures, seed, file, ratings=ratings),
    )


def training_cli(
    reports: o.Reports = None,
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            help="SYSTEM=NUMBER, or SYSTEM=SERIES:NUMBER for several curves; else the columns training_size "
            "and series of the reports. Repeatable.",
        ),
    ] = None,
    encoder: Annotated[
        str, typer.Option("--encoder", help="findings, static, or folder or id of a transformer.")
    ] = "findings",
    threshold: Annotated[
        float, typer.Option("--threshold", help="Cosine from which a sentence reflects the reference.")
    ] = 0.8,
    every_pair: Annotated[
        bool, typer.Option("--every-pair", help="Count every pair of sentences, not the closest of each.")
    ] = False,
    output: Output = None,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """What generators learned: score ranges, growth with training data, collapse to one report (figure 2).

    Examples:

      radgauge layman training outputs.csv --size lay_5k=lay:5000 --size raw_5k=raw:5000 -o figure2/

      radgauge layman training -r references.csv -c a_5k.csv -c a_50k.csv --size a_5k=5000 --size a_50k=50000
    """
    from radgauge.lay_study import training_runs
    from radgauge.layman.encoder import FindingEncoder
    from radgauge.models.encoders import encoder_named
    from radgauge.report.lay_plots import growth_curves, range_bars
    from radgauge.report.lay_tables import training_table

    file = o.read_case_file(
        reports,
        references=references,
        candidates=candidates,
        candidate_columns=candidate_columns,
        columns=columns,
        section=section,
    )
    named = (
        FindingEncoder()
        if encoder == "findings"
        else encoder_named("embedded" if encoder == "static" else encoder, max_length=512)
    )
    runs = training_runs(
        file.cases,
        sizes=_sizes(size) if size else _sizes_of(file.cases),
        encoder=named,
        threshold=threshold,
        every_pair=every_pair,
        reading=o.open_readings(no_cache=no_cache, quiet=quiet),
        level=level,
        resamples=max(resamples, 1),
        seed=seed,
    )
    curves = growth_curves(runs, threshold=threshold)
    notes = [
        "collapse: generated reports are more alike than references, by more than 0.1 and an interval above 0"
    ]
    if curves is None:
        notes.append("no training sizes given: no curve (--size SYSTEM=NUMBER)")
    if missing := sum(run.not_judged for run in runs):
        notes.append(f"{missing} reports have no sentence, or no reference, and are left out")
    _show(
        {"training": training_table(runs, threshold=threshold)},
        title="What the generators learned",
        plots=[range_bars(runs, threshold=threshold), *([curves] if curves else [])],
        notes=[*file.provenance.warnings, *notes],
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=_about([f"{named.signature}|threshold:{threshold:g}"], seed, file),
    )


def readability_cli(
    reports: o.Reports = None,
    references: o.References = None,
    candidates: o.Candidates = None,
    candidate_columns: o.CandidateColumns = None,
    columns: o.Columns = None,
    section: o.Section = None,
    write: Annotated[
        bool, typer.Option("--write", help="Compare the references with what the embedded writer makes of them.")
    ] = False,
    per_report: Annotated[
        Path | None, typer.Option("--per-report", help="Also every report's values, into this CSV file.")
    ] = None,
    output: Output = None,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Readability of lay versions (candidates) beside the professional originals (references), ten indices.

    Examples:

      radgauge layman readability lay_versions.csv --per-report values.csv

      radgauge layman readability reports.csv --write
    """
    from dataclasses import replace

    from radgauge.errors import InputError
    from radgauge.lay_study import compare_ease
    from radgauge.layman.writer import plain_language
    from radgauge.metrics.readability import ReadabilityIndices
    from radgauge.report.lay_tables import ease_table

    file = o.read_case_file(
        reports,
        references=references,
        candidates=candidates,
        candidate_columns=candidate_columns,
        columns=columns,
        section=section,
    )
    cases: Sequence[Case] = file.cases
    bare = [case.key for case in cases if not case.references]
    if bare:
        raise InputError(f"{len(bare)} of {len(cases)} reports have no reference, first: {bare[0]}")
    if write:
        originals = {case.id: case for case in cases}
        cases = [
            replace(case, candidate=plain_language(case.references[0]), system="embedded writer")
            for case in originals.values()
        ]
    found = compare_ease(
        cases,
        {case.key: case.references[0] for case in cases},
        level=level,
        resamples=max(resamples, 1),
        seed=seed,
    )
    if per_report is not None:
        _write_records(per_report, found.records())
    _show(
        {"readability": ease_table(found)},
        title="Readability of originals and lay versions",
        notes=[
            *file.provenance.warnings,
            "difference = lay less professional; easy says nothing about right: see lay_fidelity",
        ],
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=_about([ReadabilityIndices().signature()], seed, file),
    )


def lay_metric(encoder: str, **settings: Any) -> Layman:
    """`layman` with an encoder as the verbs name it: 'findings', 'static', or a model."""
    from radgauge.metrics.layman import Layman

    if encoder in ("findings", "static"):
        return Layman(encoder=encoder, **settings)
    return Layman(models=encoder, **settings)


def _about(
    signatures: Sequence[str], seed: int, file: CaseFile | None, *, ratings: Path | None = None
) -> dict[str, object]:
    """What the numbers rest on."""
    import hashlib

    from radgauge import __version__

    found: dict[str, object] = {"radgauge": __version__, "seed": seed, "signatures": list(signatures)}
    if ratings is not None:
        found["ratings"] = {"name": ratings.name, "sha256": hashlib.sha256(ratings.read_bytes()).hexdigest()}
    return found | ({"input": file.provenance.as_dict()} if file else {})


def _sizes(given: Sequence[str]) -> dict[str, Size]:
    from radgauge.errors import UsageError
    from radgauge.lay_study import Size

    found = {}
    for text in given:
        system, sign, rest = text.rpartition("=")
        series, _, figure = rest.rpartition(":")
        try:
            number = float(figure)
        except ValueError:
            number = -1.0
        if not sign or not system or not number > 0:
            raise UsageError(f"--size must be SYSTEM=NUMBER or SYSTEM=SERIES:NUMBER, got {text!r}")
        found[system] = Size(number, series)
    return found


def _sizes_of(cases: Sequence[Case]) -> dict[str, Size]:
    """Sizes from the columns training_size and series, if the reports have them."""
    from radgauge.errors import InputError
    from radgauge.lay_study import Size

    found: dict[str, Size] = {}
    for case in cases:
        text = case.meta.get("training_size", "").strip()
        if not text:
            continue
        try:
            size = Size(float(text), case.meta.get("series", "").strip())
        except ValueError:
            raise InputError(f"training_size of id {case.id!r} must be a number, got {text!r}") from None
        if found.setdefault(case.system, size) != size:
            raise InputError(
                f"system {case.system!r} must have one training_size and series, got "
                f"{found[case.system].number:g} and {size.number:g} (id {case.id!r})"
            )
    return found


def _show(
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


def _write_records(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({name: "" if value != value else value for name, value in record.items()})
