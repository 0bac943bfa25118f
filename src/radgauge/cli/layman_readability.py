"""`radgauge layman readability`: lay texts beside their originals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.layman_output import Output, about, show, write_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.cases import Case


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
    from radgauge.metrics.readability import ReadabilityIndices
    from radgauge.plain_language.studies import compare_ease
    from radgauge.plain_language.writer import plain_language
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
        write_records(per_report, found.records())
    show(
        {"readability": ease_table(found)},
        title="Readability of originals and lay versions",
        notes=[
            *file.provenance.warnings,
            "difference = lay less professional; easy says nothing about right: see lay_fidelity",
        ],
        output=output,
        as_json=as_json,
        quiet=quiet,
        about=about([ReadabilityIndices().signature()], seed, file),
    )
