"""`radgauge perturb` changes reports in known ways; `radgauge probe sensitivity` sees what metrics make of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.probe import probe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.perturb import PerturbationSet, Sensitivity, SensitivityStudy
    from radgauge.io.judgments.rate_eval import Triple
    from radgauge.render.tables import Row

METRICS_ABREAST = 4
Kinds = Annotated[str | None, typer.Option("--kinds", help="Kinds of change, comma-separated; all by default.")]
GeneralSentences = Annotated[
    bool,
    typer.Option(
        "--general-sentences",
        help="Give reports without an insignificant sentence one, so that every report has one to remove.",
    ),
]


@dataclass(frozen=True, slots=True)
class TripleWording:
    """Prompts that ask a language model for triples."""

    prompts: Annotated[
        str, "strict (ours), paper (what RaTE-Eval's two prompts ask), or a TOML file with rewrite and opposite."
    ] = "strict"
    unchecked: Annotated[bool, "Take what the model writes, as the paper did."] = False


@o.command(o.app, "perturb")
def perturb_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    say: o.Output,
    images: o.ImageFolder = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write originals and changed reports as cases (.jsonl, .csv, .parquet)."
        ),
    ] = None,
    kinds: Kinds = None,
    triples: Annotated[
        bool,
        typer.Option("--triples", help="Make rewrites and opposites (RaTE-Eval task 3) in place of the kinds."),
    ] = False,
    writer: Annotated[
        Literal["rules", "llm", "corpus"],
        typer.Option(
            "--writer",
            help="Who writes triples; llm: the server of --llm; corpus: found there.",
        ),
    ] = "rules",
    wording: Annotated[TripleWording, "With --writer llm"] = TripleWording(),
    general: GeneralSentences = False,
    llm: o.Llm = o.LlmSettings(),
    seed: o.Seed = 0,
) -> None:
    """Change reports in known ways.

    Examples:

      radgauge perturb reports.csv -o perturbed.jsonl --kinds change_location,flip_negation

      radgauge perturb reports.csv --triples -o triples.jsonl && radgauge probe triples triples.jsonl

      radgauge perturb reports.csv --triples --writer corpus -o mined.jsonl && radgauge probe triples mined.jsonl

      radgauge perturb reports.csv --triples --writer llm -o triples.jsonl --llm max_cost=2

      radgauge perturb reports.csv --triples --writer llm -o triples.jsonl
          --wording prompts=paper,unchecked=yes
    """
    from radgauge.analysis.perturb import make_triples, perturb_reports, perturbed_cases, write_triples
    from radgauge.core.errors import UsageError
    from radgauge.io.case_files import write_cases

    if writer == "llm" and (not triples or output is None):
        raise UsageError("--writer llm makes triples in a file: add --triples and -o triples.jsonl")
    if writer != "llm" and wording != TripleWording():
        raise UsageError("--wording is about what a language model writes: add --writer llm")
    if output is None and not say.as_json:
        raise UsageError("nothing to do: name a file with -o, or add --json")
    if triples and kinds:
        raise UsageError("--triples does not go with --kinds; give the file it writes to `radgauge probe triples`")
    originals = form.originals(reports, images=images)
    texts = {study: case.references[0] for study, case in originals.items()}
    if writer == "llm" and output is not None:
        write_llm_triples(texts, output, llm=llm, say=say, prompts=wording.prompts, checked=not wording.unchecked)
        return
    if triples and writer == "corpus":
        from radgauge.core.subjects import from_subject

        mined = from_subject("lay", "mining:mine_triples")(texts)
        if output is not None:
            write_triples(output, mined)
        if say.as_json:
            say.show({"triples": [triple._asdict() for triple in mined], "reports": len(texts)})
        say.tell(f"{len(mined)} triples of sentences found in {len(texts)} reports")
        return
    if triples:
        made = make_triples(texts, seed=seed)
        if output is not None:
            write_triples(output, made.triples)
        skipped = {"no_rewrite": made.no_rewrite, "no_opposite": made.no_opposite}
        if say.as_json:
            listed = [triple._asdict() for triple in made.triples]
            say.show({"triples": listed, "reports": len(texts), **skipped, "seed": seed})
        say.tell(f"{len(made.triples)} triples from {len(texts)} reports")
        say.notes(
            f"{made.no_rewrite} reports cannot be said in other words surely, {made.no_opposite} have no sensible "
            "opposite: left out"
        )
        return
    perturbations = perturb_reports(texts, o.names(kinds), seed=seed, general=general)
    if output is not None:
        write_cases(output, perturbed_cases(perturbations, cases=originals))
    if say.as_json:
        say.show({"perturbed": list(perturbations.perturbed.values()), **_about(perturbations, len(texts), seed)})
    _note_made(say, perturbations, len(texts))
    if output is not None:
        say.tell(f"wrote {output}")


@o.command(probe, "sensitivity")
def sensitivity_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    judged: o.Judging,
    say: o.Output,
    images: o.ImageFolder = None,
    kinds: Kinds = None,
    general: GeneralSentences = False,
    output: Annotated[
        list[Path] | None, "-o", "Write the study: .html with figures, .json, .csv, .md or .tex. Repeatable."
    ] = None,
    sampling: o.Tests = o.Testing(permutations=5000),
) -> None:
    """Change reports in known ways and judge the changes: do metrics notice what matters, and only that?

    Examples:

      radgauge probe sensitivity reports.csv -m bleu -m ratescore -o sensitivity.html
    """
    from radgauge.analysis.perturb import evaluate, perturb_reports

    originals = form.originals(reports, images=images)
    texts = {study: case.references[0] for study, case in originals.items()}
    perturbations = perturb_reports(texts, o.names(kinds), seed=sampling.seed, general=general)
    how = sampling.at_least(1)
    study = evaluate(
        perturbations,
        judged.metric or None,
        cases=originals,
        reading=say.readings(),
        models=judged.confirmed(),
        permutations=sampling.permutations,
        resampling=how,
    )
    pages = [path for path in output or () if path.suffix.lower() == ".html"]
    for html in pages:
        from radgauge.report.sensitivity import write_sensitivity

        settings = {"level": how.level, "resamples": how.resamples, "permutations": sampling.permutations}
        title = "What metrics make of known changes"
        about = {"title": title, "source": reports.name, "seed": sampling.seed, **settings}
        write_sensitivity(html, study, about=about)
    values = {"metrics": list(study.metrics), "possible": study.possible, "level": sampling.level}
    data = {**values, **_about(perturbations, len(texts), sampling.seed)}
    say.show(data, *_study_blocks(study), files=[path for path in output or () if path not in pages])
    _note_made(say, perturbations, len(texts))
    say.tell(*(f"wrote {html}" for html in pages))


def _about(perturbations: PerturbationSet, reports: int, seed: int) -> dict[str, object]:
    return {"seed": seed, "reports": reports, "none_possible": perturbations.none_possible}


def _note_made(say: o.Output, perturbations: PerturbationSet, reports: int) -> None:
    missing = ", ".join(f"{kind} {count}" for kind, count in perturbations.none_possible.items() if count)
    say.notes(f"{len(perturbations.perturbed)} changed reports from {reports}")
    if missing:
        say.notes(f"none possible (reports): {missing}")


def write_llm_triples(
    texts: Mapping[str, str],
    output: Path,
    *,
    llm: o.LlmSettings,
    say: o.Output,
    prompts: str = "strict",
    checked: bool = True,
) -> None:
    """Ask a language model for triples of all sentences with findings, and write those that the reader confirms.

    The journal lies beside the output; the same call goes on where a stopped one was.
    """
    from radgauge.analysis.perturb import write_triples
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.core.errors import InputError, UsageError
    from radgauge.core.progress import working
    from radgauge.core.subjects import from_subject
    from radgauge.llm import BudgetReached

    if output.suffix.lower() != ".jsonl":
        raise UsageError(f"triples are written as .jsonl, got {output.name}")
    filled = from_subject("lay", "llm_triples:triple_prompts")(prompts)
    sentences = from_subject("lay", "llm_triples:findings_sentences")(texts)
    if not sentences:
        raise InputError("no sentence of the reports states or denies a finding")
    collected: list[Triple] = []
    refused: Counter[str] = Counter()
    stopped = ""
    with working("asking"), open_model(output.with_suffix(".journal.jsonl"), llm) as (model, journal):
        try:
            for part in from_subject("lay", "llm_triples:propose_triples")(
                sentences,
                model=model,
                journal=journal,
                prompts=filled,
                checked=checked,
                batch=llm.batch,
                parallel=llm.parallel,
                retry_failed=llm.retry_failed,
                progress=None if say.quiet else CostLine(model),
            ):
                collected += part.triples
                refused.update(part.refused)
        except BudgetReached as error:
            stopped = str(error)
        finally:
            write_triples(output, collected)
            echo(f"note: {usage_text(model.usage)}", err=True)
    echo(f"{len(collected)} triples from {len(sentences)} sentences with findings", err=True)
    if not checked:
        echo("note: not checked: a rewrite may mean something else, an opposite the same", err=True)
    for why, count in refused.most_common():
        echo(f"note: given up: {count} because {why}", err=True)
    if stopped:
        echo(f"note: {stopped}; a larger max_cost goes on", err=True)


def _study_blocks(study: SensitivityStudy) -> list[o.Block]:
    # Values with intervals are wide: more metrics than fit go below, rather than being cut.
    blocks: list[o.Block] = []
    for start in range(0, len(study.metrics), METRICS_ABREAST):
        blocks += _metric_blocks(study, study.metrics[start : start + METRICS_ABREAST])
    return blocks[:-1]


def _metric_blocks(study: SensitivityStudy, metrics: Sequence[Sensitivity]) -> list[o.Block]:
    from radgauge.analysis.perturb import KINDS
    from radgauge.core.wording import number, p_value
    from radgauge.render.tables import Column, bounded, table

    rows: list[Row | None] = [
        (
            *(kind, KINDS[kind].family, count),
            *(bounded(metric.means[kind]) for metric in metrics),
        )
        for kind, count in study.possible.items()
    ]
    heads = [Column(metric.column, metric.higher_is_better) for metric in metrics]
    means = table("mean score by kind", "", "n", *heads, rows=rows)
    rows = []
    for name in metrics[0].deltas:
        by_metric = [metric.deltas[name] for metric in metrics]
        rows += [
            (name, *map(bounded, by_metric)),
            ("  p, corrected over metrics", *(p_value(delta.p_holm) for delta in by_metric)),
            (
                "  on the same report, p",
                *(f"{number(delta.paired)} {p_value(delta.paired_p_holm)}" for delta in by_metric),
            ),
        ]
    rows += [
        None,
        ("sensitivity: lost under significant changes", *(bounded(metric.sensitivity) for metric in metrics)),
        ("robustness: kept under harmless changes", *(bounded(metric.robustness) for metric in metrics)),
        ("pairs ranked right", *(bounded(metric.ranked_right) for metric in metrics)),
        ("pairs tied", *(number(metric.ties) for metric in metrics)),
        ("pairs", *(str(metric.pairs) for metric in metrics)),
    ]
    head = "insignificant minus significant\n(positive is right)"
    return [means, "", table(head, *(metric.column for metric in metrics), rows=rows), ""]
