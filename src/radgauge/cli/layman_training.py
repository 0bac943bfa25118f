"""`radgauge layman training`: what a generator learned, from its outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.layman_output import Output, about, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.cases import Case
    from radgauge.plain_language.studies import Size


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
    from radgauge.models.text.encoders import encoder_named
    from radgauge.plain_language.encoder import FindingEncoder
    from radgauge.plain_language.studies import training_runs
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
    show(
        {"training": training_table(runs, threshold=threshold)},
        title="What the generators learned",
        plots=[range_bars(runs, threshold=threshold), *([curves] if curves else [])],
        notes=[*file.provenance.warnings, *notes],
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=about([f"{named.signature}|threshold:{threshold:g}"], seed, file),
    )


def _sizes(given: Sequence[str]) -> dict[str, Size]:
    from radgauge.errors import UsageError
    from radgauge.plain_language.studies import Size

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
    from radgauge.plain_language.studies import Size

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
