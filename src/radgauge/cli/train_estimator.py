"""`radgauge train pairs` and `radgauge train estimator`: what the metric `comet` learns from, and learning it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps


def register(app: typer.Typer) -> None:
    """Add the two commands."""
    app.command("pairs")(pairs_cli)
    app.command("estimator")(estimator_cli)


def pairs_cli(
    corpus: Annotated[
        Path, typer.Argument(help="Open-i XML folder, indiana_reports.csv, or a table with id, report and terms.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pairs.")],
    kind: Annotated[
        str, typer.Option("--kind", help="'top': the best pairs; 'best': each report's best.")
    ] = "top",
    share: Annotated[float, typer.Option("--share", help="Share of all pairs that 'top' keeps.")] = 0.1,
    split: Annotated[
        str,
        typer.Option(
            "--split",
            help="'report': no report stands in two splits; 'pairs': pairs at random as in the paper, which "
            "lets reports of the test pairs be seen in training.",
        ),
    ] = "report",
    clusters: Annotated[
        int | None, typer.Option("--clusters", min=1, help="Number of clusters; chosen if left out (paper: 6).")
    ] = None,
    section: Annotated[str, typer.Option("--section", help="findings, impression, both or whole.")] = "findings",
    columns: Annotated[
        str | None, typer.Option("--columns", help="Name a table's columns yourself: id=A,report=B,terms=C.")
    ] = None,
    encoding: o.Encoding = None,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Keep reports with equal texts.")] = False,
    background: Annotated[
        float,
        typer.Option("--background", min=0, help="Random pairs added to training, per kept pair, and copies."),
    ] = 0.0,
    comet: Annotated[
        str | None,
        typer.Option("--comet", help="Also write src,mt,score files for COMET's trainer with this target."),
    ] = None,
    seed: o.Seed = 0,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Build pairs of similar reports: cluster by terms, score all pairs in each cluster, keep the best.

    Examples:

      radgauge train pairs indiana_reports.csv --clusters 6 --output pairs/

      radgauge train pairs ecgen-radiology/ --kind best --split pairs --output best/
    """
    from radgauge import __version__
    from radgauge.io.tables.columns import parse_columns
    from radgauge.report_reader import ReportReader
    from radgauge.training.clusters import cluster_terms
    from radgauge.training.pair_files import check_target, write_pairs
    from radgauge.training.pairs import build_pairs
    from radgauge.training.term_reports import read_term_reports

    if comet is not None:
        check_target(comet)
    chosen = read_term_reports(
        corpus,
        section=section,
        duplicates=duplicates,
        columns=parse_columns(columns) if columns else None,
        encoding=encoding,
    )
    grouped = cluster_terms([report.terms for report in chosen.reports], k=clusters, seed=seed)
    reading = o.open_readings(no_cache=no_cache, quiet=quiet)
    pairs = build_pairs(
        chosen.reports,
        grouped,
        corpus=kind,
        share=share,
        split=split,
        background=background,
        seed=seed,
        reading=reading,
    )
    about = {
        "corpus": corpus.name,
        "kind": kind,
        "share": share,
        "split": split,
        "background": background,
        "seed": seed,
        "reader": ReportReader().signature,
        "radgauge": __version__,
    }
    summary = write_pairs(output, pairs, chosen=chosen, clusters=grouped, about=about, comet_target=comet)
    if as_json:
        typer.echo(o.to_json(summary))
        return
    _show_pairs(summary)
    if not quiet:
        typer.echo(
            f"wrote {output}: reports.csv, train/val/test.csv, pairs.json, k_curves.svg, clusters.svg", err=True
        )


