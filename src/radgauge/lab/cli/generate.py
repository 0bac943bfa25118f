"""`radgauge generate`: reports for studies from their pictures, or instruction data for larger models."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps
from radgauge.lab.cli.train_generator import Images, Replace

if TYPE_CHECKING:
    from radgauge.lab.generation.generate import Generated

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Writing:
    """Settings of writing."""

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
    cache: Annotated[Path | None, "Folder for image features; by default the generator's."] = None
    threads: Annotated[int, "Images at the same time; 0 = one per core."] = 0
    seed: int = 0


@o.command(o.app, "generate")
def generate_cli(
    say: o.Output,
    generator: Annotated[Path, typer.Argument(help="Folder that `radgauge train generator` wrote.")],
    studies: Annotated[Path, typer.Argument(help="Table of studies with id and images; reports are not read.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Candidates, .jsonl or .csv.")],
    images: Images = None,
    split: Annotated[str | None, "Only this split."] = None,
    system: Annotated[str, "Name of the system in the file."] = "",
    baselines: Annotated[bool, "Also write the constant reports, which look at no picture."] = False,
    settings: Annotated[Writing, "How reports are made"] = Writing(),
    replace: Replace = False,
) -> None:
    """Write a report for every study from its images.

    A study without a usable image gets a reason instead.

    Examples:

      radgauge generate generator new.csv --images pictures/ -o candidates.jsonl

      radgauge generate generator studies.csv --split val --images pictures/ --baselines -o candidates.jsonl

      radgauge score --references studies.csv --candidates candidates.jsonl --input split=val,missing=nan
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
    chosen = GenerateSettings(
        source=usual if settings.source == "auto" else settings.source,
        choose=settings.choose,
        gain=settings.gain,
        samples=settings.samples,
        temperature=settings.temperature,
        beams=settings.beams,
        nearest=settings.nearest,
        neighbours=settings.neighbours,
        seed=settings.seed,
    )
    keeps(lambda: (settings.cache or generator / "pictures").is_dir())
    selected = read_wanted(studies, images, split=split)
    rows = generate(
        loaded,
        selected.cases,
        settings=chosen,
        system=system,
        baselines=baselines,
        cache=settings.cache,
        threads=settings.threads,
        reading=say.readings(),
        progress=say.progress(),
        tell=say.tell,
    )
    about = {
        "signature": f"{loaded.signature}|{chosen.signature}",
        "settings": asdict(chosen),
        "studies": selected.provenance.as_dict(),
    }
    write_candidates(output, rows, about=about, replace=replace)
    say.show({"candidates": rows, **about}, *_row_blocks(rows))
    say.notes(*selected.provenance.warnings)
    say.tell(f"wrote {output}: {len(rows)} rows")


def _row_blocks(rows: list[Generated]) -> list[o.Block]:
    """Return the first reports, and how many studies have none."""
    from collections import Counter

    from radgauge.core.wording import shortened
    from radgauge.render.tables import table

    shown = [(row.id, row.system, shortened(row.candidate or f"– {row.reason}", 80)) for row in rows[:SHOWN]]
    blocks: list[o.Block] = [table("study", "system", "report", rows=shown)]
    for name, number in Counter(row.system for row in rows).items():
        own = [row for row in rows if row.system == name]
        without = sum(bool(row.reason) for row in own)
        distinct = len({row.candidate for row in own if not row.reason})
        blocks.append(f"{name}: {number} studies, {without} without a report, {distinct} distinct reports")
    return blocks
