"""`radgauge export`, `board` and `rescore`: scores for others, beside others, and brought up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo


@o.command(o.app, "export")
def export_cli(
    scores: o.ScoresFile,
    to: Annotated[Literal["eee", "hf"], "Every Eval Ever 0.3, or Hugging Face evaluation results."] = "eee",
    dataset: Annotated[str, "Name of the reports that were judged."] = "radiology-reports",
    output: Annotated[Path, "-o", "The folder: files per system, no text of a report in them."] = Path("export"),
) -> None:
    """Write scores in a form that collections of evaluations take.

    Example:

      radgauge export scores.jsonl --to eee --dataset iu-xray-test -o export/
    """
    from radgauge.core.files import make_folder
    from radgauge.io.scores_file import read_scores
    from radgauge.report.sharing import write_export

    for path in write_export(make_folder(output), read_scores(scores), form=to, dataset=dataset):
        echo(str(path))


@o.command(o.app, "board")
def board_cli(
    folder: Annotated[Path, typer.Argument(help="A folder of scores files, one or more systems each.")],
    output: Annotated[Path, "-o", "The page."] = Path("board.html"),
) -> None:
    """Write a leaderboard page from many scores files.

    Example:

      radgauge board scores/ -o board.html
    """
    from radgauge.report.files import write_page
    from radgauge.report.sharing import board_page, gather

    write_page(output, board_page(gather(folder)))
    echo(str(output))


@o.command(o.app, "rescore")
def rescore_cli(
    scores: o.ScoresFile,
    metric: Annotated[
        list[str] | None, "-m", "Metrics to bring up to date or add; default: all of the file."
    ] = None,
    reports: Annotated[list[Path] | None, "Where the reports are now, if they have moved."] = None,
    output: Annotated[Path | None, "-o", "The new scores; default: the file itself."] = None,
) -> None:
    """Score again only what changed.

    Metrics of another signature are scored again, on the reports, which their hash finds.

    Example:

      radgauge rescore old.jsonl -m errors -o new.jsonl
    """
    from radgauge.core.cache import Cache
    from radgauge.core.readings import Readings
    from radgauge.io.scores_file import check_scores_path, write_scores
    from radgauge.run.rescore import rescore

    target = output or scores
    check_scores_path(target)
    results, names = rescore(scores, metric, reports=reports or (), reading=Readings(cache=Cache()))
    if names or output is not None:
        write_scores(target, results)
    echo(str(target))
    echo(f"scored again: {', '.join(names) or 'nothing, every signature is current'}", err=True)
