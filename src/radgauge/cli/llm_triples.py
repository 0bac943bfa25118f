"""`radgauge perturb --triples --writer llm`: rewrites and opposites from a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from radgauge.cli import llm_options as lo

if TYPE_CHECKING:
    from radgauge.io.judgments.rate_eval import Triple
    from radgauge.llm import Limits


def write_llm_triples(
    texts: Mapping[str, str],
    output: Path,
    *,
    limits: Limits,
    batch: int,
    parallel: int,
    retry_failed: bool,
    quiet: bool,
) -> None:
    """Ask for triples of all sentences with findings and write those that the reader confirms.

    The journal lies beside the output; the same call goes on where a stopped one was.
    """
    from radgauge.errors import InputError, UsageError
    from radgauge.llm import BudgetReached
    from radgauge.studies.perturb import findings_sentences, propose_triples, write_triples

    if output.suffix.lower() != ".jsonl":
        raise UsageError(f"triples are written as .jsonl, got {output.name}")
    sentences = findings_sentences(texts)
    if not sentences:
        raise InputError("no sentence of the reports states or denies a finding")
    found: list[Triple] = []
    refused: Counter[str] = Counter()
    stopped = ""
    with lo.open_model(output.with_suffix(".journal.jsonl"), limits) as (model, journal):
        line = lo.CostLine(model)
        try:
            for part in propose_triples(
                sentences,
                model=model,
                journal=journal,
                batch=batch,
                parallel=parallel,
                retry_failed=retry_failed,
                progress=None if quiet else line,
            ):
                found += part.triples
                refused.update(part.refused)
        except BudgetReached as error:
            stopped = str(error)
        finally:
            line.clear()
            write_triples(output, found)
            typer.echo(f"note: {lo.usage_text(model.usage)}", err=True)
    typer.echo(f"{len(found)} triples from {len(sentences)} sentences with findings", err=True)
    for why, count in refused.most_common():
        typer.echo(f"note: given up: {count} because {why}", err=True)
    if stopped:
        typer.echo(f"note: {stopped}; a larger --max-cost goes on", err=True)
