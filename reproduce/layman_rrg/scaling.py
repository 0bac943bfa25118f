"""Generators trained on more and more studies, professional and lay: the runs behind figure 2 of Layman's RRG.

Section 3.5: the same network is trained on sets of growing size, each set part of the next, and writes the reports
of the same held-out studies; `plain_language.studies.training_runs` then counts the sentences that say what the
reference says. Reports are drawn, without consensus: the paper does not say how its MiniGPT-4 wrote, which by
default draws, and the likeliest report of a small network is nearly the same for everyone. Every size may take as
many steps as the largest, and is stopped by its own validation loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from layman_rrg.training import Size
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import make_folder, write_file
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Progress
from radgauge.encoders.image.study_numbers import Domain
from radgauge.io.case_files import read_references
from radgauge.lab.generation.generate import GenerateSettings, generate
from radgauge.lab.training.generator import train_generator
from radgauge.lab.training.generator_data import lay_texts, read_generator_data
from radgauge.lab.training.generator_files import Generator, load_generator
from radgauge.lab.training.generator_settings import GeneratorSettings

Register = Literal["professional", "lay"]
Way = Literal["drawn", "first", "nearest"]


@dataclass(frozen=True)
class Scaling:
    """What is trained and what on.

    Attributes:
        table: Reports with id, images and splits.
        images: Folder of the pictures.
        sizes: Training studies of each run; every set is part of the next.
        registers: professional, lay.
        section: Part of the reports.
        train: Split to learn from; a tenth of it is watched.
        test: Split whose reports are written and compared.
        most: Write at most so many of them.
        ways: How reports are written: drawn by the network, the network's likeliest (first), or the report of the
            nearest training study. What is trained serves them all.
        domain: Whether pictures that do not look like chest radiographs are left out (skip) or used (off).
        pictures: Folder for what pictures became; by default one beside the runs.
    """

    table: Path
    images: Path
    sizes: tuple[int, ...]
    registers: tuple[Register, ...] = ("professional", "lay")
    section: str | None = "findings"
    train: str = "train"
    test: str = "val"
    most: int | None = None
    ways: tuple[Way, ...] = ("drawn",)
    domain: Domain = "skip"
    pictures: Path | None = None

    def __post_init__(self) -> None:
        if not self.sizes or sorted(set(self.sizes)) != list(self.sizes):
            raise UsageError(f"sizes must grow, each given once, got {', '.join(map(str, self.sizes)) or 'none'}")
        if not self.ways or len(set(self.ways)) < len(self.ways):
            raise UsageError(f"ways must be named once each, got {', '.join(self.ways) or 'none'}")


def scaling_cases(
    plan: Scaling,
    folder: Path | str,
    *,
    settings: GeneratorSettings | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[list[Case], dict[str, Size]]:
    """Generated reports of every run with their references, and the size of each; a stopped experiment goes on.

    A run is named by way, register and size, and belongs to the curve of its way and register.

    Args:
        plan: What.
        folder: A folder per training goes here.
        settings: Of the largest run; register, epochs and patience follow from each run's size.
        threads: Pictures side by side.
        progress: Told after every step.
        tell: Called with one line per epoch and run.

    Raises:
        UsageError: A network is to write, and none is trained.
    """
    base, place = settings or GeneratorSettings(), make_folder(folder)
    if base.kind == "retrieval" and plan.ways != ("nearest",):
        raise UsageError(f"retrieval writes the nearest report only, got ways {', '.join(plan.ways)}")
    asked = read_references(plan.table, section=plan.section, split=plan.test, images=plan.images).cases
    asked = tuple(case for case in asked if case.references and case.references[0].strip())[: plan.most]
    if not asked:
        raise InputError(f"{plan.table.name}: no report with text in the split {plan.test!r}")
    found: list[Case] = []
    sizes: dict[str, Size] = {}
    goals: dict[str, list[str]] = {"professional": [case.references[0] for case in asked]}
    if "lay" in plan.registers:
        goals["lay"] = lay_texts(goals["professional"])
    for size in reversed(plan.sizes):  # the largest first: who stops early has the one that matters most
        for register in plan.registers:
            generator = _trained(plan, base, place, register=register, size=size, threads=threads,
                                 progress=progress, tell=tell)  # fmt: skip
            for way in plan.ways:
                series = f"{way}, {register}"
                texts = _texts(generator, asked, way, cache=plan.pictures or place / "pictures",
                               threads=threads, progress=progress)  # fmt: skip
                sizes[f"{series} {size}"] = Size(size, series)
                found += [
                    Case(case.id, texts.get(case.id, ""), (reference,), system=f"{series} {size}")
                    for case, reference in zip(asked, goals[register], strict=True)
                ]
                if tell is not None:
                    tell(f"{series} {size}: {len(texts)} reports")
    return found, sizes


def _trained(
    plan: Scaling,
    base: GeneratorSettings,
    folder: Path,
    *,
    register: Register,
    size: int,
    threads: int,
    progress: Progress | None,
    tell: Callable[[str], None] | None,
) -> Generator:
    """The generator of one register and size."""
    place = folder / f"{register}-{size}"
    times = plan.sizes[-1] / size
    patience = round(base.patience * times**0.5)
    settings = replace(base, register=register, epochs=round(base.epochs * times), patience=patience)
    data = read_generator_data(
        plan.table,
        plan.images,
        section=plan.section,
        split=plan.train,
        register=register,
        size=size,
        seed=base.seed,
        cache=plan.pictures or folder / "pictures",
        domain=plan.domain,
        threads=threads,
        progress=progress,
    )
    train_generator(data, place, settings=settings, progress=progress, tell=tell)
    return load_generator(place)


def _texts(
    generator: Generator,
    asked: Sequence[Case],
    way: Way,
    *,
    cache: Path,
    threads: int,
    progress: Progress | None,
) -> dict[str, str]:
    """Id -> report of one run; what it has written before is read back."""
    chosen = GenerateSettings(source="retrieval", choose="first")
    if way != "nearest":
        chosen = GenerateSettings(source="network", choose=way, seed=generator.settings.seed)
    file = generator.folder / f"written-{way}.json"
    signature = f"{generator.signature}|{chosen.signature}"
    known = parse_json(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if known.get("signature") == signature and set(known["reports"]) == {case.id for case in asked}:
        return dict(known["reports"])
    rows = generate(generator, asked, settings=chosen, cache=cache, threads=threads, progress=progress)
    reports = {row.id: row.candidate for row in rows}
    write_file(file, json.dumps({"signature": signature, "reports": reports}, ensure_ascii=False) + "\n")
    return reports
