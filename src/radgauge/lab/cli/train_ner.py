"""`radgauge train ner`: train an entity recogniser, score one, annotate reports for it, count what a set holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_estimator import train
from radgauge.lab.training.ner import NerSettings
from radgauge.render.tables import Column, Table, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.lab.training.annotate_ner import Proposal
    from radgauge.lab.training.ner import TypeResult
    from radgauge.lab.training.ner_statistics import EntityStatistics


@dataclass(frozen=True, slots=True)
class Annotation:
    """Annotation of reports without people (RaTEScore, appendix A.2)."""

    proposer: Annotated[
        Literal["reader", "llm"], "Who proposes entities: the report reader, or the language model of --llm."
    ] = "reader"
    examples: Annotated[Path | None, "Annotated sentences to show the language model (RaTE-NER)."] = None
    proposals: Annotated[Path | None, "Entities that a language model proposed before (JSON lines)."] = None
    library: Annotated[Path | None, "File of terms, one per line."] = None
    vocabulary: Annotated[
        tuple[Path, ...],
        "Terms of your UMLS (MRCONSO.RRF), SNOMED CT (RF2 descriptions) or ICD-10-CM (order file): a+b.",
    ] = ()
    encoder: Annotated[str, "What compares: embedded, medcpt, or a checkpoint."] = "embedded"
    similarity: Annotated[float, "Smallest cosine with a known term."] = 0.83
    density: Annotated[float, "Smallest share of words in entities."] = 0.7

    def terms(self) -> list[str] | None:
        """The terms that an entity must resemble; None = those of the lexicon."""
        from radgauge.io.vocabularies import read_terms

        files = [*([self.library] if self.library is not None else []), *self.vocabulary]
        return list(dict.fromkeys(term.text for file in files for term in read_terms(file))) if files else None


RECORD_FIELDS = ("id", "report_id", "study_id", "modality", "anatomy")
"""Columns of a table of reports that an annotated record keeps."""


@o.command(train, "ner")
def train_ner_cli(
    say: o.Output,
    train: Annotated[
        Path | None, typer.Argument(help="RaTE-NER file to learn from; with --annotate a table of reports.")
    ] = None,
    output: Annotated[Path | None, "-o", "Folder of the checkpoint, or annotated file."] = None,
    model: Annotated[
        str, "Starting checkpoint: folder or hub id; with --evaluate the tagger, also 'embedded'."
    ] = "",
    annotate: Annotated[bool, "Annotate reports instead of training."] = False,
    dev: Annotated[Path | None, "Sentences to choose the epoch by."] = None,
    test: Annotated[Path | None, "Sentences to report on at the end."] = None,
    evaluate: Annotated[Path | None, "Score the tagger --model on these sentences; no training."] = None,
    describe: Annotated[Path | None, "Count the sentences and entities of this file; no training."] = None,
    by: Annotated[str | None, "With --describe: also by this field: modality, anatomy."] = None,
    settings: Annotated[NerSettings, "Training"] = NerSettings(""),
    annotation: Annotated[Annotation, "Annotation"] = Annotation(),
    llm: o.Llm = o.LlmSettings(),
) -> None:
    """Train an entity recogniser; the same command goes on with a run that was stopped.

    Examples:

      radgauge train ner train_IOB.json --dev dev_IOB.json --model microsoft/deberta-v3-base -o my-ner

      radgauge score reports.csv -m ratescore:ner=my-ner

      radgauge train ner --evaluate test_IOB.json --model Angelakeke/RaTE-NER-Deberta

      radgauge train ner --describe train_IOB.json --by modality

      radgauge train ner reports.csv --annotate -o annotated.json
          --annotation proposer=llm,vocabulary=MRCONSO.RRF
    """
    from radgauge.core.errors import UsageError
    from radgauge.encoders.checkpoints.catalogue import located
    from radgauge.lab.training.ner import evaluate_tagger, overtagging, train_ner
    from radgauge.lab.training.ner_files import read_ner

    if describe is not None:
        from radgauge.lab.training.ner_statistics import describe_ner

        statistics = describe_ner(describe, by=by)
        say.show(statistics, _statistics_table(statistics, by))
        return
    if evaluate is not None:
        if not model:
            raise UsageError("--evaluate needs --model: the tagger to score, a folder or a hub id")
        results = evaluate_tagger(located(model), read_ner(evaluate), device="auto")
        say.show({"results": results, "model": model}, *_type_tables(results))
        say.notes(*filter(None, [overtagging(results)]))
        return
    if train is None or output is None:
        raise UsageError("a file to learn from and -o are needed; or --evaluate FILE, or --describe FILE")
    if annotate:
        _annotate(train, output, annotation, llm, say=say)
        return
    if not model:
        raise UsageError("--model is needed: the checkpoint to start from, such as microsoft/deberta-v3-base")
    settings = replace(settings, model=located(model))
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    results = train_ner(
        read_ner(train),
        output,
        settings=settings,
        dev=read_ner(dev) if dev is not None else (),
        device="auto",
        progress=say.progress(),
    )
    if test is not None:
        results = evaluate_tagger(str(output), read_ner(test), device="auto")
    say.show({"results": results, "checkpoint": str(output), "seed": settings.seed}, *_type_tables(results))
    say.notes(
        f"checkpoint in {output}; use it with -m ratescore:ner={output}", *filter(None, [overtagging(results)])
    )


def _type_tables(results: Sequence[TypeResult]) -> list[o.Block]:
    """Return precision, recall and F1 by entity type."""
    rows = [
        (result.type.lower(), result.precision, result.recall, result.f1, result.accuracy, result.entities)
        for result in results
    ]
    return [table("type", "precision", "recall", "F1", "accuracy", "entities", rows=rows)] if rows else []


def _statistics_table(statistics: Sequence[EntityStatistics], by: str | None) -> Table:
    """Return counts by part, distinct entities in brackets, as table 1 of the paper prints them."""

    def both(counts: tuple[int, int]) -> str:
        return f"{counts[0]:,} ({counts[1]:,})"

    rows = [
        [
            *(row.part, f"{row.sentences:,}", "–" if row.reports is None else f"{row.reports:,}"),
            *(both(counts) for counts in (row.entities, *row.types.values())),
        ]
        for row in statistics
    ]
    heads = ("sentences", "reports", "entities", *(kind.lower() for kind in statistics[0].types))
    return table(by or "part", *(Column(head, right=True) for head in heads), rows=rows)


def _annotate(reports: Path, output: Path, how: Annotation, llm: o.LlmSettings, *, say: o.Output) -> None:
    from radgauge.core.errors import InputError, UsageError
    from radgauge.encoders.checkpoints.catalogue import located
    from radgauge.encoders.text.encoders import encoder_named
    from radgauge.io.tables import read_table
    from radgauge.lab.training.annotate_ner import annotate, read_proposals
    from radgauge.lab.training.ner_files import write_ner

    if how.proposer == "llm" and how.proposals is not None:
        raise UsageError("--proposals are entities of an earlier run; leave them or --proposer llm out")
    source = read_table(reports)
    column = next((name for name in ("report", "text", "findings", "reference") if name in source.columns), None)
    if column is None:
        raise InputError(
            f"{reports}: a table of reports must have the column report, text, findings or reference; it has "
            f"{', '.join(source.columns)}"
        )
    texts = [str(record.values.get(column) or "") for record in source.records]
    library = how.terms()
    proposed = read_proposals(how.proposals) if how.proposals is not None else None
    if how.proposer == "llm":
        proposed = _ask_for_entities(texts, output, how, llm, say=say)
    sentences, counts = annotate(
        texts,
        about=[
            {name: str(record.values[name]) for name in RECORD_FIELDS if record.values.get(name) not in (None, "")}
            for record in source.records
        ],
        proposals=proposed,
        library=library,
        encoder=encoder_named(located(how.encoder), pooling="auto" if how.encoder == "embedded" else "cls"),
        similarity=how.similarity,
        density=how.density,
    )
    write_ner(output, sentences)
    say.show({"counts": counts, "output": str(output)})
    say.notes(
        f"{counts.kept_sentences} of {counts.sentences} sentences with {counts.kept_entities} entities "
        f"written to {output}; {counts.close} of {counts.proposed} proposals are close to a known term"
    )


def _ask_for_entities(
    texts: Sequence[str], output: Path, how: Annotation, llm: o.LlmSettings, *, say: o.Output
) -> dict[str, list[Proposal]]:
    """Entities of all sentences from the language model; the journal beside the output keeps what was answered."""
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.lab.training.ner_files import read_ner
    from radgauge.lab.training.propose_ner import propose_entities

    examples = read_ner(how.examples) if how.examples is not None else ()
    with open_model(output.with_suffix(".journal.jsonl"), llm) as (model, journal):
        try:
            proposals = propose_entities(
                texts,
                model=model,
                journal=journal,
                examples=examples,
                batch=llm.batch,
                parallel=llm.parallel,
                retry_failed=llm.retry_failed,
                progress=None if say.quiet else CostLine(model),
            )
        finally:
            echo(f"note: {usage_text(model.usage)}", err=True)
    say.notes(*(f"given up: {count} sentences because {why}" for why, count in proposals.refused.items()))
    return dict(proposals.entities)
