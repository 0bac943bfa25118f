"""Tables and figures of Layman's RRG: agreement with annotators, training and readability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.commands import ProgramGroup, radgauge_cli
from radgauge.core.files import sha256_of, write_file
from radgauge.lay.cli.options import EncoderName, LayText, encoder_called, why_no_meteor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layman_rrg.training import Size
    from radgauge.core.cases import Case
    from radgauge.io.case_files import CaseFile
    from radgauge.render.svg import Plot
    from radgauge.render.tables import Table

layman = typer.Typer(cls=ProgramGroup, help=__doc__, no_args_is_help=True)
layman.callback()(radgauge_cli)

OtherMetrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="Metrics beside lay semantics; bleu and rouge if none."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also into FILE.html, .csv, .md, .tex, or a folder for all of it."),
]


TABLE_3 = (
    *("bleu", "rouge", "chexbert_similarity", "radgraph"),
    *("radcliq", "radcliq:version=v0 as older"),
)
"""What the paper's table 3 correlates with annotators, beside METEOR and semantics."""


@o.command(layman, "agree")
def agree_cli(
    ratings: Annotated[
        Path,
        typer.Argument(help="A table of id, rater, rating (a proportion), and system if there are several."),
    ],
    form: o.CaseForm,
    lay: LayText,
    say: o.Output,
    reports: Annotated[
        list[Path] | None,
        "The rated reports, unless the ratings hold reference and candidate.",
    ] = None,
    metric: OtherMetrics = None,
    paper: Annotated[bool, "Every metric of the paper's table 3; METEOR if Java and the extra are there."] = False,
    models: o.Models = "embedded",
    scale: Annotated[float, "What stands for everything matched: 1 or 100."] = 1.0,
    bins: Annotated[int, "Equal bins of the proportions for Cohen's kappa."] = 5,
    output: OutputFile = None,
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """Do metrics agree with people, on raw and on lay text? Correlations and Cohen's kappa (table 3).

    Examples:

      layman.py agree ratings.csv --reports reports.csv

      layman.py agree ratings.csv --paper -o table3.md
    """
    from layman_rrg.agreement import lay_agreement
    from layman_rrg.tables import agreement_tables
    from radgauge.io.judgments import read_judgments

    file = form.read(reports) if reports or form.references_file else None
    judges = metric or ["bleu", "rouge"]
    if paper:
        judges = list(dict.fromkeys([*TABLE_3, *(() if why_no_meteor() else ("meteor",)), *(metric or ())]))
    found = lay_agreement(
        read_judgments(ratings, format="table"),
        judges,
        cases=file.cases if file else None,
        layman=lay.metric(),
        scale=scale,
        bins=bins,
        models=o.confirmed(models, judges),
        reading=say.readings(),
        resampling=sampling.at_least(0),
    )
    notes = [
        f"{found.cases} reports, {len(found.raters)} annotators; positive = agreement; gain = lay less raw; "
        "intervals resample studies",
        *found.notes,
    ]
    publish(
        agreement_tables(found),
        title="Agreement with annotators",
        notes=notes,
        output=output,
        say=say,
        about=about(found.signatures, sampling.seed, file, ratings=ratings),
    )


@o.command(layman, "readability")
def readability_cli(
    source: o.CaseSource,
    say: o.Output,
    write: Annotated[bool, "Compare the references with what the embedded writer makes of them."] = False,
    per_report: Annotated[Path | None, "Also every report's values, into this CSV file."] = None,
    output: OutputFile = None,
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """Readability of lay versions (candidates) beside the professional originals (references), ten indices.

    Examples:

      layman.py readability lay_versions.csv --per-report values.csv

      layman.py readability reports.csv --write
    """
    from dataclasses import replace

    from layman_rrg.reading_ease import compare_ease
    from layman_rrg.tables import ease_table
    from radgauge.core.errors import InputError
    from radgauge.lay.plain_sentences import mixed_text, write_plain
    from radgauge.metrics.readability import ReadabilityIndices
    from radgauge.render.tables import records_to_csv

    file = source.cases()
    cases: Sequence[Case] = file.cases
    bare = [case.key for case in cases if not case.references]
    if bare:
        raise InputError(f"{len(bare)} of {len(cases)} reports have no reference, first: {bare[0]}")
    notes = [*file.provenance.warnings]
    if write:
        originals = {case.id: case for case in cases}
        written = [write_plain(case.references[0]) for case in originals.values()]
        cases = [
            replace(case, candidate=mixed_text(found), system="embedded writer")
            for case, found in zip(originals.values(), written, strict=True)
        ]
        kept, of = (sum(map(len, found)) for found in ([[s for s in w if s.kept] for w in written], written))
        notes.append(f"{kept} of {of} sentences are not written anew: they stand in the lay version as they are")
    found = compare_ease(
        cases,
        {case.key: case.references[0] for case in cases},
        resampling=sampling.at_least(0),
    )
    if per_report is not None:
        write_file(per_report, records_to_csv(found.records()))
    publish(
        [ease_table(found)],
        title="Readability of originals and lay versions",
        notes=[
            *notes,
            "difference = lay less professional; easy says nothing about right: see lay_fidelity",
        ],
        output=output,
        say=say,
        about=about([ReadabilityIndices().signature()], sampling.seed, file),
    )


@o.command(layman, "training")
def training_cli(
    source: o.CaseSource,
    say: o.Output,
    size: Annotated[
        list[str] | None,
        (
            "SYSTEM=NUMBER, or SYSTEM=SERIES:NUMBER for several curves; else the columns training_size "
            "and series of the reports. Repeatable."
        ),
    ] = None,
    encoder: EncoderName = "findings",
    threshold: Annotated[float, "Cosine from which a sentence reflects the reference."] = 0.8,
    every_pair: Annotated[bool, "Count every pair of sentences, not the closest of each."] = False,
    output: OutputFile = None,
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """What generators learned: score ranges, growth with training data, collapse to one report (figure 2).

    Examples:

      layman.py training outputs.csv --size lay_5k=lay:5000 --size raw_5k=raw:5000 -o figure2/

      layman.py training -r references.csv -c a_5k.csv -c a_50k.csv --size a_5k=5000 --size a_50k=50000
    """
    from layman_rrg.plots import growth_curves, range_bars
    from layman_rrg.tables import training_table
    from layman_rrg.training import training_runs

    file = source.cases()
    named = encoder_called(encoder)
    runs = training_runs(
        file.cases,
        sizes=_sizes(size) if size else _sizes_of(file.cases),
        encoder=named,
        threshold=threshold,
        every_pair=every_pair,
        reading=say.readings(),
        resampling=sampling.at_least(0),
    )
    curves = growth_curves(runs, threshold=threshold)
    notes = [
        "collapse: generated reports are more alike than references, by more than 0.1 and an interval above 0"
    ]
    if curves is None:
        notes.append("no training sizes given: no curve (--size SYSTEM=NUMBER)")
    if missing := sum(run.not_judged for run in runs):
        notes.append(f"{missing} reports have no sentence, or no reference, and are left out")
    publish(
        [training_table(runs, threshold=threshold)],
        title="What the generators learned",
        plots=[range_bars(runs, threshold=threshold), *([curves] if curves else [])],
        notes=[*file.provenance.warnings, *notes],
        output=output,
        say=say,
        about=about([f"{named.signature}|threshold:{threshold:g}"], sampling.seed, file),
    )


def publish(
    tables: Sequence[Table],
    *,
    title: str,
    notes: Sequence[str],
    output: Path | None,
    say: o.Output,
    about: Mapping[str, object],
    plots: Sequence[Plot] = (),
) -> None:
    """Tables to stdout, notes to stderr, files where asked for."""
    from result_page import write_leaflet

    from radgauge.render.tables import to_records

    named = {table.key: table for table in tables}
    written = [] if output is None else write_leaflet(output, title, named, plots=plots, notes=notes, about=about)
    blocks = [block for table in tables for block in (f"{table.title}:", table)]
    say.show({**{key: to_records(table) for key, table in named.items()}, **about}, *blocks)
    say.notes(*notes)
    say.tell(*(f"wrote {path}" for path in written))


def about(
    signatures: Sequence[str], seed: int, file: CaseFile | None, *, ratings: Path | None = None
) -> dict[str, object]:
    """What the numbers rest on."""
    from radgauge import __version__

    found: dict[str, object] = {"radgauge": __version__, "seed": seed, "signatures": list(signatures)}
    if ratings is not None:
        found["ratings"] = {"name": ratings.name, "sha256": sha256_of(ratings)}
    return found | ({"input": file.provenance.as_dict()} if file else {})


def _sizes(given: Sequence[str]) -> dict[str, Size]:
    from layman_rrg.training import Size
    from radgauge.core.errors import UsageError

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
    from layman_rrg.training import Size
    from radgauge.core.errors import InputError

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
