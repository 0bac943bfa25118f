"""The whole chain of Layman's RRG in small: professional and lay reports, training, generating, scoring, report.

    python recipes/image_text/prepare.py ../shared/data/iu_xray FOLDER
    python reproduce/generator_chain.py FOLDER/studies.jsonl --images FOLDER/images --output RUN

For each register (professional, lay):

1. the studies of the train split are read, lay reports written by the embedded plain-language writer;
2. a network is trained on nine tenths of them; the tenth says when to stop (`radgauge train generator`);
3. it writes the reports of the val split, which nothing was learned from or chosen by: its likeliest tokens, a
   consensus of what it draws, the nearest training report, a consensus of near ones, a consensus of both; and the
   two reports that look at no picture (`radgauge generate`);
4. all are scored against the reference in their register and compared with the normal template, with intervals
   (`radgauge score`, `radgauge compare`), and an HTML report is written (`radgauge report`).

Files: RUN/REGISTER/generator, candidates.jsonl, scores.jsonl, report.html. A stopped run goes on; `--generator`
takes one that is trained already.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from radgauge.cases import MISSING, Case
from radgauge.files import make_folder
from radgauge.io.case_files import read_references
from radgauge.io.scores_file import write_scores
from radgauge.reading import Readings
from radgauge.report import build_report, write_report
from radgauge.results import Results
from radgauge.scores import score
from radgauge.show.tables import table
from radgauge.show.terminal import console
from radgauge.studies.baselines import TEMPLATE
from radgauge.studies.compare import compare
from radgauge.studies.generation import Generated, generate, write_candidates
from radgauge.studies.generation.generate import GenerateSettings
from radgauge.studies.summary import summarise
from radgauge.training.generator import train_generator
from radgauge.training.generator_data import lay_texts, read_generator_data
from radgauge.training.generator_files import Generator, load_generator
from radgauge.training.generator_settings import GeneratorSettings

METRICS = {"professional": ("errors", "layman"), "lay": ("layman", "readability")}
SHOWN = {
    "professional": ("errors_quality", "errors_recall", "errors_false_alarms", "layman_semantics_embedded"),
    "lay": ("layman_semantics_embedded", "layman_raw_semantics_embedded", "flesch_kincaid_grade"),
}
COMPARED = {
    "professional": ("errors_quality", "layman_semantics_embedded"),
    "lay": ("layman_semantics_embedded", "layman_raw_semantics_embedded"),
}


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
    parser.add_argument("--width", type=int, default=GeneratorSettings.width)
    parser.add_argument("--layers", type=int, default=GeneratorSettings.layers)
    parser.add_argument("--epochs", type=int, default=GeneratorSettings.epochs)
    parser.add_argument("--domain", choices=("skip", "off"), default="skip", help="off: any picture is used")
    parser.add_argument("--pictures", type=Path, help="folder for what pictures became")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--permutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.generator is not None and len(given.registers) > 1:
        parser.error("--generator goes with one register")
    found = {register: run(given, register) for register in given.registers}
    if given.json:
        print(json.dumps(found, indent=1))


def run(given: argparse.Namespace, register: str) -> list[dict[str, object]]:
    """One register, from reports to report; the printed lines."""
    folder = make_folder(given.output / register)
    generator = trained(given, register, given.generator or folder / "generator")
    asked = read_references(given.table, section=given.section, split=given.test, images=given.images).cases
    asked = tuple(case for case in asked if case.references and case.references[0].strip())[: given.most]
    written = candidates(given, generator, asked)
    about = {"signature": generator.signature, "test": given.test, "seed": given.seed}
    write_candidates(folder / "candidates.jsonl", written, about=about, replace=True)
    goals = [case.references[0] for case in asked]
    goals = lay_texts(goals) if register == "lay" else goals
    cases = judged_cases(asked, goals, written)
    reading = Readings()
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
    if not given.json:
        show(title, lines)
    return lines


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


def candidates(given: argparse.Namespace, generator: Generator, asked: Sequence[Case]) -> list[Generated]:
    """Reports of every way of writing; the constant ones last."""
    ways = [GenerateSettings(source="retrieval", choose="first"), GenerateSettings(source="retrieval")]
    if generator.settings.kind == "network":
        ways = [
            GenerateSettings(source="network", choose="first"),
            GenerateSettings(source="network"),
            *ways,
            GenerateSettings(source="both"),
        ]
    found: list[Generated] = []
    reading = Readings()
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
    for line in summarise(results, seed=seed):
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


def show(title: str, lines: Sequence[dict[str, object]]) -> None:
    """A table per output."""
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


def tell(line: str) -> None:
    """Progress, for people."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
