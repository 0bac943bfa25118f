"""The whole chain of Layman's RRG in small: professional and lay reports, training, generating, scoring, report.

    python recipes/image_text/prepare.py ../shared/data/iu_xray FOLDER
    python reproduce/generator_chain.py FOLDER/studies.jsonl --images FOLDER/images --output RUN

For each register (professional, lay):

1. the studies of the train split are read, lay reports written by the embedded plain-language writer;
2. a network is trained on nine tenths of them; the tenth says when to stop (`radgauge train generator`);
3. it writes the reports of the val split, which nothing was learned from or chosen by: its likeliest tokens, a
   consensus of what it draws, the nearest training report, a consensus of near ones, a consensus of both, the
   report with the greatest expected gain; and reports that look at no picture: the normal template, the most
   frequent report, and the training report that gains most on average by the same gain (`radgauge generate`);
4. all are scored against the reference in their register and compared with the normal template, with intervals
   (`radgauge score`, `radgauge compare`), and an HTML report is written (`radgauge report`).

The planned comparison: expected gain against the best constant report by the same gain, p Holm corrected over its
outputs alone. Differences to the template are corrected over everything that the run compares.

Files: RUN/REGISTER/generator, candidates.jsonl, scores.jsonl, report.html; `--figures` writes the numbers, without
any text, as JSON. A stopped run goes on; `--generator` takes one that is trained already.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from radgauge.analysis.baselines import TEMPLATE
from radgauge.analysis.compare import compare
from radgauge.analysis.summary import summarise
from radgauge.core.cases import MISSING, Case
from radgauge.core.files import make_folder, write_file
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.io.case_files import read_references
from radgauge.io.scores_file import write_scores
from radgauge.lab.generation import Generated, generate, write_candidates
from radgauge.lab.generation.generate import (
    Choice,
    GenerateSettings,
    Source,
    best_constants,
    constant_names,
    system_name,
)
from radgauge.lab.training.generator import train_generator
from radgauge.lab.training.generator_data import lay_texts, read_generator_data
from radgauge.lab.training.generator_files import Generator, load_generator
from radgauge.lab.training.generator_settings import GeneratorSettings
from radgauge.render.tables import table
from radgauge.render.terminal import console
from radgauge.report import build_report, write_report
from radgauge.run.score import score
from radgauge.stats.corrections import adjust

METRICS = {"professional": ("errors", "layman"), "lay": ("layman", "readability")}
SHOWN = {
    "professional": (
        "errors_quality",
        "errors_recall",
        "errors_false_alarms",
        "layman_semantics_embedded",
        "layman_recall_embedded",
        "layman_f1_embedded",
    ),
    "lay": (
        "layman_semantics_embedded",
        "layman_raw_semantics_embedded",
        "layman_recall_embedded",
        "layman_f1_embedded",
        "readability_flesch_kincaid_grade",
    ),
}
COMPARED = {
    "professional": ("errors_quality", "layman_semantics_embedded"),
    "lay": ("layman_semantics_embedded", "layman_raw_semantics_embedded"),
}
WAYS = ("first", "consensus", "expected")
GAINS: dict[str, tuple[Literal["headlines", "errors", "layman"], ...]] = {
    "professional": ("headlines", "errors", "layman"),
    "lay": ("layman",),
}
PLANNED = {
    "headlines": ("errors_quality", "layman_semantics_embedded"),
    "errors": ("errors_quality",),
    "layman": ("layman_semantics_embedded",),
}
"""Gain -> outputs on which the generator that aims at it is compared with the best constant report."""


def main() -> None:
    """Every register in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--registers", nargs="+", choices=list(METRICS), default=list(METRICS))
    parser.add_argument("--generator", type=Path, help="folder of a trained generator (with one register)")
    parser.add_argument("--section", default="findings")
    parser.add_argument("--test", default="val", help="split whose reports are written")
    parser.add_argument("--most", type=int, help="write at most so many of them")
    parser.add_argument("--kind", choices=("network", "retrieval"), default="network")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="ways of writing")
    parser.add_argument("--gains", nargs="+", choices=list(PLANNED), default=list(PLANNED), help="of expected")
    parser.add_argument("--beams", type=int, default=1, help="of the network's likeliest report")
    parser.add_argument("--width", type=int, default=GeneratorSettings.width)
    parser.add_argument("--layers", type=int, default=GeneratorSettings.layers)
    parser.add_argument("--epochs", type=int, default=GeneratorSettings.epochs)
    parser.add_argument("--domain", choices=("skip", "off"), default="skip", help="off: any picture is used")
    parser.add_argument("--pictures", type=Path, help="folder for what pictures became")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--permutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--figures", type=Path, help="write the numbers as JSON")
    given = parser.parse_args()
    if given.generator is not None and len(given.registers) > 1:
        parser.error("--generator goes with one register")
    reading = Readings()
    found = {register: run(given, register, reading) for register in given.registers}
    if given.figures is not None:
        write_file(given.figures, json.dumps(found, indent=1) + "\n")
    if given.json:
        print(json.dumps(found, indent=1))