def _show_pairs(summary: dict[str, Any]) -> None:
    from radgauge.cli.render import console, plain_table

    out = console()
    dropped = ", ".join(f"{number} {why}" for why, number in summary["dropped"].items() if number)
    out.print(
        f"{summary['reports']} reports ({dropped or 'none'} dropped); {summary['pairs_scored']:,} pairs scored"
    )
    table = plain_table("cluster", "reports", "most prominent terms", "second", right=(0, 1), fold=(2, 3))
    for number, cluster in enumerate(summary["clusters"]):
        terms = [term["term"] for term in cluster["terms"][:2]] + ["", ""]
        table.add_row(str(number), str(cluster["size"]), *(text[:70] for text in terms[:2]))
    out.print(table)
    table = plain_table(
        *("split", "pairs", "abnormal", "terms shared: none", "one", "more", "reports seen in training"),
        right=range(1, 7),
    )
    for name in ("train", "val", "test", "kept", "all"):
        overlap = summary["term_overlap"][name]
        known = summary["pairs"].get(name, summary["kept" if name == "kept" else "pairs_scored"])
        table.add_row(
            name,
            f"{known:,}",
            _percent(summary["abnormal"].get(name)),
            *(_percent(overlap[part]) for part in ("none", "one", "more")),
            _percent(summary["seen_in_training"].get(name)),
        )
    out.print(table)
    if added := sum(summary["pairs"].values()) - summary["kept"]:
        out.print(f"{added:,} of the training pairs are background: random pairs and copies")


def _percent(share: float | None) -> str:
    return "–" if share is None or share != share else f"{100 * share:.1f} %"


def estimator_cli(
    pairs: Annotated[
        Path, typer.Argument(help="Folder of `train pairs`, or a training table with src, mt, score.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the checkpoint.")],
    encoder: Annotated[
        str, typer.Option("--encoder", help="'embedded', or folder or hub id of a transformers encoder.")
    ] = "embedded",
    validation: Annotated[
        Path | None, typer.Option("--validation", help="Validation table; val.csv of the folder if left out.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", help="radcliq, radgraph_f1, bleu2, errors_quality.")
    ] = "radcliq",
    epochs: Annotated[int | None, typer.Option("--epochs", min=1)] = None,
    patience: Annotated[int | None, typer.Option("--patience", min=1, help="Epochs without a better tau.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=1)] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate")] = None,
    encoder_learning_rate: Annotated[float | None, typer.Option("--encoder-learning-rate")] = None,
    hidden_sizes: Annotated[str | None, typer.Option("--hidden-sizes", help="Of the head: 2048,1024.")] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Train the estimator; the same command goes on after an interruption.

    Examples:

      radgauge train estimator pairs/ --output checkpoint/

      radgauge train estimator pairs/ --encoder emilyalsentzer/Bio_ClinicalBERT --epochs 40 --output clinic/
    """
    from dataclasses import replace

    from radgauge.cli.progress import bars
    from radgauge.errors import InputError, UsageError
    from radgauge.training.estimator import train_estimator
    from radgauge.training.estimator_settings import EstimatorSettings
    from radgauge.training.pair_files import read_pairs

    if pairs.is_dir():
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
    base = EstimatorSettings.for_embedded() if encoder == "embedded" else EstimatorSettings()
    settings = replace(
        base,
        encoder=encoder,
        target=target,
        device=device,
        seed=seed,
        **{name: value for name, value in given.items() if value is not None},
    )
    keeps(lambda: output.is_dir() and any(output.iterdir()))
    trained = train_estimator(
        read_pairs(training, target=target),
        read_pairs(validation, target=target),
        folder=output,
        settings=settings,
        about={"training": training.name, "validation_file": validation.name},
        tell=None if quiet else lambda line: typer.echo(line, err=True),
        progress=None if quiet else bars("training"),
    )
    if as_json:
        typer.echo(o.to_json({"folder": str(output), "best": trained.best, "epochs": list(trained.epochs)}))
        return
    best = trained.best
    typer.echo(f"best epoch {best.epoch}: validation Kendall tau {best.val_kendall:.4f}; checkpoint in {output}")


def _sizes(text: str | None) -> tuple[int, ...] | None:
    from radgauge.errors import UsageError

    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) for part in parts):
        raise UsageError(f"--hidden-sizes must be whole numbers separated by commas, got {text!r}")
    return tuple(int(part) for part in parts)
