"""What a built lay set holds, data for tuning from it, and how metrics behave on raw and on lay text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from layman_rrg.cli_studies import OtherMetrics, layman
from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.lay.cli.layman_build import Folder
from radgauge.lay.cli.options import LayText


@o.command(layman, "statistics")
def statistics_cli(folder: Folder, say: o.Output = o.Output()) -> None:
    """Samples, words and sentences of a built set, professional and lay (table 5).

    Example:

      layman.py statistics sets
    """
    from layman_rrg.set_reports import set_statistics
    from radgauge.core.wording import number
    from radgauge.render.tables import Column, table

    found = set_statistics(folder)
    rows = [
        (each.level, each.side, each.samples, each.distinct, number(each.words, 2), number(each.sentences, 2))
        for each in found
    ]
    means = (Column(name, right=True) for name in ("words per sample", "sentences per sample"))
    say.show(found, table("set", "side", "samples", "distinct", *means, rows=rows))


@o.command(layman, "trace")
def trace_cli(
    folder: Folder,
    item: Annotated[str, typer.Argument(help="Id of a report translated as a whole, or how a sentence begins.")],
    say: o.Output = o.Output(),
) -> None:
    """How one text was refined: each round's text, its similarity, and what was wrong with it (table 6).

    Example:

      layman.py trace whole 17
    """
    from layman_rrg.set_reports import trace_of

    original, steps = trace_of(folder, item)
    if say.as_json:
        say.show({"original": original, "rounds": steps})
        return
    echo(f"0  {original}")
    before: tuple[float, ...] = ()
    for step in steps:
        echo(f"{step.round}  {step.text or '(no text)'}")
        if step.similarity is not None:
            echo(f"   similarity {step.similarity:.3f}{_by_sentence(step.sentences, before)}")
        echo(f"   {'accepted' if step.accepted else step.why}")
        before = step.sentences


def _by_sentence(now: tuple[float, ...], before: tuple[float, ...]) -> str:
    """The cosine of each sentence, with an arrow where it moved since the round before.

    >>> _by_sentence((0.9, 0.7), (0.8, 0.7))
    '; by sentence 0.900 ↑, 0.700'
    """
    if not now:
        return ""
    older = before if len(before) == len(now) else now
    arrows = ("" if a == b else " ↑" if a > b else " ↓" for a, b in zip(now, older, strict=True))
    return "; by sentence " + ", ".join(f"{value:.3f}{arrow}" for value, arrow in zip(now, arrows, strict=True))


@o.command(layman, "tuning")
def tuning_cli(
    folder: Folder,
    read: o.ReportForm,
    output: Annotated[Path, "-o", "JSON lines."] = Path("tuning.jsonl"),
    reports: Annotated[Path | None, "The table of reports again, for the images of each study."] = None,
    form: Annotated[
        Literal["rows", "conversations"], "Rows of instruction and report, or turns of a conversation."
    ] = "rows",
    kind: Annotated[
        Literal["both", "professional", "lay"], "Which reports: both for the joint set of table 7."
    ] = "both",
    for_doctors: Annotated[str | None, "What stands before a professional report."] = None,
    for_patients: Annotated[str | None, "What stands before a lay report."] = None,
    images: o.ImageFolder = None,
    seed: o.Seed = 0,
) -> None:
    """Write professional and lay reports as one set of instructions for tuning a generator (table 7).

    Examples:

      layman.py tuning sets -o tuning.jsonl

      layman.py tuning sets --reports reports.csv --images pictures --form conversations
    """
    from layman_rrg.set_reports import LAY, PROFESSIONAL, Instructions, write_tuning

    paths = None
    if reports is not None:
        studies = read.originals(reports, images=images)
        paths = {study: [str(path) for path in case.images] for study, case in studies.items()}
    usual = Instructions()
    written = write_tuning(
        folder,
        output,
        images=paths,
        instructions=Instructions(for_doctors or usual.professional, for_patients or usual.lay),
        form=form,
        kinds=(PROFESSIONAL, LAY) if kind == "both" else (kind,),
        seed=seed,
    )
    echo(f"wrote {written} rows to {output}", err=True)


@o.command(layman, "training-data")
def training_data_cli(
    folder: Folder,
    reports: Annotated[Path, typer.Argument(help="The table of reports again, for the images of each study.")],
    read: o.ReportForm,
    pictures: o.ImageFolder,
    output: Annotated[Path, "-o", "A new folder."] = Path("training-data"),
    size: Annotated[list[int] | None, "Reports of a set; by default the paper's, 5000 to 50000."] = None,
    seed: o.Seed = 0,
) -> None:
    """Write professional and lay training sets of the paper's sizes for LLaVA and MiniGPT-4 (section 3.3).

    What to do with them: recipes/lay_generator.

    Example:

      layman.py training-data sets reports.csv --images pictures -o data
    """
    from layman_rrg.set_reports import SIZES, write_training_data

    studies = read.originals(reports, pictures=pictures)
    images = {study: [str(path) for path in case.images] for study, case in studies.items()}
    for name, count in write_training_data(folder, output, images=images, sizes=size or SIZES, seed=seed):
        echo(f"{output / name}: {count} reports", err=True)


@o.command(layman, "robustness")
def robustness_cli(
    form: o.CaseForm,
    lay: LayText,
    metric: OtherMetrics = None,
    models: o.Models = "embedded",
    unseen: Annotated[bool, "The smaller test beds that nothing was adjusted to."] = False,
    same: Annotated[Path | None, "Pairs of your own that mean the same: id, reference, candidate."] = None,
    other: Annotated[Path | None, "Pairs of your own that mean something else in similar words."] = None,
    say: o.Output = o.Output(),
) -> None:
    """Metrics on raw and lay text: same meaning in other words, other meaning in similar words (table 2).

    Example:

      layman.py robustness

      layman.py robustness --same same.csv --other other.csv --encoder grit.toml
    """
    from layman_rrg.robustness import robustness
    from radgauge.render.tables import table

    judges = metric or ["bleu", "rouge"]
    found = robustness(
        judges,
        models=o.confirmed(models, judges),
        unseen=unseen,
        same=form.read([same]).cases if same is not None else None,
        other=form.read([other]).cases if other is not None else None,
        layman=lay.metric(),
    )
    say.show(
        {"ranking": found.ranking, "rows": [row._asdict() for row in found.rows]},
        table("", "same raw", "same lay", "other raw", "other lay", rows=found.rows),
        f"{found.same} pairs of the same meaning in other words, {found.other} of another in similar words",
        *(f"{name}: same above other in {above:.1%}" for name, above in found.ranking.items()),
    )
