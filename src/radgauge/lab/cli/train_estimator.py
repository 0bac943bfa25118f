"""`radgauge train pairs` and `estimator`: pairs of reports, and an estimator trained on them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.core.choices import Section
from radgauge.core.errors import InputError, UsageError
from radgauge.io.tables.columns import parse_columns

train = o.subjects("train")


IN_SUMMARY = ("kind", "share", "split", "background", "unordered", "seed")


@dataclass(frozen=True, slots=True)
class PairSettings:
    """Choice of pairs."""

    kind: Annotated[Literal["top", "best"], "The best pairs, or each report's best."] = "top"
    share: Annotated[float, "Share of all pairs that 'top' keeps."] = 0.1
    split: Annotated[
        Literal["report", "pairs"],
        "report: no report is in two splits; pairs: at random as in the paper, which lets reports of the test "
        "pairs be seen in training.",
    ] = "report"
    clusters: Annotated[int | None, "Number of clusters; chosen if left out (paper: 6)."] = None
    duplicates: Annotated[bool, "Keep reports with equal texts."] = False
    background: Annotated[float, "Random pairs added to training, per kept pair, and copies."] = 0.0
    unordered: Annotated[bool, "Count two reports once, as the paper does; else both ways round."] = False
    encoding: Annotated[str | None, "Encoding of a table, if not UTF-8."] = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.clusters is not None and self.clusters < 1:
            raise UsageError(f"clusters must be at least 1, got {self.clusters}")
        if not self.background >= 0:
            raise UsageError(f"background must be at least 0, got {self.background}")


@o.command(train, "pairs")
def pairs_cli(
    say: o.Output,
    corpus: Annotated[
        Path, typer.Argument(help="Open-i XML folder, indiana_reports.csv, or a table with id, report and terms.")
    ],
    output: Annotated[Path, "-o", "Folder for the pairs."],
    section: Annotated[Section, "The part that is paired."] = "findings",
    columns: Annotated[str | None, "Name a table's columns yourself: id=A,report=B,terms=C."] = None,
    models: o.Models = "embedded",
    comet: Annotated[
        Literal["radcliq", "radgraph_f1", "bleu2"] | None,
        "Also write src,mt,score files for COMET's trainer with this target.",
    ] = None,
    settings: Annotated[PairSettings, "Which pairs"] = PairSettings(),
    jobs: o.Jobs = None,
) -> None:
    """Build pairs of similar reports: cluster by terms, score all pairs in each cluster, keep the best.

    Examples:

      radgauge train pairs indiana_reports.csv --settings clusters=6 -o pairs/

      radgauge train pairs ecgen-radiology/ --settings kind=best,split=pairs -o best/

      radgauge train pairs indiana_reports.csv -o paper/ --models published
          --settings clusters=6,split=pairs,unordered=yes
    """
    from radgauge import __version__
    from radgauge.lab.training.clusters import cluster_terms
    from radgauge.lab.training.pair_files import write_pairs
    from radgauge.lab.training.pairs import build_pairs
    from radgauge.lab.training.term_reports import read_term_reports
    from radgauge.metrics.radgraph import RadGraph

    chosen = read_term_reports(
        corpus,
        section=section,
        duplicates=settings.duplicates,
        columns=parse_columns(columns) if columns else None,
        encoding=settings.encoding,
    )
    grouped = cluster_terms([report.terms for report in chosen.reports], k=settings.clusters, seed=settings.seed)
    pairs = build_pairs(
        chosen.reports,
        grouped,
        corpus=settings.kind,
        share=settings.share,
        split=settings.split,
        background=settings.background,
        unordered=settings.unordered,
        models=models,
        seed=settings.seed,
        reading=say.readings(),
        engine=o.engine(jobs),
    )
    about = {
        "corpus": corpus.name,
        **{name: value for name, value in asdict(settings).items() if name in IN_SUMMARY},
        "reader": RadGraph(models=models).parts()["reader"],
        "radgauge": __version__,
    }
    summary = write_pairs(output, pairs, chosen=chosen, clusters=grouped, about=about, comet_target=comet)
    say.show(summary, *_pair_blocks(summary))
    say.tell(f"wrote {output}: reports.csv, train/val/test.csv, pairs.json, k_curves.svg, clusters.svg")


def _pair_blocks(summary: dict[str, Any]) -> list[o.Block]:
    """Return clusters with their terms, then pairs by split."""
    from radgauge.core.wording import share
    from radgauge.render.tables import Column, table

    dropped = ", ".join(f"{number} {why}" for why, number in summary["dropped"].items() if number)
    blocks: list[o.Block] = [
        f"{summary['reports']} reports ({dropped or 'none'} dropped); {summary['pairs_scored']:,} pairs scored"
    ]
    rows: list[tuple[Any, ...]] = []
    for number, cluster in enumerate(summary["clusters"]):
        terms = [term["term"] for term in cluster["terms"][:2]] + ["", ""]
        rows.append((number, cluster["size"], *(text[:70] for text in terms[:2])))
    folded = [Column(head, fold=True) for head in ("most prominent terms", "second")]
    blocks.append(table("cluster", "reports", *folded, rows=rows))
    rows = []
    for name in ("train", "val", "test", "kept", "all"):
        overlap = summary["term_overlap"][name]
        number_of_pairs = summary["pairs"].get(name, summary["kept" if name == "kept" else "pairs_scored"])
        rows.append(
            (
                *(name, f"{number_of_pairs:,}", share(summary["abnormal"].get(name))),
                *(share(overlap[part]) for part in ("none", "one", "more")),
                share(summary["seen_in_training"].get(name)),
            )
        )
    heads = ("pairs", "abnormal", "terms shared: none", "one", "more", "reports seen in training")
    blocks.append(table("split", *(Column(head, right=True) for head in heads), rows=rows))
    if added := sum(summary["pairs"].values()) - summary["kept"]:
        blocks.append(f"{added:,} of the training pairs are background: random pairs and copies")
    return blocks


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """Changes to the usual training of the encoder."""

    epochs: Annotated[int | None, "Maximum number of epochs."] = None
    patience: Annotated[int | None, "Epochs without a better tau."] = None
    batch_size: Annotated[int | None, "Pairs per step."] = None
    learning_rate: Annotated[float | None, "Peak learning rate of the head."] = None
    encoder_learning_rate: Annotated[float | None, "That of the encoder's top layer."] = None
    hidden_sizes: Annotated[tuple[int, ...], "Layers of the head: 2048+1024."] = ()
    features: Annotated[
        Literal["auto", "claims", "words"],
        "With encoder 'embedded': claims, or words and graphs; auto: words for scores of `train pairs` only.",
    ] = "auto"
    start: Annotated[
        Literal["random", "shipped"], "With encoder 'embedded': the head's first weights; shipped: radgauge's own."
    ] = "random"
    direction: Annotated[
        Literal["auto", "higher", "lower"] | None, "Which way the target is better, if it is a column of your own."
    ] = None
    device: Annotated[str, "auto, cpu or cuda."] = "auto"
    seed: int = 0


@o.command(train, "estimator")
def estimator_cli(
    say: o.Output,
    pairs: Annotated[
        Path, typer.Argument(help="Folder of `train pairs`, or a training table with src, mt, score.")
    ],
    output: Annotated[Path, "-o", "Folder for the checkpoint."],
    encoder: Annotated[str, "'embedded', or name, folder or hub id of a transformers encoder."] = "embedded",
    heads: Annotated[
        Literal["value", "counts"],
        "'value': one target; 'counts': errors in six categories, from judgments as `agree` reads them.",
    ] = "value",
    validation: Annotated[Path | None, "Validation table; val.csv of the folder if left out."] = None,
    target: Annotated[
        str,
        "radcliq, radgraph_f1, bleu2, errors_quality, or a column of your own, such as ratings.",
    ] = "radcliq",
    settings: Annotated[PaceSettings, "Training, where not as usual"] = PaceSettings(),
) -> None:
    """Train the estimator; the same command goes on after an interruption.

    Examples:

      radgauge train estimator pairs/ --output checkpoint/

      radgauge train estimator pairs/ --encoder emilyalsentzer/Bio_ClinicalBERT --settings epochs=40 -o clinic/
    """
    from radgauge.encoders.checkpoints.catalogue import located
    from radgauge.lab.training.estimator import train_estimator
    from radgauge.lab.training.estimator_settings import EstimatorSettings
    from radgauge.lab.training.pair_files import count_pairs, read_pairs

    if heads == "counts":
        training = pairs
        if validation is None:
            raise UsageError("count heads need --validation FILE with judgments of other studies")
    elif pairs.is_dir():
        training, validation = pairs / "train.csv", validation or pairs / "val.csv"
    elif not pairs.exists() and not pairs.suffix:
        raise InputError(f"{pairs} does not exist; `radgauge train pairs CORPUS -o {pairs}` makes such a folder")
    elif validation is None:
        raise UsageError("a single training table needs --validation FILE")
    else:
        training = pairs
    encoder = located(encoder)
    overrides: dict[str, Any] = {
        name: value for name, value in asdict(settings).items() if value not in (None, ())
    }
    if heads == "counts":
        from radgauge.io.judgments import read_judgments

        complete = EstimatorSettings.for_counts(encoder, **overrides)
        tables = [count_pairs(read_judgments(path)) for path in (training, validation)]
    else:
        base = EstimatorSettings.for_embedded() if encoder == "embedded" else EstimatorSettings()
        complete = replace(base, encoder=encoder, target=target, **overrides)
        tables = [read_pairs(path, target=target) for path in (training, validation)]
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    trained = train_estimator(
        *tables,
        folder=output,
        settings=complete,
        about={"training": training.name, "validation_file": validation.name},
        tell=say.tell,
        progress=say.progress(),
    )
    best = trained.best
    text = f"best epoch {best.epoch}: validation Kendall tau {best.val_kendall:.4f}; checkpoint in {output}"
    say.show({"folder": str(output), "best": best, "epochs": list(trained.epochs)}, text)
