"""`radgauge train ner`: train an entity recogniser, score one, annotate reports for it, count what a set holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_estimator import train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.lab.training.annotate_ner import Proposal
    from radgauge.lab.training.ner import TypeResult
    from radgauge.lab.training.ner_statistics import EntityStatistics
    from radgauge.render.terminal import Terminal

_PANEL = "Annotation (RaTEScore, appendix A.2)"


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """How reports are annotated without people."""

    annotate: Annotated[
        bool, typer.Option("--annotate", help="Annotate reports instead of training.", rich_help_panel=_PANEL)
    ] = False
    proposer: Annotated[
        Literal["reader", "llm"],
        typer.Option(
            "--proposer",
            help="Who proposes entities: the report reader, or the language model of RADGAUGE_LLM_URL.",
            rich_help_panel=_PANEL,
        ),
    ] = "reader"
    examples: Annotated[
        Path | None,
        typer.Option(
            "--examples", help="Annotated sentences to show the language model (RaTE-NER).", rich_help_panel=_PANEL
        ),
    ] = None
    proposals: Annotated[
        Path | None,
        typer.Option(
            "--proposals",
            help="Entities that a language model proposed before (JSON lines).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    library: Annotated[
        Path | None, typer.Option("--library", help="File of terms, one per line.", rich_help_panel=_PANEL)
    ] = None
    vocabulary: Annotated[
        list[Path] | None,
        typer.Option(
            "--vocabulary",
            help="Terms of your UMLS (MRCONSO.RRF), SNOMED CT (RF2 descriptions) or ICD-10-CM (order file). "
            "Repeatable.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder", help="What compares: embedded, medcpt, or a checkpoint.", rich_help_panel=_PANEL
        ),
    ] = "embedded"
    similarity: Annotated[
        float, typer.Option("--similarity", help="Smallest cosine with a known term.", rich_help_panel=_PANEL)
    ] = 0.83
    density: Annotated[
        float, typer.Option("--density", help="Smallest share of words in entities.", rich_help_panel=_PANEL)
    ] = 0.7

    def terms(self) -> list[str] | None:
        """The terms that an entity must resemble; None = those of the lexicon."""
        from radgauge.io.vocabularies import read_terms

        files = [*([self.library] if self.library is not None else []), *(self.vocabulary or [])]
        return list(dict.fromkeys(term.text for file in files for term in read_terms(file))) if files else None


@o.command(train, "ner")
def train_ner_cli(
    say: o.Output,
    how: Annotation,
    server: o.Server,
    train: Annotated[
        Path | None, typer.Argument(help="RaTE-NER file to learn from; with --annotate a table of reports.")
    ] = None,
    output: Annotated[Path | None, "-o", "Folder of the checkpoint, or annotated file."] = None,
    model: Annotated[str, "Starting checkpoint: folder or hub id; with --evaluate the tagger."] = "",
    scheme: Annotated[Literal["iob", "span"], "How entities are marked."] = "iob",
    dev: Annotated[Path | None, "Sentences to choose the epoch by."] = None,
    test: Annotated[Path | None, "Sentences to report on at the end."] = None,
    evaluate: Annotated[Path | None, "Score the tagger --model on these sentences; no training."] = None,
    describe: Annotated[Path | None, "Count the sentences and entities of this file; no training."] = None,
    by: Annotated[str | None, "With --describe: also by this field: modality, anatomy."] = None,
    epochs: Annotated[int, "Passes over the sentences."] = 10,
    batch_size: Annotated[int, "Sentences per step."] = 96,
    learning_rate: Annotated[float | None, "Default: 1e-5 (iob), 6e-6 (span)."] = None,
    device: o.Device = "auto",
    seed: o.Seed = 0,
) -> None:
    """Train an entity recogniser; the same command goes on with a run that was stopped.

    Examples:

      radgauge train ner train_IOB.json --dev dev_IOB.json --model microsoft/deberta-v3-base -o my-ner

      radgauge score reports.csv -m ratescore:ner=my-ner

      radgauge train ner --evaluate test_IOB.json --model Angelakeke/RaTE-NER-Deberta

      radgauge train ner --describe train_IOB.json --by modality

      radgauge train ner reports.csv --annotate --proposer llm --vocabulary MRCONSO.RRF -o annotated.json
    """
    from radgauge.core.errors import UsageError
    from radgauge.encoders.checkpoints.catalogue import located
    from radgauge.lab.training.ner import NerSettings, evaluate_tagger, train_ner
    from radgauge.lab.training.ner_files import read_ner
    from radgauge.render.terminal import console

    if describe is not None:
        from radgauge.lab.training.ner_statistics import describe_ner

        found = describe_ner(describe, by=by)
        if say.as_json:
            o.print_json(found)
        else:
            print_statistics(console(), found, by)
        return
    if evaluate is not None:
        if not model:
            raise UsageError("--evaluate needs --model: the tagger to score, a folder or a hub id")
        results = evaluate_tagger(located(model), read_ner(evaluate), device=device)
        if say.as_json:
            o.print_json({"results": results, "model": model})
        else:
            print_ner(console(), results)
        return
    if train is None or output is None:
        raise UsageError("a file to learn from and -o are needed; or --evaluate FILE, or --describe FILE")
    if how.annotate:
        _annotate(train, output, how, server, say=say)
        return
    if not model:
        raise UsageError("--model is needed: the checkpoint to start from, such as microsoft/deberta-v3-base")
    settings = NerSettings(
        located(model), scheme=scheme, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, seed=seed
    )
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    results = train_ner(
        read_ner(train),
        output,
        settings=settings,
        dev=read_ner(dev) if dev is not None else (),
        device=device,
        progress=say.progress(),
    )
    if test is not None:
        results = evaluate_tagger(str(output), read_ner(test), device=device)
    if say.as_json:
        o.print_json({"results": results, "checkpoint": str(output), "seed": seed})
        return
    print_ner(console(), results)
    say.notes(f"checkpoint in {output}; use it with -m ratescore:ner={output}")


def print_ner(out: Terminal, results: Sequence[TypeResult]) -> None:
    """Precision, recall and F1 by entity type."""
    from radgauge.render.tables import table

    rows = [
        (each.type.lower(), each.precision, each.recall, each.f1, each.accuracy, each.entities) for each in results
    ]
    if rows:
        out.show(table("type", "precision", "recall", "F1", "accuracy", "entities", rows=rows))


def print_statistics(out: Terminal, found: Sequence[EntityStatistics], by: str | None) -> None:
    """Counts by part, distinct entities in brackets, as table 1 of the paper prints them."""
    from radgauge.render.tables import Column, table

    def both(counts: tuple[int, int]) -> str:
        return f"{counts[0]:,} ({counts[1]:,})"

    rows = [
        [
            *(each.part, f"{each.sentences:,}", "–" if each.reports is None else f"{each.reports:,}"),
            *(both(counts) for counts in (each.entities, *each.types.values())),
        ]
        for each in found
    ]
    heads = ("sentences", "reports", "entities", *(kind.lower() for kind in found[0].types))
    out.show(table(by or "part", *(Column(head, right=True) for head in heads), rows=rows))


def _annotate(reports: Path, output: Path, how: Annotation, server: o.Server, *, say: o.Output) -> None:
    from radgauge.core.errors import InputError, UsageError
    from radgauge.encoders.checkpoints.catalogue import located
    from radgauge.encoders.text.encoders import encoder_named
    from radgauge.io.tables import read_table
    from radgauge.lab.training.annotate_ner import annotate, read_proposals
    from radgauge.lab.training.ner_files import write_ner

    if how.proposer == "llm" and how.proposals is not None:
        raise UsageError("--proposals are entities of an earlier run; leave them or --proposer llm out")
    table = read_table(reports)
    column = next((name for name in ("report", "text", "findings", "reference") if name in table.columns), None)
    if column is None:
        raise InputError(
            f"{reports}: a table of reports must have the column report, text, findings or reference; it has "
            f"{', '.join(table.columns)}"
        )
    texts = [str(record.values.get(column) or "") for record in table.records]
    library = how.terms()
    proposed = read_proposals(how.proposals) if how.proposals is not None else None
    if how.proposer == "llm":
        proposed = _ask_for_entities(texts, output, how, server, say=say)
    sentences, counts = annotate(
        texts,
        proposals=proposed,
        library=library,
        encoder=encoder_named(located(how.encoder), pooling="auto" if how.encoder == "embedded" else "cls"),
        similarity=how.similarity,
        density=how.density,
    )
    write_ner(output, sentences)
    if say.as_json:
        o.print_json({"counts": counts, "output": str(output)})
        return
    say.notes(
        f"{counts.kept_sentences} of {counts.sentences} sentences with {counts.kept_entities} entities "
        f"written to {output}; {counts.close} of {counts.proposed} proposals are close to a known term"
    )


def _ask_for_entities(
    texts: Sequence[str], output: Path, how: Annotation, server: o.Server, *, say: o.Output
) -> dict[str, list[Proposal]]:
    """Entities of all sentences from the language model; the journal beside the output keeps what was answered."""
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.lab.training.ner_files import read_ner
    from radgauge.lab.training.propose_ner import propose_entities

    examples = read_ner(how.examples) if how.examples is not None else ()
    with open_model(output.with_suffix(".journal.jsonl"), server.settings) as (model, journal):
        try:
            found = propose_entities(
                texts,
                model=model,
                journal=journal,
                examples=examples,
                batch=server.settings.batch,
                parallel=server.settings.parallel,
                retry_failed=server.settings.retry_failed,
                progress=None if say.quiet else CostLine(model),
            )
        finally:
            echo(f"note: {usage_text(model.usage)}", err=True)
    say.notes(*(f"given up: {count} sentences because {why}" for why, count in found.refused.items()))
    return dict(found.entities)