def run(given: argparse.Namespace, register: str, reading: Readings) -> dict[str, Any]:
    """One register, from reports to report; what is printed."""
    folder = make_folder(given.output / register)
    generator = trained(given, register, given.generator or folder / "generator")
    asked = read_references(given.table, section=given.section, split=given.test, images=given.images).cases
    asked = tuple(case for case in asked if case.references and case.references[0].strip())[: given.most]
    written = candidates(given, generator, asked, reading)
    about = {"signature": generator.signature, "test": given.test, "seed": given.seed}
    write_candidates(folder / "candidates.jsonl", written, about=about, replace=True)
    goals = [case.references[0] for case in asked]
    goals = lay_texts(goals) if register == "lay" else goals
    cases = judged_cases(asked, goals, written)
    results = score(cases, list(METRICS[register]), reading=reading)
    write_scores(folder / "scores.jsonl", results, about=about)
    title = f"Report generators, {register} reports, {len(asked)} studies"
    page = build_report(
        results,
        cases=cases,
        header=about,
        title=title,
        baseline=TEMPLATE,
        reading=reading,
        permutations=given.permutations,
        seed=given.seed,
    )
    write_report(folder / "report.html", page)
    lines = figures(results, register, permutations=given.permutations, seed=given.seed)
    aims = gains(given, register)
    plan = planned(results, generator, aims, permutations=given.permutations, seed=given.seed)
    if not given.json:
        show(title, lines, plan)
    return {
        "studies": len(asked),
        "training_studies": len(generator.ids),
        "split": given.test,
        "seed": given.seed,
        "signatures": {name: scores.signature for name, scores in results.judges.items()},
        "systems": lines,
        "planned": plan,
    }


def trained(given: argparse.Namespace, register: str, folder: Path) -> Generator:
    """The generator of a folder, trained if it is not."""
    if given.generator is None:
        data = read_generator_data(
            given.table,
            given.images,
            section=given.section,
            split="train",
            register=register,
            seed=given.seed,
            cache=given.pictures or given.output / "pictures",
            domain=given.domain,
            threads=given.threads,
        )
        settings = GeneratorSettings(
            kind=given.kind,
            register=register,
            width=given.width,
            layers=given.layers,
            epochs=given.epochs,
            seed=given.seed,
        )
        train_generator(data, folder, settings=settings, about={"reports": given.table.name}, tell=tell)
    return load_generator(folder)


def candidates(
    given: argparse.Namespace, generator: Generator, asked: Sequence[Case], reading: Readings
) -> list[Generated]:
    """Reports of every way of writing; the constant ones last."""
    sources: list[Source] = ["retrieval"]
    if generator.settings.kind == "network":
        sources = ["network", "retrieval", "both"]
    choices: list[Choice] = [choice for choice in ("first", "consensus") if choice in given.ways]
    ways = [
        GenerateSettings(source=source, choose=choice, beams=given.beams)
        for source in sources
        for choice in choices
        if (source, choice) != ("both", "first")  # the first of both is the network's
    ]
    aims = [expected(gain) for gain in gains(given, generator.settings.register)]
    ways += aims
    found: list[Generated] = []
    for number, way in enumerate(ways, start=1):
        rows = generate(
            generator,
            asked,
            settings=replace(way, seed=given.seed),
            baselines=number == len(ways),
            cache=given.pictures or given.output / "pictures",
            threads=given.threads,
            reading=reading,
        )
        found += rows
        tell(f"wrote {len(rows)} reports: {way.signature}")
    for way in aims:
        found += best_constants(generator, asked, settings=replace(way, seed=given.seed), reading=reading)
    return found


