"""`radgauge generate`: reports for studies from their pictures, or instruction data for larger models."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_generator import Images, Replace, Threads

if TYPE_CHECKING:
    from radgauge.lab.generation.generate import Generated

SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How reports are made."""

    source: Annotated[
        Literal["auto", "network", "retrieval", "both"],
        "Whose reports are candidates: the network's, those of similar training studies, or both.",
    ] = "auto"
    choose: Annotated[
        Literal["consensus", "expected", "first", "drawn"],
        "consensus: what similar studies' reports agree with most; expected: the training report with the "
        "greatest expected gain; first: the likeliest, or the nearest; "
        "drawn: one that the network draws.",
    ] = "consensus"
    gain: Annotated[
        Literal["auto", "both", "errors", "semantics", "layman", "headlines"],
        "What agreement is measured by; auto: both, of lay reports semantics; layman: layman_semantics itself; "
        "headlines: errors_quality + layman_semantics.",
    ] = "auto"
    samples: Annotated[int, "Reports that the network draws for consensus."] = 8
    temperature: Annotated[float, "Of the draw."] = 1.0
    beams: Annotated[int, "Beginnings that the network follows for its likeliest report."] = 1
    nearest: Annotated[int, "Similar studies whose reports are candidates."] = 25
    neighbours: Annotated[int, "Similar studies whose reports candidates are compared with."] = 30


@o.command(o.app, "generate")
def generate_cli(
    say: o.ReadingOutput,
    how: Writing,
    generator: Annotated[Path, typer.Argument(help="Folder that `radgauge train generator` wrote.")],
    studies: Annotated[Path, typer.Argument(help="Table of studies with id and images; reports are not read.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Candidates, .jsonl or .csv.")],
    images: Images = None,
    split: Annotated[str | None, "Only this split."] = None,
    system: Annotated[str, "Name of the system in the file."] = "",
    baselines: Annotated[bool, "Also write the constant reports, which look at no picture."] = False,
    pictures: Annotated[Path | None, "Folder for what pictures became; by default the generator's."] = None,
    threads: Threads = 0,
    replace: Replace = False,
    seed: o.Seed = 0,
) -> None:
    """Write a report for every study from its pictures; a study without a usable picture gets a reason.

    Examples:

      radgauge generate generator new.csv --images pictures/ -o candidates.jsonl

      radgauge generate generator studies.csv --split val --images pictures/ --baselines -o candidates.jsonl

      radgauge score --references studies.csv --candidates candidates.jsonl --split val --missing nan
    """
    from radgauge.lab.generation.generate import (
        GenerateSettings,
        Source,
        check_candidates_path,
        generate,
        read_wanted,
        write_candidates,
    )
    from radgauge.lab.training.generator_files import load_generator

    check_candidates_path(output, replace=replace)
    loaded = load_generator(generator)
    usual: Source = "network" if loaded.settings.kind == "network" else "retrieval"
    settings = GenerateSettings(
        source=usual if how.source == "auto" else how.source,
        choose=how.choose,
        gain=how.gain,
        samples=how.samples,
        temperature=how.temperature,
        beams=how.beams,
        nearest=how.nearest,
        neighbours=how.neighbours,
        seed=seed,
    )
    keeps(lambda: (pictures or generator / "pictures").is_dir())
    wanted = read_wanted(studies, images, split=split)
    rows = generate(
        loaded,
        wanted.cases,
        settings=settings,
        system=system,
        baselines=baselines,
        cache=pictures,
        threads=threads,
        reading=say.readings(),
        progress=say.progress(),
        tell=say.tell,
    )
    about = {
        "signature": f"{loaded.signature}|{settings.signature}",
        "settings": asdict(settings),
        "studies": wanted.provenance.as_dict(),
    }
    write_candidates(output, rows, about=about, replace=replace)
    if say.as_json:
        o.print_json({"candidates": rows, **about})
        return
    print_generated(rows)
    say.notes(*wanted.provenance.warnings)
    say.tell(f"wrote {output}: {len(rows)} rows")


def print_generated(rows: list[Generated]) -> None:
    """The first reports, and how many studies have none."""
    from collections import Counter

    from radgauge.core.wording import shortened
    from radgauge.render.tables import table
    from radgauge.render.terminal import console

    out = console()
    shown = [(each.id, each.system, shortened(each.candidate or f"– {each.reason}", 80)) for each in rows[:SHOWN]]
    out.show(table("study", "system", "report", rows=shown))
    for name, number in Counter(each.system for each in rows).items():
        mine = [each for each in rows if each.system == name]
        without = sum(bool(each.reason) for each in mine)
        distinct = len({each.candidate for each in mine if not each.reason})
        out.print(f"{name}: {number} studies, {without} without a report, {distinct} distinct reports")
