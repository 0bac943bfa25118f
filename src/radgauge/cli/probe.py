"""`radgauge probe`: does a metric notice what it must?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Mapping

    from radgauge.core.cases import Case
    from radgauge.io.judgments import Judgments

probe = o.subjects("probe")


@o.command(probe, "image")
def probe_image_cli(
    reports: o.ReportTable,
    form: o.ReportForm,
    pictures: o.ImageFolder,
    people: o.JudgmentSource,
    sampling: o.Sampling,
    say: o.ReadingOutput,
    metric: Annotated[str, "-m", "VLScore with its encoder: vlscore:encoder=my-clip."] = "vlscore",
    models: o.Models = "embedded",
    deals: Annotated[int, typer.Option("--deals", min=1, help="How often images are dealt at random.")] = 20,
    table: Annotated[str | None, "Write the table to this file (.md, .csv, .tex)."] = None,
    split: o.Split = None,
    yes: o.Yes = False,
) -> None:
    """What of an image-aware score comes from the image? Right images, images dealt at random, one mean image.

    Examples:

      radgauge probe image reports.csv --images files

      radgauge probe image reports.csv --images files -j ratings.csv -m vlscore:encoder=my-clip,calibration=c.json
    """
    from radgauge.analysis.image_ablation import ablation_table, image_ablation
    from radgauge.metrics.vlscore import VLScore
    from radgauge.render.tables import write_tables
    from radgauge.render.terminal import console

    chosen = o.chosen_metric(metric, VLScore, models=o.agreed(models, [metric], yes=yes))
    cases = form.originals(reports, split=split, pictures=pictures)
    found = image_ablation(
        list(cases.values()),
        chosen,
        judgments=_judged(people, cases, pictures.images) if people.judgments is not None else None,
        reading=say.readings(),
        deals=deals,
        resampling=sampling.record(least=1),
    )
    made = ablation_table(found)
    if table is not None:
        say.tell(*(f"wrote {path}" for path in write_tables({"summary": made}, table)))
    if say.as_json:
        o.print_json({"ablation": found, "image_matters": found.image_matters, "sentence": found.sentence})
        return
    out = console()
    out.show(made)
    out.print()
    out.say(found.sentence)
    if found.left_out:
        say.notes(f"{found.left_out} of {found.left_out + found.studies} studies have no usable image or no words")


def _judged(people: o.JudgmentSource, cases: Mapping[str, Case], images: Path | None) -> Judgments:
    """The judgments with the images of the reports' table, or those of the folder for studies that it lacks."""
    from dataclasses import replace

    judgments = people.read()
    if any(case.id not in cases for case in judgments.cases) and images is not None:
        return people.read(images=images)
    placed = tuple(replace(case, images=cases[case.id].images) for case in judgments.cases if case.id in cases)
    return replace(judgments, cases=placed)