def gains(given: argparse.Namespace, register: str) -> list[Literal["headlines", "errors", "layman"]]:
    """What the reports of this run aim at."""
    return [gain for gain in GAINS[register] if "expected" in given.ways and gain in given.gains]


def expected(gain: Literal["headlines", "errors", "layman"]) -> GenerateSettings:
    """Reports by expected gain."""
    return GenerateSettings(source="retrieval", choose="expected", gain=gain)


def planned(
    results: Results,
    generator: Generator,
    aims: Sequence[Literal["headlines", "errors", "layman"]],
    *,
    permutations: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Each generator by expected gain against the best constant report by the same gain."""
    found: list[dict[str, Any]] = []
    for gain in aims:
        system = system_name(generator, expected(gain))
        for baseline in constant_names(gain):
            lines = [
                line
                for line in compare(
                    results,
                    baseline=baseline,
                    systems=[system, baseline],
                    correction="none",
                    permutations=permutations,
                    seed=seed,
                )
                if line.column in PLANNED[gain]
            ]
            for line, p in zip(lines, adjust([line.result.p for line in lines]), strict=True):
                found.append(
                    {
                        "system": system,
                        "baseline": baseline,
                        "column": line.column,
                        "value": line.result.value_a,
                        "baseline_value": line.result.value_b,
                        "difference": asdict(line.result.difference),
                        "p": line.result.p,
                        "p_holm": float(p),
                        "n": line.result.n,
                    }
                )
    return found


def judged_cases(asked: Sequence[Case], goals: Sequence[str], written: Sequence[Generated]) -> list[Case]:
    """Candidates with the references of their register; a study without a report stays, with the reason."""
    goal = {case.id: text for case, text in zip(asked, goals, strict=True)}
    return [
        Case(row.id, row.candidate, (goal[row.id],), row.system, meta={MISSING: row.reason} if row.reason else {})
        for row in written
    ]


def figures(results: Results, register: str, *, permutations: int, seed: int) -> list[dict[str, object]]:
    """Values with intervals, and differences to the normal template."""
    known = {
        (line.column, line.system): line.result
        for line in compare(
            results, baseline=TEMPLATE, columns=COMPARED[register], permutations=permutations, seed=seed
        )
    }
    found: list[dict[str, object]] = []
    lines = summarise(results, seed=seed)
    if absent := set(SHOWN[register]) - {line.column for line in lines}:
        raise KeyError(f"no such output: {', '.join(sorted(absent))}")
    for line in lines:
        if line.column in SHOWN[register]:
            against = known.get((line.column, line.system))
            found.append(
                {
                    **{name: getattr(line, name) for name in ("system", "column", "value", "low", "high")},
                    "judged": line.judged,
                    "not_judged": line.not_judged,
                    "difference": None if against is None else asdict(against.difference),
                    "p_adjusted": None if against is None else against.p_adjusted,
                }
            )
    return found


def show(title: str, lines: Sequence[dict[str, object]], plan: Sequence[dict[str, Any]]) -> None:
    """Every system, and the planned comparison."""
    out = console()
    out.print(f"{title}; 95 % intervals, studies resampled; difference to the normal template, p Holm corrected")
    rows = []
    for line in lines:
        apart, p = line["difference"], line["p_adjusted"]
        rows.append(
            (
                *(str(line["column"]), str(line["system"])),
                f"{line['value']:.3f} [{line['low']:.3f}, {line['high']:.3f}]",
                f"{apart['value']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]" if apart else "–",  # type: ignore[index]
                f"{p:.4f}" if isinstance(p, float) else "–",
                f"{line['judged']} ({line['not_judged']} not)",
            )
        )
    out.show(table("output", "system", "value", "difference", "p", "judged", rows=rows))
    out.print("planned: expected gain against the best constant report by the same gain; p Holm over the outputs")
    heads = ("output", "system", "against", "values", "difference", "p")
    told = [
        (
            *(line["column"], line["system"], line["baseline"]),
            f"{line['value']:.3f} and {line['baseline_value']:.3f}",
            "{value:+.3f} [{low:+.3f}, {high:+.3f}]".format(**line["difference"]),
            f"{line['p_holm']:.4f}",
        )
        for line in plan
    ]
    out.show(table(*heads, rows=told))


def tell(line: str) -> None:
    """Progress, for people."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
