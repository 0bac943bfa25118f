"""`radgauge train pairs` and `estimator`: pairs of reports, and an estimator trained on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.cli.scale_options import Workers
from radgauge.core.choices import Section

train = o.subjects("train")


@o.command(train, "pairs")
def pairs_cli(
    say: o.ReadingOutput,
    workers: Workers,
    corpus: Annotated[
        Path, typer.Argument(help="Open-i XML folder, indiana_reports.csv, or a table with id, report and terms.")
    ],
    output: Annotated[Path, "-o", "Folder for the pairs."],
    kind: Annotated[
        Literal["top", "best"],
        "'top': the best pairs; 'best': each report's best.",
    ] = "top",
    share: Annotated[float, "Share of all pairs that 'top' keeps."] = 0.1,
    split: Annotated[
        Literal["report", "pairs"],
        (
            "'report': no report stands in two splits; 'pairs': pairs at random as in the paper, which "
            "lets reports of the test pairs be seen in training."
        ),
    ] = "report",
    clusters: Annotated[
        int | None, typer.Option("--clusters", min=1, help="Number of clusters; chosen if left out (paper: 6).")
    ] = None,
    section: Annotated[Section, "The part that is paired."] = "findings",
    columns: Annotated[str | None, "Name a table's columns yourself: id=A,report=B,terms=C."] = None,
    encoding: o.Encoding = None,
    duplicates: Annotated[bool, "Keep reports with equal texts."] = False,
    background: Annotated[
        float,
        typer.Option("--background", min=0, help="Random pairs added to training, per kept pair, and copies."),
    ] = 0.0,
    unordered: Annotated[
        bool,
        "Count two reports once, as the paper does; else both ways round.",
    ] = False,
    models: o.Models = "embedded",
    comet: Annotated[
        Literal["radcliq", "radgraph_f1", "bleu2"] | None,
        "Also write src,mt,score files for COMET's trainer with this target.",
    ] = None,
    seed: o.Seed = 0,
) -> None:
    """Build pairs of similar reports: cluster by terms, score all pairs in each cluster, keep the best.

    Examples:

      radgauge train pairs indiana_reports.csv --clusters 6 --output pairs/

      radgauge train pairs ecgen-radiology/ --kind best --split pairs --output best/

      radgauge train pairs indiana_reports.csv --clusters 6 --split pairs --unordered --models published -o paper/
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
        duplicates=duplicates,
        columns=o.roles(columns),
        encoding=encoding,
    )
    grouped = cluster_terms([report.terms for report in chosen.reports], k=clusters, seed=seed)
    pairs = build_pairs(
        chosen.reports,
        grouped,
        corpus=kind,
        share=share,
        split=split,
        background=background,
        unordered=unordered,
        models=models,
        seed=seed,
        reading=say.readings(),
        engine=workers.engine(),
    )
    about = {
        "corpus": corpus.name,
        "kind": kind,
        "share": share,
        "split": split,
        "background": background,
        "unordered": unordered,
        "seed": seed,
        "reader": RadGraph(models=models).parts()["reader"],
        "radgauge": __version__,
    }
    summary = write_pairs(output, pairs, chosen=chosen, clusters=grouped, about=about, comet_target=comet)
    if say.as_json:
        o.print_json(summary)
        return
    print_pairs(summary)
    say.tell(f"wrote {output}: reports.csv, train/val/test.csv, pairs.json, k_curves.svg, clusters.svg")


def print_pairs(summary: dict[str, Any]) -> None:
    """Clusters with their terms, then pairs by split."""
    from radgauge.core.wording import share
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    out = console()
    dropped = ", ".join(f"{number} {why}" for why, number in summary["dropped"].items() if number)
    out.print(
        f"{summary['reports']} reports ({dropped or 'none'} dropped); {summary['pairs_scored']:,} pairs scored"
    )
    rows: list[tuple[Any, ...]] = []
    for number, cluster in enumerate(summary["clusters"]):
        terms = [term["term"] for term in cluster["terms"][:2]] + ["", ""]
        rows.append((number, cluster["size"], *(text[:70] for text in terms[:2])))
    folded = [Column(head, fold=True) for head in ("most prominent terms", "second")]
    out.show(table("cluster", "reports", *folded, rows=rows))
    rows = []
    for name in ("train", "val", "test", "kept", "all"):
        overlap = summary["term_overlap"][name]
        known = summary["pairs"].get(name, summary["kept" if name == "kept" else "pairs_scored"])
        rows.append(
            (
                *(name, f"{known:,}", share(summary["abnormal"].get(name))),
                *(share(overlap[part]) for part in ("none", "one", "more")),
                share(summary["seen_in_training"].get(name)),
            )
        )
    heads = ("pairs", "abnormal", "terms shared: none", "one", "more", "reports seen in training")
    out.show(table("split", *(Column(head, right=True) for head in heads), rows=rows))
    if added := sum(summary["pairs"].values()) - summary["kept"]:
        out.print(f"{added:,} of the training pairs are background: random pairs and copies")


@o.command(train, "estimator")
def estimator_cli(
    say: o.Output,
    pairs: Annotated[
        Path, typer.Argument(help="Folder of `train pairs`, or a training table with src, mt, score.")
    ],
    output: Annotated[Path, "-o", "Folder for the checkpoint."],
    encoder: Annotated[str, "'embedded', or folder or hub id of a transformers encoder."] = "embedded",
    heads: Annotated[
        Literal["value", "counts"],
        "'value': one target; 'counts': errors in six categories, from judgments as `agree` reads them.",
    ] = "value",
    validation: Annotated[Path | None, "Validation table; val.csv of the folder if left out."] = None,
    target: Annotated[
        str,
        "radcliq, radgraph_f1, bleu2, errors_quality, or a column of your own, such as ratings.",
    ] = "radcliq",
    direction: Annotated[
        Literal["auto", "higher", "lower"],
        "Which way the target is better, if it is a column of your own.",
    ] = "auto",
    epochs: Annotated[int | None, typer.Option("--epochs", min=1)] = None,
    patience: Annotated[int | None, typer.Option("--patience", min=1, help="Epochs without a better tau.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=1)] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate")] = None,
    encoder_learning_rate: Annotated[float | None, typer.Option("--encoder-learning-rate")] = None,
    hidden_sizes: Annotated[str | None, "Of the head: 2048,1024."] = None,
    device: o.Device = "auto",
    seed: o.Seed = 0,
) -> None:
    """Train the estimator; the same command goes on after an interruption.

    Examples:

      radgauge train estimator pairs/ --output checkpoint/

      radgauge train estimator pairs/ --encoder emilyalsentzer/Bio_ClinicalBERT --epochs 40 --output clinic/
    """
    from dataclasses import replace

    from radgauge.core.errors import InputError, UsageError
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
    given: dict[str, Any] = {
        "epochs": epochs,
        "patience": patience,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "encoder_learning_rate": encoder_learning_rate,
        "hidden_sizes": _sizes(hidden_sizes),
    }
    given = {name: value for name, value in given.items() if value is not None}
    if heads == "counts":
        from radgauge.io.judgments import read_judgments

        settings = EstimatorSettings.for_counts(encoder, device=device, seed=seed, **given)
        tables = [count_pairs(read_judgments(path)) for path in (training, validation)]
    else:
        base = EstimatorSettings.for_embedded() if encoder == "embedded" else EstimatorSettings()
        settings = replace(
            base, encoder=encoder, target=target, direction=direction, device=device, seed=seed, **given
        )
        tables = [read_pairs(path, target=target) for path in (training, validation)]
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    trained = train_estimator(
        *tables,
        folder=output,
        settings=settings,
        about={"training": training.name, "validation_file": validation.name},
        tell=say.tell,
        progress=say.progress(),
    )
    if say.as_json:
        o.print_json({"folder": str(output), "best": trained.best, "epochs": list(trained.epochs)})
        return
    best = trained.best
    echo(f"best epoch {best.epoch}: validation Kendall tau {best.val_kendall:.4f}; checkpoint in {output}")


def _sizes(text: str | None) -> tuple[int, ...] | None:
    from radgauge.core.errors import UsageError

    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) for part in parts):
        raise UsageError(f"--hidden-sizes must be whole numbers separated by commas, got {text!r}")
    return tuple(int(part) for part in parts)
